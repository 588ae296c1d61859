//! What a receiving application gets of a flow's data.

use bentpipe_units::Time;

/// What one application is to get at one end of a connection, and got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deliveries {
    /// All bytes that there are for it; `u64::MAX` where that is not known before.
    size: u64,
    bytes: u64,
    last: Option<Time>,
    first: Option<Time>,
    most: Option<Time>,
    /// With so many bytes the next of the two has come.
    next: u64,
}

impl Deliveries {
    pub(crate) fn of(size: u64) -> Deliveries {
        Deliveries { size, bytes: 0, last: None, first: None, most: None, next: 1 }
    }

    /// It gets so many bytes more; none are no delivery.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, bytes: u32) {
        if bytes > 0 {
            self.bytes += u64::from(bytes);
            self.last = Some(now);
            if self.bytes >= self.next {
                self.mark(now);
            }
        }
    }

    #[cold]
    fn mark(&mut self, now: Time) {
        self.first.get_or_insert(now);
        let most = if self.size == u64::MAX { u64::MAX } else { self.size - self.size / 10 };
        if self.bytes < most {
            self.next = most;
        } else {
            (self.most, self.next) = (Some(now), u64::MAX);
        }
    }

    /// When it got its first byte.
    pub(crate) fn first(&self) -> Option<Time> {
        self.first
    }

    /// When it had 90 % of a size that is known before.
    pub(crate) fn most(&self) -> Option<Time> {
        self.most
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// When it got something last.
    pub(crate) fn last(&self) -> Option<Time> {
        self.last
    }
}
