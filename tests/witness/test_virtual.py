"""The simulator beside what Linux made of random scenarios (docs/generated/virtual-witness.md)."""

import json
from dataclasses import replace

import edges
import numpy as np
import pytest
from virtual_scenarios import COUNT, scenario

import virtual
from bentpipe.errors import InputError
from bentpipe.live.packets import Packet
from bentpipe.live.virtual.kernel import find


@pytest.fixture(scope="module")
def pairs() -> list[virtual.Pair]:
    return list(virtual.pairs())


def test_no_scenario_goes_away_from_the_kernel(pairs: list[virtual.Pair]) -> None:
    apart = json.loads(virtual.APART.read_text())
    moved = {
        f"{pair.number}: {pair.title}": f"{pair.deviation:+.2%}"
        for pair in pairs
        if abs(pair.deviation)
        > max(apart.get(str(pair.number), {}).get("apart", 0.0), virtual.ALIKE) + pair.spread
    }
    assert moved == {}, "apart from the kernel, and more than tests/witness/virtual_apart.json has"


def test_so_many_are_as_the_kernel_has_them(pairs: list[virtual.Pair]) -> None:
    alone = [pair for pair in pairs if pair.is_of_one_flow]
    assert np.mean([pair.is_within(0.005) for pair in alone]) >= 0.95
    assert np.mean([pair.is_within(0.05) for pair in alone]) >= 0.98
    assert np.mean([pair.is_within(0.01) for pair in pairs]) >= 0.95


def test_the_kernel_was_asked_each_of_them(pairs: list[virtual.Pair]) -> None:
    assert [pair.number for pair in pairs] == list(range(1, COUNT + 1))
    assert {len(pair.kernel["goodput_bps"]) for pair in pairs} == {1, 2, 3}
    other = [p.number for p in pairs if p.kernel["scenario"] != virtual.name_of(scenario(p.number))]
    assert other == [], "make virtual-witness: these scenarios have changed"


def test_the_page_is_of_these_results(pairs: list[virtual.Pair]) -> None:
    page = virtual.PAGE.read_text(encoding="utf-8")
    for name, of in virtual.groups(pairs).items():
        assert f"| {name} | {len(of)} | {' | '.join(virtual.shares(of))} |" in page, "make virtual-witness"


def test_each_that_is_apart_has_its_rule_named() -> None:
    assert all(told["why"] for told in json.loads(virtual.APART.read_text()).values())


def test_a_scenario_beyond_its_bound_is_not_alike(pairs: list[virtual.Pair]) -> None:
    pair = replace(pairs[0], spread=0.001)
    slower = {**pair.kernel, "goodput_bps": [value * 0.99 for value in pair.ours["goodput_bps"]]}
    assert not replace(pair, kernel=slower).is_within(0.005)
    assert replace(pair, kernel=slower, spread=0.02).is_within(0.005)


def test_the_digest_of_a_stream_tells_where_another_one_parts() -> None:
    def stream(other: int | None = None, count: int = 400) -> str:
        lengths = (1449 if number == other else 1448 for number in range(count))
        return virtual.digest([Packet(0.0, 0, True, 1, length, "ACK", 1, 0, ()) for length in lengths])

    def alike(one: str, two: str, pair: virtual.Pair) -> int | None:
        return replace(pair, kernel={"sent": [one]}, ours={"sent": [two]}).first_difference("sent")

    pair = virtual.Pair(1, "", {}, {}, 0.0)
    assert alike(stream(), stream(), pair) is None
    assert alike(stream(5), stream(), pair) == 5
    found = alike(stream(300), stream(), pair)
    assert found is not None
    assert 300 / virtual.STEP**2 < found <= 300
    assert alike(stream(), stream(count=390), pair) is not None


def why_not() -> str | None:
    try:
        here = find().release
    except InputError as error:
        return str(error)
    kept = virtual.read()["kernel_release"]
    return None if here == kept else f"kept are results of Linux {kept}, and this is {here}"


@pytest.mark.skipif(why_not() is not None, reason=why_not() or "")
@pytest.mark.parametrize("number", range(5, COUNT, 10))
def test_the_kernel_does_the_same_again_byte_for_byte(number: int) -> None:
    kept = virtual.read()["scenarios"][str(number)]
    assert virtual.of_kernel(number) == {key: kept[key] for key in kept.keys() - {"spread", "scenario"}}


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
