"""The right edge of the receive window of one flow of bbr over GEO with 1 % lost, in several draws.

The kernel's are kept in ``edges.json``; `python tests/witness/edges.py` makes them anew in the virtual one.
"""

import json
import tempfile
from pathlib import Path

import virtual_guest
from testbed import GEO

from bentpipe import Scenario, run
from bentpipe.live.virtual.kernel import find
from bentpipe.live.virtual.machine import Virtual
from conftest import tshark_fields
from virtual import ours_of

KEPT = Path(__file__).with_name("edges.json")
DRAWS = range(1, 11)
AT_S = (3.6, 4.0, 4.2)
_SYN, _ACK = 2, 16

_TEXT = (
    'duration = "5 s"\nseed = {draw}\n'
    + GEO.format(loss='loss = {{ model = "packet", probability = 0.01 }}', total="10 MB")
    + 'control = "bbr1"\nstart = "{later_us} us"\n[tcp]\nprofile = "linux"\n'
)
LATER_US = 250
"""When the flow begins in the simulator: the clock of timestamps decides on a ms of a round trip."""


def scenario(draw: int, later_us: int = 0) -> Scenario:
    """Give a draw of the losses."""
    return Scenario.from_toml(_TEXT.format(draw=draw, later_us=later_us))


def edges(capture: Path) -> list[int]:
    """Give the right edge at each time as the sender knows it, in bytes from the first of the data.

    An ACK that comes late tells of none that is larger.
    """
    fields = ("frame.time_epoch", "tcp.srcport", "tcp.flags", "tcp.ack", "tcp.window_size")
    told: list[tuple[float, int]] = []
    began, receiver = 0.0, ""
    # The first interface is the server's; tshark counts from the first SYN, and scales windows.
    packets = tshark_fields(capture, *fields, display_filter="tcp and frame.interface_id == 0")
    for at_s, port, flags, acked, window in packets:
        if int(flags, 16) & _SYN:
            began = began or float(at_s)
            receiver = port if int(flags, 16) & _ACK else receiver
        elif port == receiver:
            told.append((float(at_s) - began, int(acked) - 1 + int(window)))
    return [max(edge for at_s, edge in told if at_s <= until) for until in AT_S]


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
