//! The engine as a WebAssembly module: a scenario's text in, a result's JSON out. Nothing is computed here.
//!
//! How JavaScript calls it is in `edge.rs`; [`answer`] is the same on every machine.

#[cfg(target_family = "wasm")]
mod edge;

use std::ops::ControlFlow;

use bentpipe_sim::{RunOptions, scenario};
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
}

impl Request {
    fn name() -> String {
        "scenario.toml".to_owned()
    }
}

/// What comes back as JSON: `result`, with all that `bentpipe run --json` counts, or the one line `error`.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Result(Box<bentpipe_sim::RunResult>),
    Error(String),
}

/// Runs what `request` asks for; `clock` tells what the run costs, in seconds.
pub fn answer(request: &[u8], clock: Box<dyn Fn() -> f64>) -> Vec<u8> {
    let answer = match run(request, clock) {
        Ok(result) => Answer::Result(Box::new(result)),
        Err(message) => Answer::Error(message),
    };
    serde_json::to_vec(&answer).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}").into_bytes())
}

fn run(request: &[u8], clock: Box<dyn Fn() -> f64>) -> Result<bentpipe_sim::RunResult, String> {
    let request: Request =
        serde_json::from_slice(request).map_err(|error| format!("expected a request as JSON: {error}"))?;
    let scenario = scenario::parse_str(&request.name, &request.scenario, &request.settings)
        .map_err(|error| error.to_string())?;
    let options = RunOptions { seed: request.seed, clock: Some(clock), ..RunOptions::default() };
    bentpipe_sim::run(&scenario, options, &mut |_| ControlFlow::Continue(()))
        .map_err(|error| error.to_string())
}
