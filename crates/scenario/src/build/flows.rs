//! A flow as written: keys that every flow has, and those of its application.

use bentpipe_units::external::External;
use bentpipe_units::{Fault, Under, conflict};

use crate::keys::{
    ABOUT_TCP, AppSpec, ApplicationFactory, ExternalOptions, FlowFile, KINDS, Kind, keys_of, no_such_key,
    no_such_scheme,
};
use crate::read::{divided, read, read_by};
use crate::text::Node;

/// Keys of a flow that a relay has not.
const ABOUT_START: [&str; 3] = ["start", "start_step", "start_spread"];

/// The application called `name`.
fn kind(name: &str) -> Result<&'static Kind, Fault> {
    let (_, externals) = External::<dyn ApplicationFactory>::tags();
    let names = KINDS.iter().map(|kind| kind.name).chain(externals.iter().map(String::as_str));
    let fault = || no_such_scheme("an application", name, &names.collect::<Vec<_>>());
    KINDS.iter().find(|kind| kind.name == name).ok_or_else(fault)
}

/// The flow in `node` and what it carries.
pub(crate) fn flow(node: &Node) -> Result<(FlowFile, AppSpec), Fault> {
    let kind = match node.get("app") {
        Some(name) => {
            let name: String = read(name).under("app")?;
            if let Some(options) = External::<dyn ApplicationFactory>::options(&name) {
                return external_flow(node, &name, &options);
            }
            kind(&name).under("app")?
        }
        None => &KINDS[0],
    };
    let [options, flow] = divided(node, (kind.keys)(), keys_of::<FlowFile>(), |key| foreign(key, kind))?;
    let file: FlowFile = read(&flow)?;
    let app = read_by(kind, &options)?;
    app.check(&options)?;
    if let Some(key) = ABOUT_TCP.iter().find(|key| kind.over_udp && flow.get(key).is_some()) {
        return Err(needs_app(|kind| !kind.over_udp, kind).under(*key));
    }
    if let AppSpec::Relay(_) = app
        && let Some(key) = ABOUT_START.into_iter().find(|key| flow.get(key).is_some())
    {
        let fault = conflict!("cannot be combined with app = \"relay\", which starts with its upstream flow");
        return Err(fault.under(key));
    }
    Ok((file, app))
}

/// The flow in `node`, with an application from outside that has these options.
fn external_flow(node: &Node, name: &str, own: &[String]) -> Result<(FlowFile, AppSpec), Fault> {
    let common = keys_of::<FlowFile>();
    let own: Vec<_> = own.iter().map(String::as_str).collect();
    if let Some(key) = own.iter().find(|key| common.contains(key)) {
        return Err(conflict!("is a key of every flow, and an option of {name:?} too").under(*key));
    }
    let [options, flow] = divided(node, &own, common, |key| no_such_key(key, &[common, &own].concat()))?;
    let app = read_by(ExternalOptions(name), &options)?;
    Ok((read(&flow)?, AppSpec::External(app)))
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
