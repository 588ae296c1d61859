"""The ends of a testbed's flows: bulk transfers over TCP, and datagrams."""

import hashlib
import random
import socket
import threading
from collections.abc import Iterator
from typing import Any

from bentpipe.live.program.kernel import CHUNK, Clock, Samples, set_buffer, tcp_info, tcp_socket

_TCP_WINDOW_CLAMP = 10
_BLOCK = 1 << 20
_BACKLOG = 1024
_LAST_DATAGRAM_S = 3.0
"""After so long without a datagram, none is under way any more."""

Task = dict[str, Any]


class End:
    """An end of a flow at this host."""

    def __init__(self, task: Task, clock: Clock) -> None:
        self.task, self.clock = task, clock
        self.stopped, self.draining = threading.Event(), threading.Event()
        self.report: dict[str, Any] = {"flow": task["name"], "end": task["end"], "error": None}
        self.reported = False
        self.connections: list[socket.socket] = []
        self._lock = threading.Lock()

    def run(self) -> None:
        """Do it all; what breaks is told in the report."""
        try:
            self.work()
        except OSError as error:
            if not self.stopped.is_set():
                self.report["error"] = f"{type(error).__name__}: {error.strerror or error}"
        self.look()

    def prepare(self) -> None:
        """Listen, before the run begins."""

    def work(self) -> None:
        """Carry the data."""

    def look(self) -> None:
        """Ask the kernel once more before the report is given."""

    def tcp(self) -> socket.socket:
        """Make a socket as the flow's TCP has it."""
        plan = self.task["tcp"]
        window = plan["receive_window"]
        # The buffer is more than the window, which the clamp is.
        made = tcp_socket(self.task["kernel_control"], None if window is None else 4 * window)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, plan["mss"])
        self.hold_window(made)
        return made

    def listen(self) -> socket.socket:
        """Listen where the flow's data or requests go."""
        server = self.tcp()
        server.bind((self.task["own"], self.task["port"]))
        server.listen(_BACKLOG)
        return server

    def connect(self) -> socket.socket:
        """Open a connection to the flow's other end."""
        opened = self.begin_to_connect()
        opened.setblocking(True)
        opened.connect((self.task["other"], self.task["port"]))
        self.hold_first_window(opened)
        return opened

    def begin_to_connect(self) -> socket.socket:
        """Make a socket for a connection whose opening does not wait."""
        opened = self.tcp()
        with self._lock:
            self.connections.append(opened)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opened.setblocking(False)
        return opened

    def accept(self, server: socket.socket) -> socket.socket:
        """Wait for a connection from the flow's other end."""
        accepted, _ = server.accept()
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self.connections.append(accepted)
        self.hold_first_window(accepted)
        return accepted

    def hold_first_window(self, connection: socket.socket) -> None:
        """Give an open connection a buffer of just the fixed window.

        At the first full segment the kernel takes what the buffer allows: by the share of it that is
        payload, in 256ths, of segments that take 2304 bytes each.
        """
        plan = self.task["tcp"]
        if plan["receive_window"] is not None:
            share = min(plan["mss"] - 12, 1448) * 256 // 2304
            set_buffer(connection, max(plan["receive_window"] * 256 // share // 2, 1))

    def hold_window(self, connection: socket.socket) -> None:
        """Hold the fixed window once something was read, with a buffer that does not limit."""
        window = self.task["tcp"]["receive_window"]
        if window is not None:
            set_buffer(connection, 4 * window)
            connection.setsockopt(socket.IPPROTO_TCP, _TCP_WINDOW_CLAMP, window)

    def over(self) -> bool:
        """Whether the flow's user, or the run, has stopped."""
        stop_s = self.task["stop_s"]
        return self.stopped.is_set() or (stop_s is not None and self.clock.now() >= stop_s)


class BulkSender(End):
    """Sends the flow's bytes, and waits until the other end closes."""

    def work(self) -> None:
        self._digest, self._sent = hashlib.sha256(), 0
        self._samples = Samples(self.clock, self.task["every_s"])
        self.report["samples"] = self._samples.rows
        block = random.Random(self.task["name"]).randbytes(_BLOCK)  # noqa: S311 - it has to repeat
        self.clock.wait_until(self.task["start_s"])
        self.report["start_s"] = self.clock.now()
        connection = self.connect()
        self._samples.follow(connection)
        for piece in self.pieces(connection):
            place = self._sent % _BLOCK
            sent = connection.send(memoryview(block)[place : place + piece])
            self._digest.update(block[place : place + sent])
            self._sent += sent
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(CHUNK):
            pass

    def pieces(self, _connection: socket.socket) -> Iterator[int]:
        """Give how much to send, one after the other."""
        total = self.task["bytes"]
        while (total is None or self._sent < total) and not self.over():
            yield min(CHUNK, _BLOCK - self._sent % _BLOCK, _BLOCK if total is None else total - self._sent)

    def look(self) -> None:
        self._samples.over.set()
        if self.connections:
            self.report["info"] = tcp_info(self.connections[0])
            self._samples.add(self.report["info"])
        self.report |= {"sent_bytes": self._sent, "sha256": self._digest.hexdigest()}


class Writer(BulkSender):
    """Writes each piece at its time; less than a segment waits where the flow's TCP has it so."""

    def pieces(self, connection: socket.socket) -> Iterator[int]:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, self.task["tcp"]["no_delay"])
        for at_s, size in self.task["writes"]:
            self.clock.wait_until(at_s)
            if self.over():
                return
            yield size


class BulkReceiver(End):
    """Reads to the end of the stream."""

    def prepare(self) -> None:
        self._server = self.listen()
        self._digest = hashlib.sha256()
        self.report |= {"bytes": 0, "last_byte_s": None, "finished": False, "delivered": []}

    def work(self) -> None:
        connection = self.accept(self._server)
        report = self.report
        row_due = 0.0
        while chunk := connection.recv(CHUNK):
            self.hold_window(connection)
            now = self.clock.now()
            self._digest.update(chunk)
            report["bytes"] += len(chunk)
            report["last_byte_s"] = now
            if now >= row_due:
                row_due = now + self.task["every_s"]
                report["delivered"].append([now, report["bytes"]])
        report["finished"] = True
        connection.close()

    def look(self) -> None:
        self.report["sha256"] = self._digest.hexdigest()


class UdpSender(End):
    """Sends each datagram at its time."""

    def work(self) -> None:
        self.report |= {"sent": 0, "sent_bytes": 0}
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.connect((self.task["other"], self.task["port"]))
        block = bytes(CHUNK)
        for at_s, size in self.task["datagrams"]:
            self.clock.wait_until(at_s)
            if self.stopped.is_set():
                return
            made.send(memoryview(block)[:size])
            self.report["sent"] += 1
            self.report["sent_bytes"] += size


class UdpReceiver(End):
    """Counts datagrams, until none can be under way."""

    def prepare(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((self.task["own"], self.task["port"]))
        self._socket.settimeout(0.1)
        self.report |= {"received": 0, "bytes": 0, "last_byte_s": None, "finished": False}

    def work(self) -> None:
        last_s = 0.0
        while not self.stopped.is_set():
            try:
                size = len(self._socket.recv(CHUNK))
            except TimeoutError:
                if self.draining.is_set() and self.clock.now() > last_s + _LAST_DATAGRAM_S:
                    self.report["finished"] = True
                    return
                continue
            last_s = self.clock.now()
            self.report["received"] += 1
            self.report["bytes"] += size
            self.report["last_byte_s"] = self.clock.now()
