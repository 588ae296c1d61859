//! When what an ACK reports was sent: the round trips that Linux takes of it (`tcp_clean_rtx_queue`, `tcp_sacktag_one`).

use bentpipe_units::{Span, Time};

use super::sent::{DELIVERED, RESENT};
use super::{NOBODY, Record, Sent};
use crate::Seq;

impl Record {
    pub(super) fn note_sacked(&mut self, sent: Sent) {
        if !sent.resent() {
            let first = self.sacked.map_or(sent.at, |(first, _)| first);
            self.sacked = Some((first, sent.at));
        }
    }

    /// Whether a cumulative ACK up to `ack` covers a segment, and no data is outstanding that was sent twice, reported or lost.
    #[inline]
    pub(in crate::sender) fn tells_round_trips(&self, ack: Seq) -> bool {
        self.out == 0
            && self.once_from <= self.head
            && self.head < self.tail
            && self.get(self.head).end <= ack
    }

    /// The round trips of the first and of the last segment that the ACK at hand acknowledged, or else reported by SACK; none where a
    /// segment was sent twice among those acknowledged (Karn), or there is none.
    #[inline(always)]
    pub(in crate::sender) fn round_trips(&self, now: Time) -> Option<(Span, Span)> {
        // What was acknowledged stays readable until the next entry comes.
        let at = |number: u64| now.since(self.get(number).at);
        match self.alone_from < self.head && self.alone_from >= self.once_from {
            true => Some((at(self.alone_from), at(self.head - 1))),
            false => self.other_round_trips(now),
        }
    }

    #[inline(never)]
    fn other_round_trips(&self, now: Time) -> Option<(Span, Span)> {
        let marks = |number: &u64| self.get(*number).marks;
        let alone = self.alone_from != NOBODY;
        let mut acked = if alone { self.alone_from } else { self.acked_from }..self.head;
        let ambiguous = acked.clone().any(|number| marks(&number) & RESENT != 0);
        let mut fresh = acked.by_ref().filter(|number| marks(number) & DELIVERED == 0);
        let at = |number: u64| self.get(number).at;
        let (first, last) = match fresh.next() {
            Some(first) if !ambiguous => (at(first), at(fresh.last().unwrap_or(first))),
            _ if alone => return None,
            _ => self.sacked?,
        };
        Some((now.since(first), now.since(last)))
    }
}
