//! When a sender wants to be called: the retransmission timer, a timer of the recovery's own, the release of what is paced.

use bentpipe_units::Time;

use crate::Config;

/// Whether the peer's window is closed, so that what goes out probes it (RFC 9293 section 3.8.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Persist {
    Off,
    On,
    /// The timer says that a probe goes out.
    Due,
}

/// When a sender wants to be called, and what is known of how it came to that.
#[derive(Debug)]
pub(super) struct Timers {
    /// Retransmission timer, or persist timer where `persist` is not off; [`Sender::timer`](super::Sender::timer) says when it expires.
    pub(super) timer: Time,
    /// When it was set.
    pub(super) armed: Time,
    /// Whether it expires on a tick at or behind that, which is found when somebody asks: each ACK sets it anew.
    pub(super) before_tick: bool,
    pub(super) persist: Persist,
    /// A mark came while cwnd was one segment: the retransmission timer lets the next segment go (RFC 3168 section 6.1.2).
    pub(super) after_mark: bool,
    /// The earlier of the recovery's own timer and of the time at which pacing or dummy segments let the next segment go.
    pub(super) other: Time,
    pub(super) last_sent: Time,
    pub(super) put_off: Option<Box<PutOff>>,
    pub(super) timeouts_in_a_row: u32,
    pub(super) max_retransmissions: u32,
}

impl Timers {
    pub(super) fn new(config: &Config) -> Timers {
        Timers {
            timer: Time::NEVER,
            armed: Time::ZERO,
            before_tick: false,
            persist: Persist::Off,
            after_mark: false,
            other: Time::NEVER,
            last_sent: Time::ZERO,
            put_off: None,
            timeouts_in_a_row: 0,
            max_retransmissions: config.max_retransmissions,
        }
    }
}

/// The timer has expired without a timeout and was set again.
#[derive(Clone, Copy, Debug)]
pub(super) struct PutOff {
    /// What it was set to, and since when it ran then: it may have been armed anew since, and come to the same tick.
    pub(super) timer: Time,
    pub(super) armed: Time,
    /// When the tail is probed, and when the RTO is over.
    pub(super) probe: Time,
    pub(super) timeout: Time,
}
