//! What a receiving application gets of a flow's data.

use bentpipe_units::Time;

/// What one application is to get at one end of a connection, and got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deliveries {
    /// All bytes that there are for it; `u64::MAX` where that is not known before.
    size: u64,
    bytes: u64,
    /// `Time::NEVER` where it did not come, as the next two.
    last: Time,
    first: Time,
    most: Time,
    /// With so many bytes the next of the two has come.
    next: u64,
}

impl Deliveries {
    pub(crate) fn of(size: u64) -> Deliveries {
        Deliveries { size, bytes: 0, last: Time::NEVER, first: Time::NEVER, most: Time::NEVER, next: 1 }
    }

    /// It gets so many bytes more; none are no delivery.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, bytes: u32) {
        if bytes > 0 {
            self.bytes += u64::from(bytes);
            self.last = now;
            if self.bytes >= self.next {
                self.mark(now);
            }
        }
    }

    #[cold]
    fn mark(&mut self, now: Time) {
        self.first = self.first.min(now);
        let most = if self.size == u64::MAX { u64::MAX } else { self.size - self.size / 10 };
        if self.bytes < most {
            self.next = most;
        } else {
            (self.most, self.next) = (now, u64::MAX);
        }
    }

    /// When it got its first byte.
    pub(crate) fn first(&self) -> Option<Time> {
        come(self.first)
    }

    /// When it had 90 % of a size that is known before.
    pub(crate) fn most(&self) -> Option<Time> {
        come(self.most)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// When it got something last.
    pub(crate) fn last(&self) -> Option<Time> {
        come(self.last)
    }
}

fn come(time: Time) -> Option<Time> {
    (time != Time::NEVER).then_some(time)
}
