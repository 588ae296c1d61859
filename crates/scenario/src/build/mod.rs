//! From the scenario as written to the scenario as run.

mod choices;
mod constellation;
mod flows;
mod network;
pub(crate) mod relays;
pub(crate) mod routes;
mod schema;
mod tcp;
mod trace;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use bentpipe_apps::AppSpec;
use bentpipe_net::LinkSetup;
use bentpipe_tcp::Catalogue;
use bentpipe_units::bounded::Whole;
use bentpipe_units::{Fault, LATEST, Span, Under, conflict, ensure, fault, quoted};

use choices::{Choices, kernel};
pub use choices::{parts_of_variants, variants};
use constellation::constellation;
use flows::relayed;
use network::NetworkPlan;
use relays::Asked;
pub use schema::schema;
use tcp::{FlowEnd, check, config, profile};

use crate::keys::{FlowFile, MAX_COPIES, ScenarioFile, names};
use crate::model::{FlowSpec, Routing, Scenario};
use crate::read::read;
use crate::text::{Document, Node, ReadFile, Table, Value};

const MAX_TITLE: usize = 200;

/// The validated scenario that `document` describes, with what it chooses from `catalogue`.
pub(crate) fn resolve(
    document: &Document,
    catalogue: &Catalogue,
    files: &ReadFile<'_>,
) -> Result<Scenario, Fault> {
    let root = &document.root;
    if root.table().is_none_or(Table::is_empty) {
        return Err(fault!("a scenario with [links] and [flows]", "an empty file"));
    }
    let file: ScenarioFile = read(root)?;
    check(catalogue, root.get("tcp")).under("tcp")?;
    let title = title(document, &file).under("title")?;
    let constellation = constellation(root)?;
    let mut network = match &constellation {
        Some(spec) => NetworkPlan::of_stations(spec.sky.stations.iter().map(|(name, _)| name.as_str())),
        None => NetworkPlan::build(document, files)?,
    };
    let flow_files = root.entries("flows");
    let none = || fault!("at least one flow, such as [flows.download] with from and to", "none");
    ensure!(!flow_files.is_empty(), none().under("flows"));
    let mut flows = Vec::new();
    let mut connections = 0;
    let mut names = HashMap::new();
    let mut relays = Vec::new();
    for (name, node) in &flow_files {
        let here = |fault: Fault| fault.under(*name).under("flows");
        let (flow, app) = flows::flow(catalogue, node).map_err(here)?;
        let app = Arc::new(app);
        for key in ["tcp", "receiver_tcp"] {
            check(catalogue, node.get(key)).under(key).map_err(here)?;
        }
        let copies = names::copies(flow.count);
        let many = || fault!("at most {MAX_COPIES} flows in all", "more").under("count");
        ensure!(flows.len() + copies <= MAX_COPIES, here(many()));
        connections += copies * app.connections();
        checked(name, &flow, &app, file.duration, connections).map_err(here)?;
        let profile = profile(root, name)?;
        let choices = Choices::of(catalogue, &flow, profile).map_err(here)?;
        let config = |end| config(root, name, catalogue, end, &choices, &app).map(Arc::new);
        let (sender, receiver) = (config(FlowEnd::Sender)?, config(FlowEnd::Receiver)?);
        let kernel = flow.variant.as_deref().and_then(kernel).filter(|_| !app.over_udp()).map(Box::new);
        let variant = match &flow.variant {
            _ if app.over_udp() => "udp".to_owned(),
            Some(name) if kernel.is_some() => name.clone(),
            _ => choices.variant(catalogue, profile),
        };
        for i in 0..copies {
            let copy = names::copy_of_named(name, flow.count, i);
            if let Some((_, first)) = names.insert(copy.clone(), (flows.len(), *name)) {
                return Err(here(conflict!("{} is the name of a copy of {first:?} too", quoted(&copy))));
            }
            let [from, to] = ends(&mut network, &flow, i, constellation.is_some()).map_err(here)?;
            let via = routes::via(&mut network, &flow.via, i, from).under("via").map_err(here)?;
            let start = start(&flow, i, file.duration).map_err(here)?;
            if let AppSpec::Relay(relay) = &*app {
                let upstream = names::copy(&relay.upstream, i);
                relays.push(Asked { flow: flows.len(), of: name, upstream });
            }
            flows.push(FlowSpec {
                name: copy,
                group: flow.count.map(|_| name.to_string()),
                number: i,
                from,
                to,
                via,
                class: flow.class.map_or(0, |class| class.get() as u8),
                ipsec: flow.ipsec,
                start,
                start_spread: flow.start_spread,
                app: app.clone(),
                upstream: None,
                sender: sender.clone(),
                receiver: receiver.clone(),
                variant: variant.clone(),
                kernel: kernel.clone(),
            });
        }
    }
    flows.shrink_to_fit();
    network.links.shrink_to_fit();
    if file.duration.is_none() && !flows.iter().any(|flow| flow.app.facts().ends) {
        return Err(flows[0].app.nothing_ends().under(flow_files[0].0).under("flows"));
    }
    if let (Some(warm_up), Some(duration)) = (file.warm_up, file.duration) {
        let late = || fault!("a time below the duration ({duration})", "{warm_up}").under("warm_up");
        ensure!(warm_up < duration, late());
    }
    if constellation.is_some() && file.duration.is_none() {
        return Err(conflict!("[constellation] needs a duration").under("duration"));
    }
    relays::join(&relays, &names, &network.nodes, &mut flows)?;
    let handovers = routes::handovers(root, file.duration, &mut network, &flows).under("handovers")?;
    let routing = file.routing.unwrap_or_default();
    if let (Routing::Dynamic, None) = (routing, file.duration)
        && let Some(link) = network.links.iter().find(|link| repeats(link))
    {
        let link = quoted(&link.name);
        let fault = conflict!(
            "routing = \"dynamic\" needs a duration where a schedule repeats, as that of link {link}"
        );
        return Err(fault.under("duration"));
    }
    let text = text(document, &title)?;
    Ok(Scenario {
        title,
        seed: file.seed.map_or(1, Whole::get),
        duration: file.duration,
        warm_up: file.warm_up,
        queueing_quantiles: file.queueing_quantiles,
        nodes: network.nodes,
        links: network.links,
        flows,
        routing,
        constellation,
        handovers,
        files: document.layers[1..].iter().filter_map(|layer| layer.file.clone()).collect(),
        notes: network.notes,
        text,
    })
}

/// Whether the flow called `name` can be one of a run that ends with `run`, and of so many connections in all.
fn checked(
    name: &str,
    flow: &FlowFile,
    app: &AppSpec,
    run: Option<Span>,
    connections: usize,
) -> Result<(), Fault> {
    names::check(name, "a flow's name", flow.count)?;
    names::check(&flow.from, "a node's name", flow.count).under("from")?;
    names::check(&flow.to, "a node's name", flow.count).under("to")?;
    if let AppSpec::Relay(relay) = app {
        names::check(&relay.upstream, "a flow's name", flow.count).under("upstream")?;
    }
    // What takes no notice of the others may last as long as they do.
    ensure!(run.is_some() || app.over_udp() || app.facts().ends, app.nothing_ends());
    let key = match app {
        AppSpec::ShortFlows(_) => "transfers",
        AppSpec::Trace(_) => "trace",
        _ => "connections",
    };
    ensure!(connections <= MAX_COPIES, fault!("at most {MAX_COPIES} connections in all", "more").under(key));
    Ok(())
}

/// The hosts of copy number `copy` of a flow.
fn ends(
    network: &mut NetworkPlan<'_>,
    flow: &FlowFile,
    copy: usize,
    moving: bool,
) -> Result<[usize; 2], Fault> {
    let from = network.find(&names::copy(&flow.from, copy)).under("from")?;
    let to = network.find(&names::copy(&flow.to, copy)).under("to")?;
    ensure!(from != to, conflict!("{} is the sender's host", quoted(&network.nodes[from])).under("to"));
    let paths = "cannot be combined with [constellation], whose paths serve all flows between two stations";
    ensure!(!(flow.ipsec && moving), Fault::conflict(paths).under("ipsec"));
    if !network.connected(from, to) {
        let [from, to] = [from, to].map(|node| quoted(&network.nodes[node]));
        return Err(conflict!("no links lead from {from} to {to}").under("to"));
    }
    Ok([from, to])
}

fn repeats(link: &LinkSetup) -> bool {
    [&link.forward, &link.reverse].iter().any(|direction| direction.link.schedule.period().is_some())
}

fn title(document: &Document, file: &ScenarioFile) -> Result<String, Fault> {
    let Some(title) = &file.title else {
        let name = Path::new(&document.layers[0].name).file_stem().unwrap_or_default();
        return Ok(name.to_string_lossy().into_owned());
    };
    if title.trim().is_empty() || title.chars().count() > MAX_TITLE || title.chars().any(char::is_control) {
        return Err(Fault::value(format!("one line of at most {MAX_TITLE} letters"), quoted(title)));
    }
    Ok(title.clone())
}

/// One TOML text with everything that `document` says but for its seed, under this `title`: a file's own name is not in
/// the text.
fn text(document: &Document, title: &str) -> Result<String, Fault> {
    let mut root = document.root.clone();
    let origin = root.origin;
    if let Some(table) = root.table_mut() {
        table.shift_remove("seed");
        table.shift_remove("title");
        table.shift_insert(0, "title".to_owned(), Node { value: Value::Text(title.to_owned()), origin });
    }
    toml::to_string(&root).map_err(|e| fault!("what can be written as TOML", "what cannot ({e})"))
}

fn start(flow: &FlowFile, copy: usize, run: Option<Span>) -> Result<Span, Fault> {
    let start = flow.start + flow.start_step * copy as u64;
    let latest = start + flow.start_spread;
    let key = match () {
        () if flow.start_spread > Span::ZERO => "start_spread",
        () if start > flow.start => "start_step",
        () => "start",
    };
    match run {
        Some(end) if latest >= end => {
            Err(fault!("a start before the end of the run ({end})", "{latest}").under(key))
        }
        _ if latest > LATEST => Err(fault!("a start within 100 days", "{latest}").under(key)),
        _ => Ok(start),
    }
}
