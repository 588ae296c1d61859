"""Axes that hold all that is drawn on them, in units that people say."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from bentpipe.show.units import unit_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_UNITS: dict[str, tuple[tuple[float, str], ...]] = {
    "B": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bit/s": ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")),
    "packets": ((1e8, "million packets"), (1e5, "thousand packets"), (1.0, "packets")),
}
_FACTORS = {"million packets": 1e6, "thousand packets": 1e3}
_ROOM = 0.05


def unit_for(highest: float, unit: str) -> tuple[float, str]:
    """Give the scale and the name of the unit in which values up to `highest` (in `unit`) are short."""
    for least, name in _UNITS[unit]:
        if highest >= least:
            return _FACTORS.get(name, least), name
    least, name = _UNITS[unit][-1]
    return least, name


def short_step(least: float) -> float:
    """Give the first of 1, 2 or 5 and zeros that is not below `least`."""
    unit = 10.0 ** math.floor(math.log10(least))
    return next(unit * times for times in (1, 2, 5, 10) if unit * times >= 0.999 * least)


def label_axis(axes: Iterable["Axes"], name: str, unit: str) -> None:
    """Label the vertical axes, whose values are in `unit`, by their range: ``name (kB)``."""
    every = list(axes)
    scale, shown = unit_for(max(axis.get_ylim()[1] for axis in every), unit)
    for axis in every:
        _write_ticks(axis.yaxis, scale)
        axis.set_ylabel(f"{name} ({shown})")


def label_time(axes: "Axes", start: float, end: float) -> str:
    """Write the time axis in s, or in ms and less for what is that short; give its label."""
    scale, unit = unit_for(end, "s")
    axes.set_xlim(start, end)
    _write_ticks(axes.xaxis, scale)
    return f"time ({unit})"


def fit(
    row: Sequence["Axes"], name: str, unit: str, *, log_from: float = math.inf, zero: bool = False
) -> None:
    """Give all panels of a row the range that holds what any of them shows, and label it in fit units.

    It begins at 0 if that leaves less than a quarter of it empty, or with `zero` anyway, and says so if it
    does not. It is logarithmic where the highest value is more than `log_from` times the lowest.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    limits = [(axes.dataLim.y0, axes.dataLim.y1) for axes in row]
    drawn = [
        (low, high) for low, high in limits if math.isfinite(low) and math.isfinite(high) and low <= high
    ]
    low, high = min((low for low, _ in drawn), default=0.0), max((high for _, high in drawn), default=1.0)
    note = ""
    if 0 < low < high / log_from:
        scale, shown = unit_for(high, unit)
        for axes in row:
            axes.set_yscale("log")
            axes.set_ylim(low / 1.15, high * 1.15)
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / scale:,.6g}"))
            axes.set_ylabel(f"{name} ({shown})\nlogarithmic")
        return
    if zero or low <= high / 4:
        bottom, top = 0.0, high * (1 + _ROOM) or 1.0
    else:
        room = (high - low) * _ROOM or high * _ROOM
        bottom, top = low - room, high + room
        note = "\nnot from 0"
    for axes in row:
        axes.set_ylim(bottom, top)
        axes.yaxis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 2.5, 5, 10]))
    label_axis(row, name, unit)
    for axes in row:
        axes.set_ylabel(axes.get_ylabel() + note)


def _write_ticks(axis: "Axis", scale: float) -> None:
    """Write values over `scale`, with as many decimals as tell the ticks apart."""
    from matplotlib.ticker import FuncFormatter

    def text(value: float, _: int | None) -> str:
        ticks = [float(tick) / scale for tick in axis.get_majorticklocs()]
        step = min((b - a for a, b in pairwise(ticks) if b > a), default=1.0)
        decimals = next((d for d in range(12) if all(abs(v - round(v, d)) < step / 100 for v in ticks)), 12)
        return f"{value / scale:,.{decimals}f}"

    axis.set_major_formatter(FuncFormatter(text))


def unit_of(metric: str, values: Sequence[float | None]) -> tuple[float, str]:
    """Give what to divide by, and the unit that is then meant."""
    highest = max((abs(value) for value in values if value is not None and math.isfinite(value)), default=0.0)
    unit = unit_in(metric)
    return unit_for(highest, unit) if unit and highest else (1.0, unit)
