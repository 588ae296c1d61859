//! The time that a packet takes to send, to the nanosecond and below.

use bentpipe_units::{Rate, Span};

/// Up to this rate the time of a packet is rounded to the nearest nanosecond, 0.16 % of the shortest packet's at most; faster links
/// keep what is left of one for the packet that waits behind.
pub(super) const ROUNDED: Rate = Rate::from_bps(1_000_000_000);

/// A bit has so many units of work, so that a rate in bit/s does one unit a nanosecond and bit/s.
pub(super) const UNITS_A_BYTE: u128 = 8_000_000_000;

/// Above [`ROUNDED`]: whole nanoseconds of a packet of so many bytes, and the work behind them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Whole {
    pub(super) bytes: u32,
    pub(super) time: Span,
    pub(super) part: u64,
}
