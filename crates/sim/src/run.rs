//! A run from a scenario to its result.

use std::io;
use std::ops::ControlFlow;

use bentpipe_units::Time;

use crate::engine::Engine;
use crate::kernel::StartKernel;
use crate::observe::Observer;
use crate::progress::{Progress, RunError};
use crate::result::{RunResult, WarmUp};
use crate::series::SeriesOptions;
use bentpipe_drive::pcap::{Capture, Output};
use bentpipe_scenario::Scenario;

/// What a run is asked for beyond its numbers.
#[derive(Default)]
pub struct RunOptions {
    /// Replaces the scenario's seed.
    pub seed: Option<u64>,
    /// Record time series.
    pub series: Option<SeriesOptions>,
    /// Write a pcapng capture.
    pub capture: Option<CaptureOptions>,
    /// Measure what limits each flow.
    pub limits: bool,
    /// A clock that tells what the run costs in seconds; without one that is 0.
    pub clock: Option<Box<dyn Fn() -> f64>>,
    /// Starts the kernels of flows that have one in the place of our TCP; without it there are none.
    pub kernels: Option<Box<StartKernel>>,
}

/// Where a capture goes, and how much of the packets it holds.
#[derive(Debug)]
pub struct CaptureOptions {
    /// What takes its bytes.
    pub output: Box<dyn Output>,
    /// Bytes of the capture at which the recording ends; none for as many as there is room for.
    pub limit: Option<u64>,
    /// Bytes kept of each packet; none for all headers.
    pub snap: Option<u32>,
}

/// Runs `scenario`; `progress` is told every 65,536 events and may break the run off.
///
/// # Errors
/// [`RunError::Interrupted`] when `progress` breaks off, [`RunError::WarmUp`] when nothing is left to measure,
/// [`RunError::Capture`] when the capture cannot be written. None leaves a file behind.
pub fn run(
    scenario: &Scenario,
    mut options: RunOptions,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<RunResult, RunError> {
    let seed = options.seed.unwrap_or(scenario.seed);
    let observer =
        observer(scenario, options.series, options.capture, options.limits).map_err(RunError::Capture)?;
    let mut engine = Engine::new(scenario, seed, observer);
    if options.limits
        && let Some(flow) = scenario.flows.iter().find(|flow| flow.kernel.is_some())
    {
        let why = "a kernel does not tell what limits it";
        return Err(RunError::NoKernel(format!("flows.{}: variant: {}: {why}", flow.name, flow.variant)));
    }
    engine.start_kernels(scenario, seed, options.kernels.as_deref_mut())?;
    if scenario.queueing_quantiles {
        engine.links_mut().iter_mut().for_each(bentpipe_path::Link::measure_waits);
    }
    let clock = || options.clock.as_ref().map_or(0.0, |seconds| seconds());
    let started = clock();
    let warm_up = match scenario.warm_up {
        Some(span) => {
            let until = Time::ZERO + span;
            if let Some(over) = engine.run_until(until, progress)? {
                return Err(RunError::WarmUp { over_s: over.as_secs(), warm_up_s: span.as_secs() });
            }
            WarmUp::end(&mut engine, until)?
        }
        None => WarmUp::none(),
    };
    let end = engine.run(progress)?;
    let wall_s = clock() - started;
    let mut result = RunResult::new(scenario, seed, end, &mut engine, &warm_up, wall_s)?;
    if let Some(observer) = engine.into_observer() {
        result.recording = Some(observer.finish(end).map_err(RunError::Capture)?);
    }
    Ok(result)
}

fn observer(
    scenario: &Scenario,
    series: Option<SeriesOptions>,
    capture: Option<CaptureOptions>,
    limits: bool,
) -> io::Result<Option<Box<Observer>>> {
    if capture.is_none() && series.is_none() && !limits {
        return Ok(None);
    }
    let capture = match capture {
        Some(options) => Some(Capture::start(options.output)?.bounded(options.limit, options.snap)),
        None => None,
    };
    Observer::new(scenario, series, capture, limits).map(|observer| Some(Box::new(observer)))
}
