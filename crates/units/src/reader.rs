//! From a tree to serde's structures, with every fault at its value.

use std::fmt;
use std::iter::Enumerate;
use std::{slice, vec};

use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    Visitor,
};

use crate::tree::{Node, Table, Value};
use crate::{Fault, Problem, no_such, no_such_key, quoted};

/// Keys that choose the shape of their table; they are read before the others.
const CHOICES: [&str; 2] = ["model", "scheme"];

/// The name by which a [`Node`] asks for any value, a date too.
const ANY: &str = "bentpipe::Node";

/// What was expected in place of an unknown name.
pub const KNOWN_NAMES: &str = "one of the known names";

impl de::Error for Fault {
    fn custom<T: fmt::Display>(text: T) -> Fault {
        Fault::handed_on(text.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Fault {
        let found = match found {
            Unexpected::Bool(value) => value.to_string(),
            Unexpected::Unsigned(value) => value.to_string(),
            Unexpected::Signed(value) => value.to_string(),
            Unexpected::Float(value) => format!("{value:?}"),
            Unexpected::Str(text) => quoted(text),
            Unexpected::Map | Unexpected::StructVariant => "a table".to_owned(),
            Unexpected::Seq => "an array".to_owned(),
            other => other.to_string(),
        };
        Fault::value(plain(&expected.to_string()), found)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Fault {
        Fault::invalid_type(found, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Fault {
        no_such(KNOWN_NAMES, variant, expected)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Fault {
        no_such_key(field, expected)
    }

    fn missing_field(field: &'static str) -> Fault {
        Fault::from(Problem::Missing).under(field)
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
        "a string" | "variant identifier" => "text in quotes".to_owned(),
        "a sequence" => "an array".to_owned(),
        "a map" => "a table".to_owned(),
        // The rest are the words of the types' own visitors, and of derived structures.
        other if other.starts_with("struct ") => "a table".to_owned(),
        other => other.to_owned(),
    }
}

impl Node {
    /// The fault that only what is `expected` may stand here.
    pub(crate) fn refused(&self, expected: &dyn de::Expected) -> Fault {
        let found = match &self.value {
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Integer(value) => Unexpected::Signed(*value),
            Value::Float(value) => Unexpected::Float(*value),
            Value::Text(text) => Unexpected::Str(text),
            Value::Datetime(date) => Unexpected::Other(date),
            Value::Array(_) => Unexpected::Seq,
            Value::Table(_) => Unexpected::Map,
        };
        de::Error::invalid_type(found, expected)
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.value {
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(value) => match u64::try_from(*value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_i64(*value),
            },
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::Datetime(_) => Err(self.refused(&visitor)),
            Value::Array(items) => visitor.visit_seq(Items(items.iter().enumerate())),
            Value::Table(table) => visitor.visit_map(Entries::of(table)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    /// Serde would also take the fields of a structure from an array, in order.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.value {
            Value::Table(table) => visitor.visit_map(Entries::of(table)),
            _ => Err(self.refused(&visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.text() {
            Some(text) => visitor.visit_enum(text.into_deserializer()),
            None => Err(self.refused(&"text in quotes")),
        }
    }

    /// Serde would also take a name by its number.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.text() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => Err(self.refused(&"text in quotes")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.value {
            Value::Datetime(date) if name == ANY => visitor.visit_bytes(date.as_bytes()),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map
    }
}

struct Items<'de>(Enumerate<slice::Iter<'de, Node>>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some((i, node)) = self.0.next() else { return Ok(None) };
        seed.deserialize(node).map(Some).map_err(|fault| fault.under(format!("[{i}]")))
    }
}

struct Entries<'de> {
    left: vec::IntoIter<(&'de String, &'de Node)>,
    /// The one whose key was read last.
    entry: Option<(&'de String, &'de Node)>,
}

impl<'de> Entries<'de> {
    fn of(table: &'de Table) -> Entries<'de> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, node)| !CHOICES.contains(&key.as_str()) || node.table().is_some());
        Entries { left: entries.into_iter(), entry: None }
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        self.entry = self.left.next();
        let Some((key, _)) = self.entry else { return Ok(None) };
        seed.deserialize(key.as_str().into_deserializer()).map(Some).map_err(|fault: Fault| fault.under(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        match self.entry {
            Some((key, node)) => seed.deserialize(node).map_err(|fault| fault.under(key)),
            None => Err(de::Error::custom("a value before its key")),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_newtype_struct(ANY, Any).map(Node::of)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::Float(value as f64), Value::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_bytes<E>(self, date: &[u8]) -> Result<Value, E> {
        Ok(Value::Datetime(String::from_utf8_lossy(date).into_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut table = Table::new();
        while let Some((key, node)) = entries.next_entry()? {
            table.insert(key, node);
        }
        Ok(Value::Table(table))
    }
}
