//! Values with bounds, as fields of the structures that scenarios are read into take them: by serde's `deserialize_with`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

use crate::{Bytes, Span};

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

/// `value`, or the error that it is not what was `expected`.
fn checked<T, E: Error>(value: Option<T>, expected: &str, found: impl fmt::Display) -> Result<T, E> {
    value.ok_or_else(|| E::custom(format!("expected {expected}, found {found}")))
}

/// A whole number from `LEAST` to `MOST`.
pub fn whole<'de, D: Deserializer<'de>, T: TryFrom<u64>, const LEAST: u64, const MOST: u64>(
    deserializer: D,
) -> Result<T, D::Error> {
    let found = Whole::<LEAST, MOST>::deserialize(deserializer)?.get();
    checked(T::try_from(found).ok(), "a smaller number", found)
}

/// A size from `LEAST` to `MOST` bytes.
pub fn size<'de, D: Deserializer<'de>, T: TryFrom<u64>, const LEAST: u64, const MOST: u64>(
    deserializer: D,
) -> Result<T, D::Error> {
    let found = Bytes::deserialize(deserializer)?;
    let expected = match MOST {
        u64::MAX => "a size above zero".to_owned(),
        most => format!("a size from {} to {}", Bytes::new(LEAST), Bytes::new(most)),
    };
    let fits = (LEAST..=MOST).contains(&found.get()).then_some(found.get());
    checked(fits.and_then(|bytes| T::try_from(bytes).ok()), &expected, format_args!("{} B", found.get()))
}

/// A time above zero.
pub fn above_zero<'de, D: Deserializer<'de>, T: From<Span>>(deserializer: D) -> Result<T, D::Error> {
    let found = Span::deserialize(deserializer)?;
    checked((found > Span::ZERO).then(|| found.into()), "a time above zero", "0 s")
}

/// A number from `LEAST` to `MOST`.
pub fn number<'de, D: Deserializer<'de>, T: From<f64>, const LEAST: u64, const MOST: u64>(
    deserializer: D,
) -> Result<T, D::Error> {
    let found = f64::deserialize(deserializer)?;
    let fits = (LEAST as f64..=MOST as f64).contains(&found);
    checked(fits.then(|| found.into()), &format!("a number from {LEAST} to {MOST}"), found)
}

/// A number above `LEAST`, at most `MOST`.
pub fn number_above<'de, D: Deserializer<'de>, T: From<f64>, const LEAST: u64, const MOST: u64>(
    deserializer: D,
) -> Result<T, D::Error> {
    let found = f64::deserialize(deserializer)?;
    let fits = found > LEAST as f64 && found <= MOST as f64;
    checked(fits.then(|| found.into()), &format!("a number above {LEAST}, at most {MOST}"), found)
}
