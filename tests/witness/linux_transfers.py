"""Transfers that our TCP and the kernel's send on the same drop patterns, as the sender's end saw them."""

import struct
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linux_wire import transfer

SEGMENTS = 64
SEGMENT_BYTES = 1000
RECOVERIES = ("sack", "newreno", "rack", "rack with cubic")
TIMESTAMPS_BYTES = 12
AT_A_TIME = 12


@dataclass(frozen=True)
class Pattern:
    """Data packets, and packets of the other way, that the path loses: the n-th to enter it, from 1."""

    name: str
    drops: tuple[int, ...]
    what: str
    ack_drops: tuple[int, ...] = ()


# With ten segments at first, cwnd is 23 when segment 14 is found lost, with 15 to 36 behind it; limited
# transmit sends 37 and 38, and the 39th packet is the retransmission of 14. On the other way the first
# packet is the SYN-ACK, and the next acknowledges segment 1.
PATTERNS = (
    Pattern("one", (14,), "one segment of a window"),
    Pattern("three", (14, 20, 26), "three segments of a window"),
    Pattern("five", (14, 17, 20, 23, 26), "five segments of a window"),
    Pattern("burst", (14, 15, 16, 17, 18), "five adjacent segments"),
    Pattern("lost-retransmission", (14, 39), "a segment and its retransmission"),
    Pattern("last-segment", (64,), "the last segment, with none behind it"),
    Pattern("last-two", (63, 64), "the last two segments"),
    Pattern("ack-run", (), "the ACKs of segments 14 to 21", tuple(range(15, 23))),
    Pattern("last-acks", (), "the ACKs of the last five segments", tuple(range(61, 66))),
)
BY_NAME = {pattern.name: pattern for pattern in PATTERNS}


@dataclass(frozen=True)
class Transfer:
    """The sender's data segments in order, from 1, and its state when everything was over."""

    sends: tuple[int, ...]
    timeouts: int
    cwnd_segments: float
    ssthresh_segments: float | None

    @property
    def resent(self) -> tuple[int, ...]:
        """The segments sent again, in order."""
        seen: set[int] = set()
        again = []
        for segment in self.sends:
            if segment in seen:
                again.append(segment)
            seen.add(segment)
        return tuple(again)


def settings(recovery: str, direction: str, pattern: Pattern) -> dict[str, Any]:
    """Give what the Rust side is told: both senders have the same path, windows and kind of receiver."""

    def way(drops: tuple[int, ...], at_least: str) -> dict[str, Any]:
        loss = {"model": "drop", "packets": drops, "at_least": at_least} if drops else {"model": "none"}
        return {"rate": "2 Mbit/s", "delay": "100 ms", "loss": loss}

    return {
        "recovery": recovery.split()[0],
        "control": "cubic" if recovery.endswith("cubic") else "standard",
        "kernel_control": "cubic" if recovery.endswith("cubic") else "reno",
        "timestamps": recovery.startswith("rack"),
        "direction": direction,
        "bytes": f"{SEGMENTS * SEGMENT_BYTES} B",
        "forward": way(pattern.drops, "100 B"),
        "backward": way(pattern.ack_drops, "0 B"),
        # A program that reads while data arrives makes the kernel acknowledge several segments at a time.
        "reading": {"pause_after": "1 B", "pause": "2.5 s"},
    }


def sysctl(recovery: str) -> dict[str, str]:
    """Give the kernel's settings: beside `rack` those that it has by default."""
    by_default = recovery.startswith("rack")
    return {
        "tcp_early_retrans": "3" if by_default else "0",
        "tcp_frto": "2" if by_default else "0",
        "tcp_recovery": "1" if by_default else "0",
        "tcp_timestamps": "1" if by_default else "0",
        "tcp_sack": str(int(recovery != "newreno")),
        # Room for all of the data: neither program ever lets TCP wait.
        "tcp_rmem": "4096 1048576 4194304",
        "tcp_wmem": "4096 1048576 4194304",
    }


def run(recovery: str, direction: str, pattern: Pattern, folder: Path) -> Transfer:
    """Make a transfer, from our end (``send``) or the kernel's (``receive``); `folder` takes the packets."""
    capture = folder / f"{recovery}-{direction}-{pattern.name}.pcapng"
    row = transfer(
        SEGMENT_BYTES + (TIMESTAMPS_BYTES if recovery.startswith("rack") else 0),
        settings(recovery, direction, pattern),
        route={"rto_min": "1s"},
        sysctl=sysctl(recovery),
        pcap=str(capture),
    )
    if direction == "send":
        timeouts, state = row["timeouts"], row
    else:
        timeouts, state = row["kernel_timeouts"], row["kernel_info"]
    return Transfer(
        tuple(data_segments(capture.read_bytes())),
        timeouts,
        state["cwnd_segments"],
        state["ssthresh_segments"],
    )


def run_pairs(
    pairs: Iterable[tuple[str, Pattern]], folder: Path
) -> dict[tuple[str, str], dict[str, Transfer]]:
    """Give both transfers, by direction, of each recovery and pattern; several at a time."""
    wanted = [(recovery, pattern, way) for recovery, pattern in pairs for way in ("send", "receive")]
    found: dict[tuple[str, str], dict[str, Transfer]] = {}
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        made = pool.map(lambda one: run(one[0], one[2], one[1], folder), wanted)
        for (recovery, pattern, way), one in zip(wanted, made, strict=True):
            found.setdefault((recovery, pattern.name), {})[way] = one
    return found


def data_segments(capture: bytes) -> Iterator[int]:
    """Give the numbers of the segments with payload of a capture, in order; all data goes one way."""
    first = None
    for packet in _packets(capture):
        header = (packet[0] & 15) * 4
        length = struct.unpack_from(">H", packet, 2)[0]
        sequence, offset, flags = struct.unpack_from(">4xI4xBB", packet, header)
        payload = length - header - (offset >> 4) * 4
        if flags & 2 and not flags & 16:
            first = sequence + 1
        elif payload > 0 and first is not None:
            # Named by its last byte: a rescue retransmission may begin behind its segment's first.
            last = (sequence - first + payload - 1) % 2**32
            yield last // SEGMENT_BYTES + 1


def _packets(capture: bytes) -> Iterator[bytes]:
    """Give the packets of a pcapng file of this machine's byte order: its enhanced packet blocks."""
    place = 0
    while place < len(capture):
        kind, size = struct.unpack_from("=II", capture, place)
        if kind == 6:
            kept = struct.unpack_from("=I", capture, place + 20)[0]
            yield capture[place + 28 : place + 28 + kept]
        place += size
