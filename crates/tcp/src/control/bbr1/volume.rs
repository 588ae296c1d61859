//! What is to be in flight.

use super::super::Window;
use super::super::rounds::{ceil, floor};
use super::{Bbr1, FIRST_WINDOW, Mode};

impl Bbr1 {
    /// The bandwidth-delay product, in segments.
    fn bdp(&self, w: &Window, rate: f64, gain: f64) -> f64 {
        match self.min_rtt {
            Some(min_rtt) => ceil(rate * min_rtt.as_secs() * gain / w.smss),
            None => FIRST_WINDOW,
        }
    }

    /// `bbr_quantization_budget`, in bytes: the bandwidth-delay product and `extra` bytes, room for what both hosts hold in bursts, and
    /// an even number of segments against delayed ACKs.
    fn volume(&self, w: &Window, rate: f64, gain: f64, extra: f64) -> f64 {
        let segments = self.bdp(w, rate, gain) + floor(extra / w.smss);
        let even = ceil((segments + 3.0 * self.burst) / 2.0) * 2.0;
        // Where the cycle looks for more.
        let probes = self.mode == Mode::ProbeBw && self.cycle == 0;
        (if probes { even + 2.0 } else { even }) * w.smss
    }

    /// `bbr_inflight`: what is in flight at the rate's estimate times `gain`, in bytes.
    pub(super) fn inflight(&self, w: &Window, gain: f64) -> f64 {
        self.volume(w, self.bandwidth.get(), gain, 0.0)
    }

    /// What cwnd grows to, in bytes.
    pub(super) fn target(&self, w: &Window) -> f64 {
        let rate = self.rate();
        let extra = if self.filled { self.extra.most(rate) } else { 0.0 };
        self.volume(w, rate, self.cwnd_gain, extra)
    }
}
