//! Packets under way, known by index: nothing is allocated once the store has grown to the most that are in flight.

use bentpipe_path::PacketId;

/// A packet under way, which begins a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Slot<P>(P);

#[derive(Debug)]
pub(crate) struct Store<P> {
    slots: Vec<Slot<P>>,
    /// Of each packet the position in the route table of the link that it is on. From link to link nothing else of it is in memory.
    hops: Vec<u32>,
    free: Vec<PacketId>,
    /// The place of the next packet, which is written there.
    outgoing: PacketId,
}

impl<P: Default> Default for Store<P> {
    fn default() -> Store<P> {
        Store { slots: vec![Slot::default()], hops: vec![0], free: Vec::new(), outgoing: 0 }
    }
}

impl<P: Default> Store<P> {
    /// The next packet, to be written.
    #[inline]
    pub(crate) fn outgoing(&mut self) -> &mut P {
        &mut self.slots[self.outgoing as usize].0
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
        self.slots[id as usize].0 = payload;
        id
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> PacketId {
        if self.slots.len() == self.slots.capacity() {
            // What begins cache lines is copied when it grows.
            self.slots.reserve(3 * self.slots.len());
        }
        self.slots.push(Slot::default());
        self.hops.push(0);
        self.slots.len() as PacketId - 1
    }

    #[inline]
    pub(crate) fn get(&self, id: PacketId) -> &P {
        &self.slots[id as usize].0
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut P {
        &mut self.slots[id as usize].0
    }

    #[inline]
    pub(crate) fn hop(&self, id: PacketId) -> u32 {
        self.hops[id as usize]
    }

    #[inline]
    pub(crate) fn set_hop(&mut self, id: PacketId, hop: u32) {
        self.hops[id as usize] = hop;
    }

    /// The hops of all packets that are under way.
    pub(crate) fn hops(&self) -> impl Iterator<Item = u32> {
        let mut under_way = vec![true; self.slots.len()];
        for id in self.free.iter().chain([&self.outgoing]) {
            under_way[*id as usize] = false;
        }
        self.hops.iter().zip(under_way).filter(|(_, is)| *is).map(|(hop, _)| *hop)
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) {
        self.free.push(id);
    }
}
