"""Write what each start takes over a satellite into docs/generated/beside-simulators.md."""

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bentpipe as bp

PAGE = Path(__file__).resolve().parents[2] / "docs" / "generated" / "beside-simulators.md"
PAYLOAD_BYTES = 1448
PACKET_BYTES = 1500
INITIAL_WINDOW = 10
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Link:
    """A satellite's rates to the client and back, in Mbit/s, and the round-trip time."""

    down_mbps: float
    up_mbps: float
    rtt_ms: int

    @property
    def name(self) -> str:
        """Rates as the sources write them."""
        return f"{self.down_mbps:g}/{self.up_mbps:g} Mbit/s"

    @property
    def bdp_bytes(self) -> int:
        """What the link holds, payload and headers."""
        return int(self.down_mbps * 1e6 / 8 * self.rtt_ms / 1000)

    @property
    def saved_bytes(self) -> int:
        """Payload that a connection before has carried in a round trip."""
        return self.bdp_bytes * PAYLOAD_BYTES // PACKET_BYTES


RATES = ((250.0, 3.0), (50.0, 10.0), (10.0, 2.0))
PICOQUIC = tuple(Link(down, up, 600) for down, up in RATES)
OBJECTIVES = tuple(Link(down, up, 650) for down, up in RATES)
PICOQUIC_S = {250: 7, 50: 20, 10: 85}
"""Seconds for 100 MB that picoquic's satellite tests quote as the goal."""
OBJECTIVE_S = {250: (3, 5, 8), 50: (3, 5, 20), 10: (3, 10, 85)}
"""Seconds for 2, 10 and 100 MB (draft-kuhn-quic-4-sat-07, its regression tests)."""


def starts(link: Link) -> dict[str, str]:
    """Give the settings of each start over a link."""
    saved = f'saved_cwnd = "{link.saved_bytes} B", saved_rtt = "{link.rtt_ms} ms"'
    jump = link.saved_bytes // 2 // PAYLOAD_BYTES
    return {
        "standard": 'slow_start = "standard"',
        "limited": 'slow_start = "limited"',
        "hystart": 'slow_start = "hystart"',
        "hystart++": 'slow_start = "hystart++"',
        "search": 'slow_start = "search"',
        "careful-resume": f'slow_start = "careful-resume"\ncareful-resume = {{ {saved} }}',
        "careful-resume, hystart": (
            f'slow_start = "careful-resume"\ncareful-resume = {{ {saved}, growth = "hystart" }}'
        ),
        f"initial window of BDP/2 ({jump} segments)": f'initial_window = "{jump} segments"',
    }


SCENARIO = """\
title = "{name}"
seed = 1

[links.satellite]
from = "server"
to = "client"
rate = "{down} Mbit/s"
delay = "{delay} ms"
queue = "{queue} B"

[links.satellite.reverse]
rate = "{up} Mbit/s"

[flows.download]
from = "server"
to = "client"
bytes = "{size} MB"
variant = "cubic"

[tcp]
timestamps = true
receive_window = "128 MB"
growth = "bytes"
byte_counting_limit = 1000
delayed_ack = {{ segments = 8, timeout = "25 ms" }}
{settings}
"""


@dataclass(frozen=True)
class Took:
    """What a transfer took."""

    finish_s: float
    resent: int
    timeouts: int


def run(link: Link, size_mb: int, settings: str) -> Took:
    """Carry so many megabytes with a start."""
    if "initial_window" not in settings:
        settings += f'\ninitial_window = "{INITIAL_WINDOW} segments"'
    text = SCENARIO.format(
        name=link.name,
        down=link.down_mbps,
        up=link.up_mbps,
        delay=link.rtt_ms / 2,
        queue=link.bdp_bytes,
        size=size_mb,
        settings=settings,
    )
    flow: Any = bp.run(bp.Scenario.from_toml(text), progress=False).flows["download"]
    return Took(flow["finish_s"] or math.inf, flow["retransmitted_segments"], flow["timeouts"])


def doubling_s(link: Link, size: float, initial: float) -> float:
    """Give the least finish time of a window that doubles a round trip (the bound of tcp.md)."""
    rtt = link.rtt_ms / 1000
    rate = link.down_mbps * 1e6 * PAYLOAD_BYTES / PACKET_BYTES
    longest, sent, rounds, window = 0.0, 0.0, 0, initial
    while sent < size:
        longest = max(longest, rounds * rtt + (size - sent) * 8 / rate)
        sent, window, rounds = sent + window, 2 * window, rounds + 1
    return rtt + longest + rtt / 2


def bound_s(link: Link, size_mb: int) -> float:
    """Give the bound of doubling from the usual initial window."""
    return doubling_s(link, size_mb * MEGABYTE, INITIAL_WINDOW * PAYLOAD_BYTES)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Write a table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *map(list, rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def cell(took: Took) -> str:
    """Write a time, and what was sent again."""
    resent = f", {took.resent} again" if took.resent else ""
    timeouts = f", {took.timeouts} timeouts" if took.timeouts else ""
    return f"{took.finish_s:.2f} s{resent}{timeouts}"


def picoquic() -> str:
    """Give the table of picoquic's cases."""
    names = [name.partition(" (")[0] for name in starts(PICOQUIC[0])]
    rows = [
        [name, *(cell(run(link, 100, list(starts(link).values())[i])) for link in PICOQUIC)]
        for i, name in enumerate(names)
    ]
    bounds = ["bound of doubling from 10 segments", *(f"{bound_s(link, 100):.2f} s" for link in PICOQUIC)]
    lines = [f"{100 * 8 / link.down_mbps:.2f} s" for link in PICOQUIC]
    goal = [f"{PICOQUIC_S[int(link.down_mbps)]} s" for link in PICOQUIC]
    rows += [bounds, ["100 MB at the link's rate alone", *lines], ["picoquic's goal", *goal]]
    return table(["start", *(link.name for link in PICOQUIC)], rows)


def objectives() -> str:
    """Give the table of the draft's objectives."""
    sizes = (2, 10, 100)
    rows = []
    for link in OBJECTIVES:
        for i, size in enumerate(sizes):
            times = [run(link, size, settings).finish_s for settings in starts(link).values()]
            goal = OBJECTIVE_S[int(link.down_mbps)][i]
            said = (f"**{time:.2f}**" if time <= goal else f"{time:.2f}" for time in times)
            rows.append([link.name, f"{size} MB", f"{goal}", f"{bound_s(link, size):.2f}", *said])
    names = [name.partition(" (")[0] for name in starts(OBJECTIVES[0])]
    return table(["link", "size", "objective, s", "bound of doubling, s", *names], rows)


def hystart() -> str:
    """Give the table of what HyStart's signs cost."""
    signs = {
        "neither": "ack_train = false, delay = false",
        "ACK train": "delay = false",
        "delay": "ack_train = false",
        "both": "",
    }
    rows = []
    for name, options in signs.items():
        settings = f'slow_start = "hystart"\nhystart = {{ {options} }}'
        times = (run(link, size, settings) for link in PICOQUIC for size in (10, 100))
        rows.append([name, *map(cell, times)])
    head = [f"{link.name}, {size} MB" for link in PICOQUIC for size in (10, 100)]
    return table(["what may end slow start", *head], rows)


PARTS = {"picoquic": picoquic, "objectives": objectives, "hystart": hystart}


def marks(part: str) -> tuple[str, str]:
    """Give what stands around a part of the page that is written here."""
    begin, end = (
        f"<!-- {part}, written by tests/witness/starts.py: {side} -->\n" for side in ("begin", "end")
    )
    return begin, end


def main() -> None:
    """Write the page."""
    page = PAGE.read_text()
    for part, write in PARTS.items():
        begin, end = marks(part)
        before, rest = page.split(begin)
        _, after = rest.split(end)
        page = f"{before}{begin}{write()}{end}{after}"
    PAGE.write_text(page)
    sys.stdout.write(f"{PAGE} is written\n")


if __name__ == "__main__":
    main()
