//! What a connection can be set up with by name: ours, and what is put beside ours.

use std::sync::Arc;

use bentpipe_units::{Fault, fault};

use crate::control::{self, ControlFactory};
use crate::recovery::{self, RecoveryFactory};
use crate::slow_start::{self, SlowStartFactory};
use crate::{Chosen, Scheme};

/// The controls, recoveries and slow starts that can be chosen by name.
///
/// It is a value: somebody else's control is put beside ours in a catalogue of one's own, and whoever is given that one knows it.
#[derive(Clone, Debug)]
pub struct Catalogue {
    controls: Vec<Scheme<dyn ControlFactory>>,
    recoveries: Vec<Scheme<dyn RecoveryFactory>>,
    slow_starts: Vec<Scheme<dyn SlowStartFactory>>,
}

impl Default for Catalogue {
    /// Those of this crate.
    fn default() -> Catalogue {
        Catalogue {
            controls: control::schemes(),
            recoveries: recovery::schemes(),
            slow_starts: slow_start::schemes(),
        }
    }
}

/// A control as its name writes it: alone, or around another.
#[derive(Clone, Copy, Debug)]
pub struct Composition<'a> {
    /// The control.
    pub outer: &'a Scheme<dyn ControlFactory>,
    /// What it goes around.
    pub inner: Option<&'a Scheme<dyn ControlFactory>>,
}

/// Why a name is none of a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSuch {
    /// There is none of that name.
    Name,
    /// Its parts are known, and do not go together.
    Composition(Fault),
}

impl Composition<'_> {
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
fn goes_around(outer: &Scheme<dyn ControlFactory>, name: &str) -> NoSuch {
    let (outer, wraps) = (outer.name(), outer.usual().wraps().join(", "));
    NoSuch::Composition(fault!("a control that {outer} goes around ({wraps})", "{name:?}"))
}

impl Catalogue {
    /// This catalogue with `scheme` among its controls.
    ///
    /// # Errors
    /// When the name is taken or none, or what it goes around is not here.
    pub fn with_control(mut self, scheme: Scheme<dyn ControlFactory>) -> Result<Catalogue, String> {
        self.check("control", &scheme, &self.controls)?;
        if self.composition(scheme.name()).is_ok() {
            return Err(taken("control", scheme.name()));
        }
        for inner in scheme.usual().wraps() {
            let known = self.controls.iter().find(|known| known.name() == *inner);
            let goes = known.and_then(|known| scheme.usual().around(&**known.usual()));
            if goes.is_none() {
                return Err(format!(
                    "expected a control that {} goes around, found {inner:?}",
                    scheme.name()
                ));
            }
        }
        self.controls.push(scheme);
        Ok(self)
    }

    /// This catalogue with `scheme` among its recoveries.
    ///
    /// # Errors
    /// When the name is taken or none.
    pub fn with_recovery(mut self, scheme: Scheme<dyn RecoveryFactory>) -> Result<Catalogue, String> {
        self.check("recovery", &scheme, &self.recoveries)?;
        self.recoveries.push(scheme);
        Ok(self)
    }

    /// This catalogue with `scheme` among its slow starts.
    ///
    /// # Errors
    /// When the name is taken or none.
    pub fn with_slow_start(mut self, scheme: Scheme<dyn SlowStartFactory>) -> Result<Catalogue, String> {
        self.check("slow start", &scheme, &self.slow_starts)?;
        self.slow_starts.push(scheme);
        Ok(self)
    }

    fn check<F: ?Sized + 'static>(
        &self,
        kind: &str,
        scheme: &Scheme<F>,
        others: &[Scheme<F>],
    ) -> Result<(), String> {
        let name = scheme.name();
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_+".contains(c);
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(plain) || name.len() > 40
        {
            return Err(format!(
                "expected the name of a {kind} in at most 40 small letters, digits, \"-\", \"_\" and \"+\", found {name:?}"
            ));
        }
        let options_taken = scheme.has_options() && self.option_tables().any(|table| table == name);
        if options_taken || others.iter().any(|other| other.name() == name) {
            return Err(taken(kind, name));
        }
        Ok(())
    }

    /// The names of the schemes that have options: the keys of their tables.
    pub fn option_tables(&self) -> impl Iterator<Item = &str> {
        fn with_options<F: ?Sized + 'static>(schemes: &[Scheme<F>]) -> impl Iterator<Item = &str> {
            schemes.iter().filter(|scheme| scheme.has_options()).map(Scheme::name)
        }
        with_options(&self.controls)
            .chain(with_options(&self.recoveries))
            .chain(with_options(&self.slow_starts))
    }

    /// Every control, in the order of a list for people.
    pub fn controls(&self) -> &[Scheme<dyn ControlFactory>] {
        &self.controls
    }

    /// Every recovery, in the order of a list for people.
    pub fn recoveries(&self) -> &[Scheme<dyn RecoveryFactory>] {
        &self.recoveries
    }

    /// Every slow start, in the order of a list for people.
    pub fn slow_starts(&self) -> &[Scheme<dyn SlowStartFactory>] {
        &self.slow_starts
    }

    /// The names of the phases that controls and slow starts go through, each once, in the order of the lists.
    pub fn phases(&self) -> Vec<&'static str> {
        let controls = self.controls.iter().flat_map(|scheme| scheme.usual().phases());
        let starts = self.slow_starts.iter().flat_map(|scheme| scheme.usual().phases());
        let mut names = Vec::new();
        for name in controls.chain(starts) {
            if !names.contains(name) {
                names.push(*name);
            }
        }
        names
    }

    /// Every way to write a control: each alone, and each around those that it goes around.
    pub fn compositions(&self) -> Vec<Composition<'_>> {
        let mut all = Vec::new();
        for outer in &self.controls {
            all.push(Composition { outer, inner: None });
            for inner in outer.usual().wraps() {
                let inner = self.controls.iter().find(|scheme| scheme.name() == *inner);
                all.extend(inner.map(|inner| Composition { outer, inner: Some(inner) }));
            }
        }
        all
    }

    /// The control that `name` writes.
    ///
    /// # Errors
    /// When there is none, or its parts do not go together.
    pub fn composition(&self, name: &str) -> Result<Composition<'_>, NoSuch> {
        if let Some(found) = self.compositions().into_iter().find(|known| known.name() == name) {
            return Ok(found);
        }
        let before = |outer: &Scheme<_>| name.strip_suffix(outer.name())?.strip_suffix('+').map(str::len);
        let Some((outer, end)) = self.controls.iter().find_map(|outer| before(outer).map(|end| (outer, end)))
        else {
            return Err(NoSuch::Name);
        };
        if !outer.usual().wraps().is_empty() {
            return Err(goes_around(outer, &name[..end]));
        }
        let wrappers = self.controls.iter().filter(|scheme| !scheme.usual().wraps().is_empty());
        let wrappers = wrappers.map(Scheme::name).collect::<Vec<_>>().join(", ");
        let found = outer.name();
        let fault = fault!("a control that goes around another ({wrappers}) behind the +", "{found:?}");
        Err(NoSuch::Composition(fault))
    }

    /// The control that `name` writes, with the options that it has where none are given.
    ///
    /// # Errors
    /// When there is none, or its parts do not go together.
    pub fn control(&self, name: &str) -> Result<Chosen<dyn ControlFactory>, NoSuch> {
        let found = self.composition(name)?;
        found.of(Arc::clone(found.outer.usual()), found.inner.map(|inner| Arc::clone(inner.usual())))
    }

    /// The recovery of that name, with the options that it has where none are given.
    pub fn recovery(&self, name: &str) -> Option<Chosen<dyn RecoveryFactory>> {
        usual(&self.recoveries, name)
    }

    /// The slow start of that name, with the options that it has where none are given.
    pub fn slow_start(&self, name: &str) -> Option<Chosen<dyn SlowStartFactory>> {
        usual(&self.slow_starts, name)
    }
}

fn taken(kind: &str, name: &str) -> String {
    format!("expected a {kind} of a name of its own, found {name:?}, which is taken")
}

fn usual<F: ?Sized + 'static>(schemes: &[Scheme<F>], name: &str) -> Option<Chosen<F>> {
    let scheme = schemes.iter().find(|scheme| scheme.name() == name)?;
    Some(Chosen::new(scheme.name().to_owned(), Arc::clone(scheme.usual())))
}
