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
    /// Whether what comes late takes less time, and by how much at most it does yet; as in Linux, which does not pace the first segments.
    makes_up: bool,
    credit: Span,
    /// Whether it holds back what the window may have room for.
    pub(super) holds_back: bool,
}

/// "Original sch_fq does not pace first 10 MSS".
const UNPACED: u64 = 10;

impl Pacing {
    /// Pacing that has let nothing go; whether it `makes_up` for what comes late, as Linux does.
    pub(super) fn new(makes_up: bool) -> Pacing {
        Pacing { makes_up, ..Pacing::default() }
    }

    /// When the next quantum may go out.
    pub(super) fn release(&self) -> Time {
        self.release
    }

    /// Whether a segment may go out.
    #[inline]
    pub(super) fn lets_go(&self, now: Time) -> bool {
        now >= self.release || (self.left > 0.0 && now == self.began)
    }

    /// An ACK goes out alone: what comes behind it is late from here on (`__tcp_transmit_skb`).
    pub(super) fn sent_ack(&mut self, now: Time) {
        if self.makes_up {
            self.release = self.release.max(now);
        }
    }

    /// A segment of `bytes` bytes goes out, at a rate of so many bytes a second, `quantum` bytes at once.
    ///
    /// What was not used while nothing was sent is not made up for, but that the time which a late segment takes may be shorter by as
    /// much as it was late, at most by half (`tcp_update_skb_after_send`). It is the segment of this `number`.
    #[inline(always)]
    pub(super) fn sent(&mut self, now: Time, bytes: u32, rate: f64, quantum: f64, number: u64) {
        if self.makes_up {
            return self.sent_late(now, bytes, rate, quantum, number);
        }
        self.take(now, bytes, rate, quantum);
        self.release += self.took;
    }

    #[inline(never)]
    fn sent_late(&mut self, now: Time, bytes: u32, rate: f64, quantum: f64, number: u64) {
        if number < UNPACED {
            (self.release, self.began) = (now, now);
            return;
        }
        if now >= self.release {
            self.credit = now.since(self.release);
        }
        self.take(now, bytes, rate, quantum);
        let earlier = self.credit.min(self.took / 2);
        self.credit = self.credit - earlier;
        self.release += self.took - earlier;
    }

    /// Takes a segment from the quantum, or from a new quantum where the last is used up.
    #[inline(always)]
    fn take(&mut self, now: Time, bytes: u32, rate: f64, quantum: f64) {
        if bytes != self.bytes || rate != self.rate {
            self.took = Span::from_nanos((f64::from(bytes) / rate * 1e9) as u64);
            (self.bytes, self.rate) = (bytes, rate);
        }
        if now >= self.release {
            (self.release, self.began, self.left) = (now, now, quantum);
        }
        self.left -= f64::from(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_late_takes_less_time_by_as_much_and_at_most_by_half() {
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        // A segment takes 10 ms, two go at once; the first are late by 100 ms.
        let after = |makes_up: bool, late: u64, segments: u32| {
            let mut pacing = Pacing::new(makes_up);
            let first = 100;
            for _ in 0..2 {
                pacing.sent(at(first), 1000, 100_000.0, 2000.0, 10);
            }
            let release = pacing.release();
            let second = release + Span::from_millis(late);
            for _ in 0..segments {
                pacing.sent(second, 1000, 100_000.0, 2000.0, 12);
            }
            (release.since(at(first)), pacing.release().since(second))
        };
        let ms = Span::from_millis;
        assert_eq!(after(false, 50, 2), (ms(20), ms(20)));
        assert_eq!(after(true, 0, 2), (ms(10), ms(20)));
        assert_eq!(after(true, 3, 2), (ms(10), ms(17)));
        assert_eq!(after(true, 50, 2), (ms(10), ms(10)));
        assert_eq!(after(true, 50, 1), (ms(10), ms(5)));
    }

    #[test]
    fn behind_an_ack_that_goes_alone_nothing_is_late() {
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let mut pacing = Pacing::new(true);
        pacing.sent(at(0), 1000, 100_000.0, 1000.0, 10);
        pacing.sent_ack(at(50));
        pacing.sent(at(50), 1000, 100_000.0, 1000.0, 11);
        assert_eq!(pacing.release(), at(60));
        // It lets nothing go earlier.
        pacing.sent_ack(at(52));
        assert_eq!(pacing.release(), at(60));
    }
}
