//! The layers of a scenario: a text, what it extends, and how one is laid over another.

use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use bentpipe_units::{Fault, Problem, fault, quoted};

use super::error::{ScenarioError, no_such};
use super::link_trace;
use super::overrides;
use super::parse::parse;
use super::presets::PRESETS;
use super::recorded;
use super::tree::{Document, Layer, Node, Origin, Table, Value};

/// A kind of file that a scenario is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileKind {
    /// The noun of its errors.
    pub(crate) noun: &'static str,
    /// Bytes that it may have.
    pub(crate) most: u64,
}

impl FileKind {
    /// No scenario that a person or a script writes comes near its bound.
    pub(crate) const SCENARIO: FileKind = FileKind { noun: "a scenario file", most: 4 << 20 };
    pub(crate) const TRACE: FileKind = FileKind { noun: "a trace", most: u64::MAX };
    pub(crate) const ELEMENTS: FileKind = FileKind { noun: "a file of element sets", most: 64 << 20 };
    pub(crate) const TRANSFERS: FileKind = FileKind { noun: "a file of transfers", most: 64 << 20 };

    pub(crate) fn too_large(self) -> Fault {
        Fault::value(format!("{} of at most {} MiB", self.noun, self.most >> 20), "a larger one")
    }

    pub(crate) fn unreadable(self, error: &io::Error) -> Fault {
        Fault::value(self.noun, format!("none that can be read ({error})"))
    }

    /// All that such a file holds, as text.
    pub(crate) fn text(self, content: Box<dyn Read>) -> Result<String, Fault> {
        let mut bytes = Vec::new();
        let most = self.most.saturating_add(1);
        content.take(most).read_to_end(&mut bytes).map_err(|error| self.unreadable(&error))?;
        self.decode(bytes)
    }

    /// These bytes of such a file as text.
    pub(crate) fn decode(self, bytes: Vec<u8>) -> Result<String, Fault> {
        if bytes.len() as u64 > self.most {
            return Err(self.too_large());
        }
        let text = String::from_utf8(bytes).map_err(|e| {
            let valid = &e.as_bytes()[..e.utf8_error().valid_up_to()];
            let line = 1 + valid.iter().filter(|b| **b == b'\n').count();
            fault!("text in UTF-8", "bytes that are not (line {line})")
        })?;
        Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
    }
}

/// What all files of a chain come to as one text, or a finished run's scenario with its traces inside.
pub(crate) const WHOLE_TEXT: FileKind = FileKind { noun: "a scenario file", most: 80 << 20 };

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
    let theirs = |name: &str| matches!(&flows.value, Value::Table(table) if table.contains_key(name));
    table == Some("flows") && name.is_none_or(|name| name != "*" && !theirs(name))
}

/// Opens a file that a scenario is made of, or says what is wrong with the file.
pub type ReadFile<'a> = dyn Fn(&Path, FileKind) -> Result<Box<dyn Read>, Fault> + 'a;

/// The error that `fault` is in the text called `name` as a whole.
pub(crate) fn about_all(name: &str, fault: Fault) -> ScenarioError {
    ScenarioError::new(name, None, String::new(), fault)
}

/// `fault` of a file, with the name that it was asked for by.
pub(crate) fn at_file(mut fault: Fault, name: &str) -> Fault {
    if let Problem::Value { found, .. } | Problem::Conflict(found) = &mut fault.problem {
        *found += &format!(" at {}", quoted(name));
    }
    fault
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
        return Err(about_all(&layer.name, WHOLE_TEXT.too_large()));
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
    recorded::inline(&mut layers, &mut root, files)?;
    let mut document = Document { layers, root };
    overrides::apply(&mut document, overrides)?;
    link_trace::inline(&mut document, files)?;
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
        (None, Some(file)) => {
            let file = file.parent().unwrap_or(Path::new("")).join(target);
            let kind = FileKind::SCENARIO;
            let text = files(&file, kind).and_then(|content| kind.text(content));
            let text = text.map_err(|fault| fail(at_file(fault, target)))?;
            Layer { name: file.display().to_string(), text, file: Some(file) }
        }
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

/// A table that names one of these is chosen as a whole: it takes nothing from what it replaces.
const WHOLE: [&str; 2] = ["model", "scheme"];

/// A choice made above takes back the other way to make it below.
const SUPERSEDED: [(&str, &[&str]); 4] = [
    ("variant", &["recovery", "control"]),
    ("recovery", &["variant"]),
    ("control", &["variant"]),
    ("growth", &["byte_counting_limit"]),
];

/// Puts `upper` over `lower`: tables are merged key by key, everything else is replaced.
pub(crate) fn merge(lower: &mut Node, upper: Node) {
    // A table of that name is a link or a flow that is called so.
    let names = |table: &Table, key: &str| table.get(key).is_some_and(|node| node.text().is_some());
    let origin = upper.origin;
    let (below, above) = match (&mut lower.value, upper.value) {
        (Value::Table(below), Value::Table(above)) if !WHOLE.iter().any(|key| names(&above, key)) => {
            (below, above)
        }
        (_, value) => {
            *lower = Node { value, origin };
            return;
        }
    };
    if origin.at.is_some() {
        lower.origin = origin;
    }
    for (choice, others) in SUPERSEDED {
        if names(&above, choice) {
            below.retain(|key, node| !(others.contains(&key.as_str()) && node.table().is_none()));
        }
    }
    for (key, node) in above {
        match below.get_mut(&key) {
            Some(lower) => merge(lower, node),
            None => {
                below.insert(key, node);
            }
        }
    }
}
