//! What the hooks of a control in Python are given: the window, and what happened.

use bentpipe_tcp::control::{Ack, Control, Exit, Loss, Mark, PartialAck, Standard, Timeout, Window};
use bentpipe_tcp::{Growth, RateSample};
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

/// An ACK.
#[pyclass(frozen, get_all, name = "Ack", module = "bentpipe._core")]
pub(crate) struct PyAck {
    now_s: f64,
    acked: u32,
    flight: u32,
    prior_flight: u32,
    rwnd: u32,
    rtt_s: Option<f64>,
    rtt_min_s: Option<f64>,
    cwnd_limited: bool,
    mark_echo: bool,
    in_recovery: bool,
    newly_delivered: u32,
    delivered: u64,
    in_flight: u32,
    lost: u64,
    newly_lost: u32,
    delivery_rate: Option<f64>,
    app_limited: bool,
}

impl PyAck {
    pub(crate) fn of(ack: &Ack<'_>) -> PyAck {
        let rate = ack.rate();
        PyAck {
            now_s: ack.now.as_secs(),
            acked: ack.acked,
            flight: ack.flight,
            prior_flight: ack.prior_flight,
            rwnd: ack.rwnd,
            rtt_s: ack.rtt().map(bentpipe_units::Span::as_secs),
            rtt_min_s: ack.rtt_min.map(bentpipe_units::Span::as_secs),
            cwnd_limited: ack.cwnd_limited,
            mark_echo: ack.mark_echo,
            in_recovery: ack.in_recovery,
            newly_delivered: ack.newly_delivered(),
            delivered: ack.delivered(),
            in_flight: ack.in_flight(),
            lost: ack.lost(),
            newly_lost: ack.newly_lost(),
            delivery_rate: rate.as_ref().map(RateSample::rate).filter(|rate| rate.is_finite()),
            app_limited: rate.is_some_and(|rate| rate.app_limited),
        }
    }
}

/// A loss that recovery found.
#[pyclass(frozen, get_all, name = "Loss", module = "bentpipe._core")]
#[derive(Clone, Copy)]
pub(crate) struct PyLoss {
    now_s: f64,
    distance: u32,
    flight: u32,
}

impl PyLoss {
    pub(crate) fn of(loss: &Loss) -> PyLoss {
        PyLoss { now_s: loss.now.as_secs(), distance: loss.distance, flight: loss.flight }
    }
}

/// News of a congestion mark.
#[pyclass(frozen, get_all, name = "Mark", module = "bentpipe._core")]
pub(crate) struct PyMark {
    now_s: f64,
    flight: u32,
}

impl PyMark {
    pub(crate) fn of(mark: &Mark) -> PyMark {
        PyMark { now_s: mark.now.as_secs(), flight: mark.flight }
    }
}

/// A partial ACK.
#[pyclass(frozen, get_all, name = "PartialAck", module = "bentpipe._core")]
pub(crate) struct PyPartialAck {
    acked: u32,
    flight: u32,
    inflated: bool,
}

impl PyPartialAck {
    pub(crate) fn of(ack: &PartialAck) -> PyPartialAck {
        PyPartialAck { acked: ack.acked, flight: ack.flight, inflated: ack.inflated }
    }
}

/// The end of a recovery.
#[pyclass(frozen, get_all, name = "Exit", module = "bentpipe._core")]
pub(crate) struct PyExit {
    flight: u32,
    acked: u32,
    cwnd: f64,
}

impl PyExit {
    pub(crate) fn of(exit: &Exit) -> PyExit {
        PyExit { flight: exit.flight, acked: exit.acked, cwnd: exit.cwnd }
    }
}

/// The retransmission timer's expiry.
#[pyclass(frozen, get_all, name = "Timeout", module = "bentpipe._core")]
pub(crate) struct PyTimeout {
    now_s: f64,
    flight: u32,
    repeated: bool,
}

impl PyTimeout {
    pub(crate) fn of(timeout: &Timeout) -> PyTimeout {
        PyTimeout { now_s: timeout.now.as_secs(), flight: timeout.flight, repeated: timeout.repeated }
    }
}

/// What RFC 5681 does in each hook: what a class of Python that calls `super()` gets.
#[pyclass(frozen, module = "bentpipe._core")]
pub(crate) struct StandardHooks;

#[pymethods]
impl StandardHooks {
    #[staticmethod]
    fn on_loss(w: &mut PyWindow, loss: &PyLoss) -> bool {
        let loss = Loss { now: bentpipe_units::Time::ZERO, distance: loss.distance, flight: loss.flight };
        Standard.on_loss(&mut w.0, &loss);
        true
    }

    #[staticmethod]
    fn on_congestion_mark(w: &mut PyWindow, mark: &PyMark) {
        let mark = Mark { now: bentpipe_units::Time::ZERO, flight: mark.flight };
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
        Standard.on_timeout(&mut w.0, &Timeout { now: bentpipe_units::Time::ZERO, flight, repeated });
    }

    #[staticmethod]
    fn restart_after_idle(w: &mut PyWindow, restart: f64) {
        Standard.restart_after_idle(&mut w.0, restart);
    }
}
