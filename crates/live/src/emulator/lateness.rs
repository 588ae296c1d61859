//! How late packets were released, and for how much of the time the loop was behind.

use bentpipe_units::Time;
use hdrhistogram::Histogram;
use serde::Serialize;

use crate::LiveError;

/// What is released later than this was not kept up with.
const BEHIND_NS: u64 = 1_000_000;
/// The quantiles are right to so many digits.
const DIGITS: u8 = 3;

/// Lateness of release: when a packet was handed to its host, less the time at which the network had it there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantiles {
    /// Median, s.
    pub p50_s: f64,
    /// 99 of 100 are no later, s.
    pub p99_s: f64,
    /// 999 of 1,000 are no later, s.
    pub p999_s: f64,
    /// The latest, s.
    pub max_s: f64,
}

/// Counts of lateness.
pub(super) struct Lateness {
    /// In nanoseconds.
    counts: Histogram<u64>,
    behind_ns: u64,
    last_report: Time,
}

impl Lateness {
    pub(super) fn new() -> Result<Lateness, LiveError> {
        let counts = Histogram::new(DIGITS).map_err(|error| LiveError::Failed(error.to_string()))?;
        Ok(Lateness { counts, behind_ns: 0, last_report: Time::ZERO })
    }

    /// Packets that were due then are released at `now`.
    pub(super) fn record_all(&mut self, due: &[Time], now: Time) {
        for due in due {
            self.record(*due, now);
        }
    }

    #[inline]
    fn record(&mut self, due: Time, now: Time) {
        let late = now.since(due).as_nanos();
        // It grows, and so takes every value that there is memory for.
        let _ = self.counts.record(late);
        if late > BEHIND_NS {
            self.behind_ns += now.since(due.max(self.last_report)).as_nanos();
            self.last_report = now;
        }
    }

    /// The share of the time until `now` in which something was overdue that was released more than a millisecond late.
    pub(super) fn overload(&self, now: Time) -> f64 {
        self.behind_ns as f64 / now.since(Time::ZERO).as_nanos().max(1) as f64
    }

    pub(super) fn quantiles(&self) -> Option<Quantiles> {
        let quantile = |share: f64| self.counts.value_at_quantile(share) as f64 * 1e-9;
        (!self.counts.is_empty()).then(|| Quantiles {
            p50_s: quantile(0.5),
            p99_s: quantile(0.99),
            p999_s: quantile(0.999),
            max_s: self.counts.max() as f64 * 1e-9,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_behind_is_counted_once_however_many_packets_wait() {
        let mut lateness = Lateness::new().unwrap();
        assert!(lateness.quantiles().is_none());
        let ms = |ms: u64| Time::from_nanos(ms * 1_000_000);
        for due in [100, 110, 120] {
            lateness.record(ms(due), ms(200));
        }
        lateness.record(ms(300), Time::from_nanos(300_500_000));
        assert!((lateness.overload(ms(1000)) - 0.1).abs() < 1e-9);
        let found = lateness.quantiles().unwrap();
        assert!((found.max_s - 0.1).abs() < 1e-3 && (found.p50_s - 0.08).abs() < 1e-3, "{found:?}");
    }
}
