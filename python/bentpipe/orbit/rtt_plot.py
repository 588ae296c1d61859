"""Round trips over satellites: over time, and their distribution beside that of light in fibre."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table as RichTable

from bentpipe._core import Sky
from bentpipe.orbit.station_path import StationPath
from bentpipe.orbit.world import FIBRE_INDEX, least_rtt_s
from bentpipe.reports.page import Cell, Origin, Report, ReportTable, Section, inline
from bentpipe.show.layout import MAXIMUM_ROWS, new_table
from bentpipe.show.scales import label_time
from bentpipe.show.style import CYCLE, GREY, RED, legend_beside, picture, picture_format, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("png", "svg", "pdf", "html")
"""What the names of files end in."""

MOST_PAIRS = 8
"""So many pairs of stations have panels; docs/how-to/constellations.md says so."""

_MANY_CHANGES = 60


HEADINGS = ("path", "RTT, least", "median", "most", "changes", "without a path", "vacuum", "fibre")
"""What a table says of a pair."""


@dataclass(frozen=True)
class Pair:
    """A path over time, and what light needs there and back along the great circle, in s."""

    path: StationPath
    vacuum_s: float
    fibre_s: float

    @classmethod
    def of(cls, sky: Sky, path: StationPath) -> "Pair":
        """Take the places of its ends from the sky."""
        places = {name: (latitude, longitude) for name, latitude, longitude in sky.stations}
        ends = places[path.source], places[path.to]
        return cls(path, least_rtt_s(*ends), least_rtt_s(*ends, FIBRE_INDEX))

    def to_dict(self) -> dict[str, Any]:
        """Give its numbers, as JSON has them."""
        least, median, most = self.path.summary() or (None, None, None)
        return {
            "from": self.path.source,
            "to": self.path.to,
            "until_s": self.path.until_s,
            "rtt_min_s": least,
            "rtt_median_s": median,
            "rtt_max_s": most,
            "changes_s": self.path.changes(),
            "no_path_s": [list(gap) for gap in self.path.gaps()],
            "vacuum_rtt_s": self.vacuum_s,
            "fibre_rtt_s": self.fibre_s,
        }

    @property
    def without(self) -> float:
        """The share of the time without a path."""
        gaps = sum(end - start for start, end in self.path.gaps())
        return gaps / self.path.until_s if self.path.until_s else 0.0


def draw(sky: Sky, paths: Sequence[StationPath], title: str, file: Path, command: str = "") -> None:
    """Write round trips over time and their distribution to a .png or .svg file, or as a .html page."""
    pairs = [Pair.of(sky, path) for path in paths]
    if picture_format(file, FORMATS) == "html":
        file.write_text(page(pairs, title, command).html(), encoding="utf-8")
    else:
        _draw(pairs, title, file)


def page(pairs: Sequence[Pair], title: str, command: str) -> Report:
    """Give the page: the picture, and its numbers as a table."""
    figure = inline(lambda file: _draw(pairs, "", file), about(pairs), "rtt")
    rows = tuple(_row(pair) for pair in pairs)
    caption = (
        "Round trips are those of propagation, in ms. Vacuum and fibre: light along the great circle, "
        f"there and back; the index of fibre is {FIBRE_INDEX}."
    )
    section = Section(
        "Round trips", (), (figure,), None, (ReportTable("paths", HEADINGS, rows, (), caption),)
    )
    return Report(title, (section,), (), Origin((("command", command),) if command else ()))


def about(pairs: Sequence[Pair]) -> str:
    """Say in words what the picture shows."""
    sentences = (f"{pair.path.name}: {_words(pair)}." for pair in pairs)
    return "Round trips over satellites against time, and their distribution. " + " ".join(sentences)


def _words(pair: Pair) -> str:
    path, found = pair.path, pair.path.summary()
    if found is None:
        return f"no path in {path.until_s:g} s"
    least, median, most = (1e3 * value for value in found)
    changes = len(path.changes())
    sentence = f"{least:.1f} to {most:.1f} ms, median {median:.1f} ms; "
    sentence += f"{changes:,} change{'' if changes == 1 else 's'} of path"
    return sentence + (f", {100 * pair.without:.2g} % without one" if pair.without else "")


def _row(pair: Pair) -> tuple[Cell, ...]:
    trips = pair.path.summary() or (None, None, None)

    def cell(value_s: float | None) -> Cell:
        return Cell("–") if value_s is None else Cell(f"{1e3 * value_s:.1f} ms", 1e3 * value_s)

    changes = len(pair.path.changes())
    middle = Cell(f"{changes:,}", changes), Cell(f"{100 * pair.without:.3g} %", pair.without)
    light = pair.vacuum_s, pair.fibre_s
    return (Cell(pair.path.name), *map(cell, trips), *middle, *map(cell, light))


def table_of(pairs: Sequence[Pair]) -> RichTable:
    """Give the table of the first pairs, for a terminal."""
    table = new_table(*HEADINGS)
    for pair in pairs[:MAXIMUM_ROWS]:
        table.add_row(*(cell.text for cell in _row(pair)))
    return table


def _draw(pairs: Sequence[Pair], title: str, file: Path) -> None:
    shown = pairs[:MOST_PAIRS]
    with picture(file, (11.5, 0.75 + 1.95 * len(shown)), about(shown)) as figure:
        more = f" ({len(shown)} of {len(pairs)} pairs)" if len(shown) < len(pairs) else ""
        if title:
            figure.suptitle(plain(title) + more, fontsize=12, fontweight="bold")
        grid: Any = figure.subplots(len(shown), 2, squeeze=False, width_ratios=[2.3, 1.0])
        for pair, colour, (over_time, spread) in zip(shown, CYCLE, grid, strict=False):
            curve(over_time, pair.path, colour)
            over_time.set_title(plain(pair.path.name))
            over_time.set_ylabel("RTT (ms)\nnot from 0")
            distribution(spread, pair, colour)
            over_time.set_title(_words(pair), loc="right", fontsize=8, fontweight="normal", color=GREY)
            label = label_time(over_time, 0.0, pair.path.until_s)
        for upper in grid[:-1, 0]:
            upper.tick_params(labelbottom=False)
        grid[-1, 0].set_xlabel(label)
        grid[-1, 1].set_xlabel("RTT (ms)")
        grid[0, 1].set_title("share of the time below")
        figure.align_ylabels(grid[:, 0])


def curve(axes: "Axes", path: StationPath, colour: str) -> None:
    """Draw a path's round trip over time, when it changes, and when there is none."""
    times, values = path.curve()
    axes.step(times, 1e3 * values, where="post", color=colour)
    for start, end in path.gaps():
        axes.axvspan(start, end, color=RED, alpha=0.2, lw=0, zorder=1)
    changes = path.changes()
    faint = 1.0 if len(changes) <= _MANY_CHANGES else 0.35
    for at in changes:
        axes.axvline(at, color=GREY, lw=0.9, ls=(0, (5, 3)), zorder=1.2, alpha=faint)
    if not np.isfinite(values).any():
        axes.set_yticks([])
        axes.text(0.5, 0.5, "no path", transform=axes.transAxes, ha="center", va="center", color=GREY)


def distribution(axes: "Axes", pair: Pair, colour: str) -> None:
    """Draw the share of the time with a path in which its round trip is below, beside that of light."""
    found = np.sort(1e3 * pair.path.round_trips())
    vacuum, fibre = 1e3 * pair.vacuum_s, 1e3 * pair.fibre_s
    if len(found):
        share = np.arange(1, len(found) + 1) / len(found)
        axes.step(
            np.concatenate([found[:1], found]), np.concatenate([[0.0], share]), where="post", color=colour
        )
    labels = {f"vacuum {vacuum:.1f} ms": (vacuum, ":"), f"fibre {fibre:.1f} ms": (fibre, "--")}
    for label, (at, style) in labels.items():
        axes.axvline(at, color="#222222", ls=style, lw=1.3, zorder=1.5, label=label)
    axes.set_ylim(0.0, 1.04)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    legend_beside(axes, "great circle")
