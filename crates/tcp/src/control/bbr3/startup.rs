//! "Startup" and "Drain".

use bentpipe_units::Time;

use super::super::Window;
use super::{Bbr3, DRAIN_ROUNDS, FULL_AFTER, GROWTH, Sample, State};

impl Bbr3 {
    /// `ResetFullBW`, with a baseline.
    pub(super) fn reset_full(&mut self, baseline: f64) {
        self.full_bw = baseline;
        self.full_bw_rounds = 0;
        self.full_bw_now = false;
    }

    /// `CheckFullBWReached`.
    pub(super) fn check_full(&mut self, rs: &Sample) {
        if self.full_bw_now || !self.round_start || rs.app_limited {
            return;
        }
        if rs.rate >= self.full_bw * GROWTH {
            return self.reset_full(rs.rate);
        }
        self.full_bw_rounds += 1;
        self.full_bw_now = self.full_bw_rounds >= FULL_AFTER;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self, w: &Window, rs: &Sample) {
        self.check_startup_high_loss(w, rs);
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_began = self.rounds;
        }
    }

    /// `CheckDrainDone`.
    pub(super) fn check_drain_done(&mut self, w: &Window, now: Time, rs: &Sample) {
        let late = self.rounds > self.drain_began + DRAIN_ROUNDS;
        if self.state == State::Drain && (rs.in_flight <= self.inflight(w, 1.0) || late) {
            self.start_down(now);
        }
    }
}
