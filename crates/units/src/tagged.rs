//! Tables of which one key, the tag, chooses what the others are.
//!
//! Serde's own way reads from a copy in which an error has lost its place. Here the copy is a tree, from which each scheme reads.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, IntoDeserializer, MapAccess,
    VariantAccess, Visitor,
};

use crate::registry::{Catalogue, Kind};
use crate::tree::Node;
use crate::{Fault, Problem, Under};

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
    chosen::<K>(Node::deserialize(deserializer)?).map_err(Fault::into_serde)
}

fn chosen<K: Kind + ?Sized>(mut node: Node) -> Result<K::Value, Fault> {
    let tag = K::KEY.rsplit('.').next().unwrap_or(K::KEY);
    let Some(table) = node.table_mut() else {
        return Err(node.refused(&format!("a table such as {}", K::EXAMPLE).as_str()));
    };
    let name = table.shift_remove(tag).ok_or(Problem::Missing).map_err(Fault::from).under(tag)?;
    let name = name.text().ok_or_else(|| name.refused(&"text in quotes")).under(tag)?;
    Catalogue::being_read::<K>(name).under(tag)?.read(&node)
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
