"""The socket program at the kernel's end: an ordinary TCP client or server that knows nothing of bentpipe.

It is started in the namespace with its task, one JSON object, as its last argument. It says ``ready``, moves
the bytes, and reports hashes and TCP_INFO as one JSON object. With ``--samples FILE SECONDS`` before the task
the end that sends the data writes a line to that file so often: seconds since it began to connect, cwnd and
ssthresh in segments, smoothed RTT in seconds. When its standard input closes, whoever started it
is gone, and it ends.
"""

import hashlib
import json
import os
import random
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

_CHUNK = 65_536
_TURN_S = 0.01
_SO_RCVBUFFORCE = 33
_TCP_REPAIR, _TCP_REPAIR_QUEUE, _TCP_QUEUE_SEQ = 19, 20, 21
_SEND_QUEUE = 2
_NO_THRESHOLD = 0x7FFFFFFF


class _Receiver:
    """Reads to the end of the stream as the task says: at once, slowly, or with a pause."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.bytes = 0
        self.hash = hashlib.sha256()
        self.last_byte_ns = 0
        self._rate: int | None = task["bytes_per_s"]
        self._pause_after: int | None = task["pause_after"]
        self._pause_s: float = task["pause_s"]

    def run(self, connection: socket.socket) -> None:
        began = time.monotonic()
        while chunk := connection.recv(self._most(began)):
            self.last_byte_ns = time.monotonic_ns()
            self.bytes += len(chunk)
            self.hash.update(chunk)
            if self._pause_after is not None and self.bytes >= self._pause_after:
                self._pause_after = None
                time.sleep(self._pause_s)

    def _most(self, began: float) -> int:
        most = _CHUNK
        if self._pause_after is not None:
            most = min(most, self._pause_after - self.bytes)
        if self._rate is not None:
            most = min(most, max(1, int(self._rate * _TURN_S)))
            time.sleep(max(0.0, began + self.bytes / self._rate - time.monotonic()))
        return most


def _send(connection: socket.socket, count: int, seed: int) -> str:
    """Send `count` bytes and the end of the stream; gives the hash of the bytes."""
    stream = random.Random(seed)  # noqa: S311 - it has to repeat, not to surprise
    digest = hashlib.sha256()
    left = count
    while left > 0:
        chunk = stream.randbytes(min(left, _CHUNK))
        digest.update(chunk)
        connection.sendall(chunk)
        left -= len(chunk)
    return digest.hexdigest()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _open(task: dict[str, Any]) -> socket.socket:
    own, other = tuple(task["own"]), tuple(task["other"])
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if task["buffer"] is not None:
        # The kernel doubles what it is told; by force, as net.core.rmem_max differs between machines.
        opened.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, task["buffer"] // 2)
    if task["control"] is not None:
        # Not by the namespace's sysctl, which allows none that the machine's administrator has not allowed.
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, task["control"].encode())
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    opened.bind(own)
    if task["sends"]:
        if task["sequence"] is not None:
            _begin_at(opened, task["sequence"])
        _say("ready")
        opened.connect(other)
        return opened
    opened.listen(1)
    _say("ready")
    connection, _ = opened.accept()
    opened.close()
    return connection


def _begin_at(connection: socket.socket, sequence: int) -> None:
    """Choose the first sequence number, which the kernel allows a socket under repair."""
    for option, value in (
        (_TCP_REPAIR, 1),
        (_TCP_REPAIR_QUEUE, _SEND_QUEUE),
        (_TCP_QUEUE_SEQ, sequence),
        (_TCP_REPAIR, 0),
    ):
        packed = struct.pack("I", value)
        connection.setsockopt(socket.IPPROTO_TCP, option, packed)


def _info(connection: socket.socket) -> dict[str, Any]:
    """Read ``struct tcp_info`` of linux/tcp.h: eight bytes, 24 words, four long ones, words."""
    raw = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 160)
    options = raw[5]
    words = struct.unpack_from("=24I", raw, 8)
    threshold = words[17]
    return {
        "retransmitted_segments": words[23],
        "data_segments": struct.unpack_from("=I", raw, 156)[0],
        "rtt_s": words[15] / 1e6,
        "cwnd_segments": words[18],
        "ssthresh_segments": None if threshold >= _NO_THRESHOLD else threshold,
        "mss_bytes": words[2],
        "timestamps": bool(options & 1),
        "sack": bool(options & 2),
        "scaling": bool(options & 4),
    }


class _Samples:
    """Lines of TCP_INFO, written by a thread of its own until `end`."""

    def __init__(self, path: str, every_s: float) -> None:
        self._path, self._every_s = path, every_s
        self._over = threading.Event()
        self._began = time.monotonic()
        self._thread: threading.Thread | None = None

    def follow(self, connection: socket.socket) -> None:
        self._thread = threading.Thread(target=self._write, args=(connection,), daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _write(self, connection: socket.socket) -> None:
        with Path(self._path).open("w", encoding="ascii") as file:
            while not self._over.wait(self._every_s):
                info = _info(connection)
                values = (info["cwnd_segments"], info["ssthresh_segments"] or 0, info["rtt_s"])
                file.write(f"{time.monotonic() - self._began:.4f},{values[0]},{values[1]},{values[2]:.6f}\n")


def _samples(task: dict[str, Any]) -> _Samples | None:
    asked = sys.argv[1:-1]
    if not task["sends"] or len(asked) != 3 or asked[0] != "--samples":
        return None
    return _Samples(asked[1], float(asked[2]))


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)


def _run(task: dict[str, Any]) -> None:
    samples = _samples(task)
    connection = _open(task)
    if samples is not None:
        samples.follow(connection)
    receiver = _Receiver(task)
    seed = task["seed"]
    if task["sends"]:
        sent = _send(connection, task["bytes"], seed)
        connection.shutdown(socket.SHUT_WR)
        receiver.run(connection)
    else:
        if task["receiver_closes_first"]:
            connection.shutdown(socket.SHUT_WR)
        receiver.run(connection)
        sent = _send(connection, task["bytes"], seed)
    info = _info(connection)
    if samples is not None:
        samples.end()
    connection.close()
    report = {
        "sent_sha256": sent,
        "received_bytes": receiver.bytes,
        "received_sha256": receiver.hash.hexdigest(),
        "last_byte_ns": receiver.last_byte_ns,
        "info": info,
    }
    _say(json.dumps(report))


def main() -> None:
    """Do what the task says; a broken connection is one line and status 1."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        _run(json.loads(sys.argv[-1]))
    except OSError as error:
        sys.exit(f"{type(error).__name__}: {error.strerror}")


if __name__ == "__main__":
    main()
