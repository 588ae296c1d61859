"""The runs that the items share: schemes, moments of the beginning, and what is measured of a run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bentpipe.results import Number, Run
from bentpipe.runs.statistics import jain
from bentpipe.show.style import BLUE, GREEN, ORANGE
from bentpipe_papers.common import flows, link, plain
from bentpipe_papers.reproduction.readings import Reading
from bentpipe_papers.reproduction.reproduce import Context, Row, Settings

SCHEMES = ("tcp", "xfwa")
BOTH = (*SCHEMES, "arrived")
LABELS = {"tcp": "standard TCP", "xfwa": "XFWA", "arrived": "XFWA, by arrival"}
COLOURS = {"tcp": ORANGE, "xfwa": BLUE, "arrived": GREEN}

SEEDS = 10
"""Runs of each case: when each flow begins is random, within `SPREAD_S`, and on/off periods are."""

SPREAD_S = 0.1

PAYLOAD = 960
"""Bytes of data in a packet."""

PACKET = 1000
HOP_S = 0.02
"""Delay of each link."""

BUFFER_S = 3 * HOP_S
"""Buffers hold the bandwidth-delay product of the bottleneck link, which is composed of three hops."""

GATEWAY = f'scheme = "xfwa", least = "{PAYLOAD} B", counts_from = "syn"'
"""A flow is in progress from its first packet on."""

TTL = 'rtt = "ttl", isl_delay = "20 ms"'
"""XFWA as the document has it."""

ARRIVED = f'{TTL}, last_packet = "arrived", share_of = "data"'
"""The other reading: a packet counts when it comes to the queue, and windows leave no room for headers."""

STAGED, GROUPS, PERSISTENT, WEB = (f"{name}.toml" for name in ("staged", "groups", "persistent", "web"))
BOTTLENECK = "isl1"
"""The link that every flow passes first of two, in each scenario."""

_BRANCHES = [
    f"{way}{group}-{place}" for group in (2, 3, 4) for way in ("in", "out") for place in range(1, group)
]
_HOSTS: Mapping[str, Sequence[str]] = {
    GROUPS: [f"{way}{group}" for way in ("up", "down") for group in (1, 2, 3, 4)],
    WEB: ["up", "down", "webup", "webdown"],
}


def isls(scenario: str) -> list[str]:
    """Name the inter-satellite links of a scenario."""
    return ["isl1", "isl2", *(_BRANCHES if scenario == GROUPS else [])]


def xfwa(scenario: str, options: str = TTL) -> Settings:
    """Put XFWA on every inter-satellite link, in the direction of the data."""
    return on_links(scenario, "gateway", f"{{ {GATEWAY}, {options} }}")


def _without(settings: Settings) -> Settings:
    """Take XFWA off the links."""
    return {key: value for key, value in settings.items() if f"{{ {GATEWAY}" not in str(value)}


def _with_buffers(milliseconds: int) -> Reading:
    def change(scenario: str, settings: Settings) -> tuple[str, Settings]:
        wider = buffers(STAGED, 1.5, milliseconds / 1e3) if scenario == STAGED else {}
        return scenario, {**wider, **settings}

    return Reading(
        f"buffers-{milliseconds}-ms",
        "Delay of the bottleneck that the buffers hold the product of: 60 ms, three hops of 20, was "
        f"inferred; here it is {milliseconds} ms",
        change,
        ("figure-[23]",),
    )


OTHER_BUFFERS_MS = {_with_buffers(milliseconds): milliseconds for milliseconds in (140, 280)}
READINGS = tuple(OTHER_BUFFERS_MS)

WITHOUT = Reading.of_settings("without", "no gateway on the links", _without)


def only_on(name: str, scenario: str, options: str = TTL) -> Settings:
    """Put XFWA on one link alone."""
    return {key: value for key, value in xfwa(scenario, options).items() if key == f"links.{name}.gateway"}


def on_links(scenario: str, key: str, value: str) -> Settings:
    """Give each inter-satellite link the same setting."""
    return {f"links.{link}.{key}": value for link in isls(scenario)}


def scheme(name: str, scenario: str) -> Settings:
    """Give the settings of one of `BOTH`."""
    return {} if name == "tcp" else xfwa(scenario, ARRIVED if name == "arrived" else TTL)


def rate(scenario: str, mbps: float, buffer_s: float = BUFFER_S) -> Settings:
    """Give each inter-satellite link a rate, and every link a buffer that such a one sends in so long."""
    return {**on_links(scenario, "rate", f"{mbps:g} Mbit/s"), **buffers(scenario, mbps, buffer_s)}


def buffers(scenario: str, mbps: float, buffer_s: float) -> Settings:
    """Give each link, up-links and down-links too, a buffer that an inter-satellite link sends in so long."""
    size = f"{round(mbps * 1e6 * buffer_s / 8)} B"
    links = [*isls(scenario), *_HOSTS.get(scenario, ("up", "down"))]
    return {f"links.{link}.queue": size for link in links}


def moments(names: Sequence[str], seed: int, start_s: Mapping[str, float] | None = None) -> Settings:
    """Let each of these flows begin within `SPREAD_S` of its time; copies of one follow at random steps."""
    random = np.random.default_rng(seed)
    base = start_s or {}
    return {
        "seed": seed,
        **{
            f"flows.{name}.start": f"{base.get(name, 0.0) + random.uniform(0.0, SPREAD_S):.6f} s"
            for name in names
        },
    }


Measured = tuple[str, str, Mapping[str, Number]]
"""Case, metric and values of a claim."""


def claims(context: Context, measured: Iterable[Measured]) -> list[Row]:
    """Hold what was measured against the claims."""
    return [context.claim(*one) for one in measured]


def segments(flow: Mapping[str, Any]) -> float:
    """Give the segments that arrived in order."""
    return plain(flow["bytes_delivered"]) / PAYLOAD


def busy(run: Run) -> float:
    """Give the share of the time, in %, in which the bottleneck was sending."""
    return 100 * plain(link(run, BOTTLENECK)["utilization"])


def wait_ms(run: Run) -> float:
    """Give the mean wait in the queue of the bottleneck."""
    return 1e3 * plain(link(run, BOTTLENECK)["queueing_delay_mean_s"])


def drop_rate(run: Run) -> float:
    """Give the share, in %, of the packets that came to the bottleneck and found no room."""
    one = link(run, BOTTLENECK)
    dropped, delivered = plain(one["dropped_packets"]), plain(one["delivered_packets"])
    return 100 * dropped / (dropped + delivered)


def fairness(run: Run, prefix: str = "") -> float:
    """Give Jain's index over what the flows of that name got while they were there."""
    return jain([plain(flow["goodput_bps"]) for flow in flows(run, prefix)])


def span(values: Iterable[float], digits: int = 0) -> str:
    """Write the least and the largest of some values."""
    found = list(values)
    least, most = (f"{value:,.{digits}f}" for value in (min(found), max(found)))
    return least if least == most else f"{least} to {most}"
