"""Hold profile linux against Linux itself, over random scenarios in simulated time.

The kernel's results are kept in ``virtual.json``, a line a scenario; `python tests/witness/virtual.py kernel`
makes those that are missing, or those of the NUMBERs given, in the virtual kernel. The simulator's are made
each time. `table` writes both to docs/generated/virtual-witness.md, `spread` looks anew how far each moves by
itself, and `accept` writes the list of those that are apart.
"""

import argparse
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from virtual_scenarios import COUNT, scenario

from bentpipe import Scenario, run
from bentpipe.live.difference import Side, sides_of
from bentpipe.live.packets import Packet
from bentpipe.live.virtual.kernel import find
from bentpipe.results import mean

KEPT = Path(__file__).with_name("virtual.json")
APART = Path(__file__).with_name("virtual_apart.json")
PAGE = Path(__file__).parents[2] / "docs" / "generated" / "virtual-witness.md"
ALIKE = 0.005
LONGER_US = (20, 60, 100, 140, 180, 220)
"""By so much the delay grows where a scenario's own spread is looked at."""
BEGINS_US = 250
"""So much later all begins: at a whole ms the kernel's clocks decide by a us."""
LATER_US = (250, 500, 750, 1_000, 2_000, 3_000, 9_000, 17_000, 65_000, 129_000)
"""By so much all begins later there: the kernel's clocks tick as its boot has it, that of timestamps each ms,
that of timers each 4 ms, and its timer wheel each 32 and 256 ms."""
STEP = 1.08
"""From one place of a stream of packets whose digest is kept to the next, beyond the first dozen."""
_HEADS = (
    *("number", "scenario", "kernel beside it", "own spread", "resent", "timeouts", "ACKs"),
    *("alike: sent, received", "rule that differs"),
)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

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
        return float(sum(self.kernel["goodput_bps"]) / sum(self.ours["goodput_bps"]) - 1)

    def is_within(self, bound: float) -> bool:
        """Whether both are as near as that, or as the scenario's own spread."""
        return abs(self.deviation) <= max(bound, self.spread)

    @property
    def is_of_one_flow(self) -> bool:
        """Whether there is one flow, with one connection."""
        return " 1 x " in self.title

    def first_difference(self, stream: str) -> int | None:
        """Give the number of the last packet of a stream up to which all are alike; none if all are."""
        alike = [_alike(*one) for one in zip(self.kernel[stream], self.ours[stream], strict=True)]
        return min((found for found in alike if found is not None), default=None)


def _alike(kernel: str, ours: str) -> int | None:
    places = _places()
    before = 0
    for one, other in zip(kernel, ours, strict=False):
        if one != other:
            return before
        before = next(places)
    return None if kernel == ours else before


def _places() -> Iterator[int]:
    """Give the numbers of the packets behind which a digest of all before is kept."""
    place = 0
    while True:
        place = max(place + 1, int(place * STEP))
        yield place


def digest(packets: Sequence[Packet]) -> str:
    """Write a stream of packets as a letter for each of those places, and one for the end."""
    so_far, letters, places = hashlib.sha256(), [], _places()
    place = next(places)
    for number, packet in enumerate(packets, 1):
        so_far.update(repr(packet.what[2:]).encode())
        if number == place:
            letters.append(_LETTERS[so_far.digest()[0] % 64])
            place = next(places)
    return "".join([*letters, _LETTERS[so_far.digest()[0] % 64]])


def loaded(number: int, later_us: int = BEGINS_US) -> Scenario:
    """Give the scenario, with all that begins in it so much later."""

    def later(told: re.Match[str]) -> str:
        return f'{told[1]} = "{int(told[2]) * 1000 + later_us} us"'

    return Scenario.from_toml(re.sub(r'\b(start|at) = "(\d+) ms"', later, scenario(number)))


def _release() -> str:
    return str(read()["kernel_release"])


def _told(side: Side) -> dict[str, Any]:
    flows: list[Any] = list(side.result.flows)
    keys = {"retransmitted_segments": "resent", "timeouts": "timeouts"}
    streams = side.streams()
    connections = sorted({connection for connection, _ in streams})
    of = {
        name: [streams.get((connection, sent), []) for connection in connections]
        for name, sent in (("sent", True), ("received", False))
    }
    return {
        "goodput_bps": [round(flow["goodput_bps"]) for flow in flows],
        **{name: [flow[key] for flow in flows] for key, name in keys.items()},
        "segments": sum(map(len, of["sent"])),
        "acks": sum(map(len, of["received"])),
        **{name: [digest(packets) for packets in all_of] for name, all_of in of.items()},
    }


def name_of(text: str) -> str:
    """Give a short name of a text, another one for each other text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def of_kernel(number: int) -> dict[str, Any]:
    """Give the kernel's side, with a digest of all packets and their times."""
    side = Side.of(sides_of(loaded(number), find().release)[0], states=False)
    return {**_told(side), "digest": name_of(repr([(one.at_s, one.what) for one in side.packets]))}


def ours(number: int, later_us: int = BEGINS_US) -> Scenario:
    """Give the scenario for our TCP."""
    return sides_of(loaded(number, later_us), _release())[1]


def spread(number: int) -> float:
    """Give how far goodput moves with the delay and the beginning, in the simulator."""
    plain = ours(number, 0)
    delay_us = int(plain.links.path.delay.removesuffix(" us"))
    longer = ({"links.path.delay": f"{delay_us + more} us"} for more in LONGER_US)
    trials = [plain, *map(plain.with_, longer), *(ours(number, later) for later in LATER_US)]
    runs = (run(one, progress=False).flows for one in trials)
    goodputs = [sum(mean(flow["goodput_bps"]) or 0.0 for flow in flows) for flows in runs]
    return round(max(goodputs) / min(goodputs) - 1, 5)


def read() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(KEPT.read_text())
    return told


def _anew(kept: dict[str, Any], make: Callable[[int], Any], numbers: Iterable[int], processes: int) -> None:
    """Make something of each scenario anew, several at a time, and keep it."""
    with ProcessPoolExecutor(processes) as pool:
        wanted = list(numbers)
        for number, made in zip(wanted, pool.map(make, wanted), strict=True):
            kept["scenarios"].setdefault(str(number), {}).update(made)
            keep(kept)
            print(number, loaded(number).title, flush=True)


def _kernel_and_spread(number: int) -> dict[str, Any]:
    return {"scenario": name_of(scenario(number)), "spread": spread(number), **of_kernel(number)}


def _spread(number: int) -> dict[str, Any]:
    return {"spread": spread(number)}


def run_kernel(numbers: list[int], processes: int) -> None:
    """Make the kernel's results of these anew and keep them; without any, those that are missing."""
    release = find().release
    kept = read() if KEPT.is_file() else {}
    if kept.get("kernel_release") != release:
        kept = {"kernel_release": release, "scenarios": {}}
    keep(kept)
    there = kept["scenarios"]
    missing = [
        number
        for number in range(1, COUNT + 1)
        if there.get(str(number), {}).get("scenario") != name_of(scenario(number))
    ]
    _anew(kept, _kernel_and_spread, numbers or missing, processes)


def keep(kept: dict[str, Any]) -> None:
    """Write the kernel's results, a line for each scenario."""
    rows = sorted(kept["scenarios"].items(), key=lambda row: int(row[0]))
    lines = ",\n".join(f'  "{name}": {json.dumps(told)}' for name, told in rows)
    part = KEPT.with_suffix(".part")
    part.write_text(f'{{"kernel_release": "{kept["kernel_release"]}", "scenarios": {{\n{lines}\n}}}}\n')
    part.replace(KEPT)


def pairs() -> Iterator[Pair]:
    """Simulate what the kernel's results are kept of."""
    for name, kernel in read()["scenarios"].items():
        number = int(name)
        yield Pair(
            number, loaded(number).title, kernel, _told(Side.of(ours(number), states=False)), kernel["spread"]
        )


def shares(found: Sequence[Pair]) -> list[str]:
    """Give the shares of these within each bound, and with their own spread."""
    deviations = np.abs([pair.deviation for pair in found])
    plain = [float(np.mean(deviations <= bound)) for bound in (0.005, 0.01, 0.05)]
    own = [float(np.mean([pair.is_within(bound) for pair in found])) for bound in (0.005, 0.01, 0.05)]
    return [f"{share:.1%}" for share in (*plain, *own)]


def groups(found: Sequence[Pair]) -> dict[str, list[Pair]]:
    """Give all, those of one flow, of several, and of each control."""
    told = {
        "all": list(found),
        "one flow": [pair for pair in found if pair.is_of_one_flow],
        "several flows": [pair for pair in found if not pair.is_of_one_flow],
    }
    for control in dict.fromkeys(pair.title.split()[0] for pair in found):
        told[control] = [pair for pair in found if pair.title.split()[0] == control]
    return told


def table() -> str:
    """Write the page: the shares, and a row for each scenario."""
    found = list(pairs())
    apart = json.loads(APART.read_text())
    lines = [
        "# The simulator beside Linux, scenario by scenario",
        "",
        f"After this page you know how near profile `linux` is to Linux {_release()} in {len(found)} random",
        "scenarios, those of `tests/witness/virtual_scenarios.py`. `make virtual-witness` writes it.",
        "The kernel is both hosts of the same run ([virtual-kernel](../how-to/virtual-kernel.md)).",
        "Goodput is that of all flows together. A scenario's spread is how far its goodput moves in the",
        "simulator when the delay grows by a hair or all begins a little later.",
        "",
        "| scenarios | n | within 0.5 % | 1 % | 5 % | 0.5 % or own spread | 1 % or it | 5 % or it |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, of in groups(found).items():
        lines.append(f"| {name} | {len(of)} | {' | '.join(shares(of))} |")
    lines += [
        "",
        "Of pairs the kernel's is first. So many packets are alike: of those that the sender sends,",
        "and of those that come to it.",
        "",
        f"| {' | '.join(_HEADS)} |",
        "|" + "---|" * len(_HEADS),
    ]
    for pair in found:
        sides = (pair.kernel, pair.ours)
        both = [
            ", ".join(str(sum(value or 0 for value in side[key])) for side in sides)
            for key in ("resent", "timeouts")
        ]
        alike = [pair.first_difference(stream) for stream in ("sent", "received")]
        told = ", ".join("all" if number is None else str(number) for number in alike)
        acks = ", ".join(str(side["acks"]) for side in sides)
        why = apart.get(str(pair.number), {}).get("why", "")
        row = [
            str(pair.number),
            pair.title,
            f"{pair.deviation:+.2%}",
            f"{pair.spread:.2%}",
            *both,
            acks,
            told,
        ]
        lines.append(f"| {' | '.join(row)} | {why} |")
    return "\n".join([*lines, ""])


def accept() -> None:
    """Write the list of those that are apart, each with how far and why; a new one has no reason yet."""
    before = json.loads(APART.read_text()) if APART.is_file() else {}
    apart = {
        str(pair.number): {
            "apart": math.ceil(abs(pair.deviation) * 1e4) / 1e4,
            "why": before.get(str(pair.number), {}).get("why", ""),
        }
        for pair in pairs()
        if not pair.is_within(ALIKE)
    }
    lines = ",\n".join(f' "{name}": {json.dumps(told)}' for name, told in apart.items())
    APART.write_text(f"{{\n{lines}\n}}\n")


def main() -> None:
    """Do what the command line says."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("what", choices=["kernel", "table", "spread", "accept"])
    arguments.add_argument("numbers", metavar="NUMBER", type=int, nargs="*")
    arguments.add_argument("--processes", type=int, default=2)
    given = arguments.parse_args()
    if given.what == "kernel":
        run_kernel(given.numbers, given.processes)
    elif given.what == "spread":
        kept = read()
        _anew(kept, _spread, given.numbers or range(1, COUNT + 1), given.processes)
    elif given.what == "table":
        PAGE.write_text(table(), encoding="utf-8")
        print(PAGE.relative_to(PAGE.parents[2]))
    else:
        accept()


if __name__ == "__main__":
    main()
