"""The simulator beside what Linux in simulated time made of random scenarios (docs/virtual-kernel.md)."""

import json

import pytest
from virtual_scenarios import COUNT

import virtual


@pytest.fixture(scope="module")
def pairs() -> list[virtual.Pair]:
    return list(virtual.pairs())


def test_no_scenario_goes_away_from_the_kernel(pairs: list[virtual.Pair]) -> None:
    apart = json.loads(virtual.APART.read_text())
    moved = {
        f"{pair.number}: {pair.title}": f"{pair.deviation:+.2%}"
        for pair in pairs
        if abs(pair.deviation) > max(apart.get(str(pair.number), 0.0), virtual.ALIKE) + pair.spread
    }
    assert moved == {}, "apart from the kernel, and more than tests/witness/virtual_apart.json has"


def test_the_kernel_was_asked_each_of_them(pairs: list[virtual.Pair]) -> None:
    assert [pair.number for pair in pairs] == list(range(1, COUNT + 1))
    assert {len(pair.kernel["goodput_bps"]) for pair in pairs} == {1, 2, 3}
