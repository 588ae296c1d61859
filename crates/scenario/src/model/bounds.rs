//! What all of a scenario keeps to.

use bentpipe_units::{Rate, Span};

/// Time is counted in nanoseconds, and above this rate a packet takes too few of them.
pub(crate) const MAX_RATE: Rate = Rate::from_bps(1_000_000_000_000);

/// Later than this, sums of times would lose their meaning (about 104 days).
pub(crate) const LATEST: Span = Span::from_nanos(1 << 53);
