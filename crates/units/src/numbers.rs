//! Declaring the numbers of a result: each once, with all that others need to know of it.

use std::collections::BTreeMap;

/// The JSON Schema of a result as it is written, from which other languages make their types.
pub fn schema_of<T: schemars::JsonSchema>() -> schemars::Schema {
    schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
}

/// What has numbers in a result: in the order of its JSON, and without the texts.
pub trait Numbers {
    /// Appends every number; a null is NaN.
    fn numbers(&self, _into: &mut Vec<f64>) {}

    /// Appends what stands for a value that is not there.
    fn absent(_into: &mut Vec<f64>) {}
}

macro_rules! plain {
    ($($type:ty)*) => {
        $(impl Numbers for $type {
            fn numbers(&self, into: &mut Vec<f64>) {
                into.push(*self as f64);
            }

            fn absent(into: &mut Vec<f64>) {
                into.push(f64::NAN);
            }
        })*
    };
}

plain! { u32 u64 f64 }

impl Numbers for bool {}
impl Numbers for String {}
impl Numbers for &'static str {}
/// Names and values that another program chooses.
impl<T> Numbers for BTreeMap<String, T> {}

impl<T: Numbers> Numbers for Option<T> {
    fn numbers(&self, into: &mut Vec<f64>) {
        match self {
            Some(value) => value.numbers(into),
            None => T::absent(into),
        }
    }
}

impl<T: Numbers> Numbers for Vec<T> {
    fn numbers(&self, into: &mut Vec<f64>) {
        self.iter().for_each(|one| one.numbers(into));
    }
}

/// Declares structures of a result. Behind the type of a number stands its unit (`""` for a plain count), its heading in a table, and
/// what else holds of it, in pairs:
///
/// | pair | says |
/// | --- | --- |
/// | `flows sum`, `flows spread` | several flows together have their sum; their mean, with the least and the most |
/// | `runs events`, `runs packets` | over replications it is a count of events, or of packets, of which one event may take many |
/// | `runs p95` | over replications it is the 95th percentile of what all runs have together |
/// | `runs given` | the scenario's, or the machine's: it says nothing of chance |
/// | `runs one` | replications are not combined |
/// | `better more`, `better less` | which of two is the better one: `compare` takes it as a metric |
///
/// Without `runs` it is the mean over the replications. All this goes into the schema of the result, under `number`, and from there
/// into the types, tables, columns and documentation of the Python side.
#[macro_export]
macro_rules! numbers {
    ($(
        $(#[$about:meta])*
        pub struct $name:ident {
            $(
                $(#[$field_about:meta])*
                pub $field:ident: $type:ty $(= $unit:literal, $heading:literal $(, $key:ident $word:ident)*)?;
            )*
        }
    )*) => {
        $(
            $(#[$about])*
            #[derive(::serde::Serialize, ::schemars::JsonSchema)]
            pub struct $name {
                $(
                    $(#[$field_about])*
                    $(#[schemars(extend("number" = [
                        ["unit", $unit], ["heading", $heading] $(, [stringify!($key), stringify!($word)])*
                    ]))])?
                    pub $field: $type,
                )*
            }

            impl $crate::Numbers for $name {
                fn numbers(&self, into: &mut Vec<f64>) {
                    $($crate::Numbers::numbers(&self.$field, into);)*
                }
            }
        )*
    };
}
