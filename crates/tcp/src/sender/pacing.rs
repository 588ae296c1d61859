//! Pacing: data goes out no faster than the control asks for.

use bentpipe_units::{Span, Time};

/// When the next segment may go out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacing {
    release: Time,
}

impl Pacing {
    /// When the next segment may go out.
    pub(super) fn release(&self) -> Time {
        self.release
    }

    /// A segment of `bytes` bytes goes out, at a rate of so many bytes a second.
    ///
    /// What was not used while nothing was sent is not made up for.
    pub(super) fn sent(&mut self, now: Time, bytes: u32, rate: f64) {
        let from = if self.release > now { self.release } else { now };
        let nanos = f64::from(bytes) / rate * 1e9;
        self.release = from + Span::from_nanos(nanos as u64);
    }
}
