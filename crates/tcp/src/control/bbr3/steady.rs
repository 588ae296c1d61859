//! The short way of an ACK while nothing goes on but a phase of `ProbeBW`.

use bentpipe_units::{Span, Time};

use super::super::Window;
use super::super::rounds::{Bounded, number};
use super::probe_rtt::{INTERVAL, MIN_RTT_WINDOW};
use super::{BANDWIDTH_CYCLES, Bbr3, LEAST, Limits, Repair, Sample};
use crate::sender::Record;

impl Bbr3 {
    /// Until when an ACK may go the short way, for all that is known before it comes.
    pub(super) fn find_steadiness(&mut self, w: &Window) {
        let steady = self.probes_bw()
            && self.full_bw_reached
            && self.repair == Repair::None
            && self.has_paced
            && !(self.resuming || self.probe_rtt_expired)
            && self.min_rtt.is_some()
            && self.least_rtt.is_some_and(|least| least > Span::ZERO);
        if steady {
            self.steady_until = (self.probe_rtt_min_at + INTERVAL).min(self.min_rtt_at + MIN_RTT_WINDOW);
            self.find_limits(w);
        }
    }

    /// What [`Bbr3::on_any_ack`] does about an ACK that ends no round, tells of no loss, and has no smaller RTT; whether this is
    /// one. If not, nothing has changed.
    #[inline(always)]
    pub(super) fn on_steady_ack(&mut self, w: &mut Window, now: Time, record: &Record, flight: u32) -> bool {
        let Some((rtt, sample)) = record.rtt_and_rate(now) else { return false };
        let (Some(least), Some(probe_rtt_min)) = (self.least_rtt, self.probe_rtt_min) else { return false };
        // No RTT was smaller than `least_rtt`, not even `probe_rtt_min`, which `min_rtt` does not exceed.
        if rtt < probe_rtt_min
            || sample.interval < least
            || sample.prior_delivered >= self.round_ends
            || sample.prior_delivered >= self.loss_round_ends
            || record.newly_lost() > 0
            || !record.losses().is_empty()
            || w.pacing_rate != self.quantum_rate
        {
            return false;
        }
        let rs = Sample {
            rate: sample.rate(),
            delivered: number(sample.bytes),
            prior_delivered: sample.prior_delivered,
            app_limited: sample.app_limited,
            tx_in_flight: f64::from(sample.in_flight),
            lost: number(sample.lost),
            rtt: Some(rtt),
            newly_acked: f64::from(record.newly_delivered()),
            in_flight: f64::from(record.in_flight(flight)),
        };
        self.delivered = record.delivered();
        self.cwnd_limited[0] |= rs.in_flight + rs.newly_acked + w.smss > w.cwnd;
        self.bw_latest = self.bw_latest.at_least(rs.rate);
        self.inflight_latest = self.inflight_latest.at_least(rs.delivered);
        if rs.rate >= self.max_bw.get() || !rs.app_limited {
            self.max_bw.add(self.cycles, BANDWIDTH_CYCLES, rs.rate);
        }
        let before = (self.state, self.bw, self.extra.get(), self.inflight_longterm);
        self.update_extra(w, now, &rs);
        self.update_cycle(w, now, &rs, false, self.limits.reno_rounds);
        self.bound_bw();
        if before != (self.state, self.bw, self.extra.get(), self.inflight_longterm) {
            self.set_pacing_rate(w, self.gains().0);
            self.set_quantum(w);
            self.find_limits(w);
        }
        w.cwnd = (w.cwnd + rs.newly_acked).at_most(self.limits.cwnd).at_least(LEAST * w.smss);
        true
    }

    #[cold]
    #[inline(never)]
    fn find_limits(&mut self, w: &Window) {
        let cwnd = self.max_inflight(w).at_most(self.bound(w));
        self.limits = Limits { cwnd, reno_rounds: self.reno_rounds(w) };
    }
}
