//! The links that flows ask for, from the start and after handovers.

use std::sync::Arc;

use bentpipe_units::{Fault, Span, conflict, fault, quoted};

use super::NetworkPlan;
use crate::keys::{HandoverFile, listed, names, no_such};
use crate::model::{FlowSpec, HandoverSpec, LATEST};
use crate::text::{Document, ScenarioError};

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
    if names.len() > MOST_VIA {
        return Err(Fault::value(format!("at most {MOST_VIA} links"), format!("{}", names.len())));
    }
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

/// The handovers of `file`, in order of mention.
pub(super) fn handovers(
    document: &Document,
    run: Option<Span>,
    network: &mut NetworkPlan<'_>,
    flows: &[FlowSpec],
) -> Result<Vec<HandoverSpec>, ScenarioError> {
    let mut handovers = Vec::new();
    let mut moves = 0;
    for (name, at, handover) in document.place(&["handovers"]).entries() {
        let handover: HandoverFile = at.read_from(handover)?;
        let fail = |keys: &[&str], fault: Fault| at.error(keys, fault);
        names::check(name, "a handover's name", None).map_err(|e| fail(&[], e))?;
        time(&handover, run).map_err(|e| fail(&["at"], e))?;
        let moved = matching(&handover.flows, flows).map_err(|e| fail(&["flows"], e))?;
        moves += moved.len();
        if moves > MOST_MOVES {
            let message = fault!("at most {MOST_MOVES} flows over all handovers", "more");
            return Err(fail(&["flows"], message));
        }
        let mut routes: Vec<Arc<[usize]>> = Vec::with_capacity(moved.len());
        for flow in moved.iter().map(|flow| &flows[*flow]) {
            let links = via(network, &handover.via, flow.number, flow.from).map_err(|e| fail(&["via"], e))?;
            // Most handovers have one route for all.
            let route = routes.last().filter(|last| ***last == *links).cloned();
            routes.push(route.unwrap_or_else(|| links.into()));
        }
        let in_flight = handover.in_flight.unwrap_or_default();
        let (name, at) = (name.to_owned(), handover.at);
        handovers.push(HandoverSpec { name, at, flows: moved, via: routes, in_flight });
    }
    Ok(handovers)
}

fn time(handover: &HandoverFile, run: Option<Span>) -> Result<(), Fault> {
    match (handover.at, run) {
        (at, Some(end)) if at >= end => Err(fault!("a time before the end of the run ({end})", "{at}")),
        (at, _) if at > LATEST => Err(fault!("a time within 100 days", "{at}")),
        _ => Ok(()),
    }
}

/// The flows that any of `patterns` names, in their order.
fn matching(patterns: &[String], flows: &[FlowSpec]) -> Result<Vec<usize>, Fault> {
    if patterns.is_empty() {
        return Err(fault!("at least one flow, such as \"f*\"", "none"));
    }
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
