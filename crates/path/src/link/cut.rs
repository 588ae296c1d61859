//! A link whose queue and far end are in two parts of a run: one copy takes packets, the other delivers them.

use bentpipe_units::{Span, Time};

use super::Link;
use crate::packet::PacketId;
use crate::ring::Slot;

/// A packet that a link has taken.
#[derive(Clone, Copy, Debug)]
pub struct Taken(Slot);

impl Taken {
    /// Its length.
    pub fn bytes(&self) -> u32 {
        self.0.bytes
    }

    /// When it comes to the far end.
    pub fn arrives(&self) -> Time {
        self.0.arrives
    }
}

impl Link {
    /// The propagation delay of what is offered now to a link in closed form.
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// The packet that was taken last.
    pub fn last_taken(&self) -> Option<Taken> {
        self.ring.last().copied().map(Taken)
    }

    /// The packet `id` is one that the other copy has taken.
    pub fn deliver(&mut self, id: PacketId, taken: Taken) {
        if self.ring.head == self.ring.tail && !self.passes {
            self.next = taken.0.arrives;
        }
        if self.ring.push(Slot { id, ..taken.0 }) {
            self.make_room(taken.0.offered);
        }
    }

    /// Adds what the copy that delivers did.
    pub fn join(&mut self, delivers: Link) {
        self.ring = delivers.ring;
        self.passes = delivers.passes;
        self.tally.delivered_bytes = delivers.tally.delivered_bytes;
        self.counts.corrupted = delivers.counts.corrupted;
    }
}
