//! Dummy segments (TCP-Peach): copies of the newest data that go out beside the window, and whose ACKs tell of nothing else.

use bentpipe_units::Time;

use super::Sender;
use crate::Seq;

/// A dummy segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dummy {
    pub(crate) seq: Seq,
    pub(crate) len: u32,
}

impl Sender {
    /// Whether the control offers dummy segments.
    pub(crate) fn offers_dummies(&self) -> bool {
        self.dummies
    }

    /// Whether dummy segments are left to send, now or later; never without data under way.
    #[inline(always)]
    pub(crate) fn has_dummies(&self) -> bool {
        self.dummies_left && self.una < self.fin_seq().unwrap_or(self.max)
    }

    pub(super) fn note_dummies(&mut self) {
        self.dummies_left = self.dummies && self.control.has_dummies();
    }

    /// When the next dummy segment may go out.
    pub(super) fn next_dummy(&self) -> Time {
        if self.has_dummies() { self.control.next_dummy() } else { Time::NEVER }
    }

    /// The next dummy segment, if one may go out.
    pub(crate) fn poll_dummy(&mut self, now: Time) -> Option<Dummy> {
        if !self.has_dummies() {
            return None;
        }
        let due = now >= self.next_dummy();
        if due {
            self.control.on_dummy_sent(now);
        }
        self.note_dummies();
        self.awaits_dummy = self.dummies_left && !due;
        self.note_other_timer();
        let end = self.fin_seq().unwrap_or(self.max);
        let len = (end - self.una).min(self.smss);
        due.then(|| Dummy { seq: end - len, len })
    }

    /// A dummy segment was acknowledged.
    pub(crate) fn on_dummy_acked(&mut self, now: Time) {
        if self.dummies {
            self.control.on_dummy_acked(&mut self.window, now);
            self.look_at_recovery();
        }
    }
}
