//! RFC 5681: `standard`; with less reduction for a mark RFC 8511.

use bentpipe_units::bounded::Number;

use super::{Control, ControlFactory, Mark, Window, halve, options};

/// RFC 5681 and nothing else: every hook at its default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standard;

impl Control for Standard {}

/// Alternative backoff with ECN (ABE, RFC 8511): RFC 5681 that leaves another share of the flight size at a mark.
#[derive(Clone, Copy, Debug)]
struct Abe {
    beta_mark: f64,
}

impl Control for Abe {
    /// RFC 8511 changes the reaction to a mark in congestion avoidance alone; in slow start it is RFC 3168's.
    fn on_congestion_mark(&mut self, w: &mut Window, mark: &Mark) {
        let cwnd = w.cwnd;
        if w.in_slow_start() {
            halve(w, mark.flight);
        } else {
            w.ssthresh = (self.beta_mark * f64::from(mark.flight)).max(2.0 * w.smss);
        }
        w.cwnd = w.ssthresh.min(cwnd);
    }
}

options! {
    "standard", "slow start, congestion avoidance, halving (RFC 5681)";
    /// Options of the control standard.
    pub struct StandardOptions {
        /// Share of the flight size that a congestion mark leaves in congestion avoidance, 0 to 1; RFC 8511 section 3.1 has 0.8.
        #[serde(with = "Number::<0, 1>")]
        pub beta_mark: f64 = HALF,
    }
}

/// What a loss leaves of the flight size, and a mark too (RFC 3168).
const HALF: f64 = 0.5;

impl ControlFactory for StandardOptions {
    fn make(&self) -> Box<dyn Control> {
        if self.beta_mark == HALF { Box::new(Standard) } else { Box::new(Abe { beta_mark: self.beta_mark }) }
    }

    /// With it, each recovery is a variant under the recovery's name.
    fn recoveries(&self) -> &[&str] {
        &[]
    }
}
