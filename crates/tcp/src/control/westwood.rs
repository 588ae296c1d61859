//! TCP Westwood+ (S. Mascolo and others, 2001; L. A. Grieco and S. Mascolo, 2004): `westwood`.

use bentpipe_units::bounded::Number;
use bentpipe_units::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Ack, Control, ControlFactory, Exit, Loss, Mark, Response, Timeout, Window, grow, halve, options,
};
use crate::slow_start::SlowStart;
use linux::Estimate;

options! {
    "westwood", "TCP Westwood+: a loss leaves the estimated bandwidth times the least RTT (Grieco and Mascolo 2004)", also ["westwood+"];
    /// Options of the control westwood.
    pub struct WestwoodOptions {
        /// Share that the estimate of the bandwidth keeps of itself with each sample, 0 to 1.
        #[serde(with = "Number::<0, 1>")]
        pub filter: f64 = 0.875,
        /// The shortest time that gives a sample of the bandwidth; else an RTT does.
        pub least_interval: Span = Span::from_millis(50),
        /// Whose reaction to a loss and whose filter it is.
        pub reading: WestwoodReading = WestwoodReading::Paper,
    }
}

/// The paper's algorithm, or Linux's `net/ipv4/tcp_westwood.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WestwoodReading {
    /// One filter; a loss leaves BWE × RTTmin at once.
    Paper,
    /// Two filters, one behind the other, in whole bytes a tick; a loss halves cwnd, and the end of the recovery leaves BWE × RTTmin; a timeout begins
    /// RTTmin anew.
    Linux,
}

impl ControlFactory for WestwoodOptions {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Westwood::new(*self))
    }

    fn in_linux(&self) -> bool {
        true
    }
}

/// The control of Westwood+.
#[derive(Clone, Copy, Debug)]
pub struct Westwood {
    options: WestwoodOptions,
    /// When the sample of the bandwidth began that is being taken, and the bytes of it.
    began: Option<Time>,
    delivered: f64,
    /// BWE: what the filter has made of the samples, in bytes a second.
    bandwidth: Option<f64>,
    rtt: Span,
    rtt_min: Option<Span>,
    /// Linux's in place of all that.
    linux: Option<Estimate>,
}

impl Westwood {
    /// A control that knows neither bandwidth nor RTT, and halves until it does.
    pub fn new(options: WestwoodOptions) -> Westwood {
        let linux = (options.reading == WestwoodReading::Linux).then(Estimate::new);
        Westwood {
            options,
            began: None,
            delivered: 0.0,
            bandwidth: None,
            rtt: Span::ZERO,
            rtt_min: None,
            linux,
        }
    }

    /// "BWE × RTTmin", two segments at least; none before there are both.
    fn pipe(&self, w: &Window) -> Option<f64> {
        if let Some(linux) = &self.linux {
            return Some(linux.pipe(w));
        }
        let pipe = self.bandwidth? * self.rtt_min?.as_secs();
        Some(pipe.max(2.0 * w.smss))
    }

    fn measure(&mut self, w: &Window, ack: &Ack<'_>) {
        if let Some(linux) = &mut self.linux {
            return linux.measure(w, ack);
        }
        if let Some(rtt) = ack.rtt() {
            self.rtt = rtt;
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
        // What the first ACK reports was under way before it was looked for.
        let Some(began) = self.began else {
            self.began = Some(ack.now);
            return;
        };
        self.delivered += f64::from(ack.newly_delivered());
        let passed = ack.now.since(began);
        if passed < self.rtt.max(self.options.least_interval) || passed == Span::ZERO {
            return;
        }
        let sample = std::mem::take(&mut self.delivered) / passed.as_secs();
        self.began = Some(ack.now);
        let filter = self.options.filter;
        self.bandwidth = Some(self.bandwidth.map_or(sample, |old| filter * old + (1.0 - filter) * sample));
    }

    /// ssthresh after a loss of which the recovery says that `flight` bytes were under way.
    fn reduce(&self, w: &mut Window, flight: u32) {
        let cwnd = w.cwnd;
        halve(w, flight);
        if self.linux.is_some() {
            w.ssthresh = (cwnd / 2.0).max(2.0 * w.smss);
        } else if let Some(pipe) = self.pipe(w) {
            w.ssthresh = pipe;
        }
        w.cwnd = w.ssthresh.min(cwnd);
    }
}

impl Control for Westwood {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        self.measure(w, ack);
        grow(self, w, ack, slow_start);
    }

    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.reduce(w, loss.flight);
        Response::Reduced
    }

    fn on_congestion_mark(&mut self, w: &mut Window, mark: &Mark) {
        self.reduce(w, mark.flight);
    }

    fn on_recovery_exit(&mut self, w: &mut Window, exit: &Exit) {
        w.cwnd = exit.cwnd;
        if let Some(pipe) = self.pipe(w).filter(|_| self.linux.is_some()) {
            w.ssthresh = pipe;
            w.cwnd = pipe;
        }
    }

    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        match self.pipe(w) {
            // The module hears of the first timeout in a row (`tcp_enter_loss`).
            _ if self.linux.is_some() && timeout.repeated => {}
            Some(pipe) => w.ssthresh = pipe,
            None if !timeout.repeated => halve(w, timeout.flight),
            None => {}
        }
        w.cwnd = w.smss;
        if let Some(linux) = self.linux.as_mut().filter(|_| !timeout.repeated) {
            linux.forget_rtt();
        }
    }
}

mod linux;
#[cfg(test)]
mod tests;
