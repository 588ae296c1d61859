"""Speed and memory of bentpipe beside ns-3 and ns-2 on the same four scenarios, and of one that is its own.

Writes target/bench.json, and fails when bentpipe takes over 5 % more instructions a data segment than
bench/baseline.json.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "bench" / "scenarios"
PEERS = ROOT / "bench" / "peers"
BASELINE = ROOT / "bench" / "baseline.json"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
OUTPUT = ROOT / "target" / "bench.json"
TOLERANCE = 0.05
# A run of next to no length is set-up alone: of this many bytes, or simulated seconds.
SETUP_BYTES = 1460
SETUP_S = 1e-3
NS3_LIBRARIES = (
    "applications",
    "internet",
    "network",
    "nix-vector-routing",
    "point-to-point",
    "traffic-control",
    "core",
)


@dataclass(frozen=True)
class Scenario:
    """A benchmark: its length in its own unit, and the shorter lengths at which instructions are counted.

    callgrind makes a program fifty times slower, so the peers are counted on a short run and a longer one,
    and the difference stands for every further segment. Building 2000 nodes takes them ten minutes that way:
    they are not counted there.
    """

    name: str
    unit: str
    full: float
    checked: float
    ns2_counted: tuple[float, float] | None
    ns3_counted: tuple[float, float] | None
    peers: bool = True

    def written(self, length: float) -> str:
        """Give a length with its unit."""
        return f"{length / 1e6:g} MB" if self.unit == "bytes" else f"{length:g} {self.unit}"

    def overrides(self, length: float) -> list[str]:
        """Give the settings that make bentpipe's scenario so long."""
        if self.unit == "bytes":
            return ["--set", f"flows.download.bytes={length:.0f} B"]
        shortened = ["--set", f"duration={length:g} s"]
        # A flow that would start after the end is an error.
        if self.name.startswith("dumbbell") and length < SETUP_S * 10:
            shortened += ["--set", "flows.flow.start_step=0 s"]
        return shortened


BENCHMARKS = (
    Scenario("geo", "bytes", 50e6, 50e6, (5e6, 50e6), (2e6, 10e6)),
    Scenario("geo-fast", "s", 600, 60, (30, 60), (6, 7)),
    Scenario("dumbbell-10", "s", 10, 1, (1, 2), (0.45, 0.6)),
    Scenario("dumbbell-1000", "s", 10, 1.5, None, None),
    # What a gateway that looks at every segment of 1000 flows costs.
    Scenario("dumbbell-1000-xfwa", "s", 10, 1.5, None, None, peers=False),
)


@dataclass(frozen=True)
class Run:
    """One process: what it printed, and how long it took from start to end, by the wall and of one core."""

    result: dict[str, Any]
    wall_s: float
    core_s: float


class Failure(Exception):
    """A measurement that could not be made, in one line."""


class Interrupted(Exception):
    """The bench was told to stop."""


def spawn(command: Sequence[str]) -> Run:
    """Run a simulator that prints one JSON line."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=err, cwd=ROOT)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text, messages = out.read().decode(), err.read().decode(errors="replace")
    if process.returncode != 0:
        last = (messages.strip().splitlines() or ["no message"])[-1]
        raise Failure(f"{' '.join(command)}: exit status {process.returncode}: {last}")
    lines = [line for line in text.splitlines() if line.startswith("{")]
    if not lines:
        raise Failure(f"{' '.join(command)}: no result printed")
    return Run(json.loads(lines[-1]), wall, usage.ru_utime + usage.ru_stime)


def count_instructions(command: Sequence[str]) -> tuple[int, int]:
    """Instructions of a whole process under callgrind, and the data segments that it simulated."""
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log"
        callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}"]
        run = spawn([*callgrind, *command])
        found = re.search(r"Collected : (\d+)", log.read_text())
    if found is None:
        raise Failure("valgrind printed no instruction count")
    return int(found.group(1)), int(run.result["data_segments"])


class Bentpipe:
    """Our simulator, through a binary without Python."""

    name = "bentpipe"

    def build(self) -> str | None:
        """Build it; never missing."""
        cargo = ["cargo", "build", "--quiet", "--release", "-p", "bentpipe-sim", "--example", "bench"]
        if subprocess.run(cargo, cwd=ROOT).returncode != 0:
            raise Failure("cargo could not build crates/sim/examples/bench.rs")
        return None

    def command(self, scenario: Scenario, length: float) -> list[str]:
        """Give the command line of one run."""
        binary = TARGET / "release" / "examples" / "bench"
        return [str(binary), str(SCENARIOS / f"{scenario.name}.toml"), *scenario.overrides(length)]

    def counted(self, scenario: Scenario) -> tuple[float, float] | None:
        """Give the lengths at which instructions are counted."""
        return scenario.full / 10, scenario.full


class Ns2:
    """ns-2 through Debian's package."""

    name = "ns-2"

    def build(self) -> str | None:
        """Why it cannot run here, if so."""
        return None if shutil.which("ns") else "ns-2 is not installed (Debian package ns2)"

    def command(self, scenario: Scenario, length: float) -> list[str]:
        """Give the command line of one run."""
        return [
            "ns",
            str(PEERS / "ns2" / "bench.tcl"),
            scenario.name,
            f"{length:g}" if length < 1e5 else f"{length:.0f}",
        ]

    def counted(self, scenario: Scenario) -> tuple[float, float] | None:
        """Give the lengths at which instructions are counted."""
        return scenario.ns2_counted


class Ns3:
    """ns-3 through Debian's package, compiled when our program is newer than the binary."""

    name = "ns-3"
    binary = TARGET / "bench" / "ns3"

    def build(self) -> str | None:
        """Compile the peer, or say why it cannot run here."""
        if not shutil.which("g++"):
            return "ns-3 needs a C++ compiler (Debian package g++)"
        probe = ["g++", "-E", "-x", "c++", "-"]
        include = b'#include "ns3/core-module.h"\n'
        if subprocess.run(probe, input=include, capture_output=True).returncode != 0:
            return "ns-3 is not installed (Debian package libns3-dev)"
        source = PEERS / "ns3" / "bench.cc"
        if self.binary.exists() and self.binary.stat().st_mtime > source.stat().st_mtime:
            return None
        self.binary.parent.mkdir(parents=True, exist_ok=True)
        libraries = [f"-lns3-{library}" for library in NS3_LIBRARIES]
        unfinished = self.binary.with_suffix(".tmp")
        compiler = ["g++", "-O2", "-std=c++17", str(source), "-o", str(unfinished), *libraries]
        compiled = subprocess.run(compiler, capture_output=True, text=True)
        if compiled.returncode != 0:
            raise Failure(f"g++ could not compile {source.relative_to(ROOT)}:\n{compiled.stderr}")
        unfinished.replace(self.binary)
        return None

    def command(self, scenario: Scenario, length: float) -> list[str]:
        """Give the command line of one run."""
        return [str(self.binary), scenario.name, f"{length:g}" if length < 1e5 else f"{length:.0f}"]

    def counted(self, scenario: Scenario) -> tuple[float, float] | None:
        """Give the lengths at which instructions are counted."""
        return scenario.ns3_counted


Simulator = Bentpipe | Ns2 | Ns3


def measure(simulator: Simulator, scenario: Scenario, instructions: bool) -> dict[str, Any]:
    """Give one row: speed (the median of up to five runs, within half a minute), memory, instructions.

    Every simulator here is one thread that never waits, so the time of its core, user and system, is what the
    wall shows on an idle machine; on a busy one the wall shows the neighbours.
    """
    runs = [spawn(simulator.command(scenario, scenario.full))]
    while len(runs) < 5 and sum(run.wall_s for run in runs) + runs[0].wall_s < 30:
        runs.append(spawn(simulator.command(scenario, scenario.full)))
    core = statistics.median(run.core_s for run in runs)
    result = runs[0].result
    segments = int(result["data_segments"])
    setup_length = SETUP_BYTES if scenario.unit == "bytes" else SETUP_S
    setup = statistics.median(spawn(simulator.command(scenario, setup_length)).core_s for _ in range(3))
    row: dict[str, Any] = {
        "scenario": scenario.name,
        "simulator": simulator.name,
        "segments_per_s": segments / core,
        "instructions_per_segment": None,
        "peak_bytes": max(int(run.result["peak_bytes"]) for run in runs),
        "data_segments": segments,
        "retransmissions": result["retransmissions"],
        "bytes_delivered": result["bytes_delivered"],
        "runs": len(runs),
        "core_s": core,
        "wall_s": statistics.median(run.wall_s for run in runs),
        "setup_core_s": setup,
        "loop_segments_per_s": segments / max(core - setup, 1e-3),
        "loop_instructions_per_segment": None,
        "counted": "",
    }
    counted = simulator.counted(scenario)
    if instructions and counted is not None:
        short, long = counted
        short_count, short_segments = count_instructions(simulator.command(scenario, short))
        long_count, long_segments = count_instructions(simulator.command(scenario, long))
        marginal = (long_count - short_count) / (long_segments - short_segments)
        whole = long_count + marginal * (segments - long_segments)
        row["loop_instructions_per_segment"] = marginal
        row["instructions_per_segment"] = whole / segments
        row["counted"] = f"{scenario.written(short)} and {scenario.written(long)}"
    return row


def check_instructions(update: bool) -> bool:
    """Hold bentpipe's instructions a data segment, on short scenarios, to the baseline; true if they hold."""
    if not shutil.which("valgrind"):
        print("instructions a data segment: not checked, valgrind is not installed (Debian package valgrind)")
        return True
    bentpipe = Bentpipe()
    bentpipe.build()
    now: dict[str, float] = {}
    for scenario in BENCHMARKS:
        count, segments = count_instructions(bentpipe.command(scenario, scenario.checked))
        now[scenario.name] = round(count / segments, 1)
    if update:
        content = {
            scenario.name: {
                "length": scenario.checked,
                "unit": scenario.unit,
                "instructions_per_segment": now[scenario.name],
            }
            for scenario in BENCHMARKS
        }
        write(BASELINE, content)
        print(f"wrote {BASELINE.relative_to(ROOT)}")
    if not BASELINE.exists():
        raise Failure(f"{BASELINE.relative_to(ROOT)} is missing: make it with --update-baseline")
    baseline = json.loads(BASELINE.read_text())
    print("instructions a data segment (callgrind, whole process, shortened scenarios)")
    print(f"  {'scenario':<18} {'length':>16} {'now':>8} {'baseline':>9} {'change':>8}")
    held = True
    for scenario in BENCHMARKS:
        before = baseline[scenario.name]["instructions_per_segment"]
        change = now[scenario.name] / before - 1
        verdict = "" if change <= TOLERANCE else f"  over the {TOLERANCE:.0%} allowed"
        held &= change <= TOLERANCE
        length = scenario.written(scenario.checked)
        counts = f"{now[scenario.name]:>8.0f} {before:>9.0f}"
        print(f"  {scenario.name:<18} {length:>16} {counts} {change:>+8.1%}{verdict}")
    return held


def number(value: float | None) -> str:
    """Write a whole number, or a dash for none."""
    return "-" if value is None else f"{value:.0f}"


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Print the rows, units in the heading, and bentpipe's ratios to each peer."""
    heading = (
        ("", "", "data", "core", "set-up", "segments/s", "", "instr./segment", "", "peak", "instr. counted"),
        ("scenario", "simulator", "segments", "s", "s", "all", "loop", "all", "loop", "MB", "in runs of"),
    )
    widths = (-18, -9, 9, 8, 8, 11, 9, 14, 8, 8, 17)
    cells = [
        (
            row["scenario"],
            row["simulator"],
            f"{row['data_segments']}",
            f"{row['core_s']:.3f}",
            f"{row['setup_core_s']:.3f}",
            f"{row['segments_per_s']:.0f}",
            f"{row['loop_segments_per_s']:.0f}",
            number(row["instructions_per_segment"]),
            number(row["loop_instructions_per_segment"]),
            f"{row['peak_bytes'] / 1e6:.1f}",
            row["counted"],
        )
        for row in rows
    ]
    print()
    for line in (*heading, *cells):
        print(
            " ".join(
                f"{cell:<{-width}}" if width < 0 else f"{cell:>{width}}"
                for cell, width in zip(line, widths, strict=True)
            ).rstrip()
        )
    print(
        "core: user and system time of the process; all: the whole process; loop: set-up and start left out"
    )
    by_key = {(row["scenario"], row["simulator"]): row for row in rows}
    ratios = []
    for scenario in BENCHMARKS:
        ours = by_key.get((scenario.name, "bentpipe"))
        for peer in ("ns-3", "ns-2"):
            theirs = by_key.get((scenario.name, peer))
            if ours is None or theirs is None:
                continue
            whole = ours["segments_per_s"] / theirs["segments_per_s"]
            loop = ours["loop_segments_per_s"] / theirs["loop_segments_per_s"]
            ratios.append(f"  {scenario.name:<18} {whole:>6.1f} times {peer} ({loop:.1f} times, loops alone)")
    if ratios:
        print("\nsegments/s of bentpipe:")
        print("\n".join(ratios))
    few, many = (by_key.get((f"dumbbell-{count}", "bentpipe")) for count in (10, 1000))
    if few is None or many is None:
        return
    print("\nbentpipe from 10 to 1000 connections:")
    growth = (many["peak_bytes"] - few["peak_bytes"]) / 990
    print(f"  {growth:.0f} bytes of memory for each more, packets in flight and the network included")
    if few["instructions_per_segment"] is not None:
        factor = many["instructions_per_segment"] / few["instructions_per_segment"]
        print(f"  {factor:.2f} times the instructions a data segment")


def write(path: Path, content: Any) -> None:
    """Write JSON under a temporary name, then rename it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".tmp")
    try:
        unfinished.write_text(json.dumps(content, indent=2) + "\n")
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def stop_on_signals() -> Iterator[None]:
    """Turn SIGTERM into an exception, as SIGINT already is."""

    def stop(_number: int, _frame: object) -> NoReturn:
        raise Interrupted

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def main() -> int:
    """Run what is asked for.

    The exit status is 1 past the allowed instructions or after a failed run, 2 for a bad command line, 130
    after an interruption.
    """
    names = [scenario.name for scenario in BENCHMARKS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--scenario", action="append", choices=names, help="only this scenario; may be repeated"
    )
    parser.add_argument(
        "--simulator",
        action="append",
        choices=["bentpipe", "ns-3", "ns-2"],
        help="only this simulator; may be repeated",
    )
    parser.add_argument(
        "--no-instructions", action="store_true", help="leave out callgrind, which takes most of the time"
    )
    parser.add_argument(
        "--check-instructions",
        action="store_true",
        help="only hold bentpipe's instructions a data segment to bench/baseline.json, on short runs",
    )
    parser.add_argument(
        "--update-baseline", action="store_true", help="rewrite bench/baseline.json; nothing else is measured"
    )
    options = parser.parse_args()
    try:
        with stop_on_signals():
            if options.check_instructions or options.update_baseline:
                return 0 if check_instructions(options.update_baseline) else 1
            return bench(options)
    except Failure as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, Interrupted):
        print("bench: interrupted, nothing written", file=sys.stderr)
        return 130


def bench(options: argparse.Namespace) -> int:
    """Measure, print, write target/bench.json, and check the instructions."""
    simulators: list[Simulator] = []
    for simulator in (Bentpipe(), Ns3(), Ns2()):
        if options.simulator and simulator.name not in options.simulator:
            continue
        missing = simulator.build()
        if missing:
            print(f"{simulator.name} left out: {missing}")
        else:
            simulators.append(simulator)
    instructions = not options.no_instructions and shutil.which("valgrind") is not None
    if not instructions and not options.no_instructions:
        print("instructions left out: valgrind is not installed (Debian package valgrind)")
    rows = []
    for scenario in BENCHMARKS:
        if options.scenario and scenario.name not in options.scenario:
            continue
        for simulator in simulators:
            if simulator.name != "bentpipe" and not scenario.peers:
                continue
            print(f"measuring {simulator.name} on {scenario.name}", file=sys.stderr, flush=True)
            rows.append(measure(simulator, scenario, instructions))
    print_table(rows)
    write(OUTPUT, rows)
    print(f"\nwrote {OUTPUT.relative_to(ROOT)}\n")
    if options.no_instructions or not any(simulator.name == "bentpipe" for simulator in simulators):
        return 0
    return 0 if check_instructions(update=False) else 1


if __name__ == "__main__":
    sys.exit(main())
