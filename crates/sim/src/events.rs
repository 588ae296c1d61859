//! The event queue: who wants to be called, and when.

use bentpipe_units::Time;

/// A queue of (time, target) pairs. Equal times come out by target, so the order is the same on every machine.
///
/// A four-ary heap of one 128-bit key an event: time above, target below.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: Vec<u128>,
}

const ARITY: usize = 4;

#[inline]
fn key(at: Time, target: u32) -> u128 {
    u128::from(at.as_nanos()) << 32 | u128::from(target)
}

impl EventQueue {
    /// The earliest event's time and target; it stays in the queue.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(Time, u32)> {
        self.heap.first().map(|key| (Time::from_nanos((key >> 32) as u64), *key as u32))
    }

    #[inline]
    pub(crate) fn push(&mut self, at: Time, target: u32) {
        self.heap.push(key(at, target));
        self.sift_up(self.heap.len() - 1);
    }

    /// Removes the earliest event.
    #[inline]
    pub(crate) fn pop(&mut self) {
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sift_down(last);
        }
    }

    /// Removes the earliest event and adds another: one pass instead of two.
    #[inline]
    pub(crate) fn replace_first(&mut self, at: Time, target: u32) {
        self.sift_down(key(at, target));
    }

    #[inline]
    fn sift_up(&mut self, mut index: usize) {
        let moving = self.heap[index];
        while index > 0 {
            let parent = (index - 1) / ARITY;
            if self.heap[parent] <= moving {
                break;
            }
            self.heap[index] = self.heap[parent];
            index = parent;
        }
        self.heap[index] = moving;
    }

    /// Puts `moving` where it belongs, starting from the root, whose key is overwritten.
    #[inline]
    fn sift_down(&mut self, moving: u128) {
        let heap = &mut self.heap[..];
        let mut index = 0;
        loop {
            let first = index * ARITY + 1;
            if first >= heap.len() {
                break;
            }
            let last = (first + ARITY).min(heap.len());
            let mut least = first;
            let mut least_key = heap[first];
            for (child, key) in heap.iter().enumerate().take(last).skip(first + 1) {
                if *key < least_key {
                    least = child;
                    least_key = *key;
                }
            }
            if moving <= least_key {
                break;
            }
            heap[index] = least_key;
            index = least;
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
            assert_eq!(queue.peek(), Some(*event));
            queue.pop();
        }
        assert_eq!(queue.peek(), None);
    }

    #[test]
    fn replacing_the_first_is_a_pop_and_a_push() {
        let mut queue = EventQueue::default();
        for at in [5, 3, 9, 7] {
            queue.push(Time::from_nanos(at), 0);
        }
        queue.replace_first(Time::from_nanos(8), 1);
        let mut times = Vec::new();
        while let Some((at, _)) = queue.peek() {
            times.push(at.as_nanos());
            queue.pop();
        }
        assert_eq!(times, [5, 7, 8, 9]);
    }
}
