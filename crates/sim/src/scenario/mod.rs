//! Scenario files: what is simulated, as people write it, and as the simulator takes it.
//!
//! A file is TOML; [`load`] reads it, puts what it extends beneath it and overrides over it, and checks everything
//! that can be checked before a run. Every error is one line that names the file, the line and the key.

mod app;
mod de;
mod depth;
mod error;
mod model;
mod names;
mod network;
mod overrides;
mod presets;
mod render;
mod resolve;
mod schema;
mod source;
mod tcp;
mod tree;
mod ways;
mod written;

use std::path::Path;

pub use app::apps;
pub use error::ScenarioError;
pub use model::{
    AppSpec, CbrSpec, DirectionSpec, FlowSpec, HandoverSpec, HttpSpec, InFlight, LinkSpec, MultimediaSpec,
    OnOffSpec, Scenario,
};
pub use presets::presets;
pub use schema::schema;
pub use written::variants;

/// Reads the scenario in the file at `path`, or the built-in one when it is `preset:NAME`.
///
/// `overrides` are pairs of a dotted key and a value as `--set key=value` gives them.
pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
    resolve::resolve(&source::load(path, overrides)?)
}

/// Reads the scenario in `text`; errors call it `name`, and what it extends is looked for beside `name`.
pub fn parse_str(name: &str, text: &str, overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
    resolve::resolve(&source::from_text(name, text, overrides)?)
}

/// As [`parse_str`], for the bytes of a text: what a pipe gave.
pub fn parse_bytes(
    name: &str,
    content: Vec<u8>,
    overrides: &[(String, String)],
) -> Result<Scenario, ScenarioError> {
    resolve::resolve(&source::from_bytes(name, content, overrides)?)
}

#[cfg(test)]
mod tests;
