//! Values that are written as texts.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{Deserializer, Error, Visitor};

use crate::Fault;

/// A value that people write as a text.
pub trait Written: FromStr<Err = Fault> {
    /// In an error: `expected EXPECTED, found …`.
    const EXPECTED: &'static str;
}

/// Reads a text with serde.
pub fn read_text<'de, T: Written, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Text<T>(PhantomData<T>);
    impl<T: Written> Visitor<'_> for Text<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTED)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(Fault::into_serde)
        }
    }
    deserializer.deserialize_str(Text(PhantomData))
}

/// Lets serde read a type from its text, and describes that text in a JSON Schema: `written_as_text!(Type, "Name", EXPECTED,
/// "^pattern$")`.
#[macro_export]
macro_rules! written_as_text {
    ($type:ty, $name:literal, $expected:expr, $pattern:expr) => {
        impl $crate::Written for $type {
            const EXPECTED: &'static str = $expected;
        }

        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::read_text(deserializer)
            }
        }

        impl ::schemars::JsonSchema for $type {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!({ "type": "string", "description": $expected, "pattern": $pattern })
            }
        }
    };
}
