//! Slow start: what becomes of the growth below ssthresh. A choice of its own, beside any control.

use super::{Ack, Window};

/// What becomes of the growth below ssthresh.
///
/// A slow start may let less of it through, pace it, or end slow start: by setting ssthresh to cwnd.
pub trait SlowStart: Send {
    /// An ACK that may open cwnd, while it is below ssthresh; the control would add `growth` bytes.
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, growth: f64);

    /// Slow start begins again after a timeout.
    fn on_timeout(&mut self) {}
}

/// All of it, until a loss ends it (RFC 5681 section 3.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct StandardStart;

impl SlowStart for StandardStart {
    #[inline]
    fn on_ack(&mut self, w: &mut Window, _ack: &Ack<'_>, growth: f64) {
        w.cwnd += growth;
    }
}
