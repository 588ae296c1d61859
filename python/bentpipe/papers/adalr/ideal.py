"""Section 5.1 and table 1: the download over a channel without losses."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bentpipe.papers.common import plain
from bentpipe.reproduction import Context, Row
from bentpipe.results import Run
from bentpipe.style import GREY, picture
from bentpipe.traces import Traces

from . import notes
from .runs import (
    CASES,
    COLOURS,
    DELAYED_ACK,
    LABELS,
    SATELLITE_BPS,
    VARIANTS,
    Case,
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

PACKET_OVER_PAYLOAD = 1500 / 1460


def satellite_delay(rtt_ms: float) -> str:
    """Give the satellite hop a nominal round trip; 80 ms of the terrestrial link come on top."""
    return f"{rtt_ms / 2:g} ms"


def table_1(context: Context) -> list[Row]:
    """Give the rows of table 1: SACK with delayed ACK over the round trip."""
    settings = [
        {**settings_of(("sack", "enabled")), "links.satellite.delay": satellite_delay(rtt)} for rtt in RTTS_MS
    ]
    runs = context.runs("download.toml", settings)
    times = {f"{rtt} ms": download_s(run) for rtt, run in zip(RTTS_MS, runs, strict=True)}
    return [
        *(
            context.number(case, "download response time", time, notes.TABLE_1)
            for case, time in times.items()
        ),
        *(context.number(case, "download response time, slides", time) for case, time in times.items()),
        context.claim("from 250 ms on", "download response time", times, notes.KNEE),
    ]


def draw_table_1(context: Context, path: Path) -> None:
    """Draw the download time over the nominal round trip, published beside computed."""
    rtts = sorted({*RTTS_MS, *range(25, 601, 25)})
    settings = [
        {**settings_of(("sack", "enabled")), "links.satellite.delay": satellite_delay(rtt)} for rtt in rtts
    ]
    times = [plain(download_s(run)) for run in context.runs("download.toml", settings)]
    published = [float(context.published(f"{rtt} ms", "download response time").published) for rtt in RTTS_MS]
    with picture(path, (7, 3.8)) as figure:
        axes = figure.subplots()
        axes.plot(rtts, times, color=COLOURS["sack"], label="computed, TCP SACK with delayed ACK")
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
        gain = shorter(plain(times["adalr-sack", delayed]), plain(times["sack", delayed]))
        rows += [
            context.number(f"gain, {delayed}", "shorter than standard TCP", gain),
            context.number(f"gain, {delayed}", "shorter than standard TCP, slides", gain, notes.SWAPPED),
            context.claim(
                f"order, {delayed}", "download response time", {v: times[v, delayed] for v in VARIANTS}
            ),
        ]
    return rows


def figure_2(context: Context) -> list[Row]:
    """Give the rows of figure 2: throughput and goodput."""
    rows = []
    for delayed in DELAYED_ACK:
        ours, theirs = (_curve(context, (v, delayed)) for v in ("adalr-sack", "sack"))
        average = higher(
            plain(ideal(context)["adalr-sack", delayed]["flows"][0]["goodput_bps"]),
            plain(ideal(context)["sack", delayed]["flows"][0]["goodput_bps"]),
        )
        rows += [
            context.number(
                f"gain, {delayed}",
                "higher throughput, up to",
                higher(ours.max(), theirs.max()),
                notes.up_to(average),
            ),
            context.number(f"gain, {delayed}", "higher goodput, slides", average, notes.GOODPUT_IDEAL),
        ]
    return rows


def figure_3(context: Context) -> list[Row]:
    """Give the rows of figure 3: utilization of the satellite link, a share of 2.048 Mbit/s."""
    rows = []
    highest: dict[Case, float] = {}
    for case in CASES:
        highest[case] = 100 * _curve(context, case).max() * PACKET_OVER_PAYLOAD / SATELLITE_BPS
    for delayed in DELAYED_ACK:
        gain = highest["adalr-sack", delayed] - highest["sack", delayed]
        relative = higher(highest["adalr-sack", delayed], highest["sack", delayed])
        rows += [
            context.number(f"gain, {delayed}", "higher utilization, up to", gain, notes.points(relative)),
            context.number(
                f"gain, {delayed}", "higher satellite link throughput, slides", relative, notes.LINK_IDEAL
            ),
        ]
    for variant in ("adalr-sack", "sack", "newreno"):
        rows.append(
            context.number(
                f"{variant}, disabled", "highest utilization", highest[variant, "disabled"], notes.HIGHEST
            )
        )
    return rows


def _curve(context: Context, case: Case) -> NDArray[np.float64]:
    """Give the throughput in bit/s in each bin of the download but the first and the last."""
    subject = context.trace("download.toml", settings_of(case), title=LABELS[case[0]])
    return binned(subject.traces, plain(subject.run["duration_s"]))[1][1:-1]


def binned(
    traces: Traces, end_s: float, flow: str = "download", start_s: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give times in s and the rate in bit/s at which data was acknowledged in bins of `BIN_S`."""
    acked = traces.get(flow, "acked")
    edges = np.arange(start_s, end_s, BIN_S)
    reached = np.searchsorted(acked.time_s, edges, side="right") - 1
    values = np.where(reached >= 0, acked.value[np.maximum(reached, 0)], 0.0)
    return edges[:-1] + BIN_S / 2, np.diff(values) * 8 / BIN_S


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
    times, busy = _utilization(traces, run, finish)
    axes.plot(times, busy, **style)


def _utilization(traces: Traces, run: Run, end_s: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the share of the satellite link's rate, in %, that the data of all flows took in each bin."""
    total: NDArray[np.float64] | None = None
    times = np.empty(0)
    for flow in run["flows"]:
        times, rates = binned(traces, end_s, flow["name"])
        total = rates if total is None else total + rates
    share = np.empty(0) if total is None else total
    return times, 100 * share * PACKET_OVER_PAYLOAD / SATELLITE_BPS


def name(case: Case) -> str:
    """Name a cell of a table."""
    return ", ".join(case)
