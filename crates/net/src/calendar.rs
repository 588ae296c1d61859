//! The calendar: events in the order of their times.

mod heap;
mod wheel;

use bentpipe_units::Time;
use heap::{Event, Heap};
use wheel::Wheel;

/// Events, each a time and a target. Events at one time come out in the order of their targets, so the order is the same on
/// every machine.
///
/// Few are in a heap. Many are in a wheel, slots of time for one event each; what comes late, or finds its slot taken, stays in the
/// heap. Where most events come again soon, the heap is faster for many too.
#[derive(Debug)]
pub struct Calendar<T> {
    /// The earliest event; its time is `Time::NEVER` where there is none. A field of its own is read fastest, and the next
    /// event to come is often the earliest again.
    first: Event<T>,
    heap: Heap<T>,
    wheel: Option<Box<Wheel<T>>>,
    /// Of many: how many they are, and whether the earliest is in the heap.
    events: usize,
    in_heap: bool,
    /// More events than this are too many for the heap.
    many: usize,
    /// Events before the next look at the width of slots, and since when they are counted.
    left: u64,
    since: Time,
}

/// From more events than this on the wheel is tried, and left again with fewer than the other.
const MANY: usize = 256;
const FEW: usize = 64;
/// The width of slots is looked at after so many events.
const BETWEEN_LOOKS: u64 = 1024;
/// So many slots, as a power of two, for each event that comes out.
const SLOTS_AN_EVENT: u32 = 3;
/// Slots of seconds.
const WIDEST: u32 = 31;

impl<T: Default> Default for Calendar<T> {
    fn default() -> Calendar<T> {
        Calendar {
            first: Event { at: Time::NEVER, target: T::default() },
            heap: Heap::default(),
            wheel: None,
            events: 0,
            in_heap: false,
            many: MANY,
            left: 0,
            since: Time::ZERO,
        }
    }
}

impl<T: Copy + Ord + Default> Calendar<T> {
    /// The earliest event's time; `Time::NEVER` when there is none.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.first.at
    }

    /// The target of the earliest event, which stays; an arbitrary one when there is none.
    #[inline]
    pub fn target(&self) -> T {
        self.first.target
    }

    /// Adds an event, which is not at `Time::NEVER`.
    #[inline]
    pub fn push(&mut self, at: Time, target: T) {
        let mut moving = Event { at, target };
        if self.wheel.is_some() {
            return self.push_to_many(moving);
        }
        if self.first.at == Time::NEVER {
            self.first = moving;
            return;
        }
        if moving.before(&self.first) {
            std::mem::swap(&mut moving, &mut self.first);
        }
        self.heap.push(moving);
        if self.heap.len() > self.many {
            self.spread();
        }
    }

    #[inline(never)]
    fn push_to_many(&mut self, event: Event<T>) {
        self.events += 1;
        let fits = self.wheel.as_mut().is_some_and(|wheel| wheel.push(event));
        if !fits {
            self.heap.push(event);
        }
        if event.before(&self.first) {
            (self.first, self.in_heap) = (event, !fits);
        }
    }

    /// Removes the earliest event.
    #[inline(never)]
    pub fn pop(&mut self) {
        if self.wheel.is_some() {
            self.events = self.events.saturating_sub(1);
            return self.pop_of_many();
        }
        match self.heap.pop() {
            Some(event) => self.first = event,
            None => self.first.at = Time::NEVER,
        }
    }

    #[inline(never)]
    fn pop_of_many(&mut self) {
        let Some(wheel) = &mut self.wheel else { return };
        match self.in_heap {
            true => {
                wheel.comes_to(self.first.at);
                self.heap.pop();
            }
            false if self.first.at < Time::NEVER => wheel.pop(),
            false => return,
        }
        let first = wheel.first();
        self.find_first(first);
    }

    /// Removes the earliest event and adds another, which is not at `Time::NEVER`: one pass instead of two.
    #[inline(always)]
    pub fn replace_first(&mut self, at: Time, target: T) {
        let moving = Event { at, target };
        if self.wheel.is_some() {
            return self.replace_first_of_many(moving);
        }
        match self.heap.first() {
            Some(root) if root.before(&moving) => {
                self.first = *root;
                self.heap.replace_first(moving);
            }
            _ => self.first = moving,
        }
    }

    #[inline(never)]
    fn replace_first_of_many(&mut self, moving: Event<T>) {
        if self.in_heap {
            return self.replace_first_in_heap(moving);
        }
        let Some(wheel) = &mut self.wheel else { return };
        if !wheel.add(moving) {
            return self.replace_first_by_late(moving);
        }
        match wheel.pop_near() {
            Some(next) => self.find_first(next),
            None => self.pop_of_many(),
        }
    }

    #[inline(never)]
    fn replace_first_by_late(&mut self, moving: Event<T>) {
        self.heap.push(moving);
        self.pop_of_many();
    }

    /// The earliest event is in the heap, but not alone.
    #[inline(never)]
    fn replace_first_in_heap(&mut self, moving: Event<T>) {
        let Some(wheel) = &mut self.wheel else { return };
        wheel.comes_to(self.first.at);
        if wheel.push(moving) {
            self.heap.pop();
        } else {
            self.heap.replace_first(moving);
        }
        let first = wheel.first();
        self.find_first(first);
    }

    /// Finds the earliest of many events: that of the wheel, or the heap's.
    #[inline(always)]
    fn find_first(&mut self, first: Event<T>) {
        (self.first, self.in_heap) = (first, false);
        if let Some(root) = self.heap.first().filter(|root| root.before(&first)) {
            (self.first, self.in_heap) = (*root, true);
        }
        self.left -= 1;
        if self.left == 0 {
            self.look();
        }
    }

    /// The heap has too many events: the wheel gets slots by its middle one.
    #[cold]
    #[inline(never)]
    fn spread(&mut self) {
        let mut all = self.heap.take();
        let middle = all.len() / 2;
        let (_, median, _) = all.select_nth_unstable_by_key(middle, |event| event.at);
        let each = median.at.since(self.first.at).as_nanos() / middle as u64;
        all.push(self.first);
        self.sort(Some(each), all);
    }

    /// Looks whether slots have the right width.
    #[cold]
    #[inline(never)]
    fn look(&mut self) {
        let each = self.first.at.since(self.since).as_nanos() / BETWEEN_LOOKS;
        (self.left, self.since) = (BETWEEN_LOOKS, self.first.at);
        let Some(wheel) = &mut self.wheel else { return };
        let soon = u64::from(wheel.take_soon()) > BETWEEN_LOOKS / 2;
        if soon {
            self.many = 2 * self.events.max(MANY);
        }
        let leaves = soon || self.events < FEW;
        if leaves || width(each).abs_diff(wheel.width()) > 1 {
            let mut all = self.heap.take();
            all.extend(self.wheel.take().map_or_else(Vec::new, |wheel| wheel.into_events()));
            self.sort((!leaves).then_some(each), all);
        }
    }

    /// Sorts all events into slots, where one comes out every `each` nanoseconds, or without it into the heap.
    fn sort(&mut self, each: Option<u64>, all: Vec<Event<T>>) {
        let earliest = all.iter().map(|event| event.at).min().unwrap_or(Time::NEVER);
        (self.left, self.since) = (BETWEEN_LOOKS, earliest);
        self.events = all.len();
        self.wheel = each.map(|each| Box::new(Wheel::new(width(each), earliest)));
        for event in all {
            let fits = self.wheel.as_mut().is_some_and(|wheel| wheel.push(event));
            if !fits {
                self.heap.push(event);
            }
        }
        match self.wheel {
            Some(ref wheel) => self.find_first(wheel.first()),
            None => self.pop(),
        }
    }
}

/// The width of slots where an event comes out every `each` nanoseconds.
fn width(each: u64) -> u32 {
    each.max(1).ilog2().saturating_sub(SLOTS_AN_EVENT).min(WIDEST)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn events_come_out_by_time_and_then_by_target() {
        let mut queue = Calendar::default();
        let mut expected = Vec::new();
        let mut x = 12345u64;
        for target in 0..500 {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at = Time::from_nanos(x >> 56);
            queue.push(at, target);
            expected.push((at, target));
        }
        expected.sort();
        for event in &expected {
            assert_eq!((queue.next_time(), queue.target()), *event);
            queue.pop();
        }
        assert_eq!(queue.next_time(), Time::NEVER);
    }

    /// Events come and go as in a network, with times of all sizes between them, and the calendar names the same as a sorted set.
    #[test]
    fn many_events_come_out_as_from_a_sorted_set() {
        let mut x = 1u64;
        let mut draw = |below: u64| {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 33) % below
        };
        let mut queue = Calendar::default();
        let mut expected = BTreeSet::new();
        for phase in 0..60 {
            let (wanted, spread) = ([3, 20, 40, 500, 3000][phase % 5], 1 << draw(34));
            for step in 0..4000 {
                let now = expected.first().map_or(0, |&(at, _)| at);
                // Some at one time, some far behind the others.
                let later = match step % 10 {
                    0 => 0,
                    1 => 100 * draw(spread),
                    _ => draw(spread),
                };
                let event = (now + later, step % 1000);
                let many = expected.len() > wanted;
                let left_out = expected.contains(&event) || many && step % 3 == 0;
                if !left_out {
                    let at = Time::from_nanos(event.0);
                    match step % 2 == 0 && !expected.is_empty() {
                        true => {
                            expected.pop_first();
                            queue.replace_first(at, event.1);
                        }
                        false => queue.push(at, event.1),
                    }
                    expected.insert(event);
                }
                if many || step % 7 == 0 && !expected.is_empty() {
                    expected.pop_first();
                    queue.pop();
                }
                let first =
                    expected.first().map_or((Time::NEVER, 0), |&(at, target)| (Time::from_nanos(at), target));
                assert_eq!(queue.next_time(), first.0);
                assert!(first.0 == Time::NEVER || queue.target() == first.1);
            }
        }
        while let Some((at, target)) = expected.pop_first() {
            assert_eq!((queue.next_time(), queue.target()), (Time::from_nanos(at), target));
            queue.pop();
        }
        assert_eq!(queue.next_time(), Time::NEVER);
    }

    #[test]
    fn replacing_the_first_is_a_pop_and_a_push() {
        for (with, expected) in [(2, [2, 5, 7, 9]), (4, [4, 5, 7, 9]), (8, [5, 7, 8, 9]), (12, [5, 7, 9, 12])]
        {
            let mut queue = Calendar::default();
            for at in [5, 3, 9, 7] {
                queue.push(Time::from_nanos(at), 0);
            }
            queue.replace_first(Time::from_nanos(with), 1);
            let mut times = Vec::new();
            while queue.next_time() != Time::NEVER {
                times.push(queue.next_time().as_nanos());
                queue.pop();
            }
            assert_eq!(times, expected);
        }
    }
}
