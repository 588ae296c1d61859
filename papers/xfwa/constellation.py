"""Beyond the document: its scheme aboard satellites that move, whose flows come and go in the middle."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bentpipe import _core
from bentpipe.orbit.station_path import StationPath
from bentpipe.plot import DrawnRun
from bentpipe.runs.statistics import jain
from bentpipe.scenario import Scenario
from bentpipe_papers.common import flows, over, plain
from bentpipe_papers.reproduction.grid import Grid
from bentpipe_papers.reproduction.reproduce import Context, Settings

from .over_time import Series
from .runs import GATEWAY, SPREAD_S, TTL

CONSTELLATION = "constellation.toml"
RUNS = 5
"""Each begins at another time of a day, so that the satellites stand elsewhere."""

DAY_S = 86_400.0
END_S = 240.0
AFTER_S = 5.0
"""For so long after a change of path losses are put down to it."""

TO = "sendai"
CITIES = ("manila", "sydney", "los-angeles", "sao-paulo")

HOP = 'rtt = "ttl", isl_delay = "10 ms"'
"""With what a hop of these paths takes on the mean in place of the document's 20 ms."""

_SCALED: Settings = {"tcp.window_scaling": "true", "tcp.receive_window": "4 MiB"}
_ZERO = 'unknown_scale = "zero"'


def _aboard(options: str) -> Settings:
    """Put XFWA on every link that begins at a satellite."""
    gateway = f"{{ {GATEWAY}, {options} }}"
    return {"constellation.gateway": gateway}


STANDARD = "standard TCP"
STATED = "XFWA, 20 ms a hop"
MEAN = "XFWA, 10 ms a hop"
HANDSHAKE = "XFWA, by the handshake"
SCALING = "standard TCP, hosts scale windows"
UNKNOWN = "XFWA, 10 ms a hop, hosts scale windows"
CASES: Mapping[str, Settings] = {
    STANDARD: {},
    STATED: _aboard(f"{TTL}, {_ZERO}"),
    MEAN: _aboard(f"{HOP}, {_ZERO}"),
    HANDSHAKE: _aboard(f'rtt = "handshake", {_ZERO}'),
    SCALING: _SCALED,
    UNKNOWN: {**_SCALED, **_aboard(HOP)},
}


def settings(case: str, seed: int) -> Settings:
    """Let a case begin when the satellites stand as this seed says, and each city's flows within 0.1 s."""
    random = np.random.default_rng(seed)
    begin = {"constellation.start": f"{random.uniform(0.0, DAY_S):.3f} s"}
    starts = {f"flows.{city}.start": f"{random.uniform(0.0, SPREAD_S):.6f} s" for city in CITIES}
    return {"seed": seed, **begin, **starts, **CASES[case]}


def courses(context: Context, seed: int) -> list[StationPath]:
    """Give the paths of a seed, the same in every case."""
    changes = [(key, str(value)) for key, value in settings(STANDARD, seed).items()]
    sky = _core.Sky(Scenario.load(str(context.paper.folder / CONSTELLATION), changes).toml())
    return [StationPath.of(sky, city, TO, END_S) for city in CITIES]


def hop_ms(some: Sequence[StationPath]) -> float:
    """Give what a hop of these paths takes on the mean over time, with those up and down."""
    links, taken = 0.0, 0.0
    for stretch in (stretch for course in some for stretch in course.stretches if stretch.nodes):
        links += (len(stretch.nodes) - 1) * len(stretch.delays_s)
        taken += float(stretch.delays_s.sum())
    return 1e3 * taken / links


@dataclass(frozen=True)
class Flight:
    """One run, and when paths changed in it."""

    subject: DrawnRun
    changes_s: Series

    def fairness(self) -> float:
        """Give Jain's index of the goodputs."""
        return jain([plain(flow["goodput_bps"]) for flow in flows(self.subject.run, "")])

    def goodput(self, prefix: str = "") -> float:
        """Give the goodput of the flows of that name together, in Mbit/s."""
        return sum(plain(flow["goodput_bps"]) for flow in flows(self.subject.run, prefix)) / 1e6

    def timeouts(self) -> float:
        """Give the timeouts of all flows."""
        return sum(plain(flow["timeouts"]) for flow in flows(self.subject.run, ""))

    def dropped(self) -> float:
        """Give the share of the segments, in %, that found no room in a queue."""
        sent = sum(plain(flow["data_segments_sent"]) for flow in flows(self.subject.run, ""))
        return 100 * len(self._drops()) / sent

    def wait_ms(self) -> float:
        """Give the mean wait in the queues down to the city that all flows go to."""
        down = [link for link in self.subject.run["links"] if _down(link["name"])]
        packets = [plain(link["delivered_packets"]) for link in down]
        waits = [plain(link["queueing_delay_mean_s"]) for link in down]
        return 1e3 * float(np.average(waits, weights=packets))

    def lowered(self) -> float:
        """Give the share of the ACKs, in %, whose window the gateways of the way down lowered."""
        down = [gateway for gateway in self.subject.run["gateways"] if _down(gateway["name"])]
        passed = sum(plain(gateway["segments_backward"]) for gateway in down)
        return 100 * sum(plain(gateway["windows_lowered"]) for gateway in down) / passed if passed else 0.0

    def drop_rates(self) -> tuple[float, float]:
        """Give the segments dropped in a second: after a change of path, and at other times."""
        return rates(self._drops(), self.changes_s)

    def _drops(self) -> Series:
        names = [flow["name"] for flow in flows(self.subject.run, "")]
        return np.concatenate([self.subject.traces.get(name, "dropped").time_s for name in names])


def rates(drops_s: Series, changes_s: Series) -> tuple[float, float]:
    """Give how many there are in a second: in `AFTER_S` after a change, and at other times.

    The first `AFTER_S`, in which the flows begin, are neither.
    """
    edges: Series = np.arange(AFTER_S, END_S + 0.05, 0.1)
    since = edges[:-1, None] - changes_s[None, :]
    # Half a step less, so that rounding moves no interval over the edge.
    after = ((since > -0.05) & (since < AFTER_S - 0.05)).any(axis=1)
    drops, _ = np.histogram(drops_s, edges)
    return _a_second(drops[after]), _a_second(drops[~after])


def _a_second(drops: NDArray[np.int64]) -> float:
    """Give the mean of what was counted in tenths of a second, for a second."""
    return 10.0 * float(drops.mean()) if len(drops) else 0.0


def _down(name: str) -> bool:
    return name.startswith(f"{TO}.") and name.endswith("/reverse")


def flights(context: Context, case: str, runs: int = RUNS) -> list[Flight]:
    """Run a case so often, each time beginning at another time of a day."""

    def one(seed: int) -> Flight:
        changes = sorted({time for course in courses(context, seed) for time in course.changes()})
        subject = context.trace(CONSTELLATION, settings(case, seed), title=case, series=(":dropped",))
        return Flight(subject, np.array(changes))

    with ThreadPoolExecutor(context.threads) as pool:
        return list(pool.map(one, range(1, runs + 1)))


def measure(context: Context) -> Grid:
    """Tabulate what the scheme does over paths that change."""
    rows = []
    for case in CASES:
        some = flights(context, case)
        rates = [one.drop_rates() for one in some]
        rows.append(
            (
                case,
                over(one.fairness() for one in some),
                over(one.goodput() for one in some),
                over(one.dropped() for one in some),
                over(one.wait_ms() for one in some),
                over(one.timeouts() for one in some),
                over(one.lowered() for one in some) if "XFWA" in case else "",
                over(rate for rate, _ in rates),
                over(rate for _, rate in rates),
            )
        )
    return Grid(
        f"Eight flows from four cities to Sendai over Iridium's orbits, {END_S:g} s. Mean and 95 % interval "
        f"of {RUNS} runs that begin at different times",
        (
            "case",
            "Jain's index",
            "goodput (Mbit/s together)",
            "dropped (%)",
            "wait on the way down (ms)",
            "timeouts",
            "ACKs lowered on the way down (%)",
            f"dropped in {AFTER_S:g} s after a change of path (1/s)",
            "dropped at other times (1/s)",
        ),
        tuple(rows),
    )
