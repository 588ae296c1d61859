"""Figures 2 and 3: what flows that come and go get, by standard TCP and with XFWA."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from bentpipe.papers.common import flows, link, over, plain
from bentpipe.reproduction import Context, Row
from bentpipe.results import Estimate
from bentpipe.style import CYCLE, GREY, picture

from . import notes
from .over_time import Series
from .runs import BOTTLENECK, COLOURS, HOP_S, LABELS, STAGED, THREE, Measured, claims, scheme
from .staged import (
    BUFFER,
    CHANGES_S,
    END_S,
    LATE_S,
    NAMES,
    RATE_BPS,
    STARTS_S,
    WORDS,
    Staged,
    ends_s,
    full_queue,
    staged,
    three,
)

ROUND_TRIP_S = 8 * HOP_S
SETTLED_S = 2.0
"""How long after a change the queue is looked at as a settled one."""

Runs = Mapping[str, Sequence[Staged]]


def _beside(runs: Runs, ours: str, measure: Callable[[Staged], float]) -> dict[str, Estimate]:
    return {"tcp": over(map(measure, runs["tcp"])), "xfwa": over(map(measure, runs[ours]))}


def figure_2(context: Context) -> list[Row]:
    """Give the rows of figure 2: how the segment numbers grow."""
    runs = three(context)
    return claims(context, lambda ours: _progress(runs, ours))


def _progress(runs: Runs, ours: str) -> list[Measured]:
    slopes = {
        change: over(one.slope(name, change, change + 5) for one in runs[ours] for name in NAMES[:2])
        for change in CHANGES_S
    }
    pairs = {
        "four more flows at 5 s": (0.0, 5.0),
        "two flows less at 10 s": (10.0, 5.0),
        "two flows less at 15 s": (15.0, 10.0),
    }
    found: list[Measured] = [
        (case, "progress of a staying flow with XFWA", {WORDS[change]: slopes[change] for change in pair})
        for case, pair in pairs.items()
    ]
    for name, some in (("xfwa", runs[ours]), ("tcp", runs["tcp"])):
        for words, group, moment in (("1 to 4", NAMES[:4], 10.0), ("5 to 8", NAMES[4:], 15.0)):
            ends = [[float(one.acked(flow, np.array([moment]))[0]) for flow in group] for one in some]
            values = {"most": over(map(max, ends)), "least": over(map(min, ends))}
            found.append((f"{name}, connections {words}", f"segments after {moment:g} s", values))
    fairness = _beside(runs, ours, lambda one: float(one.fairness().mean()))
    return [*found, ("deviation", "Jain's index over 1 s, mean", fairness)]


EDGES_S: Series = np.arange(1.0, END_S + 0.05, 0.1)
"""Intervals of figure 3, without the first second, in which the first flows begin."""

_GRID_S: Series = np.arange(1.0, END_S, 0.005)


def settled(change: float) -> Series:
    """Give the times at which the queue after a change counts as settled."""
    return np.arange(change + SETTLED_S, change + 5.0, 0.005)


def figure_3(context: Context) -> list[Row]:
    """Give the rows of figure 3: throughput and queue of the bottleneck."""
    runs = three(context)
    return claims(
        context,
        lambda ours: [*_throughput(runs, ours), *_queue(runs, ours), *_losses(runs, ours)],
        notes.FIGURE_3,
    )


def _throughput(runs: Runs, ours: str) -> list[Measured]:
    mbps = RATE_BPS / 1e6
    shares = {
        what: _beside(runs, ours, partial(_of_utilization, what=what)) for what in ("mean", "min", "std")
    }
    return [
        ("throughput", "standard deviation in 100 ms", shares["std"]),
        ("utilization", "mean throughput", {**shares["mean"], "capacity": mbps}),
        (
            "always near the capacity",
            "least throughput in 100 ms with XFWA",
            {"least": shares["min"]["xfwa"], "capacity": mbps},
        ),
        ("limited oscillations", "least throughput in 100 ms", shares["min"]),
    ]


def _of_utilization(one: Staged, what: str) -> float:
    return float(getattr(np, what)(one.bottleneck.utilization(EDGES_S))) * RATE_BPS / 1e6


def _queue(runs: Runs, ours: str) -> list[Measured]:
    steady = {
        WORDS[change]: over(float(one.bottleneck.queue(settled(change)).mean()) for one in runs[ours])
        for change in CHANGES_S
    }
    least = over(
        min(float(one.bottleneck.queue(settled(change)).min()) for change in CHANGES_S) for one in runs[ours]
    )
    return [
        (
            "queue",
            "standard deviation of the queue",
            _beside(runs, ours, lambda one: float(one.bottleneck.queue(_GRID_S).std())),
        ),
        ("constant queue", "mean queue with XFWA, from 2 s after each change", steady),
        (
            "never below a certain number",
            "least queue with XFWA, from 2 s after each change",
            {"least": least, "empty": 0.0},
        ),
        (
            "no persistent queue",
            "mean queue",
            _beside(runs, ours, lambda one: float(one.bottleneck.queue(_GRID_S).mean())),
        ),
        (
            "underflow",
            "share of the time that the link idles",
            _beside(runs, ours, lambda one: 100 * (1 - float(one.bottleneck.utilization(EDGES_S).mean()))),
        ),
        (
            "brief underflow",
            "longest time that the link idles",
            _beside(runs, ours, lambda one: 1e3 * one.bottleneck.longest_idle(1.0, END_S)),
        ),
    ]


def _losses(runs: Runs, ours: str) -> list[Measured]:
    dropped = [[moment for moment, _ in one.dropped_s()] for one in runs["tcp"]]
    overshoot = {
        "after the change": over(_count(times, LATE_S, LATE_S + 1.0) for times in dropped),
        "before": over(_count(times, LATE_S - 2.0, LATE_S) / 2.0 for times in dropped),
    }
    return [
        (
            "synchronized drops of TCP",
            "flows that lose within one round trip of a first loss",
            {"flows": over(_together(runs["tcp"])), "one": 1.0},
        ),
        (
            "overflow of TCP",
            "queue at which packets are dropped, median",
            {"tcp": over(map(full_queue, runs["tcp"])), "buffer": float(BUFFER)},
        ),
        ("overshoot of TCP at 5 s", "packets dropped in a second", overshoot),
        (
            "timeouts",
            "timeouts",
            _beside(
                runs,
                ours,
                lambda one: sum(plain(flow["timeouts"]) for flow in flows(one.subject.run, "conn")),
            ),
        ),
        (
            "drops",
            "packets dropped",
            _beside(runs, ours, lambda one: plain(link(one.subject.run, BOTTLENECK)["dropped_packets"])),
        ),
    ]


def _together(runs: Iterable[Staged]) -> list[float]:
    """Give, for each loss after a pause, the flows that lose within a round trip."""
    counts = []
    for one in runs:
        begin, names = -1.0, set[str]()
        for moment, name in one.dropped_s():
            if moment > begin + ROUND_TRIP_S:
                if names:
                    counts.append(float(len(names)))
                begin, names = moment, set()
            names.add(name)
        if names:
            counts.append(float(len(names)))
    return counts


def _count(times: Iterable[float], start_s: float, end_s: float) -> float:
    return float(sum(start_s <= moment < end_s for moment in times))


def draw_figure_2(context: Context, path: Path) -> None:
    """Draw the segment numbers of the eight flows, by standard TCP and with XFWA."""
    with picture(path, (13, 4.4)) as figure:
        panels = figure.subplots(1, len(THREE), sharey=True)
        times = np.arange(0.0, END_S, 0.05)
        for axes, name in zip(panels, THREE, strict=True):
            (one,) = staged(context, scheme(name, STAGED), seeds=1)
            for flow, colour in zip(NAMES, CYCLE, strict=True):
                reached = one.acked(flow, times)
                shown = (times >= STARTS_S.get(flow, 0.0)) & (times <= ends_s(flow) + 0.2)
                axes.plot(times[shown], reached[shown], color=colour, label=flow[-1])
            axes.set_title(LABELS[name])
            axes.set_xlabel("time (s)")
        panels[0].set_ylabel("segments acknowledged")
        panels[0].set_ylim(bottom=0)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, title="connection", loc="outside lower center", ncols=8)


def draw_figure_3(context: Context, path: Path) -> None:
    """Draw throughput in 100 ms and queue of the bottleneck."""
    with picture(path, (11, 5.4)) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True)
        edges = np.arange(0.0, END_S + 0.05, 0.1)
        times = np.arange(0.0, END_S, 0.02)
        for name in THREE:
            (one,) = staged(context, scheme(name, STAGED), seeds=1)
            rate = one.bottleneck.utilization(edges) * RATE_BPS / 1e6
            upper.step(edges[:-1], rate, where="post", color=COLOURS[name], label=LABELS[name])
            lower.plot(times, one.bottleneck.queue(times), color=COLOURS[name], lw=1.0)
        upper.axhline(RATE_BPS / 1e6, color=GREY, lw=0.8, ls="--")
        lower.axhline(BUFFER, color=GREY, lw=0.8, ls="--")
        upper.set_ylabel("throughput in 100 ms (Mbit/s)")
        lower.set_ylabel("queue (packets)")
        lower.set_xlabel("time (s)")
        lower.set_xlim(0, END_S)
        figure.legend(*upper.get_legend_handles_labels(), loc="outside upper center", ncols=3)
