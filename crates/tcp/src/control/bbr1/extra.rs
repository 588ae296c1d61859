//! How much more is acknowledged at a time than the rate explains (`bbr_update_ack_aggregation`).

use bentpipe_units::Time;

use super::super::rounds::{Bounded, seconds};

/// `bbr_extra_acked_win_rtts`: each of two windows has so many rounds.
const ROUNDS: u32 = 5;
/// `bbr_extra_acked_max_us`: the most that counts, in s of the rate.
const MOST: f64 = 0.1;

/// The most of five to ten rounds, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extra {
    most: [f64; 2],
    slot: usize,
    rounds: u32,
    began: Time,
    acked: f64,
}

impl Extra {
    /// What is acknowledged counts anew from now on.
    pub(super) fn begin(&mut self, now: Time) {
        self.began = now;
        self.acked = 0.0;
    }

    /// An ACK of `acked` bytes in order or not, at an estimate of `rate` bytes a second.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, now: Time, acked: f64, rate: f64, cwnd: f64, round_start: bool) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.slot = 1 - self.slot;
                self.most[self.slot] = 0.0;
            }
        }
        let mut expected = rate * seconds(now.since(self.began));
        if self.acked <= expected {
            self.begin(now);
            expected = 0.0;
        }
        self.acked += acked;
        let more = (self.acked - expected).at_most(cwnd);
        self.most[self.slot] = self.most[self.slot].at_least(more);
    }

    /// What cwnd has room for beyond the product of rate and delay.
    #[inline]
    pub(super) fn most(&self, rate: f64) -> f64 {
        self.most[0].at_least(self.most[1]).at_most(rate * MOST)
    }
}
