//! Applications written in Python.

use std::fmt;

use bentpipe_apps::{Application, ApplicationFactory, Opener, Side, Talk, Wants};
use bentpipe_units::{Fault, Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{Maker, PyRandom, Raised};

/// Sums of sizes keep their meaning.
const MOST: u64 = 1_000_000_000_000;

/// Times in seconds keep their meaning.
const LATEST_S: f64 = 9e6;

/// What a hook is told, and what it wants.
#[pyclass(name = "Connection", module = "bentpipe._core")]
pub(crate) struct PyConnection {
    now: Time,
    random: Py<PyRandom>,
    wants: Wants,
}

fn checked(bytes: u64) -> PyResult<u64> {
    match bytes {
        1..=MOST => Ok(bytes),
        _ => Err(PyValueError::new_err(format!("bytes: expected 1 to {MOST}, found {bytes}"))),
    }
}

#[pymethods]
impl PyConnection {
    #[getter]
    fn time_s(&self) -> f64 {
        self.now.as_secs()
    }

    #[getter]
    fn random(&self, py: Python<'_>) -> Py<PyRandom> {
        self.random.clone_ref(py)
    }

    fn send(&mut self, bytes: u64) -> PyResult<()> {
        self.wants.sends += checked(bytes)?;
        Ok(())
    }

    fn request(&mut self, bytes: u64) -> PyResult<()> {
        self.wants.requests += checked(bytes)?;
        Ok(())
    }

    fn call_in(&mut self, delay_s: f64) -> PyResult<()> {
        if !(0.0..=LATEST_S).contains(&delay_s) {
            return Err(PyValueError::new_err(format!(
                "delay_s: expected 0 to {LATEST_S} seconds, found {delay_s}"
            )));
        }
        self.wants.call_at = Some(self.now + Span::from_secs(delay_s));
        Ok(())
    }

    fn begin(&mut self, bytes: u64) {
        self.wants.begins.push(bytes);
    }

    fn end(&mut self) {
        self.wants.ends += 1;
    }

    fn close(&mut self) {
        self.wants.closes = true;
    }
}

/// Makes an application for each flow.
#[derive(Debug)]
pub(super) struct Applications {
    maker: Maker,
    opened_by: Opener,
    ends: bool,
    no_delay: bool,
}

impl Applications {
    /// What `maker` makes, and what it says of itself.
    pub(super) fn of(maker: Maker) -> Result<Applications, Fault> {
        let opened_by = match maker.attribute::<String>("opened_by").as_deref() {
            Some("sender") => Opener::Sender,
            Some("receiver") => Opener::Receiver,
            _ => {
                return Err(Fault::conflict(
                    "expected \"sender\" or \"receiver\" as opened_by, found another",
                ));
            }
        };
        let (ends, no_delay) = (maker.has("ends"), maker.has("no_delay"));
        Ok(Applications { maker, opened_by, ends, no_delay })
    }
}

impl ApplicationFactory for Applications {
    fn make(&self) -> Box<dyn Application> {
        let called = self.maker.made(|py, object| {
            let hook = |name| self.maker.hook(&object, name);
            let random = PyRandom::of(py)?;
            let connection =
                PyConnection { now: Time::ZERO, random: random.clone_ref(py), wants: Wants::default() };
            Ok(Called {
                on_start: hook("on_start")?,
                on_time: hook("on_time")?,
                on_data: hook("on_data")?,
                on_request: hook("on_request")?,
                connection: Py::new(py, connection)?,
                random,
            })
        });
        Box::new(Program { called, raised: self.maker.raised.clone() })
    }

    fn opened_by(&self) -> Opener {
        self.opened_by
    }

    fn ends(&self) -> bool {
        self.ends
    }

    fn no_delay(&self) -> bool {
        self.no_delay
    }
}

/// The hooks that a class has of its own.
struct Called {
    on_start: Option<Py<PyAny>>,
    on_time: Option<Py<PyAny>>,
    on_data: Option<Py<PyAny>>,
    on_request: Option<Py<PyAny>>,
    connection: Py<PyConnection>,
    random: Py<PyRandom>,
}

/// The application of a flow, until it has raised.
struct Program {
    called: Option<Called>,
    raised: Raised,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an application in Python")
    }
}

impl Program {
    fn call(
        &mut self,
        hook: impl Fn(&Called) -> Option<&Py<PyAny>>,
        bytes: Option<u64>,
        talk: &mut Talk<'_>,
    ) {
        let Some(called) = &self.called else { return };
        let Some(hook) = hook(called) else { return };
        let given = Python::attach(|py| {
            let (hook, connection) = (hook.bind(py), called.connection.bind(py));
            connection.borrow_mut().now = talk.now;
            PyRandom::lend(called.random.bind(py), talk.stream, || match bytes {
                Some(bytes) => hook.call1((connection, bytes)),
                None => hook.call1((connection,)),
            })?;
            talk.wants = std::mem::take(&mut connection.borrow_mut().wants);
            Ok(())
        });
        if let Err(error) = given {
            self.raised.put(error);
            self.called = None;
        }
    }
}

impl Application for Program {
    fn on_start(&mut self, talk: &mut Talk<'_>) {
        self.call(|called| called.on_start.as_ref(), None, talk);
    }

    fn on_time(&mut self, talk: &mut Talk<'_>) {
        self.call(|called| called.on_time.as_ref(), None, talk);
    }

    fn on_data(&mut self, talk: &mut Talk<'_>, side: Side, bytes: u64) {
        match side {
            Side::Back => self.call(|called| called.on_data.as_ref(), Some(bytes), talk),
            Side::Data => self.call(|called| called.on_request.as_ref(), Some(bytes), talk),
        }
    }
}
