//! What one end of a connection is set up with.

mod defaults;
mod delayed_ack;
mod growth;
mod host;
mod profile;
mod receive_buffer;
mod rto;
mod settings;
mod spacing;
mod switch;
mod window;

use bentpipe_units::Span;

pub use delayed_ack::DelayedAck;
pub use growth::{Growth, GrowthGate, IdleRestart};
pub use host::{Host, Nagle};
pub use profile::Profile;
pub(crate) use receive_buffer::SK_BUFF;
pub use receive_buffer::{Kernel, ReceiveBuffer};
pub use rto::{RtoConfig, RtoEstimator};
pub use settings::Settings;
pub use spacing::Spacing;

use crate::Chosen;
use crate::control::ControlFactory;
use crate::recovery::RecoveryFactory;
use crate::slow_start::SlowStartFactory;

/// One end of a connection.
#[derive(Clone, Debug)]
pub struct Config {
    /// Whose habits it has where the RFCs leave room.
    pub host: Host,
    /// What to retransmit, when.
    pub recovery: Chosen<dyn RecoveryFactory>,
    /// How large the window is.
    pub control: Chosen<dyn ControlFactory>,
    /// What becomes of growth below ssthresh.
    pub slow_start: Chosen<dyn SlowStartFactory>,
    /// Largest payload of a segment that this end sends and takes, in bytes, options not counted.
    pub mss: u32,
    /// The window that an empty receiver advertises, in bytes; with a receive buffer that grows, at most.
    pub receive_window: u32,
    /// A receive buffer that grows; none for a window that stays as it is.
    pub receive_buffer: Option<ReceiveBuffer>,
    /// Offer window scaling (RFC 7323). Without it a window over 65,535 bytes is advertised as 65,535.
    pub window_scaling: bool,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Offer selective acknowledgments (RFC 2018).
    pub sack: bool,
    /// Report data that came twice, where SACK is agreed on (RFC 2883).
    pub duplicate_sack: bool,
    /// Segments past a hole share ACKs, as in Linux; of an end with its habits.
    pub sack_compression: bool,
    /// Offer explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// Initial window in segments.
    pub initial_window: u32,
    /// Initial ssthresh in bytes; `None` is "arbitrarily high" (RFC 5681 section 3.1).
    pub initial_ssthresh: Option<u32>,
    /// How an ACK opens cwnd.
    pub growth: Growth,
    /// When in-order data is acknowledged.
    pub delayed_ack: DelayedAck,
    /// Retransmission timer.
    pub rto: RtoConfig,
    /// Duplicate ACKs that mean a loss.
    pub duplicate_threshold: u32,
    /// Send new data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Tahoe and Reno: no second fast retransmit before the data outstanding at the first is acknowledged
    /// (the `recover` test of RFC 6582 section 3.2; ns-2's `bugFix_`).
    pub recover_guard: bool,
    /// What becomes of cwnd in an idle time of more than one RTO.
    pub restart_after_idle: IdleRestart,
    /// Grow cwnd only when so much of it is used.
    pub grow_only_when_limited: GrowthGate,
    /// New data waits until so many segments, or a third of the window, may go at once, as behind TCP segmentation offload; 1 for no wait.
    pub burst: u32,
    /// How segments are spread over a round trip; a control that paces has a rate of its own.
    pub pacing: Spacing,
    /// What waits to be sent with more.
    pub nagle: Nagle,
    /// Bytes of memory for what is not acknowledged, as `SO_SNDBUF` has it; none for any number. The application goes on once a third is
    /// free.
    pub send_buffer: Option<u32>,
    /// Timeouts in a row without progress, after which the connection ends with an error (R2 of RFC 1122 4.2.3.5).
    pub max_retransmissions: u32,
    /// Timeouts of a SYN that leave the RTO as it is, before the others double it.
    pub syn_linear_timeouts: u32,
    /// In this time as many challenge ACKs go out as the host lets (RFC 5961 section 7).
    pub challenge_interval: Span,
    /// How long a closed end remembers the connection (TIME-WAIT, twice the MSL).
    pub time_wait: Span,
}

impl Config {
    /// The payload that the send buffer has room for, two segments at least; all where it has no bound.
    pub(crate) fn send_room(&self) -> u32 {
        let room = |bytes: u32| (u64::from(bytes) * SENT_PAYLOAD / 4096) as u32;
        self.send_buffer.map_or(u32::MAX, |bytes| room(bytes).max(2 * self.mss))
    }

    /// By how much more payload the send buffer has room where so much of it is reported by SACK: Linux makes one packet of neighbours that
    /// are (`tcp_shift_skb_data`), with one head.
    #[inline]
    pub(crate) fn room_by_sack(held: u32) -> u32 {
        (u64::from(held) * (4096 - SENT_PAYLOAD) / 4096) as u32
    }

    /// The shift with which the largest window, or the largest receive buffer, fits the header's 16 bits (RFC 7323 section 2.2).
    pub(crate) fn window_scale(&self) -> u8 {
        let bytes = self.receive_buffer.map_or(self.receive_window, |buffer| buffer.max);
        (0..14).find(|shift| bytes >> shift <= 65_535).unwrap_or(14)
    }
}

/// What a send buffer has room for, in 4096ths: of what is sent at a few Mbit/s a packet of four segments of 1448 bytes
/// (`tcp_tso_autosize`) takes 1280 bytes more, for `struct sk_buff` and its head.
const SENT_PAYLOAD: u64 = 4 * 1448 * 4096 / (4 * 1448 + 1280);
