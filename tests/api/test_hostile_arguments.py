"""What Python is given is used, or named in an error of ours; what it gives can be kept."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bentpipe as bp

RECURSIVE: dict[str, Any] = {}
RECURSIVE["flows"] = RECURSIVE
LONG = "x" * 5000


@pytest.fixture(scope="module")
def scenario() -> bp.Scenario:
    return bp.Scenario.load("preset:geo", {"flows.download.bytes": "50 kB"})


@pytest.mark.parametrize("run", [bp.run, lambda it: bp.run(it, series=True), lambda it: bp.replicate(it, 3)])
def test_a_result_can_be_pickled_and_copied(
    scenario: bp.Scenario, run: Callable[[bp.Scenario], bp.Result]
) -> None:
    found = run(scenario)
    for again in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):  # noqa: S301
        assert again.run == found.run
        assert list(again.runs) == list(found.runs)
        assert [curve.value.tolist() for curve in again.series] == [
            curve.value.tolist() for curve in found.series
        ]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda _: bp.Scenario.from_dict(RECURSIVE), "tables: expected a mapping that ends"),
        (lambda it: it.with_(RECURSIVE), "settings: expected a mapping that ends"),
        (
            lambda it: bp.run(it, series_file=Path.home()),
            "series_file: expected a file to write, found the folder",
        ),
        (
            lambda it: bp.run(it, pcap=Path(LONG)),
            "pcap: expected a path that a disk takes, found one of 5,000",
        ),
        (lambda _: bp.Scenario.load(LONG), "path: expected a path that a disk takes"),
        (lambda _: bp.Sweep.open(LONG), "folder: expected a path that a disk takes"),
        (lambda it: bp.sweep(it, {"tcp.mss": ["500 B"]}, out=LONG), "out: expected a path that a disk takes"),
    ],
)
def test_what_cannot_be_used_is_an_error_of_ours(
    scenario: bp.Scenario, call: Callable[[bp.Scenario], object], told: str
) -> None:
    with pytest.raises(bp.InputError, match=f"^{told}"):
        call(scenario)
