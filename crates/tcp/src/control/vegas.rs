//! TCP Vegas (L. S. Brakmo, S. W. O'Malley and L. L. Peterson, 1994): `vegas`.

use bentpipe_units::bounded::Number;
use bentpipe_units::conflict;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::round::{Round, Rtts};
use super::{
    Ack, Control, ControlFactory, Exit, Loss, Response, Resume, Timeout, Window, begin_again, halve, options,
};
use crate::slow_start::SlowStart;

options! {
    "vegas", "TCP Vegas: two to four segments in the queue, by delay (Brakmo and Peterson 1994)";
    /// Options of the control vegas.
    #[serde(remote = "Self")]
    pub struct VegasOptions {
        /// Backlog below which cwnd grows, in segments, 0 to 1000.
        #[serde(with = "Number::<0, 1000>")]
        pub alpha: f64 = 2.0,
        /// Backlog above which cwnd shrinks, in segments, 0 to 1000, no less than alpha.
        #[serde(with = "Number::<0, 1000>")]
        pub beta: f64 = 4.0,
        /// Backlog above which slow start ends, in segments, 0 to 1000.
        #[serde(with = "Number::<0, 1000>")]
        pub gamma: f64 = 1.0,
        /// Whose details they are.
        pub reading: VegasReading = VegasReading::Paper,
    }
}

/// The paper's algorithm, Linux's `net/ipv4/tcp_vegas.c`, or ns-2's `Agent/TCP/Vegas`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VegasReading {
    /// The RTT of the segment that ends a round trip; slow start doubles cwnd every other round trip and ends where cwnd is; a loss
    /// halves.
    Paper,
    /// The least RTT of a round trip, and a backlog of cwnd (RTT − `BaseRTT`) / `BaseRTT`; slow start doubles cwnd each round trip and
    /// ends with what the path held; RFC 5681 where a round trip had two samples or less; a loss halves cwnd; `BaseRTT` begins anew once all was acknowledged.
    Linux,
    /// The mean RTT of a round trip, and a backlog in whole segments; slow start doubles cwnd every other round trip and ends with an
    /// eighth less; a loss takes a quarter of cwnd.
    Ns2,
}

impl<'de> Deserialize<'de> for VegasOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<VegasOptions, D::Error> {
        let options = VegasOptions::deserialize(deserializer)?;
        let VegasOptions { alpha, beta, .. } = options;
        if alpha > beta {
            return Err(D::Error::custom(conflict!(
                "needs a beta of alpha ({alpha}) at least, which is {beta}"
            )));
        }
        Ok(options)
    }
}

impl ControlFactory for VegasOptions {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Vegas::new(*self))
    }

    fn in_linux(&self) -> bool {
        true
    }
}

/// Samples of a round trip from which on Linux trusts the least of them.
const TRUSTED: u32 = 3;

/// The control of Vegas.
#[derive(Clone, Copy, Debug)]
pub struct Vegas {
    options: VegasOptions,
    /// `BaseRTT` in s; infinite without a sample.
    base: f64,
    round: Round,
    /// Whether cwnd grows by ACKs in this round trip while it is below ssthresh.
    doubles: bool,
}

impl Vegas {
    /// A control that has seen no RTT.
    pub fn new(options: VegasOptions) -> Vegas {
        Vegas { options, base: f64::INFINITY, round: Round::default(), doubles: true }
    }

    fn linux(&self) -> bool {
        self.options.reading == VegasReading::Linux
    }

    /// Diff × `BaseRTT`, in segments, for a window of so many: what it holds beyond what the path holds.
    ///
    /// "Diff = Expected − Actual" with Expected = window/`BaseRTT` and Actual = window/RTT.
    fn backlog(&self, window: f64, rtts: &Rtts) -> f64 {
        match self.options.reading {
            VegasReading::Paper => window * (1.0 - self.base / rtts.last),
            VegasReading::Linux => (window * (rtts.least - self.base) / self.base).floor(),
            VegasReading::Ns2 => (window * (1.0 - self.base / rtts.mean()) + 0.5).floor(),
        }
    }

    /// A round trip is over: one step.
    fn step(&mut self, w: &mut Window, ack: &Ack<'_>, rtts: &Rtts) {
        if self.linux() && rtts.count < TRUSTED {
            if !w.in_slow_start() && ack.opens_window() {
                w.avoid_congestion(ack.counted());
            }
            return;
        }
        // The application or the receiver may have kept cwnd from being filled.
        let window = if self.linux() { w.cwnd } else { w.cwnd.min(f64::from(ack.prior_flight)) };
        let backlog = self.backlog(window / w.smss, rtts);
        if w.in_slow_start() {
            // While cwnd doubles, what is there now was not there when the segment left that the RTT is of.
            let compares = self.linux() || !self.doubles;
            if compares && backlog > self.options.gamma {
                self.end_slow_start(w, rtts);
            }
            self.doubles = self.linux() || !self.doubles;
        } else if backlog > self.options.beta {
            w.cwnd = (w.cwnd - w.smss).max(2.0 * w.smss);
            w.ssthresh = w.ssthresh.min(w.cwnd);
        } else if backlog < self.options.alpha && ack.opens_window() {
            w.cwnd += w.smss;
        }
    }

    fn end_slow_start(&self, w: &mut Window, rtts: &Rtts) {
        let left = match self.options.reading {
            VegasReading::Paper => w.cwnd,
            VegasReading::Linux => ((w.cwnd / w.smss * self.base / rtts.least).floor() + 1.0) * w.smss,
            VegasReading::Ns2 => w.cwnd * 0.875,
        };
        w.cwnd = left.min(w.cwnd).max(2.0 * w.smss);
        w.ssthresh = w.cwnd;
    }

    fn restart(&mut self) {
        self.round.restart();
        self.doubles = true;
    }
}

impl Control for Vegas {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        let Some(rtt) = ack.rtt().map(|rtt| rtt.as_secs()).filter(|rtt| *rtt > 0.0) else {
            return self.slow_start(w, ack, slow_start);
        };
        self.base = self.base.min(rtt);
        if ack.in_recovery {
            return;
        }
        if let Some(rtts) = self.round.add(ack, rtt) {
            self.step(w, ack, &rtts);
        }
        self.slow_start(w, ack, slow_start);
    }

    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        let cwnd = w.cwnd;
        halve(w, loss.flight);
        match self.options.reading {
            VegasReading::Paper => {}
            VegasReading::Linux => w.ssthresh = (cwnd / 2.0).max(2.0 * w.smss),
            VegasReading::Ns2 => w.ssthresh = (cwnd * 0.75).max(2.0 * w.smss),
        }
        w.cwnd = w.ssthresh;
        Response::Reduced
    }

    /// What was measured before was measured with another window.
    fn on_recovery_exit(&mut self, w: &mut Window, exit: &Exit) {
        w.cwnd = exit.cwnd;
        self.restart();
    }

    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        begin_again(w, timeout);
        self.restart();
    }

    /// Linux forgets `BaseRTT` too (`tcp_vegas_cwnd_event`).
    fn on_resume(&mut self, _: &mut Window, _: &Resume) {
        self.restart();
        if self.linux() {
            self.base = f64::INFINITY;
        }
    }
}

impl Vegas {
    fn slow_start(&self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        if w.in_slow_start() && self.doubles && ack.opens_window() {
            let growth = w.slow_start_growth(ack.counted());
            slow_start.on_ack(w, ack, growth);
        }
    }
}

#[cfg(test)]
mod tests;
