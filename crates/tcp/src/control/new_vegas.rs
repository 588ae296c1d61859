//! TCP New Vegas (Sing and Soh, IEEE NCA 2005): `new-vegas`.

use bentpipe_units::bounded::Number;
use bentpipe_units::{Span, Time};

use super::{
    Ack, Control, ControlFactory, Extras, Loss, Mark, Response, Timeout, Window, begin_again, grow, halve,
    halve_by_mark, options,
};
use crate::slow_start::SlowStart;

options! {
    "new-vegas", "TCP New Vegas: Vegas with packet pacing, packet pairs and rapid window convergence (Sing 2005)";
    /// Options of the control new-vegas.
    pub struct NewVegasOptions {
        /// Segments in the queue below which cwnd grows by a segment a round trip, 0 to 1000.
        #[serde(with = "Number::<0, 1000>")]
        pub alpha: f64 = 2.0,
        /// Segments in the queue above which cwnd goes down by a segment a round trip, 0 to 1000.
        #[serde(with = "Number::<0, 1000>")]
        pub beta: f64 = 4.0,
        /// Segments in the queue above which slow start ends, 0 to 1000.
        #[serde(with = "Number::<0, 1000>")]
        pub gamma: f64 = 1.0,
        /// Packet pacing: in slow start data goes out at so many cwnd a round trip, 1 to 100; 0 for as fast as the window allows.
        #[serde(with = "Number::<0, 100>")]
        pub pacing_gain: f64 = 2.0,
        /// Packet pairs: the window grows and shrinks by two segments, so that they go out in pairs and no ACK is delayed.
        pub pairs: bool = true,
        /// Rapid window convergence: behind slow start cwnd grows by half of slow start's growth, and by half of that each time that more
        /// than gamma waits again, until that is no more than a segment a round trip.
        pub convergence: bool = true,
    }
}

impl ControlFactory for NewVegasOptions {
    fn make(&self) -> Box<dyn Control> {
        Box::new(NewVegas::new(*self))
    }
}

/// The control of TCP New Vegas, for any recovery.
#[derive(Clone, Copy, Debug)]
struct NewVegas {
    options: NewVegasOptions,
    /// `BaseRTT`: the smallest RTT, in s.
    base: f64,
    /// The smallest RTT of this round and the newest, in s.
    least: f64,
    newest: f64,
    /// What is sent from now on is acknowledged in the next round.
    round: Time,
    /// Whether an ACK of this round has found cwnd in use.
    limited: bool,
    /// How often growth was halved since slow start; 0 where convergence is over or has not begun.
    halved: u32,
    /// What cwnd has not grown by because it is no pair, in bytes.
    left: f64,
}

impl NewVegas {
    fn new(options: NewVegasOptions) -> NewVegas {
        let unknown = f64::INFINITY;
        NewVegas {
            options,
            base: unknown,
            least: unknown,
            newest: 0.0,
            round: Time::ZERO,
            limited: false,
            halved: 0,
            left: 0.0,
        }
    }

    /// So much of `growth` as makes whole pairs; the rest is kept.
    fn in_pairs(&mut self, w: &Window, growth: f64) -> f64 {
        let all = self.left + growth;
        let part = if self.options.pairs { (all / (2.0 * w.smss)).trunc() * 2.0 * w.smss } else { all };
        self.left = all - part;
        part
    }

    fn sample(&mut self, rtt: Span) {
        self.newest = rtt.as_secs();
        self.base = self.base.min(self.newest);
        self.least = self.least.min(self.newest);
    }

    fn end_round(&mut self, w: &mut Window, now: Time, in_recovery: bool) {
        self.round = now;
        let limited = std::mem::take(&mut self.limited);
        if !in_recovery {
            self.judge(w, limited);
        }
    }

    /// A round trip is over: what of cwnd is in the queue decides.
    ///
    /// Vegas: `Diff = (cwnd / BaseRTT - cwnd / RTT) BaseRTT`.
    fn judge(&mut self, w: &mut Window, grows: bool) {
        let rtt = std::mem::replace(&mut self.least, f64::INFINITY);
        if !rtt.is_finite() || rtt <= 0.0 {
            return;
        }
        let NewVegasOptions { alpha, beta, gamma, convergence, .. } = self.options;
        let diff = w.cwnd / w.smss * (rtt - self.base) / rtt;
        let stays_in_slow_start = w.in_slow_start() && diff <= gamma;
        if w.in_slow_start() || self.halved > 0 {
            if diff > gamma {
                // What the path holds with an empty queue, and a segment.
                let holds = w.cwnd * self.base / rtt + w.smss;
                w.cwnd = w.cwnd.min(holds).max(2.0 * w.smss);
                let halved = self.halved + 1;
                let grows_more = w.cwnd * share(halved) > w.smss;
                self.halved = if convergence && grows_more { halved } else { 0 };
            }
        } else if diff > beta {
            w.cwnd = (w.cwnd + self.in_pairs(w, -w.smss)).max(2.0 * w.smss);
        } else if diff < alpha && grows {
            w.cwnd += self.in_pairs(w, w.smss);
        }
        if self.options.pairs && w.cwnd > 2.0 * w.smss {
            let pairs = (w.cwnd / (2.0 * w.smss)).floor() * 2.0 * w.smss;
            self.left = (self.left + w.cwnd - pairs).min(2.0 * w.smss);
            w.cwnd = pairs;
        }
        if !stays_in_slow_start {
            w.ssthresh = w.ssthresh.min(w.cwnd);
        }
    }

    fn pace(&self, w: &mut Window) {
        let paced = w.in_slow_start() && self.options.pacing_gain > 0.0 && self.newest > 0.0;
        w.pacing_rate = if paced { self.options.pacing_gain * w.cwnd / self.newest } else { f64::INFINITY };
        w.send_quantum = if paced && self.options.pairs { 2.0 * w.smss } else { 0.0 };
    }

    fn converged(&mut self) {
        (self.halved, self.left) = (0, 0.0);
    }
}

/// What is left of something that was halved so often.
fn share(halved: u32) -> f64 {
    (0..halved).fold(1.0, |share, _| share / 2.0)
}

impl Control for NewVegas {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        if let Some(rtt) = ack.rtt() {
            self.sample(rtt);
        }
        self.limited |= ack.cwnd_limited;
        if ack.newest_sent_at().is_some_and(|sent| sent >= self.round) {
            self.end_round(w, ack.now, ack.in_recovery);
        }
        grow(self, w, ack, slow_start);
        self.pace(w);
    }

    fn slow_start_growth(&mut self, w: &Window, ack: &Ack<'_>) -> f64 {
        self.in_pairs(w, w.slow_start_growth(ack.counted()))
    }

    /// In convergence slow start's growth, halved as often as it went too far; else none between round trips.
    fn congestion_avoidance(&mut self, w: &mut Window, ack: &Ack<'_>) {
        if self.halved > 0 {
            w.cwnd += self.in_pairs(w, share(self.halved) * w.slow_start_growth(ack.counted()));
        }
    }

    fn on_handshake(&mut self, w: &mut Window, _now: Time, rtt: Span) {
        self.newest = rtt.as_secs();
        self.pace(w);
    }

    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.converged();
        halve(w, loss.flight);
        self.pace(w);
        Response::Reduced
    }

    fn on_congestion_mark(&mut self, w: &mut Window, mark: &Mark) {
        self.converged();
        halve_by_mark(w, mark);
        self.pace(w);
    }

    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        self.converged();
        begin_again(w, timeout);
        self.pace(w);
    }

    fn extras(&mut self) -> Extras<'_> {
        Extras { paces: self.options.pacing_gain > 0.0, ..Extras::default() }
    }
}

#[cfg(test)]
mod tests;
