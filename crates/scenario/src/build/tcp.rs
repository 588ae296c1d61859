//! From the TCP settings as written to those of one end of one flow.

use std::sync::Arc;

use bentpipe_apps::AppSpec;
use bentpipe_tcp::control::{ControlFactory, NoSuch};
use bentpipe_tcp::recovery::RecoveryFactory;
use bentpipe_tcp::slow_start::SlowStartFactory;
use bentpipe_tcp::{Catalogue, Chosen, Config, Nagle, Profile, Scheme, Settings};
use bentpipe_units::registry::Kind;
use bentpipe_units::{Fault, Under, conflict, fault, no_such_key};

use super::choices::{Choices, find};
use crate::keys::keys_of;
use crate::read::{divided, options, read};
use crate::text::{Node, Table, Value, merge};

/// Which end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowEnd {
    Sender,
    Receiver,
}

/// The names of the schemes that have options: the keys of their tables below `tcp`.
fn option_tables(catalogue: &Catalogue) -> Vec<&str> {
    fn of<K: Kind + ?Sized>(catalogue: &Catalogue) -> impl Iterator<Item = &str> {
        catalogue.all::<K>().filter(|scheme| scheme.has_options()).map(Scheme::name)
    }
    let controls = of::<dyn ControlFactory>(catalogue).chain(of::<dyn RecoveryFactory>(catalogue));
    controls.chain(of::<dyn SlowStartFactory>(catalogue)).collect()
}

/// Checks what the settings in `node` say by themselves.
pub(crate) fn check(catalogue: &Catalogue, node: Option<&Node>) -> Result<(), Fault> {
    let (known, tables) = (keys_of::<Settings>(), option_tables(catalogue));
    if let Some(key) = tables.iter().find(|key| known.contains(key)) {
        let fault =
            conflict!("is a setting, and the name of a control, recovery or slow start with options too");
        return Err(fault.under(*key));
    }
    if let Some((_, key)) = tables.iter().enumerate().find(|(place, key)| tables[..*place].contains(key)) {
        let fault = conflict!("is the name of two of the controls, recoveries and slow starts with options");
        return Err(fault.under(*key));
    }
    let Some(node) = node else { return Ok(()) };
    if let Some(name) = settings_of(catalogue, node)?.slow_start {
        find::<dyn SlowStartFactory>(catalogue, &name)?;
    }
    catalogue.all::<dyn ControlFactory>().try_for_each(|scheme| factory(scheme, node).map(drop))?;
    catalogue.all::<dyn RecoveryFactory>().try_for_each(|scheme| factory(scheme, node).map(drop))?;
    catalogue.all::<dyn SlowStartFactory>().try_for_each(|scheme| factory(scheme, node).map(drop))
}

/// The settings in `node`, without the tables of schemes.
fn settings_of(catalogue: &Catalogue, node: &Node) -> Result<Settings, Fault> {
    let options = option_tables(catalogue);
    let known = keys_of::<Settings>();
    let [_, settings] = divided(node, &options, known, |key| no_such_key(key, &[known, &options].concat()))?;
    read(&settings)
}

/// The factory that the options of `scheme` come to, in `node`.
fn factory<F>(scheme: &Scheme<F>, node: &Node) -> Result<Arc<F>, Fault>
where
    F: Kind<Known = Arc<F>, Value = Arc<F>> + ?Sized,
{
    match node.get(scheme.name()).filter(|_| scheme.has_options()) {
        Some(table) => options(scheme, table).under(scheme.name()),
        None => Ok(Arc::clone(scheme.known())),
    }
}

/// The profile of the flow called `flow`, by which its sender goes.
pub(crate) fn profile(root: &Node, flow: &str) -> Result<Profile, Fault> {
    for path in [&["flows", flow, "tcp", "profile"][..], &["tcp", "profile"]] {
        if let Some(node) = root.find(path) {
            return read::<Profile>(node).map_err(|fault| fault.below(path));
        }
    }
    Ok(Profile::Rfc)
}

/// The settings of one end of the flow called `flow`: `[tcp]`, the flow's own over it, the receiver's own over both.
pub(crate) fn config(
    root: &Node,
    flow: &str,
    catalogue: &Catalogue,
    end: FlowEnd,
    choices: &Choices<'_>,
    app: &AppSpec,
) -> Result<Config, Fault> {
    let layers = [&["tcp"][..], &["flows", flow, "tcp"], &["flows", flow, "receiver_tcp"]];
    let layers = if end == FlowEnd::Sender { &layers[..2] } else { &layers };
    let mut node = Node { value: Value::Table(Table::new()), origin: root.origin };
    for above in layers.iter().filter_map(|path| root.find(path)) {
        merge(&mut node, above.clone());
    }
    // A fault is that of the highest layer that has its key.
    let here = |fault: Fault| {
        let keys: Vec<&str> = fault.path.iter().map(String::as_str).collect();
        let written = layers.iter().rev().find(|path| root.find(&[path, &keys[..]].concat()).is_some());
        let path = written.unwrap_or(&layers[0]);
        fault.clone().below(path)
    };
    let file = settings_of(catalogue, &node).map_err(here)?;
    let profile = file.profile.unwrap_or(Profile::Rfc);
    add_options(profile, &mut node);
    let Choices { recovery, control, slow_start: own_start } = choices;
    let inner = control.inner.map(|inner| factory(inner, &node)).transpose().map_err(here)?;
    let outer = factory(control.outer, &node).map_err(here)?;
    let chosen = control.of(outer, inner).map_err(|no_such| match no_such {
        NoSuch::Composition(fault) => fault.below(&["flows", flow, "control"]),
        NoSuch::Name => fault!("a control", "none").below(&["flows", flow, "control"]),
    })?;
    let recovery = Chosen::new(recovery.name().to_owned(), factory(recovery, &node).map_err(here)?);
    let usual = own_start.unwrap_or(profile.slow_start(chosen.name()));
    let name = file.slow_start.as_deref().unwrap_or(usual);
    let slow_start = find(catalogue, name).map_err(here)?;
    let slow_start = Chosen::new(slow_start.name().to_owned(), factory(slow_start, &node).map_err(here)?);
    let mut base = Config { slow_start, ..profile.config(recovery, chosen) };
    if app.facts().sets_no_delay {
        base.nagle = Nagle::Off;
    }
    file.over(base).map_err(here)
}

/// Lays the options that schemes have with `profile` under those that are written in `node`.
fn add_options(profile: Profile, node: &mut Node) {
    let origin = node.origin;
    for (scheme, key, value) in profile.options() {
        let Some(settings) = node.table_mut() else { return };
        let table = || Node { value: Value::Table(Table::new()), origin };
        let options = settings.entry((*scheme).to_owned()).or_insert_with(table);
        if let Some(options) = options.table_mut() {
            let value = || Node { value: Value::Text((*value).to_owned()), origin };
            options.entry((*key).to_owned()).or_insert_with(value);
        }
    }
}
