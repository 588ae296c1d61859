"""Beyond the document: how soon the flows are equal after each change."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bentpipe.runs.statistics import jain
from bentpipe.show.style import CYCLE, GREY, picture
from bentpipe_papers.common import over
from bentpipe_papers.reproduction.grid import Cell, Grid
from bentpipe_papers.reproduction.reproduce import Context

from .over_time import Series
from .runs import SEEDS, STAGED
from .schemes import SCHEMES, on_network
from .staged import BUFFER, CHANGES_S, END_S, WORDS, Staged, staged

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAIR = 0.95
"""Jain's index from which flows count as equal, over `WINDOW_S`."""

WINDOW_S = 1.0
STEP_S = 0.1


def fairness(
    acked: Callable[[str, Series], Series], sending: Callable[[float], list[str]]
) -> tuple[Series, Series]:
    """Give times, and Jain's index over what was acknowledged in the `WINDOW_S` before each."""
    times = np.arange(WINDOW_S, END_S + STEP_S / 2, STEP_S)
    index = []
    for moment in times:
        edges = np.array([moment - WINDOW_S, moment])
        names = sending(moment - STEP_S / 2)
        index.append(jain([float(np.diff(acked(name, edges))[0]) for name in names]))
    return times, np.array(index)


def settles(times: Series, index: Series, change: float, end: float) -> float | None:
    """Give the time in s after a change from which the index stays at `FAIR` until `end`, if it does."""
    inside = (times >= change + WINDOW_S) & (times <= end)
    below = times[inside][index[inside] < FAIR]
    if len(below) == 0:
        return WINDOW_S
    after = float(below[-1]) + STEP_S - change
    return after if change + after <= end else None


def time_cell(found: Sequence[float | None]) -> Cell:
    """Give the mean of times that every run has, or else in how many runs there is one."""
    reached = [value for value in found if value is not None]
    return over(reached) if len(reached) == len(found) else f"{len(reached)} of {len(found)} runs"


def _indices(runs: Sequence[Staged]) -> list[tuple[Series, Series]]:
    return [fairness(one.acked, one.sending) for one in runs]


def measure(context: Context) -> Grid:
    """Tabulate Jain's index after each change, and how soon it stays high."""
    rows = []
    for name in SCHEMES:
        found = _indices(staged(context, on_network(name, STAGED, BUFFER)))
        for change in CHANGES_S:
            end = change + 5.0
            last = over(float(index[(times > end - 2.0) & (times <= end)].mean()) for times, index in found)
            soon = [settles(times, index, change, end) for times, index in found]
            rows.append((SCHEMES[name], WORDS[change], last, time_cell(soon)))
    return Grid(
        f"Jain's index over the last second, mean of the last 2 s of each stage; time from which it stays at "
        f"{FAIR} (at least {WINDOW_S:g} s), or in how many runs it does. "
        f"Mean and 95 % interval of {SEEDS} runs",
        ("scheme", "stage", "Jain's index", "equal after (s)"),
        tuple(rows),
    )


def draw_indices(
    axes: "Axes", found: Mapping[str, Sequence[tuple[Series, Series]]], changes_s: Iterable[float]
) -> None:
    """Draw the mean index over time of the runs of each case, and when something changed."""
    for (case, runs), colour in zip(found.items(), CYCLE, strict=False):
        axes.plot(runs[0][0], np.mean([index for _, index in runs], axis=0), color=colour, label=case)
    for change in changes_s:
        axes.axvline(change, color=GREY, lw=0.8, ls=":")
    axes.set_xlabel("time (s)")
    axes.set_ylim(top=1.01)


def draw(context: Context, path: Path) -> None:
    """Draw Jain's index over time, mean of the runs."""
    with picture(path, (9, 4)) as figure:
        axes = figure.subplots()
        found = {
            words: _indices(staged(context, on_network(name, STAGED, BUFFER)))
            for name, words in SCHEMES.items()
        }
        draw_indices(axes, found, CHANGES_S[1:])
        axes.set_ylabel("Jain's index over the last second")
        axes.set_xlim(0, END_S)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4)
