//! What a link that changes could have carried.

use bentpipe_units::{Rate, Span, Time};

bentpipe_units::numbers! {
    /// What a link could have carried by its schedule or its trace.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct SupplyStats {
        /// Mean rate at which the link could have carried packets, its efficiency in it and standstills counted as none, in bits a second.
        pub rate_mean_bps: f64 = "bit/s", "could carry";
        /// Share of the time in which the link stood still, 0 to 1; `utilization` comes to 1 less this where it was busy all the while.
        pub standstill: f64 = "share", "stood still";
    }
}

/// How long a look from outside at a link that stands still now and then goes back.
const SEEN: Span = Span::from_millis(100);

/// What a link could have carried by a time, as sums.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Supply {
    at: Time,
    /// Rate over time, in bit/s and nanoseconds.
    work: u128,
    still: Span,
}

impl Supply {
    /// The link has been so until now.
    pub(super) fn add_up(&mut self, now: Time, rate: Rate, still: bool) {
        let time = now.since(self.at);
        match still {
            true => self.still += time,
            false => self.work += u128::from(time.as_nanos()) * u128::from(rate.as_bps()),
        }
        self.at = self.at.max(now);
    }

    pub(super) fn since(&self, earlier: &Supply) -> Supply {
        Supply { at: self.at, work: self.work - earlier.work, still: self.still - earlier.still }
    }

    pub(super) fn stats(&self, elapsed: Span) -> SupplyStats {
        if elapsed == Span::ZERO {
            return SupplyStats::default();
        }
        let elapsed = elapsed.as_nanos() as f64;
        SupplyStats {
            rate_mean_bps: self.work as f64 / elapsed,
            standstill: self.still.as_nanos() as f64 / elapsed,
        }
    }
}

/// The mean rate of a while that is over.
#[derive(Debug)]
pub(super) struct Seen {
    rate: Rate,
    from: Supply,
}

impl Seen {
    pub(super) fn new(rate: Rate) -> Seen {
        Seen { rate, from: Supply::default() }
    }

    /// At least 1 bit/s, as rates are.
    pub(super) fn look(&mut self, supply: &Supply) -> Rate {
        let elapsed = supply.at.since(self.from.at);
        if elapsed >= SEEN {
            let mean = (supply.work - self.from.work) / u128::from(elapsed.as_nanos());
            (self.rate, self.from) = (Rate::from_bps((mean as u64).max(1)), *supply);
        }
        self.rate
    }
}
