//! Packets under way, known by index: nothing is allocated once the store has grown to the most that are in flight.

use bentpipe_path::PacketId;
use bentpipe_tcp::{Ecn, Segment};
use bentpipe_units::Time;

/// A packet under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    /// Position in the route table of the link that it is on.
    pub(crate) hop: u32,
    /// The endpoint that it goes to.
    pub(crate) to: u32,
    /// When its host sent it.
    pub(crate) sent: Time,
}

#[derive(Debug, Default)]
pub(crate) struct Packets {
    slots: Vec<Packet>,
    free: Vec<PacketId>,
}

impl Packets {
    #[inline]
    pub(crate) fn insert(&mut self, segment: &Segment, hop: u32, to: u32, sent: Time) -> PacketId {
        match self.free.pop() {
            Some(id) => {
                let packet = &mut self.slots[id as usize];
                packet.segment = *segment;
                packet.hop = hop;
                packet.to = to;
                packet.sent = sent;
                id
            }
            None => {
                self.slots.push(Packet { segment: *segment, hop, to, sent });
                self.slots.len() as PacketId - 1
            }
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.slots[id as usize]
    }

    /// Whether a queue may mark a packet instead of dropping it.
    #[cold]
    #[inline(never)]
    pub(crate) fn may_be_marked(&self, id: PacketId) -> bool {
        self.slots[id as usize].segment.ecn.capable()
    }

    /// A queue has marked a packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn mark(&mut self, id: PacketId) {
        self.slots[id as usize].segment.ecn = Ecn::Ce;
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) {
        self.free.push(id);
    }
}
