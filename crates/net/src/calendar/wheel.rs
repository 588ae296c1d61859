use bentpipe_units::Time;

use super::heap::Event;

const NONE: u32 = u32::MAX;
/// A heap is as fast for an event that is at most so many slots ahead.
const SOON: u64 = 64;
/// Events at most that an event is put behind in its slot.
const CROWD: u32 = 16;
const SLOTS: usize = 1 << 14;
const WORDS: usize = SLOTS / 64;

/// Events by slots of time, all of one width, the events of a slot in their order.
#[derive(Debug)]
pub(super) struct Wheel<T> {
    /// The earliest event and the place of its slot; its time is `Time::NEVER` where there is none.
    first: Event<T>,
    place: usize,
    /// A slot lasts 2^`width` nanoseconds.
    width: u32,
    events: u32,
    /// How often the first event was replaced by one that comes soon.
    soon: u32,
    /// Number of the slot of the event that came out last: nothing is before it.
    now: u64,
    /// For each slot, used in turn, the first of its nodes.
    slots: Box<[u32; SLOTS]>,
    /// A bit for each slot that has events.
    full: Box<[u64; WORDS]>,
    nodes: Vec<Node<T>>,
    /// The first of the nodes without an event.
    free: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node<T> {
    at: Time,
    target: T,
    next: u32,
}

impl<T: Copy> Node<T> {
    #[inline]
    fn new(event: Event<T>, next: u32) -> Node<T> {
        Node { at: event.at, target: event.target, next }
    }

    #[inline]
    fn event(&self) -> Event<T> {
        Event { at: self.at, target: self.target }
    }
}

impl<T: Copy + Ord + Default> Wheel<T> {
    /// A wheel without events whose slots last 2^`width` nanoseconds, from `now` on.
    pub(super) fn new(width: u32, now: Time) -> Wheel<T> {
        Wheel {
            first: Event { at: Time::NEVER, target: T::default() },
            place: 0,
            width,
            events: 0,
            soon: 0,
            now: now.as_nanos() >> width,
            slots: Box::new([NONE; SLOTS]),
            full: Box::new([0; WORDS]),
            nodes: Vec::new(),
            free: NONE,
        }
    }

    /// The earliest event; its time is `Time::NEVER` where there is none.
    #[inline]
    pub(super) fn first(&self) -> Event<T> {
        self.first
    }

    /// Events in it.
    pub(super) fn len(&self) -> usize {
        self.events as usize
    }

    pub(super) fn width(&self) -> u32 {
        self.width
    }

    /// How often the first event was replaced by one that comes soon, since this was asked.
    pub(super) fn take_soon(&mut self) -> u32 {
        std::mem::take(&mut self.soon)
    }

    /// All events, in any order.
    pub(super) fn into_events(self) -> Vec<Event<T>> {
        let mut all = Vec::with_capacity(self.len());
        for first in &*self.slots {
            let mut node = *first;
            while let Some(found) = self.nodes.get(node as usize) {
                all.push(found.event());
                node = found.next;
            }
        }
        all
    }

    /// No event is before `now` any more.
    #[inline]
    pub(super) fn comes_to(&mut self, now: Time) {
        self.now = now.as_nanos() >> self.width;
    }

    /// The place of the slot of a time, if there is one.
    #[inline(always)]
    fn place(&self, at: Time) -> Option<usize> {
        let slot = at.as_nanos() >> self.width;
        let is_near = slot.wrapping_sub(self.now) < SLOTS as u64;
        is_near.then_some(slot as usize % SLOTS)
    }

    /// Adds an event; returns whether there was room for it.
    #[inline]
    pub(super) fn push(&mut self, event: Event<T>) -> bool {
        let Some(place) = self.place(event.at) else { return false };
        let number = match self.nodes.get(self.free as usize) {
            Some(_) => self.free,
            None => self.add_node(),
        };
        let next = self.nodes[number as usize].next;
        if !self.insert(place, number, event) {
            return false;
        }
        self.free = next;
        self.events += 1;
        if event.before(&self.first) {
            self.first = event;
            self.place = place;
        }
        true
    }

    /// Puts a node with an event into the slot at a place; returns whether there was room for it.
    #[inline(always)]
    fn insert(&mut self, place: usize, number: u32, event: Event<T>) -> bool {
        let next = self.slots[place % SLOTS];
        if next == NONE {
            self.full[place / 64 % WORDS] |= 1 << (place % 64);
        } else if self.nodes[next as usize].event().before(&event) {
            return self.insert_behind(next, number, event);
        }
        self.nodes[number as usize] = Node::new(event, next);
        self.slots[place % SLOTS] = number;
        true
    }

    #[inline(never)]
    fn insert_behind(&mut self, first: u32, number: u32, event: Event<T>) -> bool {
        let mut before = first;
        for _ in 0..CROWD {
            let next = self.nodes[before as usize].next;
            if next == NONE || !self.nodes[next as usize].event().before(&event) {
                self.nodes[number as usize] = Node::new(event, next);
                self.nodes[before as usize].next = number;
                return true;
            }
            before = next;
        }
        false
    }

    #[cold]
    #[inline(never)]
    fn add_node(&mut self) -> u32 {
        self.free = self.nodes.len() as u32;
        self.nodes.push(Node::new(self.first, NONE));
        self.free
    }

    /// Removes the earliest event, of which there is one, and adds another; returns whether there was room for that.
    #[inline]
    pub(super) fn replace_first(&mut self, event: Event<T>) -> bool {
        self.comes_to(self.first.at);
        let number = self.take_first();
        self.soon += u32::from((event.at.as_nanos() >> self.width).wrapping_sub(self.now) < SOON);
        let added = match self.place(event.at) {
            Some(place) => self.insert(place, number, event),
            None => false,
        };
        if !added {
            self.free_node(number);
        }
        self.find_first();
        added
    }

    /// Removes the earliest event, of which there is one.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.comes_to(self.first.at);
        let number = self.take_first();
        self.free_node(number);
        self.find_first();
    }

    /// Takes the node of the earliest event out of its slot.
    #[inline(always)]
    fn take_first(&mut self) -> u32 {
        let number = self.slots[self.place % SLOTS];
        let next = self.nodes[number as usize].next;
        self.slots[self.place % SLOTS] = next;
        if next == NONE {
            self.full[self.place / 64 % WORDS] &= !(1 << (self.place % 64));
        }
        number
    }

    #[inline(always)]
    fn free_node(&mut self, number: u32) {
        self.nodes[number as usize].next = self.free;
        self.free = number;
        self.events -= 1;
    }

    /// Finds the earliest event, which does not come before the place of the one before it.
    #[inline(always)]
    fn find_first(&mut self) {
        let here = self.full[self.place / 64 % WORDS] >> (self.place % 64);
        if here == 0 {
            return self.find_first_behind();
        }
        self.place += here.trailing_zeros() as usize;
        self.first = self.nodes[self.slots[self.place % SLOTS] as usize].event();
    }

    #[inline(never)]
    fn find_first_behind(&mut self) {
        let (before, behind) = self.full.split_at(self.place / 64 + 1);
        let all = behind.iter().zip(before.len()..).chain(before.iter().zip(0..));
        match all.map(|(word, number)| (*word, number)).find(|(word, _)| *word != 0) {
            Some((word, number)) => {
                self.place = number * 64 + word.trailing_zeros() as usize;
                self.first = self.nodes[self.slots[self.place % SLOTS] as usize].event();
            }
            None => self.first.at = Time::NEVER,
        }
    }
}
