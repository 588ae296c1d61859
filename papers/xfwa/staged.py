"""Flows that come and go through 1.5 Mbit/s, and what a run of them says."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bentpipe.plot import DrawnRun
from bentpipe.runs.statistics import jain
from bentpipe_papers.reproduction.reproduce import Context, Settings

from .over_time import Bottleneck, Series, acked
from .runs import BOTTLENECK, OTHER_BUFFERS_MS, SEEDS, STAGED, moments, scheme

NAMES = [f"connection{number}" for number in range(1, 9)]
LATE_S = 5.0
STARTS_S = dict.fromkeys(NAMES[4:], LATE_S)
RATE_BPS = 1.5e6
BUFFER = 11
"""Packets that the buffer holds."""

END_S = 20.0
CHANGES_S = (0.0, 5.0, 10.0, 15.0)
WORDS = {change: f"{change:g} to {change + 5:g} s" for change in CHANGES_S}


@dataclass(frozen=True)
class Staged:
    """One run with its series."""

    subject: DrawnRun

    @cached_property
    def bottleneck(self) -> Bottleneck:
        """Find what the bottleneck did."""
        return Bottleneck.of(self.subject, BOTTLENECK, RATE_BPS)

    def acked(self, name: str, times_s: Series) -> Series:
        """Give the segments acknowledged of a flow at each time."""
        return acked(self.subject, name, times_s)

    def sending(self, moment_s: float) -> list[str]:
        """Name the flows that send at a time."""
        return [name for name in NAMES if STARTS_S.get(name, 0.0) <= moment_s < ends_s(name)]

    def slope(self, name: str, start_s: float, end_s: float) -> float:
        """Give the progress of a flow in segments/s."""
        first, last = self.acked(name, np.array([start_s, end_s]))
        return float(last - first) / (end_s - start_s)

    def fairness(self, width_s: float = 1.0) -> Series:
        """Give Jain's index over what the flows that send had acknowledged in each interval."""
        edges = np.arange(0.0, END_S + width_s / 2, width_s)
        progress = {name: np.diff(self.acked(name, edges)) for name in NAMES}
        return np.array(
            [
                jain([float(progress[name][place]) for name in self.sending(edge)])
                for place, edge in enumerate(edges[:-1])
            ]
        )

    def dropped_s(self) -> list[tuple[float, str]]:
        """Give time and flow of each drop, in order."""
        drops = ((name, self.subject.traces.get(name, "dropped").time_s) for name in NAMES)
        return sorted((float(moment), name) for name, times in drops for moment in times)


def ends_s(name: str) -> float:
    """Give the time at which a flow ends."""
    number = NAMES.index(name) + 1
    return 10.0 if number in (3, 4) else 15.0 if number in (5, 6) else END_S


def staged_settings(seed: int) -> Settings:
    """Give the settings of one run: when the flows begin."""
    return moments(NAMES, seed, STARTS_S)


def staged(context: Context, settings: Settings, seeds: int = SEEDS) -> list[Staged]:
    """Run the staged flows so often, each time beginning at other moments."""
    return [
        Staged(context.trace(STAGED, {**settings, **staged_settings(seed)}, title="staged"))
        for seed in range(1, seeds + 1)
    ]


def by_scheme(context: Context, ours: str = "xfwa") -> dict[str, list[Staged]]:
    """Run them by standard TCP, and with XFWA or, as `ours`, with the other reading."""
    return {name: staged(context, scheme(name, STAGED)) for name in ("tcp", ours)}


def full_queue(one: Staged) -> float:
    """Give the median of the queue when a packet was dropped."""
    times = np.array([moment for moment, _ in one.dropped_s() if moment > 1.0])
    return float(np.median(one.bottleneck.queue(times)))


def room(context: Context) -> int:
    """Give the packets that the buffer holds, in the reading of the context."""
    others = (milliseconds for one, milliseconds in OTHER_BUFFERS_MS.items() if context.reads(one))
    return next((int(RATE_BPS * milliseconds / 8e6) for milliseconds in others), BUFFER)
