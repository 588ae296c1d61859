//! What all flows of an agent share, and the options that both agents have.

use std::collections::VecDeque;

use bentpipe_units::Span;

use super::cache::Places;
use super::segment::Emission;
use crate::gateway::GatewayStats;

/// What all flows of an agent share: the places of copies, what goes out now, and what is counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Desk {
    pub(super) places: Places,
    pub(super) out: VecDeque<Emission>,
    pub(super) tally: GatewayStats,
}

/// Options that both agents have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local {
    /// Of one flow.
    pub(super) cache: u64,
    pub(super) min_timeout: Span,
    pub(super) first_timeout: Span,
    pub(super) retries: u32,
}
