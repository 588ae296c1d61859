//! From a tree to serde's structures, with every error at its value.

use std::fmt;
use std::sync::Arc;

use bentpipe_tcp::Scheme;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Unexpected, Visitor,
};
use serde_path_to_error::{Segment, Track};

use super::error::{expected_one_of, quoted};
use super::tree::{Node, Origin, Table, Value};

/// What is wrong with a value, and where it is.
pub(crate) struct Fault {
    pub(crate) path: Vec<String>,
    pub(crate) origin: Origin,
    pub(crate) message: String,
}

/// Reads from `node` what `seed` makes of it.
pub(crate) fn read_by<'de, S: DeserializeSeed<'de> + Copy>(
    seed: S,
    node: &'de Node,
) -> Result<S::Value, Fault> {
    let mut track = Track::new();
    let reading = Reading { node, shown: None };
    let error = match seed.deserialize(serde_path_to_error::Deserializer::new(reading, &mut track)) {
        Ok(read) => return Ok(read),
        Err(error) => error,
    };
    let (mut path, mut at) = (Vec::new(), node);
    for segment in &track.path() {
        let key = match segment {
            Segment::Map { key } => key.clone(),
            Segment::Seq { index } => format!("[{index}]"),
            Segment::Enum { .. } | Segment::Unknown => break,
        };
        let Some(child) = at.get(&key) else { break };
        path.push(key);
        at = child;
    }
    let Wrong { message, missing } = error;
    match missing {
        Some(key) => path.push(key.to_owned()),
        None => at = settle(seed, node, at, &mut path),
    }
    Err(Fault { path, origin: at.origin, message })
}

/// Serde holds back a table whose `model` or `scheme` chooses its shape, and has lost the place when it reads from it: only
/// the error of the whole table `at` comes back. Reading ever less of the table finds it again: what is wrong is the last
/// entry of the shortest beginning that is wrong, other than by what it lacks.
fn settle<'de, S: DeserializeSeed<'de> + Copy>(
    seed: S,
    root: &'de Node,
    mut at: &'de Node,
    path: &mut Vec<String>,
) -> &'de Node {
    let wrong = |at: &'de Node, entries: usize| {
        let shown = Some((at, entries));
        seed.deserialize(Reading { node: root, shown }).is_err_and(|error| error.missing.is_none())
    };
    loop {
        let entries = match &at.value {
            Value::Array(items) => items.len(),
            Value::Table(table) => table.len(),
            _ => return at,
        };
        let (mut right, mut guilty) = (0, entries);
        while right < guilty {
            let middle = (right + guilty) / 2;
            match wrong(at, middle) {
                true => guilty = middle,
                false => right = middle + 1,
            }
        }
        let Some(last) = guilty.checked_sub(1) else { return at };
        let key = match at.table() {
            Some(table) => entries_of(table).nth(last).map(|(key, _)| key.to_owned()).unwrap_or_default(),
            None => format!("[{last}]"),
        };
        let Some(child) = at.get(&key) else { return at };
        path.push(key);
        at = child;
    }
}

/// Keys that choose the shape of their table; they are read before the others.
const CHOICES: [&str; 2] = ["model", "scheme"];

fn entries_of(table: &Table) -> impl Iterator<Item = (&str, &Node)> {
    let first = |(key, node): &(&str, &Node)| CHOICES.contains(key) && node.table().is_none();
    let all = || table.iter().map(|(key, node)| (key.as_str(), node));
    all().filter(first).chain(all().filter(move |entry| !first(entry)))
}

/// What serde's structures complain about.
#[derive(Debug)]
struct Wrong {
    message: String,
    /// The key that the table lacks.
    missing: Option<&'static str>,
}

impl fmt::Display for Wrong {
    /// What is told where only the text is handed on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.missing {
            Some(key) => write!(f, "expected {key}, which has no default, found none"),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Wrong {
        Wrong { message: message.to_string(), missing: None }
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
        Wrong::custom(format!("expected {}, found {found}", plain(&expected.to_string())))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Wrong {
        Wrong::invalid_type(found, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Wrong {
        Wrong::custom(expected_one_of("one of the known names", variant, expected))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Wrong {
        Wrong::custom(unknown_key(field, expected))
    }

    fn missing_field(field: &'static str) -> Wrong {
        let message = "expected a value, since this key has no default, found none".to_owned();
        Wrong { message, missing: Some(field) }
    }
}

/// Reads the options of a scheme, and makes its factory of them.
pub(crate) struct OptionsOf<'a, F: ?Sized>(pub(crate) &'a Scheme<F>);

impl<F: ?Sized> Clone for OptionsOf<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: ?Sized> Copy for OptionsOf<'_, F> {}

impl<'de, F: ?Sized + 'static> DeserializeSeed<'de> for OptionsOf<'_, F> {
    type Value = Arc<F>;

    fn deserialize<D: Deserializer<'de>>(self, table: D) -> Result<Arc<F>, D::Error> {
        let mut table = <dyn erased_serde::Deserializer<'_>>::erase(table);
        self.0.read(&mut table).map_err(de::Error::custom)
    }
}

/// The keys of the table that a structure is read from.
pub(crate) fn keys_of<T: DeserializeOwned>() -> &'static [&'static str] {
    struct Keys<'a>(&'a mut &'static [&'static str]);
    impl<'de> Deserializer<'de> for Keys<'_> {
        type Error = Wrong;
        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, Wrong> {
            *self.0 = fields;
            self.deserialize_any(visitor)
        }
        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Wrong> {
            Err(Wrong { message: String::new(), missing: None })
        }
        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
            unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }
    let mut keys: &'static [&'static str] = &[];
    // There is nothing to read from: it says what it would read.
    let _ = T::deserialize(Keys(&mut keys));
    keys
}

/// What is told of a key that is none of `known`.
pub(crate) fn unknown_key(key: &str, known: &[&str]) -> String {
    match known {
        [] => format!("expected no other key here, found {}", quoted(key)),
        known => expected_one_of("one of the known keys", key, known),
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
struct Reading<'de> {
    node: &'de Node,
    /// A table or an array of which only so many entries are to be seen.
    shown: Option<(&'de Node, usize)>,
}

impl<'de> Reading<'de> {
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
        Err(de::Error::invalid_type(found, expected))
    }
}

impl<'de> IntoDeserializer<'de, Wrong> for Reading<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Reading<'de> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let Reading { node, shown } = self;
        let most = shown.filter(|(cut, _)| std::ptr::eq(*cut, node)).map_or(usize::MAX, |(_, most)| most);
        match &node.value {
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(value) => match u64::try_from(*value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_i64(*value),
            },
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::Datetime(_) => self.refuse(&visitor),
            Value::Array(items) => {
                let items = items.iter().take(most).map(|node| Reading { node, shown });
                visitor.visit_seq(SeqDeserializer::new(items))
            }
            Value::Table(table) => {
                let entries = entries_of(table).take(most).map(|(key, node)| (key, Reading { node, shown }));
                visitor.visit_map(MapDeserializer::new(entries))
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
            Some(text) => visitor.visit_enum(text.into_deserializer()),
            None => self.refuse(&"text in quotes"),
        }
    }

    /// Serde would also take a name by its number.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.node.text() {
            Some(text) => visitor.visit_borrowed_str(text),
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
