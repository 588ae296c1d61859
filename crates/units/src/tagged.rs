//! Tables of which one key, the tag, chooses what the others are.
//!
//! Serde's own way holds such a table back and reads from the copy, where an error has lost its place. Here the tag comes first, and
//! nothing is held back.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, IntoDeserializer, MapAccess, VariantAccess,
    Visitor,
};

use crate::registry::{Catalogue, Kind, Scheme, Unknown};
use crate::{Fault, Problem};

/// Lets serde read a table whose tag chooses a scheme: `tagged!(dyn Factory, Type)`, where the type is what a choice of the kind comes
/// to.
#[macro_export]
macro_rules! tagged {
    ($kind:ty, $value:ty) => {
        impl<'de> ::serde::Deserialize<'de> for $value {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::read_tagged::<$kind, D>(deserializer)
            }
        }
    };
}

/// Reads a table in which the last part of the kind's key chooses a scheme, whose options the others are.
///
/// # Errors
/// Those of the deserializer.
pub fn read_tagged<'de, K: Kind + ?Sized, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<K::Value, D::Error> {
    struct Table<K: ?Sized>(&'static str, PhantomData<K>);
    impl<'de, K: Kind + ?Sized> Visitor<'de> for Table<K> {
        type Value = K::Value;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a table such as {}", K::EXAMPLE)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<K::Value, A::Error> {
            match map.next_key::<String>()? {
                Some(key) if key == self.0 => {
                    let scheme = map.next_value_seed(Name::<K>(PhantomData))?;
                    let mut wrong = None;
                    let read = scheme.deserialize(Rest { map, wrong: &mut wrong });
                    read.map_err(|text| wrong.unwrap_or(text))
                }
                _ => Err(A::Error::missing_field(self.0)),
            }
        }
    }
    deserializer.deserialize_map(Table::<K>(K::KEY.rsplit('.').next().unwrap_or(K::KEY), PhantomData))
}

/// A table behind its tag.
struct Rest<'a, A, E> {
    map: A,
    /// What was wrong: whoever has erased the deserializer hands on a text alone.
    wrong: &'a mut Option<E>,
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Rest<'_, A, A::Error> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.map).map_err(|wrong| {
            let text = A::Error::custom(&wrong);
            *self.wrong = Some(wrong);
            text
        })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Reads the name of a scheme.
struct Name<K: ?Sized>(PhantomData<K>);

impl<'de, K: Kind + ?Sized> DeserializeSeed<'de> for Name<K> {
    type Value = Scheme<K>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Scheme<K>, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<K: Kind + ?Sized> Visitor<'_> for Name<K> {
    type Value = Scheme<K>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("variant identifier")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Scheme<K>, E> {
        Catalogue::being_read(name).map_err(|unknown| match unknown {
            Unknown::Ours(names) => E::unknown_variant(name, names),
            Unknown::All(names) => {
                let expected = format!("one of the known names ({names})");
                Fault::from(Problem::Name { expected, found: name.to_owned() }).into_serde()
            }
        })
    }
}

/// The variant of this name, with its fields: what serde's derived code takes for an enum.
#[derive(Debug)]
pub struct Variant<D>(pub &'static str, pub D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Variant<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_enum(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, D: Deserializer<'de>> EnumAccess<'de> for Variant<D> {
    type Error = D::Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), D::Error> {
        Ok((seed.deserialize(self.0.into_deserializer())?, self))
    }
}

impl<'de, D: Deserializer<'de>> VariantAccess<'de> for Variant<D> {
    type Error = D::Error;

    fn unit_variant(self) -> Result<(), D::Error> {
        struct Nothing;
        impl<'de> Visitor<'de> for Nothing {
            type Value = ();
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("no options")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
                match map.next_entry::<String, IgnoredAny>()? {
                    Some((key, _)) => Err(A::Error::unknown_field(&key, &[])),
                    None => Ok(()),
                }
            }
        }
        self.1.deserialize_map(Nothing)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, D::Error> {
        seed.deserialize(self.1)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, D::Error> {
        self.1.deserialize_map(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.1.deserialize_map(visitor)
    }
}
