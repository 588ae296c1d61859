"""Hold profile linux against Linux itself, over random scenarios in simulated time.

The kernel's results are kept in ``virtual.json``; `python tests/witness/virtual.py kernel` makes them anew in
the virtual kernel, those of the NUMBERs given or those that are missing. The simulator's are made each time.
`python tests/witness/virtual.py table` prints both, `spread` looks anew how far each moves by itself, and
`accept` writes the list of those that are apart.
"""

import argparse
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from virtual_scenarios import COUNT, scenario

from bentpipe import Scenario
from bentpipe.live.testbed import in_simulator, in_virtual_kernel, with_the_kernels_tcp
from bentpipe.live.virtual.kernel import find
from bentpipe.live.virtual.machine import Virtual

KEPT = Path(__file__).with_name("virtual.json")
APART = Path(__file__).with_name("virtual_apart.json")
ALIKE = 0.005
LONGER_US = (20, 60, 100, 140, 180, 220)
"""By so much the delay grows where a scenario's own spread is looked at."""
BEGINS_US = 250
"""So much later all begins in the kernel: at a whole ms its clocks decide by a us."""
LATER_US = (250, 500, 750, 1_000, 2_000, 3_000, 9_000, 17_000, 65_000, 129_000)
"""By so much all begins later there: the kernel's clocks tick as its boot has it, that of timestamps each ms,
that of timers each 4 ms, and its timer wheel each 32 and 256 ms."""

Told = Mapping[str, Any]


@dataclass(frozen=True)
class Pair:
    """A scenario on both sides."""

    number: int
    title: str
    kernel: Told
    ours: Told
    spread: float
    """How far goodput moves in the simulator when a delay is a hair longer, or all begins a little later."""

    @property
    def deviation(self) -> float:
        """The kernel's goodput over ours, of all flows, less 1."""
        return sum(self.kernel["goodput_bps"]) / sum(self.ours["goodput_bps"]) - 1

    @property
    def is_alike(self) -> bool:
        return abs(self.deviation) <= max(ALIKE, self.spread)


def loaded(number: int, later_us: int = 0) -> Scenario:
    """Give the scenario, with all that begins in it so much later."""

    def later(told: re.Match[str]) -> str:
        return f'{told[1]} = "{int(told[2]) * 1000 + later_us} us"'

    return Scenario.from_toml(re.sub(r'\b(start|at) = "(\d+) ms"', later, scenario(number)))


def _told(run: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("goodput_bps", "duration_s", "retransmitted_segments", "timeouts")
    return {key: [flow[key] for flow in run["flows"]] for key in keys}


def ours(number: int, later_us: int = 0) -> Scenario:
    """Give the scenario as it is simulated."""
    return ours_of(loaded(number, later_us))


def ours_of(scenario: Scenario) -> Scenario:
    """Give a scenario as it is simulated: with that kernel's receive buffer where no window is fixed."""
    chosen = with_the_kernels_tcp(scenario)
    return chosen if "fixed window" in chosen.title else chosen.with_({"tcp.receive_buffer.kernel": '"6.12"'})


def simulated(number: int, longer_us: int = 0, later_us: int = 0) -> dict[str, Any]:
    """Give the simulator's side, with a delay that is so much longer, and a beginning so much later."""
    chosen = ours(number, later_us)
    if longer_us:
        delay_us = int(chosen.links.path.delay.removesuffix(" us")) + longer_us
        chosen = chosen.with_({"links.path.delay": f"{delay_us} us"})
    return _told(in_simulator(chosen, progress=False).run)


def spread(number: int) -> float:
    """Give how far goodput moves with the delay and the beginning."""
    trials = [(0, 0), *((longer, 0) for longer in LONGER_US), *((0, later) for later in LATER_US)]
    goodputs: list[float] = [sum(simulated(number, *trial)["goodput_bps"]) for trial in trials]
    return max(goodputs) / min(goodputs) - 1


def read() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(KEPT.read_text())
    return told


def run_kernel(numbers: list[int]) -> None:
    """Make the kernel's results of these anew, one by one, and keep them."""
    kernel = find()
    kept: dict[str, Any] = {"kernel_release": kernel.release, "kernel_seed": 1, "scenarios": {}}
    if KEPT.is_file():
        kept = read()
    if kept["kernel_release"] != kernel.release:
        sys.exit(f"kept are results of Linux {kept['kernel_release']}, and this is {kernel.release}")
    wanted = numbers or [number for number in range(1, COUNT + 1) if str(number) not in kept["scenarios"]]
    for number in wanted:
        begun = loaded(number, BEGINS_US)
        (compared,) = in_virtual_kernel(Virtual(kernel, kept["kernel_seed"]), begun)
        kept["scenarios"][str(number)] = {"spread": round(spread(number), 5), **_told(compared.kernel.run)}
        keep(kept)
        print(number, loaded(number).title, flush=True)


def keep(kept: dict[str, Any]) -> None:
    """Write the kernel's results, a line for each scenario."""
    rows = sorted(kept["scenarios"].items(), key=lambda row: int(row[0]))
    kept["scenarios"] = dict(rows)
    lines = ",\n".join(f'  "{name}": {json.dumps(told)}' for name, told in rows)
    head = json.dumps({key: kept[key] for key in ("kernel_release", "kernel_seed")})[1:-1]
    KEPT.write_text(f'{{{head}, "scenarios": {{\n{lines}\n}}}}\n')


def look_at_spreads(numbers: list[int]) -> None:
    """Simulate how far these move by themselves, or all of them."""
    kept = read()
    for number in numbers or map(int, kept["scenarios"]):
        kept["scenarios"][str(number)]["spread"] = round(spread(number), 5)
    keep(kept)


def pairs() -> Iterator[Pair]:
    """Simulate what the kernel's results are kept of."""
    for name, kernel in read()["scenarios"].items():
        number = int(name)
        told = simulated(number, 0, BEGINS_US)
        yield Pair(number, loaded(number).title, kernel, told, kernel["spread"])


def shares(deviations: list[float]) -> str:
    """Say how many are within which bound."""
    values = np.abs(deviations)
    return ", ".join(
        f"{np.mean(values <= bound):.0%} within {bound * 100:g} %" for bound in (0.005, 0.01, 0.05)
    )


def table() -> None:
    """Print a row for each, those that are apart marked, and the shares."""
    found = list(pairs())
    print("number | scenario | kernel beside it | own spread | s | resent | timeouts |")
    for pair in found:
        both = [
            "/".join(
                str(round(sum(value or 0 for value in side[key]), 3)) for side in (pair.kernel, pair.ours)
            )
            for key in ("duration_s", "retransmitted_segments", "timeouts")
        ]
        mark = "" if pair.is_alike else " apart"
        apart = f"{pair.deviation:+.2%} | {pair.spread:.2%}"
        print(f"{pair.number} | {pair.title} | {apart} | {' | '.join(both)} |{mark}")
    alone = [pair for pair in found if " 1 x " in pair.title]
    steady = [
        pair
        for pair in alone
        if not {"packet", "ge", "back"} & set(pair.title.split()) and "pages" not in pair.title
    ]
    for name, of in (("all", found), ("one flow", alone), ("one flow, nothing random, no pages", steady)):
        alike = np.mean([pair.is_alike for pair in of])
        within = shares([pair.deviation for pair in of])
        print(f"{name}, {len(of)}: {within}; {alike:.0%} within 0.5 % or their spread")


def accept() -> None:
    """Write the list of those that are apart, each with how far; none that was not in it is added."""
    before = json.loads(APART.read_text()) if APART.is_file() else None
    apart = {str(pair.number): abs(pair.deviation) for pair in pairs() if not pair.is_alike}
    now = {name: math.ceil(deviation * 1e4) / 1e4 for name, deviation in apart.items()}
    kept = now if before is None else {name: min(now[name], before[name]) for name in now if name in before}
    APART.write_text(json.dumps(kept, indent=1) + "\n")


def main() -> None:
    """Do what the command line says."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("what", choices=["kernel", "table", "spread", "accept"])
    arguments.add_argument("numbers", metavar="NUMBER", type=int, nargs="*")
    given = arguments.parse_args()
    if given.what == "kernel":
        run_kernel(given.numbers)
    elif given.what == "spread":
        look_at_spreads(given.numbers)
    elif given.what == "table":
        table()
    else:
        accept()


if __name__ == "__main__":
    main()
