//! CUBIC (RFC 9438): `cubic`.

mod linux;

use bentpipe_units::bounded::Number;
use bentpipe_units::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ack, Control, ControlFactory, Loss, Mark, Response, Resume, Timeout, Window, grow, options};
use crate::slow_start::SlowStart;

use linux::LinuxCubic;

options! {
    "cubic", "CUBIC: cwnd grows by the time since the last reduction (RFC 9438)";
    /// Options of the control cubic. The default is RFC 9438 as it stands.
    pub struct CubicOptions {
        /// How fast cwnd grows with the time since the last reduction: C of RFC 9438 section 4.1, in segments per s³, 0 to 100.
        #[serde(with = "Number::<0, 100>")]
        pub c: f64 = 0.4,
        /// Share of the flight size that a loss leaves: β of RFC 9438 section 4.6, 0 to 1.
        #[serde(with = "Number::<0, 1>")]
        pub beta: f64 = 0.7,
        /// Share of the flight size that a congestion mark leaves in congestion avoidance, 0 to 1; RFC 8511 section 3.1 would have 0.85.
        #[serde(with = "Number::<0, 1>")]
        pub beta_mark: f64 = 0.7,
        /// Make room for a new flow when the window did not come back to its last maximum (RFC 9438 section 4.7).
        pub fast_convergence: bool = true,
        /// Never be slower than Reno would be (RFC 9438 section 4.3).
        pub reno_friendly: bool = true,
        /// Whose CUBIC it is where Linux's is another than the RFC's.
        pub reading: CubicReading = CubicReading::Rfc,
    }
}

/// The RFC's text, or Linux's `net/ipv4/tcp_cubic.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CubicReading {
    /// RFC 9438: cwnd goes to where the curve is a smoothed RTT later; a reduction is a share of the flight size.
    Rfc,
    /// Linux: the least RTT later (`delay_min`), or towards Reno's window where that is larger, whose α stays below 1, in whole
    /// segments and ticks of 4 ms; while no maximum is known at least a segment for every 20 acknowledged (`bictcp_update`). A reduction is
    /// a share of cwnd (`cubictcp_recalc_ssthresh`), a timeout forgets all (`cubictcp_state`), and nothing but the window is taken back.
    Linux,
}

impl ControlFactory for CubicOptions {
    fn make(&self) -> Box<dyn Control> {
        match self.reading {
            CubicReading::Rfc => Box::new(Cubic::new(*self)),
            CubicReading::Linux => Box::new(LinuxCubic::new(*self)),
        }
    }

    fn recoveries(&self) -> &[&str] {
        &["rack"]
    }

    fn slow_start(&self) -> Option<&str> {
        Some("hystart")
    }
}

/// The control of CUBIC as the RFC has it, for any recovery. Windows are in segments, as in the RFC.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    options: CubicOptions,
    state: State,
    /// The state before the last reduction.
    saved: State,
    /// The smoothed RTT in s: how far ahead of now cwnd is led.
    ahead: f64,
    /// When the last ACK of new data came.
    acked_at: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// cwnd just before the last reduction, `W_max`; lower after fast convergence.
    w_max: f64,
    /// cwnd just before the last reduction, `cwnd_prior`.
    prior: f64,
    /// Whether congestion avoidance goes on from a reduction; else it follows slow start.
    reduced: bool,
    epoch: Option<Epoch>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Time,
    /// Where the cubic function is flat, in s after the beginning, and how high it is there.
    k: f64,
    origin: f64,
    /// What Reno's window would be, `W_est`.
    reno: f64,
}

impl Cubic {
    /// A control that has seen neither an RTT nor a loss.
    pub fn new(options: CubicOptions) -> Cubic {
        let (state, saved) = (State::default(), State::default());
        Cubic { options, state, saved, ahead: 0.0, acked_at: Time::ZERO }
    }

    /// Begins a stage of congestion avoidance with a window of `cwnd` segments.
    ///
    /// RFC 9438 section 4.2 has K from the last maximum. After slow start, which a timeout or no loss at all came before, K is 0 and
    /// the maximum is this window (sections 4.8 and 4.10).
    fn begin(&self, now: Time, cwnd: f64) -> Epoch {
        let below = if self.state.reduced { (self.state.w_max - cwnd).max(0.0) } else { 0.0 };
        let k = if below > 0.0 && self.options.c > 0.0 { libm::cbrt(below / self.options.c) } else { 0.0 };
        Epoch { began: now, k, origin: cwnd + below, reno: cwnd }
    }

    /// What Reno adds for each segment acknowledged, over one by cwnd: α of RFC 9438 section 4.3.
    fn alpha(&self, reno: f64) -> f64 {
        let beta = self.options.beta;
        if reno >= self.state.prior { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) }
    }

    fn reduce(&mut self, w: &mut Window, flight: u32, left: f64) {
        let cwnd = w.cwnd / w.smss;
        let again_below = self.options.fast_convergence && cwnd < self.state.w_max;
        let w_max = if again_below { cwnd * (1.0 + self.options.beta) / 2.0 } else { cwnd };
        self.state = State { w_max, prior: cwnd, reduced: true, epoch: None };
        w.ssthresh = (f64::from(flight) * left).max(2.0 * w.smss);
    }
}

impl Control for Cubic {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        if ack.acked == 0 {
            return;
        }
        // RFC 9438 section 4.2: "The elapsed time t in Figure 1 MUST NOT include periods during which cwnd has not been updated
        // due to application-limited behavior".
        if let Some(epoch) = self.state.epoch.as_mut().filter(|_| !ack.cwnd_limited) {
            epoch.began += ack.now.since(self.acked_at);
        }
        self.acked_at = ack.now;
        grow(self, w, ack, slow_start);
    }

    fn on_rtt_sample(&mut self, _now: Time, sample: Span) {
        let sample = sample.as_secs();
        self.ahead = if self.ahead == 0.0 { sample } else { self.ahead + (sample - self.ahead) / 8.0 };
    }

    fn congestion_avoidance(&mut self, w: &mut Window, ack: &Ack<'_>) {
        let cwnd = w.cwnd / w.smss;
        let mut epoch = self.state.epoch.unwrap_or_else(|| self.begin(ack.now, cwnd));
        if !self.state.reduced {
            // RFC 9438 section 4.8: "W_max is set to the congestion window size at the beginning of the current congestion avoidance stage".
            self.state.w_max = epoch.origin;
        }
        // What Reno adds for this ACK, in segments.
        let share = w.avoidance_growth(ack.counted()) / w.smss;
        epoch.reno += self.alpha(epoch.reno) * share;
        self.state.epoch = Some(epoch);
        let cubic = |after: f64| {
            let from_k = after - epoch.k;
            self.options.c * from_k * from_k * from_k + epoch.origin
        };
        let now = ack.now.since(epoch.began).as_secs();
        let target = cubic(now + self.ahead);
        w.cwnd = w.smss
            * if self.options.reno_friendly && cubic(now) < epoch.reno {
                cwnd.max(epoch.reno)
            } else {
                // RFC 9438 section 4.2: the window in a round trip's time, at most half as large again.
                cwnd + (target.clamp(cwnd, 1.5 * cwnd) - cwnd) * share
            };
    }

    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.reduce(w, loss.flight, self.options.beta);
        w.cwnd = w.ssthresh;
        Response::Reduced
    }

    /// RFC 8511 changes the reaction to a mark in congestion avoidance alone.
    fn on_congestion_mark(&mut self, w: &mut Window, mark: &Mark) {
        let CubicOptions { beta, beta_mark, .. } = self.options;
        self.reduce(w, mark.flight, if w.in_slow_start() { beta } else { beta_mark });
        w.cwnd = w.cwnd.min(w.ssthresh);
    }

    fn restart_after_idle(&mut self, w: &mut Window, restart: f64) {
        w.cwnd = w.cwnd.min(restart);
        self.state.reduced = false;
        self.state.epoch = None;
    }

    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        if !timeout.repeated {
            self.reduce(w, timeout.flight, self.options.beta);
        }
        self.state = State { w_max: 0.0, reduced: false, epoch: None, ..self.state };
        w.cwnd = w.smss;
    }

    /// RFC 9438 section 4.2 leaves periods in which the application limits the flow out of the elapsed time.
    fn on_resume(&mut self, _: &mut Window, resume: &Resume) {
        if let Some(epoch) = &mut self.state.epoch {
            epoch.began += resume.now.since(self.acked_at);
            self.acked_at = resume.now;
        }
    }

    fn save(&mut self, w: &mut Window) {
        w.save();
        self.saved = self.state;
    }

    /// RFC 9438 section 4.9: cwnd, ssthresh, `W_max`, K and the time that belongs to them are what they were.
    fn restore(&mut self, w: &mut Window) {
        if w.saved.is_some() {
            self.state = self.saved;
        }
        w.restore();
    }
}
