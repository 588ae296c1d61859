//! What becomes of a packet that is offered to a link.

use bentpipe_units::Time;

use crate::packet::PacketId;

/// What became of a packet that was offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// Taken: it will come out of [`Link::poll`](crate::Link::poll).
    Queued,
    /// Taken, and marked: it will come out of [`Link::poll`](crate::Link::poll), and the caller sets the ECN codepoint CE on it.
    Marked,
    /// The queue was full, or is managed so that it dropped the packet early; the packet is the caller's again.
    Dropped,
}

/// What becomes of a packet that goes through a link without an event for its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// It arrives at this time.
    Arrives(Time),
    /// It arrives at this time, marked: the caller sets the ECN codepoint CE on it.
    Marked(Time),
    /// It arrives at this time, damaged.
    Corrupted(Time),
    /// The queue was full, or is managed so that it dropped the packet early.
    Dropped,
}

/// What became of a packet that a link took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is at the far end.
    Whole,
    /// It is at the far end, and the queue marked it when it left: the caller sets the ECN codepoint CE on it.
    Marked,
    /// It was damaged under way: it used the link, and nobody receives it.
    Damaged,
    /// The queue dropped it after all.
    Dropped,
}

/// A packet that leaves a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// The id that it was offered with.
    pub id: PacketId,
    /// The length that it was offered with, in bytes.
    pub bytes: u32,
    /// How it leaves.
    pub fate: Fate,
}
