use bentpipe_units::Time;

/// An event: when, and whom it calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<T> {
    pub(super) at: Time,
    pub(super) target: T,
}

impl<T: Ord> Event<T> {
    #[inline]
    pub(super) fn before(&self, other: &Event<T>) -> bool {
        self.at < other.at || (self.at == other.at && self.target < other.target)
    }
}

/// Events in a binary heap.
#[derive(Debug)]
pub(super) struct Heap<T>(Vec<Event<T>>);

impl<T> Default for Heap<T> {
    fn default() -> Heap<T> {
        Heap(Vec::new())
    }
}

impl<T: Copy + Ord> Heap<T> {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&Event<T>> {
        self.0.first()
    }

    /// Takes all events out, in any order.
    pub(super) fn take(&mut self) -> Vec<Event<T>> {
        std::mem::take(&mut self.0)
    }

    #[inline]
    pub(super) fn push(&mut self, moving: Event<T>) {
        let mut index = self.0.len();
        self.0.push(moving);
        let heap = &mut self.0[..];
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
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Event<T>> {
        let last = self.0.pop()?;
        match self.0.first().copied() {
            Some(root) => {
                self.replace_first(last);
                Some(root)
            }
            None => Some(last),
        }
    }

    /// Puts `moving` in the place of the earliest event, of which there is one, and then where it belongs.
    #[inline(always)]
    pub(super) fn replace_first(&mut self, moving: Event<T>) {
        let heap = &mut self.0[..];
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
