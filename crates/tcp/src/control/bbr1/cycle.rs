//! The cycle of `ProbeBW`.

use bentpipe_units::{Span, Time};

use super::super::rounds::draw;
use super::super::{Ack, Window};
use super::{Bbr1, CYCLE, Mode};

impl Bbr1 {
    pub(super) fn update_cycle(&mut self, w: &Window, ack: &Ack<'_>) {
        if self.mode == Mode::ProbeBw && self.is_phase_over(w, ack) {
            self.next_in_cycle(ack.now);
        }
    }

    /// `bbr_is_next_cycle_phase`.
    #[inline(always)]
    pub(super) fn is_phase_over(&mut self, w: &Window, ack: &Ack<'_>) -> bool {
        let whole = ack.now.since(self.cycle_began) > self.min_rtt.unwrap_or(Span::ZERO);
        if self.pacing_gain == 1.0 { whole } else { self.is_probe_over(w, ack, whole) }
    }

    #[inline(always)]
    fn is_probe_over(&mut self, w: &Window, ack: &Ack<'_>, whole: bool) -> bool {
        // In flight before the ACK.
        let before =
            f64::from(ack.in_flight()) + f64::from(ack.newly_delivered()) + f64::from(ack.newly_lost());
        if self.pacing_gain > 1.0 {
            // Until so much is in flight, unless it does not fit.
            whole && (ack.newly_lost() > 0 || before >= self.inflight(w, self.pacing_gain))
        } else {
            whole || before <= self.inflight(w, 1.0)
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
