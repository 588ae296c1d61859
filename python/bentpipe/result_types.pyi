"""The types of a run's result, by `make types`."""

from functools import cached_property
from typing import Literal, NotRequired, TypeAlias, TypedDict

from bentpipe.numbers.number import Number
from bentpipe.runs.result import Table

class Call(TypedDict):
    """One direction of a telephone call, as its listener heard it."""

    name: str
    packets_sent: Number
    packets_lost: Number
    packets_late: Number
    loss: Number
    burst_ratio: Number
    mouth_to_ear_s: Number
    rating: Number
    mos: Number

class CaptureRecord(TypedDict):
    """How much of the packets was recorded."""

    packets: int
    bytes: int
    ended_s: float | None
    reason: Literal["limit", "disk"] | None

class Engine(TypedDict):
    """What a run cost."""

    events: Number
    data_segments: Number
    wall_s: Number

class FlowLimits(TypedDict):
    """For how long what limited a flow, its connections added up."""

    flow: str
    link_s: Number
    receive_window_s: Number
    loss_response_s: Number
    slow_start_s: Number
    timeouts_s: Number
    application_s: Number
    control_s: Number

class FlowPath(TypedDict):
    """The path of a flow over satellites, from the end of the warm-up to the end of the run."""

    flow: str
    handovers: Number
    no_path_s: Number
    hops_min: Number
    hops_max: Number
    rtt_min_s: Number
    rtt_median_s: Number
    rtt_max_s: Number
    left_packets: Number
    no_path_packets: Number

class Flow(TypedDict):
    """One flow."""

    name: str
    group: str | None
    variant: str
    bytes_delivered: Number
    start_s: Number
    finish_s: Number
    duration_s: Number
    first_byte_s: Number
    bytes_90_s: Number
    goodput_bps: Number
    throughput_bps: Number
    retransmitted_segments: Number
    timeouts: Number
    rtt_mean_s: Number
    rtt_p50_s: Number
    rtt_p95_s: Number
    rtt_p99_s: Number
    data_segments_sent: Number
    ecn_reductions: Number
    recoveries: Number
    beyond_window_bytes: Number
    duplicate_bytes: Number
    datagrams_sent: Number
    datagrams_lost: Number
    loss_cause_random: Number
    loss_cause_random_cut: Number
    loss_cause_congestion: Number
    loss_cause_congestion_kept: Number
    loss_cause_cuts: Number
    loss_cause_needless_cuts: Number
    loss_cause_open: Number
    response_p50_s: Number
    response_p95_s: Number
    response_p99_s: Number
    error: str | None
    kernel_release: NotRequired[str]

class Gateway(TypedDict):
    """One gateway."""

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
    cached_max_bytes: Number
    local_retransmissions: Number
    acks_swallowed: Number
    acks_made: Number
    data_swallowed: Number
    acknowledged_ahead_max_bytes: Number
    acknowledged_ahead_bytes: Number

class Handover(TypedDict):
    """One handover."""

    name: str
    at_s: Number
    flows: Number
    lost_packets: Number

class Link(TypedDict):
    """One direction of a link."""

    name: str
    utilization: Number
    delivered_packets: Number
    delivered_bytes: Number
    dropped_packets: Number
    early_dropped_packets: Number
    marked_packets: Number
    corrupted_packets: Number
    queue_mean_packets: Number
    queue_max_packets: Number
    queueing_delay_mean_s: Number
    queueing_delay_p50_s: Number
    queueing_delay_p95_s: Number
    queueing_delay_p99_s: Number
    order_wait_max_s: NotRequired[Number]
    parity_frames: NotRequired[Number]
    rate_mean_bps: NotRequired[Number]
    recovered_packets: NotRequired[Number]
    retransmitted_frames: NotRequired[Number]
    standstill: NotRequired[Number]

class Page(TypedDict):
    """One page of an HTTP flow."""

    flow: str
    page: int
    start_s: Number
    response_s: Number

class Relay(TypedDict):
    """One relay."""

    name: str
    upstream: str
    node: str
    buffer_bytes: Number
    buffer_mean_bytes: Number
    buffer_max_bytes: Number
    undelivered_bytes: Number
    undelivered_max_bytes: Number
    acknowledged_bytes: Number
    crashed_s: Number
    lost_bytes: Number

class SeriesRecord(TypedDict):
    """How much of the time series was recorded."""

    points: int
    ended_s: float | None
    reason: Literal["limit", "disk"] | None

class Transaction(TypedDict):
    """One transaction, one segment of a film, or the transfer of one short connection."""

    flow: str
    transaction: int
    size_bytes: Number
    start_s: Number
    response_s: Number

class Video(TypedDict):
    """A film, as its user saw it."""

    name: str
    segments: Number
    startup_s: Number
    stalls: Number
    stalled_s: Number
    bit_rate_mean_bps: Number
    bit_rate_switches: Number

class Recording(TypedDict):
    """What was recorded of a run beside its numbers."""

    capture: NotRequired[CaptureRecord]
    limits: NotRequired[list[FlowLimits]]
    series: NotRequired[SeriesRecord]

class Measured(TypedDict):
    """The outcome of a run."""

    scenario: str
    seed: int
    duration_s: Number
    warm_up_s: Number
    flows: list[Flow]
    links: list[Link]
    gateways: list[Gateway]
    handovers: list[Handover]
    paths: list[FlowPath]
    relays: list[Relay]
    pages: list[Page]
    videos: list[Video]
    calls: list[Call]
    transactions: list[Transaction]
    jain: Number
    jain_flows: Number
    engine: Engine
    recording: NotRequired[Recording]

What: TypeAlias = Literal[
    "flows",
    "links",
    "gateways",
    "handovers",
    "paths",
    "relays",
    "pages",
    "videos",
    "calls",
    "transactions",
]

class Tables:
    """The tables of a result."""

    @cached_property
    def flows(self) -> Table[Flow]:
        """One entry a flow, in the scenario's order."""

    @cached_property
    def links(self) -> Table[Link]:
        """Two entries a link, in the scenario's order."""

    @cached_property
    def gateways(self) -> Table[Gateway]:
        """One entry a gateway, in the order of the directions of links that they guard."""

    @cached_property
    def handovers(self) -> Table[Handover]:
        """One entry a handover, in the scenario's order."""

    @cached_property
    def paths(self) -> Table[FlowPath]:
        """One entry a flow over satellites, in the scenario's order."""

    @cached_property
    def relays(self) -> Table[Relay]:
        """One entry a relay, in the scenario's order of flows."""

    @cached_property
    def pages(self) -> Table[Page]:
        """The pages of HTTP flows."""

    @cached_property
    def videos(self) -> Table[Video]:
        """One entry a film, in the scenario's order of flows."""

    @cached_property
    def calls(self) -> Table[Call]:
        """One entry a telephone call, in the scenario's order of flows."""

    @cached_property
    def transactions(self) -> Table[Transaction]:
        """The transactions, the segments of films, and the transfers of short flows."""
