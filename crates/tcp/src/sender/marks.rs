//! Explicit congestion notification at the sender (RFC 3168 section 6.1.2).

use bentpipe_units::Time;

use super::Sender;
use crate::control::Mark;
use crate::recovery::Reduction;

impl Sender {
    /// The ACK that was just taken tells that a packet was marked on its way; `flight` bytes were outstanding before it.
    pub(crate) fn on_mark_echo(&mut self, now: Time, flight: u32) {
        // RFC 3168 section 6.1.2: "TCP should not react to congestion indications more than once every window of data".
        if self.reductions.cover_ack(self.una) {
            return;
        }
        self.stats.mark_reductions += 1;
        let mark = Mark { now, flight };
        self.control.on_congestion_mark(&mut self.window, &mark);
        if self.start_listens {
            self.slow_start.on_congestion(&mut self.window);
        }
        let (una, max) = (self.una, self.max);
        self.reductions.push(Reduction { time: now, una, below: max, max, marked: true });
    }

    /// Whether a segment of new data is to tell the receiver that the window was reduced (CWR); asked before each.
    pub(crate) fn announce_reduction(&mut self) -> bool {
        self.reductions.acknowledged(self.una);
        self.reductions.announce()
    }
}
