//! Linux's long-term rate (`bbr_lt_bw_sampling`): what a policer lets through.

use bentpipe_units::Time;

use super::super::Ack;
use crate::sender::{RateSample, Record};

/// `bbr_lt_intvl_min_rtts`: an interval has at least so many rounds, and at most four times as many.
const LEAST_ROUNDS: u32 = 4;
/// `bbr_lt_loss_thresh`, 50 in 256ths: the share lost of an interval that a policer explains.
const LOSSY: f64 = 50.0 / 256.0;
/// `bbr_lt_bw_ratio`, `bbr_lt_bw_diff`: two intervals are alike within an eighth, or within 4 kbit/s.
const ALIKE: f64 = 1.0 / 8.0;
const ALIKE_RATE: f64 = 500.0;
/// `bbr_lt_bw_max_rtts`: the rate holds for so many rounds.
const HOLDS: u32 = 48;

/// Where things stood.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    at: Time,
    delivered: u64,
    lost: u64,
}

/// Finds the rate of a policer: two intervals in turn that lost a lot and delivered alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policed {
    enabled: bool,
    /// By the intervals so far, in bytes a second.
    rate: f64,
    in_use: bool,
    sampling: bool,
    rounds: u32,
    start: Count,
    /// At the last ACK that delivered anything.
    newest: Count,
}

impl Policed {
    pub(super) fn new(enabled: bool) -> Policed {
        let (start, newest) = (Count::default(), Count::default());
        Policed { enabled, rate: 0.0, in_use: false, sampling: false, rounds: 0, start, newest }
    }

    /// The rate to go by, where a policer was found.
    #[inline]
    pub(super) fn rate(&self) -> Option<f64> {
        self.in_use.then_some(self.rate)
    }

    /// Whether there is nothing to look at before the next loss.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        !self.sampling && !self.in_use
    }

    /// Begins anew, as if nothing was known.
    pub(super) fn reset(&mut self) {
        *self = Policed { newest: self.newest, start: self.newest, ..Policed::new(self.enabled) };
    }

    /// An ACK is through.
    #[inline]
    pub(super) fn note(&mut self, now: Time, record: &Record) {
        if record.newly_delivered() > 0 {
            self.newest = Count { at: now, delivered: record.delivered(), lost: record.lost() };
        }
    }

    /// The timer had expired before this ACK: it ends a round, with a loss.
    pub(super) fn on_timeout(&mut self, ack: &Ack<'_>, probes: bool) -> bool {
        let lost = ack.lost() - u64::from(ack.newly_lost());
        self.sample(Count { lost, ..self.newest }, false, true, true, probes)
    }

    /// An ACK with a rate; returns whether the rate has held for as long as it may, so that the cycle of `ProbeBW` starts again.
    #[inline]
    pub(super) fn on_sample(
        &mut self,
        ack: &Ack<'_>,
        sample: &RateSample,
        round_start: bool,
        probes: bool,
    ) -> bool {
        let loses = ack.newly_lost() > 0;
        if !self.enabled || !(self.sampling || self.in_use || loses) {
            return false;
        }
        let count = Count { at: ack.now, delivered: ack.delivered(), lost: ack.lost() };
        self.sample(count, sample.app_limited, round_start, loses, probes)
    }

    fn sample(&mut self, now: Count, app_limited: bool, round: bool, loses: bool, probes: bool) -> bool {
        if !self.enabled {
            return false;
        }
        if self.in_use {
            self.rounds += u32::from(probes && round);
            if self.rounds >= HOLDS && probes && round {
                self.newest = now;
                self.reset();
                return true;
            }
            return false;
        }
        if !self.sampling {
            // The first loss tells that the tokens of before are spent.
            if !loses {
                return false;
            }
            self.sampling = true;
            self.begin(now);
        }
        if app_limited {
            self.newest = now;
            self.reset();
            return false;
        }
        self.rounds += u32::from(round);
        if self.rounds < LEAST_ROUNDS {
            return false;
        }
        if self.rounds > 4 * LEAST_ROUNDS {
            self.newest = now;
            self.reset();
            return false;
        }
        let delivered = (now.delivered - self.start.delivered) as f64;
        let lost = (now.lost - self.start.lost) as f64;
        let seconds = now.at.since(self.start.at).as_secs();
        if loses && delivered > 0.0 && lost >= LOSSY * delivered && seconds >= 1e-3 {
            self.end(now, delivered / seconds);
        }
        false
    }

    fn begin(&mut self, now: Count) {
        self.start = now;
        self.rounds = 0;
    }

    fn end(&mut self, now: Count, rate: f64) {
        let apart = (rate - self.rate).abs();
        if self.rate > 0.0 && (apart <= ALIKE * self.rate || apart <= ALIKE_RATE) {
            self.rate = f64::midpoint(rate, self.rate);
            self.in_use = true;
            self.rounds = 0;
            return;
        }
        self.rate = rate;
        self.begin(now);
    }
}

#[cfg(test)]
mod tests {
    use bentpipe_units::Span;

    use super::*;

    fn count(s: u64, delivered: u64, lost: u64) -> Count {
        Count { at: Time::ZERO + Span::from_millis(1000 * s), delivered, lost }
    }

    /// An interval of six rounds, from loss to loss, a second each.
    fn interval(policed: &mut Policed, from: Count, delivered: u64, lost: u64) -> Count {
        let mut now = from;
        for round in 0..6 {
            now = Count {
                at: from.at + Span::from_millis(1000 * round),
                delivered: from.delivered + delivered * round / 5,
                lost: from.lost + lost * round / 5,
            };
            policed.sample(now, false, true, round == 0 || round == 5, true);
        }
        now
    }

    #[test]
    fn an_interval_that_lost_a_fifth_gives_a_rate_and_two_alike_are_gone_by() {
        let mut policed = Policed::new(true);
        interval(&mut policed, count(0, 0, 0), 5_000_000, 900_000);
        assert_eq!(policed.rate, 0.0, "50 of 256 are more than 9 of 50");
        let mut policed = Policed::new(true);
        let end = interval(&mut policed, count(0, 0, 0), 5_000_000, 1_000_000);
        assert_eq!((policed.rate, policed.rate()), (1e6, None));
        let mut other = policed;
        interval(&mut other, end, 6_000_000, 1_500_000);
        assert_eq!((other.rate, other.rate()), (1.2e6, None), "more than an eighth apart");
        interval(&mut policed, end, 5_500_000, 1_500_000);
        assert_eq!(policed.rate(), Some(1.05e6));
    }

    #[test]
    fn an_interval_of_more_than_16_rounds_is_given_up() {
        let mut policed = Policed::new(true);
        policed.sample(count(0, 0, 0), false, true, true, true);
        for round in 1..16 {
            policed.sample(count(round, round * 1000, 0), false, true, false, true);
            assert!(!policed.is_idle(), "{round}");
        }
        policed.sample(count(16, 16_000, 0), false, true, false, true);
        assert!(policed.is_idle());
    }
}
