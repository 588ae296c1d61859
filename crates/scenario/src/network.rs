//! From the links as written to nodes, links and who can reach whom.

use std::collections::HashMap;

use bentpipe_net::{DirectionSetup, LinkSetup, NodeId};
use bentpipe_path::{ArqSpec, FecSpec, LinkConfig, LossSpec, QueueSpec, Repair, Schedule};
use bentpipe_units::{Fault, Rate, Span, Written, conflict, fault, quoted};

use super::bounds::MAX_RATE;
use super::document::{Document, Place};
use super::error::ScenarioError;
use super::file::LinkFile;
use super::files::ReadFile;
use super::link_trace;
use super::names::{self, MAX_COPIES};
use super::no_such::no_such;
use super::tree::{Node, Value};

/// Packet numbers in the drop lists of all copies of a link together.
const MAX_DROPS: usize = 10_000_000;

/// The fault of a rate or a delay that is no text but a list of what it is when.
fn changing(link: &Node) -> Option<Fault> {
    let reverse = link.get("reverse").map(|reverse| (reverse, &["reverse"][..]));
    [(link, &[][..])].into_iter().chain(reverse).find_map(|(table, above)| {
        let examples = [("rate", Rate::EXPECTED), ("delay", Span::EXPECTED)];
        examples.into_iter().find_map(|(key, expected)| {
            let found = match table.get(key)?.value {
                Value::Array(_) => "an array",
                Value::Table(_) => "a table",
                _ => return None,
            };
            let hint = "what changes during a run stands in schedule, as schedule = [{ at = \"30 s\", ... }]";
            let fault = Fault::value(expected, found).or(hint).under(key);
            Some(above.iter().fold(fault, |fault, key| fault.under(*key)))
        })
    })
}

/// Nodes, links, and which of them hang together.
#[derive(Default)]
pub(crate) struct NetworkPlan<'a> {
    pub(crate) nodes: Vec<String>,
    pub(crate) links: Vec<LinkSetup>,
    pub(crate) notes: Vec<String>,
    index: HashMap<String, usize>,
    /// Each link's number, and the table that it comes from.
    link_index: HashMap<String, (usize, &'a str)>,
    /// A node of the same connected part, closer to the one that stands for it.
    parent: Vec<usize>,
}

impl<'a> NetworkPlan<'a> {
    /// Every link of `file`, checked.
    pub(crate) fn build(
        document: &'a Document,
        files: &ReadFile<'_>,
    ) -> Result<NetworkPlan<'a>, ScenarioError> {
        let mut network = NetworkPlan::default();
        let links = document.place(&["links"]).entries();
        if links.is_empty() {
            let message = fault!("at least one link, such as [links.satellite]", "none");
            return Err(document.place(&["links"]).error(&[], message));
        }
        for (name, at, link) in &links {
            changing(link).map_or(Ok(()), |fault| Err(at.error(&[], fault)))?;
            let link: LinkFile = at.read_from(link)?;
            let fail = |keys: &[&str], fault: Fault| at.error(keys, fault);
            let copies = names::copies(link.count);
            if network.links.len() + copies > MAX_COPIES {
                let message = fault!("at most {MAX_COPIES} links in all", "more");
                return Err(fail(&["count"], message));
            }
            names::check(name, "a link's name", link.count).map_err(|e| fail(&[], e))?;
            names::check(&link.from, "a node's name", link.count).map_err(|e| fail(&["from"], e))?;
            names::check(&link.to, "a node's name", link.count).map_err(|e| fail(&["to"], e))?;
            if copies > 1 && !names::numbered(&link.from) && !names::numbered(&link.to) {
                let message = conflict!("needs {{i}} in from or to, so that each copy joins other nodes");
                return Err(fail(&["count"], message));
            }
            let (schedules, notes) = schedules(at, &link, files)?;
            network.notes.extend(notes);
            let [forward, reverse] =
                directions(&link, schedules, copies).map_err(|fault| at.error(&[], fault))?;
            for i in 0..copies {
                let copy = names::copy_of_named(name, link.count, i);
                let number = (network.links.len(), *name);
                if let Some((_, first)) = network.link_index.insert(copy.clone(), number) {
                    let copy = quoted(&copy);
                    let message = conflict!("{copy} is the name of a copy of {first:?} too");
                    return Err(fail(&[], message));
                }
                let (from, to) = (names::copy(&link.from, i), names::copy(&link.to, i));
                if from == to {
                    let message = conflict!("{from:?} is the node that the link comes from");
                    return Err(fail(&["to"], message));
                }
                let (from, to) = (network.node(from), network.node(to));
                network.join(from, to);
                let (forward, reverse) = (forward.clone(), reverse.clone());
                let [from, to] = [from, to].map(|node| NodeId(node as u32));
                network.links.push(LinkSetup { name: copy, from, to, forward, reverse });
            }
        }
        Ok(network)
    }

    /// Stations under satellites, each of which may come to have a path to each other.
    pub(crate) fn of_stations<'n>(names: impl Iterator<Item = &'n str>) -> NetworkPlan<'a> {
        let mut network = NetworkPlan::default();
        for name in names {
            let station = network.node(name.to_owned());
            network.join(0, station);
        }
        network
    }

    /// The number of the node called `name`, or what is there instead.
    pub(crate) fn find(&self, name: &str) -> Result<usize, Fault> {
        self.index.get(name).copied().ok_or_else(|| {
            let nodes: Vec<_> = self.nodes.iter().map(String::as_str).collect();
            let what = if self.links.is_empty() { "a station" } else { "a node that a link names" };
            no_such(what, name, &nodes)
        })
    }

    /// The number of the link called `name`, or what is there instead.
    pub(crate) fn find_link(&self, name: &str) -> Result<usize, Fault> {
        self.link_index.get(name).map(|(number, _)| *number).ok_or_else(|| {
            let links: Vec<_> = self.links.iter().map(|link| link.name.as_str()).collect();
            no_such("a link", name, &links)
        })
    }

    /// Whether links lead from one to the other; they lead both ways.
    pub(crate) fn connected(&mut self, a: usize, b: usize) -> bool {
        self.part(a) == self.part(b)
    }

    fn node(&mut self, name: String) -> usize {
        *self.index.entry(name).or_insert_with_key(|name| {
            self.nodes.push(name.clone());
            self.parent.push(self.parent.len());
            self.parent.len() - 1
        })
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.part(a), self.part(b));
        self.parent[a.max(b)] = a.min(b);
    }

    /// The node that stands for the part of the network that `node` is in.
    fn part(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }
}

/// How each direction changes: as written, or as its trace has it.
fn schedules(
    at: &Place<'_>,
    link: &LinkFile,
    files: &ReadFile<'_>,
) -> Result<([Schedule; 2], impl Iterator<Item = String> + use<>), ScenarioError> {
    let efficiency = link.efficiency.unwrap_or(1.0);
    let there = (at.below(&["trace"]), &link.trace, &link.schedule, efficiency);
    let efficiency = link.reverse.efficiency.unwrap_or(efficiency);
    let back = (at.below(&["reverse", "trace"]), &link.reverse.trace, &link.reverse.schedule, efficiency);
    let schedule = |(at, trace, schedule, efficiency): (Place<'_>, &Option<_>, &Schedule, f64)| match trace {
        Some(_) if !schedule.0.is_empty() => {
            Err(at.error(&[], conflict!("cannot be combined with schedule")))
        }
        Some(trace) => link_trace::schedule(&at, trace, efficiency, files),
        None => Ok((schedule.clone(), None)),
    };
    let ((there, note), (back, other)) = (schedule(there)?, schedule(back)?);
    Ok(([there, back], note.into_iter().chain(other)))
}

fn directions(
    link: &LinkFile,
    [there, back]: [Schedule; 2],
    copies: usize,
) -> Result<[DirectionSetup; 2], Fault> {
    let efficiency = link.efficiency.unwrap_or(1.0);
    let forward = LinkConfig {
        rate: link.rate,
        delay: link.delay,
        efficiency,
        queue: link.queue.unwrap_or_default(),
        loss: link.loss.clone().unwrap_or_default(),
        repair: repair(link.arq, link.fec)?,
        schedule: there,
    };
    let forward = DirectionSetup { link: forward, gateway: link.gateway.clone() };
    check(&forward, copies)?;
    let in_reverse = |fault: Fault| fault.under("reverse");
    let reverse = LinkConfig {
        rate: link.reverse.rate.unwrap_or(link.rate),
        delay: link.reverse.delay.unwrap_or(link.delay),
        efficiency: link.reverse.efficiency.unwrap_or(efficiency),
        queue: link.reverse.queue.unwrap_or(forward.link.queue),
        loss: link.reverse.loss.clone().unwrap_or_default(),
        repair: repair(link.reverse.arq, link.reverse.fec).map_err(in_reverse)?,
        schedule: back,
    };
    let reverse = DirectionSetup { link: reverse, gateway: link.reverse.gateway.clone() };
    check(&reverse, copies).map_err(in_reverse)?;
    Ok([forward, reverse])
}

/// What a direction does about its losses.
fn repair(arq: Option<ArqSpec>, fec: Option<FecSpec>) -> Result<Repair, Fault> {
    match (arq, fec) {
        (None, None) => Ok(Repair::None),
        (Some(arq), None) => Ok(Repair::Arq(arq)),
        (None, Some(fec)) => Ok(Repair::Fec(fec)),
        (Some(_), Some(_)) => Err(conflict!("cannot be combined with arq").under("fec")),
    }
}

pub(super) fn check(DirectionSetup { link, gateway }: &DirectionSetup, copies: usize) -> Result<(), Fault> {
    let LinkConfig { rate, efficiency, .. } = *link;
    too_fast(rate).map_or(Ok(()), |fault| Err(fault.under("rate")))?;
    // What is left below one bit a second would be rounded up to it.
    if (rate.as_bps() as f64 * efficiency) < 1.0 {
        let fault = fault!("a share that leaves at least 1 bit/s of {rate}", "{efficiency:?}");
        return Err(fault.under("efficiency"));
    }
    link.queue.validate().map_err(|fault| fault.under("queue"))?;
    if let Some(gateway) = gateway {
        gateway.validate().map_err(|fault| fault.under("gateway"))?;
        if gateway.needs_limit() && link.queue == QueueSpec::Unlimited {
            return Err(conflict!("needs a queue with a limit, which is \"unlimited\"").under("gateway"));
        }
    }
    link.schedule.validate().map_err(|fault| fault.under("schedule"))?;
    let mut drops = drops(&link.loss);
    for (place, change) in link.schedule.0.iter().enumerate() {
        let in_change = |fault: Fault| fault.under("rate").under(format!("[{place}]")).under("schedule");
        let rate = change.rate.unwrap_or(rate);
        too_fast(rate).map_or(Ok(()), |fault| Err(in_change(fault)))?;
        if (rate.as_bps() as f64 * efficiency) < 1.0 {
            let expected = format!("a rate of which the efficiency {efficiency:?} leaves at least 1 bit/s");
            return Err(in_change(Fault::value(expected, rate.to_string())));
        }
        drops = drops.saturating_add(change.loss.as_ref().map_or(0, self::drops));
    }
    if drops.saturating_mul(copies) > MAX_DROPS {
        let fault = fault!("at most {MAX_DROPS} packets over all copies of the link", "more");
        return Err(fault.under("packets").under("loss"));
    }
    Ok(())
}

pub(super) fn too_fast(rate: Rate) -> Option<Fault> {
    (rate > MAX_RATE).then(|| fault!("a rate of at most {MAX_RATE}", "{rate}"))
}

/// Packets that a drop list names.
fn drops(loss: &LossSpec) -> usize {
    match loss {
        LossSpec::Drop { packets, .. } => packets.len(),
        _ => 0,
    }
}
