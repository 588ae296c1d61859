//! Adaptive flow control with delayed fast recovery (Kothari, Gambhava and Dasgupta): `afc`.

use std::any::Any;
use std::sync::Arc;

use bentpipe_units::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Ack, Adalr, AdalrOptions, Control, ControlFactory, Exit, Extras, Loss, Mark, PartialAck, Response,
    Resume, Standard, Timeout, Window, options,
};
use crate::slow_start::SlowStart;

options! {
    "afc", "TCP-AFC: the first loss of a window costs no reduction, the second less (Kothari et al.)";
    /// Options of the control afc: its extensions, each of which can be switched off alone, and its reading.
    pub struct AfcOptions {
        /// Take the first loss of a window for a random one: no reduction before a second one is found.
        pub delayed_recovery: bool = true,
        /// Reduce less when the second loss is far from the first (equation 1).
        pub rate_adjustment: bool = true,
        /// What the ACKs are worth that arrive while the reduction is delayed.
        pub growth_while_delayed: DelayedGrowth = DelayedGrowth::usual(),
    }
}

/// Readings of what cwnd does between the first loss of a window and the end of that window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DelayedGrowth {
    /// cwnd stays as it is, as in any other recovery.
    Held,
    /// When the window is through without a second loss, cwnd opens by what was acknowledged meanwhile.
    Credited,
}

impl DelayedGrowth {
    fn usual() -> DelayedGrowth {
        DelayedGrowth::Held
    }
}

impl ControlFactory for AfcOptions {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Afc::new(Standard, *self))
    }

    fn wraps(&self) -> &[&str] {
        &[<AdalrOptions as crate::Named>::NAME]
    }

    fn around(&self, inner: &dyn ControlFactory) -> Option<Arc<dyn ControlFactory>> {
        let adalr = *(inner as &dyn Any).downcast_ref::<AdalrOptions>()?;
        Some(Arc::new(AroundAdalr { afc: *self, adalr }))
    }
}

/// TCP-AFC around TCP-ADaLR: one decides whether a loss counts, the other how the windows grow.
#[derive(Clone, Copy, Debug)]
struct AroundAdalr {
    afc: AfcOptions,
    adalr: AdalrOptions,
}

impl ControlFactory for AroundAdalr {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Afc::new(Adalr::new(self.adalr), self.afc))
    }
}

/// What is known of the losses of the window under way.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Losses {
    None,
    /// One, and no reduction: the document's SACK_OK is true. `window` is what the first loss met.
    One {
        window: f64,
    },
    /// One, and the window was reduced at once, because `delayed_recovery` is off.
    Reduced {
        window: f64,
    },
    /// Two or more: SACK_OK is false.
    Several,
}

/// The control of TCP-AFC, around the control that it changes: RFC 5681, or another.
///
/// A loss that it takes for random is not told to the inner control.
#[derive(Clone, Copy, Debug)]
pub struct Afc<C> {
    inner: C,
    options: AfcOptions,
    losses: Losses,
}

impl<C> Afc<C> {
    /// `inner` with delayed fast recovery and rate adjustment, as far as they are switched on.
    pub fn new(inner: C, options: AfcOptions) -> Afc<C> {
        Afc { inner, options, losses: Losses::None }
    }

    /// The document's SACK_OK: a loss was found in the window under way, and no second one.
    pub fn sack_ok(&self) -> bool {
        matches!(self.losses, Losses::One { .. })
    }

    /// R_adj in bytes, for a second loss `distance` bytes from the first, in a window of `window` bytes.
    ///
    /// Equation 1: Cd⁴ / (2 cwnd³) if Cd > cwnd/2, else 0. Cd is not larger than cwnd here, so that it is at most cwnd/2.
    fn rate_adjustment(&self, distance: u32, window: f64) -> f64 {
        let distance = f64::from(distance).min(window);
        if !self.options.rate_adjustment || distance <= window / 2.0 {
            return 0.0;
        }
        let square = distance * distance;
        square * square / (2.0 * (window * (window * window)))
    }
}

/// Raises what halving left of `window` by R_adj, if any; by how much. Halving's floor of two segments holds for the sum, which is
/// equation 1.
fn adjust(w: &mut Window, window: f64, bytes: f64) -> f64 {
    let rise = if bytes > 0.0 { (window / 2.0 + bytes - w.ssthresh).max(0.0) } else { 0.0 };
    w.ssthresh += rise;
    w.cwnd += rise;
    rise
}

impl<C: Control> Control for Afc<C> {
    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        // What conventional halving takes for the window is the flight size (RFC 5681 equation 4): so does this, and a
        // window that the receiver or the application limits is not cut from what it never used.
        let window = w.cwnd.min(f64::from(loss.flight));
        if self.options.delayed_recovery {
            self.losses = Losses::One { window };
            return Response::Keep;
        }
        self.losses = Losses::Reduced { window };
        self.inner.on_loss(w, loss)
    }

    fn on_further_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        if self.sack_ok() && loss.distance == 0 {
            // The retransmission of the first loss, and no other one.
            return Response::Keep;
        }
        match std::mem::replace(&mut self.losses, Losses::Several) {
            Losses::One { window } => {
                let response = self.inner.on_loss(w, &Loss { flight: window as u32, ..*loss });
                if response == Response::Reduced {
                    adjust(w, window, self.rate_adjustment(loss.distance, window));
                }
                response
            }
            Losses::Reduced { window }
                if adjust(w, window, self.rate_adjustment(loss.distance, window)) > 0.0 =>
            {
                Response::Adjusted
            }
            _ => self.inner.on_further_loss(w, loss),
        }
    }

    fn on_recovery_exit(&mut self, w: &mut Window, exit: &Exit) {
        self.inner.on_recovery_exit(w, exit);
        if self.sack_ok() && self.options.growth_while_delayed == DelayedGrowth::Credited {
            let acked = f64::from(exit.acked);
            w.cwnd = match w.in_slow_start() {
                true => (w.cwnd + acked).min(w.ssthresh),
                false => w.cwnd + w.smss * (acked / w.cwnd).min(1.0),
            };
        }
        self.losses = Losses::None;
    }

    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        self.losses = Losses::None;
        self.inner.on_timeout(w, timeout);
    }

    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        self.inner.on_ack(w, ack, slow_start);
    }

    #[inline]
    fn slow_start_growth(&mut self, w: &Window, ack: &Ack<'_>) -> f64 {
        self.inner.slow_start_growth(w, ack)
    }

    #[inline]
    fn congestion_avoidance(&mut self, w: &mut Window, ack: &Ack<'_>) {
        self.inner.congestion_avoidance(w, ack);
    }

    fn on_rtt_sample(&mut self, now: Time, sample: Span) {
        self.inner.on_rtt_sample(now, sample);
    }

    fn on_congestion_mark(&mut self, w: &mut Window, mark: &Mark) {
        self.inner.on_congestion_mark(w, mark);
    }

    fn inflate(&mut self, w: &mut Window, segments: u32) {
        self.inner.inflate(w, segments);
    }

    fn deflate(&mut self, w: &mut Window, bytes: u32) {
        self.inner.deflate(w, bytes);
    }

    fn on_step(&mut self, w: &mut Window, cwnd: f64) {
        self.inner.on_step(w, cwnd);
    }

    fn start_over(&mut self, w: &mut Window) {
        self.inner.start_over(w);
    }

    fn restart_after_idle(&mut self, w: &mut Window, restart: f64) {
        self.inner.restart_after_idle(w, restart);
    }

    fn on_partial_ack(&mut self, w: &mut Window, ack: &PartialAck) {
        self.inner.on_partial_ack(w, ack);
    }

    fn save(&mut self, w: &mut Window) {
        self.inner.save(w);
    }

    fn restore(&mut self, w: &mut Window) {
        self.inner.restore(w);
    }

    fn on_handshake(&mut self, w: &mut Window, now: Time, rtt: Span) {
        self.inner.on_handshake(w, now, rtt);
    }

    fn on_resume(&mut self, w: &mut Window, resume: &Resume) {
        self.inner.on_resume(w, resume);
    }

    fn phase(&self) -> Option<&'static str> {
        self.inner.phase()
    }

    fn extras(&mut self) -> Extras<'_> {
        self.inner.extras()
    }
}

#[cfg(test)]
mod tests;
