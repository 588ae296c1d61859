//! How many challenge ACKs may go out: RFC 5961 section 7.

use bentpipe_units::{Span, Time};

use crate::{Config, Host};

/// Challenge ACKs in any interval: the RFC's example. Linux has one (`__tcp_oow_rate_limited`).
const MOST: usize = 10;

/// When the last challenge ACKs were owed.
///
/// Each connection has its own: a count that connections share tells an attacker of one what another has answered.
#[derive(Debug)]
pub(super) struct Challenges {
    /// A ring; `Time::NEVER` where there was none yet.
    at: [Time; MOST],
    oldest: usize,
    most: usize,
    interval: Span,
}

impl Challenges {
    /// None has gone out.
    pub(super) fn of(config: &Config) -> Challenges {
        let most = if config.host == Host::Linux { 1 } else { MOST };
        Challenges { at: [Time::NEVER; MOST], oldest: 0, most, interval: config.challenge_interval }
    }

    /// Whether one more may go out; counts it if so.
    pub(super) fn allow(&mut self, now: Time) -> bool {
        let oldest = &mut self.at[self.oldest];
        let allowed = *oldest == Time::NEVER || now.since(*oldest) >= self.interval;
        if allowed {
            *oldest = now;
            self.oldest = (self.oldest + 1) % self.most;
        }
        allowed
    }
}
