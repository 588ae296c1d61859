"""A film of satellites and paths: as a page with a slider, or as a moving picture."""

import base64
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bentpipe._core import Sky
from bentpipe.orbit.map_plot import LAND, SEA, SHORE, Chart
from bentpipe.orbit.rtt_plot import curve
from bentpipe.orbit.station_path import StationPath
from bentpipe.orbit.world import land, reach
from bentpipe.reports.page import Origin, environment
from bentpipe.runs.progress import Reporter
from bentpipe.show.scales import label_time, short_step
from bentpipe.show.style import CYCLE, house_style, picture_format, plain

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("html", "png")
"""What the names of files end in."""

_MOST_FRAMES = 240
_LENGTH_S = 20.0
"""How long a film lasts, if its frames are not too many or too few."""

_FRAME_MS = (40, 250)
_WIDTH_IN, _DPI = 10.5, 100
_CURVE_POINTS = 4000
_POSITIONS = 32767
_NOWHERE = -32768


def times_of(until_s: float, step_s: float | None) -> list[float]:
    """Give the times of the frames, by default between 96 and 240."""
    step = step_s or short_step(until_s / _MOST_FRAMES)
    return [number * step for number in range(max(1, math.ceil(until_s / step - 1e-6)))]


def shown_ms(frames: int) -> int:
    """Give how long a frame is shown."""
    least, most = _FRAME_MS
    return int(min(most, max(least, 1000 * _LENGTH_S / frames)))


def draw(
    sky: Sky, paths: Sequence[StationPath], title: str, file: Path, times: Sequence[float], command: str = ""
) -> None:
    """Write the film to a .html page or to a .png file that moves (APNG)."""
    if picture_format(file, FORMATS) == "html":
        file.write_text(page(sky, paths, title, times, command), encoding="utf-8")
    else:
        _draw(sky, paths, title, file, times)


def page(
    sky: Sky, paths: Sequence[StationPath], title: str, times: Sequence[float], command: str = ""
) -> str:
    """Give the page, which needs nothing beside it."""
    places = np.empty((len(times), len(sky.satellites), 2), "<i2")
    for number, at_s in enumerate(_counted(times)):
        degrees = np.array(sky.positions(at_s))[:, :2]
        shares = np.rint(degrees / (90.0, 180.0) * _POSITIONS)
        places[number] = np.where(np.isfinite(shares), shares, _NOWHERE)
    chart = Chart(sky, paths, [sky.positions(times[0]), sky.positions(times[-1])])
    data = {
        "stations": [list(station) for station in sky.stations],
        "satellites": sky.satellites,
        "times": [round(at_s, 6) for at_s in times],
        "places": base64.b64encode(places.tobytes()).decode(),
        "covers": [
            0.0 if math.isnan(height) else round(math.degrees(reach(height, sky.elevation_deg)), 3)
            for _, _, height in sky.positions(times[0])
        ],
        "latitude": chart.latitude,
        "frame_ms": shown_ms(len(times)),
        "paths": [_path(path, colour) for path, colour in zip(chart.paths, CYCLE, strict=False)],
        "land": [[round(float(value), 1) for value in ring.ravel()] for ring in land()],
        "colours": {"land": LAND, "shore": SHORE, "sea": SEA},
    }
    template, source = environment("film.html.j2")
    return template.render(
        title=title + chart.of_all,
        about=f"{chart.about(times[0])} The film shows {len(times)} times up to {times[-1]:g} s.",
        circle=chart.circle,
        data=json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
        origin=Origin((("command", command),) if command else ()),
        source=source,
    )


def _counted(times: Sequence[float]) -> Iterator[float]:
    """Give the times of the frames, and show how far they are."""
    with Reporter("film") as reporter:
        for number, at_s in enumerate(times):
            yield at_s
            reporter.update(number / len(times), f"frame {number + 1:,} of {len(times):,}")


def _path(path: StationPath, colour: str) -> dict[str, Any]:
    """Give what the page draws of a path: its nodes from when on, its curve in ms, and when it has none."""
    times, values = path.curve()
    drawn = np.unique(np.linspace(0, len(times) - 1, min(len(times), _CURVE_POINTS)).astype(int))
    starts = np.array([stretch.start_s for stretch in path.stretches])
    # The points at which it changes, and those before them.
    edges = np.searchsorted(times, starts, "left")
    drawn = np.unique(np.concatenate([drawn, edges, np.maximum(edges - 1, 0)]))
    return {
        "name": path.name,
        "colour": colour,
        "until": path.until_s,
        "stretches": [[round(stretch.start_s, 6), list(stretch.nodes)] for stretch in path.stretches],
        "times": [round(float(at_s), 4) for at_s in times[drawn]],
        "rtts": [None if math.isnan(value) else round(1e3 * float(value), 4) for value in values[drawn]],
        "changes": path.changes(),
        "gaps": path.gaps(),
    }


def _draw(sky: Sky, paths: Sequence[StationPath], title: str, file: Path, times: Sequence[float]) -> None:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL.Image import fromarray

    with house_style():
        mpl.use("agg")
        chart = Chart(sky, paths, [sky.positions(times[0]), sky.positions(times[-1])])
        paths = chart.paths
        width, height = chart.size_in(_WIDTH_IN)
        below = 1.05 * len(paths) + 0.35 if paths else 0.0
        figure = Figure(figsize=(width, height + below), dpi=_DPI, layout="constrained")
        # Its types are incomplete.
        canvas: Any = FigureCanvasAgg(figure)
        grid: Any = figure.subplots(
            1 + len(paths), 1, squeeze=False, height_ratios=[height, *[1.05] * len(paths)]
        )
        world, *curves = grid[:, 0]
        chart.background(world)
        world.set_title(plain(title) + chart.of_all)
        clock = world.set_title(" ", loc="right")
        cursors = []
        for axes, path, colour in zip(curves, paths, CYCLE, strict=False):
            curve(axes, path, colour)
            axes.set_ylabel("RTT (ms)")
            label = label_time(axes, 0.0, path.until_s)
            axes.tick_params(labelbottom=axes is curves[-1])
            cursors.append(axes.axvline(0.0, color="#222222", lw=1.4, zorder=6))
            if axes is curves[-1]:
                axes.set_xlabel(label)
        captions = [axes.set_title(" ", fontsize=9) for axes in curves]
        figure.align_ylabels(curves)
        moving = [
            *((world, artist) for artist in chart.moving),
            (world, clock),
            *zip(curves, cursors, strict=True),
            *zip(curves, captions, strict=True),
        ]
        chart.show(sky.positions(times[0]), times[0])
        for _, artist in moving:
            artist.set_animated(True)
        canvas.draw()
        figure.set_layout_engine("none")
        empty = canvas.copy_from_bbox(figure.bbox)

        def frames() -> "Iterator[Image]":
            for at_s in _counted(times):
                canvas.restore_region(empty)
                chart.show(sky.positions(at_s), at_s)
                clock.set_text(f"{at_s:,.6g} s")
                for cursor in cursors:
                    cursor.set_xdata([at_s, at_s])
                for caption, words in zip(captions, chart.captions(at_s), strict=True):
                    caption.set_text(words)
                for axes, artist in moving:
                    axes.draw_artist(artist)
                yield fromarray(np.asarray(canvas.buffer_rgba())[..., :3])

        write(file, frames(), shown_ms(len(times)), chart.about(times[0]))


def write(file: Path, frames: "Iterable[Image]", shown_ms: int, about: str) -> None:
    """Write frames of one size as APNG in the first's 256 colours, each shown for so long, over and over."""
    from PIL.Image import Dither
    from PIL.PngImagePlugin import PngInfo

    metadata = PngInfo()
    metadata.add_text("Software", "bentpipe")
    metadata.add_itxt("Description", about)
    coming = iter(frames)
    first = next(coming).quantize()
    rest = [frame.quantize(palette=first, dither=Dither.NONE) for frame in coming]
    with file.open("wb") as opened:
        first.save(
            opened, "PNG", save_all=True, append_images=rest, duration=shown_ms, loop=0, pnginfo=metadata
        )
