//! Reading files, and putting a chain of `extends` together.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::error::{ScenarioError, expected_one_of, quoted};
use super::overrides;
use super::presets::PRESETS;
use super::tree::{Document, Node, Origin, Table, Value, read_document};

/// No scenario that a person or a script writes comes near this.
const MAX_BYTES: u64 = 4 << 20;

/// What all files of a chain come to as one text.
const MAX_TEXT: u64 = MAX_BYTES * MAX_CHAIN as u64;

/// A chain longer than this is a mistake.
const MAX_CHAIN: usize = 16;

/// What `extends` and the command line write before a preset's name.
const PRESET: &str = "preset:";

/// Where a text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    File(PathBuf),
    Preset(&'static str),
}

/// Reads the file at `path` (or `preset:NAME`), what it extends, and the overrides.
pub(crate) fn load(path: &Path, overrides: &[(String, String)]) -> Result<Document, ScenarioError> {
    let name = path.display().to_string();
    if name.is_empty() {
        let message = "expected a file, preset:NAME or the folder of a result, found an empty name";
        return Err(ScenarioError::new("SCENARIO", None, String::new(), message.to_owned()));
    }
    let fail = |message| ScenarioError::new(&name, None, String::new(), message);
    if let Some(preset) = name.strip_prefix(PRESET) {
        let (preset, text) = find_preset(preset).map_err(fail)?;
        return assemble(&name, text, Source::Preset(preset), overrides);
    }
    let text = read_file(path).map_err(fail)?;
    let mut document = assemble(&name, &text, Source::File(path.to_owned()), overrides)?;
    document.read.insert(0, path.to_owned());
    Ok(document)
}

/// As [`from_text`], for the bytes of a text.
pub(crate) fn from_bytes(
    name: &str,
    content: Vec<u8>,
    overrides: &[(String, String)],
) -> Result<Document, ScenarioError> {
    let fail = |message| ScenarioError::new(name, None, String::new(), message);
    if content.len() as u64 > MAX_BYTES {
        return Err(fail(too_large(MAX_BYTES)));
    }
    from_text(name, &decode(content).map_err(fail)?, overrides)
}

/// As [`load`], for a text called `name`; what it extends is looked for beside `name`.
pub(crate) fn from_text(
    name: &str,
    text: &str,
    overrides: &[(String, String)],
) -> Result<Document, ScenarioError> {
    if text.len() as u64 > MAX_TEXT {
        return Err(ScenarioError::new(name, None, String::new(), too_large(MAX_TEXT)));
    }
    assemble(name, text, Source::File(PathBuf::from(name)), overrides)
}

fn assemble(
    name: &str,
    text: &str,
    source: Source,
    overrides: &[(String, String)],
) -> Result<Document, ScenarioError> {
    let mut files = vec![name.to_owned()];
    let mut layers = vec![read_document(text, name, 0)?];
    let mut chain = vec![identity(&source)];
    let mut read = Vec::new();
    let mut source = source;
    while let Some((next, text)) = extended(&mut layers, &files, &chain, &source)? {
        let name = match &next {
            Source::File(path) => {
                read.push(path.clone());
                path.display().to_string()
            }
            Source::Preset(preset) => format!("{PRESET}{preset}"),
        };
        let mut layer = read_document(&text, &name, files.len())?;
        // A title says what one file is, not what others make of it.
        layer.table_mut().and_then(|table| table.shift_remove("title"));
        layers.push(layer);
        files.push(name);
        chain.push(identity(&next));
        source = next;
    }
    let empty = Origin { file: 0, line: None };
    let mut root = Node { value: Value::Table(Table::new()), origin: empty };
    for layer in layers.into_iter().rev() {
        merge(&mut root, layer);
    }
    root.origin = empty;
    let mut document = Document { files, read, root };
    overrides::apply(&mut document, overrides)?;
    Ok(document)
}

/// Takes `extends` out of the newest layer, and reads what it names.
fn extended(
    layers: &mut [Node],
    files: &[String],
    chain: &[Source],
    source: &Source,
) -> Result<Option<(Source, String)>, ScenarioError> {
    let table = layers.last_mut().and_then(Node::table_mut);
    let Some(extends) = table.and_then(|table| table.shift_remove("extends")) else { return Ok(None) };
    let fail = |message: String| {
        let Origin { file, line } = extends.origin;
        ScenarioError::new(&files[file], line, "extends".to_owned(), message)
    };
    let target =
        extends.text().ok_or_else(|| fail("expected a path or \"preset:NAME\", found no text".into()))?;
    let next = match target.strip_prefix(PRESET) {
        Some(preset) => Source::Preset(find_preset(preset).map_err(&fail)?.0),
        None => match source {
            Source::File(path) => Source::File(path.parent().unwrap_or(Path::new("")).join(target)),
            Source::Preset(_) => return Err(fail(format!("expected a preset, found {}", quoted(target)))),
        },
    };
    let text = match &next {
        Source::File(path) => {
            read_file(path).map_err(|message| fail(format!("{message} at {}", quoted(target))))?
        }
        Source::Preset(preset) => find_preset(preset).map_err(&fail)?.1.to_owned(),
    };
    if chain.contains(&identity(&next)) {
        return Err(fail(format!(
            "expected a scenario that does not extend this one, found {}",
            quoted(target)
        )));
    }
    if chain.len() > MAX_CHAIN {
        return Err(fail(format!(
            "expected at most {MAX_CHAIN} scenarios that extend each other, found more"
        )));
    }
    Ok(Some((next, text)))
}

/// The same for every way to write the same file.
fn identity(source: &Source) -> Source {
    match source {
        Source::File(path) => Source::File(fs::canonicalize(path).unwrap_or_else(|_| path.clone())),
        Source::Preset(preset) => Source::Preset(preset),
    }
}

fn find_preset(name: &str) -> Result<(&'static str, &'static str), String> {
    PRESETS.iter().copied().find(|(preset, _)| *preset == name).ok_or_else(|| {
        let names: Vec<_> = PRESETS.iter().map(|(preset, _)| *preset).collect();
        expected_one_of("a preset", name, &names)
    })
}

fn too_large(most: u64) -> String {
    format!("expected a scenario file of at most {} MiB, found a larger one", most >> 20)
}

/// The text of the file at `path`; never reads more than [`MAX_BYTES`], and nothing from a device or a pipe, which may
/// have nothing to give and no end.
fn read_file(path: &Path) -> Result<String, String> {
    let none = |e: std::io::Error| format!("expected a scenario file, found none that can be read ({e})");
    let metadata = fs::metadata(path).map_err(none)?;
    if metadata.is_dir() {
        return Err("expected a scenario file, found a directory".to_owned());
    }
    if !metadata.is_file() {
        return Err("expected a scenario file, found a device or a pipe".to_owned());
    }
    if metadata.len() > MAX_BYTES {
        return Err(too_large(MAX_BYTES));
    }
    let mut bytes = Vec::new();
    // A file may grow.
    File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(none)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_large(MAX_BYTES));
    }
    decode(bytes)
}

/// `bytes` as text.
pub(crate) fn decode(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|e| {
        let line = 1 + e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        format!("expected text in UTF-8, found bytes that are not (line {line})")
    })
}

/// Puts `upper` over `lower`: tables are merged key by key, everything else is replaced.
pub(crate) fn merge(lower: &mut Node, upper: Node) {
    let upper_origin = upper.origin;
    let (below, above) = match (&mut lower.value, upper.value) {
        (Value::Table(below), Value::Table(above)) if !WHOLE.iter().any(|key| names(&above, key)) => {
            (below, above)
        }
        (_, value) => {
            *lower = Node { value, origin: upper_origin };
            return;
        }
    };
    if upper_origin.line.is_some() {
        lower.origin = upper_origin;
    }
    // A choice made above takes back the other way to make it below.
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

/// A table that names one of these is chosen as a whole: it takes nothing from what it replaces.
const WHOLE: [&str; 2] = ["model", "scheme"];

const SUPERSEDED: [(&str, &[&str]); 4] = [
    ("variant", &["recovery", "control"]),
    ("recovery", &["variant"]),
    ("control", &["variant"]),
    ("growth", &["byte_counting_limit"]),
];

/// Whether `key` is set to a text; a table of that name is a link or a flow that is called so.
fn names(table: &Table, key: &str) -> bool {
    table.get(key).is_some_and(|node| node.text().is_some())
}
