//! A packet of any protocol on its way through the emulator.

use bentpipe_net::{Carried, Meeting};
use bentpipe_path::Label;
use bentpipe_path::gateway::Direction;

use crate::packet;

/// A packet, or a frame of Ethernet; its buffer stays with its place in the network, so that nothing is allocated for the next
/// one there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
    /// Where its IP header begins; none for another protocol.
    pub(crate) ip: Option<usize>,
    /// Whether the kernel that sent it vouches for its checksum.
    pub(crate) trusted: bool,
    /// The host that it comes from, by its place.
    pub(crate) from: usize,
    /// The host that it goes to, by its place.
    pub(crate) to: usize,
    /// What a priority queue serves it by.
    pub(crate) class: u8,
}

impl Carried for Frame {
    type Names = ();

    fn label(&self, (): &()) -> Label {
        match self.ip {
            Some(ip) => packet::label(&self.bytes[ip..], self.class),
            None => Label { class: self.class, ..Label::default() },
        }
    }

    fn mark(&mut self) {
        if let Some(ip) = self.ip {
            packet::mark(&mut self.bytes[ip..]);
        }
    }

    fn show(&mut self, (): &(), ttl: u8, way: Direction, meeting: Meeting<'_>) {
        if let Some(ip) = self.ip {
            packet::show(&mut self.bytes[ip..], ttl, way, meeting);
        }
    }
}
