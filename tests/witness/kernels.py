"""Scenarios under Linux's TCP and in the simulator, and the kernels' outcomes as they are kept.

In simulated time a run is a draw of the kernel's seed (ports, first sequence numbers, the phase of bbr) and
the same on every machine. In real time it is this machine's kernel, and what else the machine does is in it.
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
from bentpipe.live.testbed import (
    Side,
    in_simulator,
    in_virtual_kernel,
    over_kernels,
    with_the_kernels_tcp,
)
from bentpipe.live.virtual.kernel import find
from bentpipe.live.virtual.machine import Virtual

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

    @property
    def scenario(self) -> Scenario:
        return Scenario.from_toml(self.text)


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
    means = [
        float(np.average(values[:-1], weights=np.diff(times)))
        for times, values in (of["rtt"] for of in side.series.values())
    ]
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
        "rtt_s": round(float(np.mean(means)), 5),
    }


def simulated(case: Case) -> dict[str, Any]:
    """Give the simulator's side."""
    return told(in_simulator(with_the_kernels_tcp(case.scenario, case.variant), progress=False))


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
        (compared,) = in_virtual_kernel(Virtual(find(), seed), case.scenario, [case.variant])
        yield told(compared.kernel)


def in_real_time(case: Case, draws: int) -> Iterator[Told]:
    """Give the outcomes of as many runs of this machine's kernel, all at once; needs root."""

    def run(_: int) -> Told:
        (compared,) = over_kernels(case.scenario, [case.variant], progress=False)
        return told(compared.kernel)

    with ThreadPoolExecutor(draws) as pool:
        yield from pool.map(run, range(draws))


def run_kernels(
    cases: Sequence[Case], kept: Kept, asked: argparse.Namespace, too_long: Sequence[str] = ()
) -> None:
    """Make what is asked for anew and keep it, case by case; not those in real time that take `too_long`."""
    kept.keep_only(cases)
    run, release = (
        (in_real_time, _core.kernel_release()) if asked.real else (in_simulated_time, find().release)
    )
    for case in cases:
        if asked.real and case.key in too_long:
            continue
        if not case.key.startswith(asked.only) or (asked.missing and plain(release) in kept.of(case)):
            continue
        kept.put(case, plain(release), list(run(case, asked.draws)))
        sys.stderr.write(f"{case.key}\n")


def asked_for(about: str | None) -> argparse.Namespace:
    """Read the command line that the scripts have in common."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--kernel", action="store_true", help="run the virtual kernel first")
    parser.add_argument("--real", action="store_true", help="run this machine's kernel first; needs root")
    parser.add_argument("--missing", action="store_true", help="only what is not kept yet")
    parser.add_argument("--only", default="", help="cases whose name begins with this")
    parser.add_argument("--draws", type=int, default=1, help="runs of each")
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
