//! What is to be in flight, found anew only when what it follows from changes.

use super::super::Window;
use super::super::rounds::{ceil, floor};
use super::{Bbr1, FIRST_WINDOW, Mode};

/// A volume, and what it follows from beside the smallest RTT and the burst.
#[derive(Clone, Copy, Debug)]
pub(super) struct Volume {
    rate: f64,
    gain: f64,
    extra: f64,
    probes: bool,
    bytes: f64,
}

/// A volume that is to be found.
pub(super) const UNKNOWN: Volume =
    Volume { rate: f64::NAN, gain: 0.0, extra: 0.0, probes: false, bytes: 0.0 };

impl Volume {
    /// By the bits, without a branch: each ACK asks.
    #[inline(always)]
    fn follows_from(&self, rate: f64, gain: f64, extra: f64, probes: bool) -> bool {
        let pairs = [(self.rate, rate), (self.gain, gain), (self.extra, extra)];
        let other = pairs.iter().fold(0, |other, (a, b)| other | (a.to_bits() ^ b.to_bits()));
        other | u64::from(self.probes ^ probes) == 0
    }
}

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
    #[inline(never)]
    fn find_volume(&self, w: &Window, rate: f64, gain: f64, extra: f64, probes: bool) -> Volume {
        let segments = self.bdp(w, rate, gain) + floor(extra / w.smss);
        let even = ceil((segments + 3.0 * self.burst) / 2.0) * 2.0;
        let segments = if probes { even + 2.0 } else { even };
        Volume { rate, gain, extra, probes, bytes: segments * w.smss }
    }

    /// Whether the cycle is where it looks for more.
    #[inline(always)]
    fn probes(&self) -> bool {
        self.mode == Mode::ProbeBw && self.cycle == 0
    }

    /// `bbr_inflight`: what is in flight at the rate's estimate times `gain`, in bytes.
    #[inline(always)]
    pub(super) fn inflight(&mut self, w: &Window, gain: f64) -> f64 {
        let (rate, probes) = (self.bandwidth.get(), self.probes());
        if !self.known_inflight.follows_from(rate, gain, 0.0, probes) {
            self.known_inflight = self.find_volume(w, rate, gain, 0.0, probes);
        }
        self.known_inflight.bytes
    }

    /// What cwnd grows to, in bytes.
    #[inline(always)]
    pub(super) fn target(&mut self, w: &Window) -> f64 {
        let (rate, gain, probes) = (self.rate(), self.cwnd_gain, self.probes());
        let extra = if self.filled { self.extra.most(rate) } else { 0.0 };
        if !self.known_target.follows_from(rate, gain, extra, probes) {
            self.known_target = self.find_volume(w, rate, gain, extra, probes);
        }
        self.known_target.bytes
    }

    /// The smallest RTT or the burst is another.
    pub(super) fn forget_volumes(&mut self) {
        (self.known_inflight, self.known_target) = (UNKNOWN, UNKNOWN);
    }
}
