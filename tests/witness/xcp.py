"""XCP of ns-2 and of bentpipe over the same links; writes the table of docs/generated/beside-simulators.md.

usage: .venv/bin/python tests/witness/xcp.py
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import bentpipe

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "generated" / "beside-simulators.md"
BEGIN, END = (
    "<!-- written by tests/witness/xcp.py: begin -->\n",
    "<!-- written by tests/witness/xcp.py: end -->\n",
)
RATE_MBPS = 10
CASES = {"one": (560,), "four": (520, 560, 620, 700)}
"""Round-trip times in ms: the satellite's 500 and each flow's own."""
TIMES = (5, 10, 20, 60, 120)


@dataclass(frozen=True)
class Course:
    """Bytes that each flow had brought at each of the times."""

    delivered: list[list[float]]

    def together(self, at: int) -> float:
        return sum(self.delivered[TIMES.index(at)])

    def rates(self, begin: int, end: int) -> list[float]:
        """Bytes a second of each flow between two of the times."""
        first, last = (self.delivered[TIMES.index(at)] for at in (begin, end))
        return [(b - a) / (end - begin) for a, b in zip(first, last, strict=True)]

    def jain(self, begin: int, end: int) -> float:
        rates = self.rates(begin, end)
        return sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates))


def ns2(case: str) -> Course:
    """Run ns-2."""
    words = ["ns", str(HERE / "xcp.tcl"), str(RATE_MBPS), ",".join(map(str, CASES[case])), "120.1"]
    out = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    rows = {float(line.split()[0]): [float(word) for word in line.split()[1:]] for line in out.splitlines()}
    return Course([rows[float(at)] for at in TIMES])


def ours(case: str) -> Course:
    """Run bentpipe: routers of XCP before both links, as ns-2 has them."""
    text = f"""\
[links.satellite]
from = "gateway"
to = "client"
rate = "{RATE_MBPS} Mbit/s"
delay = "250 ms"
queue = "2000 packets"
gateway = {{ scheme = "xcp", least_interval = "1 ms" }}
[tcp]
mss = "1460 B"
receive_window = "14400000 B"
delayed_ack = false
initial_window = "10 segments"
xcp = {{ demand = "unbounded", aging = 0 }}
"""
    for number, rtt_ms in enumerate(CASES[case]):
        text += f"""\
[links.terrestrial{number}]
from = "server{number}"
to = "gateway"
rate = "100 Mbit/s"
delay = "{(rtt_ms - 500) / 2} ms"
queue = "5000 packets"
gateway = {{ scheme = "xcp", least_interval = "1 ms" }}
[flows.f{number}]
from = "server{number}"
to = "client"
variant = "xcp"
"""
    delivered = []
    for at in TIMES:
        result = bentpipe.run(bentpipe.Scenario.from_toml(f'duration = "{at} s"\n{text}'))
        delivered.append([float(str(flow["bytes_delivered"])) for flow in result.flows])
    return Course(delivered)


def table() -> str:
    """Write what both brought."""
    names = [
        "flows",
        "simulator",
        *(f"MB by {at} s" for at in TIMES),
        "Mbit/s, 60 to 120 s",
        "Jain, 60 to 120 s",
    ]
    rows = [names, ["---"] * len(names)]
    for case in CASES:
        for simulator, course in (("ns-2.35", ns2(case)), ("bentpipe", ours(case))):
            cells = [case, simulator, *(f"{course.together(at) / 1e6:.2f}" for at in TIMES)]
            cells += [f"{sum(course.rates(60, 120)) * 8e-6:.3f}", f"{course.jain(60, 120):.4f}"]
            rows.append(cells)
    return "".join("| " + " | ".join(cells) + " |\n" for cells in rows) + "\n"


def main() -> None:
    """Run both, write the page."""
    before, rest = PAGE.read_text().split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(before + BEGIN + "\n" + table() + END + after)


if __name__ == "__main__":
    main()
