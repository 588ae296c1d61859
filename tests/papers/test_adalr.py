"""The reproduction of the adalr documents: complete, and with the verdicts that its page reports."""

import numpy as np
import pytest

from bentpipe import papers, runner
from bentpipe.papers.adalr.runs import busy_percent, utilization
from conftest import RowsOf

PAPER = papers.read(papers.folder() / "adalr")


@pytest.mark.parametrize(
    "percent", ["23", "28", "53", "63", "66", "13", "37", "16", "61", "27", "76", "43", "47"]
)
def test_percentages_of_the_text_are_claims(percent: str) -> None:
    assert any(row.published == percent and row.unit == "%" for row in PAPER.published if row.kind == "claim")


@pytest.mark.parametrize("item", ["table-1", "table-2", "table-3", "table-4", "table-10"])
def test_all_of_the_item_matches(rows_of: RowsOf, item: str) -> None:
    assert {row.verdict for row in rows_of(f"adalr/{item}").values()} == {"match"}


def test_table_1_is_within_half_a_percent(rows_of: RowsOf) -> None:
    deviations = [row.deviation for row in rows_of("adalr/table-1").values() if row.deviation is not None]
    assert len(deviations) == 12
    assert max(map(abs, deviations)) < 0.005


def test_table_6_matches_and_only_the_swapped_percentages_differ(rows_of: RowsOf) -> None:
    differing = {name for name, row in rows_of("adalr/table-6").items() if row.verdict != "match"}
    slides = "shorter than standard TCP, slides"
    assert differing == {("gain, enabled", slides), ("gain, disabled", slides)}


def test_table_11_cannot_be_had_from_its_network(rows_of: RowsOf) -> None:
    assert {row.verdict for row in rows_of("adalr/table-11").values()} == {"differs"}


def test_table_5_matches_over_a_connection_that_stays_open(rows_of: RowsOf) -> None:
    times = {name: row for name, row in rows_of("adalr/table-5").items() if name[1] == "page response time"}
    assert {row.verdict for row in times.values()} == {"match"}


def test_pages_with_congestion_say_that_their_cross_traffic_is_inferred(rows_of: RowsOf) -> None:
    rows = rows_of("adalr/table-6b")
    assert len(rows) == 20
    assert all("cross traffic is inferred" in row.note for row in rows.values())


def test_the_busy_share_over_time_is_the_utilization() -> None:
    """Lost packets, too, were sent, and what the queue dropped was not."""
    changes = [
        ("flows.download.bytes", "3 MB"),
        ("links.satellite.loss.model", "packet"),
        ("links.satellite.loss.probability", "0.01"),
        ("links.satellite.queue", "10 packets"),
    ]
    scenario = runner.load(str(PAPER.folder / "download.toml"), changes)
    outcome = runner.execute(scenario, runner.Plan(traces=True, series_limit=None, threads=1))
    duration = outcome.run["duration_s"]
    assert isinstance(duration, float)
    shares = busy_percent(outcome.traces, np.linspace(0.0, duration, 11))
    busy = utilization(outcome.run)
    assert isinstance(busy, float)
    assert shares.max() <= 101
    assert shares.mean() == pytest.approx(100 * busy, rel=0.005)
