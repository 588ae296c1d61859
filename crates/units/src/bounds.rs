//! What all times and rates of a run keep to.

use crate::{Rate, Span};

/// The highest rate of a link: time is counted in nanoseconds, and above it a packet takes too few of them.
pub const MAX_RATE: Rate = Rate::from_bps(1_000_000_000_000);

/// The latest time: later than this, sums of times would lose their meaning (about 104 days).
pub const LATEST: Span = Span::from_nanos(1 << 53);
