"""The right edge of the receive window of one flow of bbr over GEO with 1 % lost, in several draws.

The kernel's are kept in ``edges.json``; `python tests/witness/edges.py` makes them anew in the virtual one.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from testbed import GEO

from bentpipe import Scenario
from bentpipe.live.difference import Side, sides_of
from bentpipe.live.packets import Packet
from bentpipe.live.virtual.kernel import find

KEPT = Path(__file__).with_name("edges.json")
DRAWS = range(1, 11)
AT_S = (3.6, 4.0, 4.2)

_TEXT = (
    'duration = "5 s"\nseed = {draw}\n'
    + GEO.format(loss='loss = {{ model = "packet", probability = 0.01 }}', total="10 MB")
    + 'control = "bbr1"\nstart = "{later_us} us"\n[tcp]\nprofile = "linux"\n'
)
LATER_US = 250
"""When the flow begins: the clock of timestamps decides on a ms of a round trip."""


def scenario(draw: int) -> Scenario:
    """Give a draw of the losses."""
    return Scenario.from_toml(_TEXT.format(draw=draw, later_us=LATER_US))


def edges(packets: Sequence[Packet]) -> list[int]:
    """Give the right edge at each time as the sender knows it, in bytes from the first of the data.

    An ACK that comes late tells of none that is larger.
    """
    came = [packet for packet in packets if not packet.sent]
    began = packets[0].at_s
    return [max(one.ack - 1 + one.window for one in came if one.at_s - began <= until) for until in AT_S]


def simulated(draw: int) -> list[int]:
    """Give the simulator's edges."""
    release = json.loads(KEPT.read_text())["kernel_release"]
    return edges(Side.of(sides_of(scenario(draw), release)[1], states=False).packets)


def of_the_kernel(draw: int) -> list[int]:
    """Give the kernel's edges, in a virtual kernel."""
    return edges(Side.of(sides_of(scenario(draw), find().release)[0], states=False).packets)


def main() -> None:
    """Make the kernel's edges anew and keep them."""
    found = {str(draw): of_the_kernel(draw) for draw in DRAWS}
    KEPT.write_text(json.dumps({"kernel_release": find().release, "edges": found}, indent=1) + "\n")
    for draw, told in found.items():
        print(draw, told, simulated(int(draw)))


if __name__ == "__main__":
    main()
