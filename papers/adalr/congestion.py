"""Section 5.2: the download through a gateway that drops packets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bentpipe.plot import DrawnRun
from bentpipe.results import Number, Run
from bentpipe.show.style import GREY, picture
from bentpipe_papers.common import over, plain
from bentpipe_papers.reproduction.reproduce import Context, Row

from .ideal import BIN_S, binned, name
from .runs import (
    CASES,
    COLOURS,
    CONGESTED,
    DELAYED_ACK,
    LABELS,
    PACKET_S,
    STANDARD,
    VARIANTS,
    Case,
    busy_percent,
    congested,
    cross_flows,
    download_s,
    ideal,
    rate_kbps,
    scenario_table,
    settings_of,
    utilization,
)

RATES = (1.22, 1.24, 1.25, 1.26, 1.27, 1.28, 1.3)
"""Rates of the stream that were tried, in Mbit/s; the scenario has the nearest."""

FLOWS = (1, 2, 3, 4, 5)
"""Numbers of downloads that were tried in its place."""

_METRICS = {"figure-4": "throughput", "figure-5": "goodput", "figure-6": "utilization"}


def beside_downloads(context: Context) -> dict[tuple[Case, int], Run]:
    """Run the download beside others of its own variant."""
    keys = [(case, flows) for case in CASES for flows in FLOWS]
    settings = [
        {**cross_flows(flows), **settings_of(case), "flows.cross.variant": case[0]} for case, flows in keys
    ]
    return dict(zip(keys, context.runs("congestion-downloads.toml", settings), strict=True))


def beside_streams(context: Context) -> dict[tuple[Case, float], Run]:
    """Run the download beside streams of other rates."""
    chosen = float(scenario_table(context, CONGESTED)["flows"]["stream"]["rate"].split()[0])
    return {
        (case, mbps): run
        for mbps in RATES
        for case, run in congested(context, mbps=None if mbps == chosen else mbps).items()
    }


def table_7(context: Context) -> list[Row]:
    """Give the rows of table 7."""
    times = {case: plain(download_s(run)) for case, run in congested(context).items()}
    streams = {key: plain(download_s(run)) for key, run in beside_streams(context).items()}
    for mbps in (1.24, 1.28):
        tried = [time for (_, rate), time in streams.items() if rate == mbps]
        context.fact(f"stream_{mbps:.2f}".replace(".", "_"), f"{min(tried):,.0f} to {max(tried):,.0f} s")
    downloads = {key: plain(download_s(run)) for key, run in beside_downloads(context).items()}
    three = [time for (_, flows), time in downloads.items() if flows == 3]
    context.fact("three_downloads", f"{min(three):,.0f} to {max(three):,.0f} s")
    rows = []
    for metric in ("download response time", "download response time, slides"):
        rows += [context.number(name(case), metric, time) for case, time in times.items()]
    for delayed in DELAYED_ACK:
        values = {variant: times[variant, delayed] for variant in VARIANTS}
        rows.append(context.claim(f"comparable, {delayed}", "download response time", values))
    for variant in STANDARD:
        case = f"disabled over enabled, {variant}"
        ours = {delayed: times[variant, delayed] for delayed in DELAYED_ACK}
        printed = {
            delayed: float(context.published(name((variant, delayed)), "download response time").published)
            for delayed in DELAYED_ACK
        }
        rows.append(context.claim(case, "download response time", ours))
        rows.append(context.claim(case, "download response time, as printed", printed))
    return rows


def figures(context: Context) -> list[Row]:
    """Give the rows of figures 4, 5 and 6: averages over the download's own time."""
    metric = _METRICS[context.item]
    lossless = {case: _measure(run, metric) for case, run in ideal(context).items()}
    values = {case: _measure(run, metric) for case, run in congested(context).items()}
    rows = []
    for delayed in DELAYED_ACK:
        beside: Mapping[str, Number] = {variant: values[variant, delayed] for variant in VARIANTS}
        means = {"ideal": _mean(lossless, delayed), "congested": _mean(values, delayed)}
        rows += [
            context.claim(f"comparable, {delayed}", metric, beside),
            context.claim(f"degrades, {delayed}", metric, means),
        ]
    if metric == "utilization":
        own = [over(_own_share(run) for run in runs(context).values()) for runs in (ideal, congested)]
        context.fact("own_share", f"from {own[0]['mean']:.0f} to {own[1]['mean']:.0f} %")
    return rows


def _mean(values: Mapping[Case, float], delayed: str) -> float:
    return plain(over(values[variant, delayed] for variant in VARIANTS))


def _measure(run: Run, metric: str) -> float:
    """Give a rate in kbit/s, or the share of time that the satellite link is busy, in %."""
    return 100 * plain(utilization(run)) if metric == "utilization" else rate_kbps(run, metric)


def _own_share(run: Run) -> float:
    """Give the share of time that the satellite link sends the download's packets, in %."""
    return 100 * rate_kbps(run, "throughput") * 1e3 / 8 / 1460 * PACKET_S


def draw_table_7(context: Context, path: Path) -> None:
    """Draw the download time over the rate of the stream, and over the number of downloads in its place."""
    streams, downloads = beside_streams(context), beside_downloads(context)
    published = float(context.published("sack, enabled", "download response time").published)
    with picture(path, (11, 7)) as figure:
        panels = figure.subplots(2, 2, sharey=True)
        for (left, right), delayed in zip(panels, DELAYED_ACK, strict=True):
            for width, variant in zip((2.8, 1.4, 2.8, 1.4), VARIANTS, strict=True):
                case = (variant, delayed)
                style: dict[str, Any] = {"color": COLOURS[variant], "lw": width, "ms": 4}
                times = [plain(download_s(streams[case, mbps])) for mbps in RATES]
                left.plot(RATES, times, "o-", label=LABELS[variant], **style)
                right.plot(
                    FLOWS, [plain(download_s(downloads[case, flows])) for flows in FLOWS], "o-", **style
                )
            for axes in (left, right):
                axes.axhline(published, color=GREY, lw=0.9, ls="--", label="published, TCP SACK, delayed ACK")
            left.set_title(f"A stream, delayed ACK {delayed}")
            right.set_xticks(FLOWS)
            right.set_title(f"Downloads, delayed ACK {delayed}")
            left.set_ylabel("download response time (s)")
        panels[0][0].set_ylim(bottom=0)
        panels[1][0].set_xlabel("rate of the stream (Mbit/s)")
        panels[1][1].set_xlabel("number of other downloads")
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5)


_AXES = {
    "throughput": "throughput (kbit/s)",
    "goodput": "sequence number received (MB)",
    "utilization": "satellite link busy (%)",
}


def draw(context: Context, path: Path) -> None:
    """Draw the runs of figure 4, 5 or 6 over time: goodput as the sequence number that was received."""
    what = _METRICS[context.item]
    with picture(path, (11.5, 4)) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, delayed in zip(panels, DELAYED_ACK, strict=True):
            for width, variant in zip((2.8, 1.4, 2.8, 1.4), VARIANTS, strict=True):
                subject = context.trace(CONGESTED, settings_of((variant, delayed)), title=LABELS[variant])
                times, values = _over_time(subject, what)
                axes.plot(times, values, color=COLOURS[variant], lw=width, label=LABELS[variant])
            axes.set_title(f"delayed ACK {delayed}")
            axes.set_xlabel("time (s)")
            axes.set_xlim(left=0)
        panels[0].set_ylim(bottom=0)
        panels[0].set_ylabel(_AXES[what])
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)


def _over_time(subject: DrawnRun, what: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give times in s, and what a figure shows of the download."""
    end_s = plain(subject.run["duration_s"])
    if what == "goodput":
        acked = subject.traces.get("download", "acked")
        return acked.time_s, acked.value / 1e6
    if what == "throughput":
        times, rates = binned(subject.traces, end_s)
        return times, rates / 1e3
    edges = np.arange(0.0, end_s, BIN_S)
    return edges[:-1] + BIN_S / 2, busy_percent(subject.traces, edges)
