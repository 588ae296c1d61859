//! A flow as written: keys that every flow has, and those of its application.

use bentpipe_units::external::External;
use bentpipe_units::{Fault, conflict};

use crate::keys::{
    ABOUT_TCP, AppSpec, ApplicationFactory, ExternalOptions, FlowFile, KINDS, Kind, keys_of, no_such_key,
    no_such_scheme,
};
use crate::text::{Node, Place, ScenarioError};

/// Keys of a flow that a relay has not.
const ABOUT_START: [&str; 3] = ["start", "start_step", "start_spread"];

/// The application called `name`.
fn kind(name: &str) -> Result<&'static Kind, Fault> {
    let (_, externals) = External::<dyn ApplicationFactory>::tags();
    let names = KINDS.iter().map(|kind| kind.name).chain(externals.iter().map(String::as_str));
    let fault = || no_such_scheme("an application", name, &names.collect::<Vec<_>>());
    KINDS.iter().find(|kind| kind.name == name).ok_or_else(fault)
}

/// The flow at `at` and what it carries.
pub(crate) fn flow(at: &Place<'_>, flow: &Node) -> Result<(FlowFile, AppSpec), ScenarioError> {
    let kind = match flow.get("app") {
        Some(name) => {
            let name = at.below(&["app"]).read_from::<String>(name)?;
            if let Some(options) = External::<dyn ApplicationFactory>::options(&name) {
                return external_flow(at, flow, &name, &options);
            }
            kind(&name).map_err(|fault| at.error(&["app"], fault))?
        }
        None => &KINDS[0],
    };
    let own = |key: &str| (kind.keys)().contains(&key);
    let (flow, options) = divided(at, flow, own, |key| foreign(key, kind))?;
    let file: FlowFile = at.read_from(&flow)?;
    let app = at.read_by(kind, &options)?;
    app.check(&options).map_err(|fault| at.error(&[], fault))?;
    if let Some(key) = ABOUT_TCP.iter().find(|key| kind.over_udp && flow.get(key).is_some()) {
        return Err(at.error(&[key], needs_app(|kind| !kind.over_udp, kind)));
    }
    if let AppSpec::Relay(_) = app
        && let Some(key) = ABOUT_START.into_iter().find(|key| flow.get(key).is_some())
    {
        let fault = conflict!("cannot be combined with app = \"relay\", which starts with its upstream flow");
        return Err(at.error(&[key], fault));
    }
    Ok((file, app))
}

/// The flow at `at`, with an application from outside that has these options.
fn external_flow(
    at: &Place<'_>,
    flow: &Node,
    name: &str,
    own: &[String],
) -> Result<(FlowFile, AppSpec), ScenarioError> {
    let common = keys_of::<FlowFile>();
    let own: Vec<_> = own.iter().map(String::as_str).collect();
    if let Some(key) = own.iter().find(|key| common.contains(key)) {
        let fault = conflict!("is a key of every flow, and an option of {name:?} too");
        return Err(at.error(&[key], fault));
    }
    let unknown = |key: &str| no_such_key(key, &[common, &own].concat());
    let (flow, options) = divided(at, flow, |key| own.contains(&key), unknown)?;
    let app = at.read_by(ExternalOptions(name), &options)?;
    Ok((at.read_from(&flow)?, AppSpec::External(app)))
}

/// The keys that every flow has, and those that are its application's `own`; `fault` is of one that is neither.
fn divided(
    at: &Place<'_>,
    flow: &Node,
    own: impl Fn(&str) -> bool,
    fault: impl Fn(&str) -> Fault,
) -> Result<(Node, Node), ScenarioError> {
    let (mut flow, mut options) = (flow.clone(), flow.clone());
    if let (Some(all), Some(options)) = (flow.table_mut(), options.table_mut()) {
        options.retain(|key, _| own(key));
        all.retain(|key, _| !options.contains_key(key));
        let common = keys_of::<FlowFile>();
        if let Some(key) = all.keys().find(|key| !common.contains(&key.as_str())) {
            return Err(at.error(&[key], fault(key)));
        }
    }
    Ok((flow, options))
}

/// The fault of a key that is not an option of `kind`.
fn foreign(key: &str, kind: &Kind) -> Fault {
    if KINDS.iter().any(|kind| (kind.keys)().contains(&key)) {
        return needs_app(|kind| (kind.keys)().contains(&key), kind);
    }
    no_such_key(key, &[keys_of::<FlowFile>(), (kind.keys)()].concat())
}

/// The applications that a relay can carry on.
pub(crate) fn relayed() -> String {
    names(|kind| kind.relayed)
}

/// The fault of a key that only some applications have.
fn needs_app(has: impl Fn(&Kind) -> bool, found: &Kind) -> Fault {
    let (names, found) = (names(has), found.name);
    conflict!("needs app = {names}, which is {found:?}")
}

fn names(has: impl Fn(&Kind) -> bool) -> String {
    let names = KINDS.iter().filter(|kind| has(kind)).map(|kind| format!("{:?}", kind.name));
    names.collect::<Vec<_>>().join(" or ")
}
