//! What goes out next, and what that is decided by.

use crate::Seq;
use crate::runs::Range;
use crate::sender::Record;

/// What to send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// These bytes again.
    Again(Range),
    /// Data never sent before, if there is any, of at most so many bytes. In a recovery phase, when less than a segment is left
    /// of them, nothing else goes out either until something changes.
    NewData {
        /// Bytes that may go out.
        room: u32,
    },
    /// Nothing.
    Nothing,
}

/// The sender's numbers that sending is decided by.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding<'a> {
    /// Oldest byte not acknowledged (SND.UNA).
    pub una: Seq,
    /// The byte after the newest one ever sent (SND.MAX).
    pub max: Seq,
    /// Sender maximum segment size in bytes.
    pub smss: u32,
    /// The congestion window in whole bytes.
    pub cwnd: u32,
    /// The receive window to send by, in bytes from `una`.
    pub rwnd: u32,
    /// Whether there is data never sent, and the receive window has room for it.
    pub new_data: bool,
    /// Whether the control lets this pass resend more; a fast retransmit does not ask.
    pub may_resend: bool,
    /// What was sent, and what became of it.
    pub record: &'a Record,
}
