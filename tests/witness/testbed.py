"""Write the table of docs/witness-testbed.md: kernels beside the simulator, by the testbed; needs root."""

import argparse
import statistics
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bentpipe import Scenario, _core, run
from bentpipe.live.testbed import SIMULATED, Compared, Side, over_kernels
from bentpipe.results import Run

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "witness-testbed.md"
VARIANTS = ("reno", "cubic", "bbr", "adalr", "afc")
SEEDS = 40
"""Simulated runs where losses are random."""
CLOSE = 0.05

_GEO = """
[links.satellite]
from = "server"
to = "terminal"
rate = "10 Mbit/s"
delay = "270 ms"
queue = "450 packets"
{loss}
[links.satellite.reverse]
rate = "2 Mbit/s"
[flows.download]
from = "server"
to = "terminal"
bytes = "{total}"
"""
_SHARED = """
[links.satellite]
from = "server"
to = "terminal"
rate = "10 Mbit/s"
delay = "270 ms"
queue = "450 packets"
[flows.first]
from = "server"
to = "terminal"
bytes = "8 MB"
[flows.second]
from = "server"
to = "terminal"
bytes = "8 MB"
start = "2 s"
"""
_GATEWAY = """
[links.satellite]
from = "server"
to = "terminal"
rate = "10 Mbit/s"
delay = "75 ms"
queue = "60 packets"
gateway = {{ scheme = "xfwa", isl_delay = "20 ms" }}
{flows}
"""
_FLOW = '[flows.f{number}]\nfrom = "server"\nto = "terminal"\nbytes = "4 MB"\nstart = "{start} ms"\n'


def _lossy(probability: float) -> str:
    return f'loss = {{ model = "packet", probability = {probability} }}'


SCENARIOS: Mapping[str, str] = {
    "GEO": _GEO.format(loss="", total="10 MB"),
    "GEO, 0.1 % lost": _GEO.format(loss=_lossy(0.001), total="5 MB"),
    "GEO, 1 % lost": _GEO.format(loss=_lossy(0.01), total="1500 kB"),
    "two flows share it": _SHARED,
    "four flows behind XFWA": _GATEWAY.format(
        flows="".join(_FLOW.format(number=number, start=250 * number) for number in range(4))
    ),
}


@dataclass(frozen=True)
class Row:
    """A variant over a scenario: goodput (bit/s) of all flows together, and mean RTT (s), on both sides."""

    scenario: str
    compared: Compared
    low_bps: float
    high_bps: float

    @property
    def deviation(self) -> float:
        """Of goodput."""
        assert self.compared.simulator is not None
        return goodput(self.compared.kernel.run) / goodput(self.compared.simulator.run) - 1

    @property
    def rtt_deviation(self) -> float:
        """Of RTT."""
        kernel, simulated = self._rtts()
        return kernel / simulated - 1

    def _rtts(self) -> tuple[float, float]:
        assert self.compared.simulator is not None
        return over_time(self.compared.kernel), over_time(self.compared.simulator)

    @property
    def alike(self) -> bool:
        """Within 5 %, or among 95 of 100 runs with random losses."""
        return (
            abs(self.deviation) <= CLOSE or self.low_bps <= goodput(self.compared.kernel.run) <= self.high_bps
        )

    def cells(self) -> Iterator[str]:
        """Write it for the table."""
        assert self.compared.simulator is not None
        kernel, simulated = self.compared.kernel.run, self.compared.simulator.run
        rtt, simulated_rtt = self._rtts()
        yield self.scenario
        yield self.compared.variant
        yield from (f"{goodput(side) / 1e6:.4g}" for side in (kernel, simulated))
        yield share(self.deviation)
        yield f"{self.low_bps / 1e6:.3g} to {self.high_bps / 1e6:.3g}" if self.high_bps else ""
        yield f"{rtt * 1e3:.0f}, {simulated_rtt * 1e3:.0f}"
        yield share(self.rtt_deviation)
        for key in ("retransmitted_segments", "timeouts"):
            yield ", ".join(str(total(side, key)) for side in (kernel, simulated))
        yield "yes" if self.alike else "no"


def over_time(side: Side) -> float:
    """Give the mean RTT over time, s, over the flows."""
    means = []
    for curves in side.series.values():
        times, values = curves["rtt"]
        means.append(float(np.average(values[:-1], weights=np.diff(times))))
    return statistics.fmean(means)


def total(of: Run, key: str) -> int:
    """Sum a count over the flows of a run."""
    return sum(int(flow.get(key) or 0) for flow in of["flows"])  # type: ignore[call-overload]


def goodput(of: Run) -> float:
    """Give the bytes of all flows over the time until the last of them has finished, in bit/s."""
    flows: list[Any] = list(of["flows"])
    total_bytes: float = sum(flow["bytes_delivered"] for flow in flows)
    return float(8 * total_bytes / max(flow["finish_s"] for flow in flows))


def share(value: float) -> str:
    """Write a deviation."""
    return f"{value * 100:+.1f} %"


def among(text: str, variant: str) -> tuple[float, float]:
    """Give where 95 of 100 simulated goodputs lie, bit/s; zeros without random losses."""
    if "probability" not in text:
        return 0.0, 0.0
    ours = {"reno": "standard", "bbr": "bbr1"}.get(variant, variant)
    scenario = Scenario.from_toml(text).with_(
        {
            "tcp.profile": "linux",
            "flows.*.recovery": "rack",
            "flows.*.control": ours,
            **SIMULATED.get(variant, {}),
        }
    )
    goodputs = [goodput(run(scenario, seed=seed, progress=False).run) for seed in range(1, SEEDS + 1)]
    cuts = statistics.quantiles(goodputs, n=40, method="inclusive")
    return cuts[0], cuts[-1]


MARKS = tuple(f"<!-- written by tests/witness/testbed.py: {side} -->\n" for side in ("begin", "end"))
_COLUMNS = (
    *("scenario", "control", "kernel (Mbit/s)", "simulated", "kernel beside it", "95 of 100"),
    *("RTT (ms)", "kernel beside it", "resent", "timeouts", "alike"),
)


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="scenarios whose name begins with this, and no page")
    parser.add_argument("--variants", default=",".join(VARIANTS))
    asked = parser.parse_args()
    rows = []
    for name, text in SCENARIOS.items():
        if not name.startswith(asked.only):
            continue
        scenario = Scenario.from_toml(text)
        for compared in over_kernels(scenario, asked.variants.split(","), both=True, progress=False):
            row = Row(name, compared, *among(text, compared.variant))
            rows.append(row)
            late = compared.kernel.run["emulator"]["overload"]  # type: ignore[typeddict-item]
            sys.stderr.write(f"{' | '.join(row.cells())} | late {late:.2%}\n")
    if asked.only:
        return
    release = _core.kernel_release().split("-")[0]
    lines = [
        f"Linux {release}; {sum(row.alike for row in rows)} of {len(rows)} rows are alike.",
        "",
        f"| {' | '.join(_COLUMNS)} |",
        "|" + "---|" * len(_COLUMNS),
        *(f"| {' | '.join(row.cells())} |" for row in rows),
    ]
    begin, end = MARKS
    before, rest = PAGE.read_text(encoding="utf-8").split(begin)
    PAGE.write_text(before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
