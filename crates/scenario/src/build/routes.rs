//! The links that flows ask for, from the start and after handovers.

use std::sync::Arc;

use bentpipe_units::{Fault, LATEST, Span, Under, conflict, ensure, fault, listed, no_such, quoted};

use super::NetworkPlan;
use crate::keys::{HandoverFile, names};
use crate::model::{FlowSpec, HandoverSpec};
use crate::read::read;
use crate::text::Node;

/// Longer routes help nobody, and the routes of many flows must fit in memory.
const MOST_VIA: usize = 100;

/// Moves of flows over all handovers.
const MOST_MOVES: usize = 1_000_000;

/// The links called `names` in copy number `copy` of a flow from node `from`, in their order.
pub(super) fn via(
    network: &mut NetworkPlan<'_>,
    names: &[String],
    copy: usize,
    from: usize,
) -> Result<Vec<usize>, Fault> {
    let found = names.len();
    ensure!(found <= MOST_VIA, fault!("at most {MOST_VIA} links", "{found}"));
    let mut via = Vec::with_capacity(names.len());
    for name in names {
        let link = network.find_link(&names::copy(name, copy))?;
        if !network.connected(from, network.links[link].from.0 as usize) {
            let (host, link) = (quoted(&network.nodes[from]), quoted(&network.links[link].name));
            return Err(conflict!("no links lead from {host} to link {link}"));
        }
        via.push(link);
    }
    Ok(via)
}

/// The handovers of the scenario in `root`, in order of mention.
pub(super) fn handovers(
    root: &Node,
    run: Option<Span>,
    network: &mut NetworkPlan<'_>,
    flows: &[FlowSpec],
) -> Result<Vec<HandoverSpec>, Fault> {
    let mut moves = 0;
    let entries = root.entries("handovers").into_iter();
    entries.map(|(name, node)| handover(name, node, run, network, flows, &mut moves).under(name)).collect()
}

fn handover(
    name: &str,
    node: &Node,
    run: Option<Span>,
    network: &mut NetworkPlan<'_>,
    flows: &[FlowSpec],
    moves: &mut usize,
) -> Result<HandoverSpec, Fault> {
    let HandoverFile { at, flows: patterns, via: links, in_flight } = read(node)?;
    names::check(name, "a handover's name", None)?;
    time(at, run).under("at")?;
    let moved = matching(&patterns, flows).under("flows")?;
    *moves += moved.len();
    let many = || fault!("at most {MOST_MOVES} flows over all handovers", "more");
    ensure!(*moves <= MOST_MOVES, many().under("flows"));
    let mut routes: Vec<Arc<[usize]>> = Vec::with_capacity(moved.len());
    for flow in moved.iter().map(|flow| &flows[*flow]) {
        let links = via(network, &links, flow.number, flow.from).under("via")?;
        // Most handovers have one route for all.
        let route = routes.last().filter(|last| ***last == *links).cloned();
        routes.push(route.unwrap_or_else(|| links.into()));
    }
    let in_flight = in_flight.unwrap_or_default();
    Ok(HandoverSpec { name: name.to_owned(), at, flows: moved, via: routes, in_flight })
}

fn time(at: Span, run: Option<Span>) -> Result<(), Fault> {
    match run {
        Some(end) if at >= end => Err(fault!("a time before the end of the run ({end})", "{at}")),
        _ if at > LATEST => Err(fault!("a time within 100 days", "{at}")),
        _ => Ok(()),
    }
}

/// The flows that any of `patterns` names, in their order.
fn matching(patterns: &[String], flows: &[FlowSpec]) -> Result<Vec<usize>, Fault> {
    ensure!(!patterns.is_empty(), fault!("at least one flow, such as \"f*\"", "none"));
    let mut found = vec![false; flows.len()];
    for pattern in patterns {
        let mut none = true;
        for (flow, found) in flows.iter().zip(&mut found) {
            if matches(pattern, &flow.name) {
                *found = true;
                none = false;
            }
        }
        if none && pattern.contains('*') {
            let names = listed(flows.iter().map(|flow| flow.name.as_str()));
            return Err(Fault::value(format!("a pattern of flows ({names})"), quoted(pattern)));
        }
        if none {
            let names: Vec<_> = flows.iter().map(|flow| flow.name.as_str()).collect();
            return Err(no_such("a flow, or a pattern of flows", pattern, &names));
        }
    }
    Ok((0..flows.len()).filter(|flow| found[*flow]).collect())
}

/// Whether `name` is `pattern`, in which each * stands for any letters.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(place) = rest.find(part) else { return false };
        rest = &rest[place + part.len()..];
    }
    rest.ends_with(last)
}
