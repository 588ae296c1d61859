"""What more cores could bring to one run over satellites: a model of starlink-100, cut by orbital planes.

A part runs by itself for as long as a packet takes over the shortest link to another part, the lookahead, and
then waits for the others. The busiest part sets the pace.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Sequence
from itertools import pairwise

from simulators import SCENARIOS

from bentpipe import _core

PLANES = 72
TIMES_S = range(0, 60, 5)
PARTS = (2, 4, 8, 16)
# Instructions for a segment and its ACK at either host, and on a link, by `bench/run.py --rooms`.
HOST = 810
LINK = 156
KM_A_MS = 299.792458
EARTH_KM = 6371.0


def place(position: Sequence[float]) -> tuple[float, float, float]:
    """Give x, y and z in km of a latitude and a longitude in degrees and a height in km."""
    latitude, longitude = (math.radians(angle) for angle in position[:2])
    radius = EARTH_KM + position[2]
    across = radius * math.cos(latitude)
    return across * math.cos(longitude), across * math.sin(longitude), radius * math.sin(latitude)


def paths_by_time() -> Iterator[tuple[list[list[int]], list[tuple[float, float, float]]]]:
    """Give the satellites of each flow's path, by their numbers, and their places, at some times."""
    text = (SCENARIOS / "starlink-100.toml").read_text()
    sky = _core.Sky(text)
    stations = len(sky.stations)
    flows = tomllib.loads(text)["flows"].values()
    followed = [sky.follow(flow["from"], flow["to"], max(TIMES_S) + 1.0) for flow in flows]
    for at in TIMES_S:
        nodes = [[row[1] for row in rows if row[0] <= at][-1][1:-1] for rows in followed]
        satellites = [place(position) for position in sky.positions(at)]
        yield [[node - stations for node in path] for path in nodes if path], satellites


def main() -> None:
    """Print a row for each number of parts, with the best of all cuts."""
    looks = list(paths_by_time())
    each = len(looks[0][1]) // PLANES
    print("| parts | busiest part | times as fast | links between parts | lookahead |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for parts in PARTS:
        found = []
        for turn in range(PLANES // parts):
            busiest, crossing, links, shortest = 0.0, 0, 0, math.inf
            for paths, places in looks:
                load = [0.0] * parts
                for path in paths:
                    sides = [(satellite // each + turn) % PLANES * parts // PLANES for satellite in path]
                    for end in (sides[0], sides[-1]):
                        load[end] += HOST + LINK
                    for (one, other), (side, next_side) in zip(pairwise(path), pairwise(sides), strict=True):
                        load[side] += LINK
                        links += 1
                        if side != next_side:
                            crossing += 1
                            shortest = min(shortest, math.dist(places[one], places[other]) / KM_A_MS)
                busiest += max(load) / sum(load) / len(looks)
            found.append((busiest, crossing / links, shortest))
        share, crosses, shortest = min(found)
        print(f"| {parts} | {share:.1%} | {1 / share:.2f} | {crosses:.1%} | {shortest:.2f} ms |")


if __name__ == "__main__":
    main()
