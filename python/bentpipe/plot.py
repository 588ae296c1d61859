"""The pictures people expect of a TCP run: time-sequence, window, round-trip time, queue; a column a run."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from bentpipe.errors import InputError
from bentpipe.results import Run, mean, parse
from bentpipe.style import BLUE, CYCLE, GREEN, GREY, ORANGE, RED, picture
from bentpipe.traces import Trace, Traces

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAXIMUM_FLOWS = 8
"""Flows drawn in one panel; more would be a carpet."""

_MAXIMUM_QUEUES = 4
_FILES = ("result.json", "series.parquet")
_RASTER_ABOVE = 5_000


@dataclass(frozen=True)
class Subject:
    """One run to draw."""

    title: str
    run: Run
    traces: Traces

    @classmethod
    def of(cls, name: str, settings: Iterable[tuple[str, str]] = (), seed: int | None = None) -> "Subject":
        """Take a folder that ``run --out`` wrote, or run a scenario.

        Raises
        ------
        InputError
            It is neither.
        BentpipeError
            The run failed.
        """
        folder = Path(name)
        if folder.is_dir():
            return cls._read(folder)
        if folder.name in _FILES and folder.is_file():
            raise InputError(
                f"{name}: expected the folder that it is in, or a scenario, found a file of a result"
            )
        from bentpipe import runner

        scenario = runner.load(name, settings)
        outcome = runner.execute(scenario, runner.Plan(seed=seed, traces=True), title=scenario.title)
        return cls(outcome.run["scenario"], outcome.run, outcome.traces)

    @classmethod
    def _read(cls, folder: Path) -> "Subject":
        result, series = (folder / name for name in _FILES)
        try:
            run = parse(result.read_text(encoding="utf-8"))
            title = run["scenario"]
        except OSError as error:
            raise InputError(
                f"{folder}: not a folder that `bentpipe run --out` wrote ({error.strerror})"
            ) from error
        except (json.JSONDecodeError, KeyError, TypeError, UnicodeDecodeError) as error:
            raise InputError(f"{result}: not the result of a run") from error
        return cls(title, run, Traces.read(series))


def draw_runs(
    subjects: Sequence[Subject], path: Path, *, start_s: float | None = None, end_s: float | None = None
) -> None:
    """Write one picture with a column a run, from `start_s` to `end_s`, .png or .svg by its name."""
    start = start_s or 0.0
    end = end_s or max(mean(subject.run["duration_s"]) or 0.0 for subject in subjects)
    subjects = [replace(subject, traces=subject.traces.between(start, end)) for subject in subjects]
    panels = (draw_sequence, draw_window, draw_round_trip, draw_queue)
    width = 1.4 + 8.0 * min(1.0, 0.35 + 0.65 / len(subjects)) * len(subjects)
    with picture(path, (width, 10.5)) as figure:
        grid = figure.subplots(
            len(panels),
            len(subjects),
            sharex="all",
            sharey="row",
            squeeze=False,
            height_ratios=(3.2, 2.2, 1.5, 1.5),
        )
        common = (
            subjects[0].title if len({subject.title for subject in subjects}) == 1 < len(subjects) else None
        )
        if common:
            figure.suptitle(common, fontsize=12, fontweight="bold")
        for column, subject in enumerate(subjects):
            for panel, axes in zip(panels, grid[:, column], strict=True):
                panel(axes, subject, legend=column == 0)
                if column > 0:
                    axes.set_ylabel("")
            grid[0, column].set_title(_heading(subject, common))
            grid[-1, column].set_xlabel("time (s)")
        grid[0, 0].set_xlim(start, end)


def draw_sequence(axes: "Axes", subject: Subject, *, legend: bool = True) -> None:
    """Draw what was sent, resent, acknowledged and selectively acknowledged, as the sender saw it."""
    flows = _flows(subject)
    last = next((name for name in reversed(flows) if _has_window(subject, name)), None)
    for name, colour in zip(flows, CYCLE, strict=False):
        alone = len(flows) == 1
        sent, resent = subject.traces.get(name, "sent"), subject.traces.get(name, "resent")
        acked = subject.traces.get(name, "acked")
        if not _has_window(subject, name):
            _dots(axes, sent, colour, "datagram sent" if alone else f"{name} (UDP)", size=2.2)
            continue
        _dots(axes, sent, colour, "segment sent" if alone else name, size=2.2)
        axes.step(
            acked.time_s,
            acked.value / 1e3,
            where="post",
            color=GREY,
            lw=0.9,
            label="acknowledged" if alone else None,
        )
        lower, upper = subject.traces.get(name, "sack_start"), subject.traces.get(name, "sack_end")
        if len(lower.time_s):
            lines = axes.vlines(
                lower.time_s, lower.value / 1e3, upper.value / 1e3, color=GREEN, lw=1.6, alpha=0.55
            )
            lines.set_label("SACK block received" if name == last else "")
        _dots(axes, resent, RED, "segment resent" if name == last else "", size=6, marker="x")
    axes.set_ylabel("sequence number (kB)")
    if legend and flows:
        axes.legend(loc="upper left", markerscale=2)
    _note_rest(axes, subject)


def draw_window(axes: "Axes", subject: Subject, *, legend: bool = True) -> None:
    """Draw cwnd, and for a single flow also ssthresh and flight size."""
    alone = len(_flows(subject)) == 1
    for name, colour in _windows(subject):
        if alone:
            _steps(axes, subject.traces.get(name, "flight"), GREY, "flight size", scale=1e-3, width=0.8)
            _steps(axes, subject.traces.get(name, "ssthresh"), ORANGE, "ssthresh", scale=1e-3, style="--")
        _steps(
            axes, subject.traces.get(name, "cwnd"), colour, "cwnd" if alone else f"cwnd of {name}", scale=1e-3
        )
    _finish(axes, "window (kB)", legend=legend)


def draw_round_trip(axes: "Axes", subject: Subject, *, legend: bool = True) -> None:
    """Draw RTT samples, and for a single flow the retransmission timeout."""
    alone = len(_flows(subject)) == 1
    for name, colour in _windows(subject):
        if alone:
            _steps(axes, subject.traces.get(name, "rto"), ORANGE, "RTO")
        label = "RTT, newest sample" if alone else f"RTT of {name}"
        _steps(axes, subject.traces.get(name, "rtt"), colour, label)
    _finish(axes, "RTT, RTO (s)", legend=legend)


def draw_queue(axes: "Axes", subject: Subject, *, legend: bool = True) -> None:
    """Draw the length of the longest queues."""
    links = sorted(subject.run["links"], key=lambda link: -(mean(link["queue_max_packets"]) or 0.0))
    used = [link["name"] for link in links if (mean(link["queue_max_packets"]) or 0.0) > 0][:_MAXIMUM_QUEUES]
    for name, colour in zip(used, (BLUE, ORANGE, GREEN, GREY), strict=False):
        _steps(axes, subject.traces.get(name, "queue"), colour, f"queue of {name}")
    _finish(axes, "queue (packets)", legend=legend, columns=2)


def _heading(subject: Subject, common: str | None) -> str:
    variants = ", ".join(dict.fromkeys(flow["variant"] for flow in subject.run["flows"]))
    return variants if common else fill(f"{subject.title} – {variants}", 90)


def _connections(subject: Subject) -> list[str]:
    # Of a flow over UDP there is only what it sent; a folder keeps no curves without a point.
    drawn = (trace for trace in subject.traces if trace.kind in ("cwnd", "sent") and len(trace.time_s))
    return list(dict.fromkeys(trace.subject for trace in drawn))


def _has_window(subject: Subject, name: str) -> bool:
    return len(subject.traces.get(name, "cwnd").time_s) > 0


def _finish(axes: "Axes", label: str, *, legend: bool, columns: int = 3) -> None:
    """Name the panel's values, which begin at 0, and its curves if there are any."""
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    if legend and axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper right", ncols=columns)


def _flows(subject: Subject) -> list[str]:
    return _connections(subject)[:MAXIMUM_FLOWS]


def _windows(subject: Subject) -> list[tuple[str, str]]:
    """Give the flows that have a window, each with its colour among all that are drawn."""
    coloured = zip(_flows(subject), CYCLE, strict=False)
    return [(name, colour) for name, colour in coloured if _has_window(subject, name)]


def _note_rest(axes: "Axes", subject: Subject) -> None:
    flows = len(_connections(subject))
    what = "flows" if flows == len(subject.run["flows"]) else "connections"
    if flows > MAXIMUM_FLOWS:
        axes.annotate(
            f"{MAXIMUM_FLOWS} of {flows} {what} drawn",
            (0.99, 0.02),
            xycoords="axes fraction",
            ha="right",
            color=GREY,
        )


def _steps(
    axes: "Axes",
    trace: Trace,
    colour: str,
    label: str,
    *,
    scale: float = 1.0,
    style: str = "-",
    width: float = 1.3,
) -> None:
    axes.step(trace.time_s, trace.value * scale, where="post", color=colour, label=label, ls=style, lw=width)


def _dots(axes: "Axes", trace: Trace, colour: str, label: str, *, size: float, marker: str = ".") -> None:
    axes.plot(
        trace.time_s,
        trace.value / 1e3,
        marker,
        ms=size,
        color=colour,
        label=label,
        rasterized=len(trace.time_s) > _RASTER_ABOVE,
        zorder=3 if marker == "x" else 2,
    )
