"""XFWA in the running kernel: the gateway of a satellite link at one of this machine's interfaces."""

import math
import re
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bentpipe import _core
from bentpipe.errors import InputError
from bentpipe.live.emulate import ended_by_signals
from bentpipe.live.errors import errors_of
from bentpipe.live.install import bpf_object

WHO = "live gateway"
SCHEMES = ("xfwa",)

_LINK_HEADERS = {1: 14, 772: 14, 65534: 0}
"""Bytes before the IP header by the interface's type: Ethernet, loopback, none."""
_SIOCGIFHWADDR, _NAME_BYTES = 0x8927, 16
_TURN_S = 0.1


@dataclass(frozen=True)
class Counts:
    """What a gateway did until now."""

    duration_s: float
    segments_forward: int
    segments_backward: int
    windows_lowered: int
    window_mean_bytes: float
    flows: int
    rtt_mean_s: float


def guard(
    interface: str,
    *,
    until_s: float | None = None,
    seen: Callable[[Counts], None] = lambda _: None,
    **settings: Any,
) -> tuple[dict[str, Any], Counts]:
    """Lower the windows that come in by `interface` until a signal, or for a time, and give what was done.

    `settings` are those of the guarded link and its flows, as scenarios write them: ``rate``, ``queue``,
    ``rtt``, ``isl_delay``, ``least`` and ``delta_factor``. `seen` hears ten times a second how things stand.

    Raises InputError: a setting, the interface, the machine or the user does not allow it.
    Raises BentpipeError: the kernel refuses.
    """
    _check(until_s, settings)
    try:
        index = socket.if_nametoindex(interface)
    except OSError:
        names = ", ".join(name for _, name in socket.if_nameindex())
        raise InputError(f"{WHO}: IFACE: expected one of {names}, found {interface!r}") from None
    kind = _kind(interface)
    if kind not in _LINK_HEADERS:
        raise InputError(
            f"{WHO}: {interface}: expected an Ethernet or an IP device, found one of type {kind}"
        )
    with bpf_object("xfwa", WHO) as file, ended_by_signals() as ended:
        began = time.monotonic()
        with errors_of(WHO):
            gateway = _core.bpf_gateway(str(file), index, link_header=_LINK_HEADERS[kind], **settings)
        try:
            while not ended.wait(_TURN_S):
                counts = _counts(gateway, began)
                seen(counts)
                if until_s is not None and counts.duration_s >= until_s:
                    break
            counts, remembered = _counts(gateway, began), gateway.flows_remembered()
        finally:
            gateway.release()
    report = {
        "kernel_release": _core.kernel_release(),
        "interface": interface,
        "scheme": SCHEMES[0],
        **settings,
        **asdict(counts),
        "flows_remembered": remembered,
    }
    return report, counts


def _check(until_s: float | None, settings: Mapping[str, Any]) -> None:
    """Refuse what the kernel would take, and what would mean nothing."""
    if until_s is not None and not 0 < until_s < math.inf:
        raise InputError(f"--time: expected seconds above 0, found {until_s:g}")
    if settings["rtt"] != "handshake" and settings["isl_delay"] is not None:
        raise InputError(f"{WHO}: expected either --rtt or --isl-delay, found both")
    for key in ("rtt", "queue"):
        value = settings[key]
        if (number := re.match(r"\s*[-+]?[\d.]+(e[-+]?\d+)?", value)) and float(number[0]) <= 0:
            raise InputError(f"{WHO}: --{key}: expected more than nothing, found {value!r}")


def _kind(interface: str) -> int:
    """Give the type of its link layer (ARPHRD_* of linux/if_arp.h), in this network namespace."""
    import fcntl

    request = struct.pack("256s", interface.encode())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        answer = fcntl.ioctl(asking, _SIOCGIFHWADDR, request)
    kind: int = struct.unpack_from("=H", answer, _NAME_BYTES)[0]
    return kind


def _counts(gateway: "_core.KernelGateway", began: float) -> Counts:
    forward, backward, lowered, written, flows, rtt_s = gateway.counts()
    mean = written / lowered if lowered else 0.0
    return Counts(time.monotonic() - began, forward, backward, lowered, mean, flows, rtt_s)
