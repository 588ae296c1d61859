//! Packets under way, known by index: nothing is allocated once the store has grown to the most that are in flight.

use bentpipe_path::PacketId;

/// A packet under way.
#[derive(Clone, Copy, Debug, Default)]
struct Slot<P> {
    payload: P,
    /// Position in the route table of the link that it is on.
    hop: u32,
}

#[derive(Debug)]
pub(crate) struct Store<P> {
    slots: Vec<Slot<P>>,
    free: Vec<PacketId>,
    /// The place of the next packet, which is written there.
    outgoing: PacketId,
}

impl<P: Default> Default for Store<P> {
    fn default() -> Store<P> {
        Store { slots: vec![Slot::default()], free: Vec::new(), outgoing: 0 }
    }
}

impl<P: Default> Store<P> {
    /// The next packet, to be written.
    #[inline]
    pub(crate) fn outgoing(&mut self) -> &mut P {
        &mut self.slots[self.outgoing as usize].payload
    }

    /// The outgoing packet is under way.
    #[inline]
    pub(crate) fn dispatch(&mut self) -> PacketId {
        let id = self.outgoing;
        self.outgoing = match self.free.pop() {
            Some(free) => free,
            None => self.grow(),
        };
        id
    }

    /// A packet is under way that no host sends now.
    #[cold]
    pub(crate) fn insert(&mut self, payload: P) -> PacketId {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        self.slots[id as usize].payload = payload;
        id
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> PacketId {
        self.slots.push(Slot::default());
        self.slots.len() as PacketId - 1
    }

    #[inline]
    pub(crate) fn get(&self, id: PacketId) -> &P {
        &self.slots[id as usize].payload
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut P {
        &mut self.slots[id as usize].payload
    }

    #[inline]
    pub(crate) fn hop(&self, id: PacketId) -> u32 {
        self.slots[id as usize].hop
    }

    #[inline]
    pub(crate) fn set_hop(&mut self, id: PacketId, hop: u32) {
        self.slots[id as usize].hop = hop;
    }

    /// The hops of all packets that are under way.
    pub(crate) fn hops(&self) -> impl Iterator<Item = u32> {
        let mut under_way = vec![true; self.slots.len()];
        for id in self.free.iter().chain([&self.outgoing]) {
            under_way[*id as usize] = false;
        }
        self.slots.iter().zip(under_way).filter(|(_, is)| *is).map(|(slot, _)| slot.hop)
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) {
        self.free.push(id);
    }
}
