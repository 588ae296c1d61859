//! What the control asks for beside its hooks, noted when the connection opens.

use bentpipe_units::Span;

use super::Sender;
use crate::control::{Control, Extras, SendView};

/// What is left of [`Extras`] without a look at the control.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) paces: bool,
    pub(super) reads_rates: bool,
    pub(super) receive_window: bool,
    pub(super) dummies: bool,
    pub(super) timeout_slack: Span,
    pub(super) resend_limit: u32,
}

impl Asked {
    pub(super) fn by(control: &mut dyn Control) -> Asked {
        let Extras { paces, reads_rates, timeout_slack, resend_limit, receive_window, dummies, .. } =
            control.extras();
        let (receive_window, dummies) = (receive_window.is_some(), dummies.is_some());
        Asked { paces, reads_rates, receive_window, dummies, timeout_slack, resend_limit }
    }
}

impl Sender {
    /// The receive window to send the next segment by.
    #[inline(always)]
    pub(super) fn receive_window(&mut self, in_recovery: bool) -> u32 {
        let rwnd = if self.asked.receive_window { self.adjusted_window(in_recovery) } else { self.rwnd };
        rwnd.min(self.buffered)
    }

    #[inline(never)]
    fn adjusted_window(&mut self, in_recovery: bool) -> u32 {
        let view = SendView { flight: self.flight(), rwnd: self.rwnd, in_recovery };
        match self.control.extras().receive_window {
            Some(control) => control.receive_window(&self.window, &view),
            None => self.rwnd,
        }
    }
}
