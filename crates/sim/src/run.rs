//! A run from a scenario to its result.

use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use crate::RunResult;
use crate::engine::Engine;
use crate::observe::Observer;
use crate::pcap::Capture;
use crate::scenario::Scenario;
use crate::series::SeriesOptions;

/// What a run is asked for beyond its numbers.
#[derive(Default)]
pub struct RunOptions {
    /// Replaces the scenario's seed.
    pub seed: Option<u64>,
    /// Record time series.
    pub series: Option<SeriesOptions>,
    /// Write a pcapng capture.
    pub capture: Option<CaptureOptions>,
}

/// Where a capture goes, and how much of the packets it holds.
#[derive(Clone, Debug)]
pub struct CaptureOptions {
    /// The file.
    pub path: PathBuf,
    /// Bytes of the file at which the recording ends; none for as many as the disk takes.
    pub limit: Option<u64>,
    /// Bytes kept of each packet; none for all headers.
    pub snap: Option<u32>,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time in seconds.
    pub simulated_s: f64,
    /// When the run ends at the latest, in simulated seconds; none when its flows decide.
    pub end_s: Option<f64>,
    /// Events handled.
    pub events: u64,
}

/// Why a run has no result.
#[derive(Debug)]
pub enum RunError {
    /// The progress function asked to stop.
    Interrupted {
        /// Simulated time reached, in seconds.
        simulated_s: f64,
    },
    /// The capture could not be written; the message names the file.
    Capture(io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Interrupted { simulated_s } => {
                write!(f, "interrupted at {simulated_s:.3} s of simulated time")
            }
            RunError::Capture(error) => write!(f, "cannot write the capture: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

/// Runs `scenario`; `progress` is told every 65,536 events and may break the run off.
///
/// # Errors
/// [`RunError::Interrupted`] when `progress` breaks off, [`RunError::Capture`] when the capture cannot be written. Neither
/// leaves a file behind.
pub fn run(
    scenario: &Scenario,
    options: RunOptions,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<RunResult, RunError> {
    let seed = options.seed.unwrap_or(scenario.seed);
    let observer = observer(scenario, options).map_err(RunError::Capture)?;
    let mut engine = Engine::new(scenario, seed, observer);
    let started = Instant::now();
    let end = engine.run(progress)?;
    let wall_s = started.elapsed().as_secs_f64();
    let mut result = RunResult::new(scenario, seed, end, &mut engine, wall_s);
    if let Some(observer) = engine.into_observer() {
        result.recording = Some(observer.finish(end).map_err(RunError::Capture)?);
    }
    Ok(result)
}

fn observer(scenario: &Scenario, options: RunOptions) -> io::Result<Option<Box<Observer>>> {
    let capture = match &options.capture {
        Some(options) => Some(Capture::create(&options.path)?.bounded(options.limit, options.snap)),
        None => None,
    };
    if capture.is_none() && options.series.is_none() {
        return Ok(None);
    }
    Observer::new(scenario, options.series, capture).map(|observer| Some(Box::new(observer)))
}
