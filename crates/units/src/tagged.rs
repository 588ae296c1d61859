//! Tables of which one key, the tag, chooses what the others are.
//!
//! Serde's own way holds such a table back and reads from the copy, where an error has lost its place. Here the tag comes first, and
//! nothing is held back.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, VariantAccess, Visitor,
};

/// An enum whose variant a tag chooses; [`tagged!`](crate::tagged) makes one.
pub trait Tagged: Sized {
    /// The key that chooses.
    const TAG: &'static str;
    /// A table of this kind.
    const EXAMPLE: &'static str;
    /// Reads what serde's derived code takes for an enum.
    ///
    /// # Errors
    /// Those of the deserializer.
    fn variant<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// Lets serde read an enum by its tag, where the enum derives `Deserialize` with `remote = "Self"`: `tagged!(Type, "tag", "example")`.
#[macro_export]
macro_rules! tagged {
    ($type:ty, $tag:literal, $example:expr) => {
        impl $crate::Tagged for $type {
            const TAG: &'static str = $tag;
            const EXAMPLE: &'static str = $example;
            fn variant<'de, D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$type>::deserialize(deserializer)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::read_tagged(deserializer)
            }
        }
    };
}

/// Reads a table of which a tag chooses what it is.
///
/// # Errors
/// Those of the deserializer.
pub fn read_tagged<'de, T: Tagged, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Table<T>(PhantomData<T>);
    impl<'de, T: Tagged> Visitor<'de> for Table<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a table such as {}", T::EXAMPLE)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
            match map.next_key::<String>()? {
                Some(key) if key == T::TAG => T::variant(Chosen(map)),
                _ => Err(A::Error::missing_field(T::TAG)),
            }
        }
    }
    deserializer.deserialize_map(Table(PhantomData))
}

/// A table behind its tag, the value of which comes next: an enum for serde.
struct Chosen<A>(A);

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Chosen<A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_enum(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, A: MapAccess<'de>> EnumAccess<'de> for Chosen<A> {
    type Error = A::Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(mut self, seed: V) -> Result<(V::Value, Self), A::Error> {
        Ok((self.0.next_value_seed(seed)?, self))
    }
}

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Chosen<A> {
    type Error = A::Error;

    fn unit_variant(mut self) -> Result<(), A::Error> {
        match self.0.next_entry::<String, IgnoredAny>()? {
            Some((key, _)) => Err(A::Error::unknown_field(&key, &[])),
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        seed.deserialize(MapAccessDeserializer::new(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.0)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.0)
    }
}
