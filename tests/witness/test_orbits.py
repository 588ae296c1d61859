"""The engine's satellites and paths beside the shells of walker.py, and Hypatia's round trips."""

import heapq
import math
import random
from dataclasses import replace
from statistics import median

import numpy as np
import orbits
import orbits_published
import pytest
import walker
from orbits_published import Range

WITHIN = 0.05
"""What a round trip may be off by, from the range that Hypatia has."""

PAIRS = orbits_published.ranges()


@pytest.mark.parametrize("preset", walker.SHELLS)
def test_satellites_are_where_the_rule_has_them(preset: str) -> None:
    chance = random.Random(3)  # noqa: S311
    sky = orbits.sky_of(preset, [("here", 0.0, 0.0), ("there", 1.0, 1.0)])
    for _ in range(5):
        at_s = round(chance.uniform(0, orbits.DAY_S), 3)
        expected = walker.satellites(walker.SHELLS[preset], np.array([at_s]))[:, 0]
        found = np.array(sky.positions(at_s))
        ground, up = walker.stations([(north, east) for north, east, _ in found])
        apart = np.linalg.norm(ground + up * found[:, 2:] - expected, axis=1)
        assert apart.max() < 1e-4  # km


def dijkstra_s(graph: walker.Graph) -> float:
    """Give the delay of the shortest path from the first station to the second, infinite without one."""
    beside: dict[walker.Node, list[tuple[walker.Node, float]]] = {}
    for one, other, km in graph.edges:
        beside.setdefault(one, []).append((other, km))
        beside.setdefault(other, []).append((one, km))
    heap: list[tuple[float, walker.Node]] = [(0.0, ("station", 0))]
    done: set[walker.Node] = set()
    while heap:
        km, here = heapq.heappop(heap)
        if here == ("station", 1):
            return km / walker.LIGHT_KM_PER_S
        if here not in done:
            done.add(here)
            for there, far in beside.get(here, ()):
                heapq.heappush(heap, (km + far, there))
    return math.inf


@pytest.mark.parametrize(("preset", "most_north"), [("starlink", 60.0), ("kuiper", 56.0), ("iridium", 90.0)])
def test_paths_are_the_shortest_there_are(preset: str, most_north: float) -> None:
    chance, shell = random.Random(4), walker.SHELLS[preset]  # noqa: S311
    for _ in range(10):
        start_s = round(chance.uniform(0, orbits.DAY_S), 1)
        ends = [(name, *orbits.somewhere(chance, most_north)) for name in ("here", "there")]
        sky = orbits.sky_of(preset, ends, start_s)
        [(_, nodes, delays_ms)] = sky.follow("here", "there", sky.step_s / 2)
        places = walker.stations([(north, east) for _, north, east in ends])
        graph = walker.Graph.of(shell, start_s, places, walker.grid(shell), sky.elevation_deg)
        expected = dijkstra_s(graph)
        assert bool(nodes) == math.isfinite(expected)
        if nodes:
            assert delays_ms[0] / 1e3 == pytest.approx(expected, abs=2e-8)


def off(row: Range) -> float:
    """Give by how much the farthest of the least, median and largest round trip is off."""
    found = list(orbits.ours_ms(row))
    ends = ((min(found), row.least_ms), (median(found), row.median_ms), (max(found), row.most_ms))
    return max(abs(ours / theirs - 1.0) for ours, theirs in ends)


@pytest.mark.parametrize("row", PAIRS, ids=lambda row: row.pair)
def test_round_trips_are_hypatias(row: Range) -> None:
    assert off(row) < WITHIN


def test_stations_elsewhere_or_a_lower_link_would_show() -> None:
    row = PAIRS[0]
    (a_north, a_east), (b_north, b_east) = row.places
    turned = ((a_north, a_east + 5.0), (b_north, b_east + 5.0))
    assert off(replace(row, places=turned)) > WITHIN
    assert off(replace(row, longest_km=row.longest_km * 1.1)) > WITHIN


def test_the_page_has_what_hypatia_has() -> None:
    page = orbits.PAGE.read_text("utf-8")
    for row in PAIRS:
        assert (
            f"| {row.pair} | Hypatia | {row.least_ms:.2f} / {row.median_ms:.2f} / {row.most_ms:.2f} |" in page
        )
