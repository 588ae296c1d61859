//! When the receiver acknowledges.

use bentpipe_units::Span;

/// When the receiver acknowledges in-order data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// An ACK at the latest for this many full-sized segments; 1 acknowledges each at once.
    pub segments: u32,
    /// An ACK at the latest after this time (RFC 1122 4.2.3.2: under 0.5 s).
    pub timeout: Span,
    /// The shortest such time: between the two it follows the time from segment to segment, as in Linux; as long as `timeout`
    /// where it is fixed.
    pub shortest: Span,
    /// ACKs at once at the connection's start and after a hole, at most so many; 0 for none. They are no more than half the window
    /// holds.
    pub quick: u32,
}

impl DelayedAck {
    /// Each segment is acknowledged at once.
    pub const OFF: DelayedAck = DelayedAck::fixed(1, Span::ZERO);

    /// An ACK for so many segments, or after a time that does not change.
    pub const fn fixed(segments: u32, timeout: Span) -> DelayedAck {
        DelayedAck { segments, timeout, shortest: timeout, quick: 0 }
    }
}
