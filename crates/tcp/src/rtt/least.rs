//! The smallest round trip of the last minutes.

use bentpipe_units::{Span, Time};

/// How long a sample counts (`tcp_min_rtt_wlen`).
const WINDOW: Span = Span::from_millis(300_000);

/// What is larger than any sample, before there is one.
const NONE: Span = Span::from_nanos(u64::MAX);

/// A minimum over a window of time, by the best sample, the best since and the best since that one (`lib/win_minmax.c`).
///
/// RFC 8985 section 6.2 step 1: "The sender SHOULD track a windowed min-filtered estimate of recent RTT measurements that can adapt
/// when migrating to significantly longer paths rather than tracking a simple global minimum of all RTT measurements."
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    best: [(Time, Span); 3],
    /// A sample that is larger than the second means nothing before this, unless it is smaller than the third.
    renews: Time,
}

impl Default for Least {
    fn default() -> Least {
        Least { best: [(Time::ZERO, NONE); 3], renews: Time::ZERO }
    }
}

impl Least {
    #[inline]
    pub(super) fn get(&self) -> Option<Span> {
        (self.best[0].1 != NONE).then_some(self.best[0].1)
    }

    #[inline(always)]
    pub(super) fn add(&mut self, now: Time, sample: Span) {
        let [best, second, third] = self.best;
        if sample > third.1 && now < self.renews {
            return;
        }
        if sample <= second.1 && now.since(best.0) <= WINDOW {
            (self.best[1], self.best[2]) = ((now, sample), (now, sample));
            if sample <= best.1 {
                (self.best[0], self.renews) = ((now, sample), now + WINDOW / 4);
            } else {
                self.renews = self.renews.min(best.0 + WINDOW / 2);
            }
        } else {
            self.add_other(now, sample);
        }
    }

    #[inline(never)]
    fn add_other(&mut self, now: Time, sample: Span) {
        if sample <= self.best[0].1 || now.since(self.best[2].0) > WINDOW {
            self.best = [(now, sample); 3];
        } else {
            if sample <= self.best[1].1 {
                self.best[1] = (now, sample);
            }
            if sample <= self.best[2].1 {
                self.best[2] = (now, sample);
            }
            self.forget(now, sample);
        }
        let [best, second, third] = self.best.map(|(at, _)| at);
        let part = if second == best { WINDOW / 4 } else { WINDOW / if third == second { 2 } else { 1 } };
        self.renews = best + part;
    }

    /// The best goes when it is too old, and the next are renewed as the window goes by.
    fn forget(&mut self, now: Time, sample: Span) {
        let age = now.since(self.best[0].0);
        if age > WINDOW {
            for _ in 0..2 {
                if now.since(self.best[0].0) > WINDOW {
                    self.best = [self.best[1], self.best[2], (now, sample)];
                }
            }
        } else if self.best[1].0 == self.best[0].0 && age > WINDOW / 4 {
            (self.best[1], self.best[2]) = ((now, sample), (now, sample));
        } else if self.best[2].0 == self.best[1].0 && age > WINDOW / 2 {
            self.best[2] = (now, sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_that_became_longer_is_the_smallest_after_five_minutes() {
        let mut least = Least::default();
        let at = |secs: u64| Time::from_nanos(secs * 1_000_000_000);
        least.add(at(0), Span::from_millis(100));
        for secs in 1..=300 {
            least.add(at(secs), Span::from_millis(500));
        }
        assert_eq!(least.get(), Some(Span::from_millis(100)));
        least.add(at(301), Span::from_millis(500));
        assert_eq!(least.get(), Some(Span::from_millis(500)));
    }
}
