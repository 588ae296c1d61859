"""Cells of the kernel grid: a transfer between two kernels, and the same with profile linux."""

import itertools
import json
import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import bentpipe
from bentpipe import _core
from bentpipe.live.interop import PEER

RATES_BPS = (2_000_000, 20_000_000, 100_000_000)
RTTS_MS = (20, 100, 300, 600)
LOSSES = (0.0, 1e-4, 1e-3, 1e-2)
BUFFERS = (0.5, 1.0, 4.0)
"""In products of rate and round-trip time."""

_KNOWN = {name for name, *_ in _core.controls()}
CONTROLS = {
    kernels: ours
    for kernels, ours in (("reno", "standard"), ("cubic", "cubic"), ("bbr", "bbr1"))
    if ours in _KNOWN
}
"""The kernel's controls, and ours that are the same."""

SEEDS = 40
"""Simulated runs of a cell with random losses; the kernel's is beside the first."""

PACKET_BYTES, PAYLOAD_BYTES = 1500, 1448
_SECONDS, _ROUND_TRIPS = 12.0, 30
_POINTS = 200


@dataclass(frozen=True)
class Cell:
    """A kernel's control and the path."""

    control: str
    rate_bps: int
    rtt_ms: int
    loss: float
    buffer: float

    @property
    def name(self) -> str:
        """A name for files."""
        rate = self.rate_bps // 1_000_000
        return f"{self.control}-{rate}M-{self.rtt_ms}ms-{self.loss:g}-{self.buffer:g}"

    @property
    def queue_bytes(self) -> int:
        """Room before the link: two packets at least."""
        product = self.rate_bps / 8 * self.rtt_ms / 1e3
        return max(2 * PACKET_BYTES, math.ceil(self.buffer * product))

    @property
    def total_bytes(self) -> int:
        """As much as goes over in 12 s and 30 round trips, by the link or, where a loss halves, by Mathis."""
        rate = self.rate_bps * PAYLOAD_BYTES / PACKET_BYTES
        if self.loss > 0 and self.control != "bbr":
            rate = min(rate, 1.5 * 8 * PAYLOAD_BYTES / (self.rtt_ms / 1e3) * math.sqrt(1.5 / self.loss))
        seconds = max(_SECONDS, _ROUND_TRIPS * self.rtt_ms / 1e3)
        return max(200_000, round(rate / 8 * seconds / 1e5) * 100_000)


def whole() -> list[Cell]:
    """Give every cell."""
    axes = itertools.product(CONTROLS, RATES_BPS, RTTS_MS, LOSSES, BUFFERS)
    return [Cell(*axis) for axis in axes]


def small() -> list[Cell]:
    """Give the cells around 20 Mbit/s, 100 ms, no loss and a buffer of one product, and three corners."""
    middle = Cell("reno", 20_000_000, 100, 0.0, 1.0)
    paths = [middle]
    paths += [replace(middle, rate_bps=rate) for rate in RATES_BPS if rate != middle.rate_bps]
    paths += [replace(middle, rtt_ms=rtt) for rtt in RTTS_MS if rtt != middle.rtt_ms]
    paths += [replace(middle, loss=loss) for loss in LOSSES if loss != middle.loss]
    paths += [replace(middle, buffer=buffer) for buffer in BUFFERS if buffer != middle.buffer]
    paths += [Cell("reno", 2_000_000, 600, 1e-3, 1.0), Cell("reno", 20_000_000, 600, 1e-2, 1.0)]
    paths += [Cell("reno", 100_000_000, 300, 0.0, 0.5)]
    return [replace(path, control=control) for control in CONTROLS for path in paths]


@dataclass(frozen=True)
class Series:
    """Windows in segments and round-trip times in seconds at times from the start, in seconds."""

    time_s: Sequence[float]
    cwnd: Sequence[float]
    rtt_s: Sequence[float]

    def at(self, times: Sequence[float]) -> tuple[list[float], list[float]]:
        """Give cwnd and RTT as they stood at these times."""
        found: tuple[list[float], list[float]] = ([], [])
        place = 0
        for time in times:
            while place + 1 < len(self.time_s) and self.time_s[place + 1] <= time:
                place += 1
            found[0].append(self.cwnd[place])
            found[1].append(self.rtt_s[place])
        return found


@dataclass(frozen=True)
class Outcome:
    """What one transfer came to."""

    goodput_bps: float
    retransmitted: int
    timeouts: int
    duration_s: float
    series: Series

    def means(self) -> tuple[float, float]:
        """Give the means of cwnd (segments) and RTT (seconds) over time."""
        cwnd, rtt = self.series.at(grid(self.duration_s))
        return statistics.fmean(cwnd), statistics.fmean(rtt)


def grid(duration_s: float) -> list[float]:
    """Give the middles of as many equal parts of a transfer."""
    return [(part + 0.5) * duration_s / _POINTS for part in range(_POINTS)]


def apart(one: Outcome, other: Outcome) -> float:
    """Give the mean distance of two courses of cwnd, each over its own duration, as a share of their mean."""
    first, _ = one.series.at(grid(one.duration_s))
    second, _ = other.series.at(grid(other.duration_s))
    distance = statistics.fmean(abs(a - b) for a, b in zip(first, second, strict=True))
    return distance / statistics.fmean([*first, *second])


_SCENARIO = """\
title = "{name}"
seed = 1

[links.path]
from = "s"
to = "d"
rate = "{rate} bit/s"
delay = "{delay} us"
queue = "{queue} B"
{loss}
[links.path.reverse]
rate = "{rate} bit/s"
queue = "unlimited"

[tcp]
profile = "linux"

[flows.flow]
from = "s"
to = "d"
bytes = "{total} B"
control = "{control}"
"""


def scenario(cell: Cell) -> str:
    """Give the cell as a scenario."""
    loss = f'loss = {{ model = "packet", probability = {cell.loss:g} }}\n' if cell.loss else ""
    return _SCENARIO.format(
        name=cell.name,
        rate=cell.rate_bps,
        delay=cell.rtt_ms * 500,
        queue=cell.queue_bytes,
        loss=loss,
        total=cell.total_bytes,
        control=CONTROLS[cell.control],
    )


def simulate(cell: Cell, folder: Path) -> tuple[Outcome, list[float]]:
    """Give the first simulated run, and the goodputs of all seeds (one without random losses)."""
    path = folder / f"{cell.name}.toml"
    path.write_text(scenario(cell))
    core = _core.Scenario(str(path), [])
    flow = json.loads(core.simulate(seed=1).json())["flows"][0]
    series = bentpipe.run(bentpipe.Scenario.load(str(path)), series=["flow:cwnd,rtt"], progress=False).series
    if series is None or flow["error"] is not None:
        raise AssertionError(f"{cell.name}: {flow['error']}")
    cwnd, rtt = series.get("flow", "cwnd"), series.get("flow", "rtt")
    times = [float(time) for time in cwnd.time_s]
    windows = [float(value) / PAYLOAD_BYTES for value in cwnd.value]
    raw = Series(
        [float(time) for time in rtt.time_s], [float(value) for value in rtt.value], [0.0] * len(rtt.value)
    )
    rtts, _ = raw.at(times)
    first = Outcome(
        flow["goodput_bps"],
        flow["retransmitted_segments"],
        flow["timeouts"],
        flow["duration_s"],
        Series(times, windows, rtts),
    )
    more = range(2, SEEDS + 1) if cell.loss else range(0)
    runs = (json.loads(core.simulate(seed=seed).json()) for seed in more)
    return first, [first.goodput_bps, *(run["flows"][0]["goodput_bps"] for run in runs)]


def settings(cell: Cell) -> dict[str, object]:
    """Give what the Rust side is told."""
    delay = f"{cell.rtt_ms * 500} us"
    rate = f"{cell.rate_bps} bit/s"
    loss = {"model": "packet", "probability": cell.loss} if cell.loss else {"model": "none"}
    return {
        "recovery": "linux",
        "control": cell.control,
        "bytes": f"{cell.total_bytes} B",
        "forward": {"rate": rate, "delay": delay, "queue": f"{cell.queue_bytes} B", "loss": loss},
        "backward": {"rate": rate, "delay": delay},
        "timestamps": True,
        # A send buffer that does not limit: four times the largest product of rate and round-trip time.
        "sysctl": {"tcp_no_metrics_save": "1", "tcp_wmem": "4096 131072 67108864"},
        "seed": 1,
    }


def on_the_wire(cell: Cell, folder: Path) -> Outcome:
    """Make the transfer between two kernels; `folder` takes the samples of its window."""
    samples = folder / f"{cell.name}.csv"
    every_s = max(0.005, cell.rtt_ms / 8e3)
    program = [sys.executable, "-I", str(PEER), "--samples", str(samples), f"{every_s}"]
    row = json.loads(_core.interop(json.dumps(settings(cell)), program))
    if not row["sha256_equal"] or row["checksum_errors"]:
        raise AssertionError(f"bytes differ: {cell.name}")
    (folder / f"{cell.name}.json").write_text(json.dumps(row))
    return kept(cell, folder)


def kept(cell: Cell, folder: Path) -> Outcome:
    """Give what the kernels did when the transfer was made last."""
    samples = folder / f"{cell.name}.csv"
    row = json.loads((folder / f"{cell.name}.json").read_text())
    lines = [line.split(",") for line in samples.read_text().splitlines()]
    columns = [[float(line[place]) for line in lines] for place in (0, 1, 3)]
    return Outcome(
        row["goodput_bps"],
        row["retransmitted_segments"],
        row["timeouts"],
        row["duration_s"],
        Series(columns[0], columns[1], columns[2]),
    )


def measure(cells: Sequence[Cell], folder: Path, at_a_time: int) -> Iterator[tuple[Cell, Outcome]]:
    """Make the transfers: those of 100 Mbit/s alone, the others so many at a time; with 0 read the last."""
    if at_a_time == 0:
        yield from ((cell, kept(cell, folder)) for cell in cells)
        return
    fast = [cell for cell in cells if cell.rate_bps == max(RATES_BPS)]
    others = [cell for cell in cells if cell not in fast]
    with ThreadPoolExecutor(at_a_time) as pool:
        yield from zip(others, pool.map(lambda cell: on_the_wire(cell, folder), others), strict=True)
    for cell in fast:
        yield cell, on_the_wire(cell, folder)
