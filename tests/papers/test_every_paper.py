"""What holds for every paper that is reproduced: its rows, its notes, its coverage, its pictures."""

import json
import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from bentpipe_papers.reproduction import coverage, papers
from bentpipe_papers.reproduction.finished import Cache
from bentpipe_papers.reproduction.papers import Paper
from bentpipe_papers.reproduction.reproduce import Context, reproduce
from bentpipe_papers.reproduction.statements import sentence
from bentpipe_papers.reproduction.verdicts import VERDICTS
from conftest import ROOT, Bentpipe

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
        "reproduce", paper.name, "--json", "--report", "report", "--cache", finished_runs, timeout=900
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    page = ROOT / "docs" / "generated" / "papers" / f"{paper.name}.md"
    assert sentence(found["statements"][paper.name]) in page.read_text("utf-8"), "run make papers"
    items = found["items"]
    assert sum(len(item["rows"]) for item in items) == len(paper.published)
    for item in items:
        for row in item["rows"]:
            assert row["computed"] is not None, (item["item"], row)
            assert row["verdict"] in VERDICTS
            assert row["verdict"] in ("match", "match (also without)", "input") or len(row["note"]) > 40, (
                item["item"],
                row,
            )
            assert (row["cause"] is not None) == (row["verdict"] in ("contradiction", "differs")), (
                item["item"],
                row,
            )
            # "Not stated" says the range that was tried and what it gives.
            assert row["cause"] != "not stated" or re.search(r"\d", row["note"]), (item["item"], row)
    assert (tmp_path / "report" / "index.html").is_file()


def sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+(?=[A-Z\"“{])", text) if part.strip()]


@each_paper
def test_notes_are_short_and_each_fits_a_row(paper: Paper) -> None:
    for note in paper.notes:
        assert len(sentences(note.text)) <= 3, note
        assert any(note.fits(row.item, row.case, row.metric) for row in paper.published), note


def test_no_sentence_explains_two_papers() -> None:
    said = Counter(
        sentence
        for paper in PAPERS
        for sentence in {sentence for note in paper.notes for sentence in sentences(note.text)}
    )
    assert [sentence for sentence, often in said.items() if often > 1] == []


@each_paper
def test_every_statement_has_a_row_or_a_reason(paper: Paper) -> None:
    assert coverage.faults(paper, ROOT) == []
    assert (paper.folder / "coverage.csv").read_text("utf-8") == coverage.text(paper), "run make coverage"


@pytest.mark.parametrize(
    ("paper", "name"),
    [
        pytest.param(paper, item.name, id=f"{paper.name}-{item.name}")
        for paper in PAPERS
        for item in paper.module().ITEMS
        if item.draw and any(row.item == item.name for row in paper.published)
    ],
)
def test_a_picture_draws_the_runs_of_its_rows(
    tmp_path: Path, finished_runs: Path, paper: Paper, name: str
) -> None:
    (item,) = (item for item in paper.module().ITEMS if item.name == name)
    context = Context(paper, name, Cache(finished_runs), len(os.sched_getaffinity(0)))
    item.compute(context)
    drawing = replace(context, asked=set())
    item.draw(drawing, tmp_path / "picture.png")
    assert drawing.asked <= context.asked
    # A picture over time shows one seed of a row's runs.
    measured = {(scenario, settings) for scenario, settings, _ in context.asked}
    drawn = {(scenario, settings) for scenario, settings, _ in drawing.asked}
    assert {run for run in measured - drawn if run[0] not in item.undrawn} == set()


@pytest.mark.parametrize(
    "item",
    ["adalr/table-1", "adalr/table-9", "afc/equation-1", "afc/table-2", "xfwa/figure-2", "xfwa/figure-3"],
)
def test_pictures(tmp_path: Path, finished_runs: Path, item: str) -> None:
    (result,) = reproduce(item, Cache(finished_runs), report=tmp_path / "report")
    assert result.picture
    assert len(result.picture) > 10_000
    assert result.picture in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("item", "reading", "case"),
    [
        ("adalr/figure-3", "share-of-capacity", "sack, disabled"),
        ("adalr/table-9", "access-4-ms", "newreno, 400 ms"),
        ("afc/figure-12", "udp-losses", "weakness of TCP"),
        ("sack/figure-3", "ten-seconds", "NewReno: fewer drops at 190 than at 160 packets"),
        ("xfwa/figure-3", "buffers-280-ms", "constant queue"),
    ],
)
def test_another_reading_moves_rows_for_better(
    finished_runs: Path, item: str, reading: str, case: str
) -> None:
    (result,) = reproduce(item, Cache(finished_runs), otherwise=True)
    (read,) = (one for one in result.read if one.reading.name == reading)
    assert case in {one.row.case for one in read.of(1)}
