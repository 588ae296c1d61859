//! The short way of an ACK while nothing goes on but the cycle of `ProbeBW`.

use bentpipe_units::{Span, Time};

use super::super::Window;
use super::super::rounds::Bounded;
use super::probe_rtt::MIN_RTT_WINDOW;
use super::{Bbr1, CYCLE, LEAST, Mode, Repair};
use crate::sender::Record;

/// What follows from rate, RTT and the place in the cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// What is in flight when the phase ends.
    end: f64,
    /// What cwnd grows to.
    target: f64,
}

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
    pub(super) fn on_steady_ack(&mut self, w: &mut Window, now: Time, record: &Record, flight: u32) -> bool {
        let (Some((rtt, sample)), Some(min_rtt)) = (record.rtt_and_rate(now), self.min_rtt) else {
            return false;
        };
        // No RTT was smaller than `least_rtt`, not even `min_rtt`.
        if rtt < min_rtt
            || sample.interval < self.least_rtt
            || sample.prior_delivered >= self.round_ends
            || record.newly_lost() > 0
            || now > self.min_rtt_at + MIN_RTT_WINDOW
            || w.pacing_rate != self.burst_rate
        {
            return false;
        }
        let before = self.bandwidth.get();
        self.add_rate(w, sample.rate(), sample.app_limited);
        let (bandwidth, acked) = (self.bandwidth.get(), f64::from(record.newly_delivered()));
        let more = self.extra.on_ack(now, acked, bandwidth, w.cwnd, false);
        let known = self.bounds.filter(|_| !more && bandwidth == before);
        let mut bounds = known.unwrap_or_else(|| self.find_bounds(w));
        let over = self.is_phase_over(now, record, flight, bounds.end);
        if over {
            self.next_in_cycle(now);
            self.pacing_gain = CYCLE[self.cycle];
        }
        if rtt == min_rtt {
            self.min_rtt_at = now;
        }
        self.policed.note(now, record);
        if over || bandwidth != before {
            self.set_pacing_rate(w, self.pacing_gain);
            self.find_burst(w);
            w.send_quantum = self.burst * w.smss;
            bounds = self.find_bounds(w);
        }
        w.cwnd = (w.cwnd + acked).at_most(bounds.target).at_least(LEAST * w.smss);
        true
    }

    #[cold]
    #[inline(never)]
    fn find_bounds(&mut self, w: &Window) -> Bounds {
        let bounds = Bounds { end: self.end_of_phase(w), target: self.target(w) };
        self.bounds = Some(bounds);
        bounds
    }
}
