//! The random numbers of a run, for Python.

use bentpipe_path::Stream;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A random stream of the run: for the time of a hook, the stream of the link or the flow that calls it.
#[pyclass(name = "Random", module = "bentpipe._core")]
pub(crate) struct PyRandom(Stream);

impl PyRandom {
    /// One for an object of Python.
    pub(super) fn of(py: Python<'_>) -> PyResult<Py<PyRandom>> {
        Py::new(py, PyRandom(Stream::derive(0, "unused")))
    }

    /// What `call` gives, which draws from `stream`.
    pub(super) fn lend<T>(random: &Bound<'_, PyRandom>, stream: &mut Stream, call: impl FnOnce() -> T) -> T {
        std::mem::swap(&mut random.borrow_mut().0, stream);
        let given = call();
        std::mem::swap(&mut random.borrow_mut().0, stream);
        given
    }
}

#[pymethods]
impl PyRandom {
    fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }

    fn exponential(&mut self) -> f64 {
        self.0.exponential()
    }

    fn normal(&mut self) -> f64 {
        self.0.normal()
    }

    fn pareto(&mut self, shape: f64) -> PyResult<f64> {
        match shape > 1.0 {
            true => Ok(self.0.pareto(shape)),
            false => Err(PyValueError::new_err(format!("shape: expected a number above 1, found {shape}"))),
        }
    }
}
