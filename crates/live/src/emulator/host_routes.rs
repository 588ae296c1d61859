//! The routes between every two hosts, and when they change.

use std::collections::VecDeque;

use bentpipe_drive::{FlowPathResult, SatellitePaths, TURNS};
use bentpipe_net::{LeftRoutes, LinkId, Network, NodeId, Probe, RouteId, Router, Topology};
use bentpipe_scenario::Scenario;
use bentpipe_units::Time;

use super::frame::Frame;

/// From one host to another, by their places among the hosts.
pub(super) type Pair = usize;

/// Other routes from a time on.
struct Turn {
    number: usize,
    at: Time,
    moves: Vec<(Pair, RouteId)>,
    loses: bool,
}

/// The routes between stations under satellites, each found when its first packet comes.
struct Sky {
    paths: SatellitePaths,
    /// The nodes that the hosts are.
    nodes: Vec<usize>,
    /// For each path, its two hosts by their places.
    ends: Vec<[usize; 2]>,
    next: Time,
}

/// The routes between hosts.
pub(super) struct HostRoutes {
    hosts: usize,
    sky: Option<Sky>,
    routes: Vec<Option<RouteId>>,
    classes: Vec<u8>,
    turns: VecDeque<Turn>,
    /// By pair.
    left: Vec<LeftRoutes>,
}

/// The flow whose route a pair takes, if the scenario has one.
struct Leader<'a> {
    flow: Option<usize>,
    via: &'a [usize],
    backward: bool,
}

impl HostRoutes {
    /// Adds the routes between `hosts` to `net`. Packets between two hosts take the route of the scenario's first flow between
    /// them, `via` and handovers included; without one, the route of least delay.
    pub(super) fn new<O: Probe<Frame>>(
        scenario: &Scenario,
        topology: &Topology,
        hosts: &[usize],
        net: &mut Network<Frame, O>,
    ) -> HostRoutes {
        let mut router = Router::new(topology);
        let pairs: Vec<(usize, usize)> =
            hosts.iter().flat_map(|from| hosts.iter().map(move |to| (*from, *to))).collect();
        let mut leaders: Vec<Leader<'_>> = pairs.iter().map(|pair| leader(scenario, *pair)).collect();
        let find = |router: &mut Router, leader: &Leader<'_>, (from, to): (usize, usize)| {
            let (from, to) = (NodeId(from as u32), NodeId(to as u32));
            let route = match leader.backward {
                true => router.route(from, to, leader.via.iter().rev().copied()),
                false => router.route(from, to, leader.via.iter().copied()),
            };
            route.filter(|route| !route.is_empty())
        };
        let mut links: Vec<Option<Vec<LinkId>>> =
            leaders.iter().zip(&pairs).map(|(leader, pair)| find(&mut router, leader, *pair)).collect();
        let routes: Vec<_> =
            links.iter().map(|links| links.as_ref().map(|links| net.add_route(links))).collect();
        let classes = leaders.iter().map(|leader| leader.flow.map_or(0, |flow| scenario.flows[flow].class));
        let classes = classes.collect();

        let mut turns = VecDeque::new();
        for turn in bentpipe_drive::turns(scenario, topology) {
            for (flow, via) in turn.handover.into_iter().flat_map(|spec| spec.flows.iter().zip(&spec.via)) {
                for leader in leaders.iter_mut().filter(|leader| leader.flow == Some(*flow)) {
                    leader.via = via;
                }
            }
            for (link, delay) in &turn.delays {
                router.set_delay(*link, *delay);
            }
            let mut moves = Vec::new();
            for (pair, nodes) in pairs.iter().enumerate() {
                // Where nothing leads there any more, the route stays as it is.
                let Some(route) = find(&mut router, &leaders[pair], *nodes) else { continue };
                if links[pair].as_ref() != Some(&route) {
                    moves.push((pair, net.add_route(&route)));
                    links[pair] = Some(route);
                }
            }
            turns.push_back(Turn { number: turn.number, at: turn.at, moves, loses: turn.loses() });
        }
        let mut held = Vec::new();
        if turns.iter().any(|turn| turn.loses) {
            held.extend(routes.iter().copied().flatten());
            held.extend(turns.iter().flat_map(|turn| turn.moves.iter().map(|(_, route)| *route)));
        }
        net.mark_passing(&held);
        let paths = SatellitePaths::over(scenario, scenario.seed, net);
        let sky = paths.map(|paths| Sky {
            next: paths.next_time(),
            paths,
            nodes: hosts.to_vec(),
            ends: Vec::new(),
        });
        HostRoutes {
            hosts: hosts.len(),
            sky,
            left: vec![LeftRoutes::default(); pairs.len()],
            routes,
            classes,
            turns,
        }
    }

    /// The route between two hosts, by their places, and what a priority queue serves its packets by.
    #[inline]
    pub(super) fn between(&self, from: usize, to: usize) -> Option<(RouteId, u8)> {
        let pair = from * self.hosts + to;
        Some((self.routes[pair]?, self.classes[pair]))
    }

    /// Finds the route between two hosts under satellites, if it is not known yet; back is the same.
    #[inline]
    pub(super) fn open<O: Probe<Frame>>(&mut self, from: usize, to: usize, net: &mut Network<Frame, O>) {
        let Some(sky) = &mut self.sky else { return };
        if from == to || self.routes[from * self.hosts + to].is_some() {
            return;
        }
        sky.paths.add_pair(net, [sky.nodes[from], sky.nodes[to]]);
        sky.ends.push([from, to]);
        self.follow_sky();
    }

    /// What the paths between hosts under satellites were like until `end`, with what was lost between each two hosts.
    pub(super) fn paths(&self, names: &[&str], lost: &[[u64; TURNS]], end: Time) -> Vec<FlowPathResult> {
        let Some(sky) = &self.sky else { return Vec::new() };
        let path = |(number, [one, other]): (usize, &[usize; 2])| {
            let pairs = [one * self.hosts + other, other * self.hosts + one].map(|pair| lost[pair]);
            let lost = [0, 1].map(|turn| pairs[0][turn] + pairs[1][turn]);
            sky.paths.result(number, format!("{}, {}", names[*one], names[*other]), lost, end)
        };
        sky.ends.iter().enumerate().map(path).collect()
    }

    /// The names of the links that satellites have had by now.
    pub(super) fn sky_link_names(&self) -> &[String] {
        self.sky.as_ref().map_or(&[], |sky| sky.paths.link_names())
    }

    /// When the next change is.
    pub(super) fn next_time(&self) -> Time {
        let turn = self.turns.front().map_or(Time::NEVER, |turn| turn.at);
        self.sky.as_ref().map_or(turn, |sky| sky.next)
    }

    fn follow_sky(&mut self) {
        let Some(sky) = &mut self.sky else { return };
        while let Some((number, [there, back])) = sky.paths.pop_changed() {
            let [one, other] = sky.ends[number];
            self.routes[one * self.hosts + other] = Some(there);
            self.routes[other * self.hosts + one] = Some(back);
        }
        sky.next = sky.paths.next_time();
    }

    /// What is sent from now on takes the routes of the next change.
    pub(super) fn turn<O: Probe<Frame>>(&mut self, net: &mut Network<Frame, O>) {
        if let Some(sky) = &mut self.sky {
            let at = sky.next;
            net.advance(at);
            sky.paths.advance(net, at);
            return self.follow_sky();
        }
        let Some(turn) = self.turns.pop_front() else { return };
        for (pair, new) in turn.moves {
            if let Some(old) = self.routes[pair].replace(new) {
                self.left[pair].leave(net, old, new, turn.loses.then_some(turn.number as u32));
            }
        }
    }
}

/// The first flow from one node to the other, or back.
fn leader(scenario: &Scenario, (from, to): (usize, usize)) -> Leader<'_> {
    let position = |from, to| scenario.flows.iter().position(|flow| (flow.from, flow.to) == (from, to));
    let (flow, backward) = match position(from, to) {
        None => (position(to, from), true),
        found => (found, false),
    };
    Leader { flow, via: flow.map_or(&[], |flow| &scenario.flows[flow].via), backward }
}
