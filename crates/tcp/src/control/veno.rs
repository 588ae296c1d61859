//! TCP Veno (C. P. Fu and S. C. Liew, 2003): `veno`.

use bentpipe_units::Span;
use bentpipe_units::bounded::Number;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ack, Control, ControlFactory, Loss, Response, Resume, Timeout, Window, grow, halve, options};
use crate::slow_start::SlowStart;

options! {
    "veno", "TCP Veno: Reno that takes a loss without a queue for a random one (Fu and Liew 2003)";
    /// Options of the control veno.
    pub struct VenoOptions {
        /// Backlog from which on the network counts as congested, in segments, 0 to 1000.
        #[serde(with = "Number::<0, 1000>")]
        pub beta: f64 = 3.0,
        /// Share that a loss leaves while the backlog is below beta, 0 to 1.
        #[serde(with = "Number::<0, 1>")]
        pub random_left: f64 = 0.8,
        /// Whose details they are.
        pub reading: VenoReading = VenoReading::Paper,
    }
}

/// The paper's algorithm, or Linux's `net/ipv4/tcp_veno.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VenoReading {
    /// The backlog by the smoothed RTT; `BaseRTT` begins anew with each loss; a timeout halves; what is reduced is the flight size.
    Paper,
    /// The backlog is by the newest RTT, and `BaseRTT` begins anew once all was acknowledged. A timeout counts as any loss, and reductions are
    /// shares of cwnd.
    Linux,
}

impl ControlFactory for VenoOptions {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Veno::new(*self))
    }

    fn in_linux(&self) -> bool {
        true
    }
}

/// The control of Veno.
#[derive(Clone, Copy, Debug)]
pub struct Veno {
    options: VenoOptions,
    /// In s; infinite without a sample.
    base: f64,
    /// The RTT that tells the backlog, in s; 0 without a sample.
    rtt: f64,
    /// N, in segments.
    backlog: f64,
    /// Whether the last ACK opened cwnd although there was a backlog.
    opened: bool,
}

impl Veno {
    /// A control that has seen no RTT.
    pub fn new(options: VenoOptions) -> Veno {
        Veno { options, base: f64::INFINITY, rtt: 0.0, backlog: 0.0, opened: false }
    }

    fn linux(&self) -> bool {
        self.options.reading == VenoReading::Linux
    }

    /// "N = (cwnd/BaseRTT − cwnd/RTT) × BaseRTT".
    fn measure(&mut self, w: &Window, rtt: Span) {
        let rtt = rtt.as_secs();
        self.base = self.base.min(rtt);
        let smooth = self.rtt > 0.0 && !self.linux();
        self.rtt = if smooth { self.rtt + (rtt - self.rtt) / 8.0 } else { rtt };
        self.backlog =
            if self.rtt > 0.0 { w.cwnd / w.smss * (1.0 - self.base / self.rtt).max(0.0) } else { 0.0 };
    }

    fn congested(&self) -> bool {
        self.backlog >= self.options.beta
    }

    fn reduce(&mut self, w: &mut Window, flight: u32) {
        let cwnd = w.cwnd;
        let left = if self.congested() { 0.5 } else { self.options.random_left };
        let whole = if self.linux() { cwnd } else { f64::from(flight) };
        w.ssthresh = (whole * left).max(2.0 * w.smss);
        w.cwnd = w.ssthresh.min(cwnd);
        self.forget();
    }

    /// The paper's `BaseRTT` begins anew with a loss, for the share of the bandwidth may have changed.
    fn forget(&mut self) {
        if !self.linux() {
            self.base = f64::INFINITY;
        }
    }
}

/// A mark tells of a queue, and so of no random loss: it is the trait's.
impl Control for Veno {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        if let Some(rtt) = ack.rtt() {
            self.measure(w, rtt);
        }
        grow(self, w, ack, slow_start);
    }

    /// Each ACK opens cwnd by 1/cwnd, and with a backlog of beta or more every other ACK does.
    fn congestion_avoidance(&mut self, w: &mut Window, ack: &Ack<'_>) {
        self.opened = !(self.opened && self.congested());
        if self.opened {
            w.avoid_congestion(ack.counted());
        }
    }

    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.reduce(w, loss.flight);
        Response::Reduced
    }

    /// Linux begins anew once all was acknowledged (`tcp_veno_cwnd_event`).
    fn on_resume(&mut self, _: &mut Window, _: &Resume) {
        if self.linux() {
            *self = Veno::new(self.options);
        }
    }

    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        if !timeout.repeated {
            if self.linux() {
                self.reduce(w, timeout.flight);
            } else {
                halve(w, timeout.flight);
                self.forget();
            }
        }
        w.cwnd = w.smss;
    }
}

#[cfg(test)]
mod tests;
