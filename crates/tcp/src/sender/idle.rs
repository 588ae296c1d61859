//! The first data after a pause.

use bentpipe_units::Time;

use super::Sender;
use crate::control::Resume;

impl Sender {
    #[cold]
    #[inline(never)]
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        if self.stats.data_segments == 0 {
            return;
        }
        let idle = now.since(self.timers.last_sent);
        if let Some(restart) = self.restart.window(&mut self.window, idle, self.rtt.rto()) {
            self.window.growth = self.restart.growth;
            self.control.restart_after_idle(&mut self.window, restart);
            if self.start_listens {
                self.slow_start.on_restart(&mut self.window, now);
                self.settle();
            }
        }
        let by_application = self.record.limited_by_application();
        self.control.on_resume(&mut self.window, &Resume { now, idle, by_application });
    }
}
