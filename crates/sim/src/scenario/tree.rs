//! A TOML document as a tree in which every value knows the line that it came from.

use std::path::PathBuf;

use indexmap::IndexMap;
use toml::de::{DeTable, DeValue};

use super::depth::deeper_than;
use super::error::{ScenarioError, quoted};

/// Deeper than any scenario, far less than what a stack takes.
const MAX_DEPTH: usize = 16;
const TOO_DEEP: &str = "expected at most 16 tables within each other, found more";

/// Where a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Index in [`Document::files`].
    pub(crate) file: usize,
    /// Counted from 1; `None` for an override.
    pub(crate) line: Option<usize>,
}

pub(crate) type Table = IndexMap<String, Node>;

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    Datetime(String),
    Array(Vec<Node>),
    Table(Table),
}

impl Node {
    pub(crate) fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A document after its chain of `extends` and the overrides, with the files that it came from.
#[derive(Debug)]
pub(crate) struct Document {
    /// The names of the files that made it, the one that was asked for first.
    pub(crate) files: Vec<String>,
    /// Those of them that lie on a disk.
    pub(crate) read: Vec<PathBuf>,
    pub(crate) root: Node,
}

impl Document {
    /// The node at `path`, where there is one.
    pub(crate) fn at<'a>(&self, path: impl IntoIterator<Item = &'a str>) -> Option<&Node> {
        path.into_iter().try_fold(&self.root, |node, key| node.table()?.get(key))
    }

    /// The error `message` about the value at `path`, at the line of its nearest ancestor when it is missing.
    pub(crate) fn error(&self, path: &[&str], message: impl Into<String>) -> ScenarioError {
        let mut node = &self.root;
        for key in path {
            match node.table().and_then(|table| table.get(*key)) {
                Some(child) => node = child,
                None => break,
            }
        }
        let origin = node.origin;
        ScenarioError::new(&self.files[origin.file], origin.line, dotted(path), message.into())
    }
}

/// `path` as TOML writes it.
pub(crate) fn dotted(path: &[impl AsRef<str>]) -> String {
    let mut key = String::new();
    for part in path.iter().map(AsRef::as_ref) {
        let bare = part == "*"
            || !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        if !key.is_empty() && !part.starts_with('[') {
            key.push('.');
        }
        match bare || part.starts_with('[') {
            true => key.push_str(part),
            false => key.push_str(&format!("{part:?}")),
        }
    }
    key
}

/// Reads the TOML `text` of file number `file`, called `name`.
pub(crate) fn read_document(text: &str, name: &str, file: usize) -> Result<Node, ScenarioError> {
    parsed(text, name, file)?
}

/// What [`read_document`] gives; the outer error is that of a text that is not TOML.
fn parsed(text: &str, name: &str, file: usize) -> Result<Result<Node, ScenarioError>, ScenarioError> {
    let reader = Reader::new(text, name, file);
    if let Some(position) = deeper_than(MAX_DEPTH, text) {
        let line = reader.line(position);
        return Err(ScenarioError::new(name, Some(line), reader.key_on(line), TOO_DEEP.to_owned()));
    }
    reader.document()
}

/// Reads the TOML value `text`; `None` when it is not one, an error's message when it is a number that cannot be kept.
pub(crate) fn read_value(text: &str, name: &str, file: usize) -> Result<Option<Node>, String> {
    // As a document, so that the same limits hold; its one key is not seen by anybody.
    let text = format!("value = {text}");
    let Ok(read) = parsed(&text, name, file) else { return Ok(None) };
    let mut root = read.map_err(|error| error.message().to_owned())?;
    let Some(table) = root.table_mut().filter(|table| table.len() == 1) else { return Ok(None) };
    let Some(mut node) = table.swap_remove("value") else { return Ok(None) };
    forget_lines(&mut node);
    Ok(Some(node))
}

/// A TOML number, which must not become another one: none above zero becomes zero, none becomes infinite.
fn number(digits: &str) -> Result<f64, String> {
    let wrong = |expected: &str| format!("expected {expected}, found {}", quoted(digits));
    let value: f64 = digits.parse().map_err(|_| wrong("a number"))?;
    let written = digits.split(['e', 'E']).next().unwrap_or_default();
    if value == 0.0 && written.contains(|c: char| matches!(c, '1'..='9')) {
        return Err(wrong("a number of at least 5e-324, or 0"));
    }
    if value.is_infinite() && !digits.contains("inf") {
        return Err(wrong("a number of at most 1.7e308"));
    }
    Ok(value)
}

fn forget_lines(node: &mut Node) {
    node.origin.line = None;
    match &mut node.value {
        Value::Array(items) => items.iter_mut().for_each(forget_lines),
        Value::Table(table) => table.values_mut().for_each(forget_lines),
        _ => {}
    }
}

struct Reader<'a> {
    text: &'a str,
    name: &'a str,
    file: usize,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, name: &'a str, file: usize) -> Reader<'a> {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Reader { text, name, file, lines }
    }

    fn line(&self, position: usize) -> usize {
        // An error at the very end belongs to the last line that says something.
        let position = position.min(self.text.trim_end().len());
        self.lines.partition_point(|start| *start <= position)
    }

    fn error(&self, position: usize, path: &[String], message: String) -> ScenarioError {
        ScenarioError::new(self.name, Some(self.line(position)), dotted(path), message)
    }

    fn document(&self) -> Result<Result<Node, ScenarioError>, ScenarioError> {
        let root = DeTable::parse(self.text).map_err(|error| self.syntax(&error))?;
        let value = self.table(root.into_inner(), &mut Vec::new());
        Ok(value.map(|value| Node { value, origin: Origin { file: self.file, line: None } }))
    }

    fn syntax(&self, error: &toml::de::Error) -> ScenarioError {
        let span = error.span().unwrap_or(0..0);
        let found = self.text.get(span.clone()).unwrap_or_default();
        let message = match error.message().split_once(", expected ").unwrap_or((error.message(), "")) {
            ("duplicate key", _) => {
                format!("expected each name once, found {} again", quoted(found.trim_matches(['"', '\''])))
            }
            ("cannot recurse further; max recursion depth met" | "recursion limit", _) => TOO_DEEP.to_owned(),
            ("string values must be quoted", _) if found.is_empty() => {
                "expected a value, found none".to_owned()
            }
            ("string values must be quoted", _) => format!("expected text in quotes, found {found}"),
            (wrong, "") => format!("expected TOML, found what is not: {wrong}"),
            (wrong, expected) => format!("expected {expected}, found TOML that breaks here: {wrong}"),
        };
        match error.span() {
            Some(_) => {
                let line = self.line(span.start);
                ScenarioError::new(self.name, Some(line), self.key_on(line), message)
            }
            None => ScenarioError::new(self.name, None, String::new(), message),
        }
    }

    /// The dotted key that line number `line` seems to be about; the text there may be anything.
    fn key_on(&self, line: usize) -> String {
        let text = |line: usize| {
            let end = self.lines.get(line).copied().unwrap_or(self.text.len());
            self.text[self.lines[line - 1]..end].trim()
        };
        let plain = |key: &str| {
            let key = key.trim();
            let known = |c: char| c.is_alphanumeric() || "-_. \"'{}".contains(c);
            (!key.is_empty() && key.len() <= 100 && key.chars().all(known)).then(|| key.to_owned())
        };
        let header = |line: usize| {
            let rest = text(line).strip_prefix('[')?;
            plain(rest.split(']').next()?)
        };
        if let Some(header) = header(line) {
            return header;
        }
        let table = (1..line).rev().take(1000).find_map(header);
        let key = text(line).split_once('=').and_then(|(key, _)| plain(key));
        [table, key].into_iter().flatten().collect::<Vec<_>>().join(".")
    }

    fn table(&self, table: DeTable<'_>, path: &mut Vec<String>) -> Result<Value, ScenarioError> {
        let mut nodes = Table::with_capacity(table.len());
        for (key, value) in table {
            let position = key.span().start;
            let key = key.into_inner().into_owned();
            path.push(key.clone());
            nodes.insert(key, self.node(value.into_inner(), position, path)?);
            path.pop();
        }
        Ok(Value::Table(nodes))
    }

    fn node(
        &self,
        value: DeValue<'_>,
        position: usize,
        path: &mut Vec<String>,
    ) -> Result<Node, ScenarioError> {
        if path.len() > MAX_DEPTH {
            path.truncate(3);
            return Err(self.error(position, path, TOO_DEEP.to_owned()));
        }
        let value = match value {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Boolean(value) => Value::Bool(value),
            DeValue::Datetime(value) => Value::Datetime(value.to_string()),
            DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
                Ok(value) => Value::Integer(value),
                Err(_) => {
                    let found = quoted(digits.as_str());
                    let message = format!("expected a whole number of at most 64 bits, found {found}");
                    return Err(self.error(position, path, message));
                }
            },
            DeValue::Float(digits) => match number(digits.as_str()) {
                Ok(value) => Value::Float(value),
                Err(message) => return Err(self.error(position, path, message)),
            },
            DeValue::Array(array) => {
                let mut items = Vec::with_capacity(array.len());
                for (i, item) in array.into_iter().enumerate() {
                    let position = item.span().start;
                    path.push(format!("[{i}]"));
                    items.push(self.node(item.into_inner(), position, path)?);
                    path.pop();
                }
                Value::Array(items)
            }
            DeValue::Table(table) => self.table(table, path)?,
        };
        Ok(Node { value, origin: Origin { file: self.file, line: Some(self.line(position)) } })
    }
}
