//! A slow start that hears of more than the ACKs that may open cwnd.

use super::Sender;

impl Sender {
    /// Asks whether the slow start listens, and whether anybody paces.
    #[cold]
    pub(super) fn look_at_start(&mut self) {
        self.start_listens = self.slow_start.listens();
        self.paced = self.asked.paces || (self.start_listens && self.slow_start.paces());
        self.held_back &= self.paced;
        if !self.paced {
            self.window.pacing_rate = f64::INFINITY;
        }
    }

    /// The name of the phase that the control or the slow start is in, where either goes through phases.
    pub fn phase(&self) -> Option<&'static str> {
        self.control.phase().or_else(|| self.slow_start.phase(&self.window))
    }
}
