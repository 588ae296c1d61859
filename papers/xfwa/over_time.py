"""What flows and the bottleneck did, moment by moment."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bentpipe.plot import DrawnRun

from .runs import PACKET, PAYLOAD

Series = NDArray[np.float64]


def acked(subject: DrawnRun, name: str, times_s: Series) -> Series:
    """Give the segments of a flow that were acknowledged by each time."""
    trace = subject.traces.get(name, "acked")
    places = np.searchsorted(trace.time_s, times_s, side="right")
    reached: Series = np.concatenate([[0.0], trace.value])[places] / PAYLOAD
    return reached


def flight(subject: DrawnRun, name: str, start_s: float, end_s: float) -> float:
    """Give the mean of what a flow has under way, in kB."""
    trace = subject.traces.get(name, "flight")
    places = np.searchsorted(trace.time_s, np.arange(start_s, end_s, 0.002), side="right")
    return float(np.concatenate([[0.0], trace.value])[places].mean()) / 1e3


@dataclass(frozen=True)
class Bottleneck:
    """A link that sends full packets, found again from its queue: when each was taken and begun."""

    taken_s: Series
    begun_s: Series
    service_s: float

    @classmethod
    def of(cls, subject: DrawnRun, name: str, rate_bps: float) -> "Bottleneck":
        """Find it from a run with its series."""
        trace = subject.traces.get(name, "queue")
        change = np.diff(trace.value, prepend=0.0)
        # A packet that does not wait has one row, and changes nothing.
        taken, begun = change >= 0.0, change <= 0.0
        return cls(trace.time_s[taken], trace.time_s[begun], 8 * PACKET / rate_bps)

    def busy_until(self, times_s: Series) -> Series:
        """Give the seconds that the link had been sending by each time."""
        counts = np.searchsorted(self.begun_s, times_s, side="right")
        last = self.begun_s[np.maximum(counts - 1, 0)]
        current = np.where(counts > 0, np.minimum(times_s - last, self.service_s), 0.0)
        busy: Series = np.maximum(counts - 1, 0) * self.service_s + current
        return busy

    def utilization(self, edges_s: Series) -> Series:
        """Give the share of each interval between two edges in which the link was sending."""
        share: Series = np.diff(self.busy_until(edges_s)) / np.diff(edges_s)
        return np.minimum(share, 1.0)

    def queue(self, times_s: Series) -> Series:
        """Give the packets that wait at each time, the one being sent not counted."""
        taken = np.searchsorted(self.taken_s, times_s, side="right")
        begun = np.searchsorted(self.begun_s, times_s, side="right")
        return (taken - begun).astype(np.float64)

    def longest_idle(self, start_s: float, end_s: float) -> float:
        """Give the longest time without a packet between two times, in s."""
        ends = self.begun_s + self.service_s
        gaps = self.begun_s[1:] - ends[:-1]
        inside = gaps[(ends[:-1] >= start_s) & (self.begun_s[1:] <= end_s)]
        return float(inside.max()) if len(inside) else 0.0
