//! What all flows of an agent share, and the options that both agents have.

use std::collections::VecDeque;

use bentpipe_units::{Bytes, Span};

use super::cache::Places;
use super::segment::Emission;
use crate::InvalidValue;
use crate::gateway::GatewayStats;
use crate::gateway::scheme::{invalid, some_bytes, some_time};

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

pub(super) fn valid(
    cache: (&'static str, Bytes),
    timeouts: [Span; 2],
    max_flows: u32,
) -> Result<(), InvalidValue> {
    some_bytes(cache.0, cache.1)?;
    some_time("min_timeout", timeouts[0])?;
    some_time("first_timeout", timeouts[1])?;
    match max_flows {
        0 => invalid("max_flows", "expected a number of flows from 1 on, found 0".to_owned()),
        _ => Ok(()),
    }
}
