//! What the peer's window, the send buffer and the control leave to send by.

use super::Sender;
use super::peer::PeerWindow;
use crate::control::{Control, SendView, Window};

impl Sender {
    /// The handshake told the window that the peer has to begin with, in bytes.
    pub fn set_peer_window(&mut self, bytes: u32) {
        self.note_window(bytes);
        let extras = self.control.extras();
        if let Some(control) = extras.receive_window {
            control.on_advertised_window(bytes);
        }
        if let Some(control) = extras.dummies {
            control.on_first_window(bytes);
        }
    }

    /// There is no peer any more.
    pub(crate) fn forget_peer_window(&mut self) {
        self.peer = PeerWindow::default();
    }

    #[inline]
    pub(super) fn note_window(&mut self, bytes: u32) {
        if bytes != self.peer.rwnd {
            self.peer.rwnd = bytes;
            self.peer.largest = self.peer.largest.max(bytes);
        }
    }

    /// Whether an ACK is followed by [`Sender::note_room`].
    #[inline(always)]
    pub(super) fn minds_room(&self) -> bool {
        self.asked.receive_window || self.app.is_bounded() || self.queue.is_there
    }

    /// An ACK has come: the send buffer may have room, for so many bytes `more` than it holds, and a control that has a say in the receive window hears of it.
    #[inline(always)]
    pub(super) fn note_room(&mut self, more: u32) {
        if self.app.is_bounded() {
            self.app.refill(self.una, more);
        } else if self.queue.is_there {
            self.queue.acknowledged(self.una);
        }
        if self.asked.receive_window {
            tell_window(&mut *self.control, self.peer.rwnd);
        }
    }

    /// The receive window to send the next segment by.
    #[inline(always)]
    pub(super) fn receive_window(&mut self, in_recovery: bool) -> u32 {
        let view = SendView { flight: self.flight(), rwnd: self.peer.rwnd, in_recovery };
        let rwnd = match self.asked.receive_window {
            true => adjusted_window(&mut *self.control, &self.window, &view),
            false => view.rwnd,
        };
        rwnd.min(self.app.buffered)
    }

    /// Whether the receiver has room worth leaving the persist state for.
    pub(super) fn window_opened(&self) -> bool {
        let waiting = self.app.unsent.saturating_add(u64::from(self.flight()));
        let worthwhile = self.smss.min(self.peer.largest / 2).max(1);
        u64::from(self.peer.rwnd) >= waiting.min(u64::from(worthwhile))
    }
}

// Not methods, so that nothing else of the sender has to be in memory for them.

#[inline(never)]
fn tell_window(control: &mut dyn Control, rwnd: u32) {
    if let Some(control) = control.extras().receive_window {
        control.on_advertised_window(rwnd);
    }
}

#[inline(never)]
fn adjusted_window(control: &mut dyn Control, w: &Window, view: &SendView) -> u32 {
    control.extras().receive_window.map_or(view.rwnd, |control| control.receive_window(w, view))
}
