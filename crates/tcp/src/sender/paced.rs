//! The short way of what is paced, while the recovery has nothing to do.

use bentpipe_units::Time;

use super::{Incoming, Outgoing, Sender};
use crate::Spacing;

impl Sender {
    /// Whether the control's pacing, cwnd and rwnd alone decide what goes out, where the recovery is idle.
    ///
    /// What was sent again and is outstanding may be the newest that is delivered, which a recovery may have to know.
    pub(super) fn paces_plainly(&self) -> bool {
        self.window.spacing == Spacing::Off
            && self.record.is_untouched()
            && self.recovery.next_timeout() == Time::NEVER
    }

    /// An ACK of new data that tells nothing else, where data is paced or more hangs on it.
    #[inline(always)]
    pub(super) fn on_paced_ack(&mut self, now: Time, incoming: &Incoming<'_>) {
        match self.rtt.is_linux() {
            true => return self.on_paced_ack_of_linux(now, *incoming),
            false => self.on_plain_ack::<false, true>(now, incoming, || incoming.timestamp_rtt),
        }
        self.end_paced_ack();
    }

    #[inline(never)]
    fn on_paced_ack_of_linux(&mut self, now: Time, incoming: Incoming<'_>) {
        self.on_plain_ack::<true, true>(now, &incoming, || incoming.timestamp_rtt);
        self.end_paced_ack();
    }

    #[inline(always)]
    fn end_paced_ack(&mut self) {
        if self.paced {
            self.record.forget_losses();
            if self.window.held_back {
                self.record.limit_by_application(self.flight());
            }
        }
        self.note_room(0);
    }

    /// An ACK went out alone.
    #[inline]
    pub(crate) fn sent_ack(&mut self, now: Time) {
        self.pacing.sent_ack(now);
    }

    #[inline(always)]
    pub(super) fn poll_paced(&mut self, now: Time) -> Option<Outgoing> {
        if !self.pacing.lets_go(now) {
            self.hold_back(true);
            self.write_meanwhile();
            return None;
        }
        if self.una == self.max {
            self.restart_after_idle(now);
        }
        let (flight, rwnd) = (self.flight(), self.receive_window(false));
        let room = (self.window.cwnd as u32).saturating_sub(flight);
        let sent = match self.queue.is_there {
            true => self.send_queued::<true>(now, rwnd, room),
            false => self.send_new_data::<true>(now, rwnd, room),
        };
        let Some(sent) = sent else {
            self.hold_back(false);
            return None;
        };
        let (rate, quantum) = (self.window.pacing_rate, self.window.send_quantum);
        self.pacing.sent(now, sent.len, rate, quantum, self.stats.data_segments);
        let left = room.min(rwnd.saturating_sub(flight)).saturating_sub(sent.len);
        let waits = !self.pacing.lets_go(now);
        self.hold_back(waits);
        Some(Outgoing { last: (waits && self.queue.is_quiet()) || self.is_last(left), ..sent })
    }

    /// How fast paced data goes out, in bytes a second, and how much of it at once.
    pub(super) fn rate_and_quantum(&self) -> (f64, f64) {
        let w = &self.window;
        match w.spacing {
            Spacing::Off => (w.pacing_rate, w.send_quantum),
            rule => self.spread(rule),
        }
    }

    /// The same where segments are spread over a round trip; a slow start that paces may have less go out.
    fn spread(&self, rule: Spacing) -> (f64, f64) {
        let w = &self.window;
        let (rate, quantum) = match rule {
            Spacing::Linux => (self.linux_rate(), f64::from(self.most_in_group() * self.smss)),
            _ => (self.even_rate(), w.smss),
        };
        // Without a sample nothing is known of a round trip.
        let rate = if self.rtt.smoothed().is_some() { rate } else { f64::INFINITY };
        (rate.min(w.pacing_rate), quantum)
    }

    /// Whether pacing holds back what the window may have room for.
    #[inline(always)]
    fn hold_back(&mut self, holds_back: bool) {
        self.pacing.holds_back = holds_back;
        self.timers.other = if holds_back { self.pacing.release() } else { Time::NEVER };
    }
}
