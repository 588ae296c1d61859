use bentpipe_units::Time;

use super::heap::Event;

const SLOTS: usize = 1 << 15;
const WORDS: usize = SLOTS / 64;
/// A heap is as fast for an event that is at most so many slots ahead.
const SOON: u64 = 512;
/// No slot.
const NONE: u64 = u64::MAX;

/// Events by slots of time, all of one width, at most one in each.
#[derive(Debug)]
pub(super) struct Wheel<T> {
    /// Number of the first slot that has an event, or [`NONE`].
    first: u64,
    /// Number of the slot of the event that came out last: nothing is before it.
    now: u64,
    /// A slot lasts 2^`width` nanoseconds, less than 2^32.
    width: u32,
    /// How many events came to be soon.
    soon: u32,
    /// For each slot, used in turn, its event: the low half of the time, and the target.
    slots: Box<[(u32, T); SLOTS]>,
    /// A bit for each slot that has one.
    full: Box<[u64; WORDS]>,
}

impl<T: Copy + Ord + Default> Wheel<T> {
    /// A wheel without events whose slots last 2^`width` nanoseconds, from `now` on.
    pub(super) fn new(width: u32, now: Time) -> Wheel<T> {
        Wheel {
            first: NONE,
            now: now.as_nanos() >> width,
            width,
            soon: 0,
            slots: Box::new([(0, T::default()); SLOTS]),
            full: Box::new([0; WORDS]),
        }
    }

    /// The earliest event; its time is `Time::NEVER` where there is none.
    #[inline(always)]
    pub(super) fn first(&self) -> Event<T> {
        match self.first {
            NONE => Event { at: Time::NEVER, target: T::default() },
            number => self.event(number),
        }
    }

    /// The event in a slot that has one.
    #[inline(always)]
    fn event(&self, number: u64) -> Event<T> {
        let (low, target) = self.slots[number as usize % SLOTS];
        let high = number << self.width >> u32::BITS << u32::BITS;
        Event { at: Time::from_nanos(high | u64::from(low)), target }
    }

    pub(super) fn width(&self) -> u32 {
        self.width
    }

    /// How many events came to be soon since this was asked.
    pub(super) fn take_soon(&mut self) -> u32 {
        std::mem::take(&mut self.soon)
    }

    /// All events.
    pub(super) fn into_events(mut self) -> Vec<Event<T>> {
        let mut all = Vec::new();
        while self.first != NONE {
            all.push(self.event(self.first));
            self.pop();
        }
        all
    }

    /// No event is before `now` any more.
    #[inline]
    pub(super) fn comes_to(&mut self, now: Time) {
        self.now = now.as_nanos() >> self.width;
    }

    /// Adds an event; returns whether there was room for it.
    #[inline]
    pub(super) fn push(&mut self, event: Event<T>) -> bool {
        let number = event.at.as_nanos() >> self.width;
        let added = self.insert(number, event);
        if added {
            self.first = self.first.min(number);
        }
        added
    }

    /// Adds an event to its slot; returns whether there was room for it.
    #[inline(always)]
    fn insert(&mut self, number: u64, event: Event<T>) -> bool {
        let place = number as usize % SLOTS;
        let (word, bit) = (&mut self.full[place / 64], 1 << (place % 64));
        if number.wrapping_sub(self.now) >= SLOTS as u64 || *word & bit != 0 {
            return false;
        }
        *word |= bit;
        self.slots[place] = (event.at.as_nanos() as u32, event.target);
        true
    }

    /// Adds an event that takes the place of the earliest, of which there is one; returns whether there was room for it. The earliest stays.
    #[inline(always)]
    pub(super) fn add(&mut self, event: Event<T>) -> bool {
        self.now = self.first;
        let number = event.at.as_nanos() >> self.width;
        self.soon += u32::from(number.wrapping_sub(self.now) < SOON);
        self.insert(number, event)
    }

    /// Removes the earliest event, of which there is one.
    pub(super) fn pop(&mut self) {
        self.now = self.first;
        if self.pop_near().is_none() {
            self.first = self.first_behind();
        }
    }

    /// Removes the earliest event, of which there is one; returns the next if it was easy to find.
    #[inline(always)]
    pub(super) fn pop_near(&mut self) -> Option<Event<T>> {
        let place = self.first as usize % SLOTS;
        let word = &mut self.full[place / 64];
        *word &= !(1 << (place % 64));
        // The next does not come before the slot of the one before it.
        let here = *word >> (place % 64);
        if here == 0 {
            return None;
        }
        self.first += u64::from(here.trailing_zeros());
        Some(self.event(self.first))
    }

    /// The first slot with an event behind the bits of the slot of now.
    fn first_behind(&self) -> u64 {
        let word = self.now / 64;
        let mut words = (word + 1..=word + WORDS as u64).map(|word| (word, self.full[word as usize % WORDS]));
        let found = words.find(|(_, bits)| *bits != 0);
        found.map_or(NONE, |(word, bits)| word * 64 + u64::from(bits.trailing_zeros()))
    }
}
