//! Choices by name: the schemes of this crate.

use bentpipe_units::Fault;
use bentpipe_units::registry::{Catalogue, Kind, Scheme, taken};

use crate::control::ControlFactory;
use crate::recovery::RecoveryFactory;
use crate::slow_start::SlowStartFactory;

/// The names of the schemes that have options: the keys of their tables below `tcp`.
pub fn option_tables(catalogue: &Catalogue) -> impl Iterator<Item = &str> {
    fn with_options<K: Kind + ?Sized>(catalogue: &Catalogue) -> impl Iterator<Item = &str> {
        catalogue.all::<K>().filter(|scheme| scheme.has_options()).map(Scheme::name)
    }
    with_options::<dyn ControlFactory>(catalogue)
        .chain(with_options::<dyn RecoveryFactory>(catalogue))
        .chain(with_options::<dyn SlowStartFactory>(catalogue))
}

/// Whether the table of the options of `scheme` is free.
pub(crate) fn has_table_of_its_own<K: Kind + ?Sized>(
    scheme: &Scheme<K>,
    catalogue: &Catalogue,
) -> Result<(), Fault> {
    match scheme.has_options() && option_tables(catalogue).any(|table| table == scheme.name()) {
        true => Err(taken::<K>(scheme.name())),
        false => Ok(()),
    }
}

/// The table of the schemes of one kind, each in a file of its own beside it: `file::Options`.
///
/// It declares the files as modules, gives on what is public in them, and makes of options what is chosen. `key` and `what` are those of
/// [`Kind`], and `fits` its method.
macro_rules! schemes {
    (dyn $factory:ident, $key:literal, $what:literal, $fits:path; $($file:ident::$options:ident),+ $(,)?) => {
        $(mod $file;
        pub use $file::*;)+

        impl ::bentpipe_units::registry::Kind for dyn $factory {
            /// The factory where no options are given.
            type Known = ::std::sync::Arc<dyn $factory>;
            type Value = ::std::sync::Arc<dyn $factory>;
            const KEY: &'static str = $key;
            const WHAT: &'static str = $what;

            ::bentpipe_units::ours!(dyn $factory; $($crate::Scheme::named::<$options>()),+);

            fn fits(scheme: &$crate::Scheme<Self>, catalogue: &$crate::Catalogue) -> Result<(), ::bentpipe_units::Fault> {
                $fits(scheme, catalogue)
            }
        }

        impl<T: $crate::Named + $factory> ::bentpipe_units::registry::TakesOptions<T> for dyn $factory {
            fn factory(options: T) -> ::std::sync::Arc<dyn $factory> {
                ::std::sync::Arc::new(options)
            }
        }
    };
}

pub(crate) use schemes;
