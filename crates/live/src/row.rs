use bentpipe_drive::{GatewayResult, HandoverResult, LinkResult};
use serde::Serialize;

use crate::kernel::Counters;
use crate::path::PathStats;
use crate::program::SocketInfo;

/// What one run against the kernel measured. In our end's place there may be a second kernel: what is said here of our
/// end is then said of that one.
#[derive(Debug, Serialize)]
pub struct Row {
    /// One-way propagation delay of the data's way when the run begins, in seconds.
    pub delay_s: f64,
    /// Bytes of data.
    pub bytes: u64,
    /// Whether each end received the bytes that the other sent, all of them and no others.
    pub sha256_equal: bool,
    /// Packets from the kernel whose IPv4 or TCP checksum did not hold; from either, and those it counted, with two of them.
    pub checksum_errors: u64,
    /// Segments that our end sent again.
    pub retransmitted_segments: u64,
    /// Resets that reached or left our end while its connection was open. What the kernel answers to a duplicate of the last
    /// ACK, when its socket is gone, is none of these.
    pub resets: u64,
    /// Expiries of our end's retransmission timer.
    pub timeouts: u64,
    /// Zero-window probes of our end.
    pub window_probes: u64,
    /// Segments with payload that our end sent, retransmissions included.
    pub data_segments: u64,
    /// From the first SYN until the receiver's program had the last byte, in seconds.
    pub duration_s: f64,
    /// Data, without what was sent back, over the duration, in bit/s.
    pub goodput_bps: f64,
    /// Mean round-trip time of the bytes that our end sent, in seconds; a kernel does not tell it.
    pub rtt_mean_s: Option<f64>,
    /// Our end's congestion window when everything was over, in segments.
    pub cwnd_segments: f64,
    /// Its slow start threshold in segments; none before the first loss.
    pub ssthresh_segments: Option<f64>,
    /// Our end's state when everything was over.
    pub state: String,
    /// Whether the driver ran before other programs (SCHED_FIFO).
    pub realtime: bool,
    /// What became of the packets of the end that sends the data.
    pub forward: PathStats,
    /// What became of those of the other end.
    pub backward: PathStats,
    /// What each direction of a link did, as in the result of a simulated run.
    pub links: Vec<LinkResult>,
    /// What each gateway did.
    pub gateways: Vec<GatewayResult>,
    /// What each handover of the connection cost.
    pub handovers: Vec<HandoverResult>,
    /// Segments that the kernel sent again, as it counts them.
    pub kernel_retransmitted_segments: u64,
    /// Segments that came to the kernel with a wrong checksum.
    pub kernel_checksum_errors: u64,
    /// Expiries of the kernel's retransmission timer.
    pub kernel_timeouts: u64,
    /// Connections that the kernel counts as reset.
    pub kernel_resets: u64,
    /// What TCP_INFO said before the socket was closed.
    pub kernel_info: SocketInfo,
    /// The kernel's counters of TCP that are not zero, by their names of nstat.
    pub kernel_counters: Counters,
    /// `kernel_info` of the kernel in our end's place.
    pub own_kernel_info: Option<SocketInfo>,
    /// `kernel_counters` of the kernel in our end's place.
    pub own_kernel_counters: Option<Counters>,
}
