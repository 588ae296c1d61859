//! Slow start: what becomes of the growth below ssthresh. A choice of its own, beside any control.

use std::any::Any;
use std::fmt;

use bentpipe_units::options;
use bentpipe_units::{Span, Time};

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

    /// Whether it hears of what the next five hooks tell, and is asked whether it paces: asked when the connection opens, and from
    /// then on after every ACK until it does not.
    fn listens(&self) -> bool {
        false
    }

    /// The handshake took so long.
    fn on_handshake(&mut self, _w: &mut Window, _now: Time, _rtt: Span) {}

    /// Data goes out again after a pause of more than an RTO; told after [`Control::restart_after_idle`](crate::control::Control::restart_after_idle).
    fn on_restart(&mut self, _w: &mut Window, _now: Time) {}

    /// Any ACK, whether it may open cwnd or not; told after the control.
    fn on_any_ack(&mut self, _w: &mut Window, _ack: &Ack<'_>) {}

    /// The first loss of a window was found, or a packet was marked on its way; told after the control.
    fn on_congestion(&mut self, _w: &mut Window) {}

    /// The recovery had the control change cwnd, by a step of its own or at the end of a phase.
    fn on_recovery_step(&mut self, _w: &mut Window) {}

    /// Whether data goes out by [`Window::pacing_rate`] as long as it listens, whatever the control does.
    fn paces(&self) -> bool {
        false
    }

    /// The name of the phase that it is in, one of [`SlowStartFactory::phases`], for a slow start that goes through phases.
    fn phase(&self, _w: &Window) -> Option<&'static str> {
        None
    }
}

/// What makes the slow start of each connection: as a rule its options.
pub trait SlowStartFactory: Any + fmt::Debug + Send + Sync {
    /// The slow start of a new connection.
    fn make(&self) -> Box<dyn SlowStart>;

    /// The names of the phases that it goes through ([`SlowStart::phase`]), in the order of their first coming.
    fn phases(&self) -> &'static [&'static str] {
        &[]
    }
}

schemes! {
    dyn SlowStartFactory, "slow_start", "a slow start";
    standard::StandardStartOptions,
    hystart::HyStartOptions,
    hystart_plus_plus::HyStartPlusPlusOptions,
    limited::LimitedStartOptions,
    search::SearchOptions,
    careful_resume::CarefulResumeOptions,
    shared::SharedStartOptions,
}
