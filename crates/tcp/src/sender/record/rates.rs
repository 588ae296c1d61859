//! What the ACK at hand tells of time: the delivery rate, and the RTT with it.

use bentpipe_units::{Span, Time};

use super::{NOBODY, Record};
use crate::{RateSample, Seq};

impl Record {
    /// The delivery rate by the ACK at hand, which came at `now`; none when it reported nothing, or nobody asked for rates when
    /// the connection opened.
    pub fn rate(&self, now: Time) -> Option<RateSample> {
        let (newest, stamps) = (self.newest()?, self.stamps.as_ref()?);
        Some(stamps.sample(self.slot(self.newest), newest.at, now))
    }

    /// The same with the RTT by the newest segment; none also where that was sent twice (Karn).
    #[inline]
    pub(crate) fn rtt_and_rate(&self, now: Time) -> Option<(Span, RateSample)> {
        if self.newest == NOBODY {
            return None;
        }
        let (slot, stamps) = (self.slot(self.newest), self.stamps.as_ref()?);
        let newest = &self.slots[slot];
        (!newest.resent()).then(|| (now.since(newest.at), stamps.sample(slot, newest.at, now)))
    }

    /// [`Record::push`] where the delivery rate is asked for, as a rule.
    #[inline(always)]
    pub(in crate::sender) fn push_paced(&mut self, now: Time, end: Seq) {
        self.stamp_here(self.tail, now, end);
        self.append(now, end);
    }

    /// The entry of this number goes out, and `max` is the byte after the newest one ever sent.
    #[inline(always)]
    fn stamp_here(&mut self, number: u64, now: Time, max: Seq) {
        let (slot, empty) = (self.slot(number), self.head == self.tail);
        if let Some(stamps) = &mut self.stamps {
            stamps.sent(slot, now, empty, (max - stamps.una) - self.out);
        }
    }

    #[inline(never)]
    pub(super) fn stamp(&mut self, number: u64, now: Time, max: Seq) {
        self.stamp_here(number, now, max);
    }
}
