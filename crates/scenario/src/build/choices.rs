//! What a flow's TCP is by name: recovery and control, together a variant, and slow start.

use bentpipe_tcp::control::{Composition, ControlFactory, NoSuch};
use bentpipe_tcp::recovery::RecoveryFactory;
use bentpipe_tcp::{Catalogue, Profile, Scheme};
use bentpipe_units::registry::Kind;
use bentpipe_units::{Fault, Under, conflict, ensure};

use crate::keys::{FlowFile, no_such_scheme};
use crate::model::KernelControl;

/// Recovery and control of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices<'a> {
    pub(super) recovery: &'a Scheme<dyn RecoveryFactory>,
    pub(super) control: Composition<'a>,
    /// The slow start that comes with the variant, where the scenario names none.
    pub(super) slow_start: Option<&'a str>,
}

/// Every variant with its name: each recovery with the first control, and the other controls with the recoveries that they are
/// known with, or with that of `profile`.
fn named(catalogue: &Catalogue, profile: Profile) -> Vec<(String, Choices<'_>)> {
    let mut all = Vec::new();
    for control in Composition::all(catalogue) {
        if control.inner.is_none() && control.outer.name() == plain() {
            all.extend(catalogue.all().map(|recovery| {
                (recovery.name().to_owned(), Choices { recovery, control, slow_start: None })
            }));
            continue;
        }
        let known = control.outer.known().recoveries();
        for name in known {
            let name = profile.recovery_under(&**control.outer.known()).unwrap_or(name);
            let Some(recovery) = catalogue.find(name) else { continue };
            let name = if known.len() == 1 { control.name() } else { format!("{}-{name}", control.name()) };
            let slow_start = control.outer.known().slow_start();
            all.push((name, Choices { recovery, control, slow_start }));
        }
    }
    all
}

/// Name and summary of each variant: a recovery and a control under the one name that the field has for them.
pub fn variants(catalogue: &Catalogue) -> Vec<(String, String)> {
    let summary = |Choices { recovery, control, .. }: &Choices<'_>| match control.name() == plain() {
        true => recovery.summary().to_owned(),
        false => format!("{}; {}", control.summary(), recovery.summary()),
    };
    named(catalogue, Profile::Rfc).into_iter().map(|(name, choices)| (name, summary(&choices))).collect()
}

/// Of each variant, in their order: its control, its recovery, the slow start that it has without a profile, and what it is beside
/// its recovery.
pub fn parts_of_variants(catalogue: &Catalogue) -> Vec<[String; 4]> {
    let parts = |(_, Choices { recovery, control, slow_start }): (_, Choices<'_>)| {
        let summary = match control.name() == plain() {
            true => recovery.summary().to_owned(),
            false => control.summary(),
        };
        let start = slow_start.unwrap_or(Profile::Rfc.slow_start(&control.name()));
        [control.name(), recovery.name().to_owned(), start.to_owned(), summary]
    };
    named(catalogue, Profile::Rfc).into_iter().map(parts).collect()
}

/// The control with which a variant has the name of its recovery.
fn plain() -> &'static str {
    <dyn ControlFactory>::ours().names()[0]
}

impl<'a> Choices<'a> {
    /// What a flow chooses; what it does not name is `profile`'s.
    pub(super) fn of(
        catalogue: &'a Catalogue,
        flow: &FlowFile,
        profile: Profile,
    ) -> Result<Choices<'a>, Fault> {
        if let Some(name) = &flow.variant {
            let alone = flow.recovery.is_none() && flow.control.is_none();
            ensure!(alone, conflict!("cannot be combined with recovery or control").under("variant"));
            let all = named(catalogue, profile);
            let name = kernel(name).map_or(name.as_str(), |_| profile.recovery());
            if let Some((_, choices)) = all.iter().find(|(known, _)| known == name) {
                return Ok(*choices);
            }
            let fault = match Composition::find(catalogue, name) {
                Err(NoSuch::Composition(fault)) => fault,
                _ => unknown("a variant", name, all.into_iter().map(|(name, _)| name).collect()),
            };
            return Err(fault.under("variant"));
        }
        let name = flow.recovery.as_deref().unwrap_or(profile.recovery());
        let recovery = find(catalogue, name)?;
        let name = flow.control.as_deref().unwrap_or(profile.control());
        let control = Composition::find(catalogue, name).map_err(|no_such| match no_such {
            NoSuch::Composition(fault) => fault,
            NoSuch::Name => unknown("a control", name, control_names(catalogue)),
        });
        let control = control.under("control")?;
        Ok(Choices { recovery, control, slow_start: None })
    }

    /// The one name of the two choices; both names where they have none.
    pub(super) fn variant(&self, catalogue: &Catalogue, profile: Profile) -> String {
        let same = |other: &Choices<'_>| {
            other.recovery.name() == self.recovery.name() && other.control.name() == self.control.name()
        };
        match named(catalogue, profile).into_iter().find(|(_, known)| same(known)) {
            Some((name, _)) => name,
            None => format!("{}+{}", self.control.name(), self.recovery.name()),
        }
    }
}

/// The control of a kernel that a variant names, such as `linux:cubic` or `linux-6.1:bbr`.
pub(super) fn kernel(variant: &str) -> Option<KernelControl> {
    let (machine, control) = variant.split_once(':')?;
    let release = machine.strip_prefix("linux")?;
    let release = if release.is_empty() { None } else { Some(release.strip_prefix('-')?.to_owned()) };
    let named = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
    (named(control) && release.as_deref().is_none_or(named))
        .then(|| KernelControl { release, control: control.to_owned() })
}

/// The scheme called `name`, which the key of its kind chooses.
pub(super) fn find<'a, K: Kind + ?Sized>(
    catalogue: &'a Catalogue,
    name: &str,
) -> Result<&'a Scheme<K>, Fault> {
    let found = catalogue.find(name);
    found.ok_or_else(|| no_such_scheme(K::WHAT, name, &catalogue.names::<K>()).under(K::KEY))
}

fn unknown(what: &str, name: &str, known: Vec<String>) -> Fault {
    no_such_scheme(what, name, &known.iter().map(String::as_str).collect::<Vec<_>>())
}

pub(super) fn names<K: Kind + ?Sized>(catalogue: &Catalogue) -> Vec<String> {
    catalogue.names::<K>().into_iter().map(str::to_owned).collect()
}

pub(super) fn control_names(catalogue: &Catalogue) -> Vec<String> {
    Composition::all(catalogue).iter().map(Composition::name).collect()
}
