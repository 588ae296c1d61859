//! A segment as it was sent last, and what is known of it.

use bentpipe_units::Time;

use crate::Seq;

/// A segment as it was sent last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When.
    pub at: Time,
    /// The byte after its last.
    pub(super) end: Seq,
    pub(super) marks: u32,
}

/// It was sent more than once.
pub(super) const RESENT: u32 = 1;
/// The peer reported to hold it.
pub(super) const SACKED: u32 = 2;
/// It counts as delivered: a scoreboard that is cleared does not take that back.
pub(super) const DELIVERED: u32 = 4;
/// The recovery takes it for lost and has not resent it since.
pub(super) const LOST: u32 = 8;
/// It was taken for lost since it was sent first, and nothing has shown that it was not.
pub(super) const LOST_ONCE: u32 = 16;
/// It was taken for lost, which was taken back: it is not looked at again before it is sent again.
pub(super) const EXCUSED: u32 = 32;
/// It is not in the network, as far as is known.
pub(super) const OUT: u32 = DELIVERED | LOST;

pub(super) const NONE: Sent = Sent { at: Time::ZERO, end: Seq(0), marks: 0 };

impl Sent {
    /// The byte after its last.
    #[inline]
    pub fn end(&self) -> Seq {
        self.end
    }

    /// Whether it was sent more than once.
    #[inline]
    pub fn resent(&self) -> bool {
        self.marks & RESENT != 0
    }

    /// Whether the peer reported to hold it.
    #[inline]
    pub fn sacked(&self) -> bool {
        self.marks & SACKED != 0
    }

    /// Whether the recovery takes it for lost and has not resent it since.
    #[inline]
    pub fn lost(&self) -> bool {
        self.marks & LOST != 0
    }

    /// Whether it was taken for lost by mistake, and not sent again since.
    #[inline]
    pub fn excused(&self) -> bool {
        self.marks & EXCUSED != 0
    }

    /// Whether the recovery has taken it for lost, and the peer did not report it since, resent or not.
    #[inline]
    pub fn lost_and_missing(&self) -> bool {
        self.marks & (LOST_ONCE | SACKED) == LOST_ONCE
    }
}
