"""An end of one transfer: it sends its data, or reads the other's and answers.

Its task is one JSON object. It says ``ready``, moves the bytes, and reports hashes and TCP_INFO as one JSON
object. When its standard input closes, whoever started it is gone, and it ends.
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
from typing import Any

from bentpipe.live.program.kernel import CHUNK, tcp_info, tcp_socket

_TURN_S = 0.01
_TCP_REPAIR, _TCP_REPAIR_QUEUE, _TCP_QUEUE_SEQ = 19, 20, 21
_SEND_QUEUE = 2


def run(task: dict[str, Any]) -> None:
    """Do what the task says; a broken connection is one line and status 1."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        print(json.dumps(_carry(task)), flush=True)
    except OSError as error:
        sys.exit(f"{type(error).__name__}: {error.strerror}")


def _carry(task: dict[str, Any]) -> dict[str, Any]:
    connection = _open(task)
    receiver = _Receiver(task)
    if task["sends"]:
        sent = _send(connection, task["bytes"], task["seed"])
        connection.shutdown(socket.SHUT_WR)
        receiver.run(connection)
    else:
        if task["receiver_closes_first"]:
            connection.shutdown(socket.SHUT_WR)
        receiver.run(connection)
        sent = _send(connection, task["bytes"], task["seed"])
    info = tcp_info(connection)
    connection.close()
    return {
        "sent_sha256": sent,
        "received_bytes": receiver.bytes,
        "received_sha256": receiver.hash.hexdigest(),
        "last_byte_ns": receiver.last_byte_ns,
        "info": info,
    }


def _open(task: dict[str, Any]) -> socket.socket:
    # The kernel doubles what it is told.
    opened = tcp_socket(task["control"], None if task["buffer"] is None else task["buffer"] // 2)
    opened.bind(tuple(task["own"]))
    if task["sends"]:
        if task["sequence"] is not None:
            _begin_at(opened, task["sequence"])
        print("ready", flush=True)
        opened.connect(tuple(task["other"]))
        return opened
    opened.listen(1)
    print("ready", flush=True)
    connection, _ = opened.accept()
    opened.close()
    return connection


def _begin_at(connection: socket.socket, sequence: int) -> None:
    """Choose the first sequence number, which the kernel allows a socket under repair."""
    queue = ((_TCP_REPAIR_QUEUE, _SEND_QUEUE), (_TCP_QUEUE_SEQ, sequence))
    for option, value in ((_TCP_REPAIR, 1), *queue, (_TCP_REPAIR, 0)):
        connection.setsockopt(socket.IPPROTO_TCP, option, struct.pack("I", value))


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
        most = CHUNK
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
    for sent in range(0, count, CHUNK):
        chunk = stream.randbytes(min(count - sent, CHUNK))
        digest.update(chunk)
        connection.sendall(chunk)
    return digest.hexdigest()


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)
