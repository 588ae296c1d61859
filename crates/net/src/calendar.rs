//! The calendar: events in the order of their times.

use bentpipe_units::Time;

/// Events, each a time and a target, in a binary heap. Events at one time come out in the order of their targets, so the order
/// is the same on every machine.
#[derive(Debug)]
pub struct Calendar<T> {
    /// The earliest event, at `Time::NEVER` when there is none. It stands beside the heap: it is read most, and its
    /// successor is often the earliest again.
    first: Event<T>,
    heap: Vec<Event<T>>,
}

#[derive(Clone, Copy, Debug)]
struct Event<T> {
    at: Time,
    target: T,
}

impl<T: Ord> Event<T> {
    #[inline]
    fn before(&self, other: &Event<T>) -> bool {
        self.at < other.at || (self.at == other.at && self.target < other.target)
    }
}

impl<T: Default> Default for Calendar<T> {
    fn default() -> Calendar<T> {
        Calendar { first: Event { at: Time::NEVER, target: T::default() }, heap: Vec::new() }
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
        if self.first.at == Time::NEVER {
            self.first = moving;
            return;
        }
        if moving.before(&self.first) {
            std::mem::swap(&mut moving, &mut self.first);
        }
        let mut index = self.heap.len();
        self.heap.push(moving);
        let heap = &mut self.heap[..];
        while index > 0 {
            let parent = (index - 1) / 2;
            if !moving.before(&heap[parent]) {
                break;
            }
            heap[index] = heap[parent];
            index = parent;
        }
        heap[index] = moving;
    }

    /// Removes the earliest event.
    #[inline(never)]
    pub fn pop(&mut self) {
        let Some(last) = self.heap.pop() else {
            self.first.at = Time::NEVER;
            return;
        };
        match self.heap.first() {
            Some(root) => {
                self.first = *root;
                self.sift_down(last);
            }
            None => self.first = last,
        }
    }

    /// Removes the earliest event and adds another, which is not at `Time::NEVER`: one pass instead of two.
    #[inline(always)]
    pub fn replace_first(&mut self, at: Time, target: T) {
        let moving = Event { at, target };
        match self.heap.first() {
            Some(root) if root.before(&moving) => {
                self.first = *root;
                self.sift_down(moving);
            }
            _ => self.first = moving,
        }
    }

    /// Moves `moving` down from the root, whose event it replaces, to its place in the heap.
    #[inline(always)]
    fn sift_down(&mut self, moving: Event<T>) {
        let heap = &mut self.heap[..];
        let mut index = 0;
        loop {
            let left = 2 * index + 1;
            let Some([one, other]) = heap.get(left..left + 2) else {
                if let Some(only) = heap.get(left).copied()
                    && only.before(&moving)
                {
                    heap[index] = only;
                    index = left;
                }
                break;
            };
            let (child, event) = if other.before(one) { (left + 1, *other) } else { (left, *one) };
            if !event.before(&moving) {
                break;
            }
            heap[index] = event;
            index = child;
        }
        heap[index] = moving;
    }
}

#[cfg(test)]
mod tests {
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
