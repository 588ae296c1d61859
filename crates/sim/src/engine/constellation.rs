//! Flows over satellites that move: links made when a path first needs them, their delays at each step, and what a change of
//! path does to packets.
//!
//! A pair of stations has one path, which all flows between them take both ways. What a host sends takes the path of that time
//! to its end.

use std::collections::HashMap;
use std::sync::Arc;

use bentpipe_net::{LinkId, LinkSetup, Network, NodeId, RouteId};
use bentpipe_units::{Span, Time};

use super::{Engine, pairs_mut};
use crate::apps::App;
use crate::ids::{Call, FlowId, HandoverId};
use crate::packet::Packet;
use crate::scenario::{ConstellationSpec, InFlight, Scenario};
use crate::sky::{Sky, SkyNode};
use crate::watch::Watch;

/// The number of the event of a step; behind it come those of the pairs whose outage ends.
const STEP: HandoverId = HandoverId(0);

/// The number under which packets count that are lost because their flow has left a link.
const LEFT: u32 = 0;
/// The number under which packets count that their hosts send while they have no path.
const NO_PATH: u32 = 1;
/// How many such numbers there are.
pub(crate) const TURNS: usize = 2;

pub(super) struct Paths {
    spec: Arc<ConstellationSpec>,
    sky: Box<dyn Sky>,
    seed: u64,
    pairs: Vec<Pair>,
    /// The links by the nodes that they join, in the order of their numbers.
    hops: Vec<Hop>,
    numbers: HashMap<[SkyNode; 2], usize>,
    dead: RouteId,
    /// When paths are chosen anew though they still hold.
    next_choice: Time,
    /// From when on links and paths are measured, if not from the start.
    since: Option<Time>,
    measure_waits: bool,
}

/// A link between two neighbours.
struct Hop {
    nodes: [SkyNode; 2],
    delay: Option<Span>,
    /// Paths that it is on.
    used: u32,
}

impl Hop {
    /// From now on it takes so long, or its ends do not see each other.
    fn follow(&mut self, net: &mut Network<Packet, Watch>, number: usize, delay: Option<Span>) {
        if let Some(delay) = delay.filter(|_| delay != self.delay) {
            net.set_delay(LinkId::forward(number), delay);
            net.set_delay(LinkId::reverse(number), delay);
        }
        self.delay = delay;
    }
}

/// Two stations that flows join.
struct Pair {
    stations: [SkyNode; 2],
    /// The flows, each with whether its data goes from the first station to the second.
    flows: Vec<(FlowId, bool)>,
    /// The nodes of the path; none without one.
    nodes: Vec<SkyNode>,
    /// The numbers of its links.
    hops: Vec<usize>,
    /// From the first station to the second, and back.
    routes: [RouteId; 2],
    /// Until then nothing goes, because the path has just changed.
    held_until: Time,
    stats: PathStats,
}

/// What the path of a flow was like.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathStats {
    /// Changes from one path to another.
    pub(crate) handovers: u64,
    /// Time without a path, up to `without_since`.
    pub(crate) without: Span,
    pub(crate) without_since: Option<Time>,
    /// The fewest and the most hops.
    pub(crate) hops: Option<[usize; 2]>,
    /// The round trip's propagation delay at each step with a path, in ns.
    pub(crate) round_trips: Vec<u32>,
    /// The last path that there was.
    last: Vec<SkyNode>,
}

impl PathStats {
    fn lost(&mut self, at: Time) {
        self.without_since.get_or_insert(at);
    }

    fn found(&mut self, at: Time) {
        if let Some(since) = self.without_since.take() {
            self.without += at.since(since);
        }
    }

    /// Notes the path as it is at a step.
    fn note(&mut self, hops: usize, one_way: Span) {
        let [fewest, most] = self.hops.unwrap_or([hops; 2]);
        self.hops = Some([fewest.min(hops), most.max(hops)]);
        self.round_trips.push(u32::try_from(2 * one_way.as_nanos()).unwrap_or(u32::MAX));
    }
}

impl Engine {
    /// Adds the stations' pairs and the paths that they begin with.
    pub(super) fn add_constellation(
        &mut self,
        scenario: &Scenario,
        spec: &Arc<ConstellationSpec>,
        sky: Box<dyn Sky>,
        seed: u64,
    ) {
        let mut pairs: Vec<Pair> = Vec::new();
        let mut known = HashMap::new();
        let dead = self.net.add_dead_end(NO_PATH);
        for (flow, number) in scenario.flows.iter().zip(0..) {
            let (from, to) = (flow.from as SkyNode, flow.to as SkyNode);
            let stations = [from.min(to), from.max(to)];
            let pair = *known.entry(stations).or_insert_with(|| {
                pairs.push(Pair {
                    stations,
                    flows: Vec::new(),
                    nodes: Vec::new(),
                    hops: Vec::new(),
                    routes: [dead; 2],
                    held_until: Time::ZERO,
                    stats: PathStats::default(),
                });
                pairs.len() - 1
            });
            pairs[pair].flows.push((FlowId(number), from == stations[0]));
        }
        let paths = Paths {
            spec: spec.clone(),
            sky,
            seed,
            pairs,
            hops: Vec::new(),
            numbers: HashMap::new(),
            dead,
            next_choice: Time::ZERO,
            since: None,
            measure_waits: scenario.queueing_quantiles,
        };
        self.step_paths(Box::new(paths), Time::ZERO);
    }

    /// A step is due, or the outage of a pair ends.
    pub(super) fn constellation(&mut self, number: HandoverId) {
        let Some(mut paths) = self.paths.take() else { return };
        // The event comes just before its time, so that what is sent at that very time meets what it brings.
        let at = self.net.now() + EVENT_BEFORE;
        if number == STEP {
            return self.step_paths(paths, at);
        }
        let pair = &mut paths.pairs[number.index() - 1];
        if pair.held_until == at {
            if !pair.nodes.is_empty() {
                pair.stats.found(at);
            }
            self.send_over(pair, pair.routes);
        }
        self.paths = Some(paths);
    }

    /// The sky at a time: delays, paths that break, and paths that are chosen anew.
    fn step_paths(&mut self, mut paths: Box<Paths>, at: Time) {
        let all = &mut *paths;
        all.sky.set(at);
        for (number, hop) in all.hops.iter_mut().enumerate().filter(|(_, hop)| hop.used > 0) {
            let delay = all.sky.hop(hop.nodes[0], hop.nodes[1]);
            hop.follow(&mut self.net, number, delay);
        }
        let choose = at >= all.next_choice;
        if choose {
            all.next_choice = all.spec.reconfigure.map_or(Time::NEVER, |every| all.next_choice + every);
        }
        for pair in 0..all.pairs.len() {
            let held = &all.pairs[pair];
            let holds = !held.nodes.is_empty() && held.hops.iter().all(|hop| all.hops[*hop].delay.is_some());
            if !holds || choose {
                let nodes = all.sky.path(held.stations[0], held.stations[1]).unwrap_or_default();
                if nodes != held.nodes || (nodes.is_empty() && at == Time::ZERO) {
                    self.change_path(all, pair, nodes, at);
                }
            }
            let pair = &mut all.pairs[pair];
            if !pair.nodes.is_empty() {
                let delays = pair.hops.iter().filter_map(|hop| all.hops[*hop].delay);
                pair.stats.note(pair.hops.len(), delays.fold(Span::ZERO, |sum, delay| sum + delay));
            }
        }
        let next = at + all.spec.step;
        self.net.probe.timers.push(before(next), Call::Handover(STEP).into());
        self.paths = Some(paths);
    }

    /// A pair takes another path, or has none.
    fn change_path(&mut self, paths: &mut Paths, number: usize, nodes: Vec<SkyNode>, at: Time) {
        let hops: Vec<usize> = nodes.windows(2).map(|ends| self.hop(paths, [ends[0], ends[1]])).collect();
        let pair = &mut paths.pairs[number];
        for hop in &pair.hops {
            paths.hops[*hop].used -= 1;
        }
        for hop in &hops {
            paths.hops[*hop].used += 1;
        }
        let routes = if nodes.is_empty() {
            pair.stats.lost(at);
            [paths.dead; 2]
        } else {
            let way: Vec<LinkId> = hops
                .iter()
                .zip(&nodes)
                .map(|(hop, from)| match paths.hops[*hop].nodes[0] == *from {
                    true => LinkId::forward(*hop),
                    false => LinkId::reverse(*hop),
                })
                .collect();
            let back: Vec<LinkId> = way.iter().rev().map(|link| link.opposite()).collect();
            [self.net.add_route(&way), self.net.add_route(&back)]
        };
        if paths.spec.in_flight == InFlight::Lose && !pair.nodes.is_empty() {
            // Without a path nothing goes on: the dead end has none of the old links.
            for (old, new) in pair.routes.into_iter().zip(routes) {
                self.net.turn(old, new, LEFT);
            }
        }
        pair.routes = routes;
        pair.hops = hops;
        pair.nodes = nodes;
        if pair.nodes.is_empty() {
            return self.send_over(pair, routes);
        }
        let first = pair.stats.last.is_empty();
        let other = !first && pair.stats.last != pair.nodes;
        pair.stats.handovers += u64::from(other);
        pair.stats.last.clone_from(&pair.nodes);
        if first || paths.spec.outage == Span::ZERO {
            pair.stats.found(at);
            return self.send_over(pair, routes);
        }
        pair.stats.lost(at);
        pair.held_until = at + paths.spec.outage;
        let ends = Call::Handover(HandoverId(1 + number as u32));
        self.net.probe.timers.push(before(pair.held_until), ends.into());
        self.send_over(pair, [paths.dead; 2]);
    }

    /// The number of the link between two neighbours, which is made when there is none yet.
    fn hop(&mut self, paths: &mut Paths, [one, other]: [SkyNode; 2]) -> usize {
        let nodes = [one.min(other), one.max(other)];
        let delay = paths.sky.hop(nodes[0], nodes[1]);
        if let Some(number) = paths.numbers.get(&nodes).copied() {
            paths.hops[number].follow(&mut self.net, number, delay);
            return number;
        }
        let name = format!("{}.{}", paths.sky.name(nodes[0]), paths.sky.name(nodes[1]));
        let [forward, reverse] = paths.spec.directions(nodes[0]);
        let [mut forward, mut reverse] = [forward.setup(), reverse.setup()];
        forward.link.delay = delay.unwrap_or_default();
        reverse.link.delay = forward.link.delay;
        let [from, to] = nodes.map(NodeId);
        let number =
            self.net.add_link(&LinkSetup { name: name.clone(), from, to, forward, reverse }, paths.seed);
        for link in [LinkId::forward(number), LinkId::reverse(number)] {
            let link = &mut self.net.links_mut()[link.index()];
            if paths.measure_waits {
                link.measure_waits();
            }
            if let Some(since) = paths.since {
                link.measure_from(since);
            }
        }
        self.link_names.push(name);
        paths.numbers.insert(nodes, number);
        paths.hops.push(Hop { nodes, delay, used: 0 });
        number
    }

    /// What the flows of a pair send from now on takes these routes.
    fn send_over(&mut self, pair: &Pair, routes: [RouteId; 2]) {
        for (flow, forward) in &pair.flows {
            let ways = if *forward { routes } else { [routes[1], routes[0]] };
            let flow = &mut self.flows[flow.index()];
            if let App::Udp(udp) = &mut flow.app {
                udp.route = ways[0];
            }
            for ends in pairs_mut(&mut self.ends, flow) {
                for (end, route) in ends.iter_mut().zip(ways) {
                    end.route = route;
                }
            }
        }
    }

    /// Paths are measured from now on.
    pub(crate) fn measure_paths_from(&mut self, now: Time) {
        let Some(paths) = &mut self.paths else { return };
        paths.since = Some(now);
        for pair in &mut paths.pairs {
            let path = (!pair.nodes.is_empty()).then(|| pair.stats.round_trips.last().copied()).flatten();
            let last = std::mem::take(&mut pair.stats.last);
            let without_since = pair.stats.without_since.map(|_| now);
            pair.stats = PathStats {
                last,
                without_since,
                hops: path.map(|_| [pair.hops.len(); 2]),
                round_trips: path.into_iter().collect(),
                ..PathStats::default()
            };
        }
    }

    /// What the path of each flow was like, in the scenario's order, and the packets that were lost because it had gone, and
    /// because there was none; empty without satellites.
    pub(crate) fn paths(&self) -> Vec<(&PathStats, [u64; TURNS])> {
        let strayed = &self.net.probe.strayed;
        let mut found = Vec::new();
        for pair in self.paths.iter().flat_map(|paths| &paths.pairs) {
            for (id, _) in &pair.flows {
                let flow = &self.flows[id.index()];
                let lines = match &flow.app {
                    App::Udp(udp) => udp.end.connection().index()..udp.end.connection().index() + 1,
                    _ => flow.connections.clone(),
                };
                let lost = strayed[lines].iter().fold([0; TURNS], |[a, b], [c, d]| [a + c, b + d]);
                found.push((*id, (&pair.stats, lost)));
            }
        }
        found.sort_unstable_by_key(|(id, _)| *id);
        found.into_iter().map(|(_, path)| path).collect()
    }
}

/// How long before its time an event comes.
const EVENT_BEFORE: Span = Span::from_nanos(1);

fn before(at: Time) -> Time {
    Time::ZERO + at.since(Time::ZERO).saturating_sub(EVENT_BEFORE)
}

#[cfg(test)]
mod tests;
