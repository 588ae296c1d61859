"""How a scheme repairs losses: what it sends again, and how long it takes, out of a run's time series."""

from dataclasses import dataclass

import numpy as np

from bentpipe.plot import Subject
from bentpipe.reproduction import Context, Settings
from bentpipe.results import mean

from .runs import LABELS, SCHEMES, scheme_settings

FLOW = "transfer"


@dataclass(frozen=True)
class Recovery:
    """The first loss of a run and its repair.

    `again_s` is the time of each retransmission up to the end of the repair, `whole_s` when everything sent
    before the first of them was acknowledged (``None`` if it never was), `rtt_s` the round trip of an empty
    path.
    """

    again_s: tuple[float, ...]
    whole_s: float | None
    rtt_s: float
    timeouts: int

    @property
    def round_trips(self) -> float | None:
        """How many round trips the repair took."""
        return None if self.whole_s is None else (self.whole_s - self.again_s[0]) / self.rtt_s

    def resent_in(self, round_trip: int) -> int:
        """Give the number of retransmissions in that round trip after the first one, counted from 1."""
        since = (np.array(self.again_s) - self.again_s[0]) / self.rtt_s
        return int(np.count_nonzero((since >= round_trip - 1) & (since < round_trip)))


def subjects(context: Context, scenario: str, settings: Settings | None = None) -> dict[str, Subject]:
    """Run a scenario with its time series under each scheme."""
    return {
        scheme: context.trace(scenario, {**scheme_settings(scheme), **(settings or {})}, title=LABELS[scheme])
        for scheme in SCHEMES
    }


def recovery(subject: Subject) -> Recovery:
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
        # The first sample is the SYN's, which is shorter.
        rtt_s=float(subject.traces.get(FLOW, "rtt").value[1]),
        timeouts=int(mean(subject.run["flows"][0]["timeouts"]) or 0),
    )


def lost_at_end(subject: Subject) -> int:
    """Give the number of segments that were dropped and not sent again when the run ends."""
    dropped, again = subject.traces.get(FLOW, "dropped"), subject.traces.get(FLOW, "resent")
    acked = float(subject.traces.get(FLOW, "acked").value.max())
    missing = set(dropped.value[dropped.value >= acked].tolist()) - set(again.value.tolist())
    return len(missing)


def position_of_first_retransmission(subject: Subject) -> int:
    """Give the place, from 1, of the first retransmission among all data segments sent."""
    sent, again = subject.traces.get(FLOW, "sent"), subject.traces.get(FLOW, "resent")
    return int(np.count_nonzero(sent.time_s < again.time_s[0])) + 1


def window_after(subject: Subject, seconds: float) -> float:
    """Give cwnd, in segments of the run's first payload, `seconds` after the first retransmission."""
    start = subject.traces.get(FLOW, "resent").time_s[0]
    cwnd = subject.traces.get(FLOW, "cwnd")
    segment = float(np.diff(np.unique(subject.traces.get(FLOW, "sent").value)).min())
    return float(cwnd.value[np.searchsorted(cwnd.time_s, start + seconds, side="right") - 1]) / segment
