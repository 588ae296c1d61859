//! TCP with adaptive delay and loss response (Omueti and Trajković, WICON 2007): `adalr`.

use bentpipe_units::bounded::Number;
use bentpipe_units::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Ack, Control, ControlFactory, Exit, Extras, Loss, PartialAck, ReceiveWindow, Response, SendView,
    Standard, Timeout, Window, grow, options,
};
use crate::slow_start::SlowStart;

options! {
    "adalr", "TCP-ADaLR: cwnd and rwnd grow faster over a long RTT (Omueti and Trajković 2007)";
    /// Options of the control adalr: its mechanisms, each of which can be switched off alone, and its readings. The default is the
    /// reading that reproduces the published download times.
    pub struct AdalrOptions {
        /// Measure ρ (paper equation 1); else ρ stays at its breakpoint, 15.
        pub scaling: bool = true,
        /// Open cwnd faster (paper section 4.1).
        pub cwnd_increase: bool = true,
        /// Send beyond the advertised window (paper section 4.2).
        pub rwnd_increase: bool = true,
        /// Deflate less on a partial ACK, wait 200 ms longer after a timeout, resend three segments a pass (section 4.3).
        pub loss_recovery: bool = true,
        /// How the adjusted receive window grows while segments go out.
        pub rwnd_reading: RwndReading = RwndReading::PerSegment,
        /// How much of it a recovery lets out.
        pub recovery_reading: RecoveryReading = RecoveryReading::usual(),
        /// Whether it grows below the breakpoint of ρ too (the slides' pseudocode does not ask for ρ).
        pub rwnd_below_breakpoint: bool = false,
        /// When congestion avoidance is fast.
        pub avoidance_reading: AvoidanceReading = AvoidanceReading::Paper,
        /// Windows of data after each fast recovery in which congestion avoidance is that of RFC 5681 (paper section 4.1: "linearly
        /// incremented immediately after fast recovery"), 0 to 100; 0 for none.
        #[serde(with = "Number::<0, 100>")]
        pub linear_after_recovery: f64 = 1.0,
        /// Which partial ACKs deflate cwnd (algorithm 3).
        pub deflation_reading: DeflationReading = DeflationReading::Inflated,
        /// The deviation gain of RFC 6298 (paper table 4), which algorithm 2 multiplies ρ with, 0 to 10.
        #[serde(with = "Number::<0, 10>")]
        pub rtt_dev_gain: f64 = 0.25,
    }
}

/// Readings of the paper's algorithm 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RwndReading {
    /// Before each segment, on top of what stands since the last ACK, which set it to the advertised window.
    PerSegment,
    /// Before each segment, afresh from the advertised window.
    FromAdvertised,
    /// As `PerSegment`, once for each ACK.
    PerAck,
    /// As `PerSegment`, and no ACK ever sets it back.
    Accumulating,
}

/// Readings of the "additional segment" of a fast recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryReading {
    /// The paper's "at least one": one before each segment, as before the first loss.
    PerSegment,
    /// The slides' "one": one for each ACK.
    PerAck,
}

impl RecoveryReading {
    fn usual() -> RecoveryReading {
        RecoveryReading::PerAck
    }
}

/// Readings of the paper's algorithm 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeflationReading {
    /// It takes back what duplicate ACKs have inflated; over SACK there is nothing.
    Inflated,
    /// Each partial ACK, over SACK too.
    Every,
}

/// When the paper and the slides open cwnd faster in congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AvoidanceReading {
    /// The paper: while the flight size is below half of the adjusted receive window.
    Paper,
    /// The slides, both of their conditions: also, only once a loss has happened.
    Slides,
    /// The slides, either of them: from the first loss on whatever is in flight.
    SlidesEither,
}

impl ControlFactory for AdalrOptions {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Adalr::new(*self))
    }

    fn recoveries(&self) -> &[&str] {
        &["sack", "newreno"]
    }
}

/// ρ below which the scheme is standard TCP: a sample RTT of 250 ms.
const BREAKPOINT: f64 = 15.0;
/// Upper bound of ρ, and what a sample of 1 s gives.
const LARGEST: f64 = 60.0;
/// The largest window that can be advertised (RFC 7323 section 2.3): sequence numbers cannot tell more apart.
const LARGEST_WINDOW: f64 = 65_535.0 * 16_384.0;
/// Added to "now" when the timer is scheduled after a timeout (section 4.3).
const SLACK: Span = Span::from_millis(200);
/// Segments that one pass through the retransmission buffer resends (slides).
const RESENT_A_PASS: u32 = 3;

/// The control of TCP-ADaLR, for any recovery.
#[derive(Clone, Copy, Debug)]
pub struct Adalr {
    options: AdalrOptions,
    /// The scaling component ρ, 1 to 60.
    rho: f64,
    /// rwnd as adjusted since the last ACK, in bytes.
    adjusted: f64,
    /// Whether the one adjustment an ACK was made since the last one.
    adjusted_since_ack: bool,
    /// The paper's `snd_recover == 0`, for the life of the connection.
    lossless: bool,
    /// A loss began a fast recovery that has not ended.
    recovering: bool,
    /// Bytes to be acknowledged before congestion avoidance is fast again.
    linear: f64,
}

impl Adalr {
    /// A control that has seen neither an RTT nor a loss.
    pub fn new(options: AdalrOptions) -> Adalr {
        let rho = if options.scaling { 1.0 } else { BREAKPOINT };
        let (adjusted, linear) = (0.0, 0.0);
        Adalr { options, rho, adjusted, adjusted_since_ack: false, lossless: true, recovering: false, linear }
    }

    /// The scaling component ρ.
    pub fn rho(&self) -> f64 {
        self.rho
    }

    fn adaptive(&self) -> bool {
        self.rho >= BREAKPOINT
    }

    /// Whether one of the four sub-phases of slow start (paper algorithm 1) holds.
    fn in_sub_phase(&self, w: &Window, flight: f64) -> bool {
        let rwnd = self.adjusted;
        let first = w.cwnd <= w.ssthresh / 4.0 && flight < rwnd / 4.0;
        let second = w.cwnd > w.ssthresh / 4.0 && w.cwnd <= w.ssthresh / 2.0 && flight < rwnd / 4.0;
        let quarter_to_half = flight >= rwnd / 4.0 && flight < rwnd / 2.0;
        let third = w.cwnd > w.ssthresh / 4.0 && quarter_to_half;
        let fourth = w.cwnd > w.ssthresh / 2.0 && quarter_to_half;
        first || second || third || fourth
    }

    /// Whether the window sent by may be another than the advertised one. A closed window stays closed: the documents do
    /// not think of one.
    fn widens(&self, rwnd: u32) -> bool {
        self.options.rwnd_increase && (self.adaptive() || self.options.rwnd_below_breakpoint) && rwnd > 0
    }

    /// Whether the adjusted window grows once for each ACK.
    fn grows_once(&self) -> bool {
        match self.options.rwnd_reading {
            RwndReading::PerAck => true,
            RwndReading::FromAdvertised => false,
            RwndReading::PerSegment | RwndReading::Accumulating => {
                !self.lossless && self.options.recovery_reading == RecoveryReading::PerAck
            }
        }
    }

    fn increment(&self, w: &Window, view: &SendView) -> f64 {
        if !self.widens(view.rwnd) {
            0.0
        } else if self.lossless {
            self.options.rtt_dev_gain * self.rho * w.smss
        } else if view.in_recovery {
            w.smss
        } else {
            0.0
        }
    }
}

impl Control for Adalr {
    fn on_rtt_sample(&mut self, _now: Time, sample: Span) {
        if self.options.scaling {
            self.rho = (LARGEST * sample.as_secs()).clamp(1.0, LARGEST);
        }
    }

    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        if ack.opens_window() {
            grow(self, w, ack, slow_start);
            self.linear = (self.linear - f64::from(ack.acked)).max(0.0);
        }
    }

    fn slow_start_growth(&mut self, w: &Window, ack: &Ack<'_>) -> f64 {
        let fast = self.options.cwnd_increase
            && self.adaptive()
            && self.lossless
            && self.in_sub_phase(w, f64::from(ack.flight));
        let factor = if fast { self.rho.sqrt() / 4.0 } else { 1.0 };
        factor * w.slow_start_growth(ack.counted())
    }

    fn congestion_avoidance(&mut self, w: &mut Window, ack: &Ack<'_>) {
        let below_half = f64::from(ack.flight) < self.adjusted / 2.0;
        let allowed = match self.options.avoidance_reading {
            AvoidanceReading::Paper => below_half,
            AvoidanceReading::Slides => below_half && !self.lossless,
            AvoidanceReading::SlidesEither => below_half || !self.lossless,
        };
        let fast = self.options.cwnd_increase && self.adaptive() && allowed && self.linear == 0.0;
        // The paper leaves out "/ cwnd", the slides have it.
        let factor = if fast { self.rho.sqrt() / 2.0 } else { 1.0 };
        w.cwnd += factor * w.avoidance_growth(ack.counted());
    }

    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.lossless = false;
        self.recovering = true;
        Standard.on_loss(w, loss)
    }

    fn on_recovery_exit(&mut self, w: &mut Window, exit: &Exit) {
        Standard.on_recovery_exit(w, exit);
        if std::mem::take(&mut self.recovering) {
            self.linear = self.options.linear_after_recovery * w.cwnd;
        }
    }

    fn on_partial_ack(&mut self, w: &mut Window, ack: &PartialAck) {
        if !self.options.loss_recovery {
            Standard.on_partial_ack(w, ack);
        } else if ack.inflated || self.options.deflation_reading == DeflationReading::Every {
            // Paper algorithm 3, whose `snd_una > snd_recover` is a misprint for `<`: a partial ACK.
            let acked = f64::from(ack.acked);
            w.cwnd = if w.cwnd <= acked { 2.0 * w.smss } else { w.cwnd - acked + 2.0 * w.smss };
        }
    }

    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        self.lossless = false;
        (self.recovering, self.linear) = (false, 0.0);
        Standard.on_timeout(w, timeout);
    }

    fn extras(&mut self) -> Extras<'_> {
        let extras = match self.options.loss_recovery {
            true => Extras { timeout_slack: SLACK, resend_limit: RESENT_A_PASS, ..Extras::default() },
            false => Extras::default(),
        };
        Extras { receive_window: Some(self), ..extras }
    }
}

impl ReceiveWindow for Adalr {
    fn on_advertised_window(&mut self, rwnd: u32) {
        self.adjusted_since_ack = false;
        let advertised = f64::from(rwnd);
        self.adjusted = match self.options.rwnd_reading {
            RwndReading::Accumulating if self.widens(rwnd) => self.adjusted.max(advertised),
            _ => advertised,
        };
    }

    fn receive_window(&mut self, w: &Window, view: &SendView) -> u32 {
        if self.options.rwnd_reading == RwndReading::FromAdvertised {
            self.adjusted = f64::from(view.rwnd);
        }
        let once_more = !(self.adjusted_since_ack && self.grows_once());
        if once_more && f64::from(view.flight) <= self.adjusted {
            self.adjusted = (self.adjusted + self.increment(w, view)).min(LARGEST_WINDOW);
            self.adjusted_since_ack = true;
        }
        self.adjusted as u32
    }
}

#[cfg(test)]
mod tests;
