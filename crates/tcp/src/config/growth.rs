//! When cwnd opens, by how much, and what a pause leaves of it.

use schemars::JsonSchema;
use serde::Deserialize;

/// How much an ACK of new data opens cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// One SMSS an ACK in slow start, SMSS²/cwnd an ACK in congestion avoidance, whatever the ACK covers
    /// (RFC 2581; RFC 5681 equation 3).
    PerAck,
    /// By the bytes acknowledged: at most `limit` SMSS an ACK in slow start (RFC 3465 section 2.2; `limit` 1 is
    /// RFC 5681 equation 2), SMSS for every cwnd acknowledged in congestion avoidance.
    Bytes {
        /// L of RFC 3465; 1 in the slow start after a timeout (section 2.3).
        limit: u32,
    },
    /// By the segments reported for the first time, in order or selectively, without a limit but ssthresh in slow start, and a whole segment for every cwnd of them after it (Linux's `tcp_newly_delivered`, `tcp_slow_start`, `tcp_cong_avoid_ai`). Reductions leave whole segments.
    Delivered,
}

/// When an ACK may open cwnd, by how much of it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GrowthGate {
    /// Always (RFC 5681).
    #[serde(skip)]
    Off,
    /// When it finds cwnd full (RFC 2861 section 3; Linux 2.4).
    Full,
    /// While half of cwnd and more is acknowledged in a round trip, or when it finds cwnd full (RFC 7661 section 4.3).
    Rfc7661,
    /// When cwnd was full in this window of data or the one before, and in slow start while cwnd is less than twice as large as the flight was
    /// (Linux's `tcp_is_cwnd_limited`).
    Linux,
}

/// What a pause leaves of cwnd, when nothing was sent for longer than the RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleRestart {
    /// All.
    #[serde(skip)]
    Off,
    /// The restart window (RFC 5681 section 4.1).
    Rfc5681,
    /// All for five minutes; after longer a half, and ssthresh three quarters, for each five (RFC 7661 section 4.4).
    Rfc7661,
    /// Half for each RTO, but the initial window; and ssthresh three quarters (RFC 2861; Linux's `tcp_cwnd_restart`).
    Linux,
}
