"""Section 5.1 and table 1: the download over a channel without losses."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bentpipe.plot import DrawnRun
from bentpipe.results import Number, Run
from bentpipe.runs.traces import Traces
from bentpipe.show.style import GREY, picture
from bentpipe_papers.common import plain
from bentpipe_papers.reproduction.reproduce import Context, Row

from .parameters import EFFICIENCY
from .runs import (
    CASES,
    COLOURS,
    DELAYED_ACK,
    LABELS,
    SHARE_OF_CAPACITY,
    VARIANTS,
    Case,
    busy_percent,
    download_s,
    higher,
    ideal,
    settings_of,
    shorter,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RTTS_MS = (25, 50, 100, 200, 250, 500)
"""Nominal round trips of table 1."""

TERRESTRIAL_MS = 40
BIN_S = 10.0
"""Width of the bins of the curves over time."""

SLOW_START_S = 5.0
"""Time in s from the SYN until standard TCP has opened its window, of 44 segments, by delayed ACKs."""

BINS_S = (1.0, 2.0, 5.0, BIN_S, 20.0, 40.0)
"""Averaging times that were tried, since the documents do not say theirs."""


def satellite_delay(rtt_ms: float) -> str:
    """Give the satellite hop a nominal round trip; 80 ms of the terrestrial link come on top."""
    return f"{rtt_ms / 2:g} ms"


def table_1(context: Context) -> list[Row]:
    """Give the rows of table 1: SACK with delayed ACK over the round trip."""
    runs = context.runs("download.toml", _by_rtt())
    times = {f"{rtt} ms": download_s(run) for rtt, run in zip(RTTS_MS, runs, strict=True)}
    rows = [
        context.number(case, metric, time)
        for metric in ("download response time", "download response time, slides")
        for case, time in times.items()
    ]
    return [*rows, context.claim("from 250 ms on", "download response time", times)]


def _by_rtt() -> list[dict[str, str]]:
    return [
        {**settings_of(("sack", "enabled")), "links.satellite.delay": satellite_delay(rtt)} for rtt in RTTS_MS
    ]


def draw_table_1(context: Context, path: Path) -> None:
    """Draw the download time over the nominal round trip, published beside computed."""
    times = [plain(download_s(run)) for run in context.runs("download.toml", _by_rtt())]
    published = [float(context.published(f"{rtt} ms", "download response time").published) for rtt in RTTS_MS]
    with picture(path, (7, 3.8)) as figure:
        axes = figure.subplots()
        axes.plot(
            RTTS_MS, times, "s-", ms=4, color=COLOURS["sack"], label="computed, TCP SACK with delayed ACK"
        )
        axes.plot(RTTS_MS, published, "o", color=GREY, label="published")
        axes.set_xlabel("nominal round trip (ms)")
        axes.set_ylabel("download response time (s)")
        axes.set_ylim(bottom=0)
        axes.legend(loc="upper left")


def table_6(context: Context) -> list[Row]:
    """Give the rows of the first table 6: the download without losses."""
    runs = ideal(context)
    times = {case: download_s(run) for case, run in runs.items()}
    rows = []
    for metric in ("download response time", "download response time, slides"):
        rows += [context.number(name(case), metric, time) for case, time in times.items()]
    for delayed in DELAYED_ACK:
        pair = [(variant, delayed) for variant in ("adalr-sack", "sack")]
        gain = shorter(*(plain(times[case]) for case in pair))
        printed = shorter(
            *(float(context.published(name(case), "download response time").published) for case in pair)
        )
        rows += [
            context.number(f"gain, {delayed}", "shorter than standard TCP", gain),
            context.number(f"gain, {delayed}", "shorter than standard TCP, slides", printed),
        ]
        rows.append(
            context.claim(
                f"order, {delayed}", "download response time", {v: times[v, delayed] for v in VARIANTS}
            )
        )
    return [*rows, context.claim("disabled outperforms enabled", "download response time", by_name(times))]


def figure_2(context: Context) -> list[Row]:
    """Give the rows of figure 2: throughput and goodput."""
    subjects = _subjects(context)
    rows = []
    for delayed in DELAYED_ACK:
        ours, theirs = (subjects[variant, delayed] for variant in ("adalr-sack", "sack"))
        average = higher(*(plain(one.run["flows"][0]["goodput_bps"]) for one in (ours, theirs)))
        tried = [higher(_highest(ours, bin_s), _highest(theirs, bin_s)) for bin_s in BINS_S]
        context.fact(f"average_{delayed}", f"{average:.0f} %")
        context.fact(f"bins_{delayed}", f"{min(tried):.0f} to {max(tried):.0f} %")
        up_to = higher(_highest(ours, BIN_S), _highest(theirs, BIN_S))
        rows += [
            context.number(f"gain, {delayed}", "higher throughput, up to", up_to),
            context.number(f"gain, {delayed}", "higher goodput, slides", average),
        ]
    return rows


def figure_3(context: Context) -> list[Row]:
    """Give the rows of figure 3: utilization of the satellite link over time."""
    subjects = _subjects(context)
    # What counts as busy is not stated.
    share, bin_s = (EFFICIENCY, BINS_S[0]) if context.reads(SHARE_OF_CAPACITY) else (1.0, BIN_S)
    busy = {case: share * _busiest(subject, bin_s) for case, subject in subjects.items()}
    rows = []
    for delayed in DELAYED_ACK:
        ours, theirs = busy["adalr-sack", delayed], busy["sack", delayed]
        tried = [
            higher(*(_busiest(subjects[variant, delayed], bin_s) for variant in ("adalr-sack", "sack")))
            for bin_s in BINS_S
        ]
        context.fact(f"ratio_{delayed}", f"{higher(ours, theirs):.0f} %")
        context.fact(f"bins_{delayed}", f"{min(tried):.0f} to {max(tried):.0f} %")
        rows += [
            context.number(f"gain, {delayed}", "higher utilization, up to", ours - theirs),
            context.number(
                f"gain, {delayed}", "higher satellite link throughput, slides", higher(ours, theirs)
            ),
        ]
    for variant in ("adalr-sack", "sack", "newreno"):
        case = (variant, "disabled")
        capacity = [EFFICIENCY * _busiest(subjects[case], bin_s) for bin_s in (BIN_S, BINS_S[0])]
        context.fact(
            f"capacity_{variant.replace('-', '_')}", "{:.1f} % in 10 s, {:.1f} % in 1 s".format(*capacity)
        )
        rows.append(context.number(f"{variant}, disabled", "highest utilization", busy[case]))
    standard = subjects["sack", "enabled"]
    edges = np.array([0.0, SLOW_START_S, plain(standard.run["duration_s"])])
    parts = zip(("in slow start", "afterwards"), busy_percent(standard.traces, edges).tolist(), strict=True)
    return [*rows, context.claim("sack, slow start", "utilization", dict(parts))]


def _subjects(context: Context) -> dict[Case, DrawnRun]:
    """Run the download without losses, with its time series."""
    return {case: context.trace("download.toml", settings_of(case), title=LABELS[case[0]]) for case in CASES}


def _highest(subject: DrawnRun, bin_s: float) -> float:
    """Give the highest throughput in bit/s in any bin of the download but the first and the last."""
    rates = binned(subject.traces, plain(subject.run["duration_s"]), bin_s=bin_s)[1]
    return float(rates[1:-1].max())


def _busiest(subject: DrawnRun, bin_s: float) -> float:
    """Give the highest share of time, in %, in which the downlink is busy in any inner bin."""
    edges = np.arange(0.0, plain(subject.run["duration_s"]), bin_s)
    return float(busy_percent(subject.traces, edges)[1:-1].max())


def binned(
    traces: Traces, end_s: float, *, start_s: float = 0.0, bin_s: float = BIN_S
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give times in s and the rate in bit/s at which the download was acknowledged in bins."""
    acked = traces.get("download", "acked")
    edges = np.arange(start_s, end_s, bin_s)
    reached = np.searchsorted(acked.time_s, edges, side="right") - 1
    values = np.where(reached >= 0, acked.value[np.maximum(reached, 0)], 0.0)
    return edges[:-1] + bin_s / 2, np.diff(values) * 8 / bin_s


def draw_over_time(
    context: Context, path: Path, *, what: str, scenario: str = "download.toml", delayed: tuple[str, ...] = ()
) -> None:
    """Draw ``throughput``, ``goodput`` (sequence number received) or ``utilization`` over time."""
    columns = delayed or tuple(DELAYED_ACK)
    with picture(path, (1.5 + 5 * len(columns), 4)) as figure:
        panels = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
        for axes, column in zip(panels, columns, strict=True):
            for width, variant in zip((2.8, 1.4, 2.8, 1.4), VARIANTS, strict=True):
                subject = context.trace(scenario, settings_of((variant, column)), title=LABELS[variant])
                _plot(axes, subject.traces, subject.run, what, variant, width)
            axes.set_title(f"delayed ACK {column}")
            axes.set_xlabel("time (s)")
        for axes in panels:
            axes.set_ylim(bottom=0)
            axes.set_xlim(left=0)
        panels[0].set_ylabel(_AXES[what])
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)


_AXES = {
    "throughput": "throughput (kbit/s)",
    "goodput": "sequence number received (MB)",
    "utilization": "utilization of the satellite link (%)",
}


def _plot(axes: "Axes", traces: Traces, run: Run, what: str, variant: str, width: float) -> None:
    flow: Mapping[str, object] = run["flows"][0]
    start, finish = (float(str(flow[key])) for key in ("start_s", "finish_s"))
    style: dict[str, Any] = {"color": COLOURS[variant], "lw": width, "label": LABELS[variant]}
    if what == "goodput":
        acked = traces.get("download", "acked").between(start, finish)
        axes.plot(acked.time_s - start, acked.value / 1e6, **style)
        return
    if what == "throughput":
        times, rates = binned(traces, finish, start_s=start)
        axes.plot(times - start, rates / 1e3, **style)
        return
    edges = np.arange(start, finish, BIN_S)
    axes.plot(edges[:-1] - start + BIN_S / 2, busy_percent(traces, edges), **style)


def by_name(times: Mapping[Case, Number]) -> dict[str, Number]:
    """Name the cells of TCP-ADaLR, with delayed ACK enabled and disabled."""
    return {name(case): time for case, time in times.items() if case[0].startswith("adalr")}


def name(case: Case) -> str:
    """Name a cell of a table."""
    return ", ".join(case)
