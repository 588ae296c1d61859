"""The program of one host: it carries ends of flows over the kernel's TCP and UDP.

With an argument it is an end of one transfer (`transfer`). Without, it does all of a host of a testbed:
its standard input gives the task, one JSON object in a line.
It says ``ready`` when its servers listen. A second line is the CLOCK_MONOTONIC time at which the run begins,
in nanoseconds. When an end is done, or at the line ``stop``, it prints the end's report, a JSON object in a
line. The line ``drain`` says that no more datagrams will be sent. When its standard input closes, whoever
started it is gone, and it ends.
"""

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from bentpipe.live.program import transfer
from bentpipe.live.program.ends import BulkReceiver, BulkSender, End, Task, UdpReceiver, UdpSender, Writer
from bentpipe.live.program.kernel import Clock
from bentpipe.live.program.web import Browser, WebServer

_ENDS: dict[tuple[str, str], Callable[[Task, Clock], End]] = {
    ("ftp", "sender"): BulkSender,
    ("ftp", "receiver"): BulkReceiver,
    ("onoff", "sender"): Writer,
    ("onoff", "receiver"): BulkReceiver,
    ("http", "sender"): WebServer,
    ("http", "receiver"): Browser,
    ("udp", "sender"): UdpSender,
    ("udp", "receiver"): UdpReceiver,
}


_SAYING = threading.Lock()


def _report(end: End) -> None:
    """Print the report of an end, once."""
    with _SAYING:
        if not end.reported:
            end.reported = True
            print(json.dumps(end.report), flush=True)


def _carry(end: End) -> None:
    end.run()
    _report(end)


def main() -> None:
    """Do what the task says."""
    if len(sys.argv) > 1:
        transfer.run(json.loads(sys.argv[1]))
        return
    task = json.loads(sys.stdin.readline())
    for name, value in task["sysctl"].items():
        Path(f"/proc/sys/net/ipv4/{name}").write_text(value, encoding="ascii")
    clock = Clock()
    ends = [_ENDS[end["app"], end["end"]](end, clock) for end in task["ends"]]
    for end in ends:
        end.prepare()
    print(json.dumps("ready"), flush=True)
    line = sys.stdin.readline()
    if not line:
        return
    clock.zero_ns = int(line)

    for end in ends:
        threading.Thread(target=_carry, args=(end,), daemon=True).start()
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
            _report(end)
    os._exit(0)


if __name__ == "__main__":
    main()
