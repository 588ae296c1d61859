//! Names of the field that are spelled otherwise here, from what each scheme says of itself.

use bentpipe_path::gateway::GatewaySpec;
use bentpipe_path::{ActiveSpec, LossSpec, QueueSpec};
use bentpipe_tcp::{Catalogue, Scheme};
use bentpipe_units::Fault;

use super::{KINDS, no_such, trace::ALSO as ALSO_TRACE};

/// How a scenario writes a choice, and the names of the field that are answered with it.
pub(crate) fn all() -> Vec<(&'static str, String, &'static [&'static str])> {
    let catalogue = Catalogue::default();
    fn of<F: ?Sized + 'static>(
        key: &'static str,
        schemes: &[Scheme<F>],
    ) -> impl Iterator<Item = (&'static str, String, &'static [&'static str])> {
        schemes.iter().map(move |scheme| (key, scheme.name().to_owned(), scheme.also()))
    }
    let named = |key: &'static str, all: &'static [(&'static str, &'static [&'static str])]| {
        all.iter().map(move |(name, also)| (key, (*name).to_owned(), *also))
    };
    of("control", catalogue.controls())
        .chain(of("recovery", catalogue.recoveries()))
        .chain(of("slow_start", catalogue.slow_starts()))
        .chain(KINDS.iter().map(|kind| ("app", kind.name.to_owned(), kind.also)))
        .chain(named("gateway.scheme", GatewaySpec::ALSO))
        .chain(named("queue.scheme", ActiveSpec::ALSO))
        .chain(named("loss.model", LossSpec::ALSO))
        .chain([
            ("queue", "100 packets".to_owned(), QueueSpec::ALSO),
            ("trace", "storm.csv".to_owned(), ALSO_TRACE),
        ])
        .collect()
}

/// What a scenario writes for what the field calls `name`.
pub(crate) fn here(name: &str) -> Option<String> {
    let name = name.to_lowercase();
    let mut text = String::new();
    let mut last = "";
    for (key, ours, _) in all().into_iter().filter(|(_, _, also)| also.contains(&name.as_str())) {
        let joint = if text.is_empty() { "" } else { " or " };
        text += &if key == last { format!("{joint}{ours:?}") } else { format!("{joint}{key} = {ours:?}") };
        last = key;
    }
    (!text.is_empty()).then_some(text)
}

/// As [`no_such`], for names of schemes: a name that the field has for one of another name is answered with ours.
pub(crate) fn no_such_scheme(what: &str, text: &str, names: &[&str]) -> Fault {
    let fault = no_such(what, text, names);
    match here(text) {
        Some(ours) => fault.or(format!("here it is {ours}")),
        None => fault,
    }
}
