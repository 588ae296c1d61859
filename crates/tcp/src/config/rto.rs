//! The retransmission timer.

use bentpipe_units::Span;
use schemars::JsonSchema;
use serde::Deserialize;

/// The retransmission timer's settings (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Before the first RTT sample.
    pub initial: Span,
    /// Lower bound of the RTO.
    pub min: Span,
    /// Upper bound, also of the backed-off RTO.
    pub max: Span,
    /// Clock granularity G: the RTO's variance term is at least this, and the timer expires on a multiple of it.
    pub granularity: Span,
    /// Lower bound of the RTO's variance term beside the granularity.
    pub min_variance: Span,
    /// How samples make up SRTT and the variance term.
    pub estimator: RtoEstimator,
}

/// How round-trip samples make up SRTT and the RTO's variance term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RtoEstimator {
    /// RFC 6298; with several samples a window, the gains of RFC 7323 appendix G.
    #[default]
    Rfc6298,
    /// Linux's `tcp_rtt_estimator`: every sample counts alike, the variance term rises with the largest deviation at once and
    /// falls once a window, and a sample below SRTT hardly raises it. Each ACK gives a sample that reports what was sent once, in order
    /// or by SACK, by the time of sending and by the timestamp only where something was sent again. Timers expire as on its
    /// timer wheel, and pacing makes up for half of what comes late.
    Linux,
    /// ns-2's `rtt_update`: a round trip is the ticks of the granularity that its clock counts meanwhile, SRTT is whole eighths of a
    /// tick and the variance term whole quarters, and the timer expires when the RTO is over, not on a tick. The handshake
    /// gives no sample.
    Ns2,
}
