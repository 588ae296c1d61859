use bentpipe_units::Time;

/// A packet in a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) id: u32,
    pub(crate) bytes: u32,
    /// When it was offered.
    pub(crate) offered: Time,
    pub(crate) starts: Time,
    pub(crate) arrives: Time,
}

const EMPTY: Slot = Slot { id: 0, bytes: 0, offered: Time::ZERO, starts: Time::ZERO, arrives: Time::ZERO };

/// The packets of a link in order, each known by its number since the link's first.
///
/// Numbers never shift when the head leaves, which a `VecDeque`'s indices do, and an access costs a mask instead of a
/// wrapped comparison: a quarter fewer instructions a packet in a link without loss.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// A power of two of them, with room for one more packet at least.
    slots: Box<[Slot]>,
    /// Number of the oldest packet.
    pub(crate) head: u64,
    /// Number that the next packet gets.
    pub(crate) tail: u64,
}

impl Ring {
    pub(crate) fn new() -> Ring {
        Ring { slots: Box::new([EMPTY; 2]), head: 0, tail: 0 }
    }

    #[inline]
    pub(crate) fn get(&self, number: u64) -> &Slot {
        &self.slots[number as usize & (self.slots.len() - 1)]
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> &mut Slot {
        let mask = self.slots.len() - 1;
        &mut self.slots[number as usize & mask]
    }

    /// The newest packet, also when it has arrived.
    pub(crate) fn last(&self) -> Option<&Slot> {
        self.tail.checked_sub(1).map(|number| self.get(number))
    }

    #[inline]
    pub(crate) fn last_mut(&mut self) -> &mut Slot {
        let mask = self.slots.len() - 1;
        &mut self.slots[(self.tail - 1) as usize & mask]
    }

    /// Adds a packet; returns whether the ring is full, so that it must [`Ring::grow`], or lose its head, before the next.
    #[inline]
    #[must_use]
    pub(crate) fn push(&mut self, slot: Slot) -> bool {
        let mask = self.slots.len() - 1;
        self.slots[self.tail as usize & mask] = slot;
        self.tail += 1;
        self.tail - self.head > mask as u64
    }

    pub(crate) fn grow(&mut self) {
        let mut slots = vec![EMPTY; self.slots.len() * 2].into_boxed_slice();
        let mask = slots.len() - 1;
        for number in self.head..self.tail {
            slots[number as usize & mask] = *self.get(number);
        }
        self.slots = slots;
    }
}
