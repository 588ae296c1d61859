"""The runs that the items share: the satellite and the terrestrial cases, and what was measured."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Generic, TypeVar

from bentpipe.results import Number, Run
from bentpipe.show.style import CYCLE
from bentpipe_papers.common import link, plain
from bentpipe_papers.reproduction.papers import Paper
from bentpipe_papers.reproduction.readings import Reading
from bentpipe_papers.reproduction.reproduce import Context, Row, Settings
from bentpipe_papers.reproduction.verdicts import Verdict, judge_claim

SCHEMES = ("tahoe", "reno", "newreno", "sack")
TODAY = ("newreno-6582", "sack-6675")
"""NewReno and SACK as the RFCs have them now."""

VARIANTS = {
    "tahoe": "tahoe",
    "reno": "reno",
    "newreno": "newreno-1999",
    "sack": "sack-1996",
    "newreno-6582": "newreno",
    "sack-6675": "sack",
}
"""The variant that each name stands for: NewReno and SACK are those of the ns-2 that the document cites."""

LABELS = {
    "tahoe": "Tahoe",
    "reno": "Reno",
    "newreno": "NewReno",
    "sack": "SACK",
    "newreno-6582": "NewReno, RFC 6582",
    "sack-6675": "SACK, RFC 6675",
}
COLOURS = dict(zip(SCHEMES, CYCLE, strict=False))

WINDOWS = (32, 64, 96, 128, 160, 190)
"""Advertised windows, in packets, that the claims are held against; the text names 96, 128, 160 and 190."""

CURVE_WINDOWS = tuple(sorted({*range(32, 201, 8), *WINDOWS, *range(112, 132, 2)}))
"""Advertised windows of the curves."""

TRAFFIC_S = 5
"""Default time from the first SYN to the end of a run, in s."""

LONG_S = 60
"""The same for what needs a run that is long enough, in s."""

START_S = 1
"""When the first data leaves, in s."""

SATELLITE_SYN_S, TERRESTRIAL_SYN_S = 0.2508333, 0.20108
"""How much earlier the SYN leaves, in s: ns-2 of then opened no connection."""

TICK_S, PHASES = 0.1, 20
"""The timer's tick, in s, and its parts in each of which a transfer may begin, as ns-2 draws it."""

BUFFER = 49
"""Default buffer of the satellite case, in waiting packets."""

SATELLITE_BPS = 1.536e6
SATELLITE_MSS, SATELLITE_PACKET, ACK_PACKET = 472, 512, 40
"""Payload of a full packet, the packet, and an ACK, in bytes."""

PRODUCT = SATELLITE_BPS * 0.25575 / (8 * SATELLITE_PACKET)
"""Bandwidth-delay product of the satellite case in packets, with the ACK's 0.4 ms."""


@dataclass(frozen=True)
class Measured:
    """What the figures show of one run: efficiency is goodput over throughput."""

    efficiency: float
    throughput: float
    delay: float
    drops: float
    timeouts: float


UNITS = {
    "efficiency": "%",
    "throughput": "Mbit/s",
    "delay": "ms",
    "drops": "packets",
    "timeouts": "timeouts",
}

Sweep = Mapping[tuple[str, int], Measured]
"""Satellite runs by scheme and advertised window."""

Case = Mapping[str, Measured]
"""Terrestrial runs of one case by scheme."""


def scheme_settings(scheme: str) -> dict[str, str]:
    """Give the settings of a scheme."""
    return {"flows.transfer.variant": VARIANTS[scheme]}


def _without(settings: Settings) -> Settings:
    """Put Reno in the place of each scheme."""
    return {**settings, "flows.transfer.variant": VARIANTS["reno"]}


LONGER = Reading(
    "ten-seconds",
    "Duration and buffer over the satellite: 5 s of traffic and 49 packets were inferred; here it is 10 s "
    "and 42",
    items=("figure-[2-5]",),
)
READINGS = (LONGER,)

WITHOUT = Reading.of_settings("without", "Reno in the place of each scheme", _without)


def _times(traffic_s: int, syn_s: float, phase: int) -> dict[str, str]:
    first_s = START_S + phase * TICK_S / PHASES
    return {"flows.transfer.start": f"{first_s - syn_s:.7f} s", "duration": f"{first_s + traffic_s:.7f} s"}


def satellite_settings(
    scheme: str, window: int, *, traffic_s: int = TRAFFIC_S, buffer: int = BUFFER, phase: int = 0
) -> dict[str, str]:
    """Give the settings of a run over the satellite."""
    return {
        **scheme_settings(scheme),
        **_times(traffic_s, SATELLITE_SYN_S, phase),
        "tcp.receive_window": f"{window} segments",
        "tcp.initial_ssthresh": f"{window} segments",
        "links.*.queue": f"{buffer} packets",
    }


def terrestrial_settings(
    scheme: str, *, traffic_s: int = TRAFFIC_S, buffer: int = 7, window: int = 28, phase: int = 0
) -> dict[str, str]:
    """Give the settings of a run on the terrestrial path."""
    return {
        **scheme_settings(scheme),
        **_times(traffic_s, TERRESTRIAL_SYN_S, phase),
        "tcp.receive_window": f"{window} segments",
        "tcp.initial_ssthresh": f"{window} segments",
        "links.bottleneck.queue": f"{buffer} packets",
    }


def satellite(
    context: Context,
    windows: Sequence[int] = WINDOWS,
    schemes: Sequence[str] = SCHEMES,
    *,
    traffic_s: int | None = None,
    buffer: int | None = None,
    phase: int = 0,
) -> Sweep:
    """Run the satellite case for each scheme and window, for the time and with the buffer inferred."""
    inferred = 10 if context.reads(LONGER) else TRAFFIC_S, 42 if context.reads(LONGER) else BUFFER
    traffic_s, buffer = traffic_s or inferred[0], buffer or inferred[1]
    keys = list(product(schemes, windows))
    settings = [
        satellite_settings(scheme, window, traffic_s=traffic_s, buffer=buffer, phase=phase)
        for scheme, window in keys
    ]
    runs = context.runs("satellite.toml", settings)
    return {key: _measure(run, "uplink", traffic_s) for key, run in zip(keys, runs, strict=True)}


def terrestrial(
    context: Context,
    scenario: str,
    schemes: Sequence[str] = SCHEMES,
    *,
    traffic_s: int = TRAFFIC_S,
    buffer: int = 7,
    window: int = 28,
    phase: int = 0,
) -> Case:
    """Run a terrestrial case for each scheme."""
    settings = [
        terrestrial_settings(scheme, traffic_s=traffic_s, buffer=buffer, window=window, phase=phase)
        for scheme in schemes
    ]
    runs = context.runs(scenario, settings)
    return {scheme: _measure(run, "bottleneck", traffic_s) for scheme, run in zip(schemes, runs, strict=True)}


def _measure(run: Run, bottleneck: str, traffic_s: int) -> Measured:
    flow = run["flows"][0]
    throughput = plain(flow["throughput_bps"])
    return Measured(
        efficiency=100 * plain(flow["goodput_bps"]) / throughput,
        # From the first data on, not from the SYN.
        throughput=throughput * plain(flow["duration_s"]) / traffic_s / 1e6,
        delay=1e3 * plain(link(run, bottleneck)["queueing_delay_mean_s"]),
        drops=sum(plain(one["dropped_packets"]) for one in run["links"]),
        timeouts=plain(flow["timeouts"]),
    )


LISTED = 4
"""So many settings or fewer are named one by one."""

Runs = TypeVar("Runs")


@dataclass(frozen=True)
class Claim(Generic[Runs]):
    """A claim of the document: which row of ``published.csv``, and which values of the runs it speaks of."""

    case: str
    metric: str
    values: Callable[[Runs], Mapping[str, Number]]

    def row(self, context: Context, runs: Runs, others: Mapping[str, Runs]) -> Row:
        """Judge it on the default runs, and tell the note in which other settings, by name, it holds."""
        holding = [
            name
            for name, other in others.items()
            if self.verdict(context.paper, context.item, other) != "differs"
        ]
        listed = f" ({'; '.join(holding)})" if 0 < len(holding) <= LISTED else ""
        context.fact(fact_name(self.case, self.metric), f"{len(holding)} of {len(others)}{listed}")
        return context.claim(self.case, self.metric, self.values(runs))

    def verdict(self, paper: Paper, item: str, runs: Runs) -> Verdict:
        """Judge it on some runs."""
        row = next(
            row
            for row in paper.published
            if (row.item, row.case, row.metric) == (item, self.case, self.metric)
        )
        return judge_claim(row.published, self.values(runs), row.unit)


def fact_name(case: str, metric: str) -> str:
    """Name what was found for a row: its case and metric in small letters, other characters as lines."""
    return re.sub(r"[^a-z0-9]+", "_", f"{case} {metric}".lower())
