//! Controls written in Python: classes whose hooks the simulator calls, with the interpreter's lock for the time of a call.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use bentpipe_tcp::control::{
    Ack, Control, ControlFactory, Exit, Extras, Loss, Mark, PartialAck, Response, Standard, Timeout,
};
use bentpipe_tcp::slow_start::SlowStart;
use bentpipe_tcp::{Catalogue, Scheme, control};
use bentpipe_units::{Span, Time};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::hooks::{PyAck, PyExit, PyLoss, PyMark, PyPartialAck, PyTimeout, PyWindow};

/// What a class of Python says of itself: how a connection's control is made, and which hooks it has of its own.
#[pyclass(frozen, module = "bentpipe._core")]
pub(crate) struct OwnControl {
    name: String,
    summary: String,
    /// Gives the control of a new connection; takes the options as arguments by name.
    make: Py<PyAny>,
    /// What options it takes; none where they were given already.
    options: Vec<String>,
    own: Vec<String>,
    paces: bool,
    reads_rates: bool,
}

#[pymethods]
impl OwnControl {
    #[new]
    fn new(
        name: String,
        summary: String,
        make: Py<PyAny>,
        options: Vec<String>,
        own: Vec<String>,
        paces: bool,
        reads_rates: bool,
    ) -> OwnControl {
        OwnControl { name, summary, make, options, own, paces, reads_rates }
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// What makes it: two of one name and one maker are the same.
    #[getter]
    fn make(&self, py: Python<'_>) -> Py<PyAny> {
        self.make.clone_ref(py)
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (Bound<'py, PyType>, (String, String, Py<PyAny>, Vec<String>, Vec<String>, bool, bool)) {
        let this = slf.get();
        let make = this.make.clone_ref(slf.py());
        let (options, own) = (this.options.clone(), this.own.clone());
        let all = (this.name.clone(), this.summary.clone(), make, options, own, this.paces, this.reads_rates);
        (slf.get_type(), all)
    }
}

/// What hooks have raised, of the run in each thread. A scenario has one, for several threads may run it at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raised(Arc<Mutex<HashMap<ThreadId, PyErr>>>);

impl Raised {
    fn put(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(thread::current().id()).or_insert(error);
    }

    /// Takes what the run in this thread has raised, if it has.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&thread::current().id())
    }
}

/// Our controls, and these beside them.
pub(crate) fn catalogue(
    py: Python<'_>,
    own: &[Py<OwnControl>],
    raised: &Raised,
) -> Result<Catalogue, String> {
    own.iter().try_fold(Catalogue::default(), |catalogue, control| {
        let said = control.get();
        let factory = Factory { control: control.clone_ref(py), options: None, raised: raised.clone() };
        let mut scheme = Scheme::<dyn ControlFactory>::new(
            said.name.clone(),
            said.summary.clone(),
            Arc::new(factory.clone()),
        );
        if !said.options.is_empty() {
            let names = said.options.clone();
            scheme = scheme.with_options(move || schema(&names), move |table| factory.read(table));
        }
        catalogue.with_control(scheme)
    })
}

/// Any value may stand for an option: its type is the class's own business.
fn schema(names: &[String]) -> schemars::Schema {
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| (name.clone(), serde_json::json!({}))).collect();
    schemars::json_schema!({ "type": "object", "properties": properties, "additionalProperties": false })
}

struct Factory {
    control: Py<OwnControl>,
    options: Option<Py<PyDict>>,
    raised: Raised,
}

impl Clone for Factory {
    fn clone(&self) -> Factory {
        Python::attach(|py| Factory {
            control: self.control.clone_ref(py),
            options: self.options.as_ref().map(|options| options.clone_ref(py)),
            raised: self.raised.clone(),
        })
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.control.get().name)
    }
}

impl Factory {
    /// This factory with the options in `table`, after one control was made of them: what it says against them is said now.
    fn read(
        &self,
        table: &mut dyn erased_serde::Deserializer<'_>,
    ) -> erased_serde::Result<Arc<dyn ControlFactory>> {
        use serde::de::Error;
        let table: serde_json::Map<String, serde_json::Value> = erased_serde::deserialize(table)?;
        let names = &self.control.get().options;
        if let Some(unknown) = table.keys().find(|key| !names.contains(key)) {
            return Err(Error::custom(format!("unknown field `{unknown}`, expected {}", one_of(names))));
        }
        let text = serde_json::to_string(&table).map_err(Error::custom)?;
        let read = Python::attach(|py| {
            let options = py.import("json")?.call_method1("loads", (text,))?;
            let options = options.cast_into::<PyDict>().map_err(PyErr::from)?;
            self.control.get().make.call(py, (), Some(&options))?;
            Ok(options.unbind())
        });
        let options =
            read.map_err(|error: PyErr| Error::custom(format!("expected other options: {error}")))?;
        Ok(Arc::new(Factory { options: Some(options), ..self.clone() }))
    }
}

fn one_of(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
}

impl ControlFactory for Factory {
    fn make(&self) -> Box<dyn Control> {
        let said = self.control.get();
        let made = Python::attach(|py| {
            let options = self.options.as_ref().map(|options| options.bind(py));
            let object = said.make.call(py, (), options)?;
            Ok::<_, PyErr>((object, Py::new(py, PyWindow::default())?))
        });
        let (called, own) = match made {
            Ok(called) => (Some(called), Own::of(&said.own)),
            Err(error) => {
                self.raised.put(error);
                (None, Own::default())
            }
        };
        Box::new(Hooked {
            called,
            own,
            paces: said.paces,
            reads_rates: said.reads_rates,
            raised: self.raised.clone(),
        })
    }
}

macro_rules! own {
    ($($hook:ident),+ $(,)?) => {
        /// Which hooks a class has of its own; the others are not called at all.
        #[derive(Clone, Copy, Default)]
        struct Own {
            $($hook: bool),+
        }

        impl Own {
            fn of(names: &[String]) -> Own {
                let mut own = Own::default();
                for name in names {
                    match name.as_str() {
                        $(stringify!($hook) => own.$hook = true,)+
                        _ => {}
                    }
                }
                own
            }
        }
    };
}

own! {
    on_ack,
    slow_start_growth,
    congestion_avoidance,
    on_rtt_sample,
    on_handshake,
    on_loss,
    on_further_loss,
    on_congestion_mark,
    on_partial_ack,
    on_recovery_exit,
    on_timeout,
    restart_after_idle,
    on_resume,
}

/// The control of a connection: an object of Python, and what stands in for it once it has raised.
struct Hooked {
    called: Option<(Py<PyAny>, Py<PyWindow>)>,
    own: Own,
    paces: bool,
    reads_rates: bool,
    raised: Raised,
}

impl Hooked {
    /// Calls a hook, with the window to change unless it has none. What it raises ends the run: nothing is called any more.
    fn call<R>(
        &mut self,
        window: Option<&mut control::Window>,
        hook: impl FnOnce(Python<'_>, &Bound<'_, PyAny>, &Bound<'_, PyWindow>) -> PyResult<R>,
    ) -> Option<R> {
        let (object, shown) = self.called.as_ref()?;
        let called = Python::attach(|py| {
            let shown = shown.bind(py);
            if let Some(window) = &window {
                shown.borrow_mut().0 = **window;
            }
            let given = hook(py, object.bind(py), shown)?;
            if let Some(window) = window {
                *window = shown.borrow().checked()?;
            }
            Ok(given)
        });
        match called {
            Ok(given) => Some(given),
            Err(error) => {
                self.raised.put(error);
                (self.called, self.own) = (None, Own::default());
                None
            }
        }
    }

    fn answer(&mut self, name: &str, w: &mut control::Window, loss: &Loss) -> Option<Response> {
        let loss = PyLoss::of(loss);
        self.call(Some(w), |py, object, window| {
            let given = object.call_method1(name, (window, Bound::new(py, loss)?))?;
            match given.extract::<bool>() {
                Ok(true) => Ok(Response::Reduced),
                Ok(false) => Ok(Response::Keep),
                Err(_) => {
                    let found = given.get_type().name()?;
                    Err(PyTypeError::new_err(format!(
                        "{name}: expected True where the window was reduced or else False, found {found}"
                    )))
                }
            }
        })
    }
}

impl Control for Hooked {
    fn on_ack(&mut self, w: &mut control::Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        if self.own.on_ack {
            let told = PyAck::of(ack);
            let grows = self.call(Some(w), |py, object, window| {
                let given = object.call_method1("on_ack", (window, Bound::new(py, told)?))?;
                if given.is_none() { Ok(true) } else { given.extract::<bool>() }
            });
            if grows == Some(false) {
                return;
            }
        }
        if !ack.opens_window() {
            return;
        }
        if w.in_slow_start() {
            let growth = self.slow_start_growth(w, ack);
            slow_start.on_ack(w, ack, growth);
        } else {
            self.congestion_avoidance(w, ack);
        }
    }

    fn slow_start_growth(&mut self, w: &control::Window, ack: &Ack<'_>) -> f64 {
        let mut seen = *w;
        let told = self.own.slow_start_growth.then(|| PyAck::of(ack));
        told.and_then(|told| {
            self.call(Some(&mut seen), |py, object, window| {
                object.call_method1("slow_start_growth", (window, Bound::new(py, told)?))?.extract()
            })
        })
        .unwrap_or_else(|| Standard.slow_start_growth(w, ack))
    }

    fn congestion_avoidance(&mut self, w: &mut control::Window, ack: &Ack<'_>) {
        if self.own.congestion_avoidance {
            let told = PyAck::of(ack);
            self.call(Some(w), |py, object, window| {
                object.call_method1("congestion_avoidance", (window, Bound::new(py, told)?)).map(drop)
            });
        } else {
            Standard.congestion_avoidance(w, ack);
        }
    }

    fn on_rtt_sample(&mut self, now: Time, sample: Span) {
        if self.own.on_rtt_sample {
            self.call(None, |_, object, _| {
                object.call_method1("on_rtt_sample", (now.as_secs(), sample.as_secs())).map(drop)
            });
        }
    }

    fn on_handshake(&mut self, w: &mut control::Window, now: Time, rtt: Span) {
        if self.own.on_handshake {
            self.call(Some(w), |_, object, window| {
                object.call_method1("on_handshake", (window, now.as_secs(), rtt.as_secs())).map(drop)
            });
        }
    }

    fn on_loss(&mut self, w: &mut control::Window, loss: &Loss) -> Response {
        let own = self.own.on_loss.then(|| self.answer("on_loss", w, loss)).flatten();
        own.unwrap_or_else(|| Standard.on_loss(w, loss))
    }

    fn on_further_loss(&mut self, w: &mut control::Window, loss: &Loss) -> Response {
        let own = self.own.on_further_loss.then(|| self.answer("on_further_loss", w, loss)).flatten();
        own.unwrap_or_else(|| Standard.on_further_loss(w, loss))
    }

    fn on_congestion_mark(&mut self, w: &mut control::Window, mark: &Mark) {
        if self.own.on_congestion_mark {
            let told = PyMark::of(mark);
            self.call(Some(w), |py, object, window| {
                object.call_method1("on_congestion_mark", (window, Bound::new(py, told)?)).map(drop)
            });
        } else {
            Standard.on_congestion_mark(w, mark);
        }
    }

    fn on_partial_ack(&mut self, w: &mut control::Window, ack: &PartialAck) {
        if self.own.on_partial_ack {
            let told = PyPartialAck::of(ack);
            self.call(Some(w), |py, object, window| {
                object.call_method1("on_partial_ack", (window, Bound::new(py, told)?)).map(drop)
            });
        } else {
            Standard.on_partial_ack(w, ack);
        }
    }

    fn on_recovery_exit(&mut self, w: &mut control::Window, exit: &Exit) {
        if self.own.on_recovery_exit {
            let told = PyExit::of(exit);
            self.call(Some(w), |py, object, window| {
                object.call_method1("on_recovery_exit", (window, Bound::new(py, told)?)).map(drop)
            });
        } else {
            Standard.on_recovery_exit(w, exit);
        }
    }

    fn on_timeout(&mut self, w: &mut control::Window, timeout: &Timeout) {
        if self.own.on_timeout {
            let told = PyTimeout::of(timeout);
            self.call(Some(w), |py, object, window| {
                object.call_method1("on_timeout", (window, Bound::new(py, told)?)).map(drop)
            });
        } else {
            Standard.on_timeout(w, timeout);
        }
    }

    fn restart_after_idle(&mut self, w: &mut control::Window, restart: f64) {
        if self.own.restart_after_idle {
            self.call(Some(w), |_, object, window| {
                object.call_method1("restart_after_idle", (window, restart)).map(drop)
            });
        } else {
            Standard.restart_after_idle(w, restart);
        }
    }

    fn on_resume(&mut self, w: &mut control::Window, resume: &control::Resume) {
        if self.own.on_resume {
            self.call(Some(w), |_, object, window| {
                object
                    .call_method1("on_resume", (window, resume.now.as_secs(), resume.by_application))
                    .map(drop)
            });
        }
    }

    fn extras(&mut self) -> Extras<'_> {
        Extras { paces: self.paces, reads_rates: self.reads_rates, ..Extras::default() }
    }
}
