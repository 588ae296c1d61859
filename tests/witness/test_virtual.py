"""The simulator beside Linux in simulated time, over random scenarios (docs/how-to/virtual-kernel.md)."""

import json

import edges
import numpy as np
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


def test_the_right_edge_of_the_receive_window_is_the_kernels_in_most_draws() -> None:
    # 28, line 4: one flow of bbr with 1 % lost; in a draw both see the same losses until a packet differs.
    kept = json.loads(edges.KEPT.read_text())["edges"]
    theirs = np.array([kept[str(draw)] for draw in edges.DRAWS], float)
    ours = np.array([edges.simulated(draw) for draw in edges.DRAWS], float)
    # The kernel's own spread over the draws is a factor of two and more.
    assert (np.ptp(theirs, axis=0) > theirs.min(axis=0)).all()
    assert (np.abs(np.median(ours / theirs, axis=0) - 1) < 0.05).all(), ours / theirs
    assert (theirs.min(axis=0) * 0.95 < ours.min(axis=0)).all()
    assert (ours.max(axis=0) < theirs.max(axis=0) * 1.05).all()
