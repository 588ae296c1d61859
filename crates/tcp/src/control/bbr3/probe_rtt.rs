//! "ProbeRTT" and the smallest RTT.

use bentpipe_units::{Span, Time};

use super::super::Window;
use super::probe_bw::AckPhase;
use super::{Bbr3, LEAST, PROBE_RTT_CWND_GAIN, Sample, State};

/// `MinRTTFilterLen`.
pub(super) const MIN_RTT_WINDOW: Span = Span::from_millis(10_000);
/// `ProbeRTTInterval`.
pub(super) const INTERVAL: Span = Span::from_millis(5000);
/// `ProbeRTTDuration`.
const DURATION: Span = Span::from_millis(200);

impl Bbr3 {
    /// `UpdateMinRTT`.
    pub(super) fn update_min_rtt(&mut self, now: Time, rs: &Sample) {
        self.probe_rtt_expired = now > self.probe_rtt_min_at + INTERVAL;
        if let Some(rtt) = rs.rtt
            && (self.probe_rtt_expired || self.probe_rtt_min.is_none_or(|least| rtt < least))
        {
            self.probe_rtt_min = Some(rtt);
            self.probe_rtt_min_at = now;
        }
        let expired = now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = self.probe_rtt_min
            && (expired || self.min_rtt.is_none_or(|least| rtt < least))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = self.probe_rtt_min_at;
        }
    }

    /// `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, w: &mut Window, now: Time, rs: &Sample) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.resuming {
            self.state = State::ProbeRtt;
            self.save_cwnd(w);
            self.probe_rtt_until = None;
            self.ack_phase = AckPhase::Stopping;
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.go_on_with_probe_rtt(w, now, rs);
        }
        if rs.delivered > 0.0 {
            self.resuming = false;
        }
    }

    /// `HandleProbeRTT`.
    fn go_on_with_probe_rtt(&mut self, w: &mut Window, now: Time, rs: &Sample) {
        if self.probe_rtt_until.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(w, now);
            }
        } else if rs.in_flight <= self.probe_rtt_cwnd(w) {
            self.probe_rtt_until = Some(now + DURATION);
            self.probe_rtt_round_done = false;
            self.start_round();
        }
    }

    /// `CheckProbeRTTDone` and `ExitProbeRTT`.
    pub(super) fn check_probe_rtt_done(&mut self, w: &mut Window, now: Time) {
        if self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.probe_rtt_min_at = now;
        self.restore_cwnd(w);
        self.reset_short_term();
        if self.full_bw_reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    /// `ProbeRTTCwnd`.
    pub(super) fn probe_rtt_cwnd(&self, w: &Window) -> f64 {
        self.bdp(PROBE_RTT_CWND_GAIN).max(LEAST * w.smss)
    }
}
