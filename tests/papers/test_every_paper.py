"""What holds for every paper that is reproduced: its published rows, its items, its notes, its pictures."""

from collections import Counter
from pathlib import Path

import pytest

from bentpipe import papers
from bentpipe.papers import Paper
from bentpipe.reproduction import Cache, reproduce
from conftest import RowsOf

PAPERS = papers.all_papers()
PLACES = ("abstract", "section", "table", "figure", "caption", "equation", "slides")
# Of these papers the items that take seconds; of the others every item does.
QUICK = {
    "adalr": [f"table-{number}" for number in ("1", "2", "3", "4", "5", "6", "6b", "10", "11")],
    "xfwa": ["figure-1", "equation-1", "figure-2", "figure-3", "figure-4"],
}
ITEMS = [
    (paper, item.name)
    for paper in PAPERS
    for item in paper.module().ITEMS
    if item.name in QUICK.get(paper.name, [item.name])
]

each_paper = pytest.mark.parametrize("paper", PAPERS, ids=[paper.name for paper in PAPERS])
each_item = pytest.mark.parametrize(
    ("paper", "item"), ITEMS, ids=[f"{paper.name}/{item}" for paper, item in ITEMS]
)


@each_paper
def test_published_rows_are_unlike_and_say_where_they_stand(paper: Paper) -> None:
    names = Counter((row.item, row.case, row.metric) for row in paper.published)
    assert names.most_common(1)[0][1] == 1
    assert all(row.where.startswith(PLACES) and row.comment for row in paper.published)


@each_paper
def test_every_published_row_has_an_item(paper: Paper) -> None:
    assert {row.item for row in paper.published} <= {item.name for item in paper.module().ITEMS}


@each_item
def test_rows_are_answered_and_one_that_does_not_match_says_why(
    rows_of: RowsOf, paper: Paper, item: str
) -> None:
    rows = rows_of(f"{paper.name}/{item}")
    assert set(rows) == {(row.case, row.metric) for row in paper.published if row.item == item}
    for name, row in rows.items():
        assert row.computed is not None, name
        assert row.verdict == "match" or len(row.note) > 40, name


@pytest.mark.parametrize(
    "item",
    ["adalr/table-1", "adalr/table-9", "afc/equation-1", "afc/table-2", "xfwa/figure-2", "xfwa/figure-3"],
)
def test_pictures(tmp_path: Path, finished_runs: Path, item: str) -> None:
    (result,) = reproduce(item, Cache(finished_runs), report=tmp_path / "report")
    assert result.picture
    assert (tmp_path / "report" / result.picture).stat().st_size > 10_000
