//! Paths over satellites that move: links made when a path first needs them, their delays at each step, and what a change of path
//! does to packets.
//!
//! A pair of stations has one path, both ways. What a host sends takes the path of that time to its end.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use bentpipe_net::{Carried, LinkId, LinkSetup, Network, NodeId, Probe, RouteId};
use bentpipe_units::{Span, Time};

use crate::rows::FlowPathResult;
use bentpipe_scenario::{ConstellationSpec, InFlight, Scenario};
use bentpipe_sky::{Sky, SkyNode};

/// The number under which packets count that are lost because their flow has left a link.
const LEFT: u32 = 0;
/// The number under which packets count that their hosts send while they have no path.
const NO_PATH: u32 = 1;
/// How many such numbers there are: the turns of [`bentpipe_net::Lost::Left`].
pub const TURNS: usize = 2;

/// The paths of a scenario's pairs of stations, and the links that they need.
pub struct SatellitePaths {
    spec: Arc<ConstellationSpec>,
    sky: Box<dyn Sky>,
    seed: u64,
    pairs: Vec<Pair>,
    /// The links by the nodes that they join, in the order of their numbers.
    hops: Vec<Hop>,
    names: Vec<String>,
    numbers: HashMap<[SkyNode; 2], usize>,
    dead: RouteId,
    /// When the sky was looked at last, and when it is next.
    now: Time,
    next_step: Time,
    /// When paths are chosen anew though they still hold.
    next_choice: Time,
    /// Pairs whose routes have changed since they were last asked for.
    changed: VecDeque<usize>,
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
    fn follow<P: Carried, O: Probe<P>>(
        &mut self,
        net: &mut Network<P, O>,
        number: usize,
        delay: Option<Span>,
    ) {
        if let Some(delay) = delay.filter(|_| delay != self.delay) {
            net.set_delay(LinkId::forward(number), delay);
            net.set_delay(LinkId::reverse(number), delay);
        }
        self.delay = delay;
    }
}

/// Two stations that packets go between.
struct Pair {
    stations: [SkyNode; 2],
    /// The nodes of the path; none without one.
    nodes: Vec<SkyNode>,
    /// The numbers of its links.
    hops: Vec<usize>,
    /// From the first station to the second, and back.
    routes: [RouteId; 2],
    /// Until then nothing goes, because the path has just changed; never but in an outage.
    held_until: Time,
    stats: PathStats,
}

/// What the path of a pair was like.
#[derive(Clone, Debug, Default)]
struct PathStats {
    /// Changes from one path to another.
    handovers: u64,
    /// Time without a path, up to `without_since`.
    without: Span,
    without_since: Option<Time>,
    /// The fewest and the most hops.
    hops: Option<[usize; 2]>,
    /// The round trip's propagation delay at each step with a path, in ns.
    round_trips: Vec<u32>,
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

    fn result(
        &self,
        flow: String,
        [left_packets, no_path_packets]: [u64; TURNS],
        end: Time,
    ) -> FlowPathResult {
        let since = self.without_since.map_or(Span::ZERO, |since| end.since(since));
        let mut sorted = self.round_trips.clone();
        sorted.sort_unstable();
        let seconds = |nanos: Option<&u32>| nanos.map(|nanos| f64::from(*nanos) / 1e9);
        let hops = self.hops.map(|hops| hops.map(|hops| hops as u64));
        FlowPathResult {
            flow,
            handovers: self.handovers,
            no_path_s: (self.without + since).as_secs(),
            hops_min: hops.map(|[fewest, _]| fewest),
            hops_max: hops.map(|[_, most]| most),
            rtt_min_s: seconds(sorted.first()),
            rtt_median_s: seconds(sorted.get(sorted.len().saturating_sub(1) / 2)),
            rtt_max_s: seconds(sorted.last()),
            left_packets,
            no_path_packets,
        }
    }
}

impl SatellitePaths {
    /// The satellites of `scenario` as they are at its start, without a pair yet; none without a constellation.
    pub fn over<P: Carried, O: Probe<P>>(
        scenario: &Scenario,
        seed: u64,
        net: &mut Network<P, O>,
    ) -> Option<SatellitePaths> {
        let spec = scenario.constellation.as_ref()?;
        Some(SatellitePaths::under(spec.sky.start(), scenario, spec, seed, net))
    }

    /// [`SatellitePaths::over`] under a sky of the caller's.
    pub fn under<P: Carried, O: Probe<P>>(
        sky: Box<dyn Sky>,
        scenario: &Scenario,
        spec: &Arc<ConstellationSpec>,
        seed: u64,
        net: &mut Network<P, O>,
    ) -> SatellitePaths {
        let mut paths = SatellitePaths {
            spec: spec.clone(),
            sky,
            seed,
            pairs: Vec::new(),
            hops: Vec::new(),
            names: Vec::new(),
            numbers: HashMap::new(),
            dead: net.add_dead_end(NO_PATH),
            now: Time::ZERO,
            next_step: Time::ZERO,
            next_choice: Time::ZERO,
            changed: VecDeque::new(),
            since: None,
            measure_waits: scenario.queueing_quantiles,
        };
        paths.step(net, Time::ZERO);
        paths
    }

    /// Adds the path between two stations, by their numbers among the scenario's nodes; returns the pair's number.
    pub fn add_pair<P: Carried, O: Probe<P>>(
        &mut self,
        net: &mut Network<P, O>,
        stations: [usize; 2],
    ) -> usize {
        let number = self.pairs.len();
        self.pairs.push(Pair {
            stations: stations.map(|station| station as SkyNode),
            nodes: Vec::new(),
            hops: Vec::new(),
            routes: [self.dead; 2],
            held_until: Time::NEVER,
            stats: PathStats::default(),
        });
        let nodes = self.find(number);
        self.change(net, number, nodes, self.now);
        self.note(number);
        number
    }

    fn find(&mut self, number: usize) -> Vec<SkyNode> {
        let [one, other] = self.pairs[number].stations;
        self.sky.path(one, other).unwrap_or_default()
    }

    /// Notes the path of a pair as it is at a step.
    fn note(&mut self, number: usize) {
        let pair = &mut self.pairs[number];
        if !pair.nodes.is_empty() {
            let delays = pair.hops.iter().filter_map(|hop| self.hops[*hop].delay);
            pair.stats.note(pair.hops.len(), delays.fold(Span::ZERO, |sum, delay| sum + delay));
        }
    }

    /// When a step is due, or the outage of a pair ends.
    pub fn next_time(&self) -> Time {
        self.pairs.iter().map(|pair| pair.held_until).fold(self.next_step, Time::min)
    }

    /// When the next step is due.
    pub fn next_step(&self) -> Time {
        self.next_step
    }

    /// Until when nothing goes between the stations of a pair; never but in an outage.
    pub fn held_until(&self, pair: usize) -> Time {
        self.pairs[pair].held_until
    }

    /// The routes of all pairs, both ways, also of those that are in an outage.
    pub fn routes(&self) -> Vec<RouteId> {
        self.pairs.iter().flat_map(|pair| pair.routes).collect()
    }

    /// A pair whose routes have changed, by its number: from its first station to its second, and back. Ask until there is none.
    pub fn pop_changed(&mut self) -> Option<(usize, [RouteId; 2])> {
        let number = self.changed.pop_front()?;
        let pair = &self.pairs[number];
        Some((number, if pair.held_until < Time::NEVER { [self.dead; 2] } else { pair.routes }))
    }

    /// Does what is due at a time: outages that end, then the sky, in which delays change, paths break, and others are chosen.
    pub fn advance<P: Carried, O: Probe<P>>(&mut self, net: &mut Network<P, O>, at: Time) {
        for number in 0..self.pairs.len() {
            self.release(number, at);
        }
        if at >= self.next_step {
            self.step(net, at);
        }
    }

    /// The outage of a pair ends, if that is due.
    pub fn release(&mut self, number: usize, at: Time) {
        let pair = &mut self.pairs[number];
        if pair.held_until > at {
            return;
        }
        pair.held_until = Time::NEVER;
        if !pair.nodes.is_empty() {
            pair.stats.found(at);
        }
        self.changed.push_back(number);
    }

    /// The sky at a time.
    pub fn step<P: Carried, O: Probe<P>>(&mut self, net: &mut Network<P, O>, at: Time) {
        (self.now, self.next_step) = (at, at + self.spec.sky.step);
        self.sky.set(at);
        for (number, hop) in self.hops.iter_mut().enumerate().filter(|(_, hop)| hop.used > 0) {
            let delay = self.sky.hop(hop.nodes[0], hop.nodes[1]);
            hop.follow(net, number, delay);
        }
        let choose = at >= self.next_choice;
        if choose {
            self.next_choice =
                self.spec.sky.reconfigure.map_or(Time::NEVER, |every| self.next_choice + every);
        }
        for number in 0..self.pairs.len() {
            let pair = &self.pairs[number];
            let holds = !pair.nodes.is_empty() && pair.hops.iter().all(|hop| self.hops[*hop].delay.is_some());
            if !holds || choose {
                let nodes = self.find(number);
                if nodes != self.pairs[number].nodes {
                    self.change(net, number, nodes, at);
                }
            }
            self.note(number);
        }
    }

    /// A pair takes another path, or has none.
    fn change<P: Carried, O: Probe<P>>(
        &mut self,
        net: &mut Network<P, O>,
        number: usize,
        nodes: Vec<SkyNode>,
        at: Time,
    ) {
        let hops: Vec<usize> = nodes.windows(2).map(|ends| self.hop(net, [ends[0], ends[1]])).collect();
        let pair = &mut self.pairs[number];
        for hop in &pair.hops {
            self.hops[*hop].used -= 1;
        }
        for hop in &hops {
            self.hops[*hop].used += 1;
        }
        let routes = if nodes.is_empty() {
            pair.stats.lost(at);
            [self.dead; 2]
        } else {
            let there: Vec<LinkId> = hops
                .iter()
                .zip(&nodes)
                .map(|(hop, from)| match self.hops[*hop].nodes[0] == *from {
                    true => LinkId::forward(*hop),
                    false => LinkId::reverse(*hop),
                })
                .collect();
            let back: Vec<LinkId> = there.iter().rev().map(|link| link.opposite()).collect();
            [net.add_route(&there), net.add_route(&back)]
        };
        if self.spec.in_flight == InFlight::Lose && !pair.nodes.is_empty() {
            // Without a path nothing goes on: the dead end has none of the old links.
            for (old, new) in pair.routes.into_iter().zip(routes) {
                net.turn(old, new, LEFT);
            }
        }
        pair.routes = routes;
        pair.hops = hops;
        pair.nodes = nodes;
        self.changed.push_back(number);
        if pair.nodes.is_empty() {
            return;
        }
        let first = pair.stats.last.is_empty();
        let other = !first && pair.stats.last != pair.nodes;
        pair.stats.handovers += u64::from(other);
        pair.stats.last.clone_from(&pair.nodes);
        if first || self.spec.sky.outage == Span::ZERO {
            return pair.stats.found(at);
        }
        pair.stats.lost(at);
        pair.held_until = at + self.spec.sky.outage;
    }

    /// The number of the link between two neighbours, which is made when there is none yet.
    fn hop<P: Carried, O: Probe<P>>(&mut self, net: &mut Network<P, O>, [one, other]: [SkyNode; 2]) -> usize {
        let nodes = [one.min(other), one.max(other)];
        let delay = self.sky.hop(nodes[0], nodes[1]);
        if let Some(number) = self.numbers.get(&nodes).copied() {
            self.hops[number].follow(net, number, delay);
            return number;
        }
        let name = format!("{}.{}", self.sky.name(nodes[0]), self.sky.name(nodes[1]));
        let [forward, reverse] = self.spec.directions(nodes[0]);
        let [mut forward, mut reverse] = [forward.clone(), reverse.clone()];
        forward.link.delay = delay.unwrap_or_default();
        reverse.link.delay = forward.link.delay;
        let [from, to] = nodes.map(NodeId);
        let [forward, reverse] = [forward, reverse].map(Arc::new);
        let number = net.add_link(&LinkSetup { name: name.clone(), from, to, forward, reverse }, self.seed);
        for link in [LinkId::forward(number), LinkId::reverse(number)] {
            let link = &mut net.links_mut()[link.index()];
            if self.measure_waits {
                link.measure_waits();
            }
            if let Some(since) = self.since {
                link.measure_from(since);
            }
        }
        self.names.push(name);
        self.numbers.insert(nodes, number);
        self.hops.push(Hop { nodes, delay, used: 0 });
        number
    }

    /// The names of the links that there are by now, in the order of their numbers.
    pub fn link_names(&self) -> &[String] {
        &self.names
    }

    /// Paths are measured from now on.
    pub fn measure_from(&mut self, now: Time) {
        self.since = Some(now);
        for pair in &mut self.pairs {
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

    /// What the path of a pair was like until `end`, under the name of a flow, of whose packets so many were lost by its turns.
    pub fn result(&self, pair: usize, flow: String, lost: [u64; TURNS], end: Time) -> FlowPathResult {
        self.pairs[pair].stats.result(flow, lost, end)
    }
}
