//! Explicit congestion notification at the sender (RFC 3168 section 6.1.2).

use bentpipe_units::Time;

use super::Sender;
use crate::control::Mark;
use crate::recovery::Reduction;

/// The sender before an ACK with ECE.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BeforeEcho {
    flight: u32,
    cwnd: f64,
    recovery_idle: bool,
}

impl Sender {
    /// What [`Sender::on_mark_echo`] wants to know of the time before an ACK with ECE.
    pub(crate) fn before_echo(&self) -> BeforeEcho {
        let (flight, cwnd, recovery_idle) = (self.flight(), self.window.cwnd, self.recovery_idle);
        BeforeEcho { flight, cwnd, recovery_idle }
    }

    /// The ACK that was just taken tells that a packet was marked on its way.
    pub(crate) fn on_mark_echo(&mut self, now: Time, before: BeforeEcho) {
        // RFC 3168 section 6.1.2: "The sending TCP SHOULD NOT increase the congestion window in response to the receipt of an
        // ECN-Echo ACK packet." What a recovery does to the window is no such increase.
        if before.recovery_idle && !self.in_recovery() {
            self.window.cwnd = self.window.cwnd.min(before.cwnd);
        }
        // "TCP should not react to congestion indications more than once every window of data".
        if self.reductions.cover_ack(self.una) {
            return;
        }
        self.stats.mark_reductions += 1;
        let mark = Mark { now, flight: before.flight };
        self.control.on_congestion_mark(&mut self.window, &mark);
        let (una, max) = (self.una, self.max);
        self.reductions.push(Reduction { time: now, una, below: max, max, marked: true });
    }

    /// Whether a segment of new data is to tell the receiver that the window was reduced (CWR); asked before each.
    pub(crate) fn announce_reduction(&mut self) -> bool {
        self.reductions.acknowledged(self.una);
        self.reductions.announce()
    }
}
