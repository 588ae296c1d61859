//! Tables of which one key, the tag, chooses what the others are.
//!
//! Serde's own way holds such a table back and reads from the copy, where an error has lost its place. Here the tag comes first, and
//! nothing is held back.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, IntoDeserializer, MapAccess, VariantAccess,
    Visitor,
};

use crate::{Fault, Problem};

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
    /// The tags of our own, and those that choose something from outside in what is being read.
    fn tags() -> (Vec<&'static str>, Vec<String>) {
        Default::default()
    }
    /// What one of these tags chooses.
    ///
    /// # Errors
    /// What it says of the options.
    fn external<'de, D: Deserializer<'de>>(name: &str, _options: D) -> Result<Self, D::Error> {
        Err(D::Error::unknown_variant(name, &[]))
    }
}

/// Lets serde read an enum by its tag, where the enum derives `Deserialize` with `remote = "Self"`: `tagged!(Type, "tag", "example")`, or
/// `tagged!(Type, "tag", "example", dyn Factory)` where its variant `External` holds one from outside.
#[macro_export]
macro_rules! tagged {
    ($type:ty, $tag:literal, $example:expr $(, $external:ty)?) => {
        impl $crate::Tagged for $type {
            const TAG: &'static str = $tag;
            const EXAMPLE: &'static str = $example;
            fn variant<'de, D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$type>::deserialize(deserializer)
            }
            $(
                fn tags() -> (Vec<&'static str>, Vec<String>) {
                    $crate::external::External::<$external>::tags()
                }
                fn external<'de, D: ::serde::Deserializer<'de>>(
                    name: &str,
                    options: D,
                ) -> Result<Self, D::Error> {
                    $crate::external::External::<$external>::read(name, options).map(<$type>::External)
                }
            )?
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
                Some(key) if key == T::TAG => {
                    let ((ours, externals), mut found) = (T::tags(), None);
                    let (ours, externals) = (&ours, &externals);
                    let read = T::variant(Chosen { map: &mut map, ours, externals, found: &mut found });
                    match found {
                        Some(name) => T::external(&name, MapAccessDeserializer::new(map)),
                        None => read,
                    }
                }
                _ => Err(A::Error::missing_field(T::TAG)),
            }
        }
    }
    deserializer.deserialize_map(Table(PhantomData))
}

/// A table behind its tag, the value of which comes next: an enum for serde.
struct Chosen<'a, A> {
    map: A,
    ours: &'a [&'static str],
    /// Tags that are none of the enum's own.
    externals: &'a [String],
    /// The one of these that is there: serde is told of an error, which nobody sees.
    found: &'a mut Option<String>,
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Chosen<'_, A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_enum(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, A: MapAccess<'de>> EnumAccess<'de> for Chosen<'_, A> {
    type Error = A::Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(mut self, seed: V) -> Result<(V::Value, Self), A::Error> {
        if self.externals.is_empty() {
            return Ok((self.map.next_value_seed(seed)?, self));
        }
        match self.map.next_value_seed(Tag { seed, ours: self.ours, externals: self.externals })? {
            Ok(variant) => Ok((variant, self)),
            Err(name) => {
                *self.found = Some(name);
                Err(A::Error::custom("from outside"))
            }
        }
    }
}

/// Reads a tag: one of the enum's own, or else one from outside, which is handed back.
struct Tag<'a, S> {
    seed: S,
    ours: &'a [&'static str],
    externals: &'a [String],
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Tag<'_, S> {
    type Value = Result<S::Value, String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for Tag<'_, S> {
    type Value = Result<S::Value, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("variant identifier")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        if self.externals.iter().any(|known| known == name) {
            return Ok(Err(name.to_owned()));
        }
        let ours: Result<_, serde::de::value::Error> = self.seed.deserialize(name.into_deserializer());
        ours.map(Ok).map_err(|_| {
            let all = self.ours.iter().copied().chain(self.externals.iter().map(String::as_str));
            let expected = format!("one of the known names ({})", all.collect::<Vec<_>>().join(", "));
            Fault::from(Problem::Name { expected, found: name.to_owned() }).into_serde()
        })
    }
}

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Chosen<'_, A> {
    type Error = A::Error;

    fn unit_variant(mut self) -> Result<(), A::Error> {
        match self.map.next_entry::<String, IgnoredAny>()? {
            Some((key, _)) => Err(A::Error::unknown_field(&key, &[])),
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        seed.deserialize(MapAccessDeserializer::new(self.map))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.map)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.map)
    }
}
