//! Schemes from outside the crates, which a scenario names as it names ours.
//!
//! Whoever reads a scenario puts them beside ours for the time of reading: [`Externals::during`]. Serde hands nothing down to what it
//! reads, so they are kept for the thread meanwhile.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserializer, Error};

use crate::{Fault, fault};

/// A kind of scheme that can come from outside: the trait of what makes one of its options.
pub trait ExternalKind: 'static {
    /// With its article, as errors say it.
    const WHAT: &'static str;
    /// The names of ours.
    fn ours() -> Vec<&'static str>;
}

/// Makes a factory of a table of options.
type Read<F> = dyn Fn(&mut dyn erased_serde::Deserializer<'_>) -> erased_serde::Result<Arc<F>> + Send + Sync;

/// Schemes from outside, of any kinds.
#[derive(Clone, Debug, Default)]
pub struct Externals(Vec<Entry>);

#[derive(Clone)]
struct Entry {
    kind: TypeId,
    name: String,
    options: Vec<String>,
    /// A `Box<Read<F>>`.
    read: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

thread_local! {
    static READING: RefCell<Vec<Externals>> = const { RefCell::new(Vec::new()) };
}

impl Externals {
    /// These, and one more: `read` makes a factory of its table of `options`, which is empty where none are written.
    ///
    /// # Errors
    /// When the name is taken or none.
    pub fn with<F: ExternalKind + ?Sized>(
        mut self,
        name: &str,
        options: Vec<String>,
        read: impl Fn(&mut dyn erased_serde::Deserializer<'_>) -> erased_serde::Result<Arc<F>>
        + Send
        + Sync
        + 'static,
    ) -> Result<Externals, Fault> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        let first = |c: char| c.is_ascii_lowercase();
        if !name.starts_with(first) || !name.chars().all(plain) || name.len() > 40 {
            let what = F::WHAT;
            return Err(fault!(
                "a name of {what} in at most 40 small letters, digits, \"-\" and \"_\"",
                "{name:?}"
            ));
        }
        if F::ours().contains(&name) || self.of::<F>().any(|other| other.name == name) {
            let what = F::WHAT;
            return Err(fault!("{what} of a name of its own", "{name:?}, which is taken"));
        }
        let read: Box<Read<F>> = Box::new(read);
        self.0.push(Entry { kind: TypeId::of::<F>(), name: name.to_owned(), options, read: Arc::new(read) });
        Ok(self)
    }

    fn of<F: ExternalKind + ?Sized>(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter().filter(|entry| entry.kind == TypeId::of::<F>())
    }

    /// What `read` gives; whatever it reads in this thread may name these schemes.
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
}

/// A scheme from outside that was chosen.
pub struct External<F: ?Sized> {
    name: Arc<str>,
    factory: Arc<F>,
}

impl<F: ExternalKind + ?Sized> External<F> {
    /// The names of ours, and those from outside that can be chosen now. The first list is empty where the second is.
    pub fn tags() -> (Vec<&'static str>, Vec<String>) {
        let names = |all: &Externals| all.of::<F>().map(|entry| entry.name.clone()).collect();
        let names: Vec<_> = READING.with_borrow(|reading| reading.last().map(names)).unwrap_or_default();
        (if names.is_empty() { Vec::new() } else { F::ours() }, names)
    }

    /// The names of the options of one that can be chosen now.
    pub fn options(name: &str) -> Option<Vec<String>> {
        Self::find(name).map(|entry| entry.options)
    }

    fn find(name: &str) -> Option<Entry> {
        READING.with_borrow(|reading| reading.last()?.of::<F>().find(|entry| entry.name == name).cloned())
    }

    /// The one of this name, made of `options`.
    ///
    /// # Errors
    /// When there is none, or what it says of the options.
    pub fn read<'de, D: Deserializer<'de>>(name: &str, options: D) -> Result<External<F>, D::Error> {
        let entry = Self::find(name);
        let read = entry.as_ref().and_then(|entry| entry.read.downcast_ref::<Box<Read<F>>>());
        let Some(read) = read else {
            return Err(D::Error::custom(format!("expected {}, found {name:?}", F::WHAT)));
        };
        let mut options = <dyn erased_serde::Deserializer<'_>>::erase(options);
        let factory = read(&mut options).map_err(D::Error::custom)?;
        Ok(External { name: name.into(), factory })
    }
}

impl<F: ?Sized> External<F> {
    /// What scenarios call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What makes one for each place that names it.
    pub fn factory(&self) -> &F {
        &self.factory
    }
}

impl<F: ?Sized> Clone for External<F> {
    fn clone(&self) -> Self {
        External { name: Arc::clone(&self.name), factory: Arc::clone(&self.factory) }
    }
}

impl<F: ?Sized> fmt::Debug for External<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The same was chosen once.
impl<F: ?Sized> PartialEq for External<F> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.factory, &other.factory)
    }
}
