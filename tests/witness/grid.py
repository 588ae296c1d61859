"""Write docs/generated/beside-linux.md: Linux in simulated time beside profile linux, on a grid of paths.

`--kernel` runs the virtual kernel first; without it what is kept in ``grid.json`` is written beside what the
simulator makes now.
"""

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kernels import Case, Kept, Told, asked_for, run_kernels, simulated

from statements import between_marks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "generated" / "beside-linux.md"
KEPT = Path(__file__).with_name("grid.json")
CLOSE = 0.05
"""How far goodputs may be apart without random losses."""
SEEDS = 40
"""Simulated runs of a cell with random losses; the kernel's is beside the first."""

_PACKET_BYTES, _PAYLOAD_BYTES = 1500, 1448
_SECONDS, _ROUND_TRIPS = 12.0, 30
_SCENARIO = """
[links.path]
from = "s"
to = "d"
rate = "{rate} bit/s"
delay = "{delay} us"
queue = "{queue} B"
{loss}
[links.path.reverse]
queue = "unlimited"
[tcp]
receive_window = "32 MiB"
send_buffer = "64 MiB"
[flows.flow]
from = "s"
to = "d"
bytes = "{total} B"
"""


@dataclass(frozen=True)
class Cell:
    """A kernel's control and the path; the buffer is in products of rate and round-trip time."""

    control: str
    rate_bps: int = 20_000_000
    rtt_ms: int = 100
    loss: float = 0.0
    buffer: float = 1.0

    @property
    def total_bytes(self) -> int:
        """As much as goes over in 12 s and 30 round trips, by the link or, where a loss halves, by Mathis."""
        rate = self.rate_bps * _PAYLOAD_BYTES / _PACKET_BYTES
        if self.loss > 0 and self.control != "bbr":
            mathis = 1.5 * 8 * _PAYLOAD_BYTES / (self.rtt_ms / 1e3) * math.sqrt(1.5 / self.loss)
            rate = min(rate, mathis)
        seconds = max(_SECONDS, _ROUND_TRIPS * self.rtt_ms / 1e3)
        return max(200_000, round(rate / 8 * seconds / 1e5) * 100_000)

    @property
    def case(self) -> Case:
        """Give it as a scenario."""
        product = self.rate_bps / 8 * self.rtt_ms / 1e3
        loss = f'loss = {{ model = "packet", probability = {self.loss:g} }}\n' if self.loss else ""
        text = _SCENARIO.format(
            rate=self.rate_bps,
            delay=self.rtt_ms * 500,
            queue=max(2 * _PACKET_BYTES, math.ceil(self.buffer * product)),
            loss=loss,
            total=self.total_bytes,
        )
        name = (
            f"{self.rate_bps // 1_000_000} Mbit/s, {self.rtt_ms} ms, {self.loss:g} lost, {self.buffer:g} BDP"
        )
        return Case(name, self.control, text)


def _cells() -> Iterator[Cell]:
    """Give the cells around 20 Mbit/s, 100 ms, no loss and a buffer of one product, and three corners."""
    for control in ("reno", "cubic", "bbr"):
        middle = Cell(control)
        yield middle
        yield from (replace(middle, rate_bps=rate) for rate in (2_000_000, 100_000_000))
        yield from (replace(middle, rtt_ms=rtt) for rtt in (20, 300, 600))
        yield from (replace(middle, loss=loss) for loss in (1e-4, 1e-3, 1e-2))
        yield from (replace(middle, buffer=buffer) for buffer in (0.5, 4.0))
        yield Cell(control, 2_000_000, 600, 1e-3)
        yield Cell(control, 20_000_000, 600, 1e-2)
        yield Cell(control, 100_000_000, 300, 0.0, 0.5)


CELLS = tuple(_cells())


def deviation(kernel: Told, ours: Told) -> float:
    """Give the kernel's goodput beside ours, less 1."""
    return float(kernel["goodput_bps"] / ours["goodput_bps"] - 1)


def interval(cell: Cell) -> tuple[float, float]:
    """Give where 95 of 100 simulated goodputs lie: between the quantiles of 2.5 and 97.5 %."""
    goodputs = [simulated(cell.case, seed)["goodput_bps"] for seed in range(1, SEEDS + 1)]
    cuts = statistics.quantiles(goodputs, n=40, method="inclusive")
    return cuts[0], cuts[-1]


def row(cell: Cell, kernel: Told, ours: Told) -> tuple[str, bool]:
    """Give the table's row of a cell, and whether the two are alike."""
    low, high = interval(cell) if cell.loss else (1.0, 0.0)
    alike = abs(deviation(kernel, ours)) <= CLOSE or low <= kernel["goodput_bps"] <= high
    pairs = (
        ("resent", 1, "d"),
        ("timeouts", 1, "d"),
        ("cwnd_mean", 1, ".0f"),
        ("rtt_s", 1e3, ".0f"),
    )
    said = [
        cell.control,
        *(f"{value:g}" for value in (cell.rate_bps / 1e6, cell.rtt_ms, cell.loss * 100, cell.buffer)),
        f"{cell.total_bytes / 1e6:g}",
        *(f"{side['goodput_bps'] / 1e6:.4g}" for side in (kernel, ours)),
        f"{deviation(kernel, ours) * 100:+.1f} %",
        f"{low / 1e6:.4g} to {high / 1e6:.4g}" if cell.loss else "",
        *(
            ", ".join(f"{side[name] * scale:{form}}" for side in (kernel, ours))
            for name, scale, form in pairs
        ),
        "yes" if alike else "no",
    ]
    return f"| {' | '.join(said)} |", alike


_COLUMNS = (
    *("control", "Mbit/s", "RTT (ms)", "loss (%)", "buffer (BDP)", "data (MB)", "kernel (Mbit/s)"),
    *("simulated", "kernel beside it", "95 of 100", "resent", "timeouts", "cwnd", "RTT (ms)", "alike"),
)


def main() -> None:
    """Run what is asked for, and write the page."""
    asked = asked_for(__doc__)
    kept = Kept(KEPT)
    if asked.kernel:
        run_kernels([cell.case for cell in CELLS], kept, asked)
    (release,) = kept.releases()
    found = [row(cell, kept.of(cell.case)[release][0], simulated(cell.case)) for cell in CELLS]
    lines = [
        f"Linux {release}; {sum(alike for _, alike in found)} of {len(found)} cells are alike.",
        "",
        f"| {' | '.join(_COLUMNS)} |",
        "|" + "---|" * len(_COLUMNS),
        *(text for text, _ in found),
    ]
    text = "\n".join(lines) + "\n"
    PAGE.write_text(between_marks(PAGE, "tests/witness/grid.py", text), encoding="utf-8")


if __name__ == "__main__":
    main()
