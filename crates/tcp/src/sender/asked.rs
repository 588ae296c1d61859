//! What the control asks for beside its hooks, noted when the connection opens.

use bentpipe_units::Span;

use crate::control::{Control, Extras};

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

/// The dummy segments of a control that offers some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DummiesLeft {
    None,
    Some,
    /// Some, and the time of the next one is waited for.
    Awaited,
}
