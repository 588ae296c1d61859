//! Why a sender sends no more.

use super::Sender;
use super::application::Fin;

/// What keeps a sender from sending more, after a poll that gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// All that the application handed over was sent, or all that the send buffer has room for.
    Application,
    /// The window that the peer advertised has no room for a segment.
    ReceiveWindow,
    /// The window is below ssthresh, or the control in its startup.
    SlowStart,
    /// Losses are repaired, or the window is what a loss or a mark has left and what has grown since.
    LossResponse,
    /// Pacing, or a window that the control has set without a loss.
    Control,
}

impl Sender {
    /// What keeps it from sending more until something changes; asked after [`Sender::poll`] gave nothing.
    pub fn limit(&self) -> Limit {
        let in_recovery = self.recovery.in_recovery();
        let waits = self.app.unsent < u64::from(self.smss) && self.holds_small();
        let full = self.queue.is_full()
            || self.app.buffered < self.peer.rwnd && self.flight() + self.smss > self.app.buffered;
        if (waits || full || (self.app.unsent == 0 && self.app.fin != Fin::Queued)) && !in_recovery {
            return Limit::Application;
        }
        let starting = match self.control.phase() {
            Some(phase) => phase == "startup",
            None => self.window.in_slow_start(),
        };
        if self.pacing.holds_back {
            // What goes out next fills the window: pacing spreads what the receiver takes in a round trip.
            let next = self.window.send_quantum.max(f64::from(self.smss)) + f64::from(self.smss);
            let room = f64::from(self.peer.rwnd.saturating_sub(self.flight()));
            if f64::from(self.peer.rwnd) <= self.window.cwnd && room < next {
                return Limit::ReceiveWindow;
            }
            return if starting { Limit::SlowStart } else { Limit::Control };
        }
        if self.probing() {
            return Limit::ReceiveWindow;
        }
        if in_recovery {
            return Limit::LossResponse;
        }
        if f64::from(self.peer.rwnd) <= self.window.cwnd
            && self.new_data_len(self.max, self.peer.rwnd).is_none()
        {
            return Limit::ReceiveWindow;
        }
        if starting {
            return Limit::SlowStart;
        }
        let reductions = u64::from(self.recovery.phases()) + self.stats.timeouts + self.stats.mark_reductions;
        if self.paced || reductions == 0 { Limit::Control } else { Limit::LossResponse }
    }
}
