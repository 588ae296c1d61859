//! From the links as written to nodes, links and who can reach whom.

use std::collections::HashMap;
use std::sync::Arc;

use bentpipe_net::{DirectionSetup, LinkSetup, NodeId};
use bentpipe_path::{ArqSpec, FecSpec, LinkConfig, LossSpec, QueueSpec, Repair, Schedule};
use bentpipe_units::{Fault, Problem, Under, conflict, ensure, fault, no_such, no_such_key, quoted};

use super::trace;
use crate::keys::{DirectionFile, LinkFile, MAX_COPIES, keys_of, names};
use crate::read::{divided, read};
use crate::text::{Document, Node, ReadFile, Value, dotted};

/// Packet numbers in the drop lists of all copies of a link together.
const MAX_DROPS: usize = 10_000_000;

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
    /// Every link of `document`, checked.
    pub(crate) fn build(document: &'a Document, files: &ReadFile<'_>) -> Result<NetworkPlan<'a>, Fault> {
        let mut network = NetworkPlan::default();
        let links = document.root.entries("links");
        if links.is_empty() {
            return Err(fault!("at least one link, such as [links.satellite]", "none").under("links"));
        }
        for (name, node) in links {
            network.add(name, node, document, files).under(name).under("links")?;
        }
        Ok(network)
    }

    /// Adds the link in `node` and its copies.
    fn add(
        &mut self,
        name: &'a str,
        node: &Node,
        document: &Document,
        files: &ReadFile<'_>,
    ) -> Result<(), Fault> {
        let (link, forward) = link(node).map_err(|fault| changing(node, fault))?;
        let copies = names::copies(link.count);
        let many = || fault!("at most {MAX_COPIES} links in all", "more").under("count");
        ensure!(self.links.len() + copies <= MAX_COPIES, many());
        names::check(name, "a link's name", link.count)?;
        names::check(&link.from, "a node's name", link.count).under("from")?;
        names::check(&link.to, "a node's name", link.count).under("to")?;
        ensure!(
            copies == 1 || names::numbered(&link.from) || names::numbered(&link.to),
            conflict!("needs {{i}} in from or to, so that each copy joins other nodes").under("count")
        );
        let efficiency = forward.efficiency.unwrap_or(1.0);
        let mut schedule = |keys: &[&str], file: &DirectionFile, efficiency| {
            let node = keys.iter().try_fold(node, |node, key| node.get(key));
            let (schedule, note) = schedule(document, node, file, efficiency, files)?;
            let at = [&["links", name], keys].concat();
            self.notes.extend(note.map(|note| format!("{}: {note}", dotted(&at))));
            Ok(schedule)
        };
        let there = schedule(&["trace"], &forward, efficiency).under("trace")?;
        let efficiency = link.reverse.efficiency.unwrap_or(efficiency);
        let back = schedule(&["reverse", "trace"], &link.reverse, efficiency);
        let back = back.under("trace").under("reverse")?;
        let forward = direction(&forward, None, there, copies)?;
        let reverse = direction(&link.reverse, Some(&forward.link), back, copies).under("reverse")?;
        let (forward, reverse) = (Arc::new(forward), Arc::new(reverse));
        for i in 0..copies {
            let copy = names::copy_of_named(name, link.count, i);
            if let Some((_, first)) = self.link_index.insert(copy.clone(), (self.links.len(), name)) {
                return Err(conflict!("{} is the name of a copy of {first:?} too", quoted(&copy)));
            }
            let (from, to) = (names::copy(&link.from, i), names::copy(&link.to, i));
            ensure!(from != to, conflict!("{from:?} is the node that the link comes from").under("to"));
            let (from, to) = (self.node(from), self.node(to));
            self.join(from, to);
            let (forward, reverse) = (forward.clone(), reverse.clone());
            let [from, to] = [from, to].map(|node| NodeId(node as u32));
            self.links.push(LinkSetup { name: copy, from, to, forward, reverse });
        }
        Ok(())
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

/// The link in `node`, and its direction forward.
fn link(node: &Node) -> Result<(LinkFile, DirectionFile), Fault> {
    let (own, others) = (keys_of::<LinkFile>(), keys_of::<DirectionFile>());
    let unknown = |key: &str| no_such_key(key, &[own, others].concat());
    let [forward, link] = divided(node, others, own, unknown)?;
    // A value that is wrong is named before a key that is missing.
    let forward = read(&forward)?;
    Ok((read(&link)?, forward))
}

/// The fault of a link; a rate or a delay that is a list of changes gets a hint.
fn changing(link: &Node, fault: Fault) -> Fault {
    let path: Vec<&str> = fault.path.iter().map(String::as_str).collect();
    let steady = matches!(path[..], ["rate" | "delay"] | ["reverse", "rate" | "delay"]);
    let found = path.iter().try_fold(link, |node, key| node.get(key));
    match found.filter(|_| steady).map(|node| &node.value) {
        Some(Value::Array(_) | Value::Table(_)) => {
            fault.or("what changes during a run stands in schedule, as schedule = [{ at = \"30 s\", ... }]")
        }
        _ => fault,
    }
}

/// How a direction changes, as written or as the trace in `node` has it, and what its reader should know of it.
fn schedule(
    document: &Document,
    node: Option<&Node>,
    file: &DirectionFile,
    efficiency: f64,
    files: &ReadFile<'_>,
) -> Result<(Schedule, Option<String>), Fault> {
    let (Some(trace), Some(node)) = (&file.trace, node) else { return Ok((file.schedule.clone(), None)) };
    ensure!(file.schedule.0.is_empty(), conflict!("cannot be combined with schedule"));
    trace::schedule(document, node, trace, efficiency, files)
}

/// The direction that `file` says, checked; what it leaves out is as `like` has it, but for losses, repair and the gateway.
pub(super) fn direction(
    file: &DirectionFile,
    like: Option<&LinkConfig>,
    schedule: Schedule,
    copies: usize,
) -> Result<DirectionSetup, Fault> {
    let missing = |key: &str| Fault::from(Problem::Missing).under(key);
    let link = LinkConfig {
        rate: file.rate.or(like.map(|like| like.rate)).ok_or_else(|| missing("rate"))?,
        delay: file.delay.or(like.map(|like| like.delay)).ok_or_else(|| missing("delay"))?,
        efficiency: file.efficiency.or(like.map(|like| like.efficiency)).unwrap_or(1.0),
        queue: file.queue.clone().or(like.map(|like| like.queue.clone())).unwrap_or_default(),
        loss: file.loss.clone().unwrap_or_default(),
        repair: repair(file.arq, file.fec)?,
        schedule,
    };
    let direction = DirectionSetup { link, gateway: file.gateway.clone() };
    check(&direction, copies)?;
    Ok(direction)
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

fn check(DirectionSetup { link, gateway }: &DirectionSetup, copies: usize) -> Result<(), Fault> {
    link.validate()?;
    if let Some(gateway) = gateway {
        gateway.validate().under("gateway")?;
        ensure!(
            !gateway.needs_limit() || link.queue != QueueSpec::Unlimited,
            conflict!("needs a queue with a limit, which is \"unlimited\"").under("gateway")
        );
    }
    // Packets that drop lists name.
    let losses = link.schedule.0.iter().filter_map(|change| change.loss.as_ref()).chain([&link.loss]);
    let drops: usize =
        losses.map(|loss| if let LossSpec::Drop { packets, .. } = loss { packets.len() } else { 0 }).sum();
    let many = || fault!("at most {MAX_DROPS} packets over all copies of the link", "more");
    ensure!(drops.saturating_mul(copies) <= MAX_DROPS, many().under("packets").under("loss"));
    Ok(())
}
