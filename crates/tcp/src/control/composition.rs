//! A control as its name writes it: alone, or around another.

use std::sync::Arc;

use bentpipe_units::registry::{Catalogue, Chosen, Scheme, taken};
use bentpipe_units::{Fault, fault};

use super::ControlFactory;
use crate::slow_start::SlowStartFactory;

type Control = Scheme<dyn ControlFactory>;

/// A control as its name writes it.
#[derive(Clone, Copy, Debug)]
pub struct Composition<'a> {
    /// The control.
    pub outer: &'a Control,
    /// What it goes around.
    pub inner: Option<&'a Control>,
}

/// Why a name is none of a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSuch {
    /// There is none of that name.
    Name,
    /// Its parts are known, and do not go together.
    Composition(Fault),
}

impl<'a> Composition<'a> {
    /// Every way to write a control: each alone, and each around those that it goes around.
    pub fn all(catalogue: &'a Catalogue) -> Vec<Composition<'a>> {
        let mut all = Vec::new();
        for outer in catalogue.all::<dyn ControlFactory>() {
            all.push(Composition { outer, inner: None });
            let inner = outer.known().wraps().iter().filter_map(|inner| catalogue.find(inner));
            all.extend(inner.map(|inner| Composition { outer, inner: Some(inner) }));
        }
        all
    }

    /// The control that `name` writes.
    ///
    /// # Errors
    /// When there is none, or its parts do not go together.
    pub fn find(catalogue: &'a Catalogue, name: &str) -> Result<Composition<'a>, NoSuch> {
        if let Some(found) = Composition::all(catalogue).into_iter().find(|known| known.name() == name) {
            return Ok(found);
        }
        let before = |outer: &Control| name.strip_suffix(outer.name())?.strip_suffix('+').map(str::len);
        let mut controls = catalogue.all::<dyn ControlFactory>();
        let Some((outer, end)) = controls.find_map(|outer| before(outer).map(|end| (outer, end))) else {
            return Err(NoSuch::Name);
        };
        if !outer.known().wraps().is_empty() {
            return Err(goes_around(outer, &name[..end]));
        }
        let wrappers = catalogue.all().filter(|scheme: &&Control| !scheme.known().wraps().is_empty());
        let wrappers = wrappers.map(Scheme::name).collect::<Vec<_>>().join(", ");
        let found = outer.name();
        let fault = fault!("a control that goes around another ({wrappers}) behind the +", "{found:?}");
        Err(NoSuch::Composition(fault))
    }

    /// The name that it is written by.
    pub fn name(&self) -> String {
        match self.inner {
            Some(inner) => format!("{}+{}", inner.name(), self.outer.name()),
            None => self.outer.name().to_owned(),
        }
    }

    /// One line for people.
    pub fn summary(&self) -> String {
        match self.inner {
            Some(inner) => {
                let (outer, inner) = (self.outer, inner);
                format!("{} around {}: {}; {}", outer.name(), inner.name(), outer.summary(), inner.summary())
            }
            None => self.outer.summary().to_owned(),
        }
    }

    /// The choice of this control with the options that it has where none are given.
    ///
    /// # Errors
    /// When the one does not go around the other after all.
    pub fn usual(&self) -> Result<Chosen<dyn ControlFactory>, NoSuch> {
        let usual = |scheme: &Control| Arc::clone(scheme.known());
        self.of(usual(self.outer), self.inner.map(usual))
    }

    /// The choice of this control with the factories that the options of its parts come to.
    ///
    /// # Errors
    /// When the one does not go around the other after all.
    pub fn of(
        &self,
        outer: Arc<dyn ControlFactory>,
        inner: Option<Arc<dyn ControlFactory>>,
    ) -> Result<Chosen<dyn ControlFactory>, NoSuch> {
        let Some(inner) = inner else { return Ok(Chosen::new(self.name(), outer)) };
        match outer.around(&*inner) {
            Some(both) => Ok(Chosen::new(self.name(), both)),
            None => Err(goes_around(self.outer, &self.name())),
        }
    }
}

/// What is told of a name in which `outer` does not go around what is written before it.
fn goes_around(outer: &Control, name: &str) -> NoSuch {
    let (outer, wraps) = (outer.name(), outer.known().wraps().join(", "));
    NoSuch::Composition(fault!("a control that {outer} goes around ({wraps})", "{name:?}"))
}

/// Whether `scheme` may stand in `catalogue`: no composition has its name, and what it goes around is there.
pub(super) fn fits(scheme: &Control, catalogue: &Catalogue) -> Result<(), Fault> {
    let name = scheme.name();
    if Composition::find(catalogue, name).is_ok() {
        return Err(taken::<dyn ControlFactory>(name));
    }
    let goes = |inner: &Control| scheme.known().around(&**inner.known()).is_some();
    match scheme.known().wraps().iter().find(|inner| !catalogue.find(inner).is_some_and(goes)) {
        Some(inner) => Err(fault!("a control that {name} goes around", "{inner:?}")),
        None => Ok(()),
    }
}

/// The names of the phases that controls and slow starts go through, each once, in the order of the lists.
pub fn phases(catalogue: &Catalogue) -> Vec<&'static str> {
    let controls = catalogue.all::<dyn ControlFactory>().flat_map(|scheme| scheme.known().phases());
    let starts = catalogue.all::<dyn SlowStartFactory>().flat_map(|scheme| scheme.known().phases());
    let mut names = Vec::new();
    for name in controls.chain(starts) {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    names
}
