//! What a receiving application gets of a flow's data.

use bentpipe_units::Time;

/// What one application is to get at one end of a connection, and got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deliveries {
    /// All bytes that there are for it; `u64::MAX` where that is not known before.
    size: u64,
    bytes: u64,
    last: Option<Time>,
}

impl Deliveries {
    pub(crate) fn of(size: u64) -> Deliveries {
        Deliveries { size, bytes: 0, last: None }
    }

    /// It gets so many bytes more; none are no delivery.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, bytes: u32) {
        if bytes > 0 {
            self.bytes += u64::from(bytes);
            self.last = Some(now);
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// When it got something last.
    pub(crate) fn last(&self) -> Option<Time> {
        self.last
    }
}
