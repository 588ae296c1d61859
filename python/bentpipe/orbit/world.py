"""The Earth as a map from 180° west to 180° east: land, distances, circles, lines cut at the edge."""

import json
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Line: TypeAlias = NDArray[np.float64]
"""Rows of longitude and latitude in degrees."""

EARTH_KM = 6371.0088
"""The mean radius (IUGG)."""

LIGHT_KM_PER_S = 299_792.458

FIBRE_INDEX = 1.4682
"""Group index of Corning's SMF-28, a fibre by ITU-T G.652, at 1550 nm (product information)."""

_STEP_DEG = 2.0


@cache
def land() -> tuple[Line, ...]:
    """Give the outlines of land as closed rings; docs/how-to/constellations.md says whose they are."""
    text = files("bentpipe.orbit").joinpath("land.json").read_text(encoding="utf-8")
    return tuple(np.array(ring, float).reshape(-1, 2) for ring in json.loads(text)["rings"])


def distance_km(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Give the length of the great circle between two places, latitude and longitude in degrees."""
    (a, b), (c, d) = (np.radians(place) for place in (one, other))
    hav = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * EARTH_KM * math.asin(min(1.0, math.sqrt(hav)))


def least_rtt_s(one: tuple[float, float], other: tuple[float, float], index: float = 1.0) -> float:
    """Give the time that light needs there and back along the great circle where it has this index."""
    return 2 * distance_km(one, other) * index / LIGHT_KM_PER_S


def great_circle(one: tuple[float, float], other: tuple[float, float]) -> Line:
    """Give the points of the great circle between two places, latitude and longitude in degrees."""
    a, b = _direction(one), _direction(other)
    angle = math.acos(max(-1.0, min(1.0, float(a @ b))))
    if angle < 1e-9:
        return np.array([[one[1], one[0]], [other[1], other[0]]])
    share = np.linspace(0.0, 1.0, 2 + int(math.degrees(angle) / _STEP_DEG))[:, None]
    points = (np.sin((1 - share) * angle) * a + np.sin(share * angle) * b) / math.sin(angle)
    return _places(points)


def reach(height_km: float, elevation_deg: float) -> float:
    """Give the angle at the centre of the Earth within which a satellite is seen so high, in radians."""
    least = math.radians(elevation_deg)
    return math.acos(EARTH_KM / (EARTH_KM + height_km) * math.cos(least)) - least


def coverage(latitude: float, longitude: float, height_km: float, elevation_deg: float) -> Line:
    """Give the closed ring of places that see a satellite at this elevation, in degrees."""
    angle = reach(height_km, elevation_deg)
    centre = _direction((latitude, longitude))
    aside = np.cross(centre, [0.0, 0.0, 1.0])
    length = float(np.linalg.norm(aside))
    east = aside / length if length > 1e-9 else np.array([1.0, 0.0, 0.0])
    north = np.cross(east, centre)
    around = np.linspace(0.0, 2 * math.pi, 73)[:, None]
    ring = math.cos(angle) * centre + math.sin(angle) * (np.cos(around) * east + np.sin(around) * north)
    places = _places(ring)
    places[-1] = places[0]
    return places


def on_map(line: Line, *, area: bool = False) -> list[Line]:
    """Give a line without its jumps from edge to edge, as often as a part of it is on the map.

    The closed line around an `area` with a pole in it goes on to the edge.
    """
    whole = np.column_stack([np.unwrap(line[:, 0], period=360.0), line[:, 1]])
    if area and abs(whole[-1, 0] - whole[0, 0]) > 180:
        pole = math.copysign(90.0, float(np.mean(whole[:, 1])))
        whole = np.array([*whole, (whole[-1, 0], pole), (whole[0, 0], pole), whole[0]])
    first, last = np.floor((np.array([whole[:, 0].min(), whole[:, 0].max()]) + 180) / 360).astype(int)
    return [whole - (360.0 * turn, 0.0) for turn in range(first, last + 1)]


def _direction(place: Sequence[float]) -> Line:
    latitude, longitude = np.radians(place)
    level = math.cos(latitude)
    return np.array([level * math.cos(longitude), level * math.sin(longitude), math.sin(latitude)])


def _places(points: Line) -> Line:
    longitudes = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
    return np.column_stack([longitudes, np.degrees(np.arcsin(np.clip(points[:, 2], -1.0, 1.0)))])
