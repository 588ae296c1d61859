//! The layers of a scenario: a text, what it extends, and how one is laid over another.

use std::path::{Component, Path, PathBuf};

use bentpipe_units::{Fault, fault, no_such, quoted};

use super::{
    Document, FileKind, Layer, Node, Origin, PRESETS, ReadFile, ScenarioError, Table, Value, WHOLE_TEXT,
    merge, overrides, parse, traces, transfers,
};

/// A chain longer than this is a mistake.
const MAX_CHAIN: usize = 16;

/// What `extends` and the command line write before a preset's name.
pub(crate) const PRESET: &str = "preset:";

/// The flows that a preset has where it is run by itself, and no setting brings others.
const ALONE: &str = "alone";

/// Whether a setting with this key brings flows, in place of changing some of `flows`.
fn brings_flows(key: &str, flows: &Node) -> bool {
    let mut parts = key.split('.');
    let (table, name) = (parts.next(), parts.next());
    table == Some("flows") && name.is_none_or(|name| name != "*" && flows.get(name).is_none())
}

pub(crate) fn find_preset(name: &str) -> Result<&'static str, Fault> {
    PRESETS.iter().find(|(preset, _)| *preset == name).map(|(_, text)| *text).ok_or_else(|| {
        let names: Vec<_> = PRESETS.iter().map(|(preset, _)| *preset).collect();
        no_such("a preset", name, &names)
    })
}

/// Reads `layer`, what it extends, and the overrides.
pub(crate) fn document(
    layer: Layer,
    overrides: &[(String, String)],
    files: &ReadFile<'_>,
) -> Result<Document, ScenarioError> {
    if layer.text.len() as u64 > WHOLE_TEXT.most {
        return Err(ScenarioError::of(&layer.name, WHOLE_TEXT.too_large()));
    }
    let mut layers: Vec<Layer> = Vec::new();
    let mut roots: Vec<Node> = Vec::new();
    let mut alone = None;
    let mut next = Some(layer);
    while let Some(layer) = next {
        let mut root = parse(&layer, layers.len())?;
        let extends = root.table_mut().and_then(|table| table.shift_remove("extends"));
        if !layers.is_empty() {
            // A title says what one file is, not what others make of it.
            root.table_mut().and_then(|table| table.shift_remove("title"));
        }
        if layer.name.starts_with(PRESET) {
            let flows = root.table_mut().and_then(|table| table.shift_remove(ALONE));
            alone = flows.filter(|_| layers.is_empty());
        }
        roots.push(root);
        layers.push(layer);
        next = extends.map(|extends| extended(&layers, &extends, files)).transpose()?;
    }
    let nowhere = Origin { layer: 0, at: None };
    let mut root = Node { value: Value::Table(Table::new()), origin: nowhere };
    for layer in roots.into_iter().rev() {
        merge(&mut root, layer);
    }
    root.origin = nowhere;
    if let (Some(flows), Some(table)) = (alone, root.table_mut())
        && !overrides.iter().any(|(key, _)| brings_flows(key, &flows))
    {
        table.insert("flows".to_owned(), flows);
    }
    transfers::inline(&mut layers, &mut root, files)?;
    let mut document = Document { layers, root };
    overrides::apply(&mut document, overrides)?;
    traces::inline(&mut document, files)?;
    Ok(document)
}

/// What the last of `layers` extends.
fn extended(layers: &[Layer], extends: &Node, files: &ReadFile<'_>) -> Result<Layer, ScenarioError> {
    let this = &layers[extends.origin.layer];
    let fail = |fault: Fault| this.error(extends.origin.at, "extends".to_owned(), fault);
    let target = extends.text().ok_or_else(|| fail(fault!("a path or \"preset:NAME\"", "no text")))?;
    let layer = match (target.strip_prefix(PRESET), &this.file) {
        (Some(preset), _) => Layer::without_file(target, find_preset(preset).map_err(&fail)?),
        (None, None) => return Err(fail(Fault::value("a preset", quoted(target)))),
        (None, Some(_)) => this.beside(target, FileKind::SCENARIO, files).map_err(&fail)?,
    };
    // Symbolic links may lead one name to two files.
    let same = |other: &Layer| {
        other.file.as_deref().map(plain) == layer.file.as_deref().map(plain) && other.text == layer.text
    };
    if layers.iter().any(same) {
        let found = quoted(target);
        return Err(fail(fault!("a scenario that does not extend this one", "{found}")));
    }
    if layers.len() > MAX_CHAIN {
        return Err(fail(fault!("at most {MAX_CHAIN} scenarios that extend each other", "more")));
    }
    Ok(layer)
}

/// The same for every way to write the name of one file.
fn plain(file: &Path) -> PathBuf {
    let mut path = PathBuf::new();
    for part in file.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if path.file_name().is_some() => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    path
}
