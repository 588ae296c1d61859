//! What an agent reads of a segment, what it says of it, and what it sends.

use crate::gateway::Header;

/// What an agent reads of a TCP segment that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// What every gateway reads.
    pub header: Header,
    /// Sequence number of the first byte, or of the SYN.
    pub seq: u32,
    /// Next byte expected, where the header says that it counts.
    pub ack: u32,
    /// What was received beyond it, each from its first byte to the one after its last; those of no length are none.
    pub sack: [(u32, u32); 4],
    /// The echo of a mark (ECE of RFC 3168).
    pub ece: bool,
    /// The SYN offers selective acknowledgments.
    pub sack_permitted: bool,
    /// TSval of the timestamp option.
    pub stamp: Option<u32>,
    /// TSecr of the timestamp option.
    pub echo: Option<u32>,
    /// Bytes of the packet.
    pub bytes: u32,
}

/// What becomes of a packet that was shown to an agent. A place is one of the copies that the driver keeps for the agent; what
/// was in it before is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Pass,
    /// It goes on with this window field, which is below its own.
    Lower(u16),
    /// It goes on, and a copy is kept in this place.
    Keep(u32),
    /// It goes on with this window field, which is below its own, and a copy is kept in this place.
    KeepLowered(u32, u16),
    /// It is kept in this place and goes no further.
    Hold(u32),
    /// It goes on with this sequence number: it has no data.
    Renumber(u32),
    /// It goes no further.
    Swallow,
}

/// A packet that an agent sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emission {
    /// The copy in this place, on its way from there; where it has timestamps, with this TSval instead of its own if there is one.
    Copy(u32, Option<u32>),
    /// An acknowledgment in the name of the receiver, on the way of the packet in this place, which it sent.
    Answer(u32, Answer),
}

/// The fields of an acknowledgment that an agent makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Sequence number.
    pub seq: u32,
    /// Next byte expected.
    pub ack: u32,
    /// The window field.
    pub window: u16,
    /// The echo of a mark (ECE of RFC 3168).
    pub ece: bool,
    /// TSval and TSecr of the timestamp option.
    pub stamps: Option<(u32, u32)>,
    /// SACK blocks, each from its first byte to the one after its last; those of no length are none.
    pub sack: [(u32, u32); 3],
}
