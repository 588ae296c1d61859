//! The engine as a WebAssembly module: a scenario's text in, a result's JSON out. Nothing is computed here.
//!
//! How JavaScript calls it is in `edge.rs`; [`answer`] is the same on every machine.

#[cfg(target_family = "wasm")]
mod edge;
mod film;

use std::ops::ControlFlow;

use bentpipe_sim::scenario::{self, ScenarioError};
use bentpipe_sim::{
    FLOW_KINDS, LINK_KINDS, Points, Progress, RunOptions, RunResult, SeriesOptions, Subjects,
};
use serde::{Deserialize, Serialize};

use film::Film;

/// What called.
pub trait Caller: Copy + 'static {
    /// A clock: it tells what the run costs.
    fn seconds(self) -> f64;

    /// Is told, as JSON, whose curves the points are, before there are any.
    fn curves(self, json: &[u8]);

    /// Is told now and then how far a run has come, in simulated seconds.
    fn progress(self, simulated_s: f64);

    /// Takes points of a run that goes on.
    fn points(self, more: &Points);
}

/// What is asked for: JSON, in UTF-8.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// A scenario's text; what it extends is a preset.
    scenario: String,
    /// What errors call it.
    #[serde(default = "Request::name")]
    name: String,
    /// Pairs of a dotted key and a value, as `--set key=value` gives them.
    #[serde(default)]
    settings: Vec<(String, String)>,
    /// Replaces the scenario's seed.
    seed: Option<u64>,
    /// Points of time series to record at most.
    #[serde(default)]
    points: u64,
    /// Measure what limits each flow.
    #[serde(default)]
    limits: bool,
    /// No run, but its satellites and paths up to this time in seconds.
    film_s: Option<f64>,
}

impl Request {
    fn name() -> String {
        "scenario.toml".to_owned()
    }
}

/// What comes back as JSON: `result`, with all that `bentpipe run --json` counts, or `film`, or the one line `error`; with a scenario
/// that cannot be run also its place.
#[derive(Serialize)]
#[serde(untagged)]
enum Reply {
    Run {
        result: Box<RunResult>,
    },
    Film {
        film: Film,
    },
    Refused {
        error: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        fault: Option<Box<Place>>,
    },
}

/// Whose curves the points are, by their numbers: kind k of flow i is curve `i * flow_kinds.len() + k`; those of the links follow.
#[derive(Serialize)]
struct Curves {
    flows: Vec<String>,
    links: Vec<String>,
    phases: Vec<&'static str>,
    flow_kinds: &'static [(&'static str, &'static str)],
    link_kinds: &'static [(&'static str, &'static str)],
}

/// Where a scenario is at fault.
#[derive(Serialize)]
struct Place {
    /// Counted from 1.
    line: Option<usize>,
    key: String,
    message: String,
    hint: Option<String>,
}

impl From<ScenarioError> for Reply {
    fn from(error: ScenarioError) -> Reply {
        let fault = Place {
            line: error.line,
            key: error.key.clone(),
            message: error.message(),
            hint: error.fault.hint.clone(),
        };
        Reply::Refused { error: error.to_string(), fault: Some(Box::new(fault)) }
    }
}

impl From<String> for Reply {
    fn from(error: String) -> Reply {
        Reply::Refused { error, fault: None }
    }
}

/// Answers a request, as JSON.
pub fn answer(request: &[u8], caller: impl Caller) -> Vec<u8> {
    json(&run(request, caller).unwrap_or_else(|refused| refused))
}

fn json(what: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(what).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}").into_bytes())
}

fn run(request: &[u8], caller: impl Caller) -> Result<Reply, Reply> {
    let request: Request =
        serde_json::from_slice(request).map_err(|error| format!("expected a request as JSON: {error}"))?;
    let scenario = scenario::parse_str(&request.name, &request.scenario, &request.settings)?;
    if let Some(until_s) = request.film_s {
        let film =
            Film::of(&scenario, until_s).ok_or("expected satellites, found a scenario without".to_owned())?;
        return Ok(Reply::Film { film });
    }
    let series = (request.points > 0).then(|| {
        let Subjects { flows, links, phases } = Subjects::of(&scenario);
        caller.curves(&json(&Curves {
            flows,
            links,
            phases,
            flow_kinds: &FLOW_KINDS,
            link_kinds: &LINK_KINDS,
        }));
        let sink = Box::new(move |more: &Points| {
            caller.points(more);
            ControlFlow::Continue(())
        });
        SeriesOptions { wanted: None, limit: request.points, sink }
    });
    let options = RunOptions {
        seed: request.seed,
        series,
        limits: request.limits,
        clock: Some(Box::new(move || caller.seconds())),
        ..RunOptions::default()
    };
    let mut progress = |at: &Progress| {
        caller.progress(at.simulated_s);
        ControlFlow::Continue(())
    };
    let result = bentpipe_sim::run(&scenario, options, &mut progress).map_err(|error| error.to_string())?;
    Ok(Reply::Run { result: Box::new(result) })
}
