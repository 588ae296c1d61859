"""Satellites beside Skyfield's, NetworkX's, Hypatia's: writes docs/generated/beside-orbits.md."""

import importlib
import math
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import orbits_published
from numpy.typing import NDArray
from walker import LIGHT_KM_PER_S, SHELLS, Graph, Shell, grid, satellites, stations

from bentpipe._core import Sky
from statements import between_marks

PAGE = Path(__file__).parents[2] / "docs" / "generated" / "beside-orbits.md"
SAMPLES, STEPS = 250, 100
DAY_S = 86_400
MU_KM3_PER_S2 = 398_600.4418
TURN_RAD_PER_S = 7.292115e-5

ABOVE = (38.6916, -9.216)
"""Where the station of the element sets stands: 38.6916 degrees north, 9.216 degrees west."""

TIMES = 1000
ELEMENTS = (
    (
        "Vanguard 1 (1958-002B)",
        "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753",
        "2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667",
    ),
    (
        "Delta 1 debris (1962-025E)",
        "1 06251U 62025E   06176.82412014  .00008885  00000-0  12808-3 0  3985",
        "2 06251  58.0579  54.0425 0030035 139.1568 221.1854 15.56387291  6774",
    ),
)
"""Of the verification vectors of Vallado et al., AIAA 2006-6753."""

Values = NDArray[np.float64]


def sky_of(
    constellation: str, places: Sequence[tuple[str, float, float]], start_s: float = 0.0, more: str = ""
) -> Sky:
    """Give the satellites of a preset over some stations, some time after its epoch."""
    ground = "".join(
        f'[stations.{name}]\nlatitude = "{north} deg"\nlongitude = "{east} deg"\n'
        for name, north, east in places
    )
    return Sky(
        f'duration = "200 s"\n[constellation]\npreset = "{constellation}"\nstart = "{start_s} s"\n{more}'
        f'uplink.rate = "1 Mbit/s"\n{ground}'
        f'[flows.flow]\nfrom = "{places[0][0]}"\nto = "{places[-1][0]}"\n'
    )


def somewhere(chance: random.Random, most_north: float = 90.0) -> tuple[float, float]:
    """Draw a place on the ground."""
    return round(chance.uniform(-most_north, most_north), 4), round(chance.uniform(-180, 180), 4)


class Skyfield:
    """Skyfield's two-body motion and its Earth; the turn of the Earth is ours."""

    def __init__(self) -> None:
        """Load it."""
        api: Any = importlib.import_module("skyfield.api")
        self.toposlib: Any = importlib.import_module("skyfield.toposlib")
        self.keplerlib: Any = importlib.import_module("skyfield.keplerlib")
        self.distance: Any = importlib.import_module("skyfield.units").Distance
        # Any time will do: both ends of what is measured are given in axes that turn with the Earth.
        self.time = api.load.timescale(builtin=True).utc(2026, 1, 1)
        self.wgs84: Any = api.wgs84

    def satellite(self, shell: Shell, number: int, at_s: float) -> Any:
        """Let Skyfield carry a satellite from where it is at the epoch."""
        places = satellites(shell, np.array([0.0]))[number, 0]
        speed = np.sqrt(MU_KM3_PER_S2 / shell.radius_km)
        normal = shell.normals()[number]
        velocity = speed * np.cross(normal, places / shell.radius_km)
        moved, _ = self.keplerlib.propagate(places, velocity, 0.0, np.array([at_s]), MU_KM3_PER_S2)
        turn = -TURN_RAD_PER_S * at_s
        x, y, z = np.asarray(moved, float)[:, 0]
        fixed = (x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn), z)
        return self.toposlib.ITRSPosition(self.distance(km=np.array(fixed)))

    def above(self, satellite: Any) -> tuple[float, float, float]:
        """Give the place over which it is, and how high."""
        found = self.wgs84.geographic_position_of(satellite.at(self.time))
        return found.latitude.degrees, found.longitude.degrees, found.elevation.km

    def seen(self, satellite: Any, north: float, east: float) -> tuple[float, float, float]:
        """Give elevation, azimuth and range."""
        way = (satellite - self.wgs84.latlon(north, east)).at(self.time)
        elevation, azimuth, distance = way.altaz()
        return elevation.degrees, azimuth.degrees, distance.km

    def place(self, north: float, east: float, height_km: float) -> Values:
        """Give a geodetic place in axes that turn with the Earth."""
        found = self.wgs84.latlon(north, east, elevation_m=height_km * 1e3)
        return np.asarray(found.itrs_xyz.km, float)


@dataclass
class Largest:
    """The largest differences of a shell's satellites."""

    compared: int = 0
    seen: int = 0
    place_m: float = 0.0
    elevation_deg: float = 0.0
    azimuth_deg: float = 0.0
    range_m: float = 0.0
    otherwise: int = 0


def beside_skyfield(constellation: str, theirs: Skyfield, chance: random.Random) -> Largest:
    """Compare satellites at random times over random stations."""
    shell, largest = SHELLS[constellation], Largest()
    for _ in range(SAMPLES):
        at_s, (north, east) = round(chance.uniform(0, DAY_S), 3), somewhere(chance)
        sky = sky_of(constellation, [("here", north, east), ("there", 0.0, 0.0)])
        seen = {number: (up, around, far) for number, up, around, far in sky.visible("here", at_s)}
        positions = sky.positions(at_s)
        for number in {chance.randrange(shell.satellites), *([chance.choice(list(seen))] if seen else [])}:
            satellite = theirs.satellite(shell, number, at_s)
            apart = theirs.place(*positions[number]) - theirs.place(*theirs.above(satellite))
            up, around, far = theirs.seen(satellite, north, east)
            largest.compared += 1
            largest.place_m = max(largest.place_m, 1e3 * float(np.linalg.norm(apart)))
            if (number in seen) != (up >= sky.elevation_deg):
                largest.otherwise += 1
            elif number in seen:
                ours = seen[number]
                largest.seen += 1
                turned = abs((ours[1] - around + 180) % 360 - 180)
                largest.elevation_deg = max(largest.elevation_deg, abs(ours[0] - up))
                # Near the zenith an azimuth is nobody's.
                largest.azimuth_deg = max(largest.azimuth_deg, turned * float(np.cos(np.radians(up))))
                largest.range_m = max(largest.range_m, 1e3 * abs(ours[2] - far))
    return largest


def skyfield_table() -> str:
    """Write what Skyfield makes of it."""
    theirs, chance = Skyfield(), random.Random(1)  # noqa: S311
    lines = [
        "| preset | compared | place (mm) | of them in sight | elevation (°) | azimuth (°) | range (mm)"
        " | in sight for one only |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in SHELLS:
        found = beside_skyfield(name, theirs, chance)
        lines.append(
            f"| `{name}` | {found.compared} | {1e3 * found.place_m:.4f} | {found.seen}"
            f" | {found.elevation_deg:.1e} | {found.azimuth_deg:.1e} | {1e3 * found.range_m:.4f}"
            f" | {found.otherwise} |"
        )
    return "\n".join(lines) + "\n"


def sky_of_elements(first: str, second: str) -> Sky:
    """Give a satellite of an element set over the station."""
    north, east = ABOVE
    return Sky(
        f'duration = "1 s"\n[constellation]\nelements.text = """\n{first}\n{second}\n"""\n'
        f'elevation = "0 deg"\nuplink.rate = "1 Mbit/s"\n'
        f'[stations.here]\nlatitude = "{north} deg"\nlongitude = "{east} deg"\n'
        '[stations.there]\nlatitude = "0 deg"\nlongitude = "0 deg"\n'
        '[flows.flow]\nfrom = "here"\nto = "there"\n'
    )


def elements_table() -> str:
    """Write what Skyfield makes of element sets: its SGP4, its sidereal time with nutation, its UT1."""
    api: Any = importlib.import_module("skyfield.api")
    time, chance = api.load.timescale(builtin=True), random.Random(5)  # noqa: S311
    station = api.wgs84.latlon(*ABOVE)
    lines = [
        "| satellite | times | place (m) | of them in sight | elevation (°) | range (m)"
        " | in sight for one only |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, first, second in ELEMENTS:
        theirs, largest = api.EarthSatellite(first, second, name, time), Largest()
        sky = sky_of_elements(first, second)
        for _ in range(TIMES):
            at_s = round(chance.uniform(0, DAY_S), 3)
            moment = time.tt_jd(theirs.epoch.tt + at_s / DAY_S)
            [(north, east, height_km)] = sky.positions(at_s)
            over = api.wgs84.geographic_position_of(theirs.at(moment))
            ours = api.wgs84.latlon(north, east, elevation_m=1e3 * height_km)
            largest.compared += 1
            largest.place_m = max(largest.place_m, float(np.linalg.norm(ours.itrs_xyz.m - over.itrs_xyz.m)))
            up, _, far = (theirs - station).at(moment).altaz()
            seen = sky.visible("here", at_s)
            if bool(seen) != (up.degrees >= 0):
                largest.otherwise += 1
            elif seen:
                [(_, elevation, _, range_km)] = seen
                largest.seen += 1
                largest.elevation_deg = max(largest.elevation_deg, abs(elevation - up.degrees))
                largest.range_m = max(largest.range_m, 1e3 * abs(range_km - far.km))
        lines.append(
            f"| {name} | {largest.compared} | {largest.place_m:.0f} | {largest.seen}"
            f" | {largest.elevation_deg:.4f} | {largest.range_m:.0f} | {largest.otherwise} |"
        )
    return "\n".join(lines) + "\n"


def shortest_s(graph: Graph, ends: tuple[int, int]) -> float | None:
    """Let NetworkX find the delay one way of the shortest path."""
    networkx: Any = importlib.import_module("networkx")
    net = networkx.Graph()
    net.add_weighted_edges_from(graph.edges)
    first, last = (("station", end) for end in ends)
    if first not in net or last not in net:
        return None
    try:
        return float(networkx.dijkstra_path_length(net, first, last)) / LIGHT_KM_PER_S
    except networkx.NetworkXNoPath:
        return None


def beside_networkx(constellation: str, most_north: float) -> str:
    """Compare shortest paths between random stations at random times."""
    chance, shell = random.Random(2), SHELLS[constellation]  # noqa: S311
    largest_s, paths, none, otherwise = 0.0, 0, 0, 0
    for _ in range(STEPS):
        start_s = round(chance.uniform(0, DAY_S), 1)
        ends = [(name, *somewhere(chance, most_north)) for name in ("here", "there")]
        sky = sky_of(constellation, ends, start_s)
        rows = sky.follow("here", "there", sky.step_s / 2)
        ours = rows[0][2][0] / 1e3 if rows[0][1] else None
        places = stations([(north, east) for _, north, east in ends])
        theirs = shortest_s(Graph.of(shell, start_s, places, grid(shell), sky.elevation_deg), (0, 1))
        if ours is None and theirs is None:
            none += 1
        elif ours is None or theirs is None:
            otherwise += 1
        else:
            paths += 1
            largest_s = max(largest_s, abs(ours - theirs))
    return f"| `{constellation}` | {paths} | {1e9 * largest_s:.1f} | {none} | {otherwise} |\n"


def networkx_table() -> str:
    """Write what NetworkX makes of it."""
    head = (
        "| preset | paths | largest difference one way (ns) | no path for both | a path for one only |\n"
        "|---|---:|---:|---:|---:|\n"
    )
    return head + "".join(
        beside_networkx(name, north)
        for name, north in (("starlink", 60.0), ("kuiper", 56.0), ("iridium", 90.0))
    )


def span(values: Sequence[float], beside: orbits_published.Range | None = None) -> str:
    """Write the least, the median and the largest, or how far they are from Hypatia's."""
    found = (min(values), statistics.median(values), max(values))
    if beside is None:
        return " / ".join(f"{value:.2f}" for value in found)
    theirs = (beside.least_ms, beside.median_ms, beside.most_ms)
    return ", ".join(f"{ours / value - 1:+.1%}" for ours, value in zip(found, theirs, strict=True))


def elevation_deg(row: orbits_published.Range) -> float:
    """Give the elevation at which a satellite is as far as Hypatia's longest link to the ground.

    The mean of both stations, each on a sphere of its own distance from the Earth's centre.
    """
    ground, _ = stations([(north, east) for _, north, east in row.ends()])
    far, radius = row.longest_km, np.linalg.norm(ground, axis=1)
    sine = (SHELLS[row.preset].radius_km ** 2 - radius**2 - far**2) / (2 * radius * far)
    return float(np.degrees(np.arcsin(sine)).mean())


def ours_ms(row: orbits_published.Range) -> Iterator[float]:
    """Follow a path as a run does, over stations that are where Hypatia's are at its epoch."""
    more = f'step = "100 ms"\nreconfigure = "100 ms"\nelevation = "{elevation_deg(row):.3f} deg"\n'
    for _, nodes, delays in sky_of(row.preset, row.ends(), 0.0, more).follow(*row.names, row.seconds):
        yield from (2 * delay for delay in delays if nodes)


class Sgp4:
    """Satellites of a shell as SGP4 moves them, with Hypatia's revolutions a day."""

    def __init__(self, shell: Shell, revolutions: float) -> None:
        """Give each its elements."""
        api: Any = importlib.import_module("sgp4.api")
        epoch_days = 18_262.0  # From 1949-12-31 to 2000-01-01.
        each = shell.satellites // shell.planes
        per_minute, slope = revolutions * 2 * math.pi / 1440, math.radians(shell.inclination_deg)
        self.elements = []
        for number, node in enumerate(shell.nodes_rad()):
            plane, place = divmod(number, each)
            phase = math.radians(360 * (place / each + plane * shell.phasing / shell.satellites))
            element = api.Satrec()
            orbit = (1e-7, 0.0, slope, phase % (2 * math.pi), per_minute, float(node))
            element.sgp4init(api.WGS72, "i", 1, epoch_days, 0.0, 0.0, 0.0, *orbit)
            self.elements.append(element)

    def places(self, at_s: float) -> Values:
        """Give their places in axes that turn with the Earth."""
        x, y, z = np.array([element.sgp4_tsince(at_s / 60)[1] for element in self.elements]).T
        cos, sin = math.cos(TURN_RAD_PER_S * at_s), math.sin(TURN_RAD_PER_S * at_s)
        return np.stack([x * cos + y * sin, y * cos - x * sin, z], axis=1)


def as_hypatia_ms(row: orbits_published.Range, moved: Sgp4 | None = None) -> list[float]:
    """Find shortest paths each second with Hypatia's height and longest link to the ground."""
    shell = replace(SHELLS[row.preset], altitude_km=row.altitude_km)
    places, lasers = stations([(north, east) for _, north, east in row.ends()]), grid(shell)
    found = []
    for at_s in range(row.seconds):
        space = moved.places(at_s) if moved else None
        graph = Graph.of(shell, at_s, places, lasers, longest_km=row.longest_km, space=space)
        delay = shortest_s(graph, (0, 1))
        if delay is not None:
            found.append(2e3 * delay)
    return found


def hypatia_table() -> str:
    """Write what Hypatia makes of it."""
    lines = ["| pair | what | RTT (ms), least / median / largest | beside Hypatia |", "|---|---|---|---|"]
    for row in orbits_published.ranges():
        sgp4 = Sgp4(SHELLS[row.preset], row.revolutions)
        hypatia = " / ".join(f"{value:.2f}" for value in (row.least_ms, row.median_ms, row.most_ms))
        lines.append(f"| {row.pair} | Hypatia | {hypatia} | |")
        lines += [
            f"| | {what} | {span(found)} | {span(found, row)} |"
            for what, found in (
                (f"`{row.preset}`", list(ours_ms(row))),
                ("as high, as far to the ground", as_hypatia_ms(row)),
                ("and moved by SGP4", as_hypatia_ms(row, sgp4)),
            )
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run all, write the page."""
    for name, table in (
        ("Skyfield", skyfield_table),
        ("element sets", elements_table),
        ("NetworkX", networkx_table),
        ("Hypatia", hypatia_table),
    ):
        program = f"tests/witness/orbits.py, {name}"
        PAGE.write_text(between_marks(PAGE, program, table()), encoding="utf-8")


if __name__ == "__main__":
    main()
