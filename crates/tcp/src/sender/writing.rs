//! What the application calls: more data, and no more.

use bentpipe_units::Time;

use super::application::Fin;
use super::{Outgoing, Sender};

impl Sender {
    /// The application hands over `bytes` more; `u64::MAX` means that it never stops.
    pub fn write(&mut self, bytes: u64) {
        if self.app.unsent == 0 && self.una == self.max && self.stats.data_segments > 0 {
            // A pause with all acknowledged: what follows starts with an empty network, and `poll` noted no limit meanwhile.
            self.record.limit_by_application(0);
        }
        if self.app.ends_writes && self.app.unsent > 0 && bytes > 0 {
            self.app.later.push_back(bytes);
            self.settle();
        } else {
            self.app.unsent = self.app.unsent.saturating_add(bytes);
        }
    }

    /// The next segment where writes wait behind the one under way. Its last segment goes at once, though it is short (`tcp_push`);
    /// where the window has no room for it, the next write fills it up (`tcp_sendmsg_locked`).
    #[inline(never)]
    pub(super) fn poll_write_by_write(&mut self, now: Time) -> Option<Outgoing> {
        let sent = self.poll_by_recovery(now);
        if self.app.unsent == 0 {
            self.app.unsent = self.app.later.pop_front().unwrap_or(0);
            self.settle();
        } else if sent.is_none_or(|sent| sent.last) {
            self.join_writes();
        }
        sent.or_else(|| self.poll(now))
    }

    /// All that was written goes on as one.
    fn join_writes(&mut self) {
        if !self.app.later.is_empty() {
            let later = self.app.later.drain(..).fold(0, u64::saturating_add);
            self.app.unsent = self.app.unsent.saturating_add(later);
            self.settle();
        }
    }

    /// The application has no more data: what was handed over and not sent is dropped when `discard`.
    pub fn close(&mut self, discard: bool) {
        self.join_writes();
        if discard {
            self.app.unsent = 0;
            if self.probing() && self.una == self.max {
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
