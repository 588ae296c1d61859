//! Congestion controls as BPF programs in the running kernel.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::live::{LiveFailed, LiveMissing};

/// Controls that stay registered until `release`, and not after the process has ended.
#[pyclass(frozen, module = "bentpipe._core")]
pub(crate) struct HeldControls {
    #[cfg(all(target_os = "linux", feature = "bpf"))]
    held: std::sync::Mutex<Option<bentpipe_bpf::Held>>,
}

#[cfg(all(target_os = "linux", feature = "bpf"))]
pub(crate) fn raise(error: &bentpipe_bpf::BpfError) -> PyErr {
    let text = error.to_string();
    match error {
        bentpipe_bpf::BpfError::Missing(_) => LiveMissing::new_err(text),
        bentpipe_bpf::BpfError::Refused(_) => LiveFailed::new_err(text),
    }
}

/// Registers the controls of a BPF object with the kernel and pins them at a path.
#[cfg(all(target_os = "linux", feature = "bpf"))]
#[pyfunction]
pub(crate) fn bpf_install(py: Python<'_>, object: PathBuf, pin: PathBuf) -> PyResult<()> {
    py.detach(|| bentpipe_bpf::install(&object, &pin)).map_err(|error| raise(&error))
}

/// Takes the control that is pinned at a path out of the kernel.
#[cfg(all(target_os = "linux", feature = "bpf"))]
#[pyfunction]
pub(crate) fn bpf_remove(py: Python<'_>, pin: PathBuf) -> PyResult<()> {
    py.detach(|| bentpipe_bpf::remove(&pin)).map_err(|error| raise(&error))
}

/// Registers the controls of a BPF object with the kernel for a while.
#[cfg(all(target_os = "linux", feature = "bpf"))]
#[pyfunction]
pub(crate) fn bpf_hold(py: Python<'_>, object: PathBuf) -> PyResult<HeldControls> {
    let held = py.detach(|| bentpipe_bpf::hold(&object)).map_err(|error| raise(&error))?;
    Ok(HeldControls { held: std::sync::Mutex::new(Some(held)) })
}

#[cfg(all(target_os = "linux", feature = "bpf"))]
#[pymethods]
impl HeldControls {
    /// Takes them out of the kernel; connections keep theirs until they end.
    fn release(&self) {
        if let Ok(mut held) = self.held.lock() {
            held.take();
        }
    }
}

#[cfg(not(all(target_os = "linux", feature = "bpf")))]
pub(crate) const MISSING: &str = "this build of bentpipe has no BPF loader: a build beside libelf-dev has it";

#[cfg(not(all(target_os = "linux", feature = "bpf")))]
#[pyfunction]
pub(crate) fn bpf_install(object: PathBuf, pin: PathBuf) -> PyResult<()> {
    let _ = (object, pin, LiveFailed::new_err::<String>);
    Err(LiveMissing::new_err(MISSING))
}

#[cfg(not(all(target_os = "linux", feature = "bpf")))]
#[pyfunction]
pub(crate) fn bpf_remove(pin: PathBuf) -> PyResult<()> {
    let _ = pin;
    Err(LiveMissing::new_err(MISSING))
}

#[cfg(not(all(target_os = "linux", feature = "bpf")))]
#[pyfunction]
pub(crate) fn bpf_hold(object: PathBuf) -> PyResult<HeldControls> {
    let _ = (object, HeldControls {});
    Err(LiveMissing::new_err(MISSING))
}

#[cfg(not(all(target_os = "linux", feature = "bpf")))]
#[pymethods]
impl HeldControls {
    fn release(&self) {}
}
