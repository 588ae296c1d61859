//! The trait of a queue, and what it knows of packets and of the server.

use std::collections::VecDeque;
use std::fmt;

use bentpipe_units::{Rate, Time};

use crate::packet::PacketId;

/// What a queue may know of a packet beside its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// Whether it may be marked (ECT, RFC 3168).
    pub ecn_capable: bool,
    /// The same for all packets that one end of a connection sends; other ends have others.
    pub flow: u32,
    /// What its flow asks for, 0 to 7; a higher class is more urgent.
    pub class: u8,
    /// Whether it gives way to every class.
    pub low: bool,
}

/// A packet in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// How the driver knows it.
    pub id: PacketId,
    /// Its length in bytes.
    pub bytes: u32,
    /// What else is known of it.
    pub label: Label,
    /// When it came.
    pub came: Time,
    /// The queue has marked it when it left: the driver sets the ECN codepoint CE.
    pub marked: bool,
}

/// The server behind a queue, when a packet comes.
#[derive(Clone, Copy, Debug)]
pub struct ServerView {
    /// Its rate.
    pub rate: Rate,
    /// Since when it has been idle; none while it sends. An idle server takes a packet at once, which then needs no room.
    pub idle_since: Option<Time>,
}

/// What a queue does with a packet that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It waits.
    Take,
    /// It waits, and the driver sets the ECN codepoint CE.
    Mark,
    /// It is dropped, and there was room.
    DropEarly,
    /// It is dropped, because there was none.
    DropFull,
}

/// Packets that a queue drops after it took them.
#[derive(Debug, Default)]
pub struct Drops {
    pub(crate) packets: VecDeque<Waiting>,
    pub(crate) early: u64,
    pub(crate) full: u64,
}

impl Drops {
    /// Drops a packet though there is room.
    pub fn early(&mut self, packet: Waiting) {
        self.early += 1;
        self.packets.push_back(packet);
    }

    /// Drops a packet because another needs its room.
    pub fn full(&mut self, packet: Waiting) {
        self.full += 1;
        self.packets.push_back(packet);
    }
}

/// A queue before a server: it decides when a packet comes, and again when the server asks for the next.
///
/// The times passed in never go back. A packet that is taken leaves once, by [`Queue::dequeue`] or as one of `drops`.
pub trait Queue: fmt::Debug + Send {
    /// A packet comes.
    fn enqueue(&mut self, now: Time, packet: Waiting, server: &ServerView, drops: &mut Drops) -> Verdict;

    /// The server takes the next packet; none when none waits.
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Waiting>;

    /// Packets that wait.
    fn packets(&self) -> u32;

    /// Their bytes.
    fn bytes(&self) -> u64;

    /// The server sends at this rate from now on.
    fn on_rate(&mut self, _rate: Rate) {}
}
