//! Time series on their way to Python: points as packed columns.

use std::ops::ControlFlow;

use bentpipe_sim::{FLOW_KINDS, LINK_KINDS, Points, Subjects};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The flows, the kinds of their curves with units, the directions of links, and their kinds.
pub(crate) type Described =
    (Vec<String>, Vec<(&'static str, &'static str)>, Vec<String>, Vec<(&'static str, &'static str)>);

pub(crate) fn describe(subjects: Subjects) -> Described {
    (subjects.flows, FLOW_KINDS.to_vec(), subjects.links, LINK_KINDS.to_vec())
}

/// Hands points to `sink`; what it gives says whether it has room for more.
pub(crate) fn hand_on(py: Python<'_>, sink: &Py<PyAny>, points: &Points) -> PyResult<ControlFlow<()>> {
    let columns = (
        pack(py, &points.curves, |number| number.to_ne_bytes())?,
        pack(py, &points.times_s, |number| number.to_ne_bytes())?,
        pack(py, &points.values, |number| number.to_ne_bytes())?,
    );
    let room: bool = sink.call1(py, columns)?.extract(py)?;
    Ok(if room { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
}

fn pack<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    numbers: &[T],
    bytes_of: impl Fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, N * numbers.len(), |bytes| {
        for (place, number) in bytes.chunks_exact_mut(N).zip(numbers) {
            place.copy_from_slice(&bytes_of(*number));
        }
        Ok(())
    })
}
