//! When what an ACK reports was sent: the round trips that Linux takes of it (`tcp_clean_rtx_queue`, `tcp_sacktag_one`).

use std::ops::Range;

use bentpipe_units::{Span, Time};

use super::{DELIVERED, RESENT, Record, Sent};

/// Of what the ACK at hand reported for the first time.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// Numbers from the first to behind the last of what was cumulatively acknowledged, sent once and not reported before.
    acked: Range<u64>,
    /// The cumulative ACK covers something that was sent more than once.
    ambiguous: bool,
    /// When the first and the last were sent that it reported by SACK and that were sent once.
    sacked: Option<(Time, Time)>,
}

impl Times {
    pub(super) fn note_acked(&mut self, number: u64, marks: u32) {
        self.ambiguous |= marks & RESENT != 0;
        if marks & (RESENT | DELIVERED) == 0 {
            let first = if self.acked.is_empty() { number } else { self.acked.start };
            self.acked = first..number + 1;
        }
    }

    pub(super) fn note_sacked(&mut self, sent: Sent) {
        if !sent.resent() {
            let first = self.sacked.map_or(sent.at, |(first, _)| first);
            self.sacked = Some((first, sent.at));
        }
    }
}

impl Record {
    /// The round trips of the first and of the last segment that the ACK at hand acknowledged, or else reported by SACK; none where a
    /// segment was sent twice among those acknowledged (Karn), or there is none.
    #[inline]
    pub(in crate::sender) fn round_trips(&self, now: Time, alone: bool) -> Option<(Span, Span)> {
        // What was acknowledged stays readable until the next entry comes.
        let at = |number: u64| now.since(self.get(number).at);
        let between = |numbers: Range<u64>| (at(numbers.start), at(numbers.end - 1));
        if alone {
            let numbers = self.acked_from..self.head;
            let ambiguous = numbers.start < self.once_from && numbers.clone().any(|n| self.get(n).resent());
            return (!numbers.is_empty() && !ambiguous).then(|| between(numbers));
        }
        let Times { acked, ambiguous, sacked } = &self.times;
        if !acked.is_empty() && !ambiguous {
            return Some(between(acked.clone()));
        }
        let (first, last) = (*sacked)?;
        Some((now.since(first), now.since(last)))
    }
}
