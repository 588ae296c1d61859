//! From the scenario as written to the scenario as run.

mod choices;
mod constellation;
mod flows;
mod network;
mod relays;
pub(crate) mod routes;
mod schema;
mod tcp;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use bentpipe_net::LinkSetup;
use bentpipe_tcp::Catalogue;
use bentpipe_units::bounded::Whole;
use bentpipe_units::{Fault, Span, conflict, fault, quoted};

pub use choices::variants;
use choices::{Choices, slow_start};
use constellation::constellation;
use flows::relayed;
use network::NetworkPlan;
use relays::Asked;
pub use schema::schema;
use tcp::{FlowEnd, check, config, profile};

use crate::keys::{AppSpec, FlowFile, MAX_COPIES, ScenarioFile, names};
use crate::model::{FlowSpec, LATEST, Routing, Scenario};
use crate::text::{Document, Node, ReadFile, ScenarioError, Table, Value};

const MAX_TITLE: usize = 200;

/// The validated scenario that `document` describes, with what it chooses from `catalogue`.
pub(crate) fn resolve(
    document: &Document,
    catalogue: &Catalogue,
    files: &ReadFile<'_>,
) -> Result<Scenario, ScenarioError> {
    let top = document.place(&[]);
    if document.root.table().is_none_or(Table::is_empty) {
        return Err(top.error(&[], fault!("a scenario with [links] and [flows]", "an empty file")));
    }
    let file: ScenarioFile = top.read()?;
    check(catalogue, &document.place(&["tcp"]))?;
    let title = title(document, &file)?;
    let constellation = constellation(document)?;
    let mut network = match &constellation {
        Some(spec) => NetworkPlan::of_stations(spec.sky.stations.iter().map(|(name, _)| name.as_str())),
        None => NetworkPlan::build(document, files)?,
    };
    let flow_files = document.place(&["flows"]).entries();
    if flow_files.is_empty() {
        let message = fault!("at least one flow, such as [flows.download] with from and to", "none");
        return Err(top.error(&["flows"], message));
    }
    let mut flows = Vec::new();
    let mut connections = 0;
    let mut names = HashMap::new();
    let mut relays = Vec::new();
    for (name, at, node) in &flow_files {
        let (flow, app) = flows::flow(at, node)?;
        check(catalogue, &at.below(&["tcp"]))?;
        check(catalogue, &at.below(&["receiver_tcp"]))?;
        let fail = |keys: &[&str], fault: Fault| at.error(keys, fault);
        let copies = names::copies(flow.count);
        if flows.len() + copies > MAX_COPIES {
            return Err(fail(&["count"], fault!("at most {MAX_COPIES} flows in all", "more")));
        }
        names::check(name, "a flow's name", flow.count).map_err(|e| fail(&[], e))?;
        for (key, node) in [("from", &flow.from), ("to", &flow.to)] {
            names::check(node, "a node's name", flow.count).map_err(|e| fail(&[key], e))?;
        }
        if let AppSpec::Relay(relay) = &app {
            names::check(&relay.upstream, "a flow's name", flow.count).map_err(|e| fail(&["upstream"], e))?;
        }
        // What takes no notice of the others may last as long as they do.
        if file.duration.is_none() && !app.over_udp() && !app.ends() {
            return Err(fail(&[], app.nothing_ends()));
        }
        connections += copies * app.connections();
        if connections > MAX_COPIES {
            let message = fault!("at most {MAX_COPIES} connections in all", "more");
            let key = match app {
                AppSpec::ShortFlows(_) => "transfers",
                AppSpec::Trace(_) => "trace",
                _ => "connections",
            };
            return Err(fail(&[key], message));
        }
        let profile = profile(document, at)?;
        let choices = Choices::of(catalogue, at, &flow, profile)?;
        let sender = Arc::new(config(document, catalogue, at, FlowEnd::Sender, &choices, &app)?);
        let receiver = Arc::new(config(document, catalogue, at, FlowEnd::Receiver, &choices, &app)?);
        let variant = if app.over_udp() { "udp".to_owned() } else { choices.variant(catalogue, profile) };
        for i in 0..copies {
            let copy = names::copy_of_named(name, flow.count, i);
            if let Some((_, first)) = names.insert(copy.clone(), (flows.len(), *name)) {
                let copy = quoted(&copy);
                let message = conflict!("{copy} is the name of a copy of {first:?} too");
                return Err(fail(&[], message));
            }
            let from = network.find(&names::copy(&flow.from, i)).map_err(|e| fail(&["from"], e))?;
            let to = network.find(&names::copy(&flow.to, i)).map_err(|e| fail(&["to"], e))?;
            if from == to {
                let host = quoted(&network.nodes[from]);
                return Err(fail(&["to"], conflict!("{host} is the sender's host")));
            }
            if flow.ipsec && constellation.is_some() {
                let message = conflict!(
                    "cannot be combined with [constellation], whose paths serve all flows between two stations"
                );
                return Err(fail(&["ipsec"], message));
            }
            if !network.connected(from, to) {
                let (from, to) = (quoted(&network.nodes[from]), quoted(&network.nodes[to]));
                return Err(fail(&["to"], conflict!("no links lead from {from} to {to}")));
            }
            let via = routes::via(&mut network, &flow.via, i, from).map_err(|e| fail(&["via"], e))?;
            let start = start(&flow, i, file.duration).map_err(|fault| at.error(&[], fault))?;
            if let AppSpec::Relay(relay) = &app {
                let upstream = names::copy(&relay.upstream, i);
                relays.push(Asked { flow: flows.len(), at: at.clone(), upstream });
            }
            let (sender, receiver, variant) = (sender.clone(), receiver.clone(), variant.clone());
            let group = flow.count.map(|_| name.to_string());
            flows.push(FlowSpec {
                name: copy,
                group,
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
                sender,
                receiver,
                variant,
            });
        }
    }
    if file.duration.is_none() && !flows.iter().any(|flow| flow.app.ends()) {
        return Err(flow_files[0].1.error(&[], flows[0].app.nothing_ends()));
    }
    if let (Some(warm_up), Some(duration)) = (file.warm_up, file.duration)
        && warm_up >= duration
    {
        let message = fault!("a time below the duration ({duration})", "{warm_up}");
        return Err(document.place(&["warm_up"]).error(&[], message));
    }
    if constellation.is_some() && file.duration.is_none() {
        let message = conflict!("[constellation] needs a duration");
        return Err(top.error(&["duration"], message));
    }
    relays::join(&relays, &names, &network.nodes, &mut flows)?;
    let handovers = routes::handovers(document, file.duration, &mut network, &flows)?;
    let routing = file.routing.unwrap_or_default();
    if let (Routing::Dynamic, None) = (routing, file.duration)
        && let Some(link) = network.links.iter().find(|link| repeats(link))
    {
        let link = quoted(&link.name);
        let fault = conflict!(
            "routing = \"dynamic\" needs a duration where a schedule repeats, as that of link {link}"
        );
        return Err(top.error(&["duration"], fault));
    }
    let NetworkPlan { nodes, links, notes, .. } = network;
    let seed = file.seed.map_or(1, Whole::get);
    let read = document.layers[1..].iter().filter_map(|layer| layer.file.clone()).collect();
    let text = text(document, &title)?;
    Ok(Scenario {
        title,
        seed,
        duration: file.duration,
        warm_up: file.warm_up,
        queueing_quantiles: file.queueing_quantiles,
        nodes,
        links,
        flows,
        routing,
        constellation,
        handovers,
        files: read,
        notes,
        text,
    })
}

fn repeats(link: &LinkSetup) -> bool {
    [&link.forward, &link.reverse].iter().any(|direction| direction.link.schedule.period().is_some())
}

fn title(document: &Document, file: &ScenarioFile) -> Result<String, ScenarioError> {
    let Some(title) = &file.title else {
        let name = Path::new(&document.layers[0].name).file_stem().unwrap_or_default();
        return Ok(name.to_string_lossy().into_owned());
    };
    if title.trim().is_empty() || title.chars().count() > MAX_TITLE || title.chars().any(char::is_control) {
        let message = Fault::value(format!("one line of at most {MAX_TITLE} letters"), quoted(title));
        return Err(document.place(&["title"]).error(&[], message));
    }
    Ok(title.clone())
}

/// One TOML text with everything that `document` says but for its seed, under this `title`: a file's own name is not in
/// the text.
fn text(document: &Document, title: &str) -> Result<String, ScenarioError> {
    let mut root = document.root.clone();
    let origin = root.origin;
    if let Some(table) = root.table_mut() {
        table.shift_remove("seed");
        table.shift_remove("title");
        table.shift_insert(0, "title".to_owned(), Node { value: Value::Text(title.to_owned()), origin });
    }
    let cannot = |e| fault!("what can be written as TOML", "what cannot ({e})");
    toml::to_string(&root).map_err(|e| document.place(&[]).error(&[], cannot(e)))
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
