"""CUBIC and BBR beside ns-3's over one bottleneck: writes docs/generated/beside-simulators.md."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import bentpipe

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "generated" / "beside-simulators.md"
BINARY = ROOT / "target" / "witness" / "ns3"
LIBRARIES = ("applications", "internet", "network", "point-to-point", "traffic-control", "core")
SECONDS = 60
SEEDS = 5
BEGIN, END = (
    "<!-- written by tests/witness/ns3.py: begin -->\n",
    "<!-- written by tests/witness/ns3.py: end -->\n",
)

# ns-3's name of a control, and ours.
CONTROLS = (
    ("TcpLinuxReno", "standard"),
    ("TcpCubic", "cubic"),
    ("TcpBbr", "bbr1"),
)


@dataclass(frozen=True)
class Bottleneck:
    """Its rate, its round trip, the buffer before it, and the share of packets that it damages."""

    rate_mbps: int
    rtt_ms: int
    packets: int
    loss: float


PATHS = (
    Bottleneck(10, 100, 83, 0),
    Bottleneck(10, 100, 83, 0.001),
    Bottleneck(20, 20, 33, 0),
    Bottleneck(20, 20, 33, 0.002),
    Bottleneck(10, 600, 500, 0),
    Bottleneck(10, 600, 500, 0.0001),
)


@dataclass(frozen=True)
class Outcome:
    """Goodput, and segments that went again."""

    goodput_bps: float
    again: float


def theirs(control: str, path: Bottleneck) -> Outcome:
    """Run ns-3, whose random losses are of one seed."""
    command = [str(BINARY), control, str(path.rate_mbps), str(path.rtt_ms), str(path.packets), str(path.loss)]
    done = subprocess.run([*command, str(SECONDS)], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return Outcome(found["goodput_bps"], found["again"])


def ours(control: str, path: Bottleneck) -> Outcome:
    """Run bentpipe: the mean over the seeds where something is random."""
    text = f"""\
title = "witness"
duration = "{SECONDS} s"
[links.path]
from = "s"
to = "d"
rate = "{path.rate_mbps} Mbit/s"
delay = "{path.rtt_ms / 2} ms"
queue = "{path.packets} packets"
loss = {{ model = "packet", probability = {path.loss} }}
[tcp]
receive_window = "16 MB"
initial_window = "10 segments"
delayed_ack = false
byte_counting_limit = 1
[flows.flow]
from = "s"
to = "d"
recovery = "rack"
control = "{control}"
"""
    scenario = bentpipe.Scenario.from_toml(text)
    seeds = range(1, (SEEDS if path.loss else 1) + 1)
    flows = [bentpipe.run(scenario.with_({"seed": seed})).flows["flow"] for seed in seeds]
    goodput = sum(number(flow["goodput_bps"]) for flow in flows) / len(flows)
    return Outcome(goodput, sum(number(flow["retransmitted_segments"]) for flow in flows) / len(flows))


def number(value: object) -> float:
    """Give a number of one run."""
    if not isinstance(value, int | float):
        raise TypeError(f"expected a number, found {value!r}")
    return float(value)


def table() -> str:
    """Run everything; a line for each control and path."""
    lines = [
        "| control | rate | round trip | buffer | damaged | ns-3 | bentpipe | ns-3 sends again | bentpipe |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for their_name, name in CONTROLS:
        for path in PATHS:
            one, other = theirs(their_name, path), ours(name, path)
            lines.append(
                f"| `{name}` | {path.rate_mbps} Mbit/s | {path.rtt_ms} ms | {path.packets} packets"
                f" | {path.loss:g}"
                f" | {one.goodput_bps / 1e6:.2f} Mbit/s | {other.goodput_bps / 1e6:.2f} Mbit/s"
                f" | {one.again:.0f} | {other.again:.0f} |"
            )
    return "\n".join(lines) + "\n"


def build() -> None:
    """Compile ns-3's program."""
    BINARY.parent.mkdir(parents=True, exist_ok=True)
    source = ROOT / "tests" / "witness" / "ns3.cc"
    libraries = [f"-lns3-{library}" for library in LIBRARIES]
    subprocess.run(["g++", "-O1", "-std=c++17", source, "-o", BINARY, *libraries], check=True)


def main() -> None:
    """Run both, write the page."""
    build()
    before, rest = PAGE.read_text().split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(before + BEGIN + table() + END + after)
    print(f"wrote {PAGE.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
