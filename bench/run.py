"""Speed and memory of bentpipe beside ns-3, ns-2, htsim and Linux itself, and on scenarios that are its own.

Writes target/bench.json, and fails when bentpipe takes over 5 % more instructions a data segment than
bench/baseline.json.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import signal
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

from rooms import print_rooms
from simulators import (
    BENCHMARKS,
    ROOT,
    BadInput,
    Bentpipe,
    Failure,
    Htsim,
    Linux,
    Ns2,
    Ns3,
    Simulator,
    count_instructions,
)
from timing import Spread, Timed, ratio, take_turns

BASELINE = ROOT / "bench" / "baseline.json"
OUTPUT = ROOT / "target" / "bench.json"
TOLERANCE = 0.05


class Interrupted(Exception):
    """The bench was told to stop."""


def measure(timed: Timed, instructions: bool) -> dict[str, Any]:
    """Give one row: speed, memory, instructions."""
    scenario, simulator, result = timed.scenario, timed.simulator, timed.rounds[-1].result
    segments = int(result["data_segments"])
    whole = Spread.of([timed.segments() / one.core_s for one in timed.rounds])
    work = Spread.of(timed.rates())
    row: dict[str, Any] = {
        "scenario": scenario.name,
        "simulator": simulator.name,
        "length": scenario.written(scenario.length(simulator.name)),
        "times": timed.times,
        "segments_per_s": whole.median,
        "instructions_per_segment": None,
        "peak_bytes": max(int(one.result["peak_bytes"]) for one in timed.rounds),
        "data_segments": segments,
        "retransmissions": result["retransmissions"],
        "bytes_delivered": result["bytes_delivered"],
        "rounds": len(timed.rounds),
        "core_s": statistics.median(one.core_s for one in timed.rounds),
        "wall_s": statistics.median(one.wall_s for one in timed.rounds),
        "start_core_s": timed.start_s,
        "work_segments_per_s": asdict(work),
        "loop_instructions_per_segment": None,
        "counted": "",
    }
    counted = scenario.counted_lengths(simulator.name)
    if instructions and counted is not None:
        short, long = counted
        short_count, short_segments = count_instructions(simulator.command(scenario, short))
        long_count, long_segments = count_instructions(simulator.command(scenario, long))
        marginal = (long_count - short_count) / (long_segments - short_segments)
        row["loop_instructions_per_segment"] = marginal
        row["instructions_per_segment"] = (long_count + marginal * (segments - long_segments)) / segments
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
    for line in above_limits(now):
        print(line)
        held = False
    return held


def above_limits(instructions: Mapping[str, float]) -> list[str]:
    """Give a line for each scenario that costs more of what `geo` costs than it may."""
    lines = []
    for scenario in BENCHMARKS:
        if scenario.of_geo is None:
            continue
        share = instructions[scenario.name] / instructions["geo"]
        if share > scenario.of_geo:
            lines.append(f"  {scenario.name}: {share - 1:+.1%} of geo, {scenario.of_geo - 1:+.0%} allowed")
    return lines


def number(value: float | None) -> str:
    """Write a whole number, or a dash for none."""
    return "-" if value is None else f"{value:.0f}"


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Print the rows, units in the heading."""
    heading = (
        (
            "",
            "",
            "",
            "",
            "data",
            "core",
            "start",
            "segments/s of work",
            "instr./segment",
            "",
            "peak",
            "instr. counted",
        ),
        (
            "scenario",
            "simulator",
            "length",
            "times",
            "segments",
            "s",
            "s",
            "median and spread",
            "all",
            "loop",
            "MB",
            "in runs of",
        ),
    )
    widths = (-18, -9, 8, 6, 9, 8, 8, 26, 14, 8, 8, 17)
    cells = [
        (
            row["scenario"],
            row["simulator"],
            row["length"],
            f"{row['times']}",
            f"{row['data_segments']}",
            f"{row['core_s']:.3f}",
            f"{row['start_core_s']:.3f}",
            f"{Spread(**row['work_segments_per_s']):.0f}",
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
        "core: user and system time of a round, which runs the scenario so many times; start: of a process,"
    )
    print("which is no work; all: instructions of a whole process")
    by_key = {(row["scenario"], row["simulator"]): row for row in rows}
    few, many = (by_key.get((f"dumbbell-{count}", "bentpipe")) for count in (10, 1000))
    if few is None or many is None:
        return
    print("\nbentpipe from 10 to 1000 connections:")
    growth = (many["peak_bytes"] - few["peak_bytes"]) / 990
    print(f"  {growth:.0f} bytes of memory for each more, packets in flight and the network included")
    if few["instructions_per_segment"] is not None:
        factor = many["instructions_per_segment"] / few["instructions_per_segment"]
        print(f"  {factor:.2f} times the instructions a data segment")


def ratios(timed: Sequence[Timed]) -> list[str]:
    """Give a line for each peer: how much faster bentpipe is on the scenario."""
    ours = [one for one in timed if isinstance(one.simulator, Bentpipe)]
    return [
        f"  {one.scenario.name:<18} {ratio(us, one):>6.1f} times {one.simulator.name}"
        for us in ours
        for one in timed
        if one is not us
    ]


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
        choices=["bentpipe", "ns-3", "ns-2", "linux", "htsim"],
        help="only this simulator; may be repeated",
    )
    parser.add_argument(
        "--htsim",
        type=Path,
        metavar="PATH",
        help="also measure htsim: a checkout of Broadcom/csg-htsim in which its library is built",
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
        "--rooms", action="store_true", help="only say where bentpipe's instructions go, on short runs"
    )
    parser.add_argument(
        "--update-baseline", action="store_true", help="rewrite bench/baseline.json; nothing else is measured"
    )
    options = parser.parse_args()
    try:
        with stop_on_signals():
            if options.check_instructions or options.update_baseline:
                return 0 if check_instructions(options.update_baseline) else 1
            if options.rooms:
                Bentpipe().build()
                print_rooms([one for one in BENCHMARKS if one.name in (options.scenario or names)])
                return 0
            return bench(options)
    except BadInput as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except Failure as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, Interrupted):
        print("bench: interrupted, nothing written", file=sys.stderr)
        return 130


def bench(options: argparse.Namespace) -> int:
    """Measure, print, write target/bench.json, and check the instructions."""
    began = time.monotonic()
    if options.htsim is None and options.simulator and "htsim" in options.simulator:
        raise BadInput("--simulator htsim: expected --htsim PATH beside it, a checkout of Broadcom/csg-htsim")
    known: list[Simulator] = [Bentpipe(), Ns3(), Ns2(), Linux()]
    if options.htsim is not None:
        known.append(Htsim(options.htsim))
    simulators: list[Simulator] = []
    for simulator in known:
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
    rows, compared = [], []
    for scenario in BENCHMARKS:
        if options.scenario and scenario.name not in options.scenario:
            continue
        wanted = [one for one in simulators if one.name in (Bentpipe.name, *scenario.peers)]
        print(
            f"measuring {', '.join(one.name for one in wanted)} on {scenario.name}",
            file=sys.stderr,
            flush=True,
        )
        timed = take_turns(wanted, scenario)
        rows += [measure(one, instructions) for one in timed]
        compared += ratios(timed)
    print_table(rows)
    if compared:
        print("\nsegments/s of bentpipe's work, median and spread of the rounds:")
        print("\n".join(compared))
    write(OUTPUT, rows)
    print(f"\nwrote {OUTPUT.relative_to(ROOT)}\n")
    held = True
    if not options.no_instructions and any(isinstance(simulator, Bentpipe) for simulator in simulators):
        held = check_instructions(update=False)
    print(f"took {(time.monotonic() - began) / 60:.1f} minutes")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
