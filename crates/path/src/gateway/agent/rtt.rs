//! The round-trip time of what lies behind an agent, and the timer that follows it.

use bentpipe_units::{Span, Time};

use super::desk::Local;

/// Doubled no more often: 2^6 times the timeout.
const MOST_DOUBLINGS: u32 = 6;

/// SRTT and RTTVAR of RFC 6298 section 2, over one packet at a time, and none while anything is sent again (Karn's rule).
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalRtt {
    smoothed: Option<(Span, Span)>,
    /// The packet that is timed: the place behind it, and when it went.
    timed: Option<(u64, Time)>,
    /// Expiries in a row.
    pub(super) expiries: u32,
}

impl LocalRtt {
    pub(super) const NEW: LocalRtt = LocalRtt { smoothed: None, timed: None, expiries: 0 };

    /// A packet goes for the first time, its data up to `end`.
    pub(super) fn sent(&mut self, now: Time, end: u64) {
        self.timed.get_or_insert((end, now));
    }

    /// Something is sent again: what is timed may be ambiguous.
    pub(super) fn sent_again(&mut self) {
        self.timed = None;
    }

    /// Everything before `una` has come.
    pub(super) fn acknowledged(&mut self, now: Time, una: u64) {
        self.expiries = 0;
        let Some((_, at)) = self.timed.filter(|(end, _)| *end <= una) else { return };
        self.timed = None;
        self.sample(now.since(at));
    }

    /// A round trip took so long.
    pub(super) fn sample(&mut self, took: Span) {
        let sample = took.as_nanos();
        let (srtt, rttvar) = match self.smoothed {
            None => (sample, sample / 2),
            Some((srtt, rttvar)) => {
                let (srtt, rttvar) = (srtt.as_nanos(), rttvar.as_nanos());
                ((7 * srtt + sample) / 8, (3 * rttvar + srtt.abs_diff(sample)) / 4)
            }
        };
        self.smoothed = Some((Span::from_nanos(srtt), Span::from_nanos(rttvar)));
    }

    /// The timer: SRTT + 4 RTTVAR, the latter no less than `min_timeout`, doubled with each expiry in a row. A bound of the sum would
    /// be none where the round trip alone is longer.
    pub(super) fn timeout(&self, local: &Local) -> Span {
        let first = self.smoothed.map_or(local.first_timeout.max(local.min_timeout), |(srtt, rttvar)| {
            srtt + (rttvar * 4).max(local.min_timeout)
        });
        first * (1 << self.expiries.min(MOST_DOUBLINGS))
    }
}
