//! From a tree to serde's structures, with every fault at its value.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use bentpipe_units::{Fault, Problem, no_such_key, quoted};
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Unexpected, Visitor,
};
use serde_path_to_error::{Segment, Track};

use crate::keys::no_such_scheme;
use crate::text::{Node, Table, Value};

/// A `T` from `node`.
pub(crate) fn read<T: DeserializeOwned>(node: &Node) -> Result<T, Fault> {
    read_by(PhantomData::<T>, node)
}

/// The keys of a table that are among `some`, and the others, which are all among `rest`; `unknown` is the fault of one that is not.
pub(crate) fn divided(
    node: &Node,
    some: &[&str],
    rest: &[&str],
    unknown: impl Fn(&str) -> Fault,
) -> Result<[Node; 2], Fault> {
    let [mut of_some, mut of_rest] = [node.clone(), node.clone()];
    if let (Some(of_some), Some(of_rest)) = (of_some.table_mut(), of_rest.table_mut()) {
        of_some.retain(|key, _| some.contains(&key.as_str()));
        of_rest.retain(|key, _| !some.contains(&key.as_str()));
        if let Some(key) = of_rest.keys().find(|key| !rest.contains(&key.as_str())) {
            return Err(unknown(key).under(key));
        }
    }
    Ok([of_some, of_rest])
}

/// Reads from `node` what `seed` makes of it.
pub(crate) fn read_by<'de, S: DeserializeSeed<'de>>(seed: S, node: &'de Node) -> Result<S::Value, Fault> {
    let (mut track, first) = (Track::new(), RefCell::new(None));
    let reading = Reading { node, first: &first };
    let wrong = match seed.deserialize(serde_path_to_error::Deserializer::new(reading, &mut track)) {
        Ok(read) => return Ok(read),
        Err(wrong) => wrong,
    };
    let keys: Vec<String> = track
        .path()
        .iter()
        .filter_map(|segment| match segment {
            Segment::Map { key } => Some(key.clone()),
            Segment::Seq { index } => Some(format!("[{index}]")),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect();
    // Some of serde's ways hand on a text alone: what was said first is the fault itself.
    let fault = first.into_inner().unwrap_or(wrong.0);
    Err(keys.into_iter().rev().fold(fault, Fault::under))
}

/// Keys that choose the shape of their table; they are read before the others.
const CHOICES: [&str; 2] = ["model", "scheme"];

fn entries_of(table: &Table) -> impl Iterator<Item = (&str, &Node)> {
    let first = |(key, node): &(&str, &Node)| CHOICES.contains(key) && node.table().is_none();
    let all = || table.iter().map(|(key, node)| (key.as_str(), node));
    all().filter(first).chain(all().filter(move |entry| !first(entry)))
}

/// What serde's structures complain about.
#[derive(Clone, Debug)]
struct Wrong(Fault);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(text: T) -> Wrong {
        Wrong(Fault::conflict(text.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Wrong {
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
        Wrong(Fault::value(plain(&expected.to_string()), found))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Wrong {
        Wrong::invalid_type(found, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Wrong {
        Wrong(no_such_scheme("one of the known names", variant, expected))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Wrong {
        Wrong(no_such_key(field, expected))
    }

    fn missing_field(field: &'static str) -> Wrong {
        Wrong(Fault::from(Problem::Missing).under(field))
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

#[derive(Clone, Copy)]
struct Reading<'de, 'a> {
    node: &'de Node,
    /// What was said first.
    first: &'a RefCell<Option<Fault>>,
}

impl<'de> Reading<'de, '_> {
    fn refuse<T>(self, expected: &dyn de::Expected) -> Result<T, Wrong> {
        let found = match &self.node.value {
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Integer(value) => Unexpected::Signed(*value),
            Value::Float(value) => Unexpected::Float(*value),
            Value::Text(text) => Unexpected::Str(text),
            Value::Datetime(date) => Unexpected::Other(date),
            Value::Array(_) => Unexpected::Seq,
            Value::Table(_) => Unexpected::Map,
        };
        self.said(Err(de::Error::invalid_type(found, expected)))
    }

    fn said<T>(self, read: Result<T, Wrong>) -> Result<T, Wrong> {
        read.inspect_err(|wrong| {
            self.first.borrow_mut().get_or_insert_with(|| wrong.0.clone());
        })
    }
}

impl<'de> IntoDeserializer<'de, Wrong> for Reading<'de, '_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Reading<'de, '_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let below = |node| Reading { node, ..self };
        self.said(match &self.node.value {
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(value) => match u64::try_from(*value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_i64(*value),
            },
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::Datetime(_) => self.refuse(&visitor),
            Value::Array(items) => visitor.visit_seq(SeqDeserializer::new(items.iter().map(below))),
            Value::Table(table) => {
                let entries = entries_of(table).map(|(key, node)| (key, below(node)));
                visitor.visit_map(MapDeserializer::new(entries))
            }
        })
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
        match &self.node.value {
            Value::Array(_) => self.refuse(&visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match self.node.text() {
            Some(text) => self.said(visitor.visit_enum(text.into_deserializer())),
            None => self.refuse(&"text in quotes"),
        }
    }

    /// Serde would also take a name by its number.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.node.text() {
            Some(text) => self.said(visitor.visit_borrowed_str(text)),
            None => self.refuse(&"text in quotes"),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_unit()
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
        seq tuple tuple_struct map
    }
}
