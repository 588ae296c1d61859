"""Runs in the guest: transfers of the kernel's controls over netem, side by side; JSON in and out.

The argument is a file with a list of transfers: control, rate_bps, rtt_ms, queue (packets), loss, bytes,
window (bytes). Each has three namespaces of its own: the queue that overflows is a router's, for one at the
sender would tell TCP of it.
"""

import ctypes
import json
import os
import shlex
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
AT_A_TIME = 24
SAMPLE_S = 0.1
# struct tcp_info: where a sample lies.
RTT, CWND, RETRANSMITTED = 68, 80, 100
# Netem counts a frame with its header; its rate is told of 14 bytes less, so that it is one of IP packets.
PATH = """
ip netns add s{n}
ip netns add g{n}
ip netns add d{n}
ip link add end netns s{n} address {mac}1 type veth peer name left netns g{n} address {mac}2
ip link add end netns d{n} address {mac}4 type veth peer name right netns g{n} address {mac}3
ip -n s{n} address add 10.9.0.1/24 dev end
ip -n g{n} address add 10.9.0.2/24 dev left
ip -n g{n} address add 10.9.1.2/24 dev right
ip -n d{n} address add 10.9.1.1/24 dev end
ip -n s{n} link set dev end gso_max_segs 1 up
ip -n g{n} link set dev left up
ip -n g{n} link set dev right up
ip -n d{n} link set dev end gso_max_segs 1 up
ip -n s{n} neigh add 10.9.0.2 lladdr {mac}2 dev end
ip -n g{n} neigh add 10.9.0.1 lladdr {mac}1 dev left
ip -n g{n} neigh add 10.9.1.1 lladdr {mac}4 dev right
ip -n d{n} neigh add 10.9.1.2 lladdr {mac}3 dev end
ip -n s{n} route add default via 10.9.0.2
ip -n d{n} route add default via 10.9.1.2
ip netns exec g{n} sysctl -qw net.ipv4.ip_forward=1
ip netns exec s{n} sysctl -qw net.ipv4.tcp_no_metrics_save=1
ip netns exec s{n} sysctl -qw "net.ipv4.tcp_wmem=4096 4194304 8388608"
tc -n g{n} qdisc add dev right root netem {loss}rate {rate_bps}bit -14 limit {queue}
tc -n d{n} qdisc add dev end root netem delay {rtt_ms}ms limit 10000
"""


def inside(namespace: str) -> socket.socket:
    """Give a socket of this namespace."""
    with Path("/proc/thread-self/ns/net").open() as home, Path(f"/run/netns/{namespace}").open() as there:
        for entered in (there, home):
            if LIBC.setns(entered.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), namespace)
            if entered is there:
                made = socket.socket()
    return made


def idle_s() -> float:
    """Give how long the guest's one processor has been idle."""
    return float(Path("/proc/uptime").read_text(encoding="utf-8").split()[1])


def timeouts(namespace: str) -> int:
    """Give how often a retransmission timer of this namespace has expired."""
    show = ["ip", "netns", "exec", namespace, "cat", "/proc/net/netstat"]
    lines = subprocess.run(show, capture_output=True, text=True, check=True).stdout.splitlines()
    names, values = (line.split() for line in lines if line.startswith("TcpExt:"))
    return int(values[names.index("TCPTimeouts")])


def transfer(n: int, of: Mapping[str, Any], said: list[Any]) -> None:
    """Make one, and put what came of it in its place."""
    server, client = inside(f"d{n}"), inside(f"s{n}")
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, of["window"])
    server.bind(("10.9.1.1", 5001))
    server.listen()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, of["control"].encode())
    done = threading.Event()
    sums = [0, 0, 0]

    def send() -> None:
        client.connect(("10.9.1.1", 5001))
        threading.Thread(target=sample).start()
        client.sendall(bytes(of["bytes"]))

    def sample() -> None:
        while not done.wait(SAMPLE_S):
            info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            for place, value in enumerate((1, *(struct.unpack_from("I", info, at)[0] for at in (CWND, RTT)))):
                sums[place] += value

    begin = time.monotonic()
    sending = threading.Thread(target=send)
    sending.start()
    accepted, _ = server.accept()
    left = of["bytes"]
    while left:
        left -= len(accepted.recv(262_144))
    seconds = time.monotonic() - begin
    done.set()
    sending.join()
    info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    said[n] = {
        "goodput_bps": 8 * of["bytes"] / seconds,
        "resent": struct.unpack_from("I", info, RETRANSMITTED)[0],
        "timeouts": timeouts(f"s{n}"),
        "cwnd": sums[1] / sums[0],
        "rtt_ms": sums[2] / sums[0] / 1e3,
    }


def side_by_side(asked: Sequence[Mapping[str, Any]], first: int, said: list[Any]) -> float:
    """Make these, the first of this number; give the share of their time that the processor was busy."""
    making = []
    for n, of in enumerate(asked, first):
        loss = f"loss {of['loss'] * 100:g}% " if of["loss"] else ""
        for line in (
            PATH.format(**{**of, "n": n, "loss": loss, "mac": "02:00:00:00:00:0"}).strip().splitlines()
        ):
            subprocess.run(shlex.split(line), check=True)
        making.append(threading.Thread(target=transfer, args=(n, of, said)))
    idle, begin = idle_s(), time.monotonic()
    for one in making:
        one.start()
    for one in making:
        one.join()
    busy = 1 - (idle_s() - idle) / (time.monotonic() - begin)
    for n in range(first, first + len(asked)):
        for name in (f"s{n}", f"g{n}", f"d{n}"):
            subprocess.run(["ip", "netns", "del", name], check=True)
    return busy


def main() -> None:
    """Make them all."""
    asked = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    Path("/proc/sys/net/core/rmem_max").write_text("16777216")
    said: list[Any] = [None] * len(asked)
    busy = [side_by_side(asked[at : at + AT_A_TIME], at, said) for at in range(0, len(asked), AT_A_TIME)]
    json.dump({"kernel": os.uname().release, "busy": max(busy), "said": said}, sys.stdout)


if __name__ == "__main__":
    main()
