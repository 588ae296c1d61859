//! From a tree to serde's structures, with every error at its key.

use std::fmt;

use serde::de::{
    self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
};

use super::error::{ScenarioError, expected_one_of, quoted};
use super::tree::{Document, Node, Origin, Value, dotted};

/// Reads a `T` from `node`, which stands at `path` of `document`.
pub(crate) fn read<'de, T: de::Deserialize<'de>>(
    document: &Document,
    path: &[&str],
    node: &'de Node,
) -> Result<T, ScenarioError> {
    T::deserialize(Reading(node)).map_err(|error| {
        let error = error.settled(node);
        let origin = error.origin.unwrap_or(node.origin);
        let mut key: Vec<String> = path.iter().map(|part| part.to_string()).collect();
        key.extend(error.path.into_iter().rev());
        ScenarioError::new(&document.files[origin.file], origin.line, dotted(&key), error.message)
    })
}

/// What serde's structures complain about, and where; `path` runs from the inside out.
#[derive(Debug)]
struct Wrong {
    message: String,
    /// The key that the complaint is about, within the table that was being read.
    child: Option<String>,
    path: Vec<String>,
    origin: Option<Origin>,
}

impl Wrong {
    fn new(message: String, child: Option<&str>) -> Wrong {
        Wrong { message, child: child.map(str::to_owned), path: Vec::new(), origin: None }
    }

    fn within(mut self, key: &str, origin: Origin) -> Wrong {
        self.origin.get_or_insert(origin);
        self.path.push(key.to_owned());
        self
    }

    /// Serde buffers a table whose `model` chooses its shape, and forgets which key it was at: finds it again.
    fn settled(mut self, node: &Node) -> Wrong {
        if self.origin.is_some() {
            return self;
        }
        let Some(table) = node.table() else { return self };
        if let Some(child) = self.child.take() {
            let origin = table.get(&child).map_or(node.origin, |child| child.origin);
            return self.within(&child, origin);
        }
        let guilty = |node: &Node| {
            let found = format!("found {}", described(node));
            self.message.ends_with(&found) || self.message.contains(&format!("{found};"))
        };
        for (key, child) in table {
            if guilty(child) {
                return self.within(key, child.origin);
            }
            let Value::Array(items) = &child.value else { continue };
            if let Some(i) = items.iter().position(guilty) {
                return self.within(&format!("[{i}]"), items[i].origin).within(key, child.origin);
            }
        }
        self
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Wrong {
        Wrong::new(message.to_string(), None)
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Wrong {
        Wrong::new(format!("expected {}, found {}", plain(&expected.to_string()), unexpected(found)), None)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Wrong {
        Wrong::invalid_type(found, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Wrong {
        Wrong::new(expected_one_of("one of the known names", variant, expected), None)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Wrong {
        if expected.is_empty() {
            return Wrong::new(format!("expected no other key here, found {}", quoted(field)), Some(field));
        }
        Wrong::new(expected_one_of("one of the known keys", field, expected), Some(field))
    }

    fn missing_field(field: &'static str) -> Wrong {
        Wrong::new("expected a value, since this key has no default, found none".to_owned(), Some(field))
    }
}

/// Rust's words for what a TOML file holds.
fn plain(expected: &str) -> String {
    match expected {
        "f64" | "f32" => "a number".to_owned(),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        // The largest that TOML has.
        "u64" => format!("a whole number from 0 to {}", i64::MAX),
        "a boolean" => "true or false".to_owned(),
        "a string" => "text in quotes".to_owned(),
        "a sequence" => "an array".to_owned(),
        "a map" => "a table".to_owned(),
        // The rest are the words of the types' own visitors, and of derived structures.
        other if other.starts_with("struct ") => "a table".to_owned(),
        other => other.to_owned(),
    }
}

fn unexpected(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Float(value) => format!("{value:?}"),
        Unexpected::Str(text) => quoted(text),
        Unexpected::Map | Unexpected::StructVariant => "a table".to_owned(),
        Unexpected::Seq => "an array".to_owned(),
        other => other.to_string(),
    }
}

/// As [`unexpected`] shows this node.
fn described(node: &Node) -> String {
    match &node.value {
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::Text(text) => quoted(text),
        Value::Datetime(date) => date.clone(),
        Value::Array(_) => "an array".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}

struct Reading<'de>(&'de Node);

impl<'de> Deserializer<'de> for Reading<'de> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.0.value {
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(value) => match u64::try_from(*value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_i64(*value),
            },
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::Datetime(date) => {
                let found = Unexpected::Other(date);
                Err(de::Error::invalid_type(found, &visitor))
            }
            Value::Array(items) => visitor.visit_seq(Items { items: items.iter(), next: 0 }),
            Value::Table(table) => {
                let entries = Entries { entries: table.iter(), value: None };
                visitor.visit_map(entries).map_err(|error| error.settled(self.0))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    /// Serde would also take the fields of a structure from an array, in order.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match &self.0.value {
            Value::Array(_) => Err(de::Error::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Entries<'de> {
    entries: indexmap::map::Iter<'de, String, Node>,
    value: Option<(&'de str, &'de Node)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Wrong> {
        let Some((key, node)) = self.entries.next() else { return Ok(None) };
        self.value = Some((key, node));
        let key_reader: de::value::StrDeserializer<'_, Wrong> = key.as_str().into_deserializer();
        seed.deserialize(key_reader).map(Some).map_err(|error| error.within(key, node.origin))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        let Some((key, node)) = self.value.take() else {
            return Err(de::Error::custom("expected a key before its value, found none"));
        };
        seed.deserialize(Reading(node)).map_err(|error| error.settled(node).within(key, node.origin))
    }
}

struct Items<'de> {
    items: std::slice::Iter<'de, Node>,
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Wrong> {
        let Some(node) = self.items.next() else { return Ok(None) };
        let key = format!("[{}]", self.next);
        self.next += 1;
        seed.deserialize(Reading(node))
            .map(Some)
            .map_err(|error| error.settled(node).within(&key, node.origin))
    }
}
