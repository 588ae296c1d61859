"""The reproduction of the xfwa document: complete, and with the verdicts that its page reports."""

import json
import tomllib

import numpy as np
import pytest

from bentpipe.results import mean
from bentpipe_papers.common import link, plain
from bentpipe_papers.reproduction import papers
from bentpipe_papers.reproduction.finished import Cache
from bentpipe_papers.reproduction.reproduce import Context
from bentpipe_papers.xfwa import (
    beyond,
    coming_and_going,
    constellation,
    convergence,
    handover,
    link_types,
    over_time,
    readings,
    runs,
    sections,
    staged,
)
from conftest import ROOT, Bentpipe, RowsOf

PAPER = papers.read(papers.folder() / "xfwa")


def context(item: str) -> Context:
    return Context(PAPER, item, Cache(None), 2)


@pytest.mark.parametrize("number", ["1.5", "10", "45", "155", "160", "240", "320", "400", "1000", "20"])
def test_parameters_of_the_text_are_there(number: str) -> None:
    assert any(row.published == number for row in PAPER.published if row.item == "figure-1")


def test_the_network_is_that_of_figure_1(rows_of: RowsOf) -> None:
    assert {row.verdict for row in rows_of("xfwa/figure-1").values()} == {"input"}


def test_slopes_follow_the_number_of_flows(rows_of: RowsOf) -> None:
    slopes = [
        row for (case, _), row in rows_of("xfwa/figure-2").items() if "flows" in case and " at " in case
    ]
    assert all(row.verdict.startswith("match") for row in slopes)


def test_standard_tcp_is_unfair_to_long_round_trips(rows_of: RowsOf) -> None:
    assert rows_of("xfwa/figure-4")["tcp", "progress of a flow from 5 to 20 s"].verdict.startswith("match")


def test_xfwa_drops_less_and_times_out_less(rows_of: RowsOf) -> None:
    rows = rows_of("xfwa/figure-3")
    assert rows["drops", "packets dropped"].verdict == "match"
    assert rows["timeouts", "timeouts"].verdict == "match"


def test_flows_that_are_not_forgotten_are_alike_and_fill_the_link() -> None:
    arrived, ours = (
        staged.staged(context("figure-3"), runs.scheme(name, runs.STAGED), seeds=3)
        for name in ("arrived", "xfwa")
    )

    def busy(some: list[staged.Staged]) -> float:
        return float(np.mean([one.bottleneck.utilization(coming_and_going.EDGES_S).mean() for one in some]))

    assert busy(ours) > 0.98 > busy(arrived)


def test_by_arrival_flows_that_only_wait_are_forgotten_and_by_transmission_none() -> None:
    found = {
        (row[0], row[1]): mean(row[2])
        for row in sections.measure_section_3(context("section-3")).rows
        if not isinstance(row[2], str)
    }
    for buffer in ("60", "160"):
        assert (found[buffer, "arrived, 1 RTT_avg"] or 0.0) < 7.5
        assert found[buffer, "transmitted, RTT_avg"] == pytest.approx(8.0, rel=0.02)


def test_delta_is_the_documents(rows_of: RowsOf) -> None:
    rows = rows_of("xfwa/section-3")
    assert rows["delta", "delta over RTT_avg"].computed == 1.0
    assert rows["table of active flows", "flows that the gateway counts"].verdict == "match"


def test_both_readings_stand_beside_each_other() -> None:
    found = readings.compared(context("beyond-readings"), "figure-2")
    (growth,) = (row for row in found if row[1] == "xfwa, connections 5 to 8")
    # Standard TCP is the same with both.
    assert not any(str(row[1]).startswith("tcp") for row in found)
    assert str(growth[4]).endswith("match")
    assert str(growth[5]).endswith("differs")


@pytest.mark.parametrize("name", ["chain", "groups", "handover"])
def test_every_link_has_the_stated_buffer(name: str) -> None:
    links = tomllib.loads((PAPER.folder / f"{name}.toml").read_text("utf-8"))["links"]
    assert {link["queue"] for link in links.values()} == {"11250 B"}


@pytest.mark.parametrize(
    ("scenario", "files"),
    [
        (runs.STAGED, ["chain"]),
        (runs.GROUPS, ["groups"]),
        (runs.PERSISTENT, ["chain", "persistent"]),
        (runs.WEB, ["chain", "persistent", "web"]),
    ],
)
def test_a_buffer_is_set_at_every_link(scenario: str, files: list[str]) -> None:
    texts = [tomllib.loads((PAPER.folder / f"{name}.toml").read_text("utf-8")) for name in files]
    links = {name for text in texts for name in text.get("links", {})}
    assert set(runs.buffers(scenario, 10, 0.06)) == {f"links.{name}.queue" for name in links}


def test_utilization_is_higher_and_drops_are_fewer_beside_on_off_flows(rows_of: RowsOf) -> None:
    assert {row.verdict for row in rows_of("xfwa/figure-6").values()} == {"match"}


def test_windows_are_those_of_equation_1(rows_of: RowsOf) -> None:
    rows = rows_of("xfwa/equation-1")
    assert rows["proportional to the round trip", "window of a flow over its round trip"].verdict == "match"
    assert rows["sum of the windows", "sum of the windows of all flows"].verdict == "match"


def test_the_sum_of_the_windows_is_more_than_the_pipe(rows_of: RowsOf) -> None:
    row = rows_of("xfwa/equation-1")["bandwidth-delay product", "sum of the windows of all flows"]
    assert row.verdict == "contradiction"


def test_the_standing_queue_grows_with_the_buffer() -> None:
    found = beyond.queue(context("beyond-queue"))
    wait = {(row[0], row[1]): mean(row[3]) for row in found.rows if not isinstance(row[3], str)}
    name = runs.LABELS["xfwa"]
    assert (wait["20", name] or 0.0) < 5.0
    assert (wait["160", name] or 0.0) == pytest.approx(124, abs=5)
    assert (wait["160", name] or 0.0) > (wait["160", runs.LABELS["tcp"]] or 0.0)


def test_redistribution_gives_what_limited_flows_leave() -> None:
    found = {row[0]: mean(row[4]) for row in beyond.limited(context("x")).rows if not isinstance(row[4], str)}
    assert (found["XFWA"] or 0.0) < 80
    assert (found["XFWA, redistributing"] or 0.0) > 90


def test_a_moved_flow_of_unknown_scale_is_left_alone() -> None:
    known, unknown = (
        np.mean([one.dropped() for one in handover.handovers(context("x"), case, seeds=2)])
        for case in ("XFWA", "XFWA, scale of moved flows unknown")
    )
    assert unknown > 2 * known


def test_over_moving_satellites_a_hop_is_shorter_than_stated_and_the_right_one_drops_less() -> None:
    asked = context("x")
    assert all(9.0 < constellation.hop_ms(constellation.courses(asked, seed)) < 11.0 for seed in (1, 2))
    cases = (constellation.STANDARD, constellation.STATED, constellation.MEAN)
    tcp, stated, mean_hop = (constellation.flights(asked, case, runs=2) for case in cases)
    for one, two, three in zip(tcp, stated, mean_hop, strict=True):
        assert one.fairness() < two.fairness()
        assert one.dropped() > 1.2 * two.dropped() > 2.4 * three.dropped()
        assert one.lowered() == 0.0 < three.lowered()


def test_drops_are_put_down_to_a_change_that_is_less_than_five_seconds_old() -> None:
    drops = np.array([1.0, 7.05, 20.05, 24.95, 25.05])
    after, otherwise = constellation.rates(drops, np.array([20.0]))
    assert after == pytest.approx(2 / 5.0)
    assert otherwise == pytest.approx(2 / (constellation.END_S - 10.0))
    assert constellation.rates(drops, np.empty(0))[0] == 0.0


def test_the_index_settles_when_it_stays_high() -> None:
    times = np.arange(1.0, 10.05, 0.1)
    index = np.where(times < 7.0, 0.5, 1.0)
    assert convergence.settles(times, index, 5.0, 10.0) == pytest.approx(2.0, abs=0.11)
    assert convergence.settles(times, np.full_like(index, 0.5), 5.0, 10.0) is None


def test_the_bottleneck_is_found_again_from_its_queue() -> None:
    (one,) = staged.staged(context("x"), {}, seeds=1)
    about = link(one.subject.run, runs.BOTTLENECK)
    found = one.bottleneck.utilization(np.array([0.0, staged.END_S]))[0]
    assert found == pytest.approx(plain(about["utilization"]), abs=0.01)
    assert isinstance(one.bottleneck, over_time.Bottleneck)


def test_every_type_of_link_has_four_equal_groups() -> None:
    for types in (link_types.TYPES, *link_types.OTHERS.values()):
        assert all(about.flows % 4 == 0 for about in types.values())


@pytest.mark.parametrize("name", ["staged", "groups", "persistent", "web", "handover"])
def test_the_scenario_files_run_by_themselves(bentpipe: Bentpipe, name: str) -> None:
    result = bentpipe("run", ROOT / "papers" / "xfwa" / f"{name}.toml", "--json")
    assert result.returncode == 0, result.stderr
    run = json.loads(result.stdout)
    assert run["duration_s"] == 20.0
    assert all(flow["error"] is None for flow in run["flows"])


def test_the_constellation_runs_by_itself(bentpipe: Bentpipe) -> None:
    result = bentpipe("run", PAPER.folder / constellation.CONSTELLATION, "--json")
    assert result.returncode == 0, result.stderr
    run = json.loads(result.stdout)
    assert run["duration_s"] == constellation.END_S
    assert len(run["flows"]) == 2 * len(constellation.CITIES)
