"""The reproduction of the afc document: complete, and with the verdicts that its page reports."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from bentpipe import papers
from bentpipe.papers import afc
from bentpipe.papers.afc import equation, runs, stages
from bentpipe.reproduction import Cache, Context, Row, reproduce
from bentpipe.results import mean
from conftest import ROOT, Bentpipe

Results = dict[str, dict[tuple[str, str], Row]]

PAPER = papers.read(papers.folder() / "afc")


@pytest.fixture(scope="module")
def results(finished_runs: Path) -> Results:
    everything = reproduce("afc", Cache(finished_runs))
    return {result.item.name: {(row.case, row.metric): row for row in result.rows} for result in everything}


def context(item: str) -> Context:
    return Context(PAPER, item, Cache(None), 2)


def test_published_rows_are_unlike_and_say_where_they_stand() -> None:
    names = Counter((row.item, row.case, row.metric) for row in PAPER.published)
    assert names.most_common(1)[0][1] == 1
    assert all(row.where and row.comment for row in PAPER.published)


def test_every_published_row_has_an_item() -> None:
    assert {row.item for row in PAPER.published} <= {item.name for item in afc.ITEMS}


def test_every_cell_of_table_2_is_there() -> None:
    cells = [row for row in PAPER.published if row.item == "table-2" and row.kind == "printed"]
    assert len(cells) == 7 * 2 * 2


@pytest.mark.parametrize("number", ["90", "93", "245", "554", "82", "36", "138", "63.1", "25.2", "83", "29"])
def test_numbers_of_the_text_are_there(number: str) -> None:
    assert any(row.published == number for row in PAPER.published if row.item == "text-numbers")


def test_every_row_that_does_not_match_says_why(results: Results) -> None:
    for item, rows in results.items():
        for name, row in rows.items():
            assert row.verdict == "match" or row.note, (item, name)


@pytest.mark.parametrize("item", ["equation-1", "table-1", "figure-1", "figure-3", "figure-4", "figure-7"])
def test_all_of_the_item_matches(results: Results, item: str) -> None:
    assert {row.verdict for row in results[item].values()} == {"match"}


def test_afc_takes_as_long_as_published_with_the_counted_losses(results: Results) -> None:
    rows = results["table-2"]
    assert rows["afc, 20 MB", "throughput"].verdict == "match"
    assert rows["tcp, 20 MB", "throughput"].verdict == "shape"


def test_the_printed_transfers_make_126_and_not_138_per_cent(results: Results) -> None:
    row = results["text-numbers"]["AFC over TCP, from the printed times", "improvement"]
    assert row.computed == pytest.approx(126, abs=0.5)
    assert row.verdict == "differs"


def test_figure_9_does_not_come_out(results: Results) -> None:
    verdicts = Counter(row.verdict for row in results["figure-9"].values())
    assert verdicts["differs"] == 3


def test_drawn_losses_are_as_many_in_each_stage_as_counted() -> None:
    for name, transfers in stages.with_counted_losses(context("table-2")).items():
        counted = stages.counts(context("table-2"), name)
        assert {len(one.lost_s) for one in transfers} == {counted[-1]}
        for volume, losses in zip(stages.VOLUMES_MB, counted, strict=True):
            found = [one.losses(volume * 1e6) for one in transfers]
            assert sum(found) / len(found) == pytest.approx(losses, abs=1)


def test_the_second_loss_costs_less_the_farther_it_is() -> None:
    cuts = [equation.cut(context("equation-1"), distance) for distance in equation.DISTANCES]
    for distance, one in zip(equation.DISTANCES, cuts, strict=True):
        assert one.kept == pytest.approx(equation.formula(distance / one.before), abs=0.02)
    assert all(before.kept <= after.kept + 1e-9 for before, after in pairwise(cuts))


def test_in_bursts_the_counted_losses_leave_no_gain() -> None:
    transfers = stages.with_counted_losses(context("beyond-bursts"), burst=2)
    gain = runs.ratio(*(stages.mean_throughput(transfers[name], 20.0) for name in ("afc", "tcp")))
    assert mean(gain) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("name", ["point-to-point", "shared-tcp", "shared-multimedia"])
def test_the_scenario_files_run_by_themselves(bentpipe: Bentpipe, name: str) -> None:
    result = bentpipe("run", ROOT / "papers" / "afc" / f"{name}.toml", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["flows"][0]["bytes_delivered"] == 20_000_000


def test_pictures_of_the_cheap_items(tmp_path: Path, finished_runs: Path) -> None:
    for item in ("equation-1", "table-2"):
        (result,) = reproduce(f"afc/{item}", Cache(finished_runs), report=tmp_path / item)
        assert result.picture
        assert (tmp_path / item / result.picture).stat().st_size > 10_000
