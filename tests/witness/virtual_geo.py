"""Write the table of docs/generated/beside-linux.md: Linux beside the simulator, over GEO paths."""

from collections.abc import Iterator
from pathlib import Path

from bentpipe import Scenario
from bentpipe.live.testbed import Compared, in_virtual_kernel
from bentpipe.live.virtual.kernel import find
from bentpipe.live.virtual.machine import Machine
from bentpipe.results import mean
from statements import between_marks

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "generated" / "beside-linux.md"
VARIANTS = ("reno", "cubic", "bbr")
_HALF = Scenario.load(ROOT / "scenarios" / "live-geo.toml")
_CLEAN = _HALF.with_({"links.satellite.queue": "450 packets"})
SCENARIOS = {
    "`live-geo`": _HALF,
    "a queue of one BDP": _CLEAN,
    "the same, 4 MiB of window": _CLEAN.with_({"tcp.receive_window": "4 MiB"}),
    "three packets lost": _CLEAN.with_(
        {"links.satellite.loss": {"model": "drop", "packets": [300, 2000, 5000], "at_least": "100 B"}}
    ),
    "1e-3 lost at random": _CLEAN.with_({"links.satellite.loss": {"model": "packet", "probability": 0.001}}),
}


def rows() -> Iterator[list[str]]:
    """Give a row for each scenario and variant."""
    for name, scenario in SCENARIOS.items():
        for compared in in_virtual_kernel(Machine(find()), scenario, VARIANTS, both=True):
            yield [name, compared.variant, *_numbers(compared)]


def _numbers(compared: Compared) -> list[str]:
    if compared.simulator is None:
        return []
    (kernel,), (ours,) = compared.kernel.run["flows"], compared.simulator.run["flows"]
    goodputs = [f"{(mean(flow['goodput_bps']) or 0.0) / 1e6:.4g}" for flow in (kernel, ours)]
    resent = ", ".join(f"{flow['retransmitted_segments']}" for flow in (kernel, ours))
    timeouts = ", ".join(f"{flow['timeouts']}" for flow in (kernel, ours))
    return [*goodputs, f"{(compared.goodput_deviation or 0.0) * 100:+.2f} %", resent, timeouts]


def table() -> str:
    """Write the table."""
    heads = ("scenario", "control", "kernel (Mbit/s)", "simulated", "kernel beside it", "resent", "timeouts")
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for row in rows():
        print(*row, flush=True)
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join([f"Linux {find().release}; of pairs the kernel's comes first.", "", *lines, ""])


if __name__ == "__main__":
    PAGE.write_text(between_marks(PAGE, "tests/witness/virtual_geo.py", table()), encoding="utf-8")
