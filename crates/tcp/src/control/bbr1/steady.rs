//! The short way of an ACK while nothing goes on but the cycle of `ProbeBW`.

use bentpipe_units::Span;

use super::super::rounds::Bounded;
use super::super::{Ack, Window};
use super::probe_rtt::MIN_RTT_WINDOW;
use super::{BANDWIDTH_ROUNDS, Bbr1, CYCLE, LEAST, Mode, Repair, in_units};

impl Bbr1 {
    /// Whether the next ACK may go the short way, for all that is known before it comes.
    pub(super) fn is_steady(&self) -> bool {
        let whole = self.repair == Repair::None && self.repair_before == Repair::None;
        whole
            && self.mode == Mode::ProbeBw
            && self.filled
            && self.has_paced
            && self.least_rtt > Span::ZERO
            && !(self.conserving || self.timed_out || self.resuming)
            && self.policed.is_idle()
    }

    /// What [`Bbr1::on_any_ack`] does about an ACK that ends no round, tells of no loss, and has no smaller RTT; whether this is
    /// one. If not, nothing has changed.
    #[inline(always)]
    pub(super) fn on_steady_ack(&mut self, w: &mut Window, ack: &Ack<'_>) -> bool {
        let (Some((rtt, sample)), Some(min_rtt)) = (ack.rtt_and_rate(), self.min_rtt) else { return false };
        // No RTT was smaller than `least_rtt`, not even `min_rtt`.
        if rtt < min_rtt
            || sample.interval < self.least_rtt
            || sample.prior_delivered >= self.round_ends
            || ack.newly_lost() > 0
            || ack.now > self.min_rtt_at + MIN_RTT_WINDOW
            || w.pacing_rate != self.burst_rate
        {
            return false;
        }
        let (before, rate) = (self.bandwidth.get(), in_units(sample.rate(), w));
        if !sample.app_limited || rate >= before {
            self.bandwidth.add(self.rounds, BANDWIDTH_ROUNDS, rate);
        }
        let (bandwidth, acked) = (self.bandwidth.get(), f64::from(ack.newly_delivered()));
        self.extra.on_ack(ack.now, acked, bandwidth, w.cwnd, false);
        let over = self.is_phase_over(w, ack);
        if over {
            self.next_in_cycle(ack.now);
            self.pacing_gain = CYCLE[self.cycle];
        }
        if rtt == min_rtt {
            self.min_rtt_at = ack.now;
        }
        self.policed.note(ack);
        if over || bandwidth != before {
            self.set_pacing_rate(w, self.pacing_gain);
            self.find_burst(w);
            w.send_quantum = self.burst * w.smss;
        }
        w.cwnd = (w.cwnd + acked).at_most(self.target(w)).at_least(LEAST * w.smss);
        true
    }
}
