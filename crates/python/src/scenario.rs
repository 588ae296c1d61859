//! A scenario, and what a run of it measured, as Python has them.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use bentpipe_files::CaptureFile;
use bentpipe_sim::{CaptureOptions, RunOptions, SeriesOptions, Subjects, scenario};
use bentpipe_units::{Numbers, Span, Time};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::own::{self, OwnScheme, Raised};
use crate::series::{self, Collector, TakePoints};

pyo3::import_exception!(bentpipe.errors, InputError);
pyo3::import_exception!(bentpipe.errors, RunError);
pyo3::import_exception!(bentpipe.errors, ScenarioError);

/// Hands the parts of a scenario's error on to the exception, and the line that they make.
pub(crate) fn scenario_error(error: scenario::ScenarioError) -> PyErr {
    let message = error.message();
    let scenario::ScenarioError { file, line, key, fault } = error;
    ScenarioError::new_err((message, file, line, key, fault.hint))
}

/// The line that the parts of a scenario's error make.
#[pyfunction]
#[pyo3(signature = (message, file, line, key, hint))]
pub(crate) fn scenario_error_line(
    message: &str,
    file: &str,
    line: Option<usize>,
    key: &str,
    hint: Option<&str>,
) -> String {
    scenario::error_line(file, line, key, message, hint)
}

/// A scenario that was read and checked, with what it was asked for by. Python's `Scenario` is a subclass.
#[pyclass(frozen, subclass, module = "bentpipe._core")]
pub(crate) struct Scenario {
    pub(crate) scenario: scenario::Scenario,
    pub(crate) file: String,
    settings: Vec<(String, String)>,
    /// The schemes of its reader's own that it may choose by name.
    own: Vec<Py<OwnScheme>>,
    raised: Raised,
}

/// What a flow's way is like from a time on: the time, its round trip, its rate, its losses.
type Along = (f64, Option<f64>, u64, f64);

/// What the constructor takes.
type Pickled = (
    String,
    Vec<(String, String)>,
    Option<Vec<u8>>,
    Option<String>,
    Vec<(String, String)>,
    Vec<PathBuf>,
    Vec<Py<OwnScheme>>,
);

#[pymethods]
impl Scenario {
    /// Reads the file or preset `name`, or `content`, which errors call `name`, and puts `settings` on top; `file` and `before` are
    /// what it was first read from, and `read` the files that have the content. `own` can be chosen beside ours.
    #[new]
    #[pyo3(signature = (
        name, settings, content = None, file = None, before = Vec::new(), read = Vec::new(), own = Vec::new()
    ))]
    // As a pickled scenario gives them.
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        name: String,
        settings: Vec<(String, String)>,
        content: Option<Vec<u8>>,
        file: Option<String>,
        before: Vec<(String, String)>,
        read: Vec<PathBuf>,
        own: Vec<Py<OwnScheme>>,
    ) -> PyResult<Scenario> {
        let raised = Raised::default();
        let catalogue = own::catalogue(py, &own, &raised)
            .map_err(|fault| ScenarioError::new_err((fault.to_string(), "own")))?;
        let read_it = || match content {
            None => scenario::load_with(Path::new(&name), &settings, &catalogue),
            Some(content) => scenario::parse_bytes(&name, content, &settings, &catalogue),
        };
        let found = py.detach(read_it);
        let mut scenario = found.map_err(scenario_error)?;
        scenario.files.splice(0..0, read);
        Ok(Scenario {
            scenario,
            file: file.unwrap_or(name),
            settings: [before, settings].concat(),
            own,
            raised,
        })
    }

    #[getter]
    fn title(&self) -> &str {
        &self.scenario.title
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.scenario.seed
    }

    #[getter]
    fn file(&self) -> &str {
        &self.file
    }

    #[getter]
    fn settings(&self) -> Vec<(String, String)> {
        self.settings.clone()
    }

    #[getter]
    fn own(&self, py: Python<'_>) -> Vec<Py<OwnScheme>> {
        self.own.iter().map(|scheme| scheme.clone_ref(py)).collect()
    }

    #[pyo3(signature = (seed = None))]
    fn toml(&self, seed: Option<u64>) -> String {
        self.scenario.toml(seed.unwrap_or(self.scenario.seed))
    }

    /// What a direction of a link is over the run, as the text of a trace in this format.
    fn trace(&self, direction: &str, form: &str) -> PyResult<String> {
        self.scenario.trace(direction, form).map_err(|fault| PyValueError::new_err(fault.to_string()))
    }

    /// The files that it was read from.
    #[getter]
    fn files(&self) -> Vec<PathBuf> {
        self.scenario.files.clone()
    }

    /// What its reader should know before a run.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.scenario.notes.clone()
    }

    /// Pickled, it is its whole text, so that it needs no file where it comes out again.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, Pickled) {
        let this = slf.get();
        let content = Some(this.toml(None).into_bytes());
        let file = Some(this.file.clone());
        let own = this.own(slf.py());
        let read = Vec::new();
        (slf.get_type(), (this.file.clone(), Vec::new(), content, file, this.settings.clone(), read, own))
    }

    /// It does not change: a copy is itself.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// Whether another seed may give another run.
    fn is_random(&self) -> bool {
        // What a hook in Python does is its own.
        self.scenario.is_random() || !self.own.is_empty()
    }

    /// The subjects of the run's time series, the kinds that each has, and the names of phases.
    fn series(&self) -> series::Described {
        series::describe(Subjects::of(&self.scenario))
    }

    /// What the ways of these flows carry of payload between two times, at best: the narrowest links, and bits a second.
    fn carried(&self, flows: Vec<usize>, from_s: f64, to_s: f64) -> Option<(Vec<String>, f64)> {
        let found = bentpipe_sim::bounds::carried(&self.scenario, &flows, from_s, to_s)?;
        Some((found.links, found.payload_bps))
    }

    /// From when on a flow's way has which delay there and back, in seconds, none while nothing gets through; how many bits a
    /// second its narrowest link carries, and which share of packets is lost.
    fn along(&self, flow: usize, end_s: f64) -> Option<Vec<Along>> {
        let found = bentpipe_sim::bounds::along(&self.scenario, flow, Time::ZERO + Span::from_secs(end_s))?;
        let row = |now: &bentpipe_sim::bounds::Along| {
            (now.at.as_secs(), now.round_trip.map(Span::as_secs), now.rate_bps, now.loss)
        };
        Some(found.iter().map(row).collect())
    }

    /// Simulates without holding the interpreter lock; `progress`, `series` and a pending signal may end the run by raising.
    #[pyo3(signature = (
        *, seed = None, series = None, series_rows = usize::MAX, wanted = None, series_limit = u64::MAX, pcap = None, pcap_limit = None, snap = None,
        limits = false, progress = None
    ))]
    // Python gives them by name.
    #[allow(clippy::too_many_arguments)]
    fn simulate(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        series: Option<Py<PyAny>>,
        series_rows: usize,
        wanted: Option<Vec<u32>>,
        series_limit: u64,
        pcap: Option<PathBuf>,
        pcap_limit: Option<u64>,
        snap: Option<u32>,
        limits: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<RunResult> {
        let (raised, result) = py.detach(|| {
            let raised = Rc::new(Cell::new(None));
            let collector = series.map(|sink| {
                let subjects = Subjects::of(&self.scenario);
                Rc::new(RefCell::new(Collector::new(subjects, series_rows, hand_on_to(sink, raised.clone()))))
            });
            let series = collector.clone().map(|collector| SeriesOptions {
                wanted,
                limit: series_limit,
                sink: Box::new(move |points| collector.borrow_mut().take(points)),
            });
            let capture = match pcap.map(CaptureFile::create).transpose() {
                Ok(file) => {
                    file.map(|file| CaptureOptions { output: Box::new(file), limit: pcap_limit, snap })
                }
                Err(error) => return (None, Err(bentpipe_sim::RunError::Capture(error))),
            };
            let started = Instant::now();
            let clock: Box<dyn Fn() -> f64> = Box::new(move || started.elapsed().as_secs_f64());
            let options =
                RunOptions { seed, series, capture, limits, clock: Some(clock), kernels: start_kernel() };
            let result = bentpipe_sim::run(&self.scenario, options, &mut |now| {
                let outcome = match raised.take().or_else(|| self.raised.take()) {
                    Some(error) => Err(error),
                    None => Python::attach(|py| {
                        py.check_signals()?;
                        match &progress {
                            Some(progress) => {
                                progress.call1(py, (now.simulated_s, now.end_s, now.events)).map(drop)
                            }
                            None => Ok(()),
                        }
                    }),
                };
                match outcome {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        raised.set(Some(error));
                        ControlFlow::Break(())
                    }
                }
            });
            if let (Some(collector), Ok(_)) = (collector, &result) {
                collector.borrow_mut().finish();
            }
            (raised.take().or_else(|| self.raised.take()), result)
        });
        match (raised, result) {
            (Some(error), _) => Err(error),
            (None, result) => result.map(RunResult).map_err(|error| match error {
                bentpipe_sim::RunError::NoKernel(why) => InputError::new_err(why),
                other => RunError::new_err(other.to_string()),
            }),
        }
    }
}

/// What starts the kernels of a run, where they can run.
fn start_kernel() -> Option<Box<bentpipe_sim::kernel::StartKernel>> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    return Some(Box::new(bentpipe_virtual::start));
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    None
}

/// Hands points to a callable, which says whether it has room for more; what it raises is kept, and ends the recording.
fn hand_on_to(sink: Py<PyAny>, raised: Rc<Cell<Option<PyErr>>>) -> TakePoints {
    Box::new(move |points| match Python::attach(|py| sink.call1(py, (points,))?.extract(py)) {
        Ok(true) => ControlFlow::Continue(()),
        Ok(false) => ControlFlow::Break(()),
        Err(error) => {
            raised.set(Some(error));
            ControlFlow::Break(())
        }
    })
}

/// What a run measured.
#[pyclass(frozen, module = "bentpipe._core")]
pub(crate) struct RunResult(bentpipe_sim::RunResult);

#[pymethods]
impl RunResult {
    /// Events that it took.
    #[getter]
    fn events(&self) -> u64 {
        self.0.engine.events
    }

    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}

impl RunResult {
    /// Whether it has a number wherever another run of its scenario has one, and the same text.
    fn is_regular(&self) -> bool {
        let run = &self.0;
        let listed = !run.users.pages.is_empty() || !run.users.transactions.is_empty();
        !listed && run.recording.is_none() && run.flows.iter().all(|flow| flow.error.is_none())
    }
}

/// The numbers of runs of one scenario in the order of their JSON, as native doubles: all of the first number, then all of the
/// second; a null is NaN. None when one of the runs has a list that others have not, or a text.
#[pyfunction]
pub(crate) fn columns<'py>(
    py: Python<'py>,
    results: Vec<PyRef<'py, RunResult>>,
) -> Option<Bound<'py, PyBytes>> {
    let mut rows = Vec::new();
    let mut each = 0;
    for (number, result) in results.iter().enumerate() {
        if !result.is_regular() {
            return None;
        }
        result.0.numbers(&mut rows);
        each = if number == 0 { rows.len() } else { each };
        if rows.len() != each * (number + 1) {
            return None;
        }
    }
    let column = |column: usize| rows.iter().skip(column).step_by(each);
    let bytes: Vec<u8> = (0..each).flat_map(column).flat_map(|value| value.to_ne_bytes()).collect();
    Some(PyBytes::new(py, &bytes))
}
