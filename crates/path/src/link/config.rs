//! What a link is set up with.

use bentpipe_units::{Rate, Span};
use serde::Deserialize;

use super::repair::Repair;
use super::schedule::Schedule;
use crate::{LossSpec, QueueSpec};

/// What one direction of a link is set up with; written alone, without what changes or repairs it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Nominal rate.
    pub rate: Rate,
    /// Propagation delay, from the last bit sent to the last bit received.
    pub delay: Span,
    /// Share of the nominal rate that carries packets (framing, coding, roll-off); above 0, at most 1.
    #[serde(skip, default = "all")]
    pub efficiency: f64,
    /// What may wait while another packet is sent.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Which packets arrive damaged.
    #[serde(default)]
    pub loss: LossSpec,
    /// How all this changes.
    #[serde(skip)]
    pub schedule: Schedule,
    /// What becomes of the packets that arrive damaged.
    #[serde(skip)]
    pub repair: Repair,
}

fn all() -> f64 {
    1.0
}
