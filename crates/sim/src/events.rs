//! The event queue: who wants to be called, and when.

use bentpipe_units::Time;

/// A queue of (time, target) pairs: a binary heap. Equal times come out by target, so the order is the same on every
/// machine.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: Vec<Event>,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    at: Time,
    target: u32,
}

impl Event {
    #[inline]
    fn before(&self, other: &Event) -> bool {
        self.at < other.at || (self.at == other.at && self.target < other.target)
    }
}

impl EventQueue {
    /// The earliest event's time and target; it stays in the queue.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Time, u32)> {
        self.heap.first().map(|event| (event.at, event.target))
    }

    /// Adds an event.
    #[inline]
    pub(crate) fn push(&mut self, at: Time, target: u32) {
        let moving = Event { at, target };
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
    pub(crate) fn pop(&mut self) {
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.settle(last);
        }
    }

    /// Removes the earliest event and adds another: one pass instead of two.
    #[inline(always)]
    pub(crate) fn replace_first(&mut self, at: Time, target: u32) {
        self.settle(Event { at, target });
    }

    /// Puts `moving` where it belongs, starting from the root, whose event is overwritten.
    #[inline(always)]
    fn settle(&mut self, moving: Event) {
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
        let mut queue = EventQueue::default();
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
            assert_eq!(queue.first(), Some(*event));
            queue.pop();
        }
        assert_eq!(queue.first(), None);
    }

    #[test]
    fn replacing_the_first_is_a_pop_and_a_push() {
        let mut queue = EventQueue::default();
        for at in [5, 3, 9, 7] {
            queue.push(Time::from_nanos(at), 0);
        }
        queue.replace_first(Time::from_nanos(8), 1);
        let mut times = Vec::new();
        while let Some((at, _)) = queue.first() {
            times.push(at.as_nanos());
            queue.pop();
        }
        assert_eq!(times, [5, 7, 8, 9]);
    }
}
