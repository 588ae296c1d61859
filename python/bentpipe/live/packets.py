"""The packets of a capture that a run has written, as its data's hosts saw them."""

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PACKET, _TCP = 6, 6
_FIRST_OPENER = 49_152
"""The port of whoever opens the first connection; the next one has the next port."""
_FIN, _SYN, _RST, _PSH, _ACK, _ECE, _CWR = 1, 2, 4, 8, 16, 64, 128
_FLAGS = {_SYN: "SYN", _FIN: "FIN", _RST: "RST", _PSH: "PSH", _ACK: "ACK", _ECE: "ECE", _CWR: "CWR"}
_WINDOW_SCALE, _SACK = 3, 5
_WRAP = 1 << 32


@dataclass(frozen=True)
class Packet:
    """A segment at the host that data comes from: `sent` by it, or come to it.

    Sequence numbers count from the SYN of their end.
    """

    at_s: float
    connection: int
    sent: bool
    seq: int
    length: int
    flags: str
    ack: int
    window: int
    sack: tuple[tuple[int, int], ...]

    @property
    def what(self) -> tuple[object, ...]:
        """Whatever of it is no time and no window: what two runs are compared by."""
        return self.connection, self.sent, self.seq, self.length, self.flags, self.ack, self.sack


@dataclass
class _End:
    """What is known of an end of a connection."""

    first: int | None = None
    scale: int = 0

    def count(self, number: int) -> int:
        """Give a sequence number of this end, from its first one on."""
        return 0 if self.first is None else (number - self.first) % _WRAP


def packets(capture: Path) -> list[Packet]:
    """Read the segments of TCP in a capture of ours, in their order."""
    found = list(_segments(capture.read_bytes()))
    hosts: dict[int, Counter[bytes]] = {}
    for interface, _, header, length in found:
        hosts.setdefault(interface, Counter())[header[12:16]] += length
    # An interface is that of the host that the data comes from.
    host = {interface: payload.most_common(1)[0][0] for interface, payload in hosts.items()}
    ends: dict[tuple[int, bool], _End] = {}
    read = []
    for interface, at_s, header, length in found:
        start = (header[0] & 15) * 4
        source, destination, seq, ack, offset, bits, window = struct.unpack_from(">HHIIBBH", header, start)
        connection = max(source, destination) - _FIRST_OPENER
        sent = header[12:16] == host[interface]
        own, other = (ends.setdefault((connection, side), _End()) for side in (sent, not sent))
        scale, sack = _options(header[start + 20 : start + (offset >> 4) * 4])
        if bits & _SYN:
            own.first, own.scale = seq, scale
        window <<= 0 if bits & _SYN else own.scale
        flags = " ".join(name for bit, name in _FLAGS.items() if bits & bit)
        blocks = tuple((other.count(first), other.count(last)) for first, last in sack)
        acked = other.count(ack) if bits & _ACK else 0
        read.append(Packet(at_s, connection, sent, own.count(seq), length, flags, acked, window, blocks))
    return read


def _segments(data: bytes) -> Iterator[tuple[int, float, bytes, int]]:
    """Give interface, time, headers and payload's length of each segment."""
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == _PACKET:
            interface, high, low, kept, whole = struct.unpack_from("<5I", data, at + 8)
            header = data[at + 28 : at + 28 + kept]
            if header[9] == _TCP:
                start = (header[0] & 15) * 4
                length = whole - start - (header[start + 12] >> 4) * 4
                yield interface, (high << 32 | low) / 1e9, header, length
        at += size


def _options(data: bytes) -> tuple[int, list[tuple[int, int]]]:
    """Give the window's scale, and the SACK blocks."""
    scale, sack, at = 0, [], 0
    while at < len(data) and data[at]:
        if data[at] == 1:
            at += 1
            continue
        kind, size = data[at], max(2, data[at + 1])
        if kind == _WINDOW_SCALE:
            scale = data[at + 2]
        elif kind == _SACK:
            sack = [struct.unpack_from(">II", data, block) for block in range(at + 2, at + size, 8)]
        at += size
    return scale, sack
