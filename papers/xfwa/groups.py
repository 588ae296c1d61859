"""Figures 4 and 5: four groups of flows with different round trips through one bottleneck."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bentpipe.plot import DrawnRun
from bentpipe.results import Estimate, Run
from bentpipe.runs.statistics import jain
from bentpipe.show.style import CYCLE, picture
from bentpipe_papers.common import curve, flows, over, plain, seeded
from bentpipe_papers.reproduction.grid import Cell, Grid
from bentpipe_papers.reproduction.reproduce import Context, Row

from .coming_and_going import styles
from .link_types import NUMBERS, OTHERS, ROUND_TRIPS_S, TYPES, WORDS, LinkType
from .over_time import Series, acked
from .runs import (
    COLOURS,
    GROUPS,
    LABELS,
    SCHEMES,
    SEEDS,
    Measured,
    buffers,
    busy,
    claims,
    scheme,
    segments,
    span,
    wait_ms,
)
from .staged import END_S


@dataclass(frozen=True)
class Grouped:
    """One run with its series."""

    subject: DrawnRun

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


def by_scheme(context: Context, ours: str = "xfwa") -> dict[str, list[Grouped]]:
    """Run them by standard TCP, and with XFWA or, as `ours`, with the other reading."""
    return {name: traced(context, name) for name in ("tcp", ours)}


def figure_4(context: Context) -> list[Row]:
    """Give the rows of figure 4: progress at the rate of T1."""
    return claims(context, progress(context))


def progress(context: Context, ours: str = "xfwa") -> list[Measured]:
    """Measure the growth of the segment numbers of each group."""
    runs = by_scheme(context, ours)
    some = {"xfwa": runs[ours], "tcp": runs["tcp"]}
    slopes: list[Measured] = [
        (
            name,
            "progress of a flow from 5 to 20 s",
            {WORDS[number]: over(one.slope(number, 5.0, END_S) for one in found) for number in NUMBERS},
        )
        for name, found in some.items()
    ]
    apart = {name: over(map(_apart, some[name])) for name in SCHEMES}
    return [*slopes, ("parallel throughout", "largest over least progress of the groups in any 5 s", apart)]


def _apart(one: Grouped) -> float:
    worst = 1.0
    for start in np.arange(1.0, END_S - 4.5, 0.5):
        slopes = [one.slope(number, start, start + 5.0) for number in NUMBERS]
        worst = max(worst, max(slopes) / max(min(slopes), 0.2))
    return worst


_TRIED = ((8, 60), (8, 140), (8, 280), (4, 60), (12, 60), (16, 60))
"""Flows on T1, and the ms in which the link sends a full buffer."""


def measure_figure_4(context: Context) -> Grid:
    """Tabulate the packets sent at the rate of T1 by the number of flows and by the buffer."""
    rows: list[tuple[Cell, ...]] = []
    apart = {}
    for count, milliseconds in _TRIED:
        about = LinkType(TYPES["T1"].mbps, count)
        room = buffers(GROUPS, about.mbps, milliseconds / 1e3)
        cases = {
            name: [{**about.begun(seed), **room, **scheme(name, GROUPS)} for seed in range(1, SEEDS + 1)]
            for name in SCHEMES
        }
        for name, runs in seeded(context, GROUPS, cases).items():
            wait = over(map(wait_ms, runs))
            where = (f"{count}", f"{milliseconds}", LABELS[name])
            rows.append((*where, *means(runs).values(), fairness(runs), wait))
            apart[count, milliseconds, name] = spread(runs)
    context.fact("by flows", span(apart[count, 60, "xfwa"] for count in (4, 12, 16)))
    context.fact("by buffer", span(apart[8, milliseconds, "xfwa"] for milliseconds in (140, 280)))
    windows = LinkType(TYPES["T1"].mbps, 8).windows()
    context.fact("windows", ", ".join(f"{value:.1f}" for value in windows.values()))
    return Grid(
        "Packets that a flow got through in 20 s at 1.5 Mbit/s, by flows and buffer; mean and 95 % interval",
        (
            "flows",
            "buffer (ms)",
            "scheme",
            *(f"{word} (packets)" for word in WORDS.values()),
            "Jain's index",
            "wait in the queue (ms)",
        ),
        tuple(rows),
    )


def by_type(
    context: Context, types: Mapping[str, LinkType], names: Sequence[str] = SCHEMES
) -> dict[tuple[str, str], list[Run]]:
    """Run the groups at every rate by some of the schemes."""
    cases = {
        (kind, name): [{**scheme(name, GROUPS), **about.begun(seed)} for seed in range(1, about.seeds + 1)]
        for kind, about in types.items()
        for name in names
    }
    return seeded(context, GROUPS, cases)


def _sent(run: Run, *numbers: int) -> float:
    sent = [segments(flow) for number in numbers for flow in flows(run, f"group{number}")]
    return sum(sent) / len(sent)


def means(runs: Sequence[Run]) -> dict[str, Estimate]:
    """Give the packets that a flow of each group got through."""
    return {WORDS[number]: over(_sent(run, number) for run in runs) for number in NUMBERS}


def spread(runs: Sequence[Run]) -> float:
    """Give by how many % the best group is ahead of the worst."""
    found = [plain(value) for value in means(runs).values()]
    return 100 * (max(found) / min(found) - 1)


def _expected(about: LinkType, runs: Sequence[Run]) -> float:
    """Give the `spread` of whole packets of the windows over round trips with the mean wait in them."""
    wait_s = plain(over(map(wait_ms, runs))) / 1e3
    rates = [int(window) / (ROUND_TRIPS_S[number] + wait_s) for number, window in about.windows().items()]
    return 100 * (max(rates) / min(rates) - 1)


def fairness(runs: Sequence[Run]) -> Estimate:
    """Give Jain's index of the packets that the flows got through."""
    return over(jain([segments(flow) for flow in flows(run, "group")]) for run in runs)


def figure_5(context: Context) -> list[Row]:
    """Give the rows of figure 5: packets sent at every rate."""
    return claims(context, packets(context))


def packets(context: Context, ours: str = "xfwa") -> list[Measured]:
    """Measure the packets that the flows got through at every rate."""
    runs = by_type(context, TYPES, ("tcp", ours))
    found: list[Measured] = []
    for kind in TYPES:
        some = {"xfwa": runs[kind, ours], "tcp": runs[kind, "tcp"]}
        found += [(f"{kind}, {name}", "packets sent by a flow", means(some[name])) for name in some]
        halves = {
            words: over(_sent(run, *numbers) for run in some["tcp"])
            for words, numbers in (("groups 1 and 2", (1, 2)), ("groups 3 and 4", (3, 4)))
        }
        found.append((f"{kind}, tcp, halves", "packets sent by a flow", halves))
        found.append((kind, "Jain's index of packets sent", {name: fairness(some[name]) for name in some}))
    return found


def measure_figure_5(context: Context) -> Grid:
    """Tabulate the packets sent with other numbers of flows."""
    rows: list[tuple[Cell, ...]] = []
    apart: dict[str, list[float]] = {kind: [] for kind in TYPES}
    for words, types in {"187.5 kbit/s each": TYPES, **OTHERS}.items():
        names = SCHEMES if types is TYPES else ("xfwa",)
        for (kind, name), runs in by_type(context, types, names).items():
            about = (kind, words, f"{types[kind].flows}", LABELS[name])
            rows.append((*about, *means(runs).values(), fairness(runs), over(map(busy, runs))))
            if name == "xfwa":
                apart[kind].append(spread(runs))
            if name == "xfwa" and types is TYPES:
                context.fact(f"{kind}, windows", f"{_expected(types[kind], runs):.0f}")
    for kind, found in apart.items():
        context.fact(kind, span(found))
    return Grid(
        "Packets that a flow got through in 20 s, with other numbers of flows; mean and 95 % interval",
        (
            "link",
            "share",
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
    with picture(path, (11, 4.8)) as figure:
        runs = by_scheme(context)
        panels = figure.subplots(1, len(runs), sharey=True)
        times = np.arange(0.0, END_S, 0.05)
        for axes, (name, some) in zip(panels, runs.items(), strict=True):
            for one, style in zip(some, styles(), strict=False):
                for number, colour in zip(NUMBERS, CYCLE, strict=False):
                    for place, reached in enumerate(one.acked(number, times)):
                        words = f"{WORDS[number]}, {1e3 * ROUND_TRIPS_S[number]:.0f} ms"
                        label = words if place == 0 and one is some[0] else None
                        axes.plot(times, reached, color=colour, label=label, **style)
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
            for offset, name in zip((-0.2, 0.2), SCHEMES, strict=True):
                some = runs[kind, name]
                for number in NUMBERS:
                    each = [segments(flow) for flow in flows(some[0], f"group{number}")]
                    around = np.linspace(-0.1, 0.1, len(each)) + number + offset
                    axes.plot(around, each, ".", ms=2, color=COLOURS[name], alpha=0.5)
                places = [number + offset for number in NUMBERS]
                values = list(means(some).values())
                curve(
                    axes, places, values, color=COLOURS[name], label=LABELS[name], ls="none", ms=5, capsize=3
                )
            axes.set_title(f"{kind}: {about.mbps:g} Mbit/s, {about.flows} flows")
            axes.set_xticks(NUMBERS)
            axes.set_xlabel("group")
            axes.set_ylim(bottom=0)
        panels[0].set_ylabel("packets in 20 s; dots: flows of one run")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(SCHEMES))
