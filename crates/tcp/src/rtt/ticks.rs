//! ns-2's estimator (`rtt_update`, `tcp.cc`): BSD's, in whole ticks of a clock.

use bentpipe_units::{Span, Time};

/// SRTT in eighths of a tick and RTTVAR in quarters, both cut to whole numbers; no sample yet while SRTT is 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ticks {
    srtt: u64,
    rttvar: u64,
}

impl Ticks {
    /// Takes a round trip that ends now: as many ticks as the clock has counted meanwhile, one at least. Gives SRTT and RTO.
    pub(super) fn sample(&mut self, now: Time, rtt: Span, tick: Span) -> (Span, Span) {
        let tick = tick.as_nanos().max(1);
        let sent = now.as_nanos().saturating_sub(rtt.as_nanos());
        let ticks = (now.as_nanos() / tick - sent / tick).max(1);
        if self.srtt == 0 {
            (self.srtt, self.rttvar) = (8 * ticks, 2 * ticks);
        } else {
            let smoothed = self.srtt / 8;
            self.srtt = (self.srtt + ticks - smoothed).max(1);
            self.rttvar = (self.rttvar + ticks.abs_diff(smoothed) - self.rttvar / 4).max(1);
        }
        let rto = (8 * self.rttvar + self.srtt) / 8;
        (Span::from_nanos(self.srtt * tick / 8), Span::from_nanos(rto * tick))
    }

    /// The RTO has doubled more than thrice: "clobber the srtt value, storing it in the mean deviation instead" (`rtt_backoff`).
    pub(super) fn forget(&mut self) {
        self.rttvar += self.srtt / 8;
        self.srtt = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Span = Span::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn rto(ticks: &mut Ticks, now: u64, rtt: u64) -> u64 {
        ticks.sample(at(now), Span::from_millis(rtt), TICK).1.as_nanos() / 1_000_000
    }

    #[test]
    fn a_round_trip_is_the_ticks_that_the_clock_has_counted() {
        // 256 ms are two ticks or three, by where they begin.
        assert_eq!(rto(&mut Ticks::default(), 1256, 256), 600, "2 + 4 * 1");
        assert_eq!(rto(&mut Ticks::default(), 1306, 256), 900, "3 + 4 * 1.5");
        // Of less than a tick, one.
        assert_eq!(rto(&mut Ticks::default(), 1030, 20), 300, "1 + 4 * 0.5");
    }

    #[test]
    fn srtt_and_rttvar_are_cut_to_whole_eighths_and_quarters() {
        let mut ticks = Ticks::default();
        let rtos: Vec<u64> = (0..6).map(|_| rto(&mut ticks, 1256, 256)).collect();
        // RTTVAR falls from 4 quarters to 3 and no further, since a quarter of 3 is cut to 0; RFC 6298 would come to 256 ms.
        assert_eq!(rtos, [600, 500, 500, 500, 500, 500]);
        assert_eq!(ticks.srtt, 16);
        // One tick more: SRTT 17 eighths, RTTVAR 4 quarters.
        assert_eq!(rto(&mut ticks, 1306, 256), 600);
        assert_eq!((ticks.srtt, ticks.rttvar), (17, 4));
        // And fewer: |1 - 2| of 4 quarters.
        assert_eq!(rto(&mut ticks, 1350, 120), 600);
        assert_eq!((ticks.srtt, ticks.rttvar), (16, 4));
    }

    #[test]
    fn what_is_forgotten_begins_anew() {
        let mut ticks = Ticks::default();
        rto(&mut ticks, 1256, 256);
        ticks.forget();
        assert_eq!((ticks.srtt, ticks.rttvar), (0, 6));
        assert_eq!(rto(&mut ticks, 1306, 256), 900);
    }
}
