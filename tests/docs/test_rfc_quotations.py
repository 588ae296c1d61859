"""`make docs` holds quotations of RFCs against their texts: what it takes for one, and what for its text."""

from pathlib import Path

import pytest

from rfc_quotations import everywhere, main, part, quotations, says

TEXT = """\
Table of Contents

   3. Congestion Control ............................................4
      3.1. Slow Start .................................................4

3.  Congestion Control

   Some words.

3.1.  Slow Start

   The slow start and congestion avoidance algorithms MUST be used by a
   TCP sender [RFC2581] to "control" end-
   to-end load.

Allman, et al.              Standards Track                     [Page 4]
\f
RFC 5681                 TCP Congestion Control           September 2009

   cwnd += min (N, SMSS)

4.  Others
"""

SOURCE = """\
/// NUMBER 5681 section 3.1: "algorithms MUST
/// be used". Linux has "other words", which NUMBER 1122 section 4.2 forbids: "an "inner" word".

/// What is "in light of others" (NUMBER 6675 section 2).
let text = "NUMBER 5681 says nothing here";
""".replace("NUMBER", "RFC")


def test_a_quotation_stands_behind_its_rfc_or_before_it(tmp_path: Path) -> None:
    source = tmp_path / "source.rs"
    source.write_text(SOURCE)
    found = [(one.line, one.rfc, one.section, one.words) for one in quotations(source)]
    assert found == [
        (1, 5681, "3.1", "algorithms MUST be used"),
        (2, 1122, "4.2", 'an "inner" word'),
        (4, 6675, "2", "in light of others"),
    ]


@pytest.mark.parametrize(
    "words",
    [
        "MUST be used by a TCP sender to control end-to-end load",
        "The slow start ... MUST be used",
        'to "control" end-to-end load. cwnd += min (N, SMSS)',
    ],
)
def test_a_break_of_a_line_or_a_page_is_no_difference(words: str) -> None:
    assert says(part(TEXT, "3.1"), words)
    assert says(part(TEXT, "3"), words)
    assert says(part(TEXT, None), words)
    assert not says(part(TEXT, "4"), words)


@pytest.mark.parametrize("words", ["MUST NOT be used", "MUST be used ... The slow start", "4.  Others"])
def test_other_words_are_not_there(words: str) -> None:
    assert not says(part(TEXT, "3.1"), words)


def test_a_wrong_quotation_fails_and_no_text_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(tmp_path) == 0
    assert "left out: no texts" in capsys.readouterr().out
    (tmp_path / "rfc5681.txt").write_text(TEXT)
    assert main(tmp_path) == 1
    told = capsys.readouterr()
    assert "RFC 5681 section 3.2" in told.err
    assert "no text of 1122, " in told.out


def test_the_sources_have_quotations() -> None:
    assert len(everywhere()) > 90
