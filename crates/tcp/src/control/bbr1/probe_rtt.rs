//! The smallest RTT, and `ProbeRTT`, which finds it anew.

use bentpipe_units::{Span, Time};

use super::super::{Ack, Window};
use super::{Bbr1, LEAST, Mode};
use crate::RateSample;

/// `bbr_min_rtt_win_sec`.
pub(super) const MIN_RTT_WINDOW: Span = Span::from_millis(10_000);
/// `bbr_probe_rtt_mode_ms`.
const PROBE_RTT: Span = Span::from_millis(200);

impl Bbr1 {
    /// `bbr_update_min_rtt`.
    pub(super) fn update_min_rtt(&mut self, w: &mut Window, ack: &Ack<'_>, sample: Option<&RateSample>) {
        let expired = ack.now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = ack.rtt_or_timestamp() {
            // Linux: an ACK of a lone short segment may have been delayed.
            let alone = sample.is_some_and(|sample| sample.bytes == u64::from(ack.newly_delivered()));
            let delayed = alone && f64::from(ack.newly_delivered()) < w.smss;
            // Since Linux 5.10 an RTT that is no smaller does not put ProbeRTT off.
            if self.min_rtt.is_none_or(|least| rtt < least) || (expired && !delayed) {
                self.min_rtt = Some(rtt);
                self.min_rtt_at = ack.now;
            }
        }
        if expired && !self.resuming && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(w);
            self.probe_rtt_until = None;
        }
        if self.mode == Mode::ProbeRtt {
            match self.probe_rtt_until {
                None if f64::from(ack.in_flight()) <= LEAST * w.smss => {
                    self.probe_rtt_until = Some(ack.now + PROBE_RTT);
                    self.probe_rtt_round_done = false;
                    self.round_ends = ack.delivered();
                }
                None => {}
                Some(_) => {
                    self.probe_rtt_round_done |= self.round_start;
                    if self.probe_rtt_round_done {
                        self.check_probe_rtt_done(w, ack.now);
                    }
                }
            }
        }
        if ack.newly_delivered() > 0 {
            self.resuming = false;
        }
    }

    /// `bbr_check_probe_rtt_done`.
    pub(super) fn check_probe_rtt_done(&mut self, w: &mut Window, now: Time) {
        if self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.min_rtt_at = now;
        w.cwnd = w.cwnd.max(self.prior_cwnd);
        match self.filled {
            true => self.enter_probe_bw(now),
            false => self.mode = Mode::Startup,
        }
    }
}
