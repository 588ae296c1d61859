//! What an ACK reports, cumulatively and by SACK.

use bentpipe_units::Time;

use super::sent::{DELIVERED, LOST, OUT, RESENT, SACKED};
use super::{NOBODY, Record, Sent};
use crate::runs::Range;
use crate::{SackBlock, Seq};

impl Record {
    /// An ACK begins to report; [`Record::sack`] and [`Record::acknowledge`] say what.
    pub(crate) fn begin_report(&mut self) {
        self.newly_delivered = 0;
        self.newly_lost = 0;
        self.newest = NOBODY;
        self.newest_original = NOBODY;
        self.last = NOBODY;
        (self.alone_from, self.acked_from) = (NOBODY, self.head);
        self.sacked = None;
        self.lowest_original = None;
    }

    /// The cumulative ACK has come to `una`, by `acked` bytes: all that an ACK without SACK blocks reports.
    #[inline(always)]
    pub(crate) fn acknowledge_alone(&mut self, now: Time, una: Seq, acked: u32) {
        if self.out > 0 {
            self.begin_report();
            return self.acknowledge(now, una, acked);
        }
        self.newest = NOBODY;
        self.alone_from = self.head;
        while self.head < self.tail && self.get(self.head).end <= una {
            self.newest = self.head;
            self.head += 1;
        }
        self.newly_delivered = acked;
        self.delivered += u64::from(acked);
        if self.stamps.is_some() {
            self.newly_lost = 0;
            self.stamp_delivery(now, acked);
        }
    }

    /// So many bytes more are cumulatively acknowledged.
    #[inline(always)]
    fn stamp_delivery(&mut self, now: Time, acked: u32) {
        let newest_at = self.newest().map(|newest| newest.at);
        if let Some(stamps) = &mut self.stamps {
            stamps.una += acked;
            stamps.delivered(now, self.delivered, newest_at);
        }
    }

    /// The cumulative ACK has come to `una`, by `acked` bytes.
    #[inline(never)]
    pub(crate) fn acknowledge(&mut self, now: Time, una: Seq, acked: u32) {
        let mut start = una - acked;
        let (mut known, mut out) = (0, 0);
        while self.head < self.tail && self.get(self.head).end <= una {
            let sent = *self.get(self.head);
            if sent.marks & DELIVERED != 0 {
                known += sent.end - start;
            } else {
                self.note_newest(self.head);
                self.last = self.head;
            }
            out += if sent.marks & OUT != 0 { sent.end - start } else { 0 };
            start = sent.end;
            self.head += 1;
        }
        if self.head < self.tail {
            let marks = self.get(self.head).marks;
            known += if marks & DELIVERED != 0 { una - start } else { 0 };
            out += if marks & OUT != 0 { una - start } else { 0 };
        }
        self.out -= out;
        self.deliver(now, acked - known, acked);
    }

    fn deliver(&mut self, now: Time, bytes: u32, acked: u32) {
        self.delivered += u64::from(bytes);
        self.newly_delivered += bytes;
        if self.stamps.is_some() {
            self.stamp_delivery(now, acked);
        }
    }

    /// An entry is reported for the first time: the one that was sent last of those is the newest, at the same time the highest
    /// (RFC 8985 section 6.2 step 2).
    fn note_newest(&mut self, number: u64) {
        let Sent { at, end, marks } = *self.get(number);
        if self.newest().is_none_or(|newest| newest.at < at || (newest.at == at && newest.end <= end)) {
            self.newest = number;
        }
        if marks & RESENT != 0 {
            return;
        }
        // In the order in which they were sent once.
        if self.newest_original == NOBODY || self.newest_original < number {
            self.newest_original = number;
        }
        if self.lowest_original.is_none_or(|lowest| end < lowest) {
            self.lowest_original = Some(end);
        }
    }

    /// The peer reports to hold `block` of the bytes between `una` and `max`; calls `fresh` with each part that is news.
    pub(crate) fn sack(&mut self, now: Time, block: SackBlock, una: Seq, mut fresh: impl FnMut(Range)) {
        let (mut rest, mut bytes) = (block, 0);
        while let Some(part) = self.board.insert_missing(rest) {
            fresh(part);
            bytes += self.mark_sacked(part, una);
            rest.start = part.end;
        }
        if bytes > 0 {
            self.deliver(now, bytes, 0);
        }
    }

    /// The peer holds a range of what is outstanding; returns how many bytes of it were not delivered before.
    fn mark_sacked(&mut self, range: Range, una: Seq) -> u32 {
        let (mut start, mut bytes) = (range.start, 0);
        let numbers = self.cut_out(range, una, self.sacked_to);
        self.sacked_to = numbers.end;
        for number in numbers {
            let sent = *self.get(number);
            if sent.marks & DELIVERED == 0 {
                bytes += sent.end - start;
                self.note_newest(number);
                if self.last == NOBODY || self.last < number {
                    self.last = number;
                }
                self.note_sacked(sent);
            }
            if sent.marks & OUT == 0 {
                self.out += sent.end - start;
            }
            start = sent.end;
            self.get_mut(number).marks = (sent.marks & !LOST) | SACKED | DELIVERED;
        }
        bytes
    }

    /// Data that the peer has was delivered to it once more.
    pub(in crate::sender) fn deliver_again(&mut self, now: Time, bytes: u32) {
        self.deliver(now, bytes, 0);
    }

    /// Where the lowest segment ends that the ACK at hand reported for the first time and that was sent only once; of an ACK
    /// that reports by its cumulative field alone it says nothing.
    #[inline]
    pub fn lowest_original(&self) -> Option<Seq> {
        self.lowest_original
    }

    /// Bytes that the ACK at hand reported for the first time.
    #[inline]
    pub fn newly_delivered(&self) -> u32 {
        self.newly_delivered
    }

    /// The segment that was sent last of those that the ACK at hand reported for the first time.
    #[inline]
    pub fn newest(&self) -> Option<&Sent> {
        // What was acknowledged stays readable until the next entry comes.
        (self.newest != NOBODY).then(|| self.get(self.newest))
    }

    /// The segment that it reported last, in the order of the bytes, what it reported by SACK before what it acknowledged; of an ACK
    /// that comes alone it says nothing.
    #[inline]
    pub fn last(&self) -> Option<&Sent> {
        (self.last != NOBODY).then(|| self.get(self.last))
    }

    /// The same of the segments that were sent once; of an ACK that comes alone it says nothing.
    #[inline]
    pub fn newest_original(&self) -> Option<&Sent> {
        (self.newest_original != NOBODY).then(|| self.get(self.newest_original))
    }
}
