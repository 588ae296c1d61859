//! Explicit congestion notification at the sender (RFC 3168 section 6.1.2).

use bentpipe_units::Time;

use super::Sender;
use crate::control::Mark;
use crate::recovery::Reduction;

impl Sender {
    /// A packet was marked on its way, in a window of data for which the window was not reduced yet.
    #[cold]
    pub(super) fn on_mark(&mut self, now: Time, flight: u32) {
        self.stats.mark_reductions += 1;
        self.control.on_congestion_mark(&mut self.window, &Mark { now, flight });
        let (una, max) = (self.una, self.max);
        self.reductions.push(Reduction { time: now, una, below: max, max, marked: true });
    }

    /// Whether a segment of new data is to tell the receiver that the window was reduced (CWR); asked before each.
    #[inline]
    pub(crate) fn announce_reduction(&mut self) -> bool {
        self.reductions.acknowledged(self.una);
        self.reductions.announce()
    }
}
