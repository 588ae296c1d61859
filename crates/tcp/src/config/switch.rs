//! Settings that are switched on or off, or written in full.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IntoDeserializer, MapAccess, Unexpected, Visitor};

/// A kind of value that a switch may stand for.
pub(super) trait Switched: JsonSchema {
    /// What may stand there.
    const EXPECTED: &'static str;
    /// Whether it is a table, or else a name.
    const TABLE: bool = false;
}

/// A switch, on as the profile has it or off; or a rule by its name; or a table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Setting<T> {
    Switch(bool),
    Written(T),
}

impl<T: PartialEq> Setting<T> {
    /// The rule that is meant, where `profile` is the profile's.
    pub(super) fn over(written: Option<Setting<T>>, profile: T, off: T, usual: T) -> T {
        match written {
            Some(Setting::Switch(false)) => off,
            Some(Setting::Switch(true)) if profile == off => usual,
            Some(Setting::Switch(true)) | None => profile,
            Some(Setting::Written(rule)) => rule,
        }
    }
}

impl<'de, T: Deserialize<'de> + Switched> Deserialize<'de> for Setting<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SwitchOr<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Switched> Visitor<'de> for SwitchOr<T> {
            type Value = Setting<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<Setting<T>, E> {
                Ok(Setting::Switch(on))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Setting<T>, E> {
                match T::TABLE {
                    true => Err(E::invalid_type(Unexpected::Str(text), &self)),
                    false => T::deserialize(text.into_deserializer()).map(Setting::Written),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Setting<T>, A::Error> {
                match T::TABLE {
                    true => T::deserialize(MapAccessDeserializer::new(map)).map(Setting::Written),
                    false => Err(A::Error::invalid_type(Unexpected::Map, &self)),
                }
            }
        }
        deserializer.deserialize_any(SwitchOr(PhantomData))
    }
}

impl<T: Switched> JsonSchema for Setting<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let other = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [{ "type": "boolean" }, other] })
    }
}
