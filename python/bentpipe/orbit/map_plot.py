"""A map of the world with satellites, stations, and the paths between them."""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bentpipe._core import Sky
from bentpipe.errors import InputError
from bentpipe.orbit.station_path import StationPath
from bentpipe.orbit.world import EARTH_KM, Line, coverage, great_circle, land, on_map
from bentpipe.show.style import CYCLE, GREY, PURPLE, picture, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LAND, SHORE, SEA = "#ece8df", "#cbc4b4", "#f6f9fb"

MOST_PAIRS = 8
"""So many paths are drawn."""

_MOST_NAMES = 24
"""With more stations, only those at the ends of a path have names."""

_SIDES = (
    *((x, y) for y in (4, -14) for x in (6, -6)),
    *((0, y) for y in (7, -17)),
    *((x, y) for y in (15, -25) for x in (6, -6)),
)
"""From a place to its name, in points, the best first."""

_MARK_PX = 6.0

_MU_KM3_PER_S2 = 398_600.4418
_TRACK_POINTS = 361


def draw(
    sky: Sky,
    paths: Sequence[StationPath],
    title: str,
    file: Path,
    at_s: float = 0.0,
    track: str | None = None,
) -> None:
    """Write the map at a time to a .png or .svg file, with a satellite's ground `track` for a revolution."""
    chart = Chart(sky, paths, [sky.positions(at_s)])
    line = ground_track(sky, track, at_s) if track is not None else None
    with picture(file, chart.size_in(12.0), chart.about(at_s)) as figure:
        axes = figure.subplots()
        chart.background(axes, [] if line is None else [(track or "", line[0][1], line[0][0])])
        if line is not None:
            for number, part in enumerate(on_map(line)):
                label = f"{track}, one revolution" if number == 0 else None
                axes.plot(*part.T, color=PURPLE, lw=1.2, ls=(0, (1, 1.5)), zorder=2.5, label=label)
        chart.show(sky.positions(at_s), at_s)
        axes.set_title(f"{plain(title)}{chart.of_all}, {at_s:g} s")
        chart.legend(axes, at_s)


def ground_track(sky: Sky, satellite: str, at_s: float) -> Line:
    """Give the places below a satellite from a time on, for a revolution of a circular orbit at its height.

    Raises InputError: there is no such satellite, or it has come down.
    """
    if satellite not in sky.satellites:
        last = sky.satellites[-1]
        raise InputError(
            f"--track: expected a satellite, from {sky.satellites[0]} to {last}, found {satellite!r}"
        )
    number = sky.satellites.index(satellite)
    height_km = sky.positions(at_s)[number][2]
    if math.isnan(height_km):
        raise InputError(f"--track: expected a satellite that flies, found {satellite}, which has come down")
    period_s = 2 * math.pi * math.sqrt((EARTH_KM + height_km) ** 3 / _MU_KM3_PER_S2)
    times = at_s + np.linspace(0.0, period_s, _TRACK_POINTS)
    places = [sky.positions(float(time))[number] for time in times]
    return np.array([(longitude, latitude) for latitude, longitude, _ in places])


class Chart:
    """A map whose background is drawn once, and on which a time after the other is shown.

    `frames` are the positions that decide how much of the poles is shown.
    """

    def __init__(
        self,
        sky: Sky,
        paths: Sequence[StationPath],
        frames: Sequence[Sequence[tuple[float, float, float]]],
    ) -> None:
        self._sky = sky
        self.paths = paths[:MOST_PAIRS]
        self.of_all = f" ({MOST_PAIRS} of {len(paths)} paths)" if len(paths) > MOST_PAIRS else ""
        """What a title says of paths that are not drawn."""
        latitudes = [latitude for frame in frames for latitude, _, _ in frame]
        latitudes += [latitude for _, latitude, _ in sky.stations]
        # One that has come down is nowhere.
        highest = float(np.nanmax(np.abs(latitudes)))
        self.latitude = min(90.0, max(60.0, highest + 12.0))

    def size_in(self, width: float) -> tuple[float, float]:
        """Give the size of a figure of this width in inches."""
        return width, 0.94 * width * self.latitude / 180 + 0.75 + 0.22 * math.ceil((len(self.paths) + 3) / 3)

    def about(self, at_s: float) -> str:
        """Say in words what the map shows."""
        paths = "; ".join(f"{path.name} by {said(path, at_s)}" for path in self.paths)
        return (
            f"Map of the world with {len(self._sky.satellites):,} satellites and "
            f"{len(self._sky.stations)} stations at {at_s:g} s. Paths: {paths or 'none'}."
        )

    def background(self, axes: "Axes", also: Sequence[tuple[str, float, float]] = ()) -> None:
        """Draw land, stations and the grid, and make what moves, which `show` puts in its place.

        Beside the stations, what is in `also` has its name there: name, latitude and longitude.
        """
        from matplotlib.collections import LineCollection, PolyCollection

        axes.set_facecolor(SEA)
        axes.add_collection(
            PolyCollection(list(land()), facecolors=LAND, edgecolors=SHORE, linewidths=0.5, zorder=1)
        )
        axes.set(xlim=(-180, 180), ylim=(-self.latitude, self.latitude), aspect="equal")
        axes.set_xticks(range(-180, 181, 60))
        axes.set_yticks([tick for tick in range(-90, 91, 30) if abs(tick) <= self.latitude])
        axes.xaxis.set_major_formatter(lambda value, _: _degrees(value, "E", "W"))
        axes.yaxis.set_major_formatter(lambda value, _: _degrees(value, "N", "S"))
        axes.tick_params(length=0, labelsize=8)
        satellites = len(self._sky.satellites)
        size = 4.5 if satellites <= 100 else 2.6 if satellites <= 800 else 1.8
        (self._dots,) = axes.plot(
            [], [], "o", ms=size, color=GREY, mew=0, zorder=2, label=f"satellite ({satellites:,})"
        )
        self._paths: list[tuple[Any, Any, Any]] = []
        self._still: list[Any] = []
        for colour in CYCLE[: len(self.paths)]:
            shade = PolyCollection([], facecolors=colour, edgecolors="none", alpha=0.16, zorder=1.5)
            lines = LineCollection([], colors=colour, linewidths=1.9, zorder=3)
            (used,) = axes.plot([], [], "o", ms=max(size + 1.5, 4.0), color=colour, mew=0, zorder=3.2)
            axes.add_collection(shade)
            axes.add_collection(lines)
            self._paths.append((shade, lines, used))
        if self._paths:
            axes.fill([], [], color=GREY, alpha=0.25, lw=0, label=self.circle)
        ends = {name for path in self.paths for name in (path.source, path.to)}
        style: dict[str, Any] = {"color": "#222222", "mec": "white", "mew": 0.8, "zorder": 4}
        for _, latitude, longitude in self._sky.stations:
            self._still += axes.plot(longitude, latitude, "s", ms=4.5, **style)
        all_named = len(self._sky.stations) <= _MOST_NAMES
        named = [station for station in self._sky.stations if all_named or station[0] in ends]
        self._name(axes, [*named, *also])

    def _name(self, axes: "Axes", named: Sequence[tuple[str, float, float]]) -> None:
        """Write names beside their places, latitude and longitude, on a side on which nothing is yet."""
        from matplotlib.patheffects import withStroke
        from matplotlib.transforms import Bbox

        axes.get_figure(root=True).draw_without_rendering()  # type: ignore[union-attr]
        marks = [(longitude, latitude) for _, latitude, longitude in self._sky.stations]
        taken = [Bbox([place, place]).padded(_MARK_PX) for place in axes.transData.transform(marks)]
        for name, latitude, longitude in named:
            text = axes.annotate(
                plain(name),
                (longitude, latitude),
                xytext=(0, 0),
                textcoords="offset points",
                va="bottom",
                fontsize=8.5,
                fontweight="bold",
                path_effects=[withStroke(linewidth=2.5, foreground="white")],
                zorder=5,
            )
            # A name that is free nowhere stands on its upper right.
            for side in (*_SIDES, _SIDES[0]):
                text.set(position=side, ha="left" if side[0] > 0 else "right" if side[0] < 0 else "center")
                box = text.get_window_extent()
                within = axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1
                if within and not box.count_overlaps(taken):
                    break
            taken.append(box)
            self._still.append(text)

    def legend(self, axes: "Axes", at_s: float) -> None:
        """Write below the map what is what, the paths first."""
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(
            [*(lines for _, lines, _ in self._paths), *handles],
            [*self.captions(at_s), *labels],
            loc="upper center",
            bbox_to_anchor=(0.5, -0.05),
            ncol=3,
            handlelength=1.6,
        )

    @property
    def circle(self) -> str:
        """What the shaded areas are."""
        return f"where the first or last satellite is at least {self._sky.elevation_deg:g}° high"

    @property
    def moving(self) -> list[Any]:
        """Give what `show` puts in its place and what lies over it, in the order in which it is drawn."""
        every = [self._dots, *(artist for artists in self._paths for artist in artists), *self._still]
        return sorted(every, key=lambda artist: float(artist.get_zorder()))

    def show(self, positions: Sequence[tuple[float, float, float]], at_s: float) -> None:
        """Put everything where it is at a time."""
        places = np.array(positions)
        self._dots.set_data(places[:, 1], places[:, 0])
        stations = [(latitude, longitude) for _, latitude, longitude in self._sky.stations]
        first = len(stations)
        for path, (shade, lines, used) in zip(self.paths, self._paths, strict=True):
            nodes = path.nodes_at(at_s)
            stops = [stations[node] if node < first else positions[node - first][:2] for node in nodes]
            links = (great_circle(one, other) for one, other in pairwise(stops))
            lines.set_segments([part for link in links for part in on_map(link)])
            # What the satellites at its ends cover.
            ends = dict.fromkeys(node - first for node in (*nodes[1:2], *nodes[-2:-1]) if node >= first)
            rings = (coverage(*positions[satellite], self._sky.elevation_deg) for satellite in ends)
            shade.set_verts([part for ring in rings for part in on_map(ring, area=True)])
            on_way = places[[node - first for node in nodes if node >= first]]
            used.set_data(on_way[:, 1], on_way[:, 0])

    def captions(self, at_s: float) -> list[str]:
        """Give for each path its name and what it is like at a time."""
        return [f"{plain(path.name)}: {said(path, at_s)}" for path in self.paths]


def said(path: StationPath, at_s: float) -> str:
    """Say how many links a path has at a time, and its round trip."""
    nodes, rtt_s = path.nodes_at(at_s), path.round_trip_at(at_s)
    return f"{len(nodes) - 1} links, {1e3 * rtt_s:.1f} ms" if nodes else "no path"


def _degrees(value: float, positive: str, negative: str) -> str:
    return f"{abs(value):g}°{positive if value > 0 else negative if value < 0 else ''}"
