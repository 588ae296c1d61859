//! What a pause leaves of the window.

use bentpipe_units::Span;

use super::Agreed;
use crate::control::Window;
use crate::{Config, Growth, IdleRestart};

/// The rule, and the window and growth that the connection began with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Restart {
    rule: IdleRestart,
    /// In bytes.
    initial: f64,
    pub(super) growth: Growth,
}

/// RFC 7661 section 4.4: the non-validated phase lasts five minutes at most.
const NON_VALIDATED: Span = Span::from_millis(300_000);

impl Restart {
    pub(super) fn new(config: &Config, agreed: &Agreed) -> Restart {
        let initial = f64::from(agreed.smss) * f64::from(agreed.initial_window);
        Restart { rule: config.restart_after_idle, initial, growth: config.growth }
    }

    /// The window after a pause of so long, in bytes, where it may be less than it was; raises ssthresh by what it takes.
    pub(super) fn window(&self, w: &mut Window, idle: Span, rto: Span) -> Option<f64> {
        let each = match self.rule {
            IdleRestart::Rfc5681 if idle > rto => return Some(self.initial),
            IdleRestart::Linux => rto,
            IdleRestart::Rfc7661 => NON_VALIDATED,
            IdleRestart::Rfc5681 | IdleRestart::Off => return None,
        };
        if idle <= each {
            return None;
        }
        // `tcp_cwnd_restart`, in whole segments: "ssthresh = max(ssthresh, 3/4 cwnd)", and cwnd halved for each RTO.
        let mut cwnd = (w.cwnd / w.smss) as u32;
        let least = cwnd.min((self.initial / w.smss) as u32);
        w.ssthresh = w.ssthresh.max(f64::from(cwnd / 2 + cwnd / 4) * w.smss);
        let mut left = idle;
        while left > each && cwnd > least {
            cwnd /= 2;
            left = left - each;
        }
        Some(f64::from(cwnd.max(least)) * w.smss)
    }
}
