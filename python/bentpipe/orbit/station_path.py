"""The path between two stations over time: which satellites it takes, and its round trip."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bentpipe._core import Sky

Values: TypeAlias = NDArray[np.float64]


_ROUNDING = 1e-3
"""Share of a step by which a time may miss it."""


@dataclass(frozen=True)
class Stretch:
    """From `start_s` on the path has these nodes, none where there is no path, and these delays one way."""

    start_s: float
    nodes: tuple[int, ...]
    delays_s: Values


@dataclass(frozen=True)
class StationPath:
    """The path between two stations from the start up to `until_s`."""

    source: str
    to: str
    step_s: float
    until_s: float
    stretches: tuple[Stretch, ...]

    @classmethod
    def of(cls, sky: Sky, source: str, to: str, until_s: float) -> "StationPath":
        """Follow it by the scenario's rule."""
        rows = sky.follow(source, to, until_s)
        stretches = tuple(
            Stretch(start, tuple(nodes), np.array(delays, float) / 1e3) for start, nodes, delays in rows
        )
        return cls(source, to, sky.step_s, until_s, stretches)

    @property
    def name(self) -> str:
        """Both ends."""
        return f"{self.source} – {self.to}"

    def curve(self) -> tuple[Values, Values]:
        """Give times and round trips in s, which hold until the next; not a number without a path."""
        times: list[Values] = [np.empty(0)]
        values: list[Values] = [np.empty(0)]
        for stretch in self.stretches:
            delays = stretch.delays_s if stretch.nodes else np.full(1, np.nan)
            times.append(np.asarray(stretch.start_s + self.step_s * np.arange(len(delays)), float))
            values.append(2 * delays)
        if self.stretches and times[-1][-1] < self.until_s:
            times.append(np.array([self.until_s]))
            values.append(values[-1][-1:])
        return np.concatenate(times), np.concatenate(values)

    def round_trips(self) -> Values:
        """Give the round trip in s of each step that has a path."""
        found = [2 * stretch.delays_s for stretch in self.stretches if stretch.nodes]
        return np.concatenate([np.empty(0), *found])

    def summary(self) -> tuple[float, float, float] | None:
        """Give the least, median and largest of them, as a run's result has them; none without a path."""
        found = np.sort(self.round_trips())
        if not len(found):
            return None
        return float(found[0]), float(found[(len(found) - 1) // 2]), float(found[-1])

    def changes(self) -> list[float]:
        """Give the times of changes from one path to another."""
        taken = pairwise(stretch for stretch in self.stretches if stretch.nodes)
        return [after.start_s for before, after in taken if after.nodes != before.nodes]

    def gaps(self) -> list[tuple[float, float]]:
        """Give from when until when there is no path."""
        ends = [*(stretch.start_s for stretch in self.stretches[1:]), self.until_s]
        pieces = zip(self.stretches, ends, strict=True)
        return [
            (stretch.start_s, end) for stretch, end in pieces if not stretch.nodes and end > stretch.start_s
        ]

    def nodes_at(self, at_s: float) -> tuple[int, ...]:
        """Give the nodes of the path at a time; none without a path."""
        stretch = self._at(at_s)
        return stretch.nodes if stretch else ()

    def round_trip_at(self, at_s: float) -> float:
        """Give the round trip in s at a time; not a number without a path."""
        stretch = self._at(at_s)
        if stretch is None or not stretch.nodes:
            return math.nan
        number = int((at_s - stretch.start_s) / self.step_s + _ROUNDING)
        return 2 * float(stretch.delays_s[min(max(number, 0), len(stretch.delays_s) - 1)])

    def _at(self, at_s: float) -> Stretch | None:
        starts = [stretch.start_s for stretch in self.stretches]
        found = int(np.searchsorted(starts, at_s + _ROUNDING * self.step_s, "right")) - 1
        return self.stretches[found] if found >= 0 else None


def pairs(ends: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Give each pair of ends once, in whichever direction it came first."""
    found: dict[frozenset[str], tuple[str, str]] = {}
    for source, to in ends:
        found.setdefault(frozenset((source, to)), (source, to))
    return list(found.values())


def trace_of(path: StationPath, command: str = "") -> str:
    """Give the path as a trace that any link can follow: `time_s` and `delay_s` at each step.

    There is `loss` too, 1 without a path, if there is such a time. A delay is that of propagation one way;
    without a path it stays as it was.
    """
    gaps = bool(path.gaps())
    lines = [f"# {command}"] if command else []
    lines.append("time_s,delay_s,loss" if gaps else "time_s,delay_s")
    last = next((float(stretch.delays_s[0]) for stretch in path.stretches if stretch.nodes), 0.0)
    for stretch in path.stretches:
        if not stretch.nodes:
            lines.append(f"{_number(stretch.start_s)},{_number(last)},1")
        for step, delay in enumerate(stretch.delays_s):
            last = float(delay)
            row = f"{_number(stretch.start_s + step * path.step_s)},{_number(last)}"
            lines.append(f"{row},0" if gaps else row)
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".")
