//! Pacing: data goes out no faster than the control asks for.

use bentpipe_units::{Span, Time};

/// When data may go out: a quantum at once, and nothing more before the time that its bytes take at the rate is over.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacing {
    release: Time,
    /// Bytes left of the quantum that goes out now, and since when.
    left: f64,
    began: Time,
    /// What the last segment took, and the length and the rate by which it did.
    took: Span,
    bytes: u32,
    rate: f64,
}

impl Pacing {
    /// When the next quantum may go out.
    pub(super) fn release(&self) -> Time {
        self.release
    }

    /// Whether a segment may go out.
    #[inline]
    pub(super) fn lets_go(&self, now: Time) -> bool {
        now >= self.release || (self.left > 0.0 && now == self.began)
    }

    /// A segment of `bytes` bytes goes out, at a rate of so many bytes a second, `quantum` bytes at once.
    ///
    /// What was not used while nothing was sent is not made up for.
    #[inline]
    pub(super) fn sent(&mut self, now: Time, bytes: u32, rate: f64, quantum: f64) {
        if bytes != self.bytes || rate != self.rate {
            self.took = Span::from_nanos((f64::from(bytes) / rate * 1e9) as u64);
            (self.bytes, self.rate) = (bytes, rate);
        }
        if now >= self.release {
            (self.release, self.began, self.left) = (now, now, quantum);
        }
        self.left -= f64::from(bytes);
        self.release += self.took;
    }
}
