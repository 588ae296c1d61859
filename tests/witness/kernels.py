"""Scenarios under Linux's TCP and in the simulator, and the kernels' outcomes as they are kept.

A draw has its own seed, of the losses and, in simulated time, of the kernel (ports, first sequence numbers,
the phase of bbr). In simulated time it is the same on every machine; in real time a machine's load is in it.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bentpipe import Scenario, _core
from bentpipe.live.install import CONTROLS, available, held
from bentpipe.live.kernel_run import Side
from bentpipe.live.testbed import (
    in_simulator,
    in_virtual_kernel,
    over_kernels,
    with_the_kernels_tcp,
)
from bentpipe.live.virtual.kernel import find
from bentpipe.live.virtual.machine import Machine

SEGMENT_BYTES = 1448

Told = Mapping[str, Any]
"""What a run came to, by the name of the number; one that there is several of is a list."""


@dataclass(frozen=True)
class Case:
    """A scenario and the kernel's control that carries its flows."""

    name: str
    variant: str
    text: str

    @property
    def key(self) -> str:
        """Name it in the file of what is kept."""
        return f"{self.name}, {self.variant}"

    def scenario(self, seed: int = 1) -> Scenario:
        """Give the scenario of a draw."""
        return Scenario.from_toml(self.text).with_({"seed": seed})


def told(side: Side) -> dict[str, Any]:
    """Give the numbers of a run; windows are those of the first flow, in whole segments."""
    flows, pages = (list[Any](side.run[key]) for key in ("flows", "pages"))
    assert all(flow["error"] is None for flow in flows), [flow["error"] for flow in flows]
    curves = next(iter(side.series.values()))
    cwnd, ssthresh = (
        [int(value / SEGMENT_BYTES + 1e-9) for value in curves[name][1] if np.isfinite(value)]
        for name in ("cwnd", "ssthresh")
    )
    finish_s = max(flow["finish_s"] for flow in flows)
    sent = {link["name"]: link["delivered_packets"] for link in side.run["links"]}

    def mean(name: str) -> float:
        courses = (of[name] for of in side.series.values())
        return float(np.mean([np.average(values[:-1], weights=np.diff(times)) for times, values in courses]))

    return {
        "s": [round(flow["finish_s"] - flow["start_s"], 4) for flow in flows],
        "goodput_bps": round(8 * sum(flow["bytes_delivered"] for flow in flows) / finish_s),
        "responses_s": [round(page["response_s"], 4) for page in pages],
        "resent": sum(flow["retransmitted_segments"] for flow in flows),
        "timeouts": sum(flow["timeouts"] or 0 for flow in flows),
        "data_segments": sum(flow["data_segments_sent"] for flow in flows),
        "packets_back": next((count for name, count in sent.items() if name.endswith("/reverse")), 0),
        "ssthresh": [
            value for value, before in zip(ssthresh, [None, *ssthresh], strict=False) if value != before
        ],
        "cwnd_most": max(cwnd),
        "cwnd_last": cwnd[-1],
        "cwnd_mean": round(mean("cwnd") / SEGMENT_BYTES, 1),
        "rtt_s": round(mean("rtt"), 5),
    }


def simulated(case: Case, seed: int = 1, settings: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Give the simulator's side of a draw, with other settings where the kernel's release has them."""
    scenario = with_the_kernels_tcp(case.scenario(seed), case.variant).with_(settings or {})
    return told(in_simulator(scenario, progress=False))


class Kept:
    """The kernels' outcomes in a file: by case, by release, a list of draws."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cases: dict[str, dict[str, list[Told]]] = json.loads(path.read_text()) if path.is_file() else {}

    def of(self, case: Case) -> Mapping[str, list[Told]]:
        """Give the draws of a case by the kernel's release."""
        return self._cases.get(case.key, {})

    def releases(self) -> list[str]:
        """Name the kernels, the oldest first."""
        found = {release for draws in self._cases.values() for release in draws}
        return sorted(found, key=lambda release: [int(part) for part in release.split(".")])

    def put(self, case: Case, release: str, draws: Sequence[Told]) -> None:
        """Keep these in the place of others of the case and the kernel."""
        self._cases.setdefault(case.key, {})[release] = list(draws)
        lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(of)}" for key, of in sorted(self._cases.items()))
        self._path.write_text(f"{{\n{lines}\n}}\n")

    def keep_only(self, cases: Sequence[Case]) -> None:
        """Forget what is no case any more."""
        keys = {case.key for case in cases}
        self._cases = {key: of for key, of in self._cases.items() if key in keys}


def plain(release: str) -> str:
    """Give a kernel's release without what a distribution adds."""
    return release.split("-")[0]


def in_simulated_time(case: Case, draws: int) -> Iterator[Told]:
    """Give the virtual kernel's outcomes, of as many seeds."""
    for seed in range(1, draws + 1):
        (compared,) = in_virtual_kernel(Machine(find(), seed), case.scenario(seed), [case.variant])
        yield told(compared.kernel)


def in_real_time(case: Case, draws: int) -> Iterator[Told]:
    """Give the outcomes of as many runs of this machine's kernel, all at once; needs root."""

    def run(seed: int) -> Told:
        (compared,) = over_kernels(case.scenario(seed), [case.variant], progress=False)
        return told(compared.kernel)

    known = {case.variant} & set(CONTROLS)
    with held(known, "witness"), ThreadPoolExecutor(draws) as pool:
        yield from pool.map(run, range(1, draws + 1))


def run_kernels(
    cases: Sequence[Case], kept: Kept, asked: argparse.Namespace, but: Sequence[str] = ()
) -> None:
    """Make what is asked for anew and keep it, case by case; not those whose name or control is in `but`."""
    kept.keep_only(cases)
    run, release = (
        (in_real_time, _core.kernel_release()) if asked.real else (in_simulated_time, find().release)
    )
    known = {*available(), *CONTROLS} if asked.real else find().controls
    for case in cases:
        left_out = {case.name, case.variant} & set(but) or case.variant not in known
        if left_out or not case.key.startswith(asked.only):
            continue
        if not asked.missing or plain(release) not in kept.of(case):
            kept.put(case, plain(release), list(run(case, asked.draws)))
            sys.stderr.write(f"{case.key}\n")


def asked_for(about: str | None, draws: int = 1) -> argparse.Namespace:
    """Read the command line that the scripts have in common."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--kernel", action="store_true", help="run the virtual kernel first")
    parser.add_argument("--real", action="store_true", help="run this machine's kernel first; needs root")
    parser.add_argument("--missing", action="store_true", help="only what is not kept yet")
    parser.add_argument("--only", default="", help="cases whose name begins with this")
    parser.add_argument("--draws", type=int, default=draws, help="runs of each")
    return parser.parse_args()


def clusters(values: Sequence[float], apart: float = 0.01) -> list[tuple[float, int]]:
    """Give the means of values that lie together, each with how many they are, the most first."""
    groups: list[list[float]] = []
    for value in sorted(values):
        if groups and value <= groups[-1][-1] * (1 + apart):
            groups[-1].append(value)
        else:
            groups.append([value])
    return sorted(((float(np.mean(group)), len(group)) for group in groups), key=lambda found: -found[1])
