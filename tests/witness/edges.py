"""The right edge of the receive window of one flow of bbr over GEO with 1 % lost, in several draws.

The kernel's are kept in ``edges.json``; `python tests/witness/edges.py` makes them anew in the virtual one.
"""

import json
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

import virtual_guest

from bentpipe import Scenario, run
from bentpipe.live.virtual.kernel import find
from bentpipe.live.virtual.machine import Virtual
from virtual import ours_of

KEPT = Path(__file__).with_name("edges.json")
DRAWS = range(1, 11)
AT_S = (3.6, 4.0, 4.2)

_TEXT = """
duration = "5 s"
seed = {draw}
[links.satellite]
from = "server"
to = "terminal"
rate = "10 Mbit/s"
delay = "270 ms"
queue = "450 packets"
loss = {{ model = "packet", probability = 0.01 }}
[links.satellite.reverse]
rate = "2 Mbit/s"
[tcp]
profile = "linux"
[flows.download]
from = "server"
to = "terminal"
bytes = "10 MB"
control = "bbr1"
start = "{later_us} us"
"""
LATER_US = 250
"""When the flow begins in the simulator: the clock of timestamps decides on a ms of a round trip."""


def scenario(draw: int, later_us: int = 0) -> Scenario:
    """Give a draw of the losses."""
    return Scenario.from_toml(_TEXT.format(draw=draw, later_us=later_us))


def edges(capture: Path) -> list[int]:
    """Give the right edge at each time as the sender knows it, in bytes from the first of the data.

    An ACK that comes late tells of none that is larger.
    """
    told = []
    first, scale, began = 0, 0, None
    for at_s, packet in _packets(capture.read_bytes()):
        header = (packet[0] & 15) * 4
        port, _, _, ack, offset, flags, window = struct.unpack_from(">HHIIBBH", packet, header)
        if flags & 2:
            began = at_s if began is None else began
            if flags & 16:
                first, server = ack, port
                scale = _window_scale(packet[header + 20 : header + (offset >> 4) * 4])
        elif first and port == server:
            told.append((at_s - (began or 0.0), (ack - first & 0xFFFFFFFF) + (window << scale)))
    return [max(edge for at_s, edge in told if at_s <= until) for until in AT_S]


def _window_scale(options: bytes) -> int:
    at = 0
    while at < len(options) and options[at]:
        if options[at] == 3:
            return options[at + 2]
        at += 1 if options[at] == 1 else options[at + 1]
    return 0


def _packets(file: bytes) -> Iterator[tuple[float, bytes]]:
    """Give time and IPv4 packet of each at the first interface of a pcapng file, which is the server's."""
    at, unit = 0, 1e-6
    while at + 12 <= len(file):
        kind, length = struct.unpack_from("<II", file, at)
        body = file[at + 8 : at + length - 4]
        if kind == 1:
            unit = 10.0 ** -_resolution(body[8:])
        elif kind == 6:
            interface, high, low, captured = struct.unpack_from("<IIII", body)
            if interface == 0:
                yield (high << 32 | low) * unit, body[20 : 20 + captured]
        at += length


def _resolution(options: bytes) -> int:
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from("<HH", options, at)
        if code == 9:
            return options[at + 4]
        at += 4 + (length + 3) // 4 * 4
    return 6


def simulated(draw: int) -> list[int]:
    """Give the simulator's edges."""
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "ours.pcapng"
        run(ours_of(scenario(draw, LATER_US)), pcap=capture, progress=False)
        return edges(capture)


def of_the_kernel(draw: int) -> list[int]:
    """Give the kernel's edges, in a virtual kernel."""
    with Virtual(find()).machine("edges") as machine:
        list(machine.call(virtual_guest.capture, scenario(draw), str(machine.inside("capture"))))
        return edges(machine.folder / "capture")


def main() -> None:
    """Make the kernel's edges anew and keep them."""
    found = {str(draw): of_the_kernel(draw) for draw in DRAWS}
    KEPT.write_text(json.dumps({"kernel_release": find().release, "edges": found}, indent=1) + "\n")
    for draw, told in found.items():
        print(draw, told, simulated(int(draw)))


if __name__ == "__main__":
    main()
