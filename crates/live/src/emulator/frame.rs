//! A packet of any protocol on its way through the emulator.

use bentpipe_net::{Carried, Meeting};
use bentpipe_path::Label;
use bentpipe_path::gateway::Direction;

use crate::packet;

/// An IPv4 packet; its buffer stays with its place in the network, so that nothing is allocated for the next one there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
    /// The host that it goes to, by its place.
    pub(crate) to: usize,
    /// What a priority queue serves it by.
    pub(crate) class: u8,
}

impl Carried for Frame {
    type Names = ();

    fn label(&self, (): &()) -> Label {
        packet::label(&self.bytes, self.class)
    }

    fn mark(&mut self) {
        packet::mark(&mut self.bytes);
    }

    fn show(&mut self, (): &(), ttl: u8, way: Direction, meeting: Meeting<'_>) {
        packet::show(&mut self.bytes, ttl, way, meeting);
    }
}
