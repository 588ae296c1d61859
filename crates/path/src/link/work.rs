//! The time that a packet takes to send, to the nanosecond and below.

use bentpipe_units::{Rate, Span};

/// Up to this rate the time of a packet is rounded to the nearest nanosecond, 0.16 % of the shortest packet's at most; faster links
/// keep what is left of one for the packet that waits behind.
pub(super) const ROUNDED: Rate = Rate::from_bps(1_000_000_000);

/// A bit has so many units of work, so that a rate in bit/s does one unit a nanosecond and bit/s.
pub(super) const UNITS_A_BYTE: u128 = 8_000_000_000;

/// How long packets of one length take by themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) bytes: u32,
    pub(super) nanos: u32,
    /// Above [`ROUNDED`]: the work behind the whole nanoseconds.
    pub(super) part: u64,
}

impl Known {
    /// No packet is so long.
    pub(super) const NOTHING: Known = Known { bytes: u32::MAX, nanos: 0, part: 0 };
}

/// Whole nanoseconds of a packet of so many bytes, and above [`ROUNDED`] the work behind them.
pub(super) fn work(rate: Rate, bytes: u32) -> (Span, u64) {
    if rate <= ROUNDED {
        return (rate.time_to_send(u64::from(bytes)), 0);
    }
    let work = u64::from(bytes).saturating_mul(UNITS_A_BYTE as u64);
    (Span::from_nanos(work / rate.as_bps()), work % rate.as_bps())
}
