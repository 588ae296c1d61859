//! The numbers of a result in the order of its JSON, without the text.

use std::fmt;

use serde::ser::{self, Serialize, Serializer};

/// Every number of `value`, a null as NaN; what is text is left out.
pub(crate) fn numbers(value: &impl Serialize, into: &mut Vec<f64>) -> Result<(), Unusable> {
    value.serialize(Flat(into))
}

/// Something that is neither a number nor a text, nor made of them.
#[derive(Debug)]
pub(crate) struct Unusable(String);

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unusable {}

impl ser::Error for Unusable {
    fn custom<T: fmt::Display>(message: T) -> Unusable {
        Unusable(message.to_string())
    }
}

struct Flat<'a>(&'a mut Vec<f64>);

macro_rules! numbers {
    ($($method:ident($type:ty))*) => {
        $(fn $method(self, value: $type) -> Result<(), Unusable> {
            self.0.push(value as f64);
            Ok(())
        })*
    };
}

impl<'a> Serializer for Flat<'a> {
    type Ok = ();
    type Error = Unusable;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Parts<'a>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Parts<'a>;

    numbers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
        serialize_f32(f32) serialize_f64(f64)
    }

    fn serialize_none(self) -> Result<(), Unusable> {
        self.0.push(f64::NAN);
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), Unusable> {
        self.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unusable> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unusable> {
        value.serialize(self)
    }

    fn serialize_str(self, _: &str) -> Result<(), Unusable> {
        Ok(())
    }

    fn serialize_char(self, _: char) -> Result<(), Unusable> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Unusable> {
        Ok(())
    }

    fn serialize_bool(self, _: bool) -> Result<(), Unusable> {
        Err(ser::Error::custom("a truth value"))
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Unusable> {
        Err(ser::Error::custom("bytes"))
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<(), Unusable> {
        Err(ser::Error::custom(name))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Unusable> {
        Err(ser::Error::custom(name))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'a>, Unusable> {
        Ok(Parts(self.0))
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'a>, Unusable> {
        Ok(Parts(self.0))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>, Unusable> {
        Ok(Parts(self.0))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'a>, Unusable> {
        Ok(Parts(self.0))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>, Unusable> {
        Ok(Parts(self.0))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Parts<'a>, Unusable> {
        Err(ser::Error::custom(name))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Parts<'a>, Unusable> {
        Err(ser::Error::custom(name))
    }
}

/// The parts of an object or a list.
struct Parts<'a>(&'a mut Vec<f64>);

impl Parts<'_> {
    fn part<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unusable> {
        value.serialize(Flat(self.0))
    }
}

macro_rules! parts {
    ($($name:ident: $method:ident;)*) => {
        $(impl ser::$name for Parts<'_> {
            type Ok = ();
            type Error = Unusable;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unusable> {
                self.part(value)
            }
            fn end(self) -> Result<(), Unusable> {
                Ok(())
            }
        })*
    };
}

parts! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
}

macro_rules! fields {
    ($($name:ident)*) => {
        $(impl ser::$name for Parts<'_> {
            type Ok = ();
            type Error = Unusable;
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                _: &'static str,
                value: &T,
            ) -> Result<(), Unusable> {
                self.part(value)
            }
            fn end(self) -> Result<(), Unusable> {
                Ok(())
            }
        })*
    };
}

fields! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = Unusable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Result<(), Unusable> {
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unusable> {
        self.part(value)
    }

    fn end(self) -> Result<(), Unusable> {
        Ok(())
    }
}
