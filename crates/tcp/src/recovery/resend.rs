//! What goes out again in the order of its bytes: one segment at once, or everything from a byte on.

use super::next::{Next, Outstanding};
use crate::runs::Range;
use crate::{Runs, Seq};

/// What goes out again in the order of its bytes, whatever is known of losses: a fast retransmit at once; after a timeout, or
/// when the peer's window opens again, everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resend {
    /// The segment that starts here goes out whatever the window.
    at_once: Option<Seq>,
    /// Everything from here on, as the window allows (SND.NXT); none while all stands as sent.
    from: Option<Seq>,
}

impl Resend {
    /// The segment that starts at `seq` goes out whatever the window.
    pub fn at_once(&mut self, seq: Seq) {
        self.at_once = Some(seq);
    }

    /// Everything from `una` on goes out again.
    pub fn go_back(&mut self, una: Seq) {
        self.from = Some(una);
    }

    /// Whether nothing is to go out again.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.at_once.is_none() && self.from.is_none()
    }

    /// Whether everything from some byte on goes out again.
    #[inline]
    pub fn going_back(&self) -> bool {
        self.from.is_some()
    }

    /// Where everything goes out again from, once: for a recovery that says itself what goes.
    pub(super) fn take_back(&mut self) -> Option<Seq> {
        self.from.take()
    }

    /// The next byte to send, as the order of bytes has it (SND.NXT).
    #[inline]
    pub fn next_byte(&self, max: Seq) -> Seq {
        self.from.unwrap_or(max)
    }

    /// The cumulative ACK has come to `una`.
    #[inline]
    pub fn acknowledged(&mut self, una: Seq, max: Seq) {
        self.at_once = None;
        self.from = self.from.map(|from| from.max(una)).filter(|from| *from < max);
    }

    /// A range went out again.
    pub fn resent(&mut self, range: Range, max: Seq) {
        if let Some(from) = self.from
            && from <= range.start
        {
            self.from = Some(range.end).filter(|end| *end < max);
        }
    }

    /// What goes out whatever the window: once, and without what the peer reported to hold.
    pub fn take_at_once(&mut self, board: &Runs, max: Seq, smss: u32) -> Option<Range> {
        let missing = board.missing_from(self.at_once.take()?, max);
        let range = Range { start: missing.start, end: missing.end.min(missing.start + smss) };
        (range.start < range.end).then_some(range)
    }

    /// What goes out next with `room` bytes of the window free: what goes again first, past what the peer reported to hold.
    pub fn next(&mut self, o: &Outstanding<'_>, room: u32) -> Next {
        let Some(from) = self.from else { return Next::NewData { room } };
        let missing = o.record.board().missing_from(from, o.max);
        if missing.start >= o.max {
            self.from = None;
            return Next::NewData { room };
        }
        let end = missing.end.min(missing.start + o.smss);
        let fits = end - missing.start <= room && end - o.una <= o.rwnd;
        match fits && o.may_resend {
            true => Next::Again(Range { start: missing.start, end }),
            false => Next::Nothing,
        }
    }
}
