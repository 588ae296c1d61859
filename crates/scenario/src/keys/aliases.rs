//! Names of the field that are spelled otherwise here, from what each scheme says of itself.

use bentpipe_apps::ApplicationFactory;
use bentpipe_path::gateway::GatewayFactory;
use bentpipe_path::{FecSpec, LossFactory, QueueFactory, QueueSpec};
use bentpipe_tcp::control::ControlFactory;
use bentpipe_tcp::recovery::RecoveryFactory;
use bentpipe_tcp::slow_start::SlowStartFactory;
use bentpipe_units::registry::Kind;
use bentpipe_units::{Fault, no_such};

use super::trace::ALSO as ALSO_TRACE;

/// How a scenario writes a choice, and the names of the field that are answered with it.
pub(crate) fn all() -> Vec<Alias> {
    let beside = [("queue", "100 packets", QueueSpec::ALSO), ("trace", "storm.csv", ALSO_TRACE)];
    let kinds = [
        of::<dyn ControlFactory>(),
        of::<dyn RecoveryFactory>(),
        of::<dyn SlowStartFactory>(),
        of::<dyn ApplicationFactory>(),
        of::<dyn GatewayFactory>(),
        of::<dyn QueueFactory>(),
        of::<dyn LossFactory>(),
        of::<FecSpec>(),
    ];
    kinds.into_iter().flatten().chain(beside).collect()
}

type Alias = (&'static str, &'static str, &'static [&'static str]);

fn of<K: Kind + ?Sized>() -> Vec<Alias> {
    K::ours().schemes().iter().map(|scheme| (K::KEY, scheme.name(), scheme.aliases())).collect()
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
    named_here(no_such(what, text, names), text)
}

/// The fault that there is no `text`, with our name for it where the field calls it that.
pub(crate) fn named_here(fault: Fault, text: &str) -> Fault {
    match here(text) {
        Some(ours) => fault.or(format!("here it is {ours}")),
        None => fault,
    }
}
