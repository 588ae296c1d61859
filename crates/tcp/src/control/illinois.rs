//! TCP-Illinois (S. Liu, T. Başar and R. Srikant, 2006 and 2008): `illinois`.

use bentpipe_units::bounded::{Above, Number, Whole};
use bentpipe_units::conflict;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::round::Round;
use super::{
    Ack, Control, ControlFactory, Loss, Mark, Response, Resume, Timeout, Window, begin_again, grow, options,
};
use crate::slow_start::SlowStart;

options! {
    "illinois", "TCP-Illinois: delay tells how much cwnd grows and a loss takes (Liu, Başar, Srikant 2006)";
    /// Options of the control illinois.
    #[serde(remote = "Self")]
    pub struct IllinoisOptions {
        /// Segments a round trip that cwnd grows by with a full queue, above 0, at most 1000.
        #[serde(with = "Above::<0, 1000>")]
        pub alpha_min: f64 = 0.3,
        /// Segments a round trip that cwnd grows by with an empty queue, above 0, at most 1000, no less than `alpha_min`.
        #[serde(with = "Above::<0, 1000>")]
        pub alpha_max: f64 = 10.0,
        /// Share that a loss takes with an empty queue, 0 to 1.
        #[serde(with = "Number::<0, 1>")]
        pub beta_min: f64 = 0.125,
        /// Share that a loss takes with a full queue, 0 to 1, no less than `beta_min`.
        #[serde(with = "Number::<0, 1>")]
        pub beta_max: f64 = 0.5,
        /// Share of the largest queueing delay up to which growth is by `alpha_max`: η1, 0 to 1.
        #[serde(with = "Number::<0, 1>")]
        pub eta1: f64 = 0.01,
        /// Share of the largest queueing delay up to which a loss takes `beta_min`: η2, 0 to 1.
        #[serde(with = "Number::<0, 1>")]
        pub eta2: f64 = 0.1,
        /// Share of the largest queueing delay from which on a loss takes `beta_max`: η3, 0 to 1, no less than eta2.
        #[serde(with = "Number::<0, 1>")]
        pub eta3: f64 = 0.8,
        /// Round trips with next to no queue until growth is by `alpha_max` again, 1 to 1000.
        #[serde(with = "Whole::<1, 1000>")]
        pub theta: u32 = 5,
        /// Window below which it is RFC 5681, in segments, 0 to 1000.
        #[serde(with = "Number::<0, 1000>")]
        pub window_threshold: f64 = 15.0,
    }
}

impl<'de> Deserialize<'de> for IllinoisOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<IllinoisOptions, D::Error> {
        let options = IllinoisOptions::deserialize(deserializer)?;
        let pairs = [
            ("alpha_max", options.alpha_max, "alpha_min", options.alpha_min),
            ("beta_max", options.beta_max, "beta_min", options.beta_min),
            ("eta3", options.eta3, "eta2", options.eta2),
        ];
        for (larger, most, smaller, least) in pairs {
            if most < least {
                return Err(D::Error::custom(conflict!(
                    "needs {larger} of {smaller} ({least}) at least, which is {most}"
                )));
            }
        }
        Ok(options)
    }
}

impl ControlFactory for IllinoisOptions {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Illinois::new(*self))
    }

    fn in_linux(&self) -> bool {
        true
    }
}

/// The control of Illinois.
#[derive(Clone, Copy, Debug)]
pub struct Illinois {
    options: IllinoisOptions,
    /// The least and the largest RTT, in s.
    base: f64,
    most: f64,
    round: Round,
    /// Segments a round trip that cwnd grows by, and the share that a loss takes.
    alpha: f64,
    beta: f64,
    /// Whether the queueing delay was above η1 of the largest since `alpha` was the largest.
    above: bool,
    /// Round trips since then in which it was not.
    low: u32,
}

impl Illinois {
    /// A control that has seen no RTT: until the first round trip is over, growth is by `alpha_max` and a loss takes `beta_max`.
    pub fn new(options: IllinoisOptions) -> Illinois {
        Illinois {
            options,
            base: f64::INFINITY,
            most: 0.0,
            round: Round::default(),
            alpha: options.alpha_max,
            beta: options.beta_max,
            above: false,
            low: 0,
        }
    }

    /// α for a mean queueing delay of `delay` s where the largest is `most`:
    /// "κ1 / (κ2 + da)", which is `alpha_max` at d1 and `alpha_min` at dm.
    fn alpha(&mut self, delay: f64, most: f64) -> f64 {
        let IllinoisOptions { alpha_min, alpha_max, eta1, theta, .. } = self.options;
        let d1 = eta1 * most;
        if delay <= d1 {
            if self.above {
                self.low += 1;
                if self.low < theta {
                    return self.alpha;
                }
            }
            (self.above, self.low) = (false, 0);
            return alpha_max;
        }
        self.above = true;
        let (most, delay) = (most - d1, delay - d1);
        most * alpha_max / (most + delay * (alpha_max - alpha_min) / alpha_min)
    }

    /// β: "κ3 + κ4 da" between d2 and d3.
    fn beta(&self, delay: f64, most: f64) -> f64 {
        let IllinoisOptions { beta_min, beta_max, eta2, eta3, .. } = self.options;
        let (d2, d3) = (eta2 * most, eta3 * most);
        if delay <= d2 {
            beta_min
        } else if delay >= d3 {
            beta_max
        } else {
            beta_min + (beta_max - beta_min) * (delay - d2) / (d3 - d2)
        }
    }

    /// A round trip with a mean RTT of `mean` s is over.
    fn update(&mut self, w: &Window, mean: f64) {
        if w.cwnd < self.options.window_threshold * w.smss {
            (self.alpha, self.beta) = (1.0, self.options.beta_max);
            return;
        }
        let most = self.most - self.base;
        // A mean of equal numbers is one of them but for its last digits.
        let delay = (mean - self.base).clamp(0.0, most);
        self.alpha = self.alpha(delay, most);
        self.beta = self.beta(delay, most);
    }

    /// "W − β W".
    fn reduce(&self, w: &mut Window, flight: u32) {
        w.ssthresh = ((1.0 - self.beta) * f64::from(flight)).max(2.0 * w.smss);
        w.cwnd = w.cwnd.min(w.ssthresh);
    }
}

impl Control for Illinois {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        if let Some(rtt) = ack.rtt_or_timestamp().map(|rtt| rtt.as_secs()) {
            self.base = self.base.min(rtt);
            self.most = self.most.max(rtt);
            if let Some(rtts) = self.round.add(ack, rtt) {
                self.update(w, rtts.mean());
            }
        }
        grow(self, w, ack, slow_start);
    }

    /// "W + α/W" for an ACK.
    fn congestion_avoidance(&mut self, w: &mut Window, ack: &Ack<'_>) {
        w.cwnd += self.alpha * w.avoidance_growth(ack.counted());
    }

    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.reduce(w, loss.flight);
        Response::Reduced
    }

    fn on_congestion_mark(&mut self, w: &mut Window, mark: &Mark) {
        self.reduce(w, mark.flight);
    }

    /// RFC 5681, also for what follows until a round trip is over.
    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        begin_again(w, timeout);
        (self.alpha, self.beta) = (1.0, self.options.beta_max);
        (self.above, self.low) = (false, 0);
        self.round.restart();
    }

    fn on_resume(&mut self, _: &mut Window, _: &Resume) {
        self.round.restart();
    }
}

#[cfg(test)]
mod tests;
