//! Runs against the kernel's TCP: settings in as JSON, with a scenario or without, a row out as JSON.

use std::path::PathBuf;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use bentpipe_units::Span;

use crate::scenario::Scenario;

pyo3::create_exception!(
    bentpipe,
    LiveMissing,
    PyRuntimeError,
    "Something that a live run needs and this machine or user lacks."
);
pyo3::create_exception!(bentpipe, LiveFailed, PyRuntimeError, "A live run that began and failed.");

/// The release of the running kernel, as `uname -r` gives it.
#[pyfunction]
pub(crate) fn kernel_release() -> PyResult<String> {
    linux::kernel_release()
}

/// The congestion controls that the running kernel has, such as `reno`.
#[pyfunction]
pub(crate) fn kernel_controls() -> PyResult<Vec<String>> {
    linux::kernel_controls()
}

/// What the flow of a scenario is that a live run would make: the one called `flow`, or its first bulk transfer.
#[pyfunction]
#[pyo3(signature = (scenario, flow = None))]
pub(crate) fn live_flow(scenario: &Scenario, flow: Option<&str>) -> PyResult<String> {
    linux::live_flow(scenario, flow)
}

/// The JSON Schema of the row that `interop` gives.
#[pyfunction]
pub(crate) fn live_schema() -> PyResult<String> {
    linux::live_schema()
}

/// The flows of a scenario as programs on real kernels carry them, and when its run ends in seconds, if it says so.
#[pyfunction]
pub(crate) fn live_plan(scenario: &Scenario) -> PyResult<(String, Option<f64>)> {
    linux::live_plan(scenario)
}

/// Runs one transfer between our TCP and the kernel's without holding the interpreter lock, over the links of a scenario's
/// `flow` where there is one; `progress` hears of the bytes that have gone over, and may end the run by raising.
#[pyfunction]
#[pyo3(signature = (settings, program, *, scenario = None, flow = None, pcap = None, progress = None))]
// Python gives them by name.
#[allow(clippy::too_many_arguments)]
pub(crate) fn interop(
    py: Python<'_>,
    settings: &str,
    program: Vec<String>,
    scenario: Option<&Bound<'_, Scenario>>,
    flow: Option<String>,
    pcap: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    linux::interop(py, settings, program, scenario.map(Bound::get), flow.as_deref(), pcap, progress)
}

/// Emulates the network of a scenario between kernels without holding the interpreter lock, for `time` or until `seen` says
/// so by something true; gives the report. `seen` is called about twenty times a second, with a snapshot or with nothing.
/// `interfaces` are the hosts that are other machines, each with the interface at which it is.
#[pyfunction]
#[pyo3(signature = (scenario, seen, *, time = None, pcap = None, offloads = true, interfaces = Vec::new(), virtual_clock = false))]
// Python gives them by name.
#[allow(clippy::too_many_arguments)]
pub(crate) fn emulate(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    seen: Py<PyAny>,
    time: Option<&str>,
    pcap: Option<PathBuf>,
    offloads: bool,
    interfaces: Vec<(String, String)>,
    virtual_clock: bool,
) -> PyResult<String> {
    let time = time.map(str::parse::<Span>).transpose();
    let time = time.map_err(|error| PyValueError::new_err(format!("time: {error}")))?;
    linux::emulate(py, scenario.get(), &seen, Emulation { time, pcap, offloads, interfaces, virtual_clock })
}

/// What an emulator is outcome beside its scenario.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
struct Emulation {
    time: Option<Span>,
    pcap: Option<PathBuf>,
    offloads: bool,
    interfaces: Vec<(String, String)>,
    virtual_clock: bool,
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ops::ControlFlow;

    use bentpipe_live::{EmulatorOptions, LiveError, LiveOptions, ScenarioFlow, Settings};
    use bentpipe_units::Span;

    use super::*;
    use bentpipe_scenario::ScenarioError;

    use crate::scenario::scenario_error;

    fn raise(error: LiveError) -> PyErr {
        let text = error.to_string();
        match error {
            LiveError::Setting(_) => PyValueError::new_err(text),
            LiveError::Scenario(fault) => scenario_error(ScenarioError::of("scenario", *fault)),
            LiveError::Missing(_) => LiveMissing::new_err(text),
            LiveError::Failed(_) | LiveError::Stopped => LiveFailed::new_err(text),
        }
    }

    pub(super) fn kernel_release() -> PyResult<String> {
        bentpipe_live::kernel_release().map_err(raise)
    }

    pub(super) fn kernel_controls() -> PyResult<Vec<String>> {
        bentpipe_live::kernel_controls().map_err(raise)
    }

    pub(super) fn live_schema() -> PyResult<String> {
        serde_json::to_string(&bentpipe_live::Row::schema())
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Raises with the name of the scenario's file.
    fn raise_of(scenario: &Scenario, error: LiveError) -> PyErr {
        match error {
            LiveError::Scenario(fault) => scenario_error(ScenarioError::of(&scenario.file, *fault)),
            other => raise(other),
        }
    }

    pub(super) fn live_flow(scenario: &Scenario, flow: Option<&str>) -> PyResult<String> {
        let flow =
            ScenarioFlow::choose(&scenario.scenario, flow).map_err(|error| raise_of(scenario, error))?;
        serde_json::to_string(&flow.facts()).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    pub(super) fn live_plan(scenario: &Scenario) -> PyResult<(String, Option<f64>)> {
        let plan = bentpipe_live::plan(&scenario.scenario).map_err(|error| raise_of(scenario, error))?;
        let text =
            serde_json::to_string(&plan).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok((text, scenario.scenario.duration.map(Span::as_secs)))
    }

    pub(super) fn interop(
        py: Python<'_>,
        settings: &str,
        program: Vec<String>,
        scenario: Option<&Scenario>,
        flow: Option<&str>,
        pcap: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let settings = Settings::from_json(settings).map_err(raise)?;
        let raise = |error| match scenario {
            Some(scenario) => raise_of(scenario, error),
            None => raise(error),
        };
        let flow = scenario.map(|scenario| ScenarioFlow::choose(&scenario.scenario, flow));
        let flow = flow.transpose().map_err(raise)?;
        let options = LiveOptions { program, pcap };
        let mut raised = None;
        let row = py.detach(|| {
            bentpipe_live::interop(&settings, flow, &options, &mut |bytes| {
                let outcome = Python::attach(|py| {
                    py.check_signals()?;
                    progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (bytes,)).map(drop))
                });
                match outcome {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        raised.get_or_insert(error);
                        ControlFlow::Break(())
                    }
                }
            })
        });
        if let Some(error) = raised {
            return Err(error);
        }
        let row = row.map_err(raise)?;
        serde_json::to_string(&row).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    pub(super) fn emulate(
        py: Python<'_>,
        scenario: &Scenario,
        seen: &Py<PyAny>,
        Emulation { time, pcap, offloads, interfaces, virtual_clock }: Emulation,
    ) -> PyResult<String> {
        let options = EmulatorOptions { time, pcap, offloads, interfaces, virtual_clock };
        let json_error = |error: serde_json::Error| PyRuntimeError::new_err(error.to_string());
        let mut raised = None;
        let report = py.detach(|| {
            bentpipe_live::emulate(&scenario.scenario, &options, &mut |snapshot| {
                let outcome = Python::attach(|py| {
                    py.check_signals()?;
                    let snapshot = snapshot.map(|it| serde_json::to_string(&it)).transpose();
                    seen.call1(py, (snapshot.map_err(json_error)?,))?.is_truthy(py)
                });
                match outcome {
                    Ok(false) => ControlFlow::Continue(()),
                    Ok(true) => ControlFlow::Break(()),
                    Err(error) => {
                        raised.get_or_insert(error);
                        ControlFlow::Break(())
                    }
                }
            })
        });
        if let Some(error) = raised {
            return Err(error);
        }
        serde_json::to_string(&report.map_err(|error| raise_of(scenario, error))?).map_err(json_error)
    }
}

#[cfg(not(target_os = "linux"))]
mod linux {
    use super::*;

    fn missing<T>() -> PyResult<T> {
        Err(LiveMissing::new_err("a live run needs Linux: its TCP is the other end"))
    }

    pub(super) fn kernel_release() -> PyResult<String> {
        missing()
    }

    pub(super) fn kernel_controls() -> PyResult<Vec<String>> {
        missing()
    }

    pub(super) fn live_schema() -> PyResult<String> {
        missing()
    }

    pub(super) fn live_flow(_scenario: &Scenario, _flow: Option<&str>) -> PyResult<String> {
        missing()
    }

    pub(super) fn live_plan(_scenario: &Scenario) -> PyResult<(String, Option<f64>)> {
        missing()
    }

    pub(super) fn emulate(
        _py: Python<'_>,
        _scenario: &Scenario,
        _seen: &Py<PyAny>,
        _emulation: Emulation,
    ) -> PyResult<String> {
        missing()
    }

    pub(super) fn interop(
        _py: Python<'_>,
        _settings: &str,
        _program: Vec<String>,
        _scenario: Option<&Scenario>,
        _flow: Option<&str>,
        _pcap: Option<PathBuf>,
        _progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        missing()
    }
}
