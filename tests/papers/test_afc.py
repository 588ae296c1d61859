"""The reproduction of the afc document: complete, and with the verdicts that its page reports."""

import json
from collections import Counter
from itertools import pairwise

import pytest

from bentpipe import papers
from bentpipe.finished import Cache
from bentpipe.papers.afc import equation, stages
from bentpipe.reproduction import Context
from bentpipe.results import mean
from conftest import ROOT, Bentpipe, RowsOf

PAPER = papers.read(papers.folder() / "afc")


def context(item: str) -> Context:
    return Context(PAPER, item, Cache(None), 2)


def test_every_cell_of_table_2_is_there() -> None:
    cells = [row for row in PAPER.published if row.item == "table-2" and row.kind == "printed"]
    assert len(cells) == 7 * 2 * 2


@pytest.mark.parametrize("number", ["90", "93", "245", "554", "82", "36", "138", "63.1", "25.2", "83", "29"])
def test_numbers_of_the_text_are_there(number: str) -> None:
    assert any(row.published == number for row in PAPER.published if row.item == "text-numbers")


@pytest.mark.parametrize("item", ["equation-1", "table-1", "figure-1", "figure-3", "figure-4", "figure-7"])
def test_all_of_the_item_matches(rows_of: RowsOf, item: str) -> None:
    assert {row.verdict for row in rows_of(f"afc/{item}").values()} == {"match"}


def test_afc_takes_as_long_as_published_with_the_counted_losses(rows_of: RowsOf) -> None:
    rows = rows_of("afc/table-2")
    assert rows["afc, 20 MB", "throughput"].verdict == "match"
    assert rows["tcp, 20 MB", "throughput"].verdict == "shape"


def test_the_printed_transfers_make_126_and_not_138_per_cent(rows_of: RowsOf) -> None:
    row = rows_of("afc/text-numbers")["AFC over TCP, from the printed times", "improvement"]
    assert row.computed == pytest.approx(126, abs=0.5)
    assert row.verdict == "differs"


def test_figure_9_does_not_come_out(rows_of: RowsOf) -> None:
    verdicts = Counter(row.verdict for row in rows_of("afc/figure-9").values())
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
    assert mean(stages.gain(transfers)) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("name", ["point-to-point", "shared-tcp", "shared-multimedia"])
def test_the_scenario_files_run_by_themselves(bentpipe: Bentpipe, name: str) -> None:
    result = bentpipe("run", ROOT / "papers" / "afc" / f"{name}.toml", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["flows"][0]["bytes_delivered"] == 20_000_000
