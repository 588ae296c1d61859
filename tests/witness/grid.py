"""Write the tables of docs/witness-grid.md: two kernels beside profile linux in the simulator; needs root."""

import argparse
import os
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from grid_cells import Cell, Outcome, apart, measure, simulate, small, whole
from grid_reasons import REASONS, reason

from bentpipe import _core

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "witness-grid.md"
CLOSE = 0.05
"""How far goodputs may be apart without random losses."""


def interval(goodputs: list[float]) -> tuple[float, float]:
    """Give where 95 of 100 simulated runs lie: between the quantiles of 2.5 and 97.5 %."""
    cuts = statistics.quantiles(goodputs, n=40, method="inclusive")
    return cuts[0], cuts[-1]


def agrees(cell: Cell, linux: float, simulated: list[float]) -> bool:
    """Say whether the kernels' goodput is close to the simulated one, or among those with the same losses."""
    if cell.loss:
        low, high = interval(simulated)
        if low <= linux <= high:
            return True
    return abs(linux / simulated[0] - 1) <= CLOSE


def rate(bps: float) -> str:
    """Write a rate in Mbit/s."""
    return f"{bps / 1e6:.4g}"


def row(cell: Cell, linux: Outcome, ours: Outcome, goodputs: list[float]) -> str:
    """Give the table's row of a cell."""
    low, high = interval(goodputs) if cell.loss else (0.0, 0.0)
    (linux_cwnd, linux_rtt), (our_cwnd, our_rtt) = linux.means(), ours.means()
    close = agrees(cell, linux.goodput_bps, goodputs)
    said = [
        cell.control,
        f"{cell.rate_bps // 1_000_000}",
        f"{cell.rtt_ms}",
        f"{cell.loss * 100:g}",
        f"{cell.buffer:g}",
        f"{cell.total_bytes / 1e6:g}",
        rate(linux.goodput_bps),
        rate(ours.goodput_bps),
        f"{linux.goodput_bps / ours.goodput_bps - 1:+.1%}".replace("%", " %"),
        f"{rate(low)} to {rate(high)}" if cell.loss else "",
        f"{linux.retransmitted}, {ours.retransmitted}",
        f"{linux.timeouts}, {ours.timeouts}",
        f"{linux_cwnd:.0f}, {our_cwnd:.0f}",
        f"{apart(linux, ours):.0%}".replace("%", " %"),
        f"{linux_rtt * 1e3:.0f}, {our_rtt * 1e3:.0f}",
        "yes" if close else f"no: {reason(cell)}",
    ]
    return f"| {' | '.join(said)} |"


MARKS = tuple(f"<!-- written by tests/witness/grid.py: {side} -->\n" for side in ("begin", "end"))

_COLUMNS = (
    *("control", "Mbit/s", "RTT (ms)", "loss (%)", "buffer (BDP)", "data (MB)", "kernel (Mbit/s)"),
    *(
        "simulated",
        "kernel beside it",
        "95 of 100",
        "resent",
        "timeouts",
        "cwnd",
        "apart",
        "RTT (ms)",
        "alike",
    ),
)


def part(rows: list[str], counted: str) -> str:
    """Give what lies between the marks of the page."""
    release = _core.kernel_release().split("-")[0]
    lines = [
        f"Linux {release}; {counted}.",
        "",
        f"| {' | '.join(_COLUMNS)} |",
        "|" + "---|" * len(_COLUMNS),
        *rows,
        "",
        *(f"- **{letter}** {text}" for letter, text in REASONS.items()),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page; one line and status 1 when a difference has no reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--whole", action="store_true", help="all cells")
    parser.add_argument("--threads", type=int, default=3, help="transfers at a time below 100 Mbit/s")
    parser.add_argument("--kept", action="store_true", help="the kernels' transfers as they were made last")
    parser.add_argument("--only", default="", help="cells whose name begins with this, and no page")
    asked = parser.parse_args()
    cells = [cell for cell in (whole() if asked.whole else small()) if cell.name.startswith(asked.only)]
    folder = ROOT / "out" / "witness-grid"
    folder.mkdir(parents=True, exist_ok=True)
    linux = {}
    for cell, outcome in measure(cells, folder, 0 if asked.kept else asked.threads):
        linux[cell] = outcome
        sys.stderr.write(f"{len(linux)} of {len(cells)}: {cell.name} {rate(outcome.goodput_bps)} Mbit/s\n")
    # After the transfers, which need the machine to be on time.
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        simulated = dict(zip(cells, pool.map(simulate, cells, [folder] * len(cells)), strict=True))
    rows = [row(cell, linux[cell], *simulated[cell]) for cell in cells]
    alike = [cell for cell in cells if agrees(cell, linux[cell].goodput_bps, simulated[cell][1])]
    counted = f"{len(alike)} of {len(cells)} cells are alike"
    if asked.only:
        sys.stdout.write("\n".join(rows) + f"\n{counted}\n")
        return
    begin, end = MARKS
    before, rest = PAGE.read_text().split(begin)
    after = rest.split(end)[1]
    PAGE.write_text(before + begin + part(rows, counted) + end + after)
    unsaid = [cell.name for cell in cells if cell not in alike and not reason(cell)]
    if unsaid:
        sys.exit(f"no reason in tests/witness/grid_reasons.py: {', '.join(unsaid)}")


if __name__ == "__main__":
    main()
