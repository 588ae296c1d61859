"""Satellites whose places and paths a test says, in the place of a constellation's."""

import math
from dataclasses import dataclass, field
from typing import cast

from bentpipe._core import Sky
from bentpipe.orbit.station_path import StationPath

Stretches = list[tuple[float, list[int], list[float]]]


@dataclass(frozen=True)
class FakeSky:
    """Four satellites over the equator that go 1 degree east a second, and three stations."""

    stations: list[tuple[str, float, float]] = field(
        default_factory=lambda: [("fiji", -18.0, 178.0), ("samoa", -14.0, -172.0), ("rome", 42.0, 12.5)]
    )
    satellites: list[str] = field(default_factory=lambda: [f"sat{n}" for n in range(4)])
    step_s: float = 1.0
    elevation_deg: float = 25.0
    outage_s: float = 0.5
    # From fiji by the first, then nothing, then by two of them.
    stretches: Stretches = field(
        default_factory=lambda: [
            (0.0, [0, 3, 1], [4.0, 4.5, 5.0]),
            (3.0, [], []),
            (5.0, [0, 3, 4, 1], [9.0, 9.0, 9.25, 9.5, 9.5]),
        ]
    )

    def positions(self, at_s: float) -> list[tuple[float, float, float]]:
        """Give them around the date line."""
        return [(0.0, math.remainder(176.0 + 8 * n + at_s, 360.0), 550.0) for n in range(4)]

    def follow(self, source: str, to: str, until_s: float) -> Stretches:
        """Give what the test said."""
        assert (source, to) == ("fiji", "samoa") or not self.stretches[0][1]
        assert until_s <= 10.0
        return self.stretches


def as_sky(fake: FakeSky) -> Sky:
    """Give it as what the simulator would give."""
    return cast(Sky, fake)


SKY = as_sky(FakeSky())
PATH = StationPath.of(SKY, "fiji", "samoa", 10.0)
BLIND = as_sky(FakeSky(stretches=[(0.0, [], [])]))
NOWHERE = StationPath.of(BLIND, "fiji", "rome", 10.0)
