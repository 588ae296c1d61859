//! How segments are spread over a round trip.

use schemars::JsonSchema;
use serde::Deserialize;

/// How segments are spread over a round trip, whatever the control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Not at all: ACKs alone space them.
    #[serde(skip)]
    Off,
    /// One at a time, the smaller of cwnd and rwnd a smoothed RTT (Kulik, Coulter, Rockwell and Partridge 1999; Aggarwal, Savage
    /// and Anderson 2000).
    Even,
    /// Twice cwnd a smoothed RTT below half of ssthresh and 1.2 times from there on, a millisecond of it or two segments at once
    /// (Linux's `tcp_update_pacing_rate`, `tcp_tso_autosize`).
    Linux,
}
