"""The list of what covers a paper, on a paper made up for the test: each fault is found."""

from pathlib import Path

import pytest

from bentpipe_papers.reproduction import coverage, papers
from bentpipe_papers.reproduction.papers import Paper

ABOUT = """\
title = "Two windows"
citation = "A. Uthor, 2001"
[outline]
abstract = 1
"section 5" = 1
"section 5.3" = 2
"table 1" = 1
"table 10" = 1
"""
PUBLISHED = """\
item,case,metric,unit,published,kind,input,where,comment
table-1,8,goodput,kbit/s,999,printed,,"table 1; abstract, line 3",the cell
table-10,8,jain,index,0.9,printed,,table 10,the cell
"""
ELSEWHERE = """\
where,what,reason
section 5,how it was measured,background
"section 5.3, line 1",the window,tests/windows.py::test_window
section 5.3,the time,the key tcp.rto
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "papers" / "toy"
    data.mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "windows.py").write_text("# toy: the window\ndef test_window() -> None: ...\n")
    (data / "paper.toml").write_text(ABOUT)
    (data / "published.csv").write_text(PUBLISHED)
    (data / "notes.csv").write_text("item,case,metric,cause,note\n")
    (data / "elsewhere.csv").write_text(ELSEWHERE)
    return data


def faults(folder: Path) -> list[str]:
    return coverage.faults(papers.read(folder), folder.parents[1])


def test_the_list_is_in_the_order_of_the_document(folder: Path) -> None:
    paper: Paper = papers.read(folder)
    assert faults(folder) == []
    found = [(line.where, line.row or line.reason) for line in coverage.lines(paper)]
    assert found == [
        ("abstract, line 3", "table-1: 8, goodput"),
        ("section 5", "background"),
        ("section 5.3, line 1", "tests/windows.py::test_window"),
        ("section 5.3", "the key tcp.rto"),
        ("table 1", "table-1: 8, goodput"),
        ("table 10", "table-10: 8, jain"),
    ]
    assert coverage.text(paper).splitlines()[0] == "where,what,row,reason"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("section 5.3,the time,the key tcp.rto\n", "", "section 5.3: 1 of 2 covered"),
        ("section 5,how it was measured,background\n", "", "section 5: 0 of 1 covered"),
        ("background", "", "section 5: 'how it was measured' has neither row nor reason"),
        ("windows.py", "doors.py", "section 5.3, line 1: there is no tests/doors.py"),
        ("test_window", "test_door", "section 5.3, line 1: tests/windows.py has no test_door"),
        (
            "the window",
            "the doors",
            "section 5.3, line 1: tests/windows.py::test_window does not quote 'the doors' above it",
        ),
    ],
)
def test_each_fault_is_named(folder: Path, old: str, new: str, fault: str) -> None:
    assert old in ELSEWHERE
    (folder / "elsewhere.csv").write_text(ELSEWHERE.replace(old, new))
    assert faults(folder) == [fault]


def test_a_line_at_no_place_of_the_document_is_an_error(folder: Path) -> None:
    (folder / "elsewhere.csv").write_text(ELSEWHERE + "section 55,more,background\n")
    with pytest.raises(ValueError, match="'section 55' begins with no place of the outline"):
        coverage.lines(papers.read(folder))
