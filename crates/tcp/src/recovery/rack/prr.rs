//! Proportional rate reduction (RFC 9937): how cwnd goes down to what the control has set, over the round trip after a loss.

use super::super::Context;
use crate::{Growth, Seq};

/// A reduction under way.
///
/// As in Linux 6 (`tcp_cwnd_reduction`) what is sent is counted in whole segments, rounded up, and the proportion is that of the
/// window after to the window before; RFC 9937 section 6.2 takes the flight size for the latter, which is the same where the
/// window was full.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateReduction {
    /// cwnd as the control has set it, in bytes: where it goes.
    pub(super) target: f64,
    /// cwnd before, in bytes.
    before: f64,
    /// Bytes delivered since.
    delivered: u64,
    /// Bytes sent again since.
    resent: u64,
    /// New data sent since begins here.
    new_from: Seq,
}

impl RateReduction {
    /// The control took cwnd from `before` to `target` bytes, when the newest byte sent lay before `max`.
    pub(super) fn new(before: f64, target: f64, max: Seq) -> RateReduction {
        RateReduction { target, before, delivered: 0, resent: 0, new_from: max }
    }

    pub(super) fn resent(&mut self, bytes: u32) {
        self.resent += u64::from(bytes);
    }

    /// News of `delivered` bytes came: what cwnd is now, in bytes.
    ///
    /// `safe` is RFC 9937's SafeACK: the cumulative point moved, and no further loss was found.
    pub(super) fn step(&mut self, cx: &Context<'_>, delivered: u32, safe: bool) -> f64 {
        let smss = cx.window().smss;
        // Where the window grows by segments, what is less than one counts as one.
        let whole = |bytes: f64| match cx.window().growth {
            Growth::Delivered => (bytes / smss).ceil() * smss,
            Growth::Bytes { .. } | Growth::PerAck => bytes,
        };
        let (in_flight, delivered) = (whole(f64::from(cx.in_flight())), whole(f64::from(delivered)));
        self.delivered += delivered as u64;
        let sent = whole((self.resent + u64::from(cx.max - self.new_from)) as f64);
        let room = if in_flight > self.target {
            // RFC 9937 section 6.2: "SndCnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out".
            let due = self.target * self.delivered as f64 / self.before;
            (due / smss).ceil() * smss - sent
        } else {
            // "SndCnt = MAX(prr_delivered - prr_out, DeliveredData)", and "SndCnt += SMSS" by a SafeACK.
            let conserved = (self.delivered as f64 - sent).max(delivered);
            let catching_up = if safe { smss } else { 0.0 };
            (conserved + catching_up).min(self.target - in_flight)
        };
        // "Force a fast retransmit upon entering recovery".
        let least = if sent == 0.0 { smss } else { 0.0 };
        (in_flight + room.max(least)).max(smss)
    }
}
