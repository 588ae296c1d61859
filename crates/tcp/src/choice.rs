//! Choices by name: the schemes of this crate.

/// The table of the schemes of one kind, each in a file of its own beside it: `file::Options`.
///
/// It declares the files as modules, gives on what is public in them, and makes of options what is chosen. `key` and `what` are those of
/// `Kind`, and `fits` its method where it is none of the default.
macro_rules! schemes {
    (dyn $factory:ident, $key:literal, $what:literal $(, $fits:path)?; $($file:ident::$options:ident),+ $(,)?) => {
        $(mod $file;
        pub use $file::*;)+

        impl ::bentpipe_units::registry::Kind for dyn $factory {
            /// The factory where no options are given.
            type Known = ::std::sync::Arc<dyn $factory>;
            type Value = ::std::sync::Arc<dyn $factory>;
            const KEY: &'static str = $key;
            const WHAT: &'static str = $what;
            const TABLE: &'static str = "tcp";

            ::bentpipe_units::ours!(dyn $factory; $($crate::Scheme::named::<$options>()),+);

            $(fn fits(scheme: &$crate::Scheme<Self>, catalogue: &$crate::Catalogue) -> Result<(), ::bentpipe_units::Fault> {
                $fits(scheme, catalogue)
            })?
        }

        impl<T: $crate::Named + $factory> ::bentpipe_units::registry::TakesOptions<T> for dyn $factory {
            fn factory(options: T) -> ::std::sync::Arc<dyn $factory> {
                ::std::sync::Arc::new(options)
            }
        }
    };
}

pub(crate) use schemes;
