//! What somebody wrote, as a tree in which every value knows the layer and the place that it was written at.

use indexmap::IndexMap;
use serde::Serialize;

/// Where a value was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin {
    /// Index among the layers of its document.
    pub layer: usize,
    /// The byte of the layer's text; none for an override, and for what no text says.
    pub at: Option<usize>,
}

/// Keys and their values, in the order in which they were written.
pub type Table = IndexMap<String, Node>;

/// A value and its place. Serde reads structures from it: `T::deserialize(&node)`, where every fault is at its value.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Its place.
    #[serde(skip)]
    pub origin: Origin,
}

/// A value.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[allow(missing_docs)]
pub enum Value {
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
    /// A value that no text says.
    pub fn of(value: Value) -> Node {
        Node { value, origin: Origin::default() }
    }

    /// The table that it is.
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The table that it is.
    pub fn table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The text that it is.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a key of a table.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.table_mut()?.get_mut(key)
    }

    /// What the keys of `path` lead to.
    pub fn find(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Each name of the table called `key`, and what it has.
    pub fn entries(&self, key: &str) -> Vec<(&str, &Node)> {
        let table = self.get(key).and_then(Node::table).into_iter().flatten();
        table.map(|(name, node)| (name.as_str(), node)).collect()
    }

    /// The value of a key of a table, or of an index of an array, such as `[0]`.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(table) => table.get(key),
            Value::Array(items) => {
                items.get(key.strip_prefix('[')?.strip_suffix(']')?.parse::<usize>().ok()?)
            }
            _ => None,
        }
    }
}
