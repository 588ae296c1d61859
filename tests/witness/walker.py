"""A shell by Walker's rule and its graph, written from the page alone: what tests hold the engine's to."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

LIGHT_KM_PER_S = 299_792.458
EARTH_KM = 6378.137
FLATTENING = 1 / 298.257223563
LEAST_LASER_KM = EARTH_KM + 80

Values = NDArray[np.float64]
Node = tuple[str, int]


@dataclass(frozen=True)
class Shell:
    """Circular orbits of one height."""

    satellites: int
    planes: int
    phasing: int
    inclination_deg: float
    altitude_km: float
    spacing_deg: float
    seam: bool = False

    @property
    def radius_km(self) -> float:
        """From the Earth's centre."""
        return EARTH_KM + self.altitude_km

    def nodes_rad(self) -> Values:
        """Give the ascending node of each satellite."""
        plane = np.arange(self.satellites) // (self.satellites // self.planes)
        return np.asarray(np.radians(self.spacing_deg * plane), float)

    def normals(self) -> Values:
        """Give the axis about which each satellite turns."""
        node, slope = self.nodes_rad(), np.radians(self.inclination_deg)
        return np.stack(
            [np.sin(node) * np.sin(slope), -np.cos(node) * np.sin(slope), 0 * node + np.cos(slope)], 1
        )


SHELLS = {
    "starlink": Shell(1584, 72, 36, 53.0, 550.0, 360 / 72),
    "kuiper": Shell(1156, 34, 17, 51.9, 630.0, 360 / 34),
    "oneweb": Shell(720, 18, 9, 87.9, 1200.0, 180 / 18, seam=True),
    "iridium": Shell(66, 6, 3, 86.4, 780.0, 31.6, seam=True),
}


def satellites(shell: Shell, times_s: Values) -> Values:
    """Give the place of each satellite at each time in km, in axes that turn with the Earth."""
    each = shell.satellites // shell.planes
    plane, place = np.divmod(np.arange(shell.satellites), each)
    phase = np.radians(360 * (place * shell.planes + plane * shell.phasing) / shell.satellites)
    rate = np.sqrt(398_600.4418 / shell.radius_km**3)
    along = phase[:, None] + rate * times_s
    # The Earth's turn takes the node back.
    node, slope = shell.nodes_rad()[:, None] - 7.292115e-5 * times_s, np.radians(shell.inclination_deg)
    x = np.cos(node) * np.cos(along) - np.sin(node) * np.sin(along) * np.cos(slope)
    y = np.sin(node) * np.cos(along) + np.cos(node) * np.sin(along) * np.cos(slope)
    return shell.radius_km * np.stack([x, y, np.sin(along) * np.sin(slope)], axis=2)


def stations(places: Sequence[tuple[float, float]]) -> Values:
    """Give for each latitude and longitude the place on the ellipsoid, and which way is up."""
    north, east = np.radians(np.array(places, float)).T
    up = np.stack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)], axis=1)
    squeeze = np.array([1.0, 1.0, 1 - FLATTENING])
    return np.stack([EARTH_KM * squeeze**2 * up / np.linalg.norm(squeeze * up, axis=1)[:, None], up])


def grid(shell: Shell) -> list[tuple[int, int]]:
    """Join each satellite with the next of its plane and the one as far along in the next plane."""
    each = shell.satellites // shell.planes

    def number(plane: int, level: int) -> int:
        """Give the satellite of a plane that is so many places along, by whole places."""
        plane %= shell.planes
        return plane * each + (level - plane * shell.phasing // shell.planes) % each

    places = [(plane, level) for plane in range(shell.planes) for level in range(each)]
    along = [(number(plane, level), number(plane, level + 1)) for plane, level in places]
    last = shell.planes - 1 if shell.seam else shell.planes
    return along + [
        (number(plane, level), number(plane + 1, level)) for plane, level in places if plane < last
    ]


@dataclass
class Graph:
    """What is joined, and how many km apart."""

    edges: list[tuple[Node, Node, float]] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        shell: Shell,
        at_s: float,
        ground: Values,
        lasers: Sequence[tuple[int, int]],
        least_deg: float = 0.0,
        longest_km: float = np.inf,
        space: Values | None = None,
    ) -> "Graph":
        """Join what is in sight at a time: stations from an elevation on, or up to a length.

        `space` is where the satellites are, if not where the rule has them.
        """
        found = cls()
        if space is None:
            space = satellites(shell, np.array([at_s]))[:, 0]
        for number, (place, up) in enumerate(zip(*ground, strict=True)):
            way = space - place
            far = np.linalg.norm(way, axis=1)
            high = (way @ up >= np.sin(np.radians(least_deg)) * far) & (far <= longest_km)
            found.edges += [
                (("station", number), ("satellite", int(n)), float(far[n])) for n in np.nonzero(high)[0]
            ]
        one, other = space[np.array(lasers)].transpose(1, 0, 2)
        far = np.linalg.norm(other - one, axis=1)
        # Both ends are equally high, so that the middle is lowest.
        clear = np.linalg.norm(one + other, axis=1) / 2 >= LEAST_LASER_KM
        found.edges += [
            (("satellite", a), ("satellite", b), float(km))
            for (a, b), km, free in zip(lasers, far, clear, strict=True)
            if free
        ]
        return found
