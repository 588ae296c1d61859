//! Choices by name: the schemes of one kind that there are, and the one that was chosen.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;

/// Options that serde reads, of a scheme that is chosen by name.
pub trait Named: Default + DeserializeOwned + JsonSchema + 'static {
    /// The name, in scenarios and in results; the key of its options below `tcp`.
    const NAME: &'static str;
    /// One line for `bentpipe list`.
    const SUMMARY: &'static str;
    /// What the field calls it too, or what is a part of it: names that are answered with this one.
    const ALSO: &'static [&'static str] = &[];
}

/// What was chosen by name: a factory of controls, of recoveries or of slow starts.
pub struct Chosen<F: ?Sized>(Arc<(Cow<'static, str>, Arc<F>)>);

impl<F: ?Sized> Chosen<F> {
    /// What `factory` makes, under the name that results show.
    pub fn new(name: impl Into<Cow<'static, str>>, factory: Arc<F>) -> Chosen<F> {
        Chosen(Arc::new((name.into(), factory)))
    }

    /// The name that results show.
    pub fn name(&self) -> &str {
        &self.0.0
    }

    /// What makes one for each connection.
    pub fn factory(&self) -> &F {
        &self.0.1
    }
}

impl<F: ?Sized> Clone for Chosen<F> {
    fn clone(&self) -> Self {
        Chosen(Arc::clone(&self.0))
    }
}

impl<F: ?Sized + fmt::Debug> fmt::Debug for Chosen<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {:?}", self.name(), &self.0.1)
    }
}

/// Reads options from whatever serde can read.
type Read<F> = dyn Fn(&mut dyn erased_serde::Deserializer<'_>) -> erased_serde::Result<Arc<F>> + Send + Sync;

/// Tells what a table of options looks like; asked only where somebody wants to know, for it costs more than a short run.
type Describe = dyn Fn() -> Schema + Send + Sync;

/// One scheme that can be chosen: its name, what is told of it, and how a factory comes of its options.
pub struct Scheme<F: ?Sized> {
    name: Cow<'static, str>,
    summary: Cow<'static, str>,
    also: &'static [&'static str],
    usual: Arc<F>,
    options: Option<(Arc<Describe>, Arc<Read<F>>)>,
}

impl<F: ?Sized + 'static> Scheme<F> {
    /// A scheme without options: `factory` is what it makes connections of.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        summary: impl Into<Cow<'static, str>>,
        factory: Arc<F>,
    ) -> Scheme<F> {
        Scheme { name: name.into(), summary: summary.into(), also: &[], usual: factory, options: None }
    }

    /// The scheme with options: a table of the JSON schema that `schema` gives, which `read` makes a factory of.
    pub fn with_options(
        self,
        schema: impl Fn() -> Schema + Send + Sync + 'static,
        read: impl Fn(&mut dyn erased_serde::Deserializer<'_>) -> erased_serde::Result<Arc<F>>
        + Send
        + Sync
        + 'static,
    ) -> Scheme<F> {
        Scheme { options: Some((Arc::new(schema), Arc::new(read))), ..self }
    }

    /// The scheme whose options are a `T`; `factory` makes a factory of them.
    pub(crate) fn of<T: Named>(factory: fn(T) -> Arc<F>) -> Scheme<F> {
        let scheme = Scheme { also: T::ALSO, ..Scheme::new(T::NAME, T::SUMMARY, factory(T::default())) };
        // A structure without a field has no option.
        if size_of::<T>() == 0 {
            return scheme;
        }
        scheme.with_options(
            || schemars::schema_for!(T),
            move |d| erased_serde::deserialize::<T>(d).map(factory),
        )
    }

    /// The name, in scenarios and in results.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One line for people.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Names of the field that are answered with this one.
    pub fn also(&self) -> &'static [&'static str] {
        self.also
    }

    /// What makes one for each connection where no options are given.
    pub fn usual(&self) -> &Arc<F> {
        &self.usual
    }

    /// Whether it has options.
    pub fn has_options(&self) -> bool {
        self.options.is_some()
    }

    /// The JSON schema of the table of its options, if it has any.
    pub fn schema(&self) -> Option<Schema> {
        self.options.as_ref().map(|(schema, _)| schema())
    }

    /// The factory that the options in `table` come to.
    ///
    /// # Errors
    /// What serde says of the options, or that there are none.
    pub fn read(&self, table: &mut dyn erased_serde::Deserializer<'_>) -> erased_serde::Result<Arc<F>> {
        match &self.options {
            Some((_, read)) => read(table),
            None => Err(serde::de::Error::custom(format!("expected no options of {}", self.name))),
        }
    }
}

impl<F: ?Sized> Clone for Scheme<F> {
    fn clone(&self) -> Self {
        Scheme {
            name: self.name.clone(),
            summary: self.summary.clone(),
            also: self.also,
            usual: Arc::clone(&self.usual),
            options: self.options.clone(),
        }
    }
}

impl<F: ?Sized> fmt::Debug for Scheme<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The table of the schemes of one kind, each in a file of its own beside it: `file::Options`.
///
/// It declares the files as modules, gives on what is public in them, and makes of options what is chosen.
macro_rules! schemes {
    ($(#[$doc:meta])* dyn $factory:ident; $($file:ident::$options:ident),+ $(,)?) => {
        $(mod $file;
        pub use $file::*;)+

        $(#[$doc])*
        pub(crate) fn schemes() -> Vec<$crate::Scheme<dyn $factory>> {
            vec![$($crate::Scheme::<dyn $factory>::named::<$options>()),+]
        }

        impl $crate::Scheme<dyn $factory> {
            /// The scheme whose options are a `T`.
            pub fn named<T: $crate::Named + $factory>() -> Self {
                Self::of::<T>(|options| ::std::sync::Arc::new(options))
            }
        }

        impl<T: $crate::Named + $factory> From<T> for $crate::Chosen<dyn $factory> {
            fn from(options: T) -> Self {
                $crate::Chosen::new(T::NAME, ::std::sync::Arc::new(options))
            }
        }
    };
}

pub(crate) use schemes;
