"""Figures 4 and 5: four groups of flows with different round trips through one bottleneck."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bentpipe.grid import Cell, Grid
from bentpipe.papers.common import curve, flows, over, seeded
from bentpipe.plot import Subject
from bentpipe.reproduction import Context, Row
from bentpipe.results import Estimate, Run
from bentpipe.style import CYCLE, picture

from . import notes
from .link_types import EQUAL_SHARES, NUMBERS, ROUND_TRIPS_S, TYPES, WORDS, LinkType
from .over_time import Series, acked
from .runs import (
    COLOURS,
    GROUPS,
    LABELS,
    SCHEMES,
    SEEDS,
    THREE,
    Measured,
    buffers,
    busy,
    claims,
    jain,
    scheme,
    segments,
    wait_ms,
)


@dataclass(frozen=True)
class Grouped:
    """One run with its series."""

    subject: Subject

    def acked(self, number: int, times_s: Series) -> Series:
        """Give the segments of a group acknowledged at each time, a row a flow."""
        names = [flow["name"] for flow in flows(self.subject.run, f"group{number}")]
        return np.array([acked(self.subject, name, times_s) for name in names])

    def slope(self, number: int, start_s: float, end_s: float) -> float:
        """Give the mean progress of the flows of a group in segments/s."""
        reached = self.acked(number, np.array([start_s, end_s]))
        return float((reached[:, 1] - reached[:, 0]).mean()) / (end_s - start_s)


def traced(context: Context, name: str, seeds: int = SEEDS) -> list[Grouped]:
    """Run the groups at the rate of T1, with their series."""
    return [
        Grouped(context.trace(GROUPS, {**scheme(name, GROUPS), **TYPES["T1"].begun(seed)}, title=name))
        for seed in range(1, seeds + 1)
    ]


def figure_4(context: Context) -> list[Row]:
    """Give the rows of figure 4: progress at the rate of T1."""
    runs = {name: traced(context, name) for name in THREE}

    def measure(ours: str) -> list[Measured]:
        some = {"tcp": runs["tcp"], "xfwa": runs[ours]}
        slopes: dict[str, Measured] = {
            name: (
                name,
                "progress of a flow from 5 to 20 s",
                {
                    WORDS[number]: over(one.slope(number, 5.0, 20.0) for one in some[name])
                    for number in NUMBERS
                },
            )
            for name in SCHEMES
        }
        apart = {name: over(map(_apart, some[name])) for name in SCHEMES}
        metric = "largest over least progress of the groups in any 5 s"
        return [slopes["xfwa"], slopes["tcp"], ("parallel throughout", metric, apart)]

    return claims(context, measure, notes.FIGURE_4)


def _apart(one: Grouped) -> float:
    worst = 1.0
    for start in np.arange(1.0, 15.5, 0.5):
        slopes = [one.slope(number, start, start + 5.0) for number in NUMBERS]
        worst = max(worst, max(slopes) / max(min(slopes), 0.2))
    return worst


BUFFERS_MS = (60, 140, 280)


def measure_figure_4(context: Context) -> Grid:
    """Tabulate the packets sent at the rate of T1 by the buffer, which decides how long the queue is."""
    about = TYPES["T1"]
    rows: list[tuple[Cell, ...]] = []
    for milliseconds in BUFFERS_MS:
        room = buffers(GROUPS, about.mbps, milliseconds / 1e3)
        cases = {
            name: [{**about.begun(seed), **room, **scheme(name, GROUPS)} for seed in range(1, SEEDS + 1)]
            for name in THREE
        }
        for name, runs in seeded(context, GROUPS, cases).items():
            wait = over(map(wait_ms, runs))
            rows.append((f"{milliseconds}", LABELS[name], *_means(runs).values(), _fairness(runs), wait))
    return Grid(
        "Packets that a flow got through in 20 s at 1.5 Mbit/s, by the buffer; mean and 95 % interval",
        (
            "buffer (ms)",
            "scheme",
            *(f"{word} (packets)" for word in WORDS.values()),
            "Jain's index",
            "wait in the queue (ms)",
        ),
        tuple(rows),
    )


def by_type(context: Context, types: Mapping[str, LinkType]) -> dict[tuple[str, str], list[Run]]:
    """Run the groups at every rate by both schemes, and with XFWA with a longer delta."""
    cases = {
        (kind, name): [{**scheme(name, GROUPS), **about.begun(seed)} for seed in range(1, about.seeds + 1)]
        for kind, about in types.items()
        for name in THREE
    }
    return seeded(context, GROUPS, cases)


def _sent(run: Run, number: int) -> float:
    group = [segments(flow) for flow in flows(run, f"group{number}")]
    return sum(group) / len(group)


def _means(runs: Sequence[Run]) -> dict[str, Estimate]:
    return {WORDS[number]: over(_sent(run, number) for run in runs) for number in NUMBERS}


def _fairness(runs: Sequence[Run]) -> Estimate:
    return over(jain([segments(flow) for flow in flows(run, "group")]) for run in runs)


def figure_5(context: Context) -> list[Row]:
    """Give the rows of figure 5: packets sent at every rate."""
    runs = by_type(context, TYPES)

    def measure(ours: str) -> list[Measured]:
        found: list[Measured] = []
        for kind in TYPES:
            some = {"xfwa": runs[kind, ours], "tcp": runs[kind, "tcp"]}
            found += [(f"{kind}, {name}", "packets sent by a flow", _means(some[name])) for name in some]
            fairness = {name: _fairness(some[name]) for name in some}
            found.append((kind, "Jain's index of packets sent", fairness))
        return found

    words = {
        f"{kind}, {name}": notes.flows_of_type(about.flows, about.mbps, about.window(4))
        for kind, about in TYPES.items()
        for name in SCHEMES
    }
    return claims(context, measure, words)


def measure_figure_5(context: Context) -> Grid:
    """Tabulate the packets sent with two choices of the number of flows."""
    rows: list[tuple[Cell, ...]] = []
    for types in (TYPES, EQUAL_SHARES):
        for (kind, name), runs in by_type(context, types).items():
            about = (kind, f"{types[kind].flows}", LABELS[name])
            rows.append((*about, *_means(runs).values(), _fairness(runs), over(map(busy, runs))))
    return Grid(
        "Packets that a flow got through in 20 s, with two choices of the number of flows; mean and 95 % "
        "interval",
        (
            "link",
            "flows",
            "scheme",
            *(f"{word} (packets)" for word in WORDS.values()),
            "Jain's index",
            "link busy (%)",
        ),
        tuple(rows),
    )


def draw_figure_4(context: Context, path: Path) -> None:
    """Draw the segment numbers of the flows of each group."""
    with picture(path, (13, 4.4)) as figure:
        panels = figure.subplots(1, len(THREE), sharey=True)
        times = np.arange(0.0, 20.0, 0.05)
        for axes, name in zip(panels, THREE, strict=True):
            (one,) = traced(context, name, seeds=1)
            for number, colour in zip(NUMBERS, CYCLE, strict=False):
                for place, reached in enumerate(one.acked(number, times)):
                    words = f"{WORDS[number]}, {1e3 * ROUND_TRIPS_S[number]:.0f} ms" if place == 0 else None
                    axes.plot(times, reached, color=colour, label=words)
            axes.set_title(LABELS[name])
            axes.set_xlabel("time (s)")
        panels[0].set_ylabel("segments acknowledged")
        panels[0].set_ylim(bottom=0)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)


def draw_figure_5(context: Context, path: Path) -> None:
    """Draw the packets of each flow, and the mean of each group, at every rate."""
    runs = by_type(context, TYPES)
    with picture(path, (12, 4)) as figure:
        panels = figure.subplots(1, len(TYPES))
        for axes, (kind, about) in zip(panels, TYPES.items(), strict=True):
            for offset, name in zip((-0.25, 0.0, 0.25), THREE, strict=True):
                some = runs[kind, name]
                for number in NUMBERS:
                    each = [segments(flow) for flow in flows(some[0], f"group{number}")]
                    around = np.linspace(-0.08, 0.08, len(each)) + number + offset
                    axes.plot(around, each, ".", ms=2, color=COLOURS[name], alpha=0.5)
                places = [number + offset for number in NUMBERS]
                means = list(_means(some).values())
                curve(
                    axes, places, means, color=COLOURS[name], label=LABELS[name], ls="none", ms=5, capsize=3
                )
            axes.set_title(f"{kind}: {about.mbps:g} Mbit/s, {about.flows} flows")
            axes.set_xticks(NUMBERS)
            axes.set_xlabel("group")
            axes.set_ylim(bottom=0)
        panels[0].set_ylabel("packets in 20 s; dots: flows of one run")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
