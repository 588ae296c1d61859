"""Section 6: the distance to a geostationary satellite, and the round trip that the document takes from it.

    d = r_s sqrt(1 + (r_e/r_s)^2 - 2 (r_e/r_s) cos g)       (2)
    cos g = cos L_e cos(l_s - l_e)                          (3)
    round trip = 2 d / c                                    (1)

The Rust side computes (2) and (3), with the document's radii under the name ``sack``.
"""

import math
from dataclasses import dataclass
from pathlib import Path

from bentpipe import _core
from bentpipe.show.style import BLUE, GREEN, GREY, ORANGE, RED, picture
from bentpipe_papers.reproduction.reproduce import Context, Row

GM_KM3_S2 = 398_600.4418
"""Gravitational parameter of the Earth (WGS 84)."""

SIDEREAL_DAY_S = 86_164.0905


def orbit_radius_km() -> float:
    """Give the radius at which an orbit takes one sidereal day (Kepler's third law)."""
    return float(math.cbrt(GM_KM3_S2 * (SIDEREAL_DAY_S / (2 * math.pi)) ** 2))


def elevation_deg(distance_km: float, earth_km: float, orbit_km: float) -> float:
    """Give the elevation at which a satellite is so far away (law of cosines at the station)."""
    sine = (orbit_km**2 - earth_km**2 - distance_km**2) / (2 * earth_km * distance_km)
    return math.degrees(math.asin(sine))


@dataclass(frozen=True)
class _Model:
    """What the Rust side computes with under the name ``sack``, taken from what it gives: km and km/s."""

    earth: float
    orbit: float
    light: float

    @classmethod
    def of(cls) -> "_Model":
        overhead_km, overhead_s = _core.slant_range_at_elevation("sack", 90.0)
        horizon_km, _ = _core.slant_range_at_elevation("sack", 0.0)
        # Overhead is the difference of the radii, the square of the horizon that of their squares.
        total = horizon_km**2 / overhead_km
        return cls((total - overhead_km) / 2, (total + overhead_km) / 2, overhead_km / overhead_s)


@dataclass(frozen=True)
class _Printed:
    """What the document calculates with and arrives at: km and km/s."""

    earth: float
    orbit: float
    light: float
    largest: float

    @classmethod
    def of(cls, context: Context) -> "_Printed":
        rows = (
            ("Earth", "radius"),
            ("orbit", "radius"),
            ("speed of light", "speed"),
            ("largest distance", "slant range"),
        )
        return cls(*(float(context.published(*row).published) for row in rows))

    @property
    def elevation(self) -> float:
        return elevation_deg(self.largest, self.earth, self.orbit)


def compute(context: Context) -> list[Row]:
    """Give the rows of section 6."""
    printed, model = _Printed.of(context), _Model.of()
    horizon_km, _ = _core.slant_range_at_elevation("sack", 0.0)
    _, real_s = _core.slant_range_at_elevation("physical", printed.elevation)
    context.fact("elevation", f"{printed.elevation:.2f}°")
    context.fact("usual", f"{elevation_deg(printed.largest, 6378.0, 42_164.0):.2f}°")
    context.fact("too_high", f"{printed.orbit - orbit_radius_km():.0f} km")
    return [
        context.number("speed of light", "speed", model.light),
        context.number("Earth", "radius", model.earth),
        context.number("orbit", "radius", model.orbit),
        context.number("largest distance", "slant range", horizon_km),
        context.number("largest distance", "2 d / c", 2 * printed.largest / printed.light),
        context.number("largest distance", "round trip of TCP", 4 * real_s),
    ]


def draw(context: Context, path: Path) -> None:
    """Draw distance and delays over elevation."""
    printed = _Printed.of(context)
    elevations = [step / 2 for step in range(181)]
    ranges = [_core.slant_range_at_elevation("sack", elevation)[0] for elevation in elevations]
    with picture(path, (9.5, 3.6)) as figure:
        left, right = figure.subplots(1, 2)
        left.plot(elevations, [value / 1e3 for value in ranges], color=BLUE)
        left.axhline(
            printed.largest / 1e3,
            color=RED,
            lw=0.9,
            ls="--",
            label=f"the document's largest, {printed.largest:,.0f} km, at {printed.elevation:.1f}°",
        )
        left.plot(printed.elevation, printed.largest / 1e3, "o", color=RED, ms=4)
        for elevation, name, offset, side in ((0.0, "horizon", 8, "left"), (90.0, "overhead", -6, "right")):
            distance = _core.slant_range_at_elevation("sack", elevation)[0]
            left.plot(elevation, distance / 1e3, "o", color=BLUE, ms=4)
            left.annotate(
                f"{name}\n{distance:,.0f} km",
                (elevation, distance / 1e3),
                textcoords="offset points",
                xytext=(offset, 7),
                ha=side,
                fontsize=7.5,
            )
        left.set_ylim(35.5, 43)
        left.set_title("Distance to a geostationary satellite")
        left.set_ylabel("slant range (1000 km)")
        left.legend(loc="upper right")
        for factor, colour, label in (
            (2, ORANGE, "2 d / c: up and down once, the document's round trip"),
            (4, GREEN, "4 d / c: segment and ACK, TCP's round trip"),
        ):
            right.plot(
                elevations, [factor * value / printed.light for value in ranges], color=colour, label=label
            )
        right.axhline(0.25, color=GREY, lw=0.9, ls=":")
        right.annotate(
            "propagation in the document's simulation", (90, 0.205), ha="right", color=GREY, fontsize=7.5
        )
        right.set_ylim(0, 0.75)
        right.set_title("Round trip")
        right.set_ylabel("time (s)")
        right.legend(loc="upper right")
        for axes in (left, right):
            axes.set_xlabel("elevation above the horizon (°)")
            axes.set_xlim(-2, 92)
