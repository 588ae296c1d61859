//! Congestion controls written in Python: classes whose hooks the simulator calls.

use bentpipe_tcp::control::{
    self, Ack, Control, ControlFactory, Exit, Extras, Loss, Mark, PartialAck, Response, Standard, Timeout,
};
use bentpipe_tcp::slow_start::SlowStart;
use bentpipe_units::{Span, Time};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::{Maker, Raised};
use crate::hooks::{PyAck, PyExit, PyLoss, PyMark, PyPartialAck, PyTimeout, PyWindow};

impl ControlFactory for Maker {
    fn make(&self) -> Box<dyn Control> {
        let called = self.made(|py, object| Ok((object.unbind(), Py::new(py, PyWindow::default())?)));
        let own = if called.is_some() { Own::of(self.hooks()) } else { Own::default() };
        Box::new(Hooked { called, own, raised: self.raised.clone() })
    }
}

macro_rules! own {
    ($($hook:ident),+ $(,)?) => {
        /// Which hooks a class has of its own, and which of its switches are on; other hooks are not called at all.
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
    paces,
    reads_rates,
}

/// The control of a connection: an object of Python, and what stands in for it once it has raised.
struct Hooked {
    called: Option<(Py<PyAny>, Py<PyWindow>)>,
    own: Own,
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

/// A hook that changes the window; RFC 5681's, where the class has none of its own.
macro_rules! hook {
    ($hook:ident, $event:ty, $shown:ident) => {
        fn $hook(&mut self, w: &mut control::Window, event: &$event) {
            if !self.own.$hook {
                return Standard.$hook(w, event);
            }
            let event = $shown::of(event);
            self.call(Some(w), |py, object, window| {
                object.call_method1(stringify!($hook), (window, Bound::new(py, event)?)).map(drop)
            });
        }
    };
}

impl Control for Hooked {
    fn on_ack(&mut self, w: &mut control::Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        if self.own.on_ack {
            let event = PyAck::of(ack);
            let grows = self.call(Some(w), |py, object, window| {
                let given = object.call_method1("on_ack", (window, Bound::new(py, event)?))?;
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
        let event = self.own.slow_start_growth.then(|| PyAck::of(ack));
        event
            .and_then(|event| {
                self.call(Some(&mut seen), |py, object, window| {
                    object.call_method1("slow_start_growth", (window, Bound::new(py, event)?))?.extract()
                })
            })
            .unwrap_or_else(|| Standard.slow_start_growth(w, ack))
    }

    hook!(congestion_avoidance, Ack<'_>, PyAck);

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

    hook!(on_congestion_mark, Mark, PyMark);

    hook!(on_partial_ack, PartialAck, PyPartialAck);

    hook!(on_recovery_exit, Exit, PyExit);

    hook!(on_timeout, Timeout, PyTimeout);

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
        Extras { paces: self.own.paces, reads_rates: self.own.reads_rates, ..Extras::default() }
    }
}
