//! How many challenge ACKs may go out: RFC 5961 section 7.

use bentpipe_units::{Span, Time};

/// Challenge ACKs in any [`INTERVAL`]: the RFC's example.
const MOST: usize = 10;
/// The RFC's example.
const INTERVAL: Span = Span::from_millis(5000);

/// When the last challenge ACKs were owed.
///
/// Each connection has its own: a count that connections share tells an attacker of one what another has answered.
#[derive(Debug)]
pub(super) struct Challenges {
    /// A ring; `Time::NEVER` where there was none yet.
    at: [Time; MOST],
    oldest: usize,
}

impl Default for Challenges {
    fn default() -> Challenges {
        Challenges { at: [Time::NEVER; MOST], oldest: 0 }
    }
}

impl Challenges {
    /// Whether one more may go out; counts it if so.
    pub(super) fn allow(&mut self, now: Time) -> bool {
        let oldest = &mut self.at[self.oldest];
        let allowed = *oldest == Time::NEVER || now.since(*oldest) >= INTERVAL;
        if allowed {
            *oldest = now;
            self.oldest = (self.oldest + 1) % MOST;
        }
        allowed
    }
}
