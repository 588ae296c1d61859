"""The JSON of a run, typed. Units stand in the names: ``_s`` seconds, ``_bps`` bits a second.

A number is plain in a single run, and an `Estimate` where several replications were combined.
"""

import json
from typing import NotRequired, TypeAlias, TypedDict, cast


class Estimate(TypedDict):
    """A mean over replications with the half-width of its Student-t 95 % confidence interval.

    `values` are the replications themselves, in the order of their seeds, where they were kept to be compared
    with another's; JSON is without them.
    """

    mean: float
    ci95: float | None
    n: int
    values: NotRequired[tuple[float, ...]]


Number: TypeAlias = float | Estimate | None
"""A measured value; ``None`` where there is none, such as the finish of a flow that did not."""


class Flow(TypedDict):
    """What one flow did."""

    name: str
    group: NotRequired[str | None]
    variant: str
    bytes_delivered: Number
    start_s: Number
    finish_s: Number
    duration_s: Number
    goodput_bps: Number
    throughput_bps: Number
    retransmitted_segments: Number
    timeouts: Number
    rtt_mean_s: Number
    ecn_reductions: Number
    datagrams_sent: Number
    datagrams_lost: Number
    loss_cause_random: Number
    loss_cause_random_cut: Number
    loss_cause_congestion: Number
    loss_cause_congestion_kept: Number
    loss_cause_cuts: Number
    loss_cause_needless_cuts: Number
    loss_cause_open: Number
    error: NotRequired[str | None]


class Link(TypedDict):
    """What one direction of a link did."""

    name: str
    utilization: Number
    delivered_packets: Number
    dropped_packets: Number
    early_dropped_packets: Number
    marked_packets: Number
    corrupted_packets: Number
    queue_mean_packets: Number
    queue_max_packets: Number
    queueing_delay_mean_s: Number


class Gateway(TypedDict):
    """What a gateway saw and did; its name is that of the direction of a link that it guards."""

    name: str
    scheme: str
    flows: Number
    flows_max: Number
    flows_remembered: Number
    evicted: Number
    segments_forward: Number
    segments_backward: Number
    windows_lowered: Number
    window_mean_bytes: Number


class Handover(TypedDict):
    """What a handover moved, and lost."""

    name: str
    at_s: Number
    flows: Number
    lost_packets: Number


class Relay(TypedDict):
    """What a relay held between two connections; its name is that of the flow that it sends on by."""

    name: str
    upstream: str
    node: str
    buffer_bytes: Number
    buffer_mean_bytes: Number
    buffer_max_bytes: Number
    undelivered_bytes: Number


class Page(TypedDict):
    """One page that the user of an HTTP flow asked for: the flow's name, the page's number from 1."""

    flow: str
    page: int
    start_s: Number
    response_s: Number


class Engine(TypedDict):
    """What the simulator spent."""

    events: Number
    data_segments: Number
    wall_s: Number


class Settings(TypedDict):
    """What was asked for beside the scenario: ``key=value`` texts in their order, options that were given."""

    set: list[str]
    seed: int | None
    runs: int | None
    precision: float | None


class SeriesRecord(TypedDict):
    """How much of the time series was recorded; `reason` is ``limit`` or ``disk`` if it ended early."""

    points: int
    ended_s: float | None
    reason: str | None


class CaptureRecord(TypedDict):
    """How much of the packets was recorded; `reason` is ``limit`` or ``disk`` if it ended early."""

    packets: int
    bytes: int
    ended_s: float | None
    reason: str | None


class Recording(TypedDict):
    """What was recorded of the first replication beside its numbers."""

    series: NotRequired[SeriesRecord]
    capture: NotRequired[CaptureRecord]


class Run(TypedDict):
    """One run, or several combined."""

    scenario: str
    seed: int
    runs: NotRequired[int]
    seeds: NotRequired[list[int]]
    identity: NotRequired[str]
    bentpipe: NotRequired[str]
    scenario_file: NotRequired[str]
    settings: NotRequired[Settings]
    scenario_sha256: NotRequired[str]
    scenario_toml: NotRequired[str]
    duration_s: Number
    flows: list[Flow]
    links: list[Link]
    gateways: list[Gateway]
    handovers: list[Handover]
    relays: list[Relay]
    pages: list[Page]
    jain: Number
    jain_flows: NotRequired[Number]
    engine: Engine
    recording: NotRequired[Recording]


def parse(text: str) -> Run:
    """Read the JSON of a run."""
    return cast(Run, json.loads(text))


def dump(value: object, *, escaped: bool = False) -> str:
    """Write JSON the one way this project does: two spaces, keys in their order, a newline at the end.

    `escaped` writes what is not ASCII as JSON's escapes.
    """
    return json.dumps(value, indent=2, ensure_ascii=escaped, allow_nan=False) + "\n"


def mean(number: Number) -> float | None:
    """Give the value, or the mean of an estimate."""
    return number["mean"] if isinstance(number, dict) else number


def half_width(number: Number) -> float | None:
    """Give the half-width of the 95 % interval; ``None`` for a plain number or a single replication."""
    return number["ci95"] if isinstance(number, dict) else None
