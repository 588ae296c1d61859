//! The engine as a WebAssembly module: a scenario's text in, a result's JSON out. Nothing is computed here.
//!
//! How JavaScript calls it is in `edge.rs`; [`answer`] is the same on every machine.

#[cfg(target_family = "wasm")]
mod edge;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use bentpipe_sim::scenario::{self, ScenarioError};
use bentpipe_sim::{FLOW_KINDS, LINK_KINDS, Points, RunOptions, RunResult, SeriesOptions, Subjects};
use serde::{Deserialize, Serialize};

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
}

impl Request {
    fn name() -> String {
        "scenario.toml".to_owned()
    }
}

/// What comes back as JSON: `result`, with all that `bentpipe run --json` counts, or the one line `error`; with a scenario that
/// cannot be run also its place.
#[derive(Serialize)]
#[serde(untagged)]
enum Reply {
    Run {
        result: Box<RunResult>,
        #[serde(skip_serializing_if = "Option::is_none")]
        curves: Option<Box<Curves>>,
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
    /// The recording ended before the run.
    cut: bool,
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

/// An answer to a request.
#[derive(Default)]
pub struct Answer {
    /// `result` or `error`, as JSON.
    pub json: Vec<u8>,
    /// The points of its time series.
    pub points: Points,
}

/// Runs what `request` asks for; `clock` tells what the run costs, in seconds.
pub fn answer(request: &[u8], clock: Box<dyn Fn() -> f64>) -> Answer {
    let points = Rc::default();
    let reply = run(request, clock, &points).unwrap_or_else(|refused| refused);
    let json =
        serde_json::to_vec(&reply).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}").into_bytes());
    Answer { json, points: points.take() }
}

fn run(request: &[u8], clock: Box<dyn Fn() -> f64>, points: &Rc<RefCell<Points>>) -> Result<Reply, Reply> {
    let request: Request =
        serde_json::from_slice(request).map_err(|error| format!("expected a request as JSON: {error}"))?;
    let scenario = scenario::parse_str(&request.name, &request.scenario, &request.settings)?;
    let series = (request.points > 0).then(|| SeriesOptions {
        wanted: None,
        limit: request.points,
        sink: {
            let points = Rc::clone(points);
            Box::new(move |more| {
                let mut all = points.borrow_mut();
                all.curves.extend_from_slice(&more.curves);
                all.times_s.extend_from_slice(&more.times_s);
                all.values.extend_from_slice(&more.values);
                ControlFlow::Continue(())
            })
        },
    });
    let options = RunOptions {
        seed: request.seed,
        series,
        limits: request.limits,
        clock: Some(clock),
        ..RunOptions::default()
    };
    let result = bentpipe_sim::run(&scenario, options, &mut |_| ControlFlow::Continue(()))
        .map_err(|error| error.to_string())?;
    let curves = (request.points > 0).then(|| {
        let Subjects { flows, links, phases } = Subjects::of(&scenario);
        let cut = points.borrow().curves.len() as u64 >= request.points;
        Box::new(Curves { flows, links, phases, flow_kinds: &FLOW_KINDS, link_kinds: &LINK_KINDS, cut })
    });
    Ok(Reply::Run { result: Box::new(result), curves })
}
