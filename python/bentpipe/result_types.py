"""The types of a run's result, written by `make types` from the schema of the Rust side."""

from typing import Literal, NotRequired, TypedDict

from bentpipe.numbers.number import Number


class CaptureRecord(TypedDict):
    """How much of the packets was recorded."""

    packets: int
    """Packets."""

    bytes: int
    """Size of the file."""

    ended_s: float | None
    """When the recording ended before the run did, in seconds; ``None`` when it did not."""

    reason: Literal["limit", "disk"] | None
    """Why it did."""


class Engine(TypedDict):
    """What a run cost."""

    events: Number
    """Events handled: arrivals at a link's far end, timers, applications."""

    data_segments: Number
    """Segments with payload that were sent."""

    wall_s: Number
    """Wall-clock time of the event loop in seconds."""


class FlowLimits(TypedDict):
    """For how long what limited a flow, its connections added up.

    From the first SYN until all was acknowledged, or the run ended.
    """

    flow: str
    """The flow's name."""

    link_s: Number
    """A link on the way of its data sent almost without a pause, in seconds."""

    receive_window_s: Number
    """The window that the receiver advertised had no room, in seconds."""

    loss_response_s: Number
    """Losses were repaired, or the window was what a loss or a mark had left of it, in seconds."""

    slow_start_s: Number
    """The handshake, and a window that was still opening, in seconds."""

    timeouts_s: Number
    """The wait for the retransmission timer, and the way back to the window that it left, in seconds."""

    application_s: Number
    """There was nothing more to send, in seconds."""

    control_s: Number
    """Pacing, or a window that the control had set without a loss, in seconds."""


class FlowPath(TypedDict):
    """The path of a flow over satellites, from the end of the warm-up to the end of the run."""

    flow: str
    """The flow's name."""

    handovers: Number
    """Changes from one path to another."""

    no_path_s: Number
    """Time without a path, outages after handovers included, in seconds."""

    hops_min: Number
    """The fewest links of a path; ``None`` without a path."""

    hops_max: Number
    """The most links of a path; ``None`` without a path."""

    rtt_min_s: Number
    """The least propagation delay there and back of all steps with a path, in seconds.

    ``None`` without a path.
    """

    rtt_median_s: Number
    """Its median, in seconds; ``None`` without a path."""

    rtt_max_s: Number
    """The largest, in seconds; ``None`` without a path."""

    left_packets: Number
    """
    Packets of both directions that were lost because they came out of a link that their path had left,
    from the start of the run; that link counts them as delivered.
    """

    no_path_packets: Number
    """
    Packets of both directions that were lost because their host sent them while it had no path, from the
    start of the run.
    """


class Flow(TypedDict):
    """One flow; what is counted is the sum over its connections, in the direction of its data."""

    name: str
    """The flow's name."""

    group: str | None
    """The name that the scenario gives to this flow and its copies, such as ``web{i}``.

    ``None`` without a ``count``.
    """

    variant: str
    """Recovery and control, such as ``sack``; ``udp`` for datagrams."""

    bytes_delivered: Number
    """Payload bytes delivered to the application, over TCP in order."""

    start_s: Number
    """When the connection was opened, or the first datagram sent, in seconds."""

    finish_s: Number
    """When the last byte was delivered, in seconds; ``None`` when the flow did not finish."""

    duration_s: Number
    """
    From the first SYN, or the end of the warm-up, to the last byte, or to the end of the run, in seconds.
    """

    goodput_bps: Number
    """Payload delivered over ``duration_s``, in bits a second."""

    throughput_bps: Number
    """Payload sent, retransmissions included, over ``duration_s``, in bits a second."""

    retransmitted_segments: Number
    """Segments sent again, by fast retransmit, by the timer or after it."""

    timeouts: Number
    """Expiries of the retransmission timer."""

    rtt_mean_s: Number
    """Mean round-trip time of the acknowledged bytes, in seconds.

    Each sample counts as often as bytes were acknowledged since the one before. Null without a sample.
    """

    rtt_p50_s: Number
    """The round-trip time within which half of them were acknowledged, to 1/64 of itself."""

    rtt_p95_s: Number
    """The same of 95 %."""

    rtt_p99_s: Number
    """The same of 99 %."""

    data_segments_sent: Number
    """Segments with payload that the sender sent."""

    ecn_reductions: Number
    """Reductions of the window in answer to a mark (ECN)."""

    recoveries: Number
    """Recovery phases entered."""

    beyond_window_bytes: Number
    """Payload bytes that the receiver dropped because they lay beyond its window."""

    duplicate_bytes: Number
    """Payload bytes that the receiver held already."""

    datagrams_sent: Number
    """Datagrams sent; 0 over TCP."""

    datagrams_lost: Number
    """Datagrams dropped by a queue or damaged by a link before the end of the run; 0 over TCP."""

    loss_cause_random: Number
    """Data segments that a link damaged."""

    loss_cause_random_cut: Number
    """Those of them that cost a reduction."""

    loss_cause_congestion: Number
    """Data segments that a full queue dropped."""

    loss_cause_congestion_kept: Number
    """Those of them that cost no reduction."""

    loss_cause_cuts: Number
    """Reductions of the window.

    In answer to a loss, to a mark, or to an expiry of the retransmission timer.
    """

    loss_cause_needless_cuts: Number
    """Those of them that answer to no mark, and in whose window of data nothing was lost."""

    loss_cause_open: Number
    """Data segments lost whose case is open at the end.

    They have cost no reduction, and the cumulative ACK has not passed them.
    """

    response_p50_s: Number
    """
    Median of the response times of its pages, transactions or short transfers that came, in seconds;
    ``None`` without one.
    """

    response_p95_s: Number
    """The response time that 95 % of them are within, in seconds."""

    response_p99_s: Number
    """The response time that 99 % of them are within, in seconds."""

    error: str | None
    """Why the connection ended early; ``None`` when it did not."""


class Gateway(TypedDict):
    """One gateway."""

    name: str
    """The direction of a link that it guards: ``name``, or ``name/reverse``."""

    scheme: str
    """What it does, such as ``xfwa``."""

    flows: Number
    """Flows active now."""

    flows_max: Number
    """Most flows that were ever active at once."""

    flows_remembered: Number
    """Flows in the table now, active or not; never more than ``max_flows``."""

    evicted: Number
    """Flows forgotten because the table was full."""

    segments_forward: Number
    """Segments that entered the guarded link."""

    segments_backward: Number
    """Segments that came the other way."""

    windows_lowered: Number
    """Acknowledgments whose window was lowered."""

    window_mean_bytes: Number
    """Mean window in bytes over the acknowledgments whose window was lowered; 0 if there were none."""

    cached_max_bytes: Number
    """Most payload bytes of one flow that an agent kept at once.

    This and what follows is 0 for what only computes windows.
    """

    local_retransmissions: Number
    """Packets that it sent again over the guarded link."""

    acks_swallowed: Number
    """Acknowledgments of the receiver that it swallowed."""

    acks_made: Number
    """Acknowledgments that it made."""

    data_swallowed: Number
    """Data packets of the sender that it swallowed: it had them already, or no room for them."""

    acknowledged_ahead_max_bytes: Number
    """Most bytes of one flow that it had acknowledged and the receiver had not."""

    acknowledged_ahead_bytes: Number
    """Bytes that it has acknowledged and the receiver has not: now, or when it gave their flow up."""


class Handover(TypedDict):
    """One handover."""

    name: str
    """Its name."""

    at_s: Number
    """When it happens, in seconds."""

    flows: Number
    """Flows that take another way."""

    lost_packets: Number
    """Packets lost because they came out of a link that their flow had left.

    That link counts them as delivered.
    """


class Link(TypedDict):
    """One direction of a link."""

    name: str
    """``name``, or ``name/reverse``."""

    utilization: Number
    """Share of the time spent sending, 0 to 1."""

    delivered_packets: Number
    """Packets that arrived whole."""

    delivered_bytes: Number
    """Their bytes."""

    dropped_packets: Number
    """Packets that found the queue full, or were dropped early."""

    early_dropped_packets: Number
    """Those of them that the queue dropped while there was room."""

    marked_packets: Number
    """Packets that the queue marked."""

    corrupted_packets: Number
    """Packets that arrived damaged, and that nothing repaired."""

    queue_mean_packets: Number
    """Time average of the number of packets waiting, the one being sent not counted."""

    queue_max_packets: Number
    """Most packets that ever waited at once."""

    queueing_delay_mean_s: Number
    """Mean wait before service of the packets taken, in seconds.

    Service and propagation are not in it. A packet still waiting at the end counts with the wait that it
    was going to have; where that is not known, because the queue decides when it leaves or the link
    changes, it does not count.
    """

    queueing_delay_p50_s: Number
    """Median of the waits before service, in seconds; ``None`` where it was not asked for."""

    queueing_delay_p95_s: Number
    """The wait that 95 % of the packets are within, in seconds."""

    queueing_delay_p99_s: Number
    """The wait that 99 % of the packets are within, in seconds."""

    order_wait_max_s: NotRequired[Number]
    """Longest wait of a packet at the far end for those before it, in seconds."""

    parity_frames: NotRequired[Number]
    """Frames of parity that FEC sent."""

    rate_mean_bps: NotRequired[Number]
    """Its mean rate, standstills counted as none."""

    recovered_packets: NotRequired[Number]
    """Packets that were lost and arrived all the same, sent again or decoded."""

    retransmitted_frames: NotRequired[Number]
    """Frames that ARQ sent again."""

    standstill: NotRequired[Number]
    """Share of the time in which it stood still, 0 to 1."""


class Page(TypedDict):
    """One page of an HTTP flow."""

    flow: str
    """The flow's name."""

    page: int
    """Its number, from 1."""

    start_s: Number
    """When the user asked for it, in seconds."""

    response_s: Number
    """
    From the moment the user asks, before the SYN for the first page, to the last byte of the last object,
    in seconds; ``None`` when that did not come.
    """


class Relay(TypedDict):
    """One relay."""

    name: str
    """The name of its flow, whose times are those of the whole way.

    From the start of the first sender to the last byte at the last receiver.
    """

    upstream: str
    """The flow whose data it carries on."""

    node: str
    """The node where it is."""

    buffer_bytes: Number
    """Size of its buffer, of which each connection has one."""

    buffer_mean_bytes: Number
    """What was in its buffers on average.

    From the first byte on, until the last was acknowledged or the run ended.
    """

    buffer_max_bytes: Number
    """The most that was in its buffers."""

    undelivered_bytes: Number
    """Bytes acknowledged to the sender and not by the receiver: at the end, or when it crashed."""

    undelivered_max_bytes: Number
    """The most of these at once."""

    acknowledged_bytes: Number
    """Bytes of the sender's data that were acknowledged to it."""

    crashed_s: Number
    """When it crashed, in seconds; ``None`` when it did not."""

    lost_bytes: Number
    """
    Bytes that were acknowledged to the sender and that the receiver never got, because the relay crashed
    or a connection of it broke; 0 when neither happened.
    """


class SeriesRecord(TypedDict):
    """How much of the time series was recorded."""

    points: int
    """Points."""

    ended_s: float | None
    """When the recording ended before the run did, in seconds; ``None`` when it did not."""

    reason: Literal["limit", "disk"] | None
    """Why it did."""


class Transaction(TypedDict):
    """One transaction, one segment of a film, or the transfer of one short connection."""

    flow: str
    """The flow's name."""

    transaction: int
    """Its number, from 1."""

    size_bytes: Number
    """Size of the answer or of the transfer."""

    start_s: Number
    """When the client asked, or the connection was opened, in seconds."""

    response_s: Number
    """From the start, before the SYN where there is one, to the last byte, in seconds.

    ``None`` when that did not come.
    """


class Video(TypedDict):
    """A film, as its user saw it."""

    name: str
    """The flow's name."""

    segments: Number
    """Segments that came whole."""

    startup_s: Number
    """From the request for the first segment, before the SYN, to the first picture, in seconds.

    ``None`` when nothing was shown.
    """

    stalls: Number
    """Times that the buffer ran empty while the film was shown."""

    stalled_s: Number
    """How long the picture stood still for that, in seconds.

    Until the film went on, the user left, or the run ended.
    """

    bit_rate_mean_bps: Number
    """Mean bit rate of the segments that came, by their playing time, in bits a second.

    ``None`` without one.
    """

    bit_rate_switches: Number
    """Segments whose bit rate is not that of the one before."""


class Recording(TypedDict):
    """What was recorded of a run beside its numbers."""

    capture: NotRequired[CaptureRecord]
    """The capture."""

    limits: NotRequired[list[FlowLimits]]
    """What limited each flow over TCP, in the scenario's order."""

    series: NotRequired[SeriesRecord]
    """The time series."""


class Measured(TypedDict):
    """The outcome of a run."""

    scenario: str
    """The scenario's title."""

    seed: int
    """The seed that the random streams were derived from."""

    duration_s: Number
    """Simulated time at the end, in seconds."""

    warm_up_s: Number
    """The first part of it, which is left out of the numbers of flows and links, in seconds.

    0 without one.
    """

    flows: list[Flow]
    """One entry a flow, in the scenario's order."""

    links: list[Link]
    """Two entries a link, in the scenario's order: ``name`` and ``name/reverse``."""

    gateways: list[Gateway]
    """One entry a gateway, in the order of the directions of links that they guard."""

    handovers: list[Handover]
    """One entry a handover, in the scenario's order."""

    paths: list[FlowPath]
    """One entry a flow over satellites, in the scenario's order; none without a constellation."""

    relays: list[Relay]
    """One entry a relay, in the scenario's order of flows."""

    pages: list[Page]
    """The pages of HTTP flows: one flow after the other, in the order in which they were asked for."""

    videos: list[Video]
    """One entry a film, in the scenario's order of flows."""

    transactions: list[Transaction]
    """The transactions, the segments of films, and the transfers of short flows.

    One flow after the other, in the order of their starts.
    """

    jain: Number
    """Jain's index over the goodputs of flows that ask for the same.

    (Σx)² / (n Σx²); ``None`` when there are none, or nothing was delivered. These are the bulk transfers,
    which take all that they can get; when there are none, all flows if they carry the same application
    with the same settings.
    """

    jain_flows: Number
    """How many flows ``jain`` is over; 0 when it is ``None``."""

    engine: Engine
    """What the run cost."""

    recording: NotRequired[Recording]
    """What was recorded beside the numbers; none when nothing was asked for."""


COLUMNS: dict[str, dict[str, Literal["text", "integer", "number"]]] = {
    "flows": {
        "name": "text",
        "group": "text",
        "variant": "text",
        "bytes_delivered": "integer",
        "start_s": "number",
        "finish_s": "number",
        "duration_s": "number",
        "goodput_bps": "number",
        "throughput_bps": "number",
        "retransmitted_segments": "integer",
        "timeouts": "integer",
        "rtt_mean_s": "number",
        "rtt_p50_s": "number",
        "rtt_p95_s": "number",
        "rtt_p99_s": "number",
        "data_segments_sent": "integer",
        "ecn_reductions": "integer",
        "recoveries": "integer",
        "beyond_window_bytes": "integer",
        "duplicate_bytes": "integer",
        "datagrams_sent": "integer",
        "datagrams_lost": "integer",
        "loss_cause_random": "integer",
        "loss_cause_random_cut": "integer",
        "loss_cause_congestion": "integer",
        "loss_cause_congestion_kept": "integer",
        "loss_cause_cuts": "integer",
        "loss_cause_needless_cuts": "integer",
        "loss_cause_open": "integer",
        "response_p50_s": "number",
        "response_p95_s": "number",
        "response_p99_s": "number",
        "error": "text",
    },
    "links": {
        "name": "text",
        "utilization": "number",
        "delivered_packets": "integer",
        "delivered_bytes": "integer",
        "dropped_packets": "integer",
        "early_dropped_packets": "integer",
        "marked_packets": "integer",
        "corrupted_packets": "integer",
        "queue_mean_packets": "number",
        "queue_max_packets": "integer",
        "queueing_delay_mean_s": "number",
        "queueing_delay_p50_s": "number",
        "queueing_delay_p95_s": "number",
        "queueing_delay_p99_s": "number",
        "order_wait_max_s": "number",
        "parity_frames": "integer",
        "rate_mean_bps": "number",
        "recovered_packets": "integer",
        "retransmitted_frames": "integer",
        "standstill": "number",
    },
    "gateways": {
        "name": "text",
        "scheme": "text",
        "flows": "integer",
        "flows_max": "integer",
        "flows_remembered": "integer",
        "evicted": "integer",
        "segments_forward": "integer",
        "segments_backward": "integer",
        "windows_lowered": "integer",
        "window_mean_bytes": "number",
        "cached_max_bytes": "integer",
        "local_retransmissions": "integer",
        "acks_swallowed": "integer",
        "acks_made": "integer",
        "data_swallowed": "integer",
        "acknowledged_ahead_max_bytes": "integer",
        "acknowledged_ahead_bytes": "integer",
    },
    "handovers": {
        "name": "text",
        "at_s": "number",
        "flows": "integer",
        "lost_packets": "integer",
    },
    "paths": {
        "flow": "text",
        "handovers": "integer",
        "no_path_s": "number",
        "hops_min": "integer",
        "hops_max": "integer",
        "rtt_min_s": "number",
        "rtt_median_s": "number",
        "rtt_max_s": "number",
        "left_packets": "integer",
        "no_path_packets": "integer",
    },
    "relays": {
        "name": "text",
        "upstream": "text",
        "node": "text",
        "buffer_bytes": "integer",
        "buffer_mean_bytes": "number",
        "buffer_max_bytes": "integer",
        "undelivered_bytes": "integer",
        "undelivered_max_bytes": "integer",
        "acknowledged_bytes": "integer",
        "crashed_s": "number",
        "lost_bytes": "integer",
    },
    "pages": {
        "flow": "text",
        "page": "integer",
        "start_s": "number",
        "response_s": "number",
    },
    "videos": {
        "name": "text",
        "segments": "integer",
        "startup_s": "number",
        "stalls": "integer",
        "stalled_s": "number",
        "bit_rate_mean_bps": "number",
        "bit_rate_switches": "integer",
    },
    "transactions": {
        "flow": "text",
        "transaction": "integer",
        "size_bytes": "integer",
        "start_s": "number",
        "response_s": "number",
    },
}
"""The tables of a result: their columns, and what these hold in a single run."""
