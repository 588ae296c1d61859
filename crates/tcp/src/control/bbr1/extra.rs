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
    newest: f64,
    older: f64,
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

    /// An ACK of `acked` bytes in order or not, at an estimate of `rate` bytes a second; whether that is the most of late.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, now: Time, acked: f64, rate: f64, cwnd: f64, round_start: bool) -> bool {
        if round_start {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.older = std::mem::take(&mut self.newest);
            }
        }
        let mut expected = rate * seconds(now.since(self.began));
        if self.acked <= expected {
            self.begin(now);
            expected = 0.0;
        }
        self.acked += acked;
        let more = (self.acked - expected).at_most(cwnd);
        let grows = more > self.newest;
        if grows {
            self.newest = more;
        }
        grows
    }

    /// What cwnd has room for beyond the product of rate and delay.
    pub(super) fn most(&self, rate: f64) -> f64 {
        self.newest.at_least(self.older).at_most(rate * MOST)
    }
}
