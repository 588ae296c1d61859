"""The settings of a Linux server, computed from rate and round trip, and what each brings over the link."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from bentpipe.advise.link import ANSWER, INSTALLED, PACKET, Link, Tcp
from bentpipe.show.units import quantity, seconds

SIZES = (100_000, 1_000_000, 10_000_000, 100_000_000)
_WATCHED = SIZES[2:]
"""Files by which a setting is judged."""

_WORTH = 0.01
"""A setting that saves less of the time, in the geometric mean of both, is left out."""

_WORTH_A_PROXY = 0.2

_PAYLOAD, _WINDOW = 0.69, 160 / 256
"""What of a send buffer is payload at least, and of a receive buffer window (docs/explanation/linux.md)."""

_BURST_S, _MOST_SEGMENTS = 0.01, 100
_AWAKE_S, _LEAST_UNSENT = 0.02, 128 * 1024

UNREADABLE = ("quic", "vpn")
"""Encryption that hides TCP, or has none: no proxy can end such a connection."""

_DEVICE = "\"$(ip route show default | sed -n 's/.* dev \\([^ ]*\\).*/\\1/p' | head -n 1)\""


@dataclass(frozen=True)
class Advice:
    """A setting: the line that makes it, where, what it brings, and whether it is worth it."""

    line: str
    where: str
    gain: str
    worth: bool


def _memory(window: float, share: float) -> int:
    """Give a buffer with room for a window, in whole MiB."""
    return math.ceil(window / share / 2**20) * 2**20


def advice(link: Link) -> tuple[list[Advice], Tcp, Tcp]:
    """Give the settings, and the server's and the clients' TCP with those that are worth it."""
    window = 2 * link.product
    sent, received = max(4 << 20, _memory(window, _PAYLOAD)), max(6 << 20, _memory(window, _WINDOW))
    segments = min(_MOST_SEGMENTS, max(10, int(link.down_bps * _BURST_S / 8 / PACKET)))
    unsent = max(_LEAST_UNSENT, math.ceil(link.down_bps * _AWAKE_S / 8 / 1024) * 1024)
    found: list[Advice] = []
    server: Tcp = INSTALLED

    def step(line: str, brings: Tcp, where: str = "server") -> Tcp:
        after: Tcp = {**server, **brings}
        times = [(link.transfer_s(size, server), link.transfer_s(size, after)) for size in _WATCHED]
        worth = math.prod(then / now for now, then in times) < (1 - _WORTH) ** len(times)
        gain = "; ".join(
            f"{quantity(size, 'B')}: {_change(*pair)}" for size, pair in zip(_WATCHED, times, strict=True)
        )
        found.append(Advice(line, where, gain, worth))
        return after if worth else server

    server = step(f'sysctl -w net.ipv4.tcp_wmem="4096 16384 {sent}"', {"send_buffer": f"{sent} B"})
    route = f"ip route change $(ip route show default | head -n 1) initcwnd {segments}"
    server = step(route, {"initial_window": f"{segments} segments"})
    bbr = f"tc qdisc replace dev {_DEVICE} root fq && sysctl -w net.ipv4.tcp_congestion_control=bbr"
    server = step(bbr, {"control": "bbr1"})
    now, then = (link.answer_s({**INSTALLED, "restart_after_idle": kept}) for kept in ("linux", False))
    answers = f"answers of {quantity(ANSWER, 'B')} after pauses"
    gain = f"{answers}: {_change(now, then)} with cubic; bbr does so by itself"
    worth = then < (1 - _WORTH) * now
    found.append(Advice("sysctl -w net.ipv4.tcp_slow_start_after_idle=0", "server", gain, worth))
    line = f"sysctl -w net.ipv4.tcp_notsent_lowat={unsent}"
    gain = "no run of ours: 20 ms of the link wait in the kernel, and what is urgent passes the rest"
    found.append(Advice(line, "server", gain, worth=True))
    line = f'sysctl -w net.ipv4.tcp_rmem="4096 131072 {received}"'
    clients = step(line, {"receive_buffer": {"kernel": "6.12", "max": f"{received} B"}}, "clients")
    return found, server, clients


def careful_resume(link: Link) -> str:
    """Say what Careful Resume would bring, which Linux does not have."""
    open_window = {**INSTALLED, "receive_buffer": False, "receive_window": "16 MiB"}
    open_window["send_buffer"] = "unlimited"
    saved = {"saved_cwnd": f"{link.product:.0f} B", "saved_rtt": f"{link.rtt_s} s"}
    resumed = {**open_window, "slow_start": "careful-resume", "careful-resume": saved}
    now, then = (link.transfer_s(SIZES[2], tcp) for tcp in (open_window, resumed))
    return f"{quantity(SIZES[2], 'B')} with cubic and a window of 16 MiB: {_change(now, then)}"


def proxies(link: Link, server: Tcp, clients: Tcp) -> Iterator[tuple[str, list[float], str]]:
    """Give for each size the times in s as installed, with the server's settings, and with a proxy.

    The last says whether a proxy is worth it: it has the server's settings at the hub and the clients' at the
    terminal, and has to save a fifth of the time.
    """
    for size in SIZES:
        times = [link.transfer_s(size, INSTALLED), link.transfer_s(size, server)]
        times.append(link.transfer_s(size, {**server, **clients}, proxy=True))
        beside = [times[2] < (1 - _WORTH_A_PROXY) * time for time in times[:2]]
        yield quantity(size, "B"), times, "yes" if beside[1] else "for other servers" if beside[0] else "no"


def _change(now: float, then: float) -> str:
    change = round(100 * (then / now - 1), 1)
    return f"{seconds(now)} -> {seconds(then)} ({change:+.1f} %)" if change else f"{seconds(now)}, no change"
