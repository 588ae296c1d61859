"""What holds for every paper that is reproduced: its published rows, its items, its notes, its pictures."""

import json
from collections import Counter
from pathlib import Path

import pytest

from bentpipe import papers
from bentpipe.finished import Cache
from bentpipe.papers import Paper
from bentpipe.reproduction import reproduce
from conftest import Bentpipe

PAPERS = papers.all_papers()
PLACES = ("abstract", "section", "table", "figure", "caption", "equation", "slides")

each_paper = pytest.mark.parametrize("paper", PAPERS, ids=[paper.name for paper in PAPERS])


@each_paper
def test_published_rows_are_unlike_and_say_where_they_stand(paper: Paper) -> None:
    names = Counter((row.item, row.case, row.metric) for row in paper.published)
    assert names.most_common(1)[0][1] == 1
    assert all(row.where.startswith(PLACES) and row.comment for row in paper.published)


@each_paper
def test_every_published_row_has_an_item(paper: Paper) -> None:
    assert {row.item for row in paper.published} <= {item.name for item in paper.module().ITEMS}


@each_paper
def test_it_is_reproduced_and_explains_what_does_not_match(
    bentpipe: Bentpipe, tmp_path: Path, finished_runs: Path, paper: Paper
) -> None:
    result = bentpipe(
        "reproduce", paper.name, "--json", "--report", "report", "--cache", finished_runs, timeout=600
    )
    assert result.returncode == 0, result.stderr
    items = json.loads(result.stdout)["items"]
    assert sum(len(item["rows"]) for item in items) == len(paper.published)
    for item in items:
        for row in item["rows"]:
            assert row["computed"] is not None, (item["item"], row)
            assert row["verdict"] in ("match", "shape", "differs")
            assert row["verdict"] == "match" or len(row["note"]) > 40, (item["item"], row)
    assert (tmp_path / "report" / "index.html").is_file()


@pytest.mark.parametrize(
    "item",
    ["adalr/table-1", "adalr/table-9", "afc/equation-1", "afc/table-2", "xfwa/figure-2", "xfwa/figure-3"],
)
def test_pictures(tmp_path: Path, finished_runs: Path, item: str) -> None:
    (result,) = reproduce(item, Cache(finished_runs), report=tmp_path / "report")
    assert result.picture
    assert (tmp_path / "report" / result.picture).stat().st_size > 10_000
