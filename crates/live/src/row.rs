use bentpipe_drive::{GatewayResult, HandoverResult, LinkResult};

use crate::kernel::Counters;
use crate::path::PathStats;
use crate::program::SocketInfo;

bentpipe_units::numbers! {
    /// What one run against the kernel measured. In our end's place there may be a second kernel: what is said here of our
    /// end is then said of that one.
    #[derive(Debug)]
    pub struct Row {
        /// One-way propagation delay of the data's way when the run begins, in seconds.
        pub delay_s: f64 = "s", "delay";
        /// Bytes of data.
        pub bytes: u64 = "B", "bytes";
        /// Whether each end received the bytes that the other sent, all of them and no others.
        pub sha256_equal: bool;
        /// Packets from the kernel whose IPv4 or TCP checksum did not hold; from either, and those it counted, with two of
        /// them.
        pub checksum_errors: u64 = "packet", "wrong checksums";
        /// Segments that our end sent again.
        pub retransmitted_segments: u64 = "segment", "resent, own end";
        /// Resets that reached or left our end while its connection was open. The kernel's answer to a duplicate of
        /// the last ACK, when its socket is gone, does not count.
        pub resets: u64 = "", "resets";
        /// Expiries of our end's retransmission timer.
        pub timeouts: u64 = "", "timeouts";
        /// Zero-window probes of our end.
        pub window_probes: u64 = "", "window probes";
        /// Segments with payload that our end sent, retransmissions included.
        pub data_segments: u64 = "segment", "data segments";
        /// From the first SYN until the receiver's program had the last byte, in seconds.
        pub duration_s: f64 = "s", "time";
        /// Data, without what was sent back, over the duration, in bit/s.
        pub goodput_bps: f64 = "bit/s", "goodput", better more;
        /// Mean round-trip time of the bytes that our end sent, in seconds; a kernel does not tell it.
        pub rtt_mean_s: Option<f64> = "s", "mean RTT", better less;
        /// Our end's congestion window when everything was over, in segments.
        pub cwnd_segments: f64 = "segment", "cwnd";
        /// Its slow start threshold in segments; none before the first loss.
        pub ssthresh_segments: Option<f64> = "segment", "ssthresh";
        /// Our end's state when everything was over.
        pub state: String;
        /// Whether the driver ran before other programs (SCHED_FIFO).
        pub realtime: bool;
        /// What became of the packets of the end that sends the data: `dropped` by the queue, `lost` on the way, held up
        /// (`reordered`) and repeated (`duplicated`).
        pub forward: PathStats;
        /// What became of those of the other end, with the same keys.
        pub backward: PathStats;
        /// What each direction of a link did up to the last packet, with the keys of a simulated run; the link of the options is
        /// `path`.
        pub links: Vec<LinkResult>;
        /// What each gateway did.
        pub gateways: Vec<GatewayResult>;
        /// What each handover of the connection cost.
        pub handovers: Vec<HandoverResult>;
        /// Segments that the kernel sent again, as it counts them (TcpRetransSegs).
        pub kernel_retransmitted_segments: u64 = "segment", "kernel's";
        /// Segments that came to the kernel with a wrong checksum (TcpInCsumErrors).
        pub kernel_checksum_errors: u64 = "segment", "wrong checksums, kernel's";
        /// Expiries of the kernel's retransmission timer (TcpExtTCPTimeouts).
        pub kernel_timeouts: u64 = "", "timeouts, kernel's";
        /// Connections that the kernel counts as reset (TcpEstabResets).
        pub kernel_resets: u64 = "", "resets, kernel's";
        /// What TCP_INFO said before the socket was closed: retransmissions, RTT, cwnd, ssthresh, MSS, options in use.
        pub kernel_info: SocketInfo;
        /// The kernel's counters of TCP that are not zero, by their names of nstat.
        pub kernel_counters: Counters;
        /// `kernel_info` of the kernel in our end's place.
        pub own_kernel_info: Option<SocketInfo>;
        /// `kernel_counters` of the kernel in our end's place.
        pub own_kernel_counters: Option<Counters>;
    }
}

impl Row {
    /// The JSON Schema of a row.
    pub fn schema() -> schemars::Schema {
        bentpipe_units::schema_of::<Row>()
    }
}
