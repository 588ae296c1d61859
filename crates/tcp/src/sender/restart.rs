//! What a pause leaves of the window.

use bentpipe_units::{Span, Time};

use super::Sender;
use crate::control::{Resume, Window};
use crate::{Growth, IdleRestart};

/// The rule, and the window and growth that the connection began with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Restart {
    pub(super) rule: IdleRestart,
    /// In bytes.
    pub(super) initial: f64,
    pub(super) growth: Growth,
}

/// RFC 7661 section 4.4: the non-validated phase lasts five minutes at most.
const NON_VALIDATED: Span = Span::from_millis(300_000);

impl Restart {
    /// The window after a pause of so long, in bytes, where it may be less than it was; raises ssthresh by what it takes.
    fn window(&self, w: &mut Window, idle: Span, rto: Span) -> Option<f64> {
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

impl Sender {
    #[cold]
    #[inline(never)]
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        if self.stats.data_segments == 0 {
            return;
        }
        let idle = now.since(self.timers.last_sent);
        if let Some(restart) = self.restart.window(&mut self.window, idle, self.rtt.rto()) {
            self.window.growth = self.restart.growth;
            self.control.restart_after_idle(&mut self.window, restart);
            if self.start_listens {
                self.slow_start.on_restart(&mut self.window, now);
                self.settle();
            }
        }
        let by_application = self.record.limited_by_application();
        self.control.on_resume(&mut self.window, &Resume { now, idle, by_application });
    }
}
