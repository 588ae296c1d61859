//! Dummy segments (TCP-Peach): copies of the newest data that go out beside the window, and whose ACKs tell of nothing else.

use bentpipe_units::Time;

use super::Sender;
use super::asked::DummiesLeft;
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
        self.asked.dummies
    }

    /// Whether dummy segments are left to send, now or later; never without data under way.
    #[inline(always)]
    pub(crate) fn has_dummies(&self) -> bool {
        self.dummies != DummiesLeft::None && self.una < self.fin_seq().unwrap_or(self.max)
    }

    pub(super) fn note_dummies(&mut self) {
        if self.asked.dummies {
            let left = self.control.extras().dummies.is_some_and(|control| control.has_dummies());
            self.dummies = match (left, self.dummies) {
                (false, _) => DummiesLeft::None,
                (true, DummiesLeft::None) => DummiesLeft::Some,
                (true, as_before) => as_before,
            };
        }
    }

    /// When the next dummy segment may go out.
    pub(super) fn next_dummy(&mut self) -> Time {
        match self.has_dummies() {
            true => self.control.extras().dummies.map_or(Time::NEVER, |control| control.next_dummy()),
            false => Time::NEVER,
        }
    }

    /// The next dummy segment, if one may go out.
    pub(crate) fn poll_dummy(&mut self, now: Time) -> Option<Dummy> {
        if !self.has_dummies() {
            return None;
        }
        let control = self.control.extras().dummies?;
        let due = now >= control.next_dummy();
        if due {
            control.on_dummy_sent(now);
        }
        self.dummies = match control.has_dummies() {
            true if due => DummiesLeft::Some,
            true => DummiesLeft::Awaited,
            false => DummiesLeft::None,
        };
        self.note_other_timer();
        let end = self.fin_seq().unwrap_or(self.max);
        let len = (end - self.una).min(self.smss);
        due.then(|| Dummy { seq: end - len, len })
    }

    /// A dummy segment was acknowledged.
    pub(crate) fn on_dummy_acked(&mut self, now: Time) {
        if let Some(control) = self.control.extras().dummies {
            control.on_dummy_acked(&mut self.window, now);
            self.settle();
        }
    }
}
