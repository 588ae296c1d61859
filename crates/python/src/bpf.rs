//! Congestion controls as BPF programs in the running kernel.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::live::{LiveFailed, LiveMissing};

/// Registers the controls of a BPF object with the kernel and pins them at a path.
#[cfg(all(target_os = "linux", feature = "bpf"))]
#[pyfunction]
pub(crate) fn bpf_install(py: Python<'_>, object: PathBuf, pin: PathBuf) -> PyResult<()> {
    use bentpipe_bpf::BpfError;

    py.detach(|| bentpipe_bpf::install(&object, &pin)).map_err(|error| match error {
        BpfError::Missing(text) => LiveMissing::new_err(text),
        BpfError::Refused(text) => LiveFailed::new_err(text),
    })
}

#[cfg(not(all(target_os = "linux", feature = "bpf")))]
#[pyfunction]
pub(crate) fn bpf_install(object: PathBuf, pin: PathBuf) -> PyResult<()> {
    let _ = (object, pin, LiveFailed::new_err::<String>);
    Err(LiveMissing::new_err("this build of bentpipe has no BPF loader: a build beside libelf-dev has it"))
}
