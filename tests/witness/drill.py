"""Random transfers of our sender as scripts, played on Linux in simulated time, packet by packet.

A script of packetdrill's language has the ACKs that our sender got and the segments that it sent. The kernel
gets the same ACKs at the same times; each segment of data that it sends is held against ours: the same bytes
in the same order, within 8 ms.

    .venv/bin/python tests/witness/drill.py [COUNT]     # seeds 0 to COUNT - 1
"""

import ctypes
import fcntl
import itertools
import os
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bentpipe.live.virtual import kernel
from bentpipe.live.virtual.machine import Machine

ROOT = Path(__file__).parents[2]
TOLERANCE_S = 0.008
TICK_S = 0.004
HERE, THERE = "192.0.2.1", "192.0.2.2"
TUNSETIFF, IFF_TUN_NO_PI = 0x400454CA, 0x1001
FIN, SYN, RST, ACK = 1, 2, 4, 16
MSS_SACK_SCALE = bytes([2, 4, 1000 >> 8, 1000 & 255, 4, 2, 1, 1, 1, 3, 3, 7])

Sent = tuple[float, int, int]
"""When, from which byte, how many."""


@dataclass(frozen=True)
class Script:
    """What comes, with its time, number and blocks; what the application writes; and what our sender sent."""

    title: str
    acks: tuple[tuple[float, int, tuple[int, ...]], ...]
    opens_s: float
    writes: tuple[float, int]
    ours: tuple[Sent, ...]

    @classmethod
    def of(cls, text: str) -> "Script":
        """Read one."""
        title = text.split("\n", 1)[0][3:]
        acks = [
            (float(at), int(number), tuple(map(int, re.findall(r"\d+", blocks or ""))))
            for at, number, blocks in re.findall(
                r"^([\d.]+) < \. 1:1\(0\) ack (\d+) win 10000(?: <sack([^,]*),nop,nop>)?$", text, re.MULTILINE
            )
        ]
        (wrote,) = re.findall(r"^([\d.]+) write\(4, \.\.\., (\d+)\)", text, re.MULTILINE)
        sent = re.findall(r"^([\d.]+) > P?\. (\d+):\d+\((\d+)\) ack 1$", text, re.MULTILINE)
        ours = tuple((float(at), int(seq), int(length)) for at, seq, length in sent)
        return cls(title, tuple(acks[1:]), acks[0][0], (float(wrote[0]), int(wrote[1])), ours)


def written(count: int, *, late_rounds: bool) -> list[Script]:
    """Let the sender make so many."""
    with tempfile.TemporaryDirectory() as folder:
        command = ("cargo", "test", "--quiet", "--release", "-p", "bentpipe-tcp", "--test", "packetdrill")
        test = ("--", "--ignored", "transfers_of_ours")
        told = {"INTO": folder, "SEEDS": str(count), "LATE_ROUNDS": str(int(late_rounds))}
        subprocess.run((*command, *test), cwd=ROOT, env=os.environ | told, check=True, capture_output=True)
        return [Script.of((Path(folder) / f"{seed}.pkt").read_text()) for seed in range(count)]


def _checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _packet(
    ports: tuple[int, int], seq: int, ack: int, flags: int, window: int, options: bytes = b""
) -> bytes:
    there, here = socket.inet_aton(THERE), socket.inet_aton(HERE)
    header = (
        struct.pack("!HHIIBBHHH", *ports, seq, ack, (20 + len(options)) * 4, flags, window, 0, 0) + options
    )
    check = _checksum(there + here + struct.pack("!HH", 6, len(header)) + header)
    header = header[:16] + struct.pack("!H", check) + header[18:]
    ip = struct.pack("!BBHHHBBH", 69, 0, 20 + len(header), 0, 0x4000, 64, 6, 0) + there + here
    return ip[:10] + struct.pack("!H", _checksum(ip)) + ip[12:] + header


def _tun() -> int:
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", b"drill", IFF_TUN_NO_PI))
    for command in (f"addr add {HERE}/24 dev drill", "link set drill up"):
        subprocess.run(("ip", *command.split()), check=True)
    for name, value in {"tcp_congestion_control": "cubic", "tcp_no_metrics_save": "1"}.items():
        Path(f"/proc/sys/net/ipv4/{name}").write_text(value)
    return tun


def on_kernel(scripts: Sequence[Script]) -> Iterator[list[Sent]]:
    """Play them, one after the other, on the kernel that this runs in; give what it sent."""
    # A namespace of its own, as the testbed has.
    ctypes.CDLL(None).unshare(0x40000000)
    tun = _tun()
    for number, script in enumerate(scripts):
        yield _played(tun, script, 10_000 + number)


def _begin() -> float:
    """Give a time to begin at which the kernel's timer wheel stands as ours does at time 0.

    Its clock begins 300 s below 0 (INITIAL_JIFFIES); timers of 2 s are rounded to 64 ticks of 4 ms.
    """
    round_s = 512 * TICK_S
    return (time.monotonic() // round_s + 1) * round_s + 300 % round_s


def _played(tun: int, script: Script, port: int) -> list[Sent]:
    found: list[Sent] = []
    first = None
    ports = (port, 80)
    begun = _begin()

    def until(at_s: float) -> None:
        nonlocal first
        while True:
            left = begun + at_s - time.monotonic()
            if left <= 0:
                return
            if not select.select([tun], [], [], left)[0]:
                return
            packet = os.read(tun, 65_536)
            if packet[0] != 69 or packet[9] != 6 or packet[22:24] != struct.pack("!H", port):
                continue
            seq, offset, flags = *struct.unpack("!I", packet[24:28]), packet[32] >> 4, packet[33]
            if flags & SYN:
                first = seq
            length = len(packet) - 20 - 4 * offset
            if length and first is not None:
                found.append((time.monotonic() - begun, (seq - first) % 2**32, length))

    with socket.create_server((HERE, 80)) as server:
        until(0)
        os.write(tun, _packet(ports, 999, 0, SYN, 65_535, MSS_SACK_SCALE))
        until(script.opens_s)
        if first is None:
            raise RuntimeError("the kernel does not answer a SYN")
        os.write(tun, _packet(ports, 1000, first + 1, ACK, 10_000))
        connection, _ = server.accept()
        with connection:
            at_s, size = script.writes
            until(at_s)
            connection.sendall(bytes(size))
            for at_s, ack, blocks in script.acks:
                until(at_s)
                numbers = [(first + block) % 2**32 for block in blocks]
                option = struct.pack(f"!BBBB{len(numbers)}I", 1, 1, 5, 2 + 4 * len(numbers), *numbers)
                packet = _packet(ports, 1000, (first + ack) % 2**32, ACK, 10_000, option if numbers else b"")
                os.write(tun, packet)
            until(max([at for at, _, _ in script.ours] + [at for at, _, _ in script.acks]) + TOLERANCE_S)
            os.write(tun, _packet(ports, 1000, (first + script.acks[-1][1]) % 2**32, RST | ACK, 0))
            until(script.acks[-1][0] + 3)
    return found


def difference(script: Script, theirs: Sequence[Sent]) -> str | None:
    """Say where the kernel's segments are first others than ours."""
    pairs = itertools.zip_longest(script.ours, theirs)
    for our, their in pairs:
        if our is None or their is None or our[1:] != their[1:] or abs(our[0] - their[0]) > TOLERANCE_S:
            return f"{_told(our)}, the kernel {_told(their)}"
    return None


def _told(sent: Sent | None) -> str:
    return "nothing" if sent is None else f"{sent[2]} B from {sent[1]} at {sent[0]:.3f} s"


def compared(count: int) -> list[tuple[Script, str | None]]:
    """Let the kernel of `make virtual-kernel` play so many, which has HyStart as it was until 6.13."""
    scripts = written(count, late_rounds=True)
    with Machine(kernel.find(), who="drill") as machine:
        found = list(machine.call(on_kernel, tuple(scripts)))
    return [(script, difference(script, sent)) for script, sent in zip(scripts, found, strict=True)]


def test_linux_sends_what_our_sender_sends() -> None:
    """Hold the count; docs/explanation/tcp.md says which differ."""
    results = compared(160)
    assert sum(what is None for _, what in results) >= 145, [what for _, what in results if what]


if __name__ == "__main__":
    # By its name as a module: the kernel's program looks the function up there.
    from drill import compared

    results = compared(int(sys.argv[1]) if len(sys.argv) > 1 else 160)
    for script, what in results:
        if what is not None:
            print(f"{script.title}\n  ours {what}")
    print(f"{sum(what is None for _, what in results)} of {len(results)} equal")
