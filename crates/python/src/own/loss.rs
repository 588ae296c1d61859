//! Loss models written in Python.

use std::fmt;

use bentpipe_path::{Loss, LossFactory, Sent, Stream};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::{Maker, PyRandom, Raised, shown};
use crate::hooks::PySent;

/// The model of a direction of a link: its method and its random numbers, until it has raised.
struct Model {
    called: Option<(Py<PyAny>, Py<PyRandom>)>,
    raised: Raised,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a loss model in Python")
    }
}

impl LossFactory for Maker {
    fn make(&self) -> Box<dyn Loss> {
        let called = self.made(|py, object| Ok((object.getattr("lost")?.unbind(), PyRandom::of(py)?)));
        Box::new(Model { called, raised: self.raised.clone() })
    }
}

impl Loss for Model {
    fn lost(&mut self, packet: &Sent, stream: &mut Stream) -> bool {
        let Some((lost, random)) = &self.called else { return false };
        let given = Python::attach(|py| {
            let random = random.bind(py);
            let packet = Bound::new(py, PySent::of(packet))?;
            let given = PyRandom::lend(random, stream, || lost.bind(py).call1((packet, random)))?;
            given.extract::<bool>().map_err(|_| {
                PyTypeError::new_err(format!("lost: expected True or False, found {}", shown(&given)))
            })
        });
        given.unwrap_or_else(|error| {
            self.raised.put(error);
            self.called = None;
            false
        })
    }
}
