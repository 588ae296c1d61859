//! Careful Resume (RFC 9959): `careful-resume`.

use bentpipe_units::bounded::{Number, Size};
use bentpipe_units::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    HyStartOptions, HyStartPlusPlusOptions, SearchOptions, SlowStart, SlowStartFactory, StandardStartOptions,
    options,
};
use crate::control::{Ack, Window};

/// RFC 9959 section 4.2.1: an RTT this much longer than the saved one is of another path.
const LONGEST_RTT: u64 = 10;

options! {
    "careful-resume", "Careful Resume: cwnd jumps, paced, to half of what a connection before had, and goes back after a loss (RFC 9959)", also ["jumpstart"];
    /// Options of the slow start careful-resume: what an earlier connection over the same path has saved, and the choices that the RFC leaves.
    pub struct CarefulResumeOptions {
        /// The capacity that was used, in bytes a round trip (`saved_cwnd`), up to 1 GiB; 0 when nothing was saved.
        #[serde(with = "Size::<0, 1_073_741_824>")]
        #[schemars(with = "bentpipe_units::Bytes")]
        pub saved_cwnd: u32 = 0,
        /// The smallest RTT that was measured then (`saved_rtt`); 0 when nothing was saved.
        pub saved_rtt: Span = Span::ZERO,
        /// The most that cwnd jumps to, whatever was saved (`max_jump`), up to 1 GiB.
        #[serde(with = "Size::<0, 1_073_741_824>")]
        #[schemars(with = "bentpipe_units::Bytes")]
        pub max_jump: u32 = 1 << 30,
        /// The share of the validated capacity that ssthresh has after a retreat (Beta), 0 to 1; the RFC has 0.5 to 1.
        #[serde(with = "Number::<0, 1>")]
        pub beta: f64 = 0.5,
        /// The slow start of the phases in which cwnd grows: `standard`, `hystart`, `hystart++` or `search`, with their defaults.
        pub growth: ResumedGrowth = ResumedGrowth::Standard,
    }
}

/// What becomes of growth below ssthresh where Careful Resume does not hold cwnd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResumedGrowth {
    /// RFC 5681.
    #[default]
    Standard,
    /// Linux's HyStart.
    HyStart,
    /// HyStart++ (RFC 9406).
    #[serde(rename = "hystart++")]
    HyStartPlusPlus,
    /// SEARCH (draft-chung-ccwg-search).
    Search,
}

impl SlowStartFactory for CarefulResumeOptions {
    fn make(&self) -> Box<dyn SlowStart> {
        let saved = self.saved_cwnd > 0 && self.saved_rtt > Span::ZERO;
        let phase = if saved { Phase::Reconnaissance { initial: None } } else { Phase::Normal };
        let growth = match self.growth {
            ResumedGrowth::Standard => StandardStartOptions.make(),
            ResumedGrowth::HyStart => HyStartOptions::default().make(),
            ResumedGrowth::HyStartPlusPlus => HyStartPlusPlusOptions.make(),
            ResumedGrowth::Search => SearchOptions::default().make(),
        };
        Box::new(CarefulResume { options: *self, growth, phase, pipe: 0.0, initial: 0.0 })
    }

    fn phases(&self) -> &'static [&'static str] {
        &["reconnaissance", "unvalidated", "validating", "safe retreat", "normal"]
    }
}

/// A start from what an earlier connection has saved, in the phases of RFC 9959 section 3.
///
/// Growth below ssthresh is that of another slow start, but for the phases in which the RFC holds cwnd. Bytes tell which ACK reaches which packet: those
/// outstanding when a phase began or ended.
pub struct CarefulResume {
    options: CarefulResumeOptions,
    growth: Box<dyn SlowStart>,
    phase: Phase,
    /// PipeSize: what the path is known to have held, in bytes.
    pipe: f64,
    /// The initial window, in bytes.
    initial: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Sends no more than any new connection; so many bytes of the initial data are not acknowledged, once the first ACK has told.
    Reconnaissance { initial: Option<f64> },
    /// cwnd has jumped, at a time and with an RTT; of what was outstanding then, so many bytes are not acknowledged.
    Unvalidated { since: Time, rtt: Span, before: u32 },
    /// So many bytes up to the last unvalidated packet are not acknowledged.
    Validating { left: u32 },
    /// A loss or a mark has shown that the jump was too far; cwnd stays where it is put, until the last unvalidated packet is
    /// acknowledged, so many bytes from here: all that is outstanding, where the next ACK is to tell it.
    SafeRetreat { left: Option<u32>, cwnd: f64 },
    /// Careful Resume is not used any more.
    Normal,
}

impl CarefulResume {
    /// Section 3.3: "jump_cwnd is less than or equal to Min(max_jump,(saved_cwnd/2))".
    fn jump(&self) -> f64 {
        f64::from(self.options.max_jump).min(f64::from(self.options.saved_cwnd) / 2.0)
    }

    /// Section 3.2: the initial data is acknowledged, and the RTT is that of the path.
    fn reconnoitre(&mut self, w: &mut Window, ack: &Ack<'_>, initial: Option<f64>) {
        if initial.is_none() {
            // This ACK may have opened cwnd already; all that was outstanding before it is the initial data.
            self.initial = f64::from(ack.prior_flight);
        }
        let left = initial.unwrap_or(self.initial) - f64::from(ack.acked);
        self.phase = Phase::Reconnaissance { initial: Some(left) };
        let (Some(rtt), Some(smallest)) = (ack.rtt(), ack.rtt_min) else { return };
        let used = f64::from(ack.prior_flight + ack.acked) + w.smss > w.cwnd;
        if left > 0.0 || !used {
            return;
        }
        let saved = self.options.saved_rtt;
        if smallest * 2 <= saved || smallest > saved * LONGEST_RTT || self.jump() <= w.cwnd {
            self.phase = Phase::Normal;
            return;
        }
        self.pipe = f64::from(ack.flight);
        self.phase = Phase::Unvalidated { since: ack.now, rtt, before: ack.flight };
        w.cwnd = self.jump();
        // Section 4.3: ITT = (current RTT x MPS)/jump_cwnd. A control that paces has a rate of its own.
        if w.pacing_rate.is_infinite() {
            w.pacing_rate = w.cwnd / rtt.as_secs();
        }
    }

    /// Section 3.3, the end of the phase.
    fn end_jump(&mut self, w: &mut Window, ack: &Ack<'_>) {
        self.stop_pacing(w);
        let flight = f64::from(ack.flight);
        if flight < self.initial || flight <= self.pipe {
            w.cwnd = self.pipe.max(self.initial);
            self.phase = Phase::Normal;
        } else {
            w.cwnd = flight;
            self.phase = Phase::Validating { left: ack.flight };
        }
    }

    /// Section 3.5, the entry: cwnd "MUST be reduced to no more than (PipeSize/2)".
    fn retreat(&mut self, w: &mut Window, left: Option<u32>) {
        self.stop_pacing(w);
        w.cwnd = (self.pipe / 2.0).max(w.smss);
        w.ssthresh = w.cwnd;
        // The jump is not taken up again, should the loss turn out to be none.
        w.saved = None;
        self.phase = Phase::SafeRetreat { left, cwnd: w.cwnd };
    }

    fn stop_pacing(&self, w: &mut Window) {
        if matches!(self.phase, Phase::Unvalidated { .. }) {
            w.pacing_rate = f64::INFINITY;
        }
    }
}

impl SlowStart for CarefulResume {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, growth: f64) {
        if !matches!(self.phase, Phase::Unvalidated { .. } | Phase::SafeRetreat { .. }) {
            self.growth.on_ack(w, ack, growth);
        }
    }

    fn on_timeout(&mut self) {
        self.growth.on_timeout();
        self.phase = Phase::Normal;
    }

    fn listens(&self) -> bool {
        self.phase != Phase::Normal
    }

    fn on_any_ack(&mut self, w: &mut Window, ack: &Ack<'_>) {
        self.pipe += f64::from(ack.newly_delivered());
        match self.phase {
            Phase::Reconnaissance { initial } => self.reconnoitre(w, ack, initial),
            Phase::Unvalidated { since, rtt, before } => {
                let filled = f64::from(ack.prior_flight) + w.smss > w.cwnd;
                if ack.rtt().is_some_and(|now| now * 2 <= self.options.saved_rtt) {
                    self.retreat(w, Some(ack.flight));
                } else if filled || ack.acked > before || ack.now.since(since) > rtt {
                    self.end_jump(w, ack);
                } else {
                    self.phase = Phase::Unvalidated { since, rtt, before: before - ack.acked };
                }
            }
            Phase::Validating { left } => {
                let left = left.saturating_sub(ack.acked);
                self.phase = if left == 0 { Phase::Normal } else { Phase::Validating { left } };
            }
            Phase::SafeRetreat { left, cwnd } => {
                w.cwnd = w.cwnd.min(cwnd);
                let left = left.map_or(ack.flight, |left| left.saturating_sub(ack.acked));
                self.phase = Phase::SafeRetreat { left: Some(left), cwnd };
                if left == 0 {
                    w.ssthresh = (self.pipe * self.options.beta).max(2.0 * w.smss);
                    self.phase = Phase::Normal;
                }
            }
            Phase::Normal => {}
        }
    }

    fn on_congestion(&mut self, w: &mut Window) {
        match self.phase {
            Phase::Reconnaissance { .. } => self.phase = Phase::Normal,
            Phase::Unvalidated { .. } => self.retreat(w, None),
            Phase::Validating { left } => self.retreat(w, Some(left)),
            Phase::SafeRetreat { .. } | Phase::Normal => {}
        }
    }

    fn on_recovery_step(&mut self, w: &mut Window) {
        if let Phase::SafeRetreat { cwnd, .. } = self.phase {
            w.cwnd = w.cwnd.min(cwnd);
        }
    }

    fn paces(&self) -> bool {
        matches!(self.phase, Phase::Unvalidated { .. })
    }

    fn phase(&self, _w: &Window) -> Option<&'static str> {
        Some(match self.phase {
            Phase::Reconnaissance { .. } => "reconnaissance",
            Phase::Unvalidated { .. } => "unvalidated",
            Phase::Validating { .. } => "validating",
            Phase::SafeRetreat { .. } => "safe retreat",
            Phase::Normal => "normal",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::test_acks::{at, reported, window};

    #[test]
    fn a_round_trip_below_half_of_the_saved_one_ends_the_jump() {
        let saved_rtt = Span::from_millis(500);
        let options = CarefulResumeOptions { saved_cwnd: 200_000, saved_rtt, ..Default::default() };
        for (rtt, phase, cwnd) in [(251, "unvalidated", 100e3), (250, "safe retreat", 5e3)] {
            let before = Phase::Unvalidated { since: at(1000), rtt: saved_rtt, before: 50_000 };
            let growth = StandardStartOptions.make();
            let mut resumed = CarefulResume { options, growth, phase: before, pipe: 9e3, initial: 10e3 };
            let mut w = window(100.0, f64::INFINITY);
            let record = reported(1100, rtt, 1000);
            let ack = Ack { now: at(1100), acked: 1000, flight: 50_000, ..Ack::new(&record) };
            resumed.on_any_ack(&mut w, &ack);
            assert_eq!((resumed.phase(&w), w.cwnd), (Some(phase), cwnd));
        }
    }
}
