"""What the kernel is asked of a connection, and the run's clock."""

import socket
import struct
import threading
import time
from typing import Any

CHUNK = 65_536
"""Bytes of a read or a write at most."""

_SO_RCVBUFFORCE = 33
_NO_THRESHOLD = 0x7FFFFFFF


def tcp_socket(control: str | None, buffer: int | None) -> socket.socket:
    """Make a socket with a congestion control, and with a receive buffer that the kernel doubles."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if control is not None:
        # Not by the namespace's sysctl, which allows none that the machine's administrator has not allowed.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    if buffer is not None:
        set_buffer(made, buffer)
    return made


def set_buffer(of: socket.socket, buffer: int) -> None:
    """Set a receive buffer, which the kernel doubles."""
    # By force, as net.core.rmem_max differs between machines.
    of.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, buffer)


def tcp_info(connection: socket.socket) -> dict[str, Any]:
    """Read ``struct tcp_info`` of linux/tcp.h: its offsets in bytes.

    Windows are in bytes and in segments, times in seconds. An older kernel tells no ``timeouts``: None.
    """
    raw = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    options = raw[5]
    words = struct.unpack_from("=24I", raw, 8)
    mss = words[2]
    threshold = None if words[17] >= _NO_THRESHOLD else words[17]
    return {
        "mss_bytes": mss,
        "cwnd_segments": words[18],
        "cwnd_bytes": words[18] * mss,
        "ssthresh_segments": threshold,
        "ssthresh_bytes": None if threshold is None else threshold * mss,
        "rtt_s": words[15] / 1e6,
        "rto_s": words[0] / 1e6,
        "retransmitted_segments": words[23],
        "acked_bytes": struct.unpack_from("=Q", raw, 120)[0],
        "data_segments": struct.unpack_from("=I", raw, 156)[0],
        "timeouts": struct.unpack_from("=H", raw, 240)[0] if len(raw) >= 242 else None,
        "timestamps": bool(options & 1),
        "sack": bool(options & 2),
        "scaling": bool(options & 4),
    }


class Clock:
    """Seconds since the run began."""

    def __init__(self) -> None:
        self.zero_ns = 0
        """The CLOCK_MONOTONIC time at which the run begins."""

    def now(self) -> float:
        """Give the time."""
        return (time.monotonic_ns() - self.zero_ns) / 1e9

    def wait_until(self, at_s: float) -> None:
        """Sleep until then."""
        while (left := at_s - self.now()) > 0:
            time.sleep(left)


class Samples:
    """TCP_INFO of a connection at even times, until it is `over`."""

    def __init__(self, clock: Clock, every_s: float) -> None:
        self._clock, self._every_s = clock, every_s
        self.over = threading.Event()
        self.rows: list[list[float | None]] = []

    def follow(self, connection: socket.socket) -> None:
        """Begin."""
        threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection: socket.socket) -> None:
        while not self.over.wait(self._every_s):
            try:
                self.add(tcp_info(connection))
            except OSError:
                return

    def add(self, info: dict[str, Any]) -> None:
        """Take this one."""
        columns = ("cwnd_bytes", "ssthresh_bytes", "rtt_s", "rto_s", "acked_bytes")
        self.rows.append([self._clock.now(), *(info[column] for column in columns)])
