//! TCP Hybla (C. Caini and R. Firrincieli, 2004): `hybla`.

use bentpipe_units::bounded::{AboveZero, Whole};
use bentpipe_units::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Ack, Control, ControlFactory, Extras, Loss, Mark, Response, Timeout, Window, grow, halve, options,
};
use crate::slow_start::SlowStart;

options! {
    "hybla", "TCP Hybla: growth as over a round trip of 25 ms (Caini and Firrincieli 2004)";
    /// Options of the control hybla.
    pub struct HyblaOptions {
        /// The round trip time of the connection whose rate every other is to reach: RTT0, above 0 s.
        #[serde(with = "AboveZero")]
        pub rtt0: Span = Span::from_millis(25),
        /// Which RTT ρ is made of.
        pub rtt: HyblaRtt = HyblaRtt::Least,
        /// What the handshake's RTT makes of the initial window.
        pub initial_window: HyblaWindow = HyblaWindow::Rho,
        /// Multiply an initial ssthresh by ρ, as the paper has it.
        pub scale_ssthresh: bool = true,
        /// Send cwnd in even steps over an RTT (the paper's packet spacing).
        pub pacing: bool = false,
        /// The largest cwnd, in segments, 2 to 1,048,576: where growth by 2^ρ − 1 ends that finds no ssthresh.
        #[serde(with = "Whole::<2, 1_048_576>")]
        pub max_window: u32 = 65_535,
        /// Whose arithmetic it is.
        pub reading: HyblaReading = HyblaReading::Paper,
    }
}

/// Which RTT ρ is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HyblaRtt {
    /// The smallest sample: the time that a queue adds does not open the window faster.
    Least,
    /// The smoothed RTT, with a gain of 1/8.
    Smoothed,
}

/// What the handshake's RTT makes of the initial window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HyblaWindow {
    /// ρ segments, where one is the reference's, and never less than the profile's; with Linux's arithmetic ρ in whole segments
    /// whatever the profile's is.
    Rho,
    /// ρ times the profile's.
    Scaled,
    /// The profile's.
    Profile,
}

/// The paper's equations, or Linux's `net/ipv4/tcp_hybla.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HyblaReading {
    /// Real numbers, and an ACK counts as the profile has it count.
    Paper,
    /// ρ in eighths and of the least smoothed RTT, growth in 128ths of a segment for each ACK however much it acknowledges, an
    /// initial ssthresh as it is.
    Linux,
}

impl ControlFactory for HyblaOptions {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Hybla::new(*self))
    }

    fn in_linux(&self) -> bool {
        true
    }
}

/// Where 2^ρ is held: no window is larger.
const MOST_DOUBLINGS: u32 = 16;

/// The control of Hybla.
#[derive(Clone, Copy, Debug)]
pub struct Hybla {
    options: HyblaOptions,
    /// max(RTT/RTT0, 1).
    rho: f64,
    /// 2^ρ − 1, of the same ρ: kept, for it is asked for with each ACK.
    doubling: f64,
    /// In s; infinite without a sample.
    least: f64,
    /// In s; 0 without a sample.
    smoothed: f64,
}

impl Hybla {
    /// A control that has seen no RTT: RFC 5681, until it has.
    pub fn new(options: HyblaOptions) -> Hybla {
        Hybla { options, rho: 1.0, doubling: 1.0, least: f64::INFINITY, smoothed: 0.0 }
    }

    fn linux(&self) -> bool {
        self.options.reading == HyblaReading::Linux
    }

    /// "ρ = RTT/RTT0", at least 1, so that no connection is slower than RFC 5681.
    fn sample(&mut self, sample: f64) {
        let first = self.smoothed == 0.0;
        self.smoothed = if first { sample } else { self.smoothed + (sample - self.smoothed) / 8.0 };
        self.least = self.least.min(if self.linux() { self.smoothed } else { sample });
        let rtt = match self.options.rtt {
            HyblaRtt::Least => self.least,
            HyblaRtt::Smoothed => self.smoothed,
        };
        let rho = (rtt / self.options.rtt0.as_secs()).max(1.0);
        if self.linux() {
            let eighths = (8.0 * rho).floor();
            self.rho = eighths / 8.0;
            let whole = self.rho.floor();
            // `hybla_fraction` has 128 × 2^(0/8 … 7/8) in whole numbers.
            let part = (128.0 * libm::exp2(self.rho - whole)).floor() / 128.0;
            self.doubling = libm::exp2(whole.min(f64::from(MOST_DOUBLINGS))) * part - 1.0;
        } else {
            self.rho = rho;
            self.doubling = libm::exp2(rho.min(f64::from(MOST_DOUBLINGS))) - 1.0;
        }
    }

    fn halve(&self, w: &mut Window, flight: u32) {
        let cwnd = w.cwnd;
        halve(w, flight);
        if self.linux() {
            w.ssthresh = (cwnd / 2.0).max(2.0 * w.smss);
            w.cwnd = w.ssthresh;
        }
    }

    /// The largest cwnd, in bytes.
    fn most(&self, w: &Window) -> f64 {
        f64::from(self.options.max_window) * w.smss
    }

    fn pace(&self, w: &mut Window) {
        if self.options.pacing && self.smoothed > 0.0 {
            w.pacing_rate = w.cwnd / self.smoothed;
            w.send_quantum = w.smss;
        }
    }
}

impl Control for Hybla {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        grow(self, w, ack, slow_start);
        self.pace(w);
    }

    fn on_rtt_sample(&mut self, _now: Time, sample: Span) {
        self.sample(sample.as_secs());
    }

    /// W(0) = ρ segments where the reference has one; "ρ γ" for its ssthresh γ.
    fn on_handshake(&mut self, w: &mut Window, _now: Time, _rtt: Span) {
        let first = match self.options.initial_window {
            HyblaWindow::Rho if self.linux() => self.rho.floor() * w.smss,
            HyblaWindow::Rho => w.cwnd.max(self.rho * w.smss),
            HyblaWindow::Scaled => self.rho * w.cwnd,
            HyblaWindow::Profile => w.cwnd,
        };
        w.cwnd = first.min(self.most(w));
        if self.options.scale_ssthresh && !self.linux() {
            w.ssthresh *= self.rho;
        }
        self.pace(w);
    }

    /// "W + 2^ρ − 1" for an ACK, and no further than ssthresh.
    fn slow_start_growth(&mut self, w: &Window, ack: &Ack<'_>) -> f64 {
        let counted = if self.linux() { w.smss } else { w.slow_start_growth(ack.counted()) };
        let room = w.ssthresh.min(self.most(w)) - w.cwnd;
        (self.doubling * counted).min(room).max(0.0)
    }

    /// "W + ρ²/W" for an ACK.
    fn congestion_avoidance(&mut self, w: &mut Window, ack: &Ack<'_>) {
        let square = self.rho * self.rho;
        let growth = if self.linux() {
            let cwnd = (w.cwnd / w.smss).floor();
            let parts = (128.0 * square / cwnd).floor();
            // Below a 128th Linux counts ACKs, as Reno does.
            w.smss * if parts > 0.0 { parts / 128.0 } else { 1.0 / cwnd }
        } else {
            square * w.avoidance_growth(ack.counted())
        };
        w.cwnd = (w.cwnd + growth).min(self.most(w).max(w.cwnd));
    }

    /// RFC 5681; Linux halves cwnd, also where the receiver's window let less be under way.
    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.halve(w, loss.flight);
        Response::Reduced
    }

    fn on_congestion_mark(&mut self, w: &mut Window, mark: &Mark) {
        let cwnd = w.cwnd;
        self.halve(w, mark.flight);
        w.cwnd = w.cwnd.min(cwnd);
    }

    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        if !timeout.repeated {
            self.halve(w, timeout.flight);
        }
        w.cwnd = w.smss;
    }

    fn extras(&mut self) -> Extras<'_> {
        Extras { paces: self.options.pacing, ..Extras::default() }
    }
}

#[cfg(test)]
mod tests;
