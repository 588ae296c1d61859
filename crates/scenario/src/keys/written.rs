//! How single values are written, where a unit or a plain number does not say it.

use std::borrow::Cow;
use std::fmt;

use bentpipe_path::gateway::{GatewayFactory, GatewaySpec};
use bentpipe_units::registry::Kind;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serializer;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Unexpected, Visitor};

/// A gateway, or `"none"`, which takes away that of a layer below.
pub(crate) struct GatewayOrNone;

impl GatewayOrNone {
    /// No default has a gateway.
    pub(crate) fn serialize<S: Serializer>(
        _: &Option<GatewaySpec>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_none()
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<GatewaySpec>, D::Error> {
        struct TableOrNone;
        impl<'de> Visitor<'de> for TableOrNone {
            type Value = Option<GatewaySpec>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a table such as {}, or \"none\"", <dyn GatewayFactory>::EXAMPLE)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                match text {
                    "none" => Ok(None),
                    _ => Err(E::invalid_type(Unexpected::Str(text), &self)),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                <GatewaySpec as Deserialize>::deserialize(MapAccessDeserializer::new(map)).map(Some)
            }
        }
        deserializer.deserialize_any(TableOrNone)
    }
}

impl JsonSchema for GatewayOrNone {
    fn schema_name() -> Cow<'static, str> {
        "GatewayWritten".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<GatewaySpec>();
        json_schema!({
            "description": "A gateway in the schema.",
            "anyOf": [table, { "type": "string", "enum": ["none"] }]
        })
    }
}

/// A table, or the name of a file alone.
pub(crate) fn table_or_file<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<T>();
    json_schema!({ "anyOf": [{ "type": "string" }, table] })
}
