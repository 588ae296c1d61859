//! What scenarios choose by name: the schemes of every kind, ours and those from outside.

use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;

use crate::tree::Node;
use crate::{Fault, KNOWN_NAMES, Problem, conflict, fault, keys_of, no_such};

/// A kind of scheme: the trait of what makes one of its options.
pub trait Kind: 'static {
    /// What is known of a scheme by its name alone.
    type Known: Clone + Send + Sync;
    /// What a choice comes to.
    type Value;
    /// The key that chooses, as scenarios write it.
    const KEY: &'static str;
    /// The table in which those with options have tables of their names, beside those of other kinds.
    const TABLE: &'static str = "";
    /// Where a table has that key, such a table.
    const EXAMPLE: &'static str = "";
    /// With its article, as errors say it.
    const WHAT: &'static str;

    /// Those of these crates, in the order of a list for people.
    fn ours() -> &'static Ours<Self>;

    /// Whether `scheme`, whose name is free, may stand in `catalogue`.
    ///
    /// # Errors
    /// Why not.
    fn fits(_scheme: &Scheme<Self>, _catalogue: &Catalogue) -> Result<(), Fault> {
        Ok(())
    }
}

/// A kind whose schemes from outside are what makes one for each place that names it.
pub trait FromOutside: Kind<Known: Default> {
    /// What the choice of one comes to.
    fn value(chosen: Chosen<Self>) -> Self::Value;
}

/// Gives [`Kind::ours`]: `ours!(dyn Factory; scheme, scheme)`.
#[macro_export]
macro_rules! ours {
    ($kind:ty; $($scheme:expr),+ $(,)?) => {
        fn ours() -> &'static $crate::registry::Ours<Self> {
            static OURS: ::std::sync::LazyLock<$crate::registry::Ours<$kind>> =
                ::std::sync::LazyLock::new(|| ::std::iter::FromIterator::from_iter([$($scheme),+]));
            &OURS
        }
    };
}

/// Options that serde reads, of a scheme that is chosen by name.
pub trait Named: DeserializeOwned + JsonSchema + 'static {
    /// The name, in scenarios and in results; the key of its options below `tcp`.
    const NAME: &'static str;
    /// One line for `bentpipe list`.
    const SUMMARY: &'static str;
    /// What the field calls it too, or what is a part of it: names that are answered with this one.
    const ALSO: &'static [&'static str] = &[];
}

/// Declares the options of a scheme with its name, one line for `bentpipe list`, names of the field that are answered with it, and each
/// option's value where none is given: `options! { "name", "summary", also ["other"]; pub struct Options { pub field: f64 = 0.5 } }`.
#[macro_export]
macro_rules! options {
    ($name:literal, $summary:literal $(, also $also:expr)?; $(#[$meta:meta])* pub struct $options:ident;) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, ::serde::Deserialize, ::schemars::JsonSchema)]
        pub struct $options;

        impl $crate::registry::Named for $options {
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = $summary;
            $(const ALSO: &'static [&'static str] = &$also;)?
        }
    };
    ($name:literal, $summary:literal $(, also $also:expr)?; $(#[$meta:meta])* pub struct $options:ident {
        $($(#[$about:meta])* pub $option:ident: $type:ty = $usual:expr),+ $(,)?
    }) => {
        $crate::options! {
            $name, $summary $(, also $also)?;
            #[serde(default)]
            $(#[$meta])*
            pub struct $options {
                $($(#[$about])* pub $option: $type),+
            }
        }

        impl Default for $options {
            fn default() -> $options {
                $options { $($option: $usual),+ }
            }
        }
    };
    ($name:literal, $summary:literal $(, also $also:expr)?; $(#[$meta:meta])* pub struct $options:ident {
        $($(#[$about:meta])* pub $option:ident: $type:ty),+ $(,)?
    }) => {
        #[derive(Clone, Copy, Debug, PartialEq, ::serde::Deserialize, ::schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        $(#[$meta])*
        pub struct $options {
            $($(#[$about])* pub $option: $type,)+
        }

        impl $crate::registry::Named for $options {
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = $summary;
            $(const ALSO: &'static [&'static str] = &$also;)?
        }
    };
}

/// Declares what a choice of a kind comes to: the options of one of ours, or one from outside. `spec! { pub enum Spec: dyn Options; dyn
/// Factory "key", "a kind", EXAMPLE; /// Its line. Variant(Options) in module }`, where [`Chosen`] has `Options` too. The module is
/// declared.
#[macro_export]
macro_rules! spec {
    (
        $(#[$meta:meta])* pub enum $spec:ident: dyn $options:ident;
        dyn $factory:ident $key:literal, $what:literal, $example:expr;
        $($(#[$about:meta])* $variant:ident($type:ty) $(in $module:ident)?),+ $(,)?
    ) => {
        $($(mod $module;
        pub use $module::*;)?)+

        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, ::schemars::JsonSchema)]
        #[schemars(tag = "scheme", rename_all = "kebab-case")]
        pub enum $spec {
            $($(#[$about])* $variant($type),)+
            /// One from outside.
            #[schemars(skip)]
            External($crate::registry::Chosen<dyn $factory>),
        }

        impl $spec {
            /// The name that `scheme` has for it.
            pub fn name(&self) -> &str {
                match self {
                    $($spec::$variant(_) => <$type as $crate::registry::Named>::NAME,)+
                    $spec::External(external) => external.name(),
                }
            }

            fn options(&self) -> &dyn $options {
                match self {
                    $($spec::$variant(options) => options,)+
                    $spec::External(external) => external,
                }
            }
        }

        impl $crate::registry::Kind for dyn $factory {
            type Known = ();
            type Value = $spec;
            const KEY: &'static str = $key;
            const WHAT: &'static str = $what;
            const EXAMPLE: &'static str = $example;
            $crate::ours!(dyn $factory; $($crate::registry::Scheme::of((), $spec::$variant)),+);
        }

        impl $crate::registry::FromOutside for dyn $factory {
            fn value(chosen: $crate::registry::Chosen<Self>) -> $spec {
                $spec::External(chosen)
            }
        }

        $crate::tagged!(dyn $factory, $spec);
    };
}

/// A kind whose factories may be options of the type `T`.
pub trait TakesOptions<T>: Kind<Known = Arc<Self>, Value = Arc<Self>> {
    /// The factory.
    fn factory(options: T) -> Arc<Self>;
}

/// The schemes of one kind that these crates have.
pub struct Ours<K: Kind + ?Sized> {
    schemes: Vec<Scheme<K>>,
    names: Vec<&'static str>,
}

impl<K: Kind + ?Sized> Ours<K> {
    /// All of them.
    pub fn schemes(&self) -> &[Scheme<K>] {
        &self.schemes
    }

    /// Their names.
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }
}

impl<K: Kind + ?Sized> FromIterator<Scheme<K>> for Ours<K> {
    fn from_iter<I: IntoIterator<Item = Scheme<K>>>(schemes: I) -> Ours<K> {
        let schemes: Vec<_> = schemes.into_iter().collect();
        let names = schemes.iter().filter_map(|scheme| match scheme.name {
            Cow::Borrowed(name) => Some(name),
            Cow::Owned(_) => None,
        });
        Ours { names: names.collect(), schemes }
    }
}

/// Reads options from a table. Each structure is read from this one type, for what serde makes for another is as large again.
type Read<V> = dyn Fn(&Node) -> Result<V, Fault> + Send + Sync;

/// Tells what a table of options looks like; asked only where somebody wants to know, for it costs more than a short run.
type Describe = dyn Fn() -> Schema + Send + Sync;

/// One scheme that can be chosen: its name, what is told of it, and what its options come to.
pub struct Scheme<K: Kind + ?Sized> {
    name: Cow<'static, str>,
    summary: Cow<'static, str>,
    also: &'static [&'static str],
    known: K::Known,
    options: Option<Options<K::Value>>,
}

struct Options<V> {
    keys: Arc<[Cow<'static, str>]>,
    schema: Arc<Describe>,
    read: Arc<Read<V>>,
}

impl<K: Kind + ?Sized> Scheme<K> {
    /// A scheme without options.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        summary: impl Into<Cow<'static, str>>,
        known: K::Known,
    ) -> Scheme<K> {
        Scheme { name: name.into(), summary: summary.into(), also: &[], known, options: None }
    }

    /// The scheme with names of the field that are answered with its own.
    #[must_use]
    pub fn also(self, names: &'static [&'static str]) -> Scheme<K> {
        Scheme { also: names, ..self }
    }

    /// The scheme with options: a table of these keys and this JSON schema, which `read` makes something of.
    #[must_use]
    pub fn with_options<T: Into<Cow<'static, str>>>(
        self,
        keys: impl IntoIterator<Item = T>,
        schema: impl Fn() -> Schema + Send + Sync + 'static,
        read: impl Fn(&Node) -> Result<K::Value, Fault> + Send + Sync + 'static,
    ) -> Scheme<K> {
        let keys = keys.into_iter().map(Into::into).collect();
        // Nobody asks a module for WebAssembly, which is loaded through a network, and what makes schemas is large.
        let schema: Arc<Describe> = match cfg!(target_family = "wasm") {
            true => Arc::new(Schema::default),
            false => Arc::new(schema),
        };
        Scheme { options: Some(Options { keys, schema, read: Arc::new(read) }), ..self }
    }

    /// The scheme with the options `T`, of which `value` makes something.
    pub fn of<T: Named>(known: K::Known, value: fn(T) -> K::Value) -> Scheme<K> {
        let read = move |table: &Node| T::deserialize(table).map(value);
        let scheme = Scheme::new(T::NAME, T::SUMMARY, known).also(T::ALSO);
        scheme.with_options(keys_of::<T>().iter().copied(), || schemars::schema_for!(T), read)
    }

    /// One from outside, with options of these keys, which `read` makes a factory of.
    pub fn from_outside<T: Into<Cow<'static, str>>>(
        name: impl Into<Cow<'static, str>>,
        summary: impl Into<Cow<'static, str>>,
        keys: impl IntoIterator<Item = T>,
        read: impl Fn(&Node) -> Result<Arc<K>, Fault> + Send + Sync + 'static,
    ) -> Scheme<K>
    where
        K: FromOutside,
    {
        let name = name.into();
        let keys: Vec<Cow<'static, str>> = keys.into_iter().map(Into::into).collect();
        let scheme = Scheme::new(name.clone(), summary, K::Known::default());
        let (described, chosen) = (keys.clone(), move |factory| K::value(Chosen::new(name.clone(), factory)));
        scheme.with_options(keys, move || any_of(&described), move |table| read(table).map(&chosen))
    }

    /// The scheme whose options are a `T`.
    pub fn named<T: Named + Default>() -> Scheme<K>
    where
        K: TakesOptions<T>,
    {
        let known = K::factory(T::default());
        // A structure without a field has no option.
        match size_of::<T>() {
            0 => Scheme::new(T::NAME, T::SUMMARY, known).also(T::ALSO),
            _ => Scheme::of(known, K::factory),
        }
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
    pub fn aliases(&self) -> &'static [&'static str] {
        self.also
    }

    /// What is known of it before its options are.
    pub fn known(&self) -> &K::Known {
        &self.known
    }

    /// Whether it has options.
    pub fn has_options(&self) -> bool {
        self.options.is_some()
    }

    /// The keys of its options.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.options.iter().flat_map(|options| options.keys.iter().map(AsRef::as_ref))
    }

    /// The JSON schema of the table of its options, if it has any.
    pub fn schema(&self) -> Option<Schema> {
        self.options.as_ref().map(|options| (options.schema)())
    }

    /// What the options in `table` come to.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn read(&self, table: &Node) -> Result<K::Value, Fault> {
        match &self.options {
            Some(Options { read, .. }) => read(table),
            None => Err(conflict!("expected no options of {}", self.name)),
        }
    }
}

impl<K: Kind + ?Sized> Clone for Scheme<K> {
    fn clone(&self) -> Self {
        Scheme {
            name: self.name.clone(),
            summary: self.summary.clone(),
            also: self.also,
            known: self.known.clone(),
            options: self.options.as_ref().map(|Options { keys, schema, read }| Options {
                keys: Arc::clone(keys),
                schema: Arc::clone(schema),
                read: Arc::clone(read),
            }),
        }
    }
}

impl<K: Kind + ?Sized> fmt::Debug for Scheme<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// What was chosen by name: what makes one for each place that names it.
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

    /// What makes one for each place that names it.
    pub fn factory(&self) -> &F {
        &self.0.1
    }
}

impl<T: Named, F: TakesOptions<T> + ?Sized> From<T> for Chosen<F> {
    fn from(options: T) -> Self {
        Chosen::new(T::NAME, F::factory(options))
    }
}

impl<F: ?Sized> Clone for Chosen<F> {
    fn clone(&self) -> Self {
        Chosen(Arc::clone(&self.0))
    }
}

/// The same was chosen once.
impl<F: ?Sized> PartialEq for Chosen<F> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.1, &other.0.1)
    }
}

impl<F: ?Sized + fmt::Debug> fmt::Debug for Chosen<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {:?}", self.name(), &self.0.1)
    }
}

/// What can be chosen by name: ours, and others beside them.
///
/// It is a value: somebody else's control is put beside ours in a catalogue of one's own, and whoever is given that one knows it.
#[derive(Clone, Debug, Default)]
pub struct Catalogue(Vec<Added>);

/// A scheme of some kind that is none of ours.
#[derive(Clone, Debug)]
struct Added {
    scheme: Arc<dyn Any + Send + Sync>,
    /// Where its options stand.
    table: Option<(&'static str, String)>,
}

thread_local! {
    /// Serde hands nothing down to what it reads.
    static READING: RefCell<Vec<Catalogue>> = const { RefCell::new(Vec::new()) };
}

impl Catalogue {
    /// This catalogue with `scheme` behind those of its kind.
    ///
    /// # Errors
    /// When the name is taken or none, or the kind does not take it.
    pub fn with<K: Kind + ?Sized>(mut self, scheme: Scheme<K>) -> Result<Catalogue, Fault> {
        let (name, what) = (scheme.name(), K::WHAT);
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_+".contains(c);
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(plain) || name.len() > 40
        {
            return Err(fault!(
                "the name of {what} in at most 40 small letters, digits, \"-\", \"_\" and \"+\"",
                "{name:?}"
            ));
        }
        let table = (!K::TABLE.is_empty() && scheme.has_options()).then(|| (K::TABLE, name.to_owned()));
        let beside = table.is_some() && self.0.iter().any(|added| added.table == table);
        if beside || self.find::<K>(name).is_some() {
            return Err(taken::<K>(name));
        }
        K::fits(&scheme, &self)?;
        self.0.push(Added { scheme: Arc::new(scheme), table });
        Ok(self)
    }

    /// Every scheme of a kind, in the order of a list for people.
    pub fn all<K: Kind + ?Sized>(&self) -> impl Iterator<Item = &Scheme<K>> {
        K::ours().schemes.iter().chain(self.added())
    }

    fn added<K: Kind + ?Sized>(&self) -> impl Iterator<Item = &Scheme<K>> {
        self.0.iter().filter_map(|added| added.scheme.downcast_ref())
    }

    /// The names of the schemes of a kind.
    pub fn names<K: Kind + ?Sized>(&self) -> Vec<&str> {
        self.all::<K>().map(Scheme::name).collect()
    }

    /// The scheme of this name.
    pub fn find<K: Kind + ?Sized>(&self, name: &str) -> Option<&Scheme<K>> {
        self.all().find(|scheme| scheme.name() == name)
    }

    /// What the scheme of this name makes where no options are given.
    pub fn usual<F: Kind<Known = Arc<F>> + ?Sized>(&self, name: &str) -> Option<Chosen<F>> {
        let scheme = self.find::<F>(name)?;
        Some(Chosen::new(scheme.name.clone(), Arc::clone(&scheme.known)))
    }

    /// What `read` gives; whatever it reads in this thread chooses from this catalogue.
    pub fn during<R>(&self, read: impl FnOnce() -> R) -> R {
        struct Ends;
        impl Drop for Ends {
            fn drop(&mut self) {
                READING.with_borrow_mut(Vec::pop);
            }
        }
        READING.with_borrow_mut(|reading| reading.push(self.clone()));
        let _ends = Ends;
        read()
    }

    /// The scheme of this name in what is being read; the names that there are, where there is none.
    pub(crate) fn being_read<K: Kind + ?Sized>(name: &str) -> Result<Scheme<K>, Fault> {
        READING.with_borrow(|reading| {
            let ours = Catalogue::default();
            let all = reading.last().unwrap_or(&ours);
            all.find(name).cloned().ok_or_else(|| match all.added::<K>().next() {
                None => no_such(KNOWN_NAMES, name, K::ours().names()),
                Some(_) => {
                    let expected = format!("{KNOWN_NAMES} ({})", all.names::<K>().join(", "));
                    Problem::Name { expected, found: name.to_owned() }.into()
                }
            })
        })
    }
}

/// The schema of a table with these keys, of any values.
pub fn any_of(keys: &[Cow<'static, str>]) -> Schema {
    let mut schema =
        schemars::json_schema!({ "type": "object", "properties": {}, "additionalProperties": false });
    if let Some(properties) = schema.get_mut("properties").and_then(|all| all.as_object_mut()) {
        properties.extend(keys.iter().map(|key| (key.to_string(), true.into())));
    }
    schema
}

/// The fault of a name that another scheme has.
pub fn taken<K: Kind + ?Sized>(name: &str) -> Fault {
    let what = K::WHAT;
    fault!("{what} of a name of its own", "{name:?}, which is taken")
}
