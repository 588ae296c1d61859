//! A scenario as a tree in which every value knows the layer and the place that it was written at.

use indexmap::IndexMap;
use serde::Serialize;

/// Where a value was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// Index among the layers of its document.
    pub(crate) layer: usize,
    /// The byte of the layer's text; none for an override, and for what no text says.
    pub(crate) at: Option<usize>,
}

pub(crate) type Table = IndexMap<String, Node>;

#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Node {
    pub(crate) value: Value,
    #[serde(skip)]
    pub(crate) origin: Origin,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    /// No key takes a date, and no scenario has one.
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

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.table_mut()?.get_mut(key)
    }

    /// What the keys of `path` lead to.
    pub(crate) fn find(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Each name of the table called `key`, and what it has.
    pub(crate) fn entries(&self, key: &str) -> Vec<(&str, &Node)> {
        let table = self.get(key).and_then(Node::table).into_iter().flatten();
        table.map(|(name, node)| (name.as_str(), node)).collect()
    }

    /// The value of a key of a table, or of an index of an array, such as `[0]`.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(table) => table.get(key),
            Value::Array(items) => {
                items.get(key.strip_prefix('[')?.strip_suffix(']')?.parse::<usize>().ok()?)
            }
            _ => None,
        }
    }
}

/// `path` as TOML writes it.
pub(crate) fn dotted(path: &[impl AsRef<str>]) -> String {
    let mut key = String::new();
    for part in path.iter().map(AsRef::as_ref) {
        let bare = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let index = part.starts_with('[');
        if !key.is_empty() && !index {
            key.push('.');
        }
        match index || part == "*" || !part.is_empty() && part.chars().all(bare) {
            true => key.push_str(part),
            false => key.push_str(&format!("{part:?}")),
        }
    }
    key
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
