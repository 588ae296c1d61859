//! What a link is set up with.

use bentpipe_units::{Rate, Span};

use super::repair::Repair;
use super::schedule::Schedule;
use crate::{LossSpec, QueueSpec};

/// What one direction of a link is set up with.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Nominal rate.
    pub rate: Rate,
    /// Propagation delay, from the last bit sent to the last bit received.
    pub delay: Span,
    /// Share of the nominal rate that carries packets (framing, coding, roll-off); above 0, at most 1.
    pub efficiency: f64,
    /// What may wait while another packet is sent.
    pub queue: QueueSpec,
    /// Which packets arrive damaged.
    pub loss: LossSpec,
    /// How all this changes.
    pub schedule: Schedule,
    /// What becomes of the packets that arrive damaged.
    pub repair: Repair,
}
