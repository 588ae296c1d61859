"""How a scheme repairs losses: what it sends again, and how long it takes, out of a run's time series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bentpipe.plot import DrawnRun
from bentpipe.results import mean
from bentpipe_papers.reproduction.reproduce import Context, Settings

from .runs import LABELS

FLOW = "transfer"

_ROUNDING = 1e-6
"""In round trips: what is sent a round trip later belongs to the next one."""


@dataclass(frozen=True)
class Recovery:
    """The first loss of a run and its repair.

    `again_s` is the time of each retransmission up to the end of the repair, `whole_s` when everything sent
    before the first of them was acknowledged (``None`` if it never was), `end_s` the end of the run,
    `rtt_s` the round trip of an empty path.
    """

    again_s: tuple[float, ...]
    whole_s: float | None
    end_s: float
    rtt_s: float
    timeouts: int

    @property
    def round_trips(self) -> float | None:
        """How many round trips the repair took."""
        return None if self.whole_s is None else (self.whole_s - self.again_s[0]) / self.rtt_s

    @property
    def took_s(self) -> float:
        """How long the repair took, or until the end of the run where it was not through by then."""
        return (self.end_s if self.whole_s is None else self.whole_s) - self.again_s[0]

    def resent_in(self, round_trip: int) -> int:
        """Give the number of retransmissions in that round trip after the first one, counted from 1."""
        since = (np.array(self.again_s) - self.again_s[0]) / self.rtt_s + _ROUNDING
        return int(np.count_nonzero((since >= round_trip - 1) & (since < round_trip)))


def subjects(context: Context, scenario: str, settings: Mapping[str, Settings]) -> dict[str, DrawnRun]:
    """Run a scenario with its time series under each scheme, with the settings of each."""
    return {
        scheme: context.trace(scenario, changes, title=LABELS[scheme]) for scheme, changes in settings.items()
    }


def recovery(subject: DrawnRun) -> Recovery:
    """Find the first repair in a run that has one."""
    sent, again, acked = (subject.traces.get(FLOW, kind) for kind in ("sent", "resent", "acked"))
    start = again.time_s[0]
    highest = sent.value[sent.time_s <= start].max()
    ends = acked.time_s[(acked.time_s > start) & (acked.value > highest)]
    whole = float(ends[0]) if len(ends) else None
    during = again.time_s if whole is None else again.time_s[again.time_s < whole]
    return Recovery(
        again_s=tuple(float(time) for time in during),
        whole_s=whole,
        end_s=float(mean(subject.run["duration_s"]) or 0.0),
        rtt_s=float(subject.traces.get(FLOW, "rtt").value[0]),
        timeouts=int(mean(subject.run["flows"][0]["timeouts"]) or 0),
    )


def missing(subject: DrawnRun) -> tuple[int, ...]:
    """Give the first bytes of the segments that a queue dropped or a link lost."""
    gone = (subject.traces.get(FLOW, kind).value for kind in ("dropped", "damaged"))
    return tuple(sorted({int(byte) for values in gone for byte in values}))


def lost_at_end(subject: DrawnRun) -> int:
    """Give the number of segments that were lost and not sent again when the run ends."""
    again = set(subject.traces.get(FLOW, "resent").value.tolist())
    acked = float(subject.traces.get(FLOW, "acked").value.max())
    return sum(byte >= acked and byte not in again for byte in missing(subject))


def most_resent_in_a_round_trip(subject: DrawnRun) -> int:
    """Give the most lost segments that were sent again within one round trip of an empty path."""
    again = subject.traces.get(FLOW, "resent")
    lost = set(missing(subject))
    times = np.array([time for time, byte in zip(again.time_s, again.value, strict=True) if byte in lost])
    within_s = recovery(subject).rtt_s * (1 - _ROUNDING)
    return max(int(np.count_nonzero((times >= start) & (times < start + within_s))) for start in times)


def new_before_known_losses(subject: DrawnRun) -> int:
    """Give the number of new segments sent in the first repair while a hole below reported data waited."""
    repair = recovery(subject)
    sent, again = (subject.traces.get(FLOW, kind) for kind in ("sent", "resent"))
    reported = subject.traces.get(FLOW, "sack_end")
    until = repair.whole_s or repair.end_s
    count = 0
    for time in sent.time_s[(sent.time_s > repair.again_s[0]) & (sent.time_s < until)]:
        highest = reported.value[reported.time_s <= time].max(initial=0)
        repeated = set(again.value[again.time_s <= time].tolist())
        count += any(byte < highest and byte not in repeated for byte in missing(subject))
    return count


def sent_between(subject: DrawnRun, start_s: float, end_s: float) -> int:
    """Give the number of segments sent, new or again, after one time and before another."""
    times = np.concatenate([subject.traces.get(FLOW, kind).time_s for kind in ("sent", "resent")])
    return int(np.count_nonzero((times > start_s) & (times < end_s)))


def longest_pause(subject: DrawnRun) -> tuple[float, float]:
    """Give the longest time in the first repair in which nothing was sent."""
    repair = recovery(subject)
    until = repair.whole_s or repair.end_s
    times = np.concatenate([subject.traces.get(FLOW, kind).time_s for kind in ("sent", "resent")])
    during: Sequence[float] = sorted(float(t) for t in times if repair.again_s[0] <= t <= until)
    return max(pairwise(during), key=lambda pause: pause[1] - pause[0], default=(0.0, 0.0))


def position_of_first_retransmission(subject: DrawnRun) -> int:
    """Give the place, from 1, of the first retransmission among all data segments sent."""
    sent, again = subject.traces.get(FLOW, "sent"), subject.traces.get(FLOW, "resent")
    return int(np.count_nonzero(sent.time_s < again.time_s[0])) + 1


def _segment(subject: DrawnRun) -> float:
    return float(np.diff(np.unique(subject.traces.get(FLOW, "sent").value)).min())


def window_after(subject: DrawnRun, seconds: float) -> float:
    """Give cwnd, in segments of the run's first payload, `seconds` after the first retransmission."""
    start = subject.traces.get(FLOW, "resent").time_s[0]
    cwnd = subject.traces.get(FLOW, "cwnd")
    return float(cwnd.value[np.searchsorted(cwnd.time_s, start + seconds, side="right") - 1]) / _segment(
        subject
    )


def largest_window_in_repair(subject: DrawnRun) -> float:
    """Give the largest cwnd of the first repair, in segments."""
    repair = recovery(subject)
    cwnd = subject.traces.get(FLOW, "cwnd")
    until = repair.whole_s or repair.end_s
    during = cwnd.value[(cwnd.time_s >= repair.again_s[0]) & (cwnd.time_s < until)]
    return float(during.max()) / _segment(subject)


def round_trips_to_window(subject: DrawnRun, segments: float) -> float | None:
    """Give the round trips from the first retransmission until cwnd is that large again."""
    repair = recovery(subject)
    cwnd = subject.traces.get(FLOW, "cwnd")
    reached = cwnd.time_s[
        (cwnd.time_s > repair.again_s[0]) & (cwnd.value >= segments * _segment(subject) * (1 - 1e-9))
    ]
    return (float(reached[0]) - repair.again_s[0]) / repair.rtt_s if len(reached) else None
