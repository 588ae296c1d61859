//! Slow start: what becomes of the growth below ssthresh. A choice of its own, beside any control.

use std::any::Any;
use std::fmt;

use crate::choice::schemes;
use crate::control::{Ack, Window};

/// What becomes of the growth below ssthresh.
///
/// A slow start may let less of it through, pace it, or end slow start: by setting ssthresh to cwnd.
pub trait SlowStart: Send {
    /// An ACK that may open cwnd, while it is below ssthresh; the control would add `growth` bytes.
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, growth: f64);

    /// Slow start begins again after a timeout.
    fn on_timeout(&mut self) {}
}

/// What makes the slow start of each connection: as a rule its options.
pub trait SlowStartFactory: Any + fmt::Debug + Send + Sync {
    /// The slow start of a new connection.
    fn make(&self) -> Box<dyn SlowStart>;
}

schemes! {
    /// Every slow start of this crate; the first is that of a connection that names none.
    dyn SlowStartFactory;
    standard::StandardStartOptions,
    hystart::HyStartOptions,
    hystart_plus_plus::HyStartPlusPlusOptions,
    limited::LimitedStartOptions,
}
