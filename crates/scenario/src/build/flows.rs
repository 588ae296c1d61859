//! A flow as written: keys that every flow has, and those of its application.

use bentpipe_apps::{AppScheme, AppSpec, ApplicationFactory};
use bentpipe_units::registry::{Catalogue, Kind};
use bentpipe_units::{Fault, Under, conflict, no_such_key};

use super::choices::find;
use crate::keys::{ABOUT_TCP, FlowFile, keys_of};
use crate::read::{self, divided, read};
use crate::text::Node;

/// Keys of a flow that a relay has not.
const ABOUT_START: [&str; 3] = ["start", "start_step", "start_spread"];

/// The flow in `node` and what it carries.
pub(crate) fn flow(catalogue: &Catalogue, node: &Node) -> Result<(FlowFile, AppSpec), Fault> {
    let scheme = match node.get("app") {
        Some(name) => find(catalogue, &read::<String>(name).under("app")?)?,
        None => &ours()[0],
    };
    let (common, own) = (keys_of::<FlowFile>(), scheme.keys().collect::<Vec<_>>());
    if let Some(key) = own.iter().find(|key| common.contains(key)) {
        return Err(conflict!("is a key of every flow, and an option of {:?} too", scheme.name()).under(*key));
    }
    let [options, flow] = divided(node, &own, common, |key| foreign(key, scheme))?;
    let file: FlowFile = read(&flow)?;
    let app = read::options(scheme, &options)?;
    app.check(&|key| options.get(key).is_some())?;
    if let Some(key) = ABOUT_TCP.iter().find(|key| app.over_udp() && flow.get(key).is_some()) {
        return Err(needs_app(|scheme| !scheme.known().over_udp, scheme).under(*key));
    }
    if let AppSpec::Relay(_) = app
        && let Some(key) = ABOUT_START.into_iter().find(|key| flow.get(key).is_some())
    {
        let fault = conflict!("cannot be combined with app = \"relay\", which starts with its upstream flow");
        return Err(fault.under(key));
    }
    Ok((file, app))
}

/// The fault of a key that is not an option of `scheme`.
fn foreign(key: &str, scheme: &AppScheme) -> Fault {
    let has = |scheme: &AppScheme| scheme.keys().any(|own| own == key);
    if ours().iter().any(has) {
        return needs_app(has, scheme);
    }
    no_such_key(key, &[keys_of::<FlowFile>(), &scheme.keys().collect::<Vec<_>>()].concat())
}

/// The applications that a relay can carry on.
pub(crate) fn relayed() -> String {
    names(|scheme| scheme.known().relayed)
}

/// The fault of a key that only some applications have.
fn needs_app(has: impl Fn(&AppScheme) -> bool, found: &AppScheme) -> Fault {
    let (names, found) = (names(has), found.name());
    conflict!("needs app = {names}, which is {found:?}")
}

fn ours() -> &'static [AppScheme] {
    <dyn ApplicationFactory>::ours().schemes()
}

fn names(has: impl Fn(&AppScheme) -> bool) -> String {
    let names = ours().iter().filter(|scheme| has(scheme)).map(|scheme| format!("{:?}", scheme.name()));
    names.collect::<Vec<_>>().join(" or ")
}
