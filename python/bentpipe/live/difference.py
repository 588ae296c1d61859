"""A scenario over a kernel's TCP and over ours, packet by packet: the first segment that differs."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from bentpipe.errors import InputError
from bentpipe.live.packets import Packet, packets
from bentpipe.live.testbed import SIMULATED, kernels_name, our_name, plan_of, with_the_kernels_tcp
from bentpipe.live.virtual.kernel import find
from bentpipe.runs.result import Result
from bentpipe.runs.runner import run
from bentpipe.scenario import Scenario

STATE = {"cwnd": "B", "ssthresh": "B", "flight": "B", "rtt": "s", "rto": "s", "pacing_rate": "bit/s"}
"""What of a sender's state is told beside a segment, with its unit.

A kernel's is that of TCP_INFO, whose round-trip time is smoothed; ours is the newest sample.
"""
_SIDES = ("kernel", "simulator")
_OLDER = (6, 18)
"""Kernels before this one have another receive buffer than profile linux."""
_SEGMENT = "2176 B"
"""What a segment takes of the receive buffer of a virtual kernel (`receive_small` of virtio_net)."""
_BEFORE = 3
"""So many packets that are alike are told before the one that differs."""


Stream = tuple[int, bool]
"""Segments of a connection that its data's host sends, or that come to it: two orders, each its own."""


@dataclass(frozen=True)
class Side:
    """A run, and its packets at the hosts that data comes from."""

    result: Result
    packets: Sequence[Packet]

    @staticmethod
    def of(scenario: Scenario, *, states: bool = True, progress: bool = False) -> "Side":
        """Run a scenario, with the states of its senders if those are wanted."""
        with tempfile.TemporaryDirectory() as folder:
            capture = Path(folder) / "capture"
            series = [f"*:{','.join(STATE)}"] if states else False
            result = run(scenario, pcap=capture, pcap_limit=None, series=series, progress=progress)
            return Side(result, packets(capture))

    def streams(self) -> dict[Stream, list[Packet]]:
        """Give the segments of each connection, those sent and those that came."""
        found: dict[Stream, list[Packet]] = {}
        for packet in self.packets:
            found.setdefault((packet.connection, packet.sent), []).append(packet)
        return found

    def state(self, flow: str, at_s: float) -> dict[str, float | None]:
        """Give the state of a flow's sender at a time, null where there is none."""
        found: dict[str, float | None] = dict.fromkeys(STATE)
        for kind in STATE:
            curve = self.result.series.get(flow, kind)
            place = int(np.searchsorted(curve.time_s, at_s, side="right")) - 1
            if place >= 0 and np.isfinite(curve.value[place]):
                found[kind] = float(curve.value[place])
        return found


@dataclass(frozen=True)
class Difference:
    """Where two runs part: at the segment of this number, from 1, among those of its kind."""

    flow: str
    sent: bool
    number: int
    pairs: Sequence[tuple[Packet | None, Packet | None]]
    """The segment on either side, the kernel's first, behind the last ones that are alike; none where a side
    has no more."""
    states: tuple[Mapping[str, float | None], Mapping[str, float | None]]
    """Of the flow's sender at that time, the kernel's first."""

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        pairs = [
            {name: packet and asdict(packet) for name, packet in zip(_SIDES, pair, strict=True)}
            for pair in self.pairs
        ]
        states = dict(zip(_SIDES, self.states, strict=True))
        return {
            "flow": self.flow,
            "direction": "sent" if self.sent else "received",
            "number": self.number,
            "segments": pairs,
            "states": states,
        }


def first_difference(flows: Sequence[str], kernel: Side, ours: Side) -> Difference | None:
    """Find the first segment, by its time, that one side has otherwise; none where all are alike.

    `flows` names each connection.
    """
    theirs, own = kernel.streams(), ours.streams()
    found: list[tuple[float, Stream, int]] = []
    for stream in theirs.keys() | own.keys():
        pair = theirs.get(stream, []), own.get(stream, [])
        for place, (one, other) in enumerate(zip_longest(*pair)):
            if one is None or other is None or one.what != other.what:
                found.append((min(packet.at_s for packet in (one, other) if packet), stream, place))
                break
    if not found:
        return None
    _, stream, place = min(found)
    sides = theirs.get(stream, []), own.get(stream, [])
    shown = range(max(0, place - _BEFORE), place + 1)
    one, other = ([side[number] if number < len(side) else None for number in shown] for side in sides)
    flow = flows[stream[0]]
    times = [packet.at_s if packet else min(found)[0] for packet in (one[-1], other[-1])]
    states = kernel.state(flow, times[0]), ours.state(flow, times[1])
    return Difference(flow, stream[1], place + 1, list(zip(one, other, strict=True)), states)


def sides_of(scenario: Scenario, release: str) -> tuple[Scenario, Scenario, str]:
    """Give the scenario for Linux's TCP, the one for ours set as that is, and Linux's releases.

    A flow that has a kernel's variant keeps it; another gets the control that its own is of this `release`.

    Raises InputError: there is no flow over TCP, no virtual kernel, or a control that one of them has not.
    """
    flows = [flow for flow in plan_of(with_the_kernels_tcp(scenario)) if flow["tcp"] is not None]
    kernel: dict[str, object] = {"tcp.profile": "linux"}
    ours: dict[str, object] = {"tcp.profile": "linux"}
    releases = set()
    for flow in flows:
        name = flow["group"] or flow["name"]
        written = str(getattr(getattr(scenario.flows, name), "variant", ""))
        machine, _, control = written.rpartition(":")
        if machine:
            its_release = find(machine.removeprefix("linux").removeprefix("-") or None).release
        else:
            machine, control, its_release = f"linux-{release}", kernels_name(flow["control"]), release
        simulated = our_name(control)
        if simulated is None:
            raise InputError(
                f"flows.{name}: expected a control that the simulator has too, found {control!r}"
            )
        kernel[f"flows.{name}.variant"] = f"{machine}:{control}"
        ours |= {f"flows.{name}.control": simulated, f"flows.{name}.recovery": "rack"}
        ours |= SIMULATED.get(control, {})
        releases.add(its_release)
        if flow["tcp"]["receive_window"] is None:
            key = f"flows.{name}.tcp.receive_buffer"
            ours[f"{key}.segment"] = _SEGMENT
            if _number(its_release) < _OLDER:
                kernel[f"{key}.kernel"] = ours[f"{key}.kernel"] = '"6.12"'
    if not flows:
        raise InputError("live diff: expected a scenario with a flow over TCP")
    return scenario.with_(kernel), scenario.with_(ours), ", ".join(sorted(releases))


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("-")[0].split(".")[:2])
