"""The runs that the items share: the satellite and the terrestrial cases, and what was measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Generic, TypeVar

from bentpipe.papers import Paper
from bentpipe.papers.common import link, plain
from bentpipe.reproduction import Context, Row
from bentpipe.results import Number, Run
from bentpipe.style import CYCLE
from bentpipe.verdicts import Verdict, judge_claim

SCHEMES = ("tahoe", "reno", "newreno", "sack")
RFC_NEWRENO = "newreno-6582"
"""NewReno with the timer of RFC 6582, which may expire while partial ACKs come."""

LABELS = {
    "tahoe": "Tahoe",
    "reno": "Reno",
    "newreno": "NewReno",
    "sack": "SACK",
    RFC_NEWRENO: "NewReno, RFC 6582's timer",
}
COLOURS = dict(zip(SCHEMES, CYCLE, strict=False))

WINDOWS = (32, 64, 96, 128, 160, 190)
"""Advertised windows, in packets, that the claims are held against; the text names 96, 128, 160 and 190."""

CURVE_WINDOWS = tuple(sorted({*range(32, 201, 8), *WINDOWS, *range(116, 132, 4)}))
"""Advertised windows of the curves."""

TRAFFIC_S = 5
"""Default time from the first SYN to the end of a run, in s."""

LONG_S = 60
"""The same for the second panel of the figures, in s."""

START_S = 1
BUFFER = 49
"""Default buffer of the satellite case, in waiting packets."""

SATELLITE_BPS = 1.536e6
TERRESTRIAL_BPS = 0.8e6
SATELLITE_MSS, SATELLITE_PACKET = 472, 512
"""Payload of a full packet, and the packet, in bytes."""

TERRESTRIAL_MSS, TERRESTRIAL_PACKET = 960, 1000

PRODUCT = SATELLITE_BPS * 0.25575 / (8 * SATELLITE_PACKET)
"""Bandwidth-delay product of the satellite case in packets, with the ACK's 0.4 ms."""


@dataclass(frozen=True)
class Measured:
    """What the figures show of one run; `whole_packets` is efficiency with headers counted as data."""

    efficiency: float
    whole_packets: float
    throughput: float
    delay: float
    drops: float
    timeouts: float


UNITS = {
    "efficiency": "%",
    "whole_packets": "%",
    "throughput": "Mbit/s",
    "delay": "ms",
    "drops": "packets",
    "timeouts": "timeouts",
}

Sweep = Mapping[tuple[str, int], Measured]
"""Satellite runs by scheme and advertised window."""

Cases = Mapping[str, Mapping[str, Measured]]
"""Terrestrial runs by case (``one``, ``three``) and scheme."""


def scheme_settings(scheme: str) -> dict[str, str]:
    """Give the settings of a scheme.

    The document's NewReno leaves fast recovery when all is acknowledged and never by the timer, as ns-2's did
    until May 2003: it restarted the timer at each partial ACK. A minimum RTO longer than the run does that.
    """
    variant = {"flows.transfer.variant": scheme.removesuffix("-6582")}
    return {**variant, "flows.transfer.tcp.rto.min": "60 s"} if scheme == "newreno" else variant


def satellite(
    context: Context,
    windows: Sequence[int] = WINDOWS,
    schemes: Sequence[str] = SCHEMES,
    *,
    traffic_s: float = TRAFFIC_S,
    buffer: int = BUFFER,
) -> Sweep:
    """Run the satellite case for each scheme and window."""
    keys = list(product(schemes, windows))
    settings = [
        {
            **scheme_settings(scheme),
            "tcp.receive_window": f"{window} segments",
            "duration": f"{START_S + traffic_s} s",
            "links.*.queue": f"{buffer} packets",
        }
        for scheme, window in keys
    ]
    runs = context.runs("satellite.toml", settings)
    return {
        key: _measure(run, "uplink", SATELLITE_BPS, SATELLITE_PACKET / SATELLITE_MSS)
        for key, run in zip(keys, runs, strict=True)
    }


def terrestrial(
    context: Context,
    schemes: Sequence[str] = SCHEMES,
    *,
    traffic_s: float = TRAFFIC_S,
    buffer: int = 7,
    window: int = 28,
) -> Cases:
    """Run the terrestrial cases for each scheme."""
    settings = [
        {
            **scheme_settings(scheme),
            "tcp.receive_window": f"{window} segments",
            "duration": f"{START_S + traffic_s} s",
            "links.bottleneck.queue": f"{buffer} packets",
        }
        for scheme in schemes
    ]
    return {
        case: {
            scheme: _measure(run, "bottleneck", TERRESTRIAL_BPS, TERRESTRIAL_PACKET / TERRESTRIAL_MSS)
            for scheme, run in zip(schemes, context.runs(f"{case}.toml", settings), strict=True)
        }
        for case in ("one-drop", "three-drops")
    }


def _measure(run: Run, bottleneck: str, rate_bps: float, packet_to_payload: float) -> Measured:
    flow = run["flows"][0]
    waited = link(run, bottleneck)["queueing_delay_mean_s"]
    goodput = plain(flow["goodput_bps"])
    return Measured(
        efficiency=100 * goodput / rate_bps,
        whole_packets=100 * goodput * packet_to_payload / rate_bps,
        throughput=plain(flow["throughput_bps"]) / 1e6,
        delay=1e3 * plain(waited),
        drops=sum(plain(one["dropped_packets"]) for one in run["links"]),
        timeouts=plain(flow["timeouts"]),
    )


Runs = TypeVar("Runs")


@dataclass(frozen=True)
class Claim(Generic[Runs]):
    """A claim of the document: which row of ``published.csv``, and which values of the runs it speaks of."""

    case: str
    metric: str
    values: Callable[[Runs], Mapping[str, Number]]
    note: str = ""

    def row(self, context: Context, runs: Runs, others: Sequence[Runs]) -> Row:
        """Judge it on the default runs, and say in the note how often it holds in other settings."""
        verdicts = [self.verdict(context.paper, context.item, other) for other in others]
        holds = sum(verdict != "differs" for verdict in verdicts)
        across = f"Holds, at least weakly, in {holds} of {len(verdicts)} settings tried."
        note = " ".join(filter(None, (self.note, across)))
        return context.claim(self.case, self.metric, self.values(runs), note)

    def verdict(self, paper: Paper, item: str, runs: Runs) -> Verdict:
        """Judge it on some runs."""
        words = next(
            row.published
            for row in paper.published
            if (row.item, row.case, row.metric) == (item, self.case, self.metric)
        )
        return judge_claim(words, self.values(runs))
