"""ns-3's and ns-2's controls beside ours: writes docs/generated/beside-simulators.md."""

import json
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

import ns3

import bentpipe

PAGE = ns3.ROOT / "docs" / "generated" / "beside-simulators.md"
NS2 = ns3.ROOT / "tests" / "witness" / "vegas.tcl"
BEGIN, END = (f"<!-- written by tests/witness/controls.py: {side} -->\n" for side in ("begin", "end"))
SECONDS = 120
RATE_MBPS = 2
PACKETS = 100
SEEDS, OUR_SEEDS = 10, 40
# ns-3's name of a control, ours, and the readings that ours has.
CONTROLS = (
    ("TcpLinuxReno", "standard", ("",)),
    ("TcpHybla", "hybla", ("linux",)),
    ("TcpWestwood", "westwood", ("paper", "linux")),
    ("TcpVeno", "veno", ("paper", "linux")),
    ("TcpVegas", "vegas", ("paper", "linux")),
    ("TcpIllinois", "illinois", ("",)),
)
AS_NS3 = 'initial_window = "10 segments"\nbyte_counting_limit = 1'
AS_NS2 = 'profile = "ns2"\nmss = "1460 B"'
PATHS = ((60, 0.0), (60, 0.01), (520, 0.0), (520, 0.001))


@dataclass(frozen=True)
class Mean:
    """The mean goodput of some runs, its standard error, bit/s, and what went again."""

    goodput_bps: float
    error_bps: float
    again: float

    @classmethod
    def of(cls, goodputs: Sequence[float], again: Sequence[float]) -> "Mean":
        """Take the mean."""
        runs = len(goodputs)
        error = statistics.stdev(goodputs) / runs**0.5 if runs > 1 else 0.0
        return cls(statistics.fmean(goodputs), error, statistics.fmean(again))

    def __str__(self) -> str:
        """Write it in Mbit/s."""
        return f"{self.goodput_bps / 1e6:.3f}" + (f" ± {self.error_bps / 1e6:.3f}" if self.error_bps else "")


def by_ns3(control: str, rtt_ms: int, loss: float) -> Mean:
    """Run ns-3, with some seeds where something is random."""
    made = []
    for seed in range(1, (SEEDS if loss else 1) + 1):
        words = [control, RATE_MBPS, rtt_ms, PACKETS, loss, SECONDS, seed]
        done = subprocess.run([ns3.BINARY, *map(str, words)], capture_output=True, text=True, check=True)
        made.append(json.loads(done.stdout))
    return Mean.of([row["goodput_bps"] for row in made], [row["again"] for row in made])


def ours(
    control: str, reading: str, rtt_ms: int, loss: float, tcp: str = AS_NS3, recovery: str = "rack"
) -> Mean:
    """Run bentpipe."""
    scenario = bentpipe.Scenario.from_toml(f"""\
duration = "{SECONDS} s"
[links.path]
from = "s"
to = "d"
rate = "{RATE_MBPS} Mbit/s"
delay = "{rtt_ms / 2} ms"
queue = "{PACKETS} packets"
loss = {{ model = "packet", probability = {loss} }}
[tcp]
receive_window = "16 MB"
delayed_ack = false
{tcp}
{f'{control} = {{ reading = "{reading}" }}' if reading else ""}
[flows.flow]
from = "s"
to = "d"
recovery = "{recovery}"
control = "{control}"
""")
    seeds = range(1, (OUR_SEEDS if loss else 1) + 1)
    flows = [bentpipe.run(scenario, seed=seed, progress=False).flows["flow"] for seed in seeds]
    return Mean.of(
        [ns3.number(flow["goodput_bps"]) for flow in flows],
        [ns3.number(flow["retransmitted_segments"]) for flow in flows],
    )


def by_ns2(rtt_ms: int, loss: float) -> Mean:
    """Run ns-2's Vegas."""
    made = []
    for seed in range(1, (SEEDS if loss else 1) + 1):
        words = [str(word) for word in (RATE_MBPS, rtt_ms, PACKETS, loss, SECONDS, seed)]
        done = subprocess.run(["ns", str(NS2), *words], capture_output=True, text=True, check=True)
        made.append([float(word) for word in done.stdout.split()])
    return Mean.of([row[0] for row in made], [row[1] for row in made])


def beside_ns3() -> str:
    """Run all against ns-3."""
    lines = [
        "| control | reading | RTT (ms) | loss | ns-3.37 (Mbit/s) | bentpipe | ns-3 beside it | sent again |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for their_name, name, readings in CONTROLS:
        for rtt_ms, loss in PATHS:
            theirs = by_ns3(their_name, rtt_ms, loss)
            lines += [
                row(f"{name} | {reading}", rtt_ms, loss, theirs, ours(name, reading, rtt_ms, loss))
                for reading in readings
            ]
    return "\n".join(lines) + "\n"


def beside_ns2() -> str:
    """Run Vegas against ns-2's."""
    lines = [
        "| reading | RTT (ms) | loss | ns-2.35 (Mbit/s) | bentpipe | ns-2 beside it | sent again |",
        "|---|---|---|---|---|---|---|",
    ]
    for rtt_ms, loss in PATHS:
        theirs = by_ns2(rtt_ms, loss)
        for reading in ("ns2", "paper"):
            mine = ours("vegas", reading, rtt_ms, loss, AS_NS2, "newreno")
            lines.append(row(reading, rtt_ms, loss, theirs, mine))
    return "\n".join(lines) + "\n"


def row(name: str, rtt_ms: int, loss: float, theirs: Mean, mine: Mean) -> str:
    """Write a line."""
    return (
        f"| {name} | {rtt_ms} | {loss:g} | {theirs} | {mine}"
        f" | {theirs.goodput_bps / mine.goodput_bps - 1:+.1%} | {theirs.again:.0f}, {mine.again:.0f} |"
    )


def main() -> None:
    """Compile ns-3's program, run all, write the page."""
    ns3.build()
    text = f"### ns-3\n\n{beside_ns3()}\n### ns-2's Vegas\n\n{beside_ns2()}"
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + text + "\n" + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
