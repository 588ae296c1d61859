//! Values with bounds, said once: `#[serde(with = "Size::<1, 1000>")]` at a field bounds what serde reads, and is what schemars
//! describes.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde::{Serialize, Serializer};

use crate::{Bytes, Fault, Span};

/// A whole number from `LEAST` to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole<const LEAST: u64, const MOST: u64>(u64);

impl<const LEAST: u64, const MOST: u64> Whole<LEAST, MOST> {
    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl<'de, const LEAST: u64, const MOST: u64> Deserialize<'de> for Whole<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number<const LEAST: u64, const MOST: u64>;
        impl<const LEAST: u64, const MOST: u64> Visitor<'_> for Number<LEAST, MOST> {
            type Value = Whole<LEAST, MOST>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from {LEAST} to {MOST}")
            }
            fn visit_u64<E: Error>(self, n: u64) -> Result<Self::Value, E> {
                match (LEAST..=MOST).contains(&n) {
                    true => Ok(Whole(n)),
                    false => Err(E::invalid_value(Unexpected::Unsigned(n), &self)),
                }
            }
        }
        deserializer.deserialize_any(Number)
    }
}

impl<const LEAST: u64, const MOST: u64> JsonSchema for Whole<LEAST, MOST> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Whole{LEAST}To{MOST}").into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": LEAST, "maximum": MOST })
    }
}

impl<const LEAST: u64, const MOST: u64> From<Whole<LEAST, MOST>> for u32 {
    fn from(Whole(n): Whole<LEAST, MOST>) -> u32 {
        n.min(u32::MAX.into()) as u32
    }
}

impl<const LEAST: u64, const MOST: u64> Whole<LEAST, MOST> {
    /// A value within the bounds, as a field of another type has it.
    ///
    /// # Errors
    /// When it is outside.
    pub fn deserialize<'de, D: Deserializer<'de>, T: Of<u64>>(deserializer: D) -> Result<T, D::Error> {
        let found = <Self as Deserialize>::deserialize(deserializer)?.get();
        checked(T::of(found), "a smaller number", found)
    }

    /// The value as it is, for the default in a schema.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }
}

/// A size from `LEAST` to `MOST` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Size<const LEAST: u64, const MOST: u64>;

/// A size above zero.
pub type SomeBytes = Size<1, { u64::MAX }>;

/// A time above zero.
#[derive(Clone, Copy, Debug)]
pub struct AboveZero;

/// A number from `LEAST` to `MOST`.
#[derive(Clone, Copy, Debug)]
pub struct Number<const LEAST: u64, const MOST: u64>;

/// A number above `LEAST`, at most `MOST`.
#[derive(Clone, Copy, Debug)]
pub struct Above<const LEAST: u64, const MOST: u64>;

/// A probability, from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub struct Probability;

/// What a field has of a value that was read: the value, a part of it, or that there is one.
pub trait Of<V>: Sized {
    /// It, unless the value is too large for it.
    fn of(value: V) -> Option<Self>;
}

impl<V, T: Of<V>> Of<V> for Option<T> {
    fn of(value: V) -> Option<Self> {
        T::of(value).map(Some)
    }
}

macro_rules! of {
    ($($type:ty: $value:ty, |$from:ident| $of:expr;)*) => {
        $(impl Of<$value> for $type {
            fn of($from: $value) -> Option<$type> {
                $of
            }
        })*
    };
}

of! {
    u64: u64, |n| Some(n);
    u32: u64, |n| n.try_into().ok();
    f64: f64, |n| Some(n);
    Span: Span, |span| Some(span);
    Bytes: Bytes, |size| Some(size);
    u64: Bytes, |size| Some(size.get());
    u8: Bytes, |size| size.get().try_into().ok();
    u32: Bytes, |size| size.get().try_into().ok();
}

/// `value`, or the error that it is not what was `expected`.
fn checked<T, E: Error>(
    value: Option<T>,
    expected: impl Into<String>,
    found: impl fmt::Display,
) -> Result<T, E> {
    value.ok_or_else(|| Fault::value(expected, found.to_string()).into_serde())
}

/// What `#[serde(with = …)]` asks of a kind of bounds: how a value is read, and what a schema says of it.
macro_rules! bounds {
    ($([$($generic:tt)*] $type:ty: $value:ty, |$read:ident| $reading:expr, |$generator:ident| $schema:expr;)*) => {$(
        impl<$($generic)*> $type {
            /// A value within the bounds.
            ///
            /// # Errors
            /// When it is outside.
            pub fn deserialize<'de, D: Deserializer<'de>, T: Of<$value>>(
                deserializer: D,
            ) -> Result<T, D::Error> {
                let $read = <$value>::deserialize(deserializer)?;
                $reading
            }

            /// The value as it is, for the default in a schema.
            ///
            /// # Errors
            /// Those of the serializer.
            pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
                value.serialize(serializer)
            }
        }

        impl<$($generic)*> JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

bounds! {
    [const LEAST: u64, const MOST: u64] Size<LEAST, MOST>: Bytes, |found| {
        let expected = match MOST {
            u64::MAX => "a size above zero".to_owned(),
            most => format!("a size from {} to {}", Bytes::new(LEAST), Bytes::new(most)),
        };
        let fits = (LEAST..=MOST).contains(&found.get()).then_some(found);
        checked(fits.and_then(T::of), expected, format_args!("{} B", found.get()))
    }, |generator| generator.subschema_for::<Bytes>();
    [] AboveZero: Span, |found| {
        let fits = (found > Span::ZERO).then_some(found);
        checked(fits.and_then(T::of), "a time above zero", "0 s")
    }, |generator| generator.subschema_for::<Span>();
    [const LEAST: u64, const MOST: u64] Number<LEAST, MOST>: f64, |found| {
        let fits = (LEAST as f64..=MOST as f64).contains(&found).then_some(found);
        checked(fits.and_then(T::of), format!("a number from {LEAST} to {MOST}"), found)
    }, |_generator| json_schema!({ "type": "number", "format": "double", "minimum": LEAST, "maximum": MOST });
    [const LEAST: u64, const MOST: u64] Above<LEAST, MOST>: f64, |found| {
        let fits = (found > LEAST as f64 && found <= MOST as f64).then_some(found);
        let expected = format!("a number above {LEAST}, at most {MOST}");
        checked(fits.and_then(T::of), expected, found)
    }, |_generator| json_schema!({ "type": "number", "format": "double", "exclusiveMinimum": LEAST, "maximum": MOST });
    [] Probability: f64, |found| {
        let fits = (0.0..=1.0).contains(&found).then_some(found);
        checked(fits.and_then(T::of), "a probability from 0 to 1", found)
    }, |_generator| json_schema!({ "type": "number", "format": "double", "minimum": 0, "maximum": 1 });
}

/// Whole numbers from `LEAST` to `MOST`.
#[derive(Clone, Copy, Debug)]
pub struct Wholes<const LEAST: u64, const MOST: u64>;

impl<const LEAST: u64, const MOST: u64> Wholes<LEAST, MOST> {
    /// Values within the bounds.
    ///
    /// # Errors
    /// When one is outside.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
        let found = Vec::<Whole<LEAST, MOST>>::deserialize(deserializer)?;
        Ok(found.into_iter().map(Whole::get).collect())
    }
}

impl<const LEAST: u64, const MOST: u64> JsonSchema for Wholes<LEAST, MOST> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Wholes{LEAST}To{MOST}").into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Whole<LEAST, MOST>>::json_schema(generator)
    }
}
