"""Replications that are taken together give what they give one by one."""

import gc
from typing import Any

import pytest

import bentpipe as bp
from bentpipe._core import RunResult, columns
from bentpipe.results import parse
from bentpipe.runs.statistics import Fold, replication_seed
from conftest import SCENARIOS

LOSSY = {"links.satellite.loss": {"model": "packet", "probability": 0.02}}


def results(scenario: Any, runs: int) -> list[RunResult]:
    return [scenario.simulate(seed=replication_seed(1, number)) for number in range(runs)]


def one_by_one(found: list[RunResult]) -> Any:
    fold = Fold()
    for result in found:
        fold.add(parse(result.json()))
    return fold.combined()


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("preset:geo", {"flows.download.bytes": "50 kB", **LOSSY}),
        # Some replications finish and some do not: a null is no number.
        ("preset:geo", {"flows.download.bytes": "200 kB", "duration": "9 s", **LOSSY}),
        # Some give up, with a text that says so.
        ("preset:geo", {"flows.download.bytes": "50 kB", "tcp.max_retransmissions": 0, **LOSSY}),
        (str(SCENARIOS / "pages.toml"), {}),
        (str(SCENARIOS / "relay.toml"), {"duration": "20 s"}),
    ],
)
def test_together_they_are_what_they_are_one_by_one(name: str, settings: dict[str, Any]) -> None:
    scenario = bp.Scenario.load(name).with_(settings)
    found = results(scenario, 40)
    together = Fold()
    together.add_results(found[:1])
    together.add_results(found[1:8])
    together.add_results(found[8:])
    assert together.runs == 40
    assert together.combined() == one_by_one(found)


def test_the_thousandth_run_may_lie_within() -> None:
    scenario = bp.Scenario.load("preset:geo").with_({"flows.download.bytes": "5 kB", **LOSSY})
    found = results(scenario, 50) * 45
    together = Fold()
    for begin in range(0, len(found), 130):
        together.add_results(found[begin : begin + 130])
    assert together.combined() == one_by_one(found)


def test_numbers_come_by_column_and_irregular_runs_do_not() -> None:
    scenario = bp.Scenario.load("preset:geo").with_({"flows.download.bytes": "50 kB", **LOSSY})
    found = results(scenario, 3)
    numbers = columns(found)
    assert numbers is not None
    values = memoryview(numbers).cast("d")
    assert list(values[:3]) == [parse(result.json())["seed"] for result in found]
    assert columns(results(bp.Scenario.load(SCENARIOS / "pages.toml"), 1)) is None
    other = bp.Scenario.load(SCENARIOS / "relay.toml").with_({"duration": "5 s"})
    assert columns([found[0], *results(other, 1)]) is None


def test_runs_with_the_same_numbers_are_not_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = bp.Scenario.load("preset:geo").with_({"flows.download.bytes": "50 kB", **LOSSY})
    found = results(scenario, 3)
    together = Fold()
    together.add_results(found[:1])
    monkeypatch.setattr("bentpipe.runs.statistics.parse", None)
    together.add_results(found[1:])
    assert together.runs == 3


def test_kept_replications_are_read_when_they_are_asked_for() -> None:
    scenario = bp.Scenario.load("preset:geo").with_({"flows.download.bytes": "50 kB", **LOSSY})
    found = bp.replicate(scenario, runs=12, precision=None)
    assert len(found.runs) == 12
    assert found.runs[-1]["seed"] == replication_seed(1, 11)
    assert [run["seed"] for run in found.runs[:2]] == [1, replication_seed(1, 1)]
    alone = bp.replicate(scenario, runs=12, threads=1).runs
    assert [run["flows"] for run in found.runs] == [run["flows"] for run in alone]
    stopped = bp.replicate(scenario, precision=0.5)
    assert stopped.precise
    assert len(stopped.runs) == stopped.flows[0]["goodput_bps"]["n"]  # type: ignore[index]


RANDOM: list[dict[str, Any]] = [
    LOSSY,
    {"links.satellite.loss": {"model": "ber", "ber": 1e-7}},
    {
        "links.satellite.queue": {
            "scheme": "red",
            "limit": "50 packets",
            "min": "5 packets",
            "max": "15 packets",
        }
    },
    {"links.satellite.schedule": [{"at": "1 s", "loss": {"model": "packet", "probability": 0.1}}]},
]


@pytest.mark.parametrize("settings", RANDOM)
def test_what_draws_is_random(settings: dict[str, Any]) -> None:
    assert bp.Scenario.load("preset:geo").with_({"flows.download.bytes": "5 kB", **settings}).is_random()


@pytest.mark.parametrize(
    "settings",
    [{}, {"links.satellite.loss": {"model": "packet", "probability": 0}}, {"flows.*.variant": "bbr3"}],
)
def test_where_nothing_is_random_another_seed_gives_the_same(settings: dict[str, Any]) -> None:
    scenario = bp.Scenario.load("preset:geo").with_({"flows.download.bytes": "300 kB", **settings})
    assert not scenario.is_random()
    one, other = (parse(scenario.simulate(seed=seed).json()) for seed in (1, 2))
    assert (one["flows"], one["links"]) == (other["flows"], other["links"])


def test_numbers_that_stay_are_not_searched_for_cycles() -> None:
    scenario = bp.Scenario.load("preset:geo").with_({"flows.download.bytes": "1 kB"})
    run = parse(scenario.simulate().json())
    flows = [dict(run["flows"][0], name=str(number)) for number in range(2000)]
    searches: list[str] = []
    gc.collect()
    gc.callbacks.append(lambda phase, _: searches.append(phase))
    try:
        by_hand = Fold()
        for flow in flows:
            for key in flow:
                by_hand._leaf(key)
        by_itself, searches[:] = len(searches), []
        Fold().add({**run, "flows": flows})  # type: ignore[typeddict-item]
    finally:
        gc.callbacks.pop()
    assert gc.isenabled()
    assert len(searches) < by_itself / 2
