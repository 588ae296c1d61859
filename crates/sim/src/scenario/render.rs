//! A document as one TOML text, which gives the same scenario wherever it is read.

use serde::ser::{Serialize, Serializer};

use super::error::ScenarioError;
use super::tree::{Document, Node, Origin, Value};

/// Everything that `document` says but for its seed, under this `title`: a file's own name is not in the text.
pub(crate) fn render(document: &Document, title: &str) -> Result<String, ScenarioError> {
    let mut root = document.root.clone();
    if let Some(table) = root.table_mut() {
        table.shift_remove("seed");
        let origin = Origin { file: 0, line: None };
        let title = Node { value: Value::Text(title.to_owned()), origin };
        table.shift_remove("title");
        table.shift_insert(0, "title".to_owned(), title);
    }
    toml::to_string(&root).map_err(|e| {
        document.error(&[], format!("expected what can be written as TOML, found what cannot ({e})"))
    })
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Bool(value) => value.serialize(serializer),
            Value::Integer(value) => value.serialize(serializer),
            Value::Float(value) => value.serialize(serializer),
            // No key takes a date, and no scenario has one.
            Value::Text(text) | Value::Datetime(text) => text.serialize(serializer),
            Value::Array(items) => items.serialize(serializer),
            Value::Table(table) => serializer.collect_map(table),
        }
    }
}
