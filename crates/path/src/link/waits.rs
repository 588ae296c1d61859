//! How the waits of a link's packets are distributed, where somebody asked.

use bentpipe_units::Span;
use hdrhistogram::Histogram;

bentpipe_units::numbers! {
    /// Quantiles of the waits before service of the packets that were taken, within 0.1 %: the least wait that so many of them
    /// are within. Null where they were not asked for, and without a packet.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct WaitQuantiles {
        /// Median of the waits before service, in seconds; null where it was not asked for.
        pub queueing_delay_p50_s: Option<f64> = "s", "p50";
        /// The wait that 95 % of the packets are within, in seconds.
        pub queueing_delay_p95_s: Option<f64> = "s", "p95";
        /// The wait that 99 % of the packets are within, in seconds.
        pub queueing_delay_p99_s: Option<f64> = "s", "p99";
    }
}

/// Counts waits, to three digits each.
#[derive(Clone, Debug)]
pub(super) struct Waits(Histogram<u64>);

impl Waits {
    /// None when memory is short.
    pub(super) fn new() -> Option<Waits> {
        Histogram::new(3).ok().map(Waits)
    }

    pub(super) fn add(&mut self, wait: Span) {
        // It grows, and so takes every wait that there is memory for.
        let _ = self.0.record(wait.as_nanos());
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Of these and so many packets that did not wait.
    pub(super) fn quantiles(&self, taken: u64) -> WaitQuantiles {
        if taken == 0 {
            return WaitQuantiles::default();
        }
        let waited = self.0.len();
        let at_once = taken.saturating_sub(waited);
        let within = |share: f64| {
            let place = (share * (at_once + waited) as f64).ceil().max(1.0) as u64;
            if place <= at_once {
                return Some(0.0);
            }
            // A histogram without a value says 0 too.
            let of_waited = (place - at_once) as f64 / waited as f64;
            Some(self.0.value_at_quantile(of_waited) as f64 * 1e-9)
        };
        WaitQuantiles {
            queueing_delay_p50_s: within(0.5),
            queueing_delay_p95_s: within(0.95),
            queueing_delay_p99_s: within(0.99),
        }
    }
}
