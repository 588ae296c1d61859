//! What a run gives: the numbers of the design's JSON contract, with units in their names.

mod flows;
mod measure;

use bentpipe_drive::{Ended, FlowPathResult, GatewayResult, HandoverResult, LinkResult};

pub(crate) use self::flows::WarmUp;
use crate::causes::LossCauses;
pub use bentpipe_apps::{CallResult, PageResult, Responses, TransactionResult, Users, VideoResult};

bentpipe_units::numbers! {
    /// The outcome of a run.
    #[derive(Debug)]
    pub struct RunResult {
        /// The scenario's title.
        pub scenario: String;
        /// The seed that the random streams were derived from.
        pub seed: u64 = "", "seed", runs one;
        /// Simulated time at the end, in seconds.
        pub duration_s: f64 = "s", "time";
        /// The first part of the run, which is left out of the numbers of flows and links, in seconds; 0 without one.
        pub warm_up_s: f64 = "s", "warm-up", runs given;
        /// One entry a flow, in the scenario's order.
        pub flows: Vec<FlowResult>;
        /// Two entries a link, in the scenario's order: `name` and `name/reverse`.
        pub links: Vec<LinkResult>;
        /// One entry a gateway, in the order of the directions of links that they guard.
        pub gateways: Vec<GatewayResult>;
        /// One entry a handover, in the scenario's order.
        pub handovers: Vec<HandoverResult>;
        /// One entry a flow over satellites, in the scenario's order; none without a constellation.
        pub paths: Vec<FlowPathResult>;
        /// One entry a relay, in the scenario's order of flows.
        pub relays: Vec<RelayResult>;
        /// What the users of its flows saw.
        #[serde(flatten)]
        pub users: Users;
        /// Jain's index over the goodputs of flows that ask for the same: (Σx)² / (n Σx²); null when there are none, or nothing
        /// was delivered. These are the bulk transfers, which take all that they can get; when there are none, all flows if they
        /// carry the same application with the same settings.
        pub jain: Option<f64> = "", "Jain's index";
        /// How many flows `jain` is over; 0 when it is null.
        pub jain_flows: u64 = "", "flows of Jain's index";
        /// What the run cost.
        pub engine: EngineResult;
        /// What was recorded beside the numbers; none when nothing was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub recording: Option<Recording>;
    }

    /// What was recorded of a run beside its numbers.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Recording {
        /// The time series.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub series: Option<SeriesRecord>;
        /// The capture.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub capture: Option<CaptureRecord>;
        /// What limited each flow over TCP, in the scenario's order.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub limits: Option<Vec<FlowLimits>>;
    }

    /// For how long what limited a flow, its connections added up: from the first SYN until all was acknowledged, or the run ended.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct FlowLimits {
        /// The flow's name.
        pub flow: String;
        /// A link on the way of its data sent almost without a pause, in seconds.
        pub link_s: f64 = "s", "full link";
        /// The window that the receiver advertised had no room, in seconds.
        pub receive_window_s: f64 = "s", "receive window";
        /// Losses were repaired, or the window was what a loss or a mark had left of it, in seconds.
        pub loss_response_s: f64 = "s", "loss response";
        /// The handshake, and a window that was still opening, in seconds.
        pub slow_start_s: f64 = "s", "slow start";
        /// The wait for the retransmission timer, and the way back to the window that it left, in seconds.
        pub timeouts_s: f64 = "s", "timeouts";
        /// There was nothing more to send, in seconds.
        pub application_s: f64 = "s", "nothing to send";
        /// Pacing, or a window that the control had set without a loss, in seconds.
        pub control_s: f64 = "s", "pacing or control";
    }

    /// How much of the time series was recorded.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct SeriesRecord {
        /// Points.
        pub points: u64 = "", "points", runs one;
        /// When the recording ended before the run did, in seconds; null when it did not.
        pub ended_s: Option<f64> = "s", "ended", runs one;
        /// Why it did.
        pub reason: Option<Ended>;
    }

    /// How much of the packets was recorded.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CaptureRecord {
        /// Packets.
        pub packets: u64 = "packet", "packets", runs one;
        /// Size of the file.
        pub bytes: u64 = "B", "size", runs one;
        /// When the recording ended before the run did, in seconds; null when it did not.
        pub ended_s: Option<f64> = "s", "ended", runs one;
        /// Why it did.
        pub reason: Option<Ended>;
    }

    /// One flow; what is counted is the sum over its connections, in the direction of its data.
    #[derive(Debug)]
    pub struct FlowResult {
        /// The flow's name.
        pub name: String;
        /// The name that the scenario gives to this flow and its copies, such as `web{i}`; null without a `count`.
        pub group: Option<String>;
        /// Recovery and control, such as `sack`; `udp` for datagrams.
        pub variant: String;
        /// The release of the kernel that has the connections, whose clock is the run's; absent where they are ours.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub kernel_release: Option<String>;
        /// Payload bytes delivered to the application, over TCP in order.
        pub bytes_delivered: u64 = "B", "delivered", flows sum;
        /// When the connection was opened, or the first datagram sent, in seconds.
        pub start_s: f64 = "s", "start", runs given;
        /// When the last byte was delivered, in seconds; null for a flow that goes on when the run ends, or whose connection broke.
        pub finish_s: Option<f64> = "s", "end";
        /// From the first SYN, or the end of the warm-up, to the last byte, or to the end of the run, in seconds.
        pub duration_s: f64 = "s", "time", flows spread;
        /// From the flow's start to the first payload byte that its application received, in seconds; null where none has come.
        pub first_byte_s: Option<f64> = "s", "time to first byte", flows spread, better less;
        /// From the flow's start until its application had 90 % of the flow's bytes, in seconds; null where these have not come, or
        /// the flow is no transfer of a stated size.
        pub bytes_90_s: Option<f64> = "s", "time to 90 %", flows spread, better less;
        /// Payload delivered over `duration_s`, in bits a second.
        pub goodput_bps: f64 = "bit/s", "goodput", flows spread, better more;
        /// Payload sent, retransmissions included, over `duration_s`, in bits a second.
        pub throughput_bps: f64 = "bit/s", "throughput", flows spread;
        /// Segments sent again, by fast retransmit, by the timer or after it.
        pub retransmitted_segments: u64 = "segment", "resent segments", flows sum, runs packets;
        /// Expiries of the retransmission timer; null where a kernel is too old to tell.
        pub timeouts: Option<u64> = "", "timeouts", flows sum, runs events;
        /// Mean round-trip time of the acknowledged bytes, in seconds: each sample counts as often as bytes were acknowledged since the
        /// one before, the SYN as one. Null without a sample.
        pub rtt_mean_s: Option<f64> = "s", "RTT", flows spread;
        /// The round-trip time within which half of the bytes were acknowledged, in seconds, to 1/64 of itself.
        pub rtt_p50_s: Option<f64> = "s", "RTT, p50", flows spread;
        /// The round-trip time within which 95 % of the bytes were acknowledged, in seconds, to 1/64 of itself.
        pub rtt_p95_s: Option<f64> = "s", "RTT, p95", flows spread;
        /// The round-trip time within which 99 % of the bytes were acknowledged, in seconds, to 1/64 of itself.
        pub rtt_p99_s: Option<f64> = "s", "RTT, p99", flows spread;
        /// Segments with payload that the sender sent.
        pub data_segments_sent: u64 = "segment", "segments sent", flows sum;
        /// Reductions of the window in answer to a mark (ECN); null where a kernel has the connection.
        pub ecn_reductions: Option<u64> = "", "reductions by marks", flows sum, runs events;
        /// Recovery phases entered; null where a kernel has the connection.
        pub recoveries: Option<u64> = "", "recoveries", flows sum, runs events;
        /// Payload bytes that the receiver dropped because they lay beyond its window; null where a kernel has the connection.
        pub beyond_window_bytes: Option<u64> = "B", "beyond the window", flows sum;
        /// Payload bytes that the receiver held already.
        pub duplicate_bytes: u64 = "B", "duplicates", flows sum;
        /// Datagrams sent; 0 over TCP.
        pub datagrams_sent: u64 = "datagram", "datagrams sent", flows sum;
        /// Datagrams dropped by a queue or damaged by a link before the end of the run; 0 over TCP.
        pub datagrams_lost: u64 = "datagram", "datagrams lost", flows sum, runs packets;
        /// Lost data segments by cause, and what they cost.
        #[serde(flatten)]
        pub losses: LossCauses;
        /// How long its users waited.
        #[serde(flatten)]
        pub responses: Responses;
        /// Why the connection ended early; null when it did not.
        pub error: Option<String>;
    }

    /// One relay.
    #[derive(Debug)]
    pub struct RelayResult {
        /// The name of its flow, whose times are those of the whole way: from the start of the first sender to the last byte at
        /// the last receiver.
        pub name: String;
        /// The flow whose data it carries on.
        pub upstream: String;
        /// The node where it is.
        pub node: String;
        /// Size of its buffer, of which each connection has one.
        pub buffer_bytes: u64 = "B", "buffer";
        /// What was in its buffers on average: from the first byte on, until the last was acknowledged or the run ended.
        pub buffer_mean_bytes: f64 = "B", "buffer, mean";
        /// The most that was in its buffers.
        pub buffer_max_bytes: u64 = "B", "buffer, most";
        /// Bytes acknowledged to the sender and not by the receiver: at the end, or when it crashed.
        pub undelivered_bytes: u64 = "B", "undelivered";
        /// The most bytes that were acknowledged to the sender and not by the receiver at once.
        pub undelivered_max_bytes: u64 = "B", "undelivered, most";
        /// Bytes of the sender's data that were acknowledged to it.
        pub acknowledged_bytes: u64 = "B", "acknowledged";
        /// When it crashed, in seconds; null when it did not.
        pub crashed_s: Option<f64> = "s", "crashed";
        /// Bytes that were acknowledged to the sender and that the receiver never got, because the relay crashed or a connection
        /// of it broke; 0 when neither happened.
        pub lost_bytes: u64 = "B", "lost";
    }

    /// What a run cost.
    #[derive(Debug)]
    pub struct EngineResult {
        /// Events handled: arrivals at a link's far end, timers, applications.
        pub events: u64 = "", "events";
        /// Segments with payload that were sent.
        pub data_segments: u64 = "segment", "segments";
        /// Wall-clock time of the event loop in seconds.
        pub wall_s: f64 = "s", "wall clock", runs given;
    }
}

impl RunResult {
    /// The JSON Schema of a run's result, from which other languages make their types.
    pub fn schema() -> schemars::Schema {
        bentpipe_units::schema_of::<RunResult>()
    }
}
