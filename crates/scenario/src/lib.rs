//! Scenario files: what is simulated, as people write it, and as the simulator takes it.
//!
//! A file is TOML; [`load`] reads it, puts what it extends beneath it and overrides over it, and checks everything
//! that can be checked before a run. Every error is one line that names the file, the line and the key.

mod build;
mod keys;
mod model;
mod read;
mod text;

use std::path::{Path, PathBuf};

use bentpipe_tcp::Catalogue;
use bentpipe_units::fault;

pub use build::{parts_of_variants, schema, variants};
pub use model::{ConstellationSpec, FlowSpec, HandoverSpec, InFlight, KernelControl, Routing, Scenario};
pub use text::{FileKind, ReadFile, ScenarioError, error_line, presets};

use text::{Layer, PRESET, WHOLE_TEXT, document, find_preset, read_file};

/// Reads the scenario in the file at `path`, or the built-in one when it is `preset:NAME`.
///
/// `overrides` are pairs of a dotted key and a value as `--set key=value` gives them.
pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
    load_with(path, overrides, &Catalogue::default())
}

/// As [`load`], where the scenario chooses what it names from `catalogue`: ours, and others beside them.
pub fn load_with(
    path: &Path,
    overrides: &[(String, String)],
    catalogue: &Catalogue,
) -> Result<Scenario, ScenarioError> {
    let name = path.display().to_string();
    if name.is_empty() {
        let message = fault!("a file, preset:NAME or the folder of a result", "an empty name");
        return Err(ScenarioError::of("SCENARIO", message));
    }
    let fail = |fault| ScenarioError::of(&name, fault);
    if let Some(preset) = name.strip_prefix(PRESET) {
        return read(
            Layer::without_file(&name, find_preset(preset).map_err(fail)?),
            overrides,
            &read_file,
            catalogue,
        );
    }
    let text = read_file(path, FileKind::SCENARIO)
        .and_then(|content| FileKind::SCENARIO.text(content))
        .map_err(fail)?;
    let layer = Layer { name, text, file: Some(path.to_owned()) };
    let mut scenario = read(layer, overrides, &read_file, catalogue)?;
    scenario.files.insert(0, path.to_owned());
    Ok(scenario)
}

/// Reads the scenario in `text`; errors call it `name`, and what it extends is looked for beside `name`.
pub fn parse_str(name: &str, text: &str, overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
    parse_with(name, text, overrides, &read_file, &Catalogue::default())
}

/// As [`parse_str`], for the bytes of a text, which is what a pipe gave, and with a choice from `catalogue`.
pub fn parse_bytes(
    name: &str,
    content: Vec<u8>,
    overrides: &[(String, String)],
    catalogue: &Catalogue,
) -> Result<Scenario, ScenarioError> {
    let text = WHOLE_TEXT.decode(content).map_err(|fault| ScenarioError::of(name, fault))?;
    parse_with(name, &text, overrides, &read_file, catalogue)
}

/// As [`parse_str`], where `files` gives what a scenario extends, so that no file system is needed, and `catalogue` what it can
/// choose.
pub fn parse_with(
    name: &str,
    text: &str,
    overrides: &[(String, String)],
    files: &ReadFile<'_>,
    catalogue: &Catalogue,
) -> Result<Scenario, ScenarioError> {
    let file = Some(PathBuf::from(name));
    read(Layer { name: name.to_owned(), text: text.to_owned(), file }, overrides, files, catalogue)
}

fn read(
    layer: Layer,
    overrides: &[(String, String)],
    files: &ReadFile<'_>,
    catalogue: &Catalogue,
) -> Result<Scenario, ScenarioError> {
    let document = document(layer, overrides, files)?;
    let scenario = catalogue.during(|| build::resolve(&document, catalogue, files));
    scenario.map_err(|fault| document.error(fault))
}

#[cfg(test)]
mod tests;
