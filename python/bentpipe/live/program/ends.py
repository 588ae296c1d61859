"""The programs of one host of a testbed: they carry its ends of the flows over the kernel's TCP and UDP.

It is started in the host's network namespace. Its standard input gives the task, one JSON object in a line.
It says ``ready`` when its servers listen. A second line is the CLOCK_MONOTONIC time at which the run begins,
in nanoseconds. When an end is done, or at the line ``stop``, it prints the end's report, a JSON object in a
line. The line ``drain`` says that no more datagrams will be sent. When its standard input closes, whoever
started it is gone, and it ends.
"""

import hashlib
import json
import os
import random
import selectors
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_CHUNK = 65_536
_SO_RCVBUFFORCE = 33
_TCP_WINDOW_CLAMP = 10
_NO_THRESHOLD = 0x7FFFFFFF
_BLOCK = 1 << 20
_BACKLOG = 1024
_LAST_DATAGRAM_S = 3.0
"""After so long without a datagram, none is under way any more."""

_Task = dict[str, Any]


class _Clock:
    """Seconds since the run began."""

    def __init__(self) -> None:
        self._zero_ns = 0
        self.begun = threading.Event()

    def begin(self, zero_ns: int) -> None:
        self._zero_ns = zero_ns
        self.begun.set()

    def now(self) -> float:
        return (time.monotonic_ns() - self._zero_ns) / 1e9

    def wait_until(self, at_s: float) -> None:
        while (left := at_s - self.now()) > 0:
            time.sleep(left)


def tcp_info(connection: socket.socket) -> dict[str, Any]:
    """Read ``struct tcp_info`` of linux/tcp.h: its offsets in bytes.

    Windows are in bytes, times in seconds. An older kernel tells no ``timeouts``: they are None.
    """
    raw = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    words = struct.unpack_from("=24I", raw, 8)
    mss, threshold = words[2], words[17]
    return {
        "cwnd_bytes": words[18] * mss,
        "ssthresh_bytes": None if threshold >= _NO_THRESHOLD else threshold * mss,
        "rtt_s": words[15] / 1e6,
        "rto_s": words[0] / 1e6,
        "retransmitted_segments": words[23],
        "acked_bytes": struct.unpack_from("=Q", raw, 120)[0],
        "data_segments": struct.unpack_from("=I", raw, 156)[0],
        "timeouts": struct.unpack_from("=H", raw, 240)[0] if len(raw) >= 242 else None,
    }


class _Samples:
    """TCP_INFO of a connection at even times, until `end`."""

    def __init__(self, clock: _Clock, every_s: float) -> None:
        self._clock, self._every_s = clock, every_s
        self._over = threading.Event()
        self.rows: list[list[float | None]] = []

    def follow(self, connection: socket.socket) -> None:
        threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def end(self) -> None:
        self._over.set()

    def _run(self, connection: socket.socket) -> None:
        while not self._over.wait(self._every_s):
            try:
                info = tcp_info(connection)
            except OSError:
                return
            self.add(info)

    def add(self, info: dict[str, Any]) -> None:
        columns = ("cwnd_bytes", "ssthresh_bytes", "rtt_s", "rto_s", "acked_bytes")
        self.rows.append([self._clock.now(), *(info[column] for column in columns)])


class _End:
    """An end of a flow at this host."""

    def __init__(self, task: _Task, clock: _Clock) -> None:
        self.task, self.clock = task, clock
        self.stopped, self.draining = threading.Event(), threading.Event()
        self.report: dict[str, Any] = {"flow": task["name"], "end": task["end"], "error": None}
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
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Not by the namespace's sysctl, which allows none that the machine's administrator has not allowed.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self.task["kernel_control"].encode())
        plan = self.task["tcp"]
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, plan["mss"])
        if plan["receive_window"] is not None:
            # By force, as net.core.rmem_max differs between machines; the clamp is the window itself.
            made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 4 * plan["receive_window"])
            made.setsockopt(socket.IPPROTO_TCP, _TCP_WINDOW_CLAMP, plan["receive_window"])
        return made

    def listen(self) -> socket.socket:
        """Listen where the flow's data or requests go."""
        server = self.tcp()
        server.bind((self.task["own"], self.task["port"]))
        server.listen(_BACKLOG)
        return server

    def connect(self) -> socket.socket:
        """Open a connection to the flow's other end."""
        opened = self.tcp()
        with self._lock:
            self.connections.append(opened)
        opened.connect((self.task["other"], self.task["port"]))
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return opened

    def accept(self, server: socket.socket) -> socket.socket:
        """Wait for a connection from the flow's other end."""
        accepted, _ = server.accept()
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self.connections.append(accepted)
        return accepted

    def hold_window(self, connection: socket.socket) -> None:
        """Set the fixed window again: at a full segment the kernel takes what the buffer allows instead."""
        if self.task["tcp"]["receive_window"] is not None:
            window = self.task["tcp"]["receive_window"]
            connection.setsockopt(socket.IPPROTO_TCP, _TCP_WINDOW_CLAMP, window)

    def wait_for_start(self) -> None:
        """Sleep until the flow begins."""
        self.clock.wait_until(self.task["start_s"])

    def over(self) -> bool:
        """Whether the flow's user, or the run, has stopped."""
        stop_s = self.task["stop_s"]
        return self.stopped.is_set() or (stop_s is not None and self.clock.now() >= stop_s)


class _BulkSender(_End):
    def work(self) -> None:
        self._digest, self._sent = hashlib.sha256(), 0
        self._samples = _Samples(self.clock, self.task["every_s"])
        self.report["samples"] = self._samples.rows
        block = random.Random(self.task["name"]).randbytes(_BLOCK)  # noqa: S311 - it has to repeat
        total = self.task["bytes"]
        self.wait_for_start()
        self.report["start_s"] = self.clock.now()
        connection = self.connect()
        self._samples.follow(connection)
        while (total is None or self._sent < total) and not self.over():
            place = self._sent % _BLOCK
            room = min(_CHUNK, _BLOCK - place, _BLOCK if total is None else total - self._sent)
            sent = connection.send(memoryview(block)[place : place + room])
            self._digest.update(block[place : place + sent])
            self._sent += sent
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(_CHUNK):
            pass

    def look(self) -> None:
        self._samples.end()
        if self.connections:
            self.report["info"] = tcp_info(self.connections[0])
            self._samples.add(self.report["info"])
        self.report |= {"sent_bytes": self._sent, "sha256": self._digest.hexdigest()}


class _BulkReceiver(_End):
    def prepare(self) -> None:
        self._server = self.listen()
        self._digest = hashlib.sha256()
        self.report |= {"bytes": 0, "last_byte_s": None, "finished": False, "delivered": []}

    def work(self) -> None:
        connection = self.accept(self._server)
        report = self.report
        row_due = 0.0
        while chunk := connection.recv(_CHUNK):
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


class _WebServer(_End):
    """Answers each request with as many bytes as its path says, headers included."""

    def prepare(self) -> None:
        self._server = self.listen()
        self._samples = _Samples(self.clock, self.task["every_s"])
        self.report["samples"] = self._samples.rows

    def work(self) -> None:
        threads = []
        for number in range(self.task["connections"]):
            connection = self.accept(self._server)
            if number == 0:
                self._samples.follow(connection)
            threads.append(threading.Thread(target=self._serve, args=(connection,), daemon=True))
            threads[-1].start()
            if self.stopped.is_set():
                break
        for thread in threads:
            thread.join()

    def _serve(self, connection: socket.socket) -> None:
        waiting = b""
        try:
            while chunk := connection.recv(_CHUNK):
                waiting += chunk
                while b"\r\n\r\n" in waiting:
                    request, _, waiting = waiting.partition(b"\r\n\r\n")
                    size = int(request.split()[1].removeprefix(b"/"))
                    connection.sendall(response(size))
            connection.shutdown(socket.SHUT_WR)
        except OSError as error:
            if not self.stopped.is_set():
                self.report["error"] = f"{type(error).__name__}: {error.strerror}"

    def look(self) -> None:
        self._samples.end()
        infos = [tcp_info(connection) for connection in self.connections]
        told = ("retransmitted_segments", "data_segments", "timeouts", "acked_bytes")
        self.report["info"] = {key: sum(info[key] or 0 for info in infos) for key in told}


def response(size: int) -> bytes:
    """Write an answer of HTTP/1.1 that has `size` bytes in all, or its headers alone if these are longer."""
    body = size
    for _ in range(3):
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {body}\r\n\r\n".encode()
        body = max(0, size - len(head))
    return head + bytes(body)


def request(object_size: int, size: int) -> bytes:
    """Write a request of HTTP/1.1 for an object, of `size` bytes where that is enough for its headers."""
    head = f"GET /{object_size} HTTP/1.1\r\nHost: bentpipe\r\nX-Fill: "
    fill = max(0, size - len(head) - 4)
    return f"{head}{'x' * fill}\r\n\r\n".encode()


class _Browser(_End):
    """A user who asks for a page, waits for it, and asks for the next."""

    def work(self) -> None:
        task, report = self.task, self.report
        report |= {"pages": [], "bytes": 0, "last_byte_s": None, "finished": False}
        self._open: list[socket.socket] = []
        due = task["start_s"]
        report["start_s"] = due
        while not self.over() and (task["pages"] is None or len(report["pages"]) < task["pages"]):
            self.clock.wait_until(due if task["stop_s"] is None else min(due, task["stop_s"]))
            if self.over():
                break
            began = self.clock.now()
            page = {"start_s": began, "response_s": None}
            report["pages"].append(page)
            if not self._fetch([1], task["main_object"]) or not self._fetch(self._shares(), task["object"]):
                break
            page["response_s"] = self.clock.now() - began
            due = max(began + task["page_interval_s"], self.clock.now())
        for connection in self._open:
            connection.shutdown(socket.SHUT_WR)
        report["finished"] = not self.stopped.is_set()

    def _shares(self) -> list[int]:
        objects, connections = self.task["objects"], self.task["connections"]
        return [objects // connections + (number < objects % connections) for number in range(connections)]

    def _fetch(self, shares: list[int], size: int) -> bool:
        """Get so many objects over each connection; whether all of them came before the user left."""
        pipelining, asked = self.task["pipelining"], request(size, self.task["request"])
        left = dict.fromkeys(range(len(shares)), 0)
        with selectors.DefaultSelector() as selector:
            for number, share in enumerate(shares):
                if share == 0:
                    continue
                if number == len(self._open):
                    self._open.append(self.connect())
                connection = self._open[number]
                left[number] = share * max(size, len(response(size)))
                connection.sendall(asked * (share if pipelining else 1))
                selector.register(connection, selectors.EVENT_READ, number)
            each = max(size, len(response(size)))
            while any(left.values()):
                if self.over():
                    return False
                for key, _ in selector.select(0.1):
                    number, connection = key.data, self._open[key.data]
                    chunk = connection.recv(_CHUNK)
                    self.hold_window(connection)
                    if not chunk:
                        raise ConnectionResetError(0, "the server has closed the connection")
                    before = -(-left[number] // each)
                    left[number] -= len(chunk)
                    self.report["bytes"] += len(chunk)
                    self.report["last_byte_s"] = self.clock.now()
                    if not pipelining and -(-left[number] // each) < before and left[number]:
                        connection.sendall(asked)
        return True


class _UdpSender(_End):
    def work(self) -> None:
        self.report |= {"sent": 0, "sent_bytes": 0}
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.connect((self.task["other"], self.task["port"]))
        block = bytes(_CHUNK)
        for at_s, size in self.task["datagrams"]:
            self.clock.wait_until(at_s)
            if self.stopped.is_set():
                return
            made.send(memoryview(block)[:size])
            self.report["sent"] += 1
            self.report["sent_bytes"] += size


class _UdpReceiver(_End):
    def prepare(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((self.task["own"], self.task["port"]))
        self._socket.settimeout(0.1)
        self.report |= {"received": 0, "bytes": 0, "last_byte_s": None, "finished": False}

    def work(self) -> None:
        last_s = 0.0
        while not self.stopped.is_set():
            try:
                size = len(self._socket.recv(_CHUNK))
            except TimeoutError:
                if self.draining.is_set() and self.clock.now() > last_s + _LAST_DATAGRAM_S:
                    self.report["finished"] = True
                    return
                continue
            last_s = self.clock.now()
            self.report["received"] += 1
            self.report["bytes"] += size
            self.report["last_byte_s"] = self.clock.now()


_ENDS: dict[tuple[str, str], Callable[[_Task, _Clock], _End]] = {
    ("ftp", "sender"): _BulkSender,
    ("ftp", "receiver"): _BulkReceiver,
    ("http", "sender"): _WebServer,
    ("http", "receiver"): _Browser,
    ("udp", "sender"): _UdpSender,
    ("udp", "receiver"): _UdpReceiver,
}


class _Teller:
    """Says things in whole lines, each end's report once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told: set[_End] = set()

    def say(self, value: object) -> None:
        sys.stdout.write(json.dumps(value) + "\n")
        sys.stdout.flush()

    def report(self, end: _End) -> None:
        with self._lock:
            if end not in self._told:
                self._told.add(end)
                self.say(end.report)


def main() -> None:
    """Do what the task says."""
    task = json.loads(sys.stdin.readline())
    for name, value in task["sysctl"].items():
        Path(f"/proc/sys/net/ipv4/{name}").write_text(value, encoding="ascii")
    clock, teller = _Clock(), _Teller()
    ends = [_ENDS[end["app"], end["end"]](end, clock) for end in task["ends"]]
    for end in ends:
        end.prepare()
    teller.say("ready")
    line = sys.stdin.readline()
    if not line:
        return
    clock.begin(int(line))

    def carry(end: _End) -> None:
        end.run()
        teller.report(end)

    threads = [threading.Thread(target=carry, args=(end,), daemon=True) for end in ends]
    for thread in threads:
        thread.start()
    # Sockets stay until whoever started us is gone: what the kernel still sends is a part of the run.
    for line in sys.stdin:
        if line == "drain\n":
            for end in ends:
                end.draining.set()
            continue
        for end in ends:
            end.stopped.set()
        for end in ends:
            end.report["ended_s"] = clock.now()
            end.look()
            teller.report(end)
    os._exit(0)


if __name__ == "__main__":
    main()
