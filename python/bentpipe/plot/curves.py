"""Curves as a picture needs them: cut to what it shows, without points that nobody sees, and as bands."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bentpipe.plot.run import DrawnRun
from bentpipe.runs.traces import Phase, Trace
from bentpipe.show.scales import short_step

Values: TypeAlias = NDArray[np.float64]

_COLUMNS, _ROWS = 2400, 1600
"""Finer than the pixels of a panel: what falls into the same cell cannot be told apart."""

_SAMPLES = 600
_NOTHING: Values = np.empty(0)


@dataclass(frozen=True)
class Band:
    """Over `time_s`: the median of many curves, and between what the middle 90 % of them lie."""

    time_s: Values
    lower: Values
    median: Values
    upper: Values


class Curves:
    """The curves of one run from `start` to `end`, in seconds."""

    def __init__(self, subject: DrawnRun, start: float, end: float) -> None:
        self.start, self.end = start, end
        self.bin_s = short_step((end - start) / 150)
        """Over how long the goodput is averaged: a 150th of what is shown, or somewhat more."""
        self._edges = np.arange(start, end + self.bin_s / 1e3, self.bin_s)
        self._traces = subject.traces.between(start, end)
        self._curves = {(trace.subject, trace.kind): trace for trace in self._traces if len(trace.time_s)}
        self._connections: dict[str, list[str]] = {}
        for name, kind in self._curves:
            # Behind the name of a flow stands the number of the connection if it may have several.
            flow, _, number = name.partition("/")
            if kind in ("cwnd", "sent") and (not number or number.isdigit()):
                connections = self._connections.setdefault(flow, [])
                if name not in connections:
                    connections.append(name)

    def connections(self, flow: str) -> list[str]:
        """Give the names under which a flow's curves stand; none if it sent nothing."""
        return self._connections.get(flow, [])

    def has(self, name: str, kind: str) -> bool:
        """Say whether there is such a curve."""
        return (name, kind) in self._curves

    def has_kind(self, kind: str) -> bool:
        """Say whether there is a curve of this kind."""
        return any(each == kind for _, each in self._curves)

    def has_phases(self, flow: str) -> bool:
        """Say whether a connection of the flow was in a phase."""
        return any(self.phases(name) for name in self.connections(flow))

    def phases(self, name: str) -> list[Phase]:
        """Give the phases that a connection was in."""
        if not self.has(name, "phase"):
            return []
        cut = (
            Phase(phase.name, max(phase.start_s, self.start), min(phase.end_s, self.end))
            for phase in self._traces.phases(name)
        )
        return [phase for phase in cut if phase.end_s > phase.start_s]

    def number_of_phase(self, name: str) -> int:
        """Give the number of a phase: the same in every run."""
        return self._traces.subjects.phases.index(name)

    def held(self, name: str, kind: str) -> tuple[Values, Values]:
        """Give times and values of what keeps its value until the next point."""
        trace = self._curves.get((name, kind))
        if trace is None:
            return _NOTHING, _NOTHING
        end = min(self.end, self._over(name))
        first = max(int(np.searchsorted(trace.time_s, self.start, "right")) - 1, 0)
        last = int(np.searchsorted(trace.time_s, end, "right"))
        times = np.maximum(trace.time_s[first:last], self.start)
        values = np.where(np.isfinite(trace.value[first:last]), trace.value[first:last], np.nan)
        if len(times) > 0 and last < len(trace.time_s):
            times, values = np.append(times, end), np.append(values, values[-1])
        return self._thinned(times, values)

    def points(self, name: str, kind: str) -> tuple[Values, Values]:
        """Give times and values of what happened at moments."""
        trace = self._curves.get((name, kind))
        if trace is None:
            return _NOTHING, _NOTHING
        seen = self._seen(trace)
        times, values = trace.time_s[seen], trace.value[seen]
        places = self._cells(times, values)
        return times[places], values[places]

    def blocks(self, name: str) -> tuple[Values, Values, Values]:
        """Give times, first bytes and ends of the SACK blocks that arrived."""
        lower, upper = (self._curves.get((name, kind)) for kind in ("sack_start", "sack_end"))
        if lower is None or upper is None or len(lower.time_s) != len(upper.time_s):
            return _NOTHING, _NOTHING, _NOTHING
        seen = self._seen(lower)
        times, first, end = lower.time_s[seen], lower.value[seen], upper.value[seen]
        places = np.intersect1d(self._cells(times, end), self._cells(times, first))
        return times[places], first[places], end[places]

    def delivered(self, flow: str) -> tuple[Values, Values]:
        """Give the bytes that were acknowledged over all connections of a flow; over UDP, were sent."""
        connections = self.connections(flow)
        if len(connections) == 1:
            return self.held(connections[0], self._progress(connections[0]))
        times = self._moments()
        return times, self._delivered(flow, times)

    def goodput(self, flow: str) -> tuple[Values, Values]:
        """Give the rate at which a flow's bytes were acknowledged, in bits a second, in steps of `bin_s`."""
        carried = np.diff(np.nan_to_num(self._delivered(flow, self._edges)))
        rates = 8.0 * carried / self.bin_s
        return self._edges, np.append(rates, rates[-1:])

    def goodput_band(self, flows: Sequence[str]) -> Band | None:
        """Give the band of the rates of those of the `flows` that go over TCP; ``None`` if none does."""
        over_tcp = [flow for flow in flows if any(self.has(name, "acked") for name in self.connections(flow))]
        return _band(self._edges, [self.goodput(flow)[1] for flow in over_tcp])

    def band(self, flows: Sequence[str], kind: str) -> Band | None:
        """Give the band of one kind of curve over all connections of `flows`; ``None`` if there is none."""
        names = [name for flow in flows for name in self.connections(flow) if self.has(name, kind)]
        times = self._moments()
        held = ((self._over(name), _sampled(self._curves[name, kind], times)) for name in names)
        return _band(times, [np.where(times <= over, values, np.nan) for over, values in held])

    def delivered_band(self, flows: Sequence[str]) -> Band | None:
        """Give the band of the bytes that the `flows` delivered; ``None`` if none sent anything."""
        times = self._moments()
        return _band(times, [self._delivered(flow, times) for flow in flows if self.connections(flow)])

    def _over(self, name: str) -> float:
        """Give when the last segment or acknowledgment of one connection of several came.

        What is left of it then waits for a minute, and has a window that nobody uses.
        """
        if "/" not in name:
            return math.inf
        moved = (self._curves.get((name, kind)) for kind in ("sent", "resent", "acked"))
        return max((float(trace.time_s[-1]) for trace in moved if trace is not None), default=math.inf)

    def _moments(self) -> Values:
        return np.linspace(self.start, self.end, _SAMPLES)

    def _delivered(self, flow: str, times: Values) -> Values:
        total = np.zeros(len(times))
        for name in self.connections(flow):
            trace = self._curves.get((name, self._progress(name)))
            if trace is not None:
                total += np.nan_to_num(_sampled(trace, times))
        return total

    def _progress(self, name: str) -> str:
        return "acked" if self.has(name, "cwnd") else "sent"

    def _seen(self, trace: Trace) -> slice:
        first = np.searchsorted(trace.time_s, self.start, "left")
        last = np.searchsorted(trace.time_s, self.end, "right")
        return slice(int(first), int(last))

    def _thinned(self, times: Values, values: Values) -> tuple[Values, Values]:
        """Keep the first, last, lowest and highest of the points that fall into one column of pixels."""
        if len(times) <= 4 * _COLUMNS:
            return times, values
        columns = self._columns(times)
        starts = np.concatenate([[0], np.flatnonzero(np.diff(columns)) + 1])
        ends = np.append(starts[1:], len(times)) - 1
        ordered = np.lexsort((values, columns))
        places = np.unique(np.concatenate([starts, ends, ordered[starts], ordered[ends]]))
        return times[places], values[places]

    def _cells(self, times: Values, values: Values) -> NDArray[np.intp]:
        """Keep a point of each cell, where there are many."""
        if len(times) <= 4 * _COLUMNS:
            return np.arange(len(times))
        low, high = float(np.min(values)), float(np.max(values))
        rows = ((values - low) * (_ROWS / ((high - low) or 1.0))).astype(np.int64)
        return np.sort(np.unique(self._columns(times) * (_ROWS + 1) + rows, return_index=True)[1])

    def _columns(self, times: Values) -> NDArray[np.int64]:
        return ((times - self.start) * (_COLUMNS / (self.end - self.start))).astype(np.int64)


def _sampled(trace: Trace, times: Values) -> Values:
    """Give the value that a curve holds at each time; NaN before its first point."""
    index = np.searchsorted(trace.time_s, times, "right") - 1
    values = trace.value[np.maximum(index, 0)]
    return np.where((index >= 0) & np.isfinite(values), values, np.nan)


def _band(times: Values, sampled: Sequence[Values]) -> Band | None:
    if not sampled:
        return None
    ordered = np.sort(np.array(sampled), axis=0)
    present = np.sum(np.isfinite(ordered), axis=0)
    column = np.arange(len(times))

    # NaN is sorted to the end.
    def at(index: NDArray[np.int64]) -> Values:
        return np.where(present > 0, ordered[np.maximum(index, 0), column], np.nan)

    # As many are left out at each side as leave at least 90 %: of less than 20 curves none.
    aside = present // 20
    median = (at((present - 1) // 2) + at(present // 2)) / 2
    return Band(times, at(aside), median, at(present - 1 - aside))
