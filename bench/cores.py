"""What more cores could bring to one run: starlink-100, cut by orbital planes, by a model.

A part runs by itself for as long as a packet takes over the shortest link from another part, the lookahead. A
station belongs to the part that has most of its satellites. The busiest part sets the pace.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from simulators import SCENARIOS

from bentpipe import _core

NAME = "starlink-100"
PLANES = 72
TIMES_S = range(0, 200, 20)
PARTS = (2, 4, 8, 16)
# Instructions for a segment and its ACK, by callgrind: at either host, on a link, to come to another part,
# and in every part for the satellites and the links that go ahead.
HOST = 810
LINK = 156
CROSSING = 300
EVERYWHERE = 250
KM_A_MS = 299.792458
EARTH_KM = 6371.0


class Cut(NamedTuple):
    """What a cut brings."""

    faster: float
    crossing: float
    lookahead_ms: float


def place(position: Sequence[float]) -> tuple[float, float, float]:
    """Give x, y and z in km of a latitude and a longitude in degrees and a height in km."""
    latitude, longitude = (math.radians(angle) for angle in position[:2])
    radius = EARTH_KM + position[2]
    across = radius * math.cos(latitude)
    return across * math.cos(longitude), across * math.sin(longitude), radius * math.sin(latitude)


class Sky:
    """The paths of the flows, by the numbers of their nodes, and the places of the nodes, at some times."""

    def __init__(self) -> None:
        """Look at the times."""
        text = (SCENARIOS / f"{NAME}.toml").read_text()
        sky = _core.Sky(text)
        flows = tomllib.loads(text)["flows"].values()
        followed = [sky.follow(flow["from"], flow["to"], max(TIMES_S) + 1.0) for flow in flows]
        grounds = [place((*station[1:3], 0.0)) for station in sky.stations]
        self.stations = len(grounds)
        self.flows = len(followed)
        self.looks = [
            (
                [[row[1] for row in rows if row[0] <= at][-1] for rows in followed],
                grounds + [place(position) for position in sky.positions(at)],
            )
            for at in TIMES_S
        ]
        self.satellites = len(self.looks[0][1]) - self.stations

    def links(self) -> Iterator[tuple[int, int, int, float]]:
        """Give each link of a path: the number of the look, the nodes, and the delay in ms."""
        for look, (paths, places) in enumerate(self.looks):
            for path in paths:
                for one, other in pairwise(path):
                    yield look, one, other, math.dist(places[one], places[other]) / KM_A_MS

    def cut(self, parts: int, turn: int) -> Cut:
        """Cut it so that the first of `parts` begins `turn` planes before the first plane."""
        each = self.satellites // PLANES
        seen = [Counter[int]() for _ in range(self.stations)]
        nodes = [(number // each + turn) % PLANES * parts // PLANES for number in range(self.satellites)]
        for _, one, other, _ in self.links():
            for station, satellite in ((one, other), (other, one)):
                if station < self.stations:
                    seen[station][nodes[satellite - self.stations]] += 1
        nodes = [sides.most_common(1)[0][0] for sides in seen] + nodes
        loads = [[float(EVERYWHERE * self.flows)] * parts for _ in self.looks]
        whole, crossing, links, shortest = 0.0, 0, 0, math.inf
        for look, one, other, delay in self.links():
            sides = nodes[one], nodes[other]
            crosses = sides[0] != sides[1]
            for side, node in zip(sides, (one, other), strict=True):
                work = LINK / 2 + HOST * (node < self.stations)
                whole += work
                loads[look][side] += work + CROSSING / 2 * crosses
            links += 1
            crossing += crosses
            shortest = min(shortest, delay) if crosses else shortest
        whole += EVERYWHERE * self.flows * len(loads)
        return Cut(whole / sum(map(max, loads)), crossing / links, shortest)


def main() -> None:
    """Print a row for each number of parts, with the best of all cuts."""
    sky = Sky()
    print("| parts | times as fast | links between parts | lookahead |")
    print("| ---: | ---: | ---: | ---: |")
    for parts in PARTS:
        cut = max(sky.cut(parts, turn) for turn in range(PLANES // parts))
        print(f"| {parts} | {cut.faster:.2f} | {cut.crossing:.1%} | {cut.lookahead_ms:.2f} ms |")


if __name__ == "__main__":
    main()
