"""Figures 2 and 3: what flows that come and go get, by standard TCP and with XFWA."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bentpipe.results import Estimate
from bentpipe.show.style import CYCLE, GREY, picture
from bentpipe_papers.common import flows, link, over, plain
from bentpipe_papers.reproduction.grid import Cell, Grid
from bentpipe_papers.reproduction.reproduce import Context, Row

from .over_time import Series
from .runs import (
    BOTTLENECK,
    COLOURS,
    HOP_S,
    LABELS,
    SCHEMES,
    SEEDS,
    STAGED,
    Measured,
    buffers,
    claims,
    scheme,
    span,
)
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
    by_scheme,
    ends_s,
    full_queue,
    room,
    staged,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROUND_TRIP_S = 8 * HOP_S
SETTLED_S = 2.0
"""How long after a change the queue is looked at as a settled one."""

Runs = Mapping[str, Sequence[Staged]]


def _beside(runs: Runs, ours: str, measure: Callable[[Staged], float]) -> dict[str, Estimate]:
    return {"tcp": over(map(measure, runs["tcp"])), "xfwa": over(map(measure, runs[ours]))}


def figure_2(context: Context) -> list[Row]:
    """Give the rows of figure 2: how the segment numbers grow."""
    return claims(context, progress(context))


def progress(context: Context, ours: str = "xfwa") -> list[Measured]:
    """Measure the growth of the segment numbers."""
    runs = by_scheme(context, ours)
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
            found.append(
                (f"{name}, connections {words}", f"segments after {moment:g} s", ends(some, group, moment))
            )
    fairness = _beside(runs, ours, lambda one: float(one.fairness().mean()))
    return [*found, ("deviation", "Jain's index over 1 s, mean", fairness)]


def ends(some: Sequence[Staged], group: Sequence[str], moment_s: float) -> dict[str, Estimate]:
    """Give the segments that the first and the last of some flows have reached."""
    reached = [[float(one.acked(flow, np.array([moment_s]))[0]) for flow in group] for one in some]
    return {"most": over(map(max, reached)), "least": over(map(min, reached))}


EDGES_S: Series = np.arange(1.0, END_S + 0.05, 0.1)
"""Intervals of figure 3, without the first second, in which the first flows begin."""

_GRID_S: Series = np.arange(1.0, END_S, 0.005)


def settled(change: float) -> Series:
    """Give the times at which the queue after a change counts as settled."""
    return np.arange(change + SETTLED_S, change + 5.0, 0.005)


def figure_3(context: Context) -> list[Row]:
    """Give the rows of figure 3: throughput and queue of the bottleneck."""
    return claims(context, bottleneck(context))


def bottleneck(context: Context, ours: str = "xfwa") -> list[Measured]:
    """Measure throughput and queue of the bottleneck, and what it drops."""
    runs = by_scheme(context, ours)
    full = room(context)
    return [*_throughput(runs, ours), *_queue(runs, ours, full), *_losses(runs, ours, full)]


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


def _queue(runs: Runs, ours: str, full: int) -> list[Measured]:
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
        (
            "repeated cycles",
            "swings of the queue between a quarter and three quarters of the buffer",
            _beside(runs, ours, partial(_swings, full=full)),
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
            "underflow by changes",
            "share of the time that the link idles with XFWA",
            {
                "near a change": over(_idle(one, NEAR_S) for one in runs[ours]),
                "later": over(_idle(one, LATER_S) for one in runs[ours]),
            },
        ),
        (
            "brief underflow",
            "longest time that the link idles",
            _beside(runs, ours, lambda one: 1e3 * one.bottleneck.longest_idle(1.0, END_S)),
        ),
    ]


NEAR_S = (0.0, SETTLED_S)
LATER_S = (SETTLED_S, 5.0)


def _idle(one: Staged, part: tuple[float, float]) -> float:
    """Give the share, in %, that the link idles in a part of the time after the three changes."""
    first, last = part
    shares = [
        1 - one.bottleneck.utilization(np.array([change + first, change + last]))[0]
        for change in CHANGES_S[1:]
    ]
    return 100 * float(np.mean(shares))


def _swings(one: Staged, full: int) -> float:
    """Count how often a second the queue goes from a quarter of the buffer to three quarters, or back."""
    queue = one.bottleneck.queue(_GRID_S)
    ends = np.where(queue >= 0.75 * full, 1, np.where(queue <= 0.25 * full, -1, 0))
    ends = ends[ends != 0]
    return float(np.count_nonzero(np.diff(ends))) / (END_S - 1.0)


def _losses(runs: Runs, ours: str, full: int) -> list[Measured]:
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
            {"tcp": over(map(full_queue, runs["tcp"])), "buffer": float(full)},
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


_TRIED_MS = (60, 80, 120, 160)
"""Time in which the link sends a full buffer."""


def measure(context: Context) -> Grid:
    """Tabulate what other buffers make of the flows and of the bottleneck."""
    rows: list[tuple[Cell, ...]] = []
    apart, least, steady, mean = [], [], [], []
    for milliseconds in _TRIED_MS:
        wider = buffers(STAGED, RATE_BPS / 1e6, milliseconds / 1e3)
        for name in SCHEMES:
            some = staged(context, {**scheme(name, STAGED), **wider})
            reached = ends(some, NAMES[:4], 10.0)
            spread = over(
                100 * (most / few - 1)
                for most, few in zip(reached["most"]["values"], reached["least"]["values"], strict=True)
            )
            lowest = over(_of_utilization(one, "min") for one in some)
            queues = [
                plain(over(float(one.bottleneck.queue(settled(change)).mean()) for one in some))
                for change in CHANGES_S
            ]
            whole = over(float(one.bottleneck.queue(_GRID_S).mean()) for one in some)
            rows.append((f"{milliseconds}", LABELS[name], spread, lowest, span(queues, 1), whole))
            mean.append(plain(whole))
            if name == "xfwa":
                apart.append(plain(spread))
                least.append(plain(lowest))
                steady.append(100 * (max(queues) / min(queues) - 1))
    buffer_ms = [f"{milliseconds} ms" for milliseconds in _TRIED_MS]
    for fact, values, digits in (("apart", apart, 0), ("least", least, 2), ("steady", steady, 0)):
        context.fact(fact, _listed(buffer_ms, (f"{value:.{digits}f}" for value in values)))
    both = (f"{ours:.1f} and {tcp:.1f}" for tcp, ours in zip(mean[::2], mean[1::2], strict=True))
    context.fact("queues", _listed(buffer_ms, both))
    return Grid(
        f"Flows that come and go at 1.5 Mbit/s, by the time in which the link sends a full buffer; mean and "
        f"95 % interval of {SEEDS} runs",
        (
            "buffer (ms)",
            "scheme",
            "connections 1 to 4 after 10 s, most over least (%)",
            "least throughput in 100 ms (Mbit/s)",
            "mean queue between the changes (packets)",
            "mean queue (packets)",
        ),
        tuple(rows),
    )


def _listed(names: Iterable[str], values: Iterable[str]) -> str:
    return ", ".join(f"{value} ({name})" for name, value in zip(names, values, strict=True))


def draw_figure_2(context: Context, path: Path) -> None:
    """Draw the segment numbers of the eight flows, by standard TCP and with XFWA."""
    with picture(path, (11, 4.8)) as figure:
        draw_progress(figure, by_scheme(context))


def draw_progress(figure: "Figure", runs: Runs) -> None:
    """Draw the segment numbers of every run, the first in full colour, a panel a scheme."""
    panels = figure.subplots(1, len(runs), sharey=True)
    times = np.arange(0.0, END_S, 0.05)
    for axes, (name, some) in zip(panels, runs.items(), strict=True):
        for one, style in zip(some, styles(), strict=False):
            for flow, colour in zip(NAMES, CYCLE, strict=True):
                reached = one.acked(flow, times)
                shown = (times >= STARTS_S.get(flow, 0.0)) & (times <= ends_s(flow) + 0.2)
                label = flow[-1] if one is some[0] else None
                axes.plot(times[shown], reached[shown], color=colour, label=label, **style)
        axes.set_title(LABELS[name])
        axes.set_xlabel("time (s)")
    panels[0].set_ylabel("segments acknowledged")
    panels[0].set_ylim(bottom=0)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, title="connection", loc="outside lower center", ncols=8)


def styles() -> Iterator[dict[str, float]]:
    """Give the styles of a case's runs: the first before all others, those faint."""
    yield {"lw": 1.5, "zorder": 3.0}
    yield from repeat({"lw": 0.6, "alpha": 0.25})


def draw_figure_3(context: Context, path: Path) -> None:
    """Draw throughput in 100 ms and queue of the bottleneck."""
    with picture(path, (11, 5.4)) as figure:
        draw_bottleneck(figure, by_scheme(context))


def draw_bottleneck(figure: "Figure", runs: Runs) -> None:
    """Draw throughput and queue of every run, the first in full colour."""
    upper, lower = figure.subplots(2, 1, sharex=True)
    edges = np.arange(0.0, END_S + 0.05, 0.1)
    times = np.arange(0.0, END_S, 0.02)
    for name, some in runs.items():
        for one, style in zip(some, styles(), strict=False):
            rate = one.bottleneck.utilization(edges) * RATE_BPS / 1e6
            label = LABELS[name] if one is some[0] else None
            upper.step(edges[:-1], rate, where="post", color=COLOURS[name], label=label, **style)
            lower.plot(times, one.bottleneck.queue(times), color=COLOURS[name], **style)
    upper.axhline(RATE_BPS / 1e6, color=GREY, lw=0.8, ls="--")
    lower.axhline(BUFFER, color=GREY, lw=0.8, ls="--")
    upper.set_ylabel("throughput in 100 ms (Mbit/s)")
    lower.set_ylabel("queue (packets)")
    lower.set_xlabel("time (s)")
    lower.set_xlim(0, END_S)
    figure.legend(*upper.get_legend_handles_labels(), loc="outside upper center", ncols=len(runs))
