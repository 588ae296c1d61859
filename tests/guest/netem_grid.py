"""The kernel's controls over netem beside the simulator: writes a table of docs/generated/beside-linux.md."""

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product

import bentpipe
from guest import ROOT, boot

PAGE = ROOT / "docs/generated/beside-linux.md"
BEGIN, END = (f"<!-- written by tests/guest/netem_grid.py: {side} -->\n" for side in ("begin", "end"))
CONTROLS = ("reno", "hybla", "westwood", "veno", "vegas", "illinois")
WITH_READING = ("hybla", "westwood", "veno", "vegas")
RATE_BPS = 2_000_000
PACKETS = 100
WINDOW = 524_288
MODULES = ("tcp_veno", "tcp_vegas", "tcp_illinois")
KERNEL_RUNS, SEEDS = 6, 40
BUSY = 0.7
"""Above this share of its time the guest's processor would tell, not the path."""


@dataclass(frozen=True)
class Cell:
    """A control over a path."""

    control: str
    rtt_ms: int
    loss: float
    bytes: int = 2_500_000


@dataclass(frozen=True)
class Outcome:
    """Goodput (bit/s) of each run, and the means of segments that went again and of timeouts."""

    goodputs: tuple[float, ...]
    resent: float
    timeouts: float

    @property
    def goodput_bps(self) -> float:
        """The mean."""
        return statistics.fmean(self.goodputs)

    @property
    def error_bps(self) -> float:
        """The standard error of the mean; 0 of one run."""
        runs = len(self.goodputs)
        return statistics.stdev(self.goodputs) / runs**0.5 if runs > 1 else 0.0


PATHS = ((60, 0.0), (60, 0.01), (520, 0.0), (520, 0.001))
# Hybla's bursts make of one transfer a throw of dice: a longer one is told too.
CELLS = (
    *(Cell(control, *path) for control, path in product(CONTROLS, PATHS)),
    Cell("hybla", 520, 0.0, 10_000_000),
)


def by_the_kernel(cells: Sequence[Cell], runs: int = KERNEL_RUNS) -> tuple[str, list[Outcome]]:
    """Give the kernel's release, and what its controls make of these; `runs` where something is random."""
    times = [runs if cell.loss else 1 for cell in cells]
    # Netem's limit counts the packet being sent.
    path = {"rate_bps": RATE_BPS, "queue": PACKETS + 1, "window": WINDOW}
    asked = [asdict(cell) | path for cell, count in zip(cells, times, strict=True) for _ in range(count)]
    program = [".venv/bin/python", "tests/guest/netem_transfers.py", "asked.json"]
    files = {"asked.json": json.dumps(asked)}
    answer = boot(program, files=files, timeout_s=1500, counted=True, modules=MODULES)
    if answer.status:
        raise RuntimeError(answer.stderr)
    found = json.loads(answer.stdout)
    sys.stderr.write(f"the guest's processor was busy for {found['busy']:.0%} of the time at most\n")
    if found["busy"] > BUSY:
        raise RuntimeError(f"the guest's processor was busy for {found['busy']:.0%} of the time")
    rows = iter(found["said"])
    outcomes = []
    for count in times:
        made = [next(rows) for _ in range(count)]
        means = (statistics.fmean(row[key] for row in made) for key in ("resent", "timeouts"))
        outcomes.append(Outcome(tuple(row["goodput_bps"] for row in made), *means))
    return found["kernel"], outcomes


def by_the_simulator(cell: Cell) -> Outcome:
    """Give what ours makes of it."""
    control = "standard" if cell.control == "reno" else cell.control
    reading = f'{control} = {{ reading = "linux" }}' if control in WITH_READING else ""
    scenario = bentpipe.Scenario.from_toml(f"""\
[links.path]
from = "s"
to = "d"
rate = "{RATE_BPS} bit/s"
delay = "0 s"
queue = "{PACKETS} packets"
loss = {{ model = "packet", probability = {cell.loss} }}
[links.path.reverse]
rate = "1 Gbit/s"
delay = "{cell.rtt_ms} ms"
queue = "unlimited"
loss = {{ model = "none" }}
[tcp]
profile = "linux"
receive_window = "{WINDOW} B"
receive_buffer = {{ initial = "{WINDOW * 256 // 160} B", max = "{WINDOW * 256 // 160} B" }}
{reading}
[flows.flow]
from = "s"
to = "d"
bytes = "{cell.bytes} B"
recovery = "rack"
control = "{control}"
""")
    seeds = range(1, (SEEDS if cell.loss else 1) + 1)
    flows = [bentpipe.run(scenario, seed=seed, progress=False).flows["flow"] for seed in seeds]
    means = (
        statistics.fmean(float(str(flow[key])) for flow in flows)
        for key in ("retransmitted_segments", "timeouts")
    )
    return Outcome(tuple(float(str(flow["goodput_bps"])) for flow in flows), *means)


def row(cell: Cell, kernel: Outcome, ours: Outcome) -> str:
    """Write it for the table."""
    return (
        f"| {cell.control} | {cell.rtt_ms} | {cell.loss:g} | {cell.bytes / 1e6:g}"
        f" | {mbps(kernel)} | {mbps(ours)} | {kernel.goodput_bps / ours.goodput_bps - 1:+.1%}"
        f" | {kernel.resent:.0f}, {ours.resent:.0f} | {kernel.timeouts:.1f}, {ours.timeouts:.1f} |"
    )


def mbps(of: Outcome) -> str:
    """Write a goodput with its error."""
    return f"{of.goodput_bps / 1e6:.3f}" + (f" ± {of.error_bps / 1e6:.3f}" if of.error_bps else "")


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="controls, and no page")
    only = parser.parse_args().only.split(",")
    cells = [cell for cell in CELLS if only == [""] or cell.control in only]
    release, kernel = by_the_kernel(cells)
    lines = [
        f"Linux {release}.",
        "",
        "| control | RTT (ms) | loss | MB | kernel (Mbit/s) | simulated | beside it | resent | timeouts |",
        "|---|---|---|---|---|---|---|---|---|",
        *(row(cell, theirs, by_the_simulator(cell)) for cell, theirs in zip(cells, kernel, strict=True)),
    ]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if only == [""]:
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        PAGE.write_text(before + BEGIN + text + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
