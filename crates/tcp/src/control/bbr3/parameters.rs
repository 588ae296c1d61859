//! "Updating Control Parameters": pacing rate, send quantum, cwnd.

use bentpipe_units::Span;

use super::super::Window;
use super::super::rounds::{Bounded, floor, seconds};
use super::{Bbr3, LARGEST_QUANTUM, LEAST, MARGIN, QUANTUM_TIME, Repair, STARTUP_PACING_GAIN, Sample, State};

impl Bbr3 {
    /// `BDPMultiple`; before there is an RTT, the initial window.
    pub(super) fn bdp(&self, gain: f64) -> f64 {
        self.min_rtt.map_or(self.initial_cwnd, |min_rtt| gain * self.bw * seconds(min_rtt))
    }

    /// `QuantizationBudget`.
    pub(super) fn with_budget(&self, w: &Window, inflight: f64) -> f64 {
        let inflight = inflight.at_least(3.0 * w.send_quantum).at_least(LEAST * w.smss);
        if self.state == State::Up { inflight + 2.0 * w.smss } else { inflight }
    }

    /// `Inflight`.
    pub(super) fn inflight(&self, w: &Window, gain: f64) -> f64 {
        self.with_budget(w, self.bdp(gain))
    }

    /// `TargetInflight`.
    pub(super) fn target_inflight(&self, w: &Window) -> f64 {
        self.bdp(1.0).at_most(w.cwnd)
    }

    /// `InitPacingRate`.
    pub(super) fn init_pacing(&mut self, w: &mut Window, rtt: Span) {
        self.has_paced = true;
        w.pacing_rate = STARTUP_PACING_GAIN * w.cwnd / rtt.as_secs().max(1e-6);
        self.set_quantum(w);
    }

    /// `SetPacingRateWithGain`.
    #[inline]
    pub(super) fn set_pacing_rate(&mut self, w: &mut Window, gain: f64) {
        let rate = gain * self.bw * MARGIN;
        if rate > 0.0 && (self.full_bw_reached || rate > w.pacing_rate) {
            w.pacing_rate = rate;
        }
    }

    /// `SetSendQuantum`, in whole segments.
    #[inline]
    pub(super) fn set_quantum(&mut self, w: &mut Window) {
        if w.pacing_rate != self.quantum_rate {
            self.set_new_quantum(w);
        }
    }

    fn set_new_quantum(&mut self, w: &mut Window) {
        self.quantum_rate = w.pacing_rate;
        let quantum = (w.pacing_rate * QUANTUM_TIME).at_most(LARGEST_QUANTUM).at_least(2.0 * w.smss);
        w.send_quantum = floor(quantum / w.smss) * w.smss;
    }

    /// `UpdateMaxInflight`.
    pub(super) fn max_inflight(&self, w: &Window) -> f64 {
        self.with_budget(w, self.bdp(self.gains().1) + self.extra.get())
    }

    /// `SetCwnd`.
    pub(super) fn set_cwnd(&mut self, w: &mut Window, rs: &Sample) {
        let max_inflight = self.max_inflight(w);
        if self.full_bw_reached {
            w.cwnd = (w.cwnd + rs.newly_acked).at_most(max_inflight);
        } else if w.cwnd < max_inflight || (self.delivered as f64) < self.initial_cwnd {
            w.cwnd += rs.newly_acked;
        }
        w.cwnd = w.cwnd.at_least(LEAST * w.smss);
        if self.state == State::ProbeRtt {
            w.cwnd = w.cwnd.at_most(self.probe_rtt_cwnd(w));
        }
        w.cwnd = w.cwnd.at_most(self.bound(w));
    }

    /// What cwnd is bounded by, of `BoundCwndForModel`.
    pub(super) fn bound(&self, w: &Window) -> f64 {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(w),
            State::Startup | State::Drain => f64::INFINITY,
        };
        cap.at_most(self.inflight_shortterm).at_least(LEAST * w.smss)
    }

    /// `SaveCwnd`.
    pub(super) fn save_cwnd(&mut self, w: &Window) {
        let intact = self.repair == Repair::None && self.state != State::ProbeRtt;
        self.prior_cwnd = if intact { w.cwnd } else { self.prior_cwnd.at_least(w.cwnd) };
    }

    /// `RestoreCwnd`.
    pub(super) fn restore_cwnd(&self, w: &mut Window) {
        w.cwnd = w.cwnd.at_least(self.prior_cwnd);
    }
}
