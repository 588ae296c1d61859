//! What of the record is taken for lost, and what is in flight therefore.

use super::super::rate::LostSegment;
use super::sent::{DELIVERED, EXCUSED, LOST, LOST_ONCE, OUT, SACKED};
use super::{Record, Sent};
use crate::Seq;
use crate::runs::Range;

impl Record {
    /// The recovery takes a range of what is outstanding for lost.
    pub(crate) fn lose(&mut self, range: Range, una: Seq) {
        let numbers = self.cut_out(range, una, self.lost_to);
        self.lost_to = numbers.end;
        self.lose_entries(numbers, range.start);
    }

    /// The recovery takes the oldest segment for lost, the one at `una`.
    pub(crate) fn lose_oldest(&mut self, una: Seq) {
        self.lose_entries(self.head..self.tail.min(self.head + 1), una);
    }

    /// What is taken for lost was not: it is in the network. `excused` it is not looked at again before it is sent again.
    pub(crate) fn undo_losses(&mut self, una: Seq, excused: bool) {
        let mut start = una;
        for number in self.head..self.tail {
            let sent = self.get_mut(number);
            let counted = sent.marks & OUT == LOST;
            if excused && sent.marks & (LOST | DELIVERED) == LOST {
                sent.marks |= EXCUSED;
            }
            sent.marks &= !(LOST | LOST_ONCE);
            let bytes = sent.end - std::mem::replace(&mut start, sent.end);
            self.out -= if counted { bytes } else { 0 };
        }
    }

    /// The timer takes everything for lost that is not delivered; the oldest byte is `una`.
    pub(crate) fn lose_all(&mut self, una: Seq) {
        let mut start = una;
        for number in self.head..self.tail {
            let Sent { end, marks, .. } = *self.get(number);
            if marks & DELIVERED == 0 {
                self.lose_entries(number..number + 1, start);
            }
            start = end;
        }
    }

    fn lose_entries(&mut self, numbers: std::ops::Range<u64>, mut start: Seq) {
        for number in numbers {
            let sent = self.get_mut(number);
            let fresh = sent.marks & OUT == 0;
            sent.marks |= LOST | LOST_ONCE;
            let bytes = sent.end - std::mem::replace(&mut start, sent.end);
            if fresh {
                self.out += bytes;
                self.lost += u64::from(bytes);
                self.newly_lost += bytes;
                let slot = self.slot(number);
                if let Some(stamps) = &mut self.stamps {
                    stamps.lost(slot, bytes);
                }
            }
        }
    }

    /// Bytes taken to be in the network, of `flight` bytes that are sent and not cumulatively acknowledged: neither reported, nor
    /// taken for lost since they were sent last.
    #[inline]
    pub fn in_flight(&self, flight: u32) -> u32 {
        flight - self.out
    }

    /// Bytes taken for lost so far, by the recovery or by the timer; what is lost again counts again, and what turns out not to
    /// have been lost is not taken off.
    #[inline]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Bytes that the ACK at hand let the recovery take for lost.
    #[inline]
    pub fn newly_lost(&self) -> u32 {
        self.newly_lost
    }

    /// The segments that were taken for lost since the control was told of an ACK last; none where nobody asked for rates when
    /// the connection opened.
    pub fn losses(&self) -> &[LostSegment] {
        self.stamps.as_ref().map_or(&[], |stamps| stamps.losses())
    }

    /// Forgets what the peer reported to hold; it stays delivered.
    ///
    /// RFC 2018 section 5: "the data sender SHOULD turn off all of the SACKed bits, since the timeout might indicate that the
    /// data receiver has reneged".
    pub fn forget_sacked(&mut self) {
        self.board.clear();
        for number in self.head..self.tail {
            self.get_mut(number).marks &= !SACKED;
        }
    }

    /// Whether all that is outstanding was sent once, and is in flight.
    pub(in crate::sender) fn is_untouched(&self) -> bool {
        self.out == 0 && self.head >= self.once_from
    }

    /// The control was told of the losses.
    pub(in crate::sender) fn forget_losses(&mut self) {
        if let Some(stamps) = &mut self.stamps {
            stamps.forget_losses();
        }
    }
}
