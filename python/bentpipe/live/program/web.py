"""The ends of a flow over HTTP: a server, and a user who asks it for pages."""

import os
import selectors
import socket
import threading

from bentpipe.live.program.ends import End
from bentpipe.live.program.kernel import CHUNK, Samples, tcp_info


class WebServer(End):
    """Answers each request with as many bytes as its path says, headers included."""

    def prepare(self) -> None:
        self._server = self.listen()
        self._samples = Samples(self.clock, self.task["every_s"])
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
            while chunk := connection.recv(CHUNK):
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
        self._samples.over.set()
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


class Browser(End):
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
                wanted = selectors.EVENT_READ
                if number == len(self._open):
                    # All at once, as browsers do: what is open already is read meanwhile.
                    self._open.append(self.begin_to_connect())
                    self._open[number].connect_ex((self.task["other"], self.task["port"]))
                    wanted = selectors.EVENT_WRITE
                connection = self._open[number]
                left[number] = share * max(size, len(response(size)))
                asks = asked * (share if pipelining else 1)
                if wanted == selectors.EVENT_READ:
                    connection.sendall(asks)
                selector.register(connection, wanted, (number, asks))
            each = max(size, len(response(size)))
            while any(left.values()):
                if self.over():
                    return False
                for key, _ in selector.select(0.1):
                    number, asks = key.data
                    connection = self._open[number]
                    if key.events == selectors.EVENT_WRITE:
                        if error := connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                            raise OSError(error, os.strerror(error))
                        connection.setblocking(True)
                        self.hold_first_window(connection)
                        connection.sendall(asks)
                        selector.modify(connection, selectors.EVENT_READ, key.data)
                        continue
                    chunk = connection.recv(CHUNK)
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
