//! The record of what was sent: an entry a segment that is not cumulatively acknowledged, in the order of its bytes.

mod losses;
mod rates;
mod reports;
mod sent;
mod times;

use bentpipe_units::Time;

pub use sent::Sent;
use sent::{EXCUSED, LOST, NONE, OUT, RESENT};

use super::rate::Stamps;
use crate::runs::Range;
use crate::{Runs, SackBlock, Seq};

/// So many entries are looked at in turn before a search.
const NEAR: u64 = 8;

/// No entry has this number.
const NOBODY: u64 = u64::MAX;

/// What was sent and is not cumulatively acknowledged, and how much was delivered so far.
#[derive(Clone, Debug)]
pub struct Record {
    /// A power of two of them; one until something is sent.
    slots: Box<[Sent]>,
    /// Number of the oldest entry.
    head: u64,
    /// Number that the next entry gets.
    tail: u64,
    board: Runs,
    /// Bytes of entries that count as delivered or are taken for lost.
    out: u32,
    delivered: u64,
    lost: u64,
    /// Number of the entry whose delivery gives the next sample of the retransmission timer.
    timed: u64,
    /// Bytes that the ACK at hand reported for the first time.
    newly_delivered: u32,
    /// Bytes that were found lost since the last ACK came that could find any.
    newly_lost: u32,
    /// Number of the entry that was sent last of those that the ACK at hand reported, and of those of them that were sent once.
    newest: u64,
    newest_original: u64,
    /// Number of the entry that it reported last, in the order of the bytes, what it reported by SACK first.
    last: u64,
    /// Number of the oldest entry before the ACK at hand, if it came alone and none was reported or lost, and if not.
    alone_from: u64,
    acked_from: u64,
    /// When the first and the last were sent that it reported by SACK and that were sent once; of an ACK that comes alone it says nothing.
    sacked: Option<(Time, Time)>,
    /// Where the lowest of them ends that was never resent; of an ACK that comes alone nobody needs to know.
    lowest_original: Option<Seq>,
    /// Where the entries end that were resent, lost and reported last: the next ones mostly follow.
    resent_to: u64,
    lost_to: u64,
    sacked_to: u64,
    /// No entry from this number on was sent more than once.
    once_from: u64,
    /// What the delivery rate is read from; none when nobody asks.
    pub(super) stamps: Option<Box<Stamps>>,
}

impl Default for Record {
    fn default() -> Record {
        Record {
            slots: Box::new([NONE]),
            head: 0,
            tail: 0,
            board: Runs::default(),
            out: 0,
            delivered: 0,
            lost: 0,
            timed: NOBODY,
            newly_delivered: 0,
            newly_lost: 0,
            newest: NOBODY,
            newest_original: NOBODY,
            last: NOBODY,
            alone_from: NOBODY,
            acked_from: 0,
            sacked: None,
            lowest_original: None,
            resent_to: 0,
            lost_to: 0,
            sacked_to: 0,
            once_from: 0,
            stamps: None,
        }
    }
}

impl Record {
    #[inline]
    fn get(&self, number: u64) -> &Sent {
        &self.slots[self.slot(number)]
    }

    #[inline]
    fn get_mut(&mut self, number: u64) -> &mut Sent {
        let slot = self.slot(number);
        &mut self.slots[slot]
    }

    #[inline]
    fn slot(&self, number: u64) -> usize {
        number as usize & (self.slots.len() - 1)
    }

    /// The delivery rate is asked for, from the first data on.
    pub(super) fn stamp_entries(&mut self, una: Seq) {
        self.stamps = Some(Box::new(Stamps::new(self.slots.len(), una)));
    }

    /// New data up to `end` goes out.
    #[inline(always)]
    pub(crate) fn push(&mut self, now: Time, end: Seq) {
        if self.stamps.is_some() {
            self.stamp(self.tail, now, end);
        }
        self.append(now, end);
    }

    #[inline(always)]
    fn append(&mut self, now: Time, end: Seq) {
        let slot = self.slot(self.tail);
        self.slots[slot] = Sent { at: now, end, marks: 0 };
        self.tail += 1;
        if self.tail - self.head == self.slots.len() as u64 {
            self.grow();
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut slots = vec![NONE; (self.slots.len() * 2).max(8)].into_boxed_slice();
        let mask = slots.len() - 1;
        for number in self.head..self.tail {
            slots[number as usize & mask] = *self.get(number);
        }
        self.slots = slots;
        if let Some(stamps) = &mut self.stamps {
            stamps.grow(self.slots.len(), self.head..self.tail);
        }
    }

    /// The newest entry is timed, unless another is.
    #[inline]
    pub(super) fn time_newest(&mut self) {
        if self.timed == NOBODY {
            self.timed = self.tail - 1;
        }
    }

    /// Whether the timed entry is acknowledged.
    #[inline]
    pub(super) fn has_timed(&self) -> bool {
        self.timed < self.head
    }

    /// When the timed entry was sent, once it is acknowledged; then none is timed.
    ///
    /// RFC 6298 section 3: "at least one RTT measurement per RTT".
    pub(super) fn take_timed(&mut self) -> Option<Time> {
        if self.timed >= self.head {
            return None;
        }
        // What was acknowledged stays readable until the next entry comes.
        let at = self.get(self.timed).at;
        self.timed = NOBODY;
        Some(at)
    }

    /// Times nothing before new data goes out.
    pub(super) fn stop_timing(&mut self) {
        self.timed = NOBODY;
    }

    /// A range of what is outstanding goes out again.
    ///
    /// Karn: what was sent twice is not timed, nor is what waits behind it (RFC 6298 section 3).
    pub(crate) fn resend(&mut self, now: Time, range: Range, una: Seq) {
        if self.timed != NOBODY && self.timed >= self.head && self.get(self.timed).end > range.start {
            self.timed = NOBODY;
        }
        let numbers = self.cut_out(range, una, self.resent_to);
        self.resent_to = numbers.end;
        self.once_from = self.once_from.max(numbers.end);
        let mut start = range.start;
        for number in numbers {
            let sent = *self.get(number);
            if sent.marks & OUT == LOST {
                self.out -= sent.end - start;
            }
            start = sent.end;
            *self.get_mut(number) =
                Sent { at: now, marks: (sent.marks & !(LOST | EXCUSED)) | RESENT, ..sent };
            if self.stamps.is_some() {
                self.stamp(number, now, self.get(self.tail - 1).end);
            }
        }
    }

    /// The numbers of the entries of `range`, which is cut out of those that it lies in. The search begins at `near`.
    #[inline]
    fn cut_out(&mut self, range: Range, una: Seq, near: u64) -> std::ops::Range<u64> {
        let first = self.split(range.start, una, near);
        match first < self.tail && self.get(first).end == range.end {
            true => first..first + 1,
            false => first..self.split(range.end, una, first),
        }
    }

    /// The number of the entry that starts at `seq`; an entry around it is cut in two.
    #[inline]
    fn split(&mut self, seq: Seq, una: Seq, near: u64) -> u64 {
        if near > self.head && near <= self.tail {
            for number in near..(near + NEAR).min(self.tail + 1) {
                let end = self.get(number - 1).end;
                if end == seq {
                    return number;
                }
                if end > seq {
                    break;
                }
            }
        }
        self.split_somewhere(seq, una)
    }

    /// The number of the first entry that ends behind `seq`.
    #[inline]
    fn holding(&self, seq: Seq) -> u64 {
        let (mut low, mut high) = (self.head, self.tail);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle).end <= seq { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// What a block covers of whole segments: Linux takes a part of one for none of it (`tcp_match_skb_to_sack`).
    #[cold]
    #[inline(never)]
    pub(super) fn whole_segments(&self, block: SackBlock, una: Seq) -> SackBlock {
        let first = self.holding(block.start);
        let last = self.holding(block.end);
        let start_of = |number: u64| if number == self.head { una } else { self.get(number - 1).end };
        let start = if start_of(first) < block.start { start_of(first + 1) } else { block.start };
        SackBlock { start, end: start_of(last).max(start) }
    }

    #[inline(never)]
    fn split_somewhere(&mut self, seq: Seq, una: Seq) -> u64 {
        let low = self.holding(seq);
        let start = if low == self.head { una } else { self.get(low - 1).end };
        if low == self.tail || start >= seq {
            return low;
        }
        self.tail += 1;
        if self.tail - self.head == self.slots.len() as u64 {
            self.grow();
        }
        for number in (low + 1..self.tail).rev() {
            let (from, to) = (self.slot(number - 1), self.slot(number));
            self.slots[to] = self.slots[from];
            if let Some(stamps) = &mut self.stamps {
                stamps.moved(from, to);
            }
        }
        self.get_mut(low).end = seq;
        self.once_from += u64::from(self.once_from > low);
        for known in [&mut self.timed, &mut self.newest, &mut self.newest_original, &mut self.last] {
            if *known >= low && *known != NOBODY {
                *known += 1;
            }
        }
        low + 1
    }

    /// The application has no more to send, and the window has room, with `flight` bytes outstanding.
    #[inline]
    pub(super) fn limit_by_application(&mut self, flight: u32) {
        if let Some(stamps) = &mut self.stamps {
            stamps.limit_by_application(flight);
        }
    }

    /// Whether what goes out now goes out while, or just after, the application had no more to send; unknown to a control that
    /// reads no rates.
    pub(super) fn limited_by_application(&self) -> bool {
        self.stamps.as_ref().is_some_and(|stamps| stamps.limited())
    }

    /// What the peer reported to hold beyond the cumulative ACK.
    #[inline]
    pub fn board(&self) -> &Runs {
        &self.board
    }

    /// For the recovery, which follows what is acknowledged of it.
    #[inline]
    pub(crate) fn board_mut(&mut self) -> &mut Runs {
        &mut self.board
    }

    /// The entries, oldest first, each with its range; the first starts at `una`.
    pub fn entries(&self, una: Seq) -> impl Iterator<Item = (Range, &Sent)> {
        self.entries_from(self.head, una)
    }

    /// The same from the entry on that holds the byte at `seq`.
    pub fn entries_at(&self, seq: Seq, una: Seq) -> impl Iterator<Item = (Range, &Sent)> {
        self.entries_from(self.holding(seq), una)
    }

    fn entries_from(&self, first: u64, una: Seq) -> impl Iterator<Item = (Range, &Sent)> {
        let mut start = if first == self.head { una } else { self.get(first - 1).end };
        (first..self.tail).map(move |number| {
            let sent = self.get(number);
            let range = Range { start, end: sent.end };
            start = sent.end;
            (range, sent)
        })
    }

    /// Bytes reported as delivered so far, in order or not.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests;
