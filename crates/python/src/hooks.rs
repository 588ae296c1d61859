//! What the hooks of Python are given: a control's window, and what happened.

use bentpipe_path::{Sent, Waiting};
use bentpipe_tcp::control::{Ack, Control, Exit, Loss, Mark, PartialAck, Standard, Timeout, Window};
use bentpipe_tcp::{Growth, RateSample};
use bentpipe_units::{Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The window, in bytes.
#[pyclass(name = "Window", module = "bentpipe._core")]
pub(crate) struct PyWindow(pub(crate) Window);

impl Default for PyWindow {
    fn default() -> PyWindow {
        PyWindow(Window::new(0.0, f64::INFINITY, 0.0, Growth::PerAck))
    }
}

impl PyWindow {
    /// What a hook has left, if a sender can use it.
    pub(crate) fn checked(&self) -> PyResult<Window> {
        let w = &self.0;
        for (name, value, usable) in [
            ("cwnd", w.cwnd, w.cwnd >= w.smss && w.cwnd.is_finite()),
            ("ssthresh", w.ssthresh, w.ssthresh >= 0.0),
            ("pacing_rate", w.pacing_rate, w.pacing_rate > 0.0),
            ("send_quantum", w.send_quantum, w.send_quantum >= 0.0 && w.send_quantum.is_finite()),
        ] {
            if !usable {
                let least = match name {
                    "cwnd" => format!("at least a segment of {} bytes", w.smss),
                    "pacing_rate" => "bytes a second above 0".to_owned(),
                    _ => "0 or more bytes".to_owned(),
                };
                return Err(PyValueError::new_err(format!("{name}: expected {least}, found {value}")));
            }
        }
        Ok(*w)
    }
}

#[pymethods]
impl PyWindow {
    #[getter]
    fn cwnd(&self) -> f64 {
        self.0.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, bytes: f64) {
        self.0.cwnd = bytes;
    }

    #[getter]
    fn ssthresh(&self) -> f64 {
        self.0.ssthresh
    }

    #[setter]
    fn set_ssthresh(&mut self, bytes: f64) {
        self.0.ssthresh = bytes;
    }

    #[getter]
    fn smss(&self) -> f64 {
        self.0.smss
    }

    #[getter]
    fn pacing_rate(&self) -> f64 {
        self.0.pacing_rate
    }

    #[setter]
    fn set_pacing_rate(&mut self, bytes_a_second: f64) {
        self.0.pacing_rate = bytes_a_second;
    }

    #[getter]
    fn send_quantum(&self) -> f64 {
        self.0.send_quantum
    }

    #[setter]
    fn set_send_quantum(&mut self, bytes: f64) {
        self.0.send_quantum = bytes;
    }

    #[getter]
    fn in_slow_start(&self) -> bool {
        self.0.in_slow_start()
    }

    fn slow_start_growth(&self, acked: u32) -> f64 {
        self.0.slow_start_growth(acked)
    }

    fn avoidance_growth(&self, acked: u32) -> f64 {
        self.0.avoidance_growth(acked)
    }
}

/// What a hook is told: the name in Python, and each attribute with how it comes of an event.
macro_rules! events {
    ($($(#[$doc:meta])* $shown:ident $name:literal of $event:ident: $type:ty {
        $($field:ident: $field_type:ty = $value:expr),+ $(,)?
    })+) => {
        $($(#[$doc])*
        #[pyclass(frozen, get_all, name = $name, module = "bentpipe._core")]
        #[derive(Clone, Copy)]
        pub(crate) struct $shown {
            $($field: $field_type),+
        }

        impl $shown {
            pub(crate) fn of($event: &$type) -> $shown {
                $shown { $($field: $value),+ }
            }
        })+
    };
}

events! {
    /// An ACK.
    PyAck "Ack" of ack: Ack<'_> {
        now_s: f64 = ack.now.as_secs(),
        acked: u32 = ack.acked,
        flight: u32 = ack.flight,
        prior_flight: u32 = ack.prior_flight,
        rwnd: u32 = ack.rwnd,
        rtt_s: Option<f64> = ack.rtt().map(Span::as_secs),
        rtt_min_s: Option<f64> = ack.rtt_min.map(Span::as_secs),
        cwnd_limited: bool = ack.cwnd_limited,
        mark_echo: bool = ack.mark_echo,
        in_recovery: bool = ack.in_recovery,
        newly_delivered: u32 = ack.newly_delivered(),
        delivered: u64 = ack.delivered(),
        in_flight: u32 = ack.in_flight(),
        lost: u64 = ack.lost(),
        newly_lost: u32 = ack.newly_lost(),
        delivery_rate: Option<f64> = ack.rate().as_ref().map(RateSample::rate).filter(|rate| rate.is_finite()),
        app_limited: bool = ack.rate().is_some_and(|rate| rate.app_limited),
    }

    /// A loss that recovery found.
    PyLoss "Loss" of loss: Loss {
        now_s: f64 = loss.now.as_secs(),
        distance: u32 = loss.distance,
        flight: u32 = loss.flight,
    }

    /// News of a congestion mark.
    PyMark "Mark" of mark: Mark {
        now_s: f64 = mark.now.as_secs(),
        flight: u32 = mark.flight,
    }

    /// A partial ACK.
    PyPartialAck "PartialAck" of ack: PartialAck {
        acked: u32 = ack.acked,
        flight: u32 = ack.flight,
        inflated: bool = ack.inflated,
    }

    /// The end of a recovery.
    PyExit "Exit" of exit: Exit {
        flight: u32 = exit.flight,
        acked: u32 = exit.acked,
        cwnd: f64 = exit.cwnd,
    }

    /// The retransmission timer's expiry.
    PyTimeout "Timeout" of timeout: Timeout {
        now_s: f64 = timeout.now.as_secs(),
        flight: u32 = timeout.flight,
        repeated: bool = timeout.repeated,
    }

    /// A packet whose last bit a link has just sent.
    PySent "SentPacket" of packet: Sent {
        time_s: f64 = packet.at.as_secs(),
        number: u64 = packet.number,
        bytes: u32 = packet.bytes,
    }

    /// A packet that comes to a queue, or that would leave it.
    PyQueued "QueuedPacket" of packet: Waiting {
        arrived_s: f64 = packet.came.as_secs(),
        bytes: u32 = packet.bytes,
        flow: u32 = packet.label.flow,
        traffic_class: u8 = packet.label.class,
        ecn_capable: bool = packet.label.ecn_capable,
        low_priority: bool = packet.label.low,
    }
}

/// What RFC 5681 does in each hook: what a class of Python that calls `super()` gets.
#[pyclass(frozen, module = "bentpipe._core")]
pub(crate) struct StandardHooks;

#[pymethods]
impl StandardHooks {
    #[staticmethod]
    fn on_loss(w: &mut PyWindow, loss: &PyLoss) -> bool {
        let loss = Loss { now: Time::ZERO, distance: loss.distance, flight: loss.flight };
        Standard.on_loss(&mut w.0, &loss);
        true
    }

    #[staticmethod]
    fn on_congestion_mark(w: &mut PyWindow, mark: &PyMark) {
        let mark = Mark { now: Time::ZERO, flight: mark.flight };
        Standard.on_congestion_mark(&mut w.0, &mark);
    }

    #[staticmethod]
    fn on_partial_ack(w: &mut PyWindow, ack: &PyPartialAck) {
        let ack = PartialAck { acked: ack.acked, flight: ack.flight, inflated: ack.inflated };
        Standard.on_partial_ack(&mut w.0, &ack);
    }

    #[staticmethod]
    fn on_timeout(w: &mut PyWindow, timeout: &PyTimeout) {
        let (flight, repeated) = (timeout.flight, timeout.repeated);
        Standard.on_timeout(&mut w.0, &Timeout { now: Time::ZERO, flight, repeated });
    }

    #[staticmethod]
    fn restart_after_idle(w: &mut PyWindow, restart: f64) {
        Standard.restart_after_idle(&mut w.0, restart);
    }
}
