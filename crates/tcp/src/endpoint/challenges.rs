//! How many challenge ACKs may go out: RFC 5961 section 7.

use bentpipe_units::{Span, Time};

use crate::Host;

/// Challenge ACKs in any [`INTERVAL`]: the RFC's example.
const MOST: usize = 10;
/// The RFC's example.
const INTERVAL: Span = Span::from_millis(5000);
/// Linux sends one in this time (`tcp_invalid_ratelimit`, by `__tcp_oow_rate_limited`).
const LINUX_INTERVAL: Span = Span::from_millis(500);

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
    pub(super) fn of(host: Host) -> Challenges {
        let (most, interval) = match host {
            Host::Rfc => (MOST, INTERVAL),
            Host::Linux => (1, LINUX_INTERVAL),
        };
        Challenges { at: [Time::NEVER; MOST], oldest: 0, most, interval }
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
