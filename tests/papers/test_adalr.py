"""The reproduction of the adalr documents: complete, and with the verdicts that its page reports."""

import re
from typing import cast

import numpy as np
import pytest

import bentpipe as bp
from bentpipe.results import Run, mean
from bentpipe.runs import runner
from bentpipe.runs.statistics import jain
from bentpipe.scenario import Scenario
from bentpipe_papers.adalr.runs import busy_percent, finished, utilization
from bentpipe_papers.reproduction import papers
from conftest import RowsOf

PAPER = papers.read(papers.folder() / "adalr")
MATCHES = {"match", "match (also without)"}


@pytest.mark.parametrize(
    "percent", ["23", "28", "53", "63", "66", "13", "37", "16", "61", "27", "76", "43", "47"]
)
def test_percentages_of_the_text_are_claims(percent: str) -> None:
    assert any(row.published == percent and row.unit == "%" for row in PAPER.published if row.kind == "claim")


def test_table_1_matches_and_the_slides_print_it_again(rows_of: RowsOf) -> None:
    verdicts = {name: row.verdict for name, row in rows_of("adalr/table-1").items()}
    assert {v for (_, metric), v in verdicts.items() if metric.endswith("slides")} == {"input"}
    assert {v for (_, metric), v in verdicts.items() if not metric.endswith("slides")} <= MATCHES


# adalr, section 1: a delayed ACK is for every second full-size segment
@pytest.mark.parametrize("item", ["table-2", "table-3", "table-4"])
def test_parameters_are_echoed(rows_of: RowsOf, item: str) -> None:
    assert {row.verdict for row in rows_of(f"adalr/{item}").values()} == {"input"}


def test_table_1_is_within_half_a_percent(rows_of: RowsOf) -> None:
    deviations = [row.deviation for row in rows_of("adalr/table-1").values() if row.deviation is not None]
    assert len(deviations) == 12
    assert max(map(abs, deviations)) < 0.005


def test_table_6_matches_and_only_the_swapped_percentages_differ(rows_of: RowsOf) -> None:
    differing = {name for name, row in rows_of("adalr/table-6").items() if row.verdict == "contradiction"}
    slides = "shorter than standard TCP, slides"
    assert differing == {("gain, enabled", slides), ("gain, disabled", slides)}


def test_table_11_cannot_be_had_from_its_network(rows_of: RowsOf) -> None:
    assert {row.verdict for row in rows_of("adalr/table-11").values()} == {"contradiction", "shape"}


def test_table_5_matches_over_a_connection_that_stays_open(rows_of: RowsOf) -> None:
    times = {name: row for name, row in rows_of("adalr/table-5").items() if name[1] == "page response time"}
    assert {row.verdict for row in times.values()} <= MATCHES


def test_pages_with_congestion_say_what_was_tried(rows_of: RowsOf) -> None:
    rows = rows_of("adalr/table-6b")
    cells = [
        row for (_, metric), row in rows.items() if metric == "page response time" and row.ci95 is not None
    ]
    assert len(cells) == 8
    assert all(re.search(r"takes \d.* to \d.* s", row.note) for row in cells)


def test_the_printed_tables_contradict_the_conclusion_and_the_link(rows_of: RowsOf) -> None:
    """Delayed ACK disabled is not always ahead; the printed throughputs are more than the link carries."""
    differing = {
        (item, name)
        for item in ("table-6b", "table-9", "table-11")
        for name, row in rows_of(f"adalr/{item}").items()
        if row.cause == "contradiction" and not row.measured
    }
    assert differing == {
        ("table-6b", ("gain over sack, enabled", "shorter with delayed ACK, slides")),
        ("table-6b", ("disabled outperforms enabled", "printed page response time")),
        ("table-9", ("sum of the printed column, adalr-newreno", "throughput of all six")),
        ("table-9", ("sum of the printed column, newreno", "throughput of all six")),
        ("table-11", ("sum of the printed column", "throughput of all six")),
    }


# adalr, section 5.5: n and t_j of the index
# adalr, section 5.5: 1/n is unfair, 1 is fair
# adalr, equation 3: Jain's index
# adalr, slides, fairness and friendliness: Jain's index, 1/n to 1
def test_the_index_is_that_of_equation_3() -> None:
    """It is 1 for equal shares, 1/n where one has all, and 36 / 42 for shares of 1, 2 and 3."""
    assert jain([5.0, 5.0, 5.0]) == pytest.approx(1)
    assert jain([7.0, 0.0, 0.0, 0.0]) == pytest.approx(1 / 4)
    assert jain([1.0, 2.0, 3.0]) == pytest.approx(36 / 42)


def test_a_fairness_index_of_0_985_is_not_one_of_0_99996(rows_of: RowsOf) -> None:
    assert rows_of("adalr/table-12")["adalr-newreno and newreno", "friendliness"].verdict == "contradiction"


def test_the_busy_share_over_time_is_the_utilization() -> None:
    """Lost packets, too, were sent, and what the queue dropped was not."""
    changes = [
        ("flows.download.bytes", "3 MB"),
        ("links.satellite.loss.model", "packet"),
        ("links.satellite.loss.probability", "0.01"),
        ("links.satellite.queue", "10 packets"),
    ]
    scenario = Scenario.load(str(PAPER.folder / "download.toml"), changes)
    outcome = runner.execute(scenario, runner.Plan(traces=True, series_limit=None, threads=1))
    duration = outcome.run["duration_s"]
    assert isinstance(duration, float)
    shares = busy_percent(outcome.series, np.linspace(0.0, duration, 11))
    busy = utilization(outcome.run)
    assert isinstance(busy, float)
    assert shares.max() <= 101
    assert shares.mean() == pytest.approx(100 * busy, rel=0.005)


def test_congestion_makes_all_variants_alike(rows_of: RowsOf) -> None:
    rows = rows_of("adalr/table-7")
    times = [row for (_, metric), row in rows.items() if metric == "download response time" and row.unit]
    assert {row.verdict for row in times} <= {*MATCHES, "shape", "differs"}
    assert all(abs(row.deviation) < 0.06 for row in times if row.deviation is not None)
    assert rows["comparable, enabled", "download response time"].verdict in MATCHES


def test_table_7_contradicts_what_section_6_says_of_delayed_ack(rows_of: RowsOf) -> None:
    rows = rows_of("adalr/table-7")
    printed = [row for (_, metric), row in rows.items() if metric.endswith("as printed")]
    assert [(row.verdict, row.cause) for row in printed] == 2 * [("contradiction", "contradiction")]


def test_gains_with_bit_errors_are_paired_and_known_to_a_few_points(rows_of: RowsOf) -> None:
    gains = [row for row in rows_of("adalr/figure-8").values() if row.unit == "%"]
    assert len(gains) == 6
    assert all(row.ci95 is not None and row.ci95 < 1.5 for row in gains)
    assert all(isinstance(row.number, dict) and len(row.number["values"]) >= 19 for row in gains)


def test_a_download_that_was_given_up_leaves_its_seed_out_for_all() -> None:
    def run(error: str | None) -> Run:
        return cast(Run, {"flows": [{"name": "download", "error": error}]})

    kept, given_up = run(None), run("the retransmission limit was reached")
    runs = {"sack": [kept, given_up, kept], "newreno": [kept, kept, kept]}
    assert finished(runs) == {"sack": [kept, kept], "newreno": [kept, kept]}


# adalr, section 4.1: a delayed ACK of two segments sends four: bursts
# adalr, section 5.2: the reason: increments without large bursts
# adalr, section 5.3: the reason: two segments back to back
# adalr, slides: sqrt(rho)/2 keeps bursts modest
def test_the_cwnd_increase_sends_a_segment_more_at_once_and_the_rwnd_increase_a_window() -> None:
    def most(scenario: str, variant: str, **adalr: bool) -> int:
        """Give what waits at most before the server's own link, which is what the server sends at once."""
        options = {f"tcp.adalr.{key}": on for key, on in adalr.items()}
        found = bp.run(
            Scenario.load(PAPER.folder / scenario).with_({"flows.download.variant": variant, **options})
        )
        return int(mean(found.links["terrestrial"]["queue_max_packets"]) or 0)

    assert most("download.toml", "sack") == 2
    assert most("download.toml", "adalr-sack", rwnd_increase=False) == 3
    assert most("download.toml", "adalr-sack", cwnd_increase=False) > 100
    assert most("congestion.toml", "sack") == most("congestion.toml", "adalr-sack") == 3
