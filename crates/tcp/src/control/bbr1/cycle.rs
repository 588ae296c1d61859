//! The cycle of `ProbeBW`.

use bentpipe_units::{Span, Time};

use super::super::rounds::{Bounded, draw};
use super::super::{Ack, Window};
use super::{Bbr1, CYCLE, Mode};
use crate::sender::Record;

impl Bbr1 {
    pub(super) fn update_cycle(&mut self, w: &Window, ack: &Ack<'_>) {
        if self.mode == Mode::ProbeBw
            && self.is_phase_over(ack.now, ack.record, ack.flight, self.end_of_phase(w))
        {
            self.next_in_cycle(ack.now);
        }
    }

    /// What is in flight at the end of a phase that looks for more, or drains.
    pub(super) fn end_of_phase(&self, w: &Window) -> f64 {
        self.inflight(w, self.pacing_gain.at_least(1.0))
    }

    /// `bbr_is_next_cycle_phase`; `end` is what is in flight then.
    #[inline(always)]
    pub(super) fn is_phase_over(&self, now: Time, record: &Record, flight: u32, end: f64) -> bool {
        let whole = now.since(self.cycle_began) > self.min_rtt.unwrap_or(Span::ZERO);
        // In flight before the ACK.
        let lost = record.newly_lost();
        let before =
            || f64::from(record.in_flight(flight)) + f64::from(record.newly_delivered()) + f64::from(lost);
        if self.pacing_gain == 1.0 {
            whole
        } else if self.pacing_gain > 1.0 {
            // Until so much is in flight, unless it does not fit.
            whole && (lost > 0 || before() >= end)
        } else {
            whole || before() <= end
        }
    }

    pub(super) fn next_in_cycle(&mut self, now: Time) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_began = now;
    }

    /// `bbr_reset_probe_bw_mode`: it begins anywhere in the cycle but where it would drain.
    pub(super) fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        self.cycle = CYCLE.len() - 1 - draw(now, 7) as usize;
        self.next_in_cycle(now);
    }
}
