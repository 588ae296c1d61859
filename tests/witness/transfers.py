"""Transfers as ns-2 and as bentpipe make them, in one form."""

import csv
import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from patterns import PATTERNS, SEGMENTS, VARIANTS, WINDOW, WITH_OPTIONS, Pattern

from bentpipe import _core
from bentpipe.runs.recording import MemoryRecorder
from bentpipe.runs.subjects import Subjects

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "golden"
NS2_PROGRAM = HERE / "ns2.tcl"
SEGMENT_BYTES = 1000
# One tick of either sender's retransmission timer.
SAME_TIME_S = 0.010

SCENARIO = """\
title = "{variant} with segments {drops} lost"
seed = 1

[links.access]
from = "s"
to = "g"
rate = "8 Mbit/s"
delay = "0.1 ms"

[links.bottleneck]
from = "g"
to = "d"
rate = "0.8 Mbit/s"
delay = "100 ms"
loss = {{ model = "drop", packets = {drops}, at_least = "500 B" }}

[tcp]
profile = "ns2"
mss = "{segment_bytes} B"
receive_window = "{window} segments"
initial_ssthresh = "{window} segments"
limited_transmit = {limited_transmit}
rto = {{ initial = "3 s", min = "1 s", max = "60 s", granularity = "10 ms" }}
{options}

[flows.flow]
from = "s"
to = "d"
bytes = "{total_bytes} B"
variant = "{variant}"
"""


@dataclass(frozen=True)
class Send:
    """One data segment leaves the sender; segments count from 1, cwnd (of ns-2) is as after the event."""

    time_s: float
    segment: int
    retransmission: bool
    cwnd_segments: float | None = None

    def matches(self, other: "Send") -> bool:
        """Tell whether both send the same."""
        return (self.segment, self.retransmission) == (other.segment, other.retransmission)


@dataclass(frozen=True)
class Transfer:
    """What the sender did, in order, and how often its timer expired."""

    sends: tuple[Send, ...]
    timeouts: int

    @property
    def resent(self) -> tuple[int, ...]:
        """The segments sent again, in order."""
        return tuple(send.segment for send in self.sends if send.retransmission)


@dataclass(frozen=True)
class Difference:
    """Where two transfers part: `kind` is "what" (another order) or "when" (the same order, other times)."""

    kind: str
    segment: int
    time_s: float


def difference(theirs: Transfer, ours: Transfer) -> Difference | None:
    """Find the first difference; none if both do the same in the same order, each within a timer tick."""
    apart: Difference | None = None
    for one, other in zip_longest(theirs.sends, ours.sends):
        here = one or other
        if one is None or other is None or not one.matches(other):
            first = apart or Difference("what", here.segment, here.time_s)
            return Difference("what", first.segment, first.time_s)
        if apart is None and abs(one.time_s - other.time_s) > SAME_TIME_S:
            apart = Difference("when", one.segment, one.time_s)
    return apart


def numbered(sends: Iterable[tuple[float, int, float]]) -> tuple[Send, ...]:
    """Mark as a retransmission what is not beyond every segment sent before."""
    highest = 0
    marked = []
    for time_s, segment, cwnd in sends:
        marked.append(Send(time_s, segment, segment <= highest, cwnd))
        highest = max(highest, segment)
    return tuple(marked)


def run_bentpipe(variant: str, pattern: Pattern, folder: Path) -> Transfer:
    """Make the transfer here; `folder` takes the scenario."""
    path = folder / f"{variant}-{pattern.name}.toml"
    name, options = WITH_OPTIONS.get(variant, (variant, ""))
    text = SCENARIO.format(
        variant=name,
        options=f"{name} = {{ {options} }}" if options else "",
        drops=list(pattern.drops),
        segment_bytes=SEGMENT_BYTES,
        total_bytes=SEGMENTS * SEGMENT_BYTES,
        window=WINDOW,
        limited_transmit=json.dumps(pattern.limited_transmit),
    )
    path.write_text(text)
    scenario = _core.Scenario(str(path), [])
    recorder = MemoryRecorder(Subjects.of(scenario))
    result = scenario.simulate(series=recorder)
    traces = recorder.traces()
    sends = [
        Send(float(time_s), int(sequence) // SEGMENT_BYTES + 1, kind == "resent")
        for kind in ("sent", "resent")
        for trace in [traces.get("flow", kind)]
        for time_s, sequence in zip(trace.time_s, trace.value, strict=True)
    ]
    # What leaves at one instant leaves in the order of its numbers: what is resent lies below what is new.
    sends.sort(key=lambda send: (send.time_s, send.segment))
    return Transfer(tuple(sends), json.loads(result.json())["flows"][0]["timeouts"])


def run_ns2(variant: str, pattern: Pattern) -> Transfer:
    """Make the transfer in ns-2."""
    numbers = [SEGMENTS, WINDOW, int(pattern.limited_transmit), *pattern.drops]
    command = ["ns", str(NS2_PROGRAM), variant, *map(str, numbers)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    sends = []
    timeouts = 0
    for line in lines:
        fields = line.split()
        if fields[0] == "send" and fields[2] != "0":
            sends.append((float(fields[1]), int(fields[2]), float(fields[3])))
        elif fields[0] == "end":
            timeouts = int(fields[2])
    return Transfer(numbered(sends), timeouts)


def write_golden(variant: str, transfers: Mapping[str, Transfer]) -> None:
    """Keep ns-2's transfers of a variant, a line a transmission."""
    with (GOLDEN / f"{variant}.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["pattern", "timeouts", "time_s", "segment", "retransmission", "cwnd_segments"])
        for pattern, transfer in transfers.items():
            for send in transfer.sends:
                again = int(send.retransmission)
                row = [f"{send.time_s:.4f}", send.segment, again, f"{send.cwnd_segments:.2f}"]
                writer.writerow([pattern, transfer.timeouts, *row])


def read_golden(variant: str) -> dict[str, Transfer]:
    """Give ns-2's transfers of a variant by pattern, as kept."""
    sends: dict[str, list[tuple[float, int, float]]] = {}
    timeouts: dict[str, int] = {}
    with (GOLDEN / f"{variant}.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            one = (float(row["time_s"]), int(row["segment"]), float(row["cwnd_segments"]))
            sends.setdefault(row["pattern"], []).append(one)
            timeouts[row["pattern"]] = int(row["timeouts"])
    return {pattern: Transfer(numbered(sends[pattern]), timeouts[pattern]) for pattern in sends}


def update_goldens() -> None:
    """Run ns-2 on every pattern and keep what it does."""
    for variant in VARIANTS:
        write_golden(variant, {pattern.name: run_ns2(variant, pattern) for pattern in PATTERNS})
