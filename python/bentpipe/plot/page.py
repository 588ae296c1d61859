"""Runs side by side: the same panels with the same ranges, headings that say in what the runs differ."""

from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bentpipe.plot.choice import Choice
from bentpipe.plot.curves import Curves
from bentpipe.plot.flow_path import path_curves
from bentpipe.plot.headings import headings
from bentpipe.plot.panels import (
    Legend,
    View,
    buffer,
    goodput,
    phase,
    queue,
    rate,
    round_trip,
    sequence,
    shade,
    window,
)
from bentpipe.plot.run import DrawnRun
from bentpipe.result_types import Handover
from bentpipe.results import mean
from bentpipe.runs.result import Result
from bentpipe.show.scales import fit, label_time, unit_for
from bentpipe.show.style import GREY, house_style_of_pyplot, legend_beside, picture, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MAXIMUM_QUEUES = 4
_SHORT_QUEUE = 0.05
"""A queue below this share of the longest is not drawn."""
# Other colours than the flows have: a queue is nobody's.
_QUEUE_COLOURS = ("#3b3b3b", "#c2185b", "#00838f", "#a1887f")
_LEGEND_LETTERS = 24
_INCHES_A_LETTER = 0.088

_Panel: TypeAlias = Callable[["Axes", View], Legend]


def draw_in_pyplot(results: Sequence[Result], **shown: Any) -> NDArray[np.object_]:
    """Draw the time series of `results` side by side in a figure of pyplot; gives the axes, a row a panel.

    What is `shown`, `Page` takes.
    """
    subjects = [DrawnRun(result.run["scenario"], result.run, result.series) for result in results]
    page = Page(subjects, **shown)
    with house_style_of_pyplot() as pyplot:
        return page.draw(pyplot.figure(figsize=page.size_in, layout="constrained"))


def draw_runs(subjects: Sequence[DrawnRun], path: Path, **shown: Any) -> None:
    """Write one picture with a column a run, .png, .svg or .pdf by its name; what is `shown`, `Page` takes.

    Raises InputError: no flow fits a pattern.
    """
    page = Page(subjects, **shown)
    about = ", ".join(subject.run.get("identity", "") for subject in subjects)
    with picture(path, page.size_in, about) as figure:
        page.draw(figure)


class Page:
    """Runs side by side, a column each, ready to be drawn in a figure of `size_in` inches.

    They are shown from `start_s` to `end_s`. The flows that fit the patterns `flows` are drawn by themselves,
    the others as bands behind them. `title` and `xlabel` take the place of what stands there by itself.

    Raises InputError: no flow fits a pattern.
    """

    def __init__(
        self,
        subjects: Sequence[DrawnRun],
        *,
        start_s: float | None = None,
        end_s: float | None = None,
        flows: Sequence[str] = (),
        title: str | None = None,
        xlabel: str | None = None,
    ) -> None:
        self._subjects = subjects
        self._title, self._xlabel = title, xlabel
        self._choice = Choice.of(subjects, flows)
        self._start = start_s or 0.0
        self._end = end_s or end_of(subjects)
        queues = _longest_queues(subjects)
        curves = [Curves(subject, self._start, self._end) for subject in subjects]
        phased = [
            line for line in self._choice.lines if any(each.has_phases(line.flows[0]) for each in curves)
        ]
        # Of groups alone the path of one of each, as copies have the same ends.
        shown = [drawn.flows[0] for drawn in self._choice.lines or self._choice.bands]
        paths = [path_curves(subject.run, shown, self._end) for subject in subjects]
        self._views = [
            View(each, self._choice, queues, phased, each_paths)
            for each, each_paths in zip(curves, paths, strict=True)
        ]
        self._rows = _panels(self._views)
        self._column_in = 8.0 * min(1.0, 0.35 + 0.65 / len(subjects))
        height = 0.7 + 1.2 * sum(share for _, share in self._rows)
        self.size_in = (3.0 + self._column_in * len(subjects), height)

    def draw(self, figure: "Figure") -> NDArray[np.object_]:
        """Draw in a figure; give its axes, a row a panel and a column a run."""
        grid: NDArray[np.object_] = figure.subplots(
            len(self._rows),
            len(self._subjects),
            sharex="all",
            squeeze=False,
            height_ratios=[share for _, share in self._rows],
        )
        marks: Legend = {}
        for view, column in zip(self._views, grid.T, strict=True):
            marks |= shade(column, view)
        for (panel, _), row in zip(self._rows, grid, strict=True):
            entries: Legend = {}
            for axes, view in zip(row, self._views, strict=True):
                entries |= panel(axes, view)
            if panel is goodput:
                entries |= marks
            _finish(row, panel, entries, self._choice, self._views[0].curves.bin_s)
            for axes in row[1:]:
                axes.set_ylabel("")
                axes.tick_params(labelleft=False)
        figure.align_ylabels(grid[:, 0])
        together, each = headings(self._subjects)
        if self._title is not None:
            together, each = plain(self._title), each if len(each) > 1 else [""]
        if together:
            figure.suptitle(fill(together, 110), fontsize=12, fontweight="bold")
        marked = any(subject.run["handovers"] for subject in self._subjects)
        letters = int(self._column_in / _INCHES_A_LETTER)
        for subject, column, heading in zip(self._subjects, grid.T, each, strict=True):
            _mark_handovers(column, subject.run["handovers"], self._start, self._end)
            column[0].set_title(fill(heading, letters), pad=18 if marked else None)
            time = label_time(column[-1], self._start, self._end)
            column[-1].set_xlabel(time if self._xlabel is None else plain(self._xlabel))
        return grid


def end_of(subjects: Sequence[DrawnRun]) -> float:
    """Give the simulated time in s at which the last of the runs ends."""
    ends = [mean(subject.run["duration_s"]) or 0.0 for subject in subjects]
    # Of several replications the curves are the first one's, which may have lasted longer than their mean.
    replicated = (trace for subject in subjects if "runs" in subject.run for trace in subject.traces)
    return max([*ends, *(float(trace.time_s[-1]) for trace in replicated if len(trace.time_s))])


def _panels(views: Sequence[View]) -> list[tuple[_Panel, float]]:
    """Give the panels with their heights: the first, the last, and of the others what a run has."""

    def has(*kinds: str) -> bool:
        return any(view.curves.has_kind(kind) for view in views for kind in kinds)

    panels: list[tuple[_Panel, float]] = [(sequence, 3.2)]
    if has("acked") and any(view.paths for view in views):
        panels.append((goodput, 1.6))
    if has("cwnd"):
        panels += [(window, 2.2), (round_trip, 1.6)]
    if has("pacing_rate", "delivery_rate"):
        panels.append((rate, 1.6))
    lanes = len(views[0].phased)
    if lanes:
        panels.append((phase, 0.3 + 0.3 * lanes))
    if has("buffer"):
        panels.append((buffer, 1.6))
    # Over satellites the queues of links that come and go have no curves.
    waited = any(view.queues for view in views)
    return [*panels, (queue, 1.6)] if has("queue") or not waited else panels


def _finish(row: Sequence["Axes"], panel: _Panel, entries: Legend, choice: Choice, bin_s: float) -> None:
    """Fit the range of a row to what it shows, name its values, and put its legend beside it."""
    if panel is sequence:
        fit(row, "data acknowledged" if choice.bands else "sequence number", "B")
    elif panel is window:
        fit(row, "window" if choice.alone else "cwnd", "B")
    elif panel is round_trip:
        # The timer is set to seconds before the first sample, and doubled when it expires.
        timer = "RTO" in entries
        fit(row, "RTT, RTO" if timer else "RTT", "s", log_from=5.0 if timer else 20.0)
    elif panel is rate:
        fit(row, "rate", "bit/s")
    elif panel is goodput:
        fit(row, "goodput", "bit/s", zero=True)
        scale, unit = unit_for(bin_s, "s")
        for axes in row:
            axes.set_ylabel(f"{axes.get_ylabel()}\nmean of {bin_s / scale:g} {unit}")
    elif panel is phase:
        row[0].set_ylabel("phase")
    elif panel is buffer:
        fit(row, "relay's buffer", "B")
    else:
        fit(row, "queue", "packets")
    if not entries:
        return
    titles: dict[_Panel, str] = {queue: "queue before link"}
    if not choice.alone:
        lines = len(choice.lines)
        titles[sequence] = f"flow ({lines} of {choice.wanted})" if lines < choice.wanted else "flow"
    if panel is sequence and choice.bands:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        band = Patch(color=GREY, alpha=0.3, lw=0), Line2D([], [], color=GREY, lw=1.1)
        entries["median, middle 90 %"] = band
    # A label that begins with an underscore would be left out.
    labels = [fill(f" {label}" if label.startswith("_") else label, _LEGEND_LETTERS) for label in entries]
    legend_beside(row[-1], titles.get(panel), list(entries.values()), labels, markerscale=1.5)


def _longest_queues(subjects: Sequence[DrawnRun]) -> list[tuple[str, str]]:
    longest: dict[str, float] = {}
    for subject in subjects:
        for link in subject.run["links"]:
            most = mean(link["queue_max_packets"]) or 0.0
            longest[link["name"]] = max(longest.get(link["name"], 0.0), most)
    enough = _SHORT_QUEUE * max(longest.values(), default=0.0)
    long = [name for name, most in longest.items() if most > 0 and most >= enough]
    return list(zip(sorted(long, key=lambda name: -longest[name]), _QUEUE_COLOURS, strict=False))


def _mark_handovers(
    column: Sequence["Axes"], handovers: Sequence[Handover], start: float, end: float
) -> None:
    """Draw a line through all panels at each handover, and its name above the first."""
    clusters: list[list[tuple[float, str]]] = []
    for at, name in sorted((mean(each["at_s"]) or 0.0, each["name"]) for each in handovers):
        if not start <= at <= end:
            continue
        for axes in column:
            axes.axvline(at, color=GREY, lw=1.0, ls=(0, (5, 3)), zorder=1.2)
        if clusters and at - clusters[-1][0][0] < 0.2 * (end - start):
            clusters[-1].append((at, name))
        else:
            clusters.append([(at, name)])
    for cluster in clusters:
        at, name = cluster[0]
        label = f"handover {name}" if len(cluster) == 1 else f"{len(cluster)} handovers"
        late = at > start + 0.8 * (end - start)
        column[0].annotate(
            label,
            (at, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="right" if late else "center" if at > start + 0.1 * (end - start) else "left",
            va="bottom",
            color=GREY,
            fontsize=8,
        )
