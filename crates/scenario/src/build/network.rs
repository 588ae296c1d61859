//! From the links as written to nodes, links and who can reach whom.

use std::collections::HashMap;

use bentpipe_net::{DirectionSetup, LinkSetup, NodeId};
use bentpipe_path::{ArqSpec, FecSpec, LinkConfig, LossSpec, QueueSpec, Repair, Schedule};
use bentpipe_units::{Fault, Problem, Rate, Span, Written, conflict, fault, quoted};

use crate::keys::{DirectionFile, LinkFile, MAX_COPIES, keys_of, names, no_such, no_such_key};
use crate::model::MAX_RATE;
use crate::text::{Document, Node, Place, ReadFile, ScenarioError, Value};
use crate::trace;

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
            let (link, forward) = read(at, link)?;
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
            let (schedules, notes) = schedules(at, &forward, &link.reverse, files)?;
            network.notes.extend(notes);
            let [there, back] = schedules;
            let forward = direction(&forward, None, there, copies).map_err(|fault| at.error(&[], fault))?;
            let reverse = direction(&link.reverse, Some(&forward.link), back, copies);
            let reverse = reverse.map_err(|fault| at.error(&["reverse"], fault))?;
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

/// The link in `node`, which is as what stands at `at`, and its direction forward.
fn read(at: &Place<'_>, node: &Node) -> Result<(LinkFile, DirectionFile), ScenarioError> {
    let (own, others) = (keys_of::<LinkFile>(), keys_of::<DirectionFile>());
    let [mut link, mut forward] = [node.clone(), node.clone()];
    if let (Some(link), Some(forward)) = (link.table_mut(), forward.table_mut()) {
        link.retain(|key, _| !others.contains(&key.as_str()));
        forward.retain(|key, _| others.contains(&key.as_str()));
        if let Some(key) = link.keys().find(|key| !own.contains(&key.as_str())) {
            return Err(at.error(&[key], no_such_key(key, &[own, others].concat())));
        }
    }
    // A value that is wrong is named before a key that is missing.
    let forward = at.read_from(&forward)?;
    Ok((at.read_from(&link)?, forward))
}

/// How each direction changes: as written, or as its trace has it.
fn schedules(
    at: &Place<'_>,
    forward: &DirectionFile,
    reverse: &DirectionFile,
    files: &ReadFile<'_>,
) -> Result<([Schedule; 2], impl Iterator<Item = String> + use<>), ScenarioError> {
    let schedule = |at: Place<'_>, file: &DirectionFile, efficiency: f64| match &file.trace {
        Some(_) if !file.schedule.0.is_empty() => {
            Err(at.error(&[], conflict!("cannot be combined with schedule")))
        }
        Some(file) => trace::schedule(&at, file, efficiency, files),
        None => Ok((file.schedule.clone(), None)),
    };
    let efficiency = forward.efficiency.unwrap_or(1.0);
    let (there, note) = schedule(at.below(&["trace"]), forward, efficiency)?;
    let efficiency = reverse.efficiency.unwrap_or(efficiency);
    let (back, other) = schedule(at.below(&["reverse", "trace"]), reverse, efficiency)?;
    Ok(([there, back], note.into_iter().chain(other)))
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

fn too_fast(rate: Rate) -> Option<Fault> {
    (rate > MAX_RATE).then(|| fault!("a rate of at most {MAX_RATE}", "{rate}"))
}

/// Packets that a drop list names.
fn drops(loss: &LossSpec) -> usize {
    match loss {
        LossSpec::Drop { packets, .. } => packets.len(),
        _ => 0,
    }
}
