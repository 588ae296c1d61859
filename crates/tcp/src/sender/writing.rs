//! What the application calls: more data, and no more.

use super::Sender;
use super::application::Fin;

impl Sender {
    /// The application hands over `bytes` more; `u64::MAX` means that it never stops.
    pub fn write(&mut self, bytes: u64) {
        if self.app.unsent == 0 && self.una == self.max && self.stats.data_segments > 0 {
            // A pause with all acknowledged: what follows starts with an empty network, and `poll` noted no limit meanwhile.
            self.record.limit_by_application(0);
        }
        self.app.unsent = self.app.unsent.saturating_add(bytes);
        if self.queue.is_there && bytes > 0 {
            self.queue.write(bytes);
        }
    }

    /// The application has no more data: what was handed over and not sent is dropped when `discard`, but what the kernel has of it.
    pub fn close(&mut self, discard: bool) {
        if discard {
            self.app.unsent = u64::from(self.queue.discard());
            if self.probing() && self.una == self.max && self.app.unsent == 0 {
                // Nothing is left to probe for, and FIN needs no window.
                self.leave_persist();
                self.settle();
            }
        }
        if self.app.fin == Fin::Open {
            self.app.fin = Fin::Queued;
        }
    }
}
