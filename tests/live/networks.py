"""Networks as scenario files, for transfers between our TCP and the kernel's over all their links."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from cases import DIRECTIONS

from bentpipe import _core
from bentpipe.live.interop import Over, Transfer

SATELLITE = """
[links.satellite]
from = "server"
to = "terminal"
rate = "6 Mbit/s"
delay = "30 ms"
"""

LINE = """
[links.line]
from = "terminal"
to = "client"
rate = "2 Mbit/s"
delay = "10 ms"
queue = "20 packets"
"""

FLOW = """
[tcp]
receive_window = "512 KiB"
delayed_ack = false
[flows.download]
from = "server"
to = "client"
bytes = "600 kB"
"""

NETWORKS = {
    "two bottlenecks": SATELLITE + 'queue = { scheme = "codel", limit = "200 packets" }' + LINE + FLOW,
    "an outage": SATELLITE
    + 'schedule = [{ at = "1500 ms", outage = "300 ms", waiting = "lose" }]'
    + LINE
    + FLOW,
    "a slower satellite": SATELLITE
    + 'queue = { scheme = "red", limit = "30 packets", min = "5 packets", max = "15 packets" }\n'
    + 'schedule = [{ at = "800 ms", rate = "1 Mbit/s" }]'
    + LINE.replace("20 packets", "200 packets")
    + FLOW,
    "a queue that marks": SATELLITE
    + LINE.replace('"20 packets"', '{ scheme = "fq-codel", limit = "100 packets", ecn = true }')
    + FLOW.replace("[tcp]", "[tcp]\necn = true"),
    "a price and priorities": SATELLITE
    + 'queue = { scheme = "rem", limit = "50 packets" }'
    + LINE.replace('"20 packets"', '{ scheme = "priority", limit = "20 packets" }')
    + FLOW
    + "class = 3",
    "a gateway": SATELLITE + LINE + 'gateway = { scheme = "xfwa", isl_delay = "20 ms" }' + FLOW,
    "a handover that loses": SATELLITE
    + LINE
    + SATELLITE.replace("links.satellite", "links.other")
    + FLOW
    + 'via = ["satellite"]\n'
    + '[handovers.first]\nat = "1 s"\nflows = ["download"]\nvia = ["other"]\nin_flight = "lose"',
}


def transfer(name: str, changes: Mapping[str, str] | None = None, **chosen: str) -> Transfer:
    """Make a transfer over one of the `NETWORKS`; `changes` are settings of the scenario."""
    scenario = _core.Scenario(name, list((changes or {}).items()), NETWORKS[name].encode())
    over = Over.of(scenario)
    named = {"recovery": "sack", "control": "standard", "direction": "send", "bytes": over.bytes, **chosen}
    common: dict[str, Any] = {"seed": scenario.seed, "kernel_control": "reno"}
    return Transfer(None, {**common, **named}, over)


def every_network(**chosen: str) -> dict[str, Transfer]:
    """Every network, with our TCP at either end and between two kernels."""
    linux = {"recovery": "linux", "control": "reno"}
    ours = {
        f"{name}, {direction}": transfer(name, None, direction=direction, **chosen)
        for name, direction in product(NETWORKS, DIRECTIONS)
    }
    return ours | {f"{name}, linux": transfer(name, None, **linux, **chosen) for name in NETWORKS}
