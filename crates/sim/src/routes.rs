//! Routes: the path of least delay from host to host, then of fewest hops, then of the lowest link numbers, over the links
//! that a flow asks for.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::addresses::TTL;
use crate::scenario::Scenario;

/// A step of a path: a link, or something that a packet meets between two links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop(u32);

/// Set when the link of a hop passes its packets on; see [`Routes::mark_passing`].
const PASSES: u32 = 1 << 31;

/// Set beside [`PASSES`] when a hop is no link but a [`Stop`], so that a run without stops need not ask.
const STOP: u32 = 1 << 30;

impl Hop {
    /// The end of a path: the host.
    pub(crate) const ARRIVED: Hop = Hop(u32::MAX >> 1);

    /// The link's number: twice the link's index, plus one for its reverse direction.
    #[inline]
    pub(crate) fn link(self) -> u32 {
        self.0 & !PASSES
    }

    /// Whether what happens to a packet behind this hop is settled when it comes here: a link that passes, or a stop.
    #[inline]
    pub(crate) fn passes(self) -> bool {
        self.0 & PASSES != 0
    }

    /// Of a hop that passes: the number of its stop, if it is one.
    #[inline]
    pub(crate) fn stop(self) -> Option<usize> {
        (self.0 & STOP != 0).then_some((self.0 & !(PASSES | STOP)) as usize)
    }

    fn is_link(self) -> bool {
        self != Hop::ARRIVED && self.0 & (PASSES | STOP) != PASSES | STOP
    }
}

/// What a packet meets between two links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stop {
    /// It is about to enter the link that this gateway guards.
    Forward { gateway: u32, ttl: u8 },
    /// It came out of the opposite direction of the link that this gateway guards.
    Backward { gateway: u32, ttl: u8 },
    /// It came out of a link that its flow has left.
    Left { handover: u32 },
    /// It came out of a link that its flow has kept, and goes on from this hop of the new way.
    Turn { hop: u32 },
}

/// The paths of all flows, one after the other, each ended by [`Hop::ARRIVED`].
#[derive(Debug, Default)]
pub(crate) struct Routes {
    pub(crate) hops: Vec<Hop>,
    pub(crate) stops: Vec<Stop>,
    /// Numbers of the gateways' stops, which many paths share.
    known: HashMap<Stop, Hop>,
    /// The gateway of each guarded direction of a link.
    gateways: HashMap<u32, u32>,
}

struct Edge {
    link: u32,
    to: usize,
    delay: u64,
}

/// For each node, the last edge of the path to it: (link, previous node).
type Tree = Vec<Option<(u32, usize)>>;

pub(crate) struct Router {
    edges: Vec<Vec<Edge>>,
    /// Per link, the nodes that it joins.
    joins: Vec<(usize, usize)>,
    /// Per direction of a link, its delay in nanoseconds.
    delays: Vec<u64>,
    trees: HashMap<usize, Tree>,
}

impl Router {
    pub(crate) fn new(scenario: &Scenario) -> Router {
        let mut edges: Vec<Vec<Edge>> = scenario.nodes.iter().map(|_| Vec::new()).collect();
        for (index, link) in scenario.links.iter().enumerate() {
            let number = 2 * index as u32;
            edges[link.from].push(Edge { link: number, to: link.to, delay: link.forward.delay.as_nanos() });
            edges[link.to].push(Edge {
                link: number + 1,
                to: link.from,
                delay: link.reverse.delay.as_nanos(),
            });
        }
        let joins = scenario.links.iter().map(|link| (link.from, link.to)).collect();
        let directions = scenario.links.iter().flat_map(|link| [&link.forward, &link.reverse]);
        let delays = directions.map(|direction| direction.delay.as_nanos()).collect();
        Router { edges, joins, delays, trees: HashMap::new() }
    }

    /// The links from node `from` to node `to` over the links `via`, in their order and each in the better direction.
    pub(crate) fn way(
        &mut self,
        from: usize,
        to: usize,
        via: impl Iterator<Item = usize>,
    ) -> Option<Vec<u32>> {
        let mut via = via.peekable();
        if via.peek().is_none() {
            return self.path(from, to);
        }
        let mut ways = vec![(from, Vec::new())];
        for link in via {
            let (a, b) = self.joins[link];
            let number = 2 * link as u32;
            ways = [(a, number, b), (b, number + 1, a)]
                .into_iter()
                .filter_map(|(enter, number, leave)| {
                    let mut way = self.best(&ways, enter)?;
                    way.push(number);
                    Some((leave, way))
                })
                .collect();
        }
        self.best(&ways, to)
    }

    /// The best of `ways`, each with the node that it has come to, continued to node `to`.
    fn best(&mut self, ways: &[(usize, Vec<u32>)], to: usize) -> Option<Vec<u32>> {
        let continued = ways.iter().filter_map(|(node, way)| {
            let rest = if *node == to { Vec::new() } else { self.path(*node, to)? };
            Some([way.as_slice(), &rest].concat())
        });
        let continued: Vec<_> = continued.collect();
        let cost =
            |way: &Vec<u32>| (way.iter().map(|link| self.delays[*link as usize]).sum::<u64>(), way.len());
        continued.into_iter().min_by_key(cost)
    }

    /// The links from node `from` to node `to`, or none when there is no path.
    pub(crate) fn path(&mut self, from: usize, to: usize) -> Option<Vec<u32>> {
        let mut path = Vec::new();
        let mut root = from;
        // A host with one link shares the tree of the node behind it: a thousand hosts at one router need one tree.
        if let [only] = &self.edges[from][..] {
            path.push(only.link);
            root = only.to;
        }
        if !self.trees.contains_key(&root) {
            let tree = self.tree(root);
            self.trees.insert(root, tree);
        }
        let tree = &self.trees[&root];
        let first = path.len();
        let mut node = to;
        while node != root {
            let (link, previous) = tree[node]?;
            path.push(link);
            node = previous;
        }
        path[first..].reverse();
        Some(path)
    }

    /// Dijkstra's algorithm from `root`.
    fn tree(&self, root: usize) -> Tree {
        let mut best: Vec<Option<(u64, u32)>> = vec![None; self.edges.len()];
        let mut tree: Tree = vec![None; self.edges.len()];
        let mut queue = BinaryHeap::from([Reverse((0, 0, root))]);
        best[root] = Some((0, 0));
        while let Some(Reverse((delay, hops, node))) = queue.pop() {
            if best[node] != Some((delay, hops)) {
                continue;
            }
            for edge in &self.edges[node] {
                let candidate = (delay + edge.delay, hops + 1);
                if best[edge.to].is_none_or(|known| candidate < known) {
                    best[edge.to] = Some(candidate);
                    tree[edge.to] = Some((edge.link, node));
                    queue.push(Reverse((candidate.0, candidate.1, edge.to)));
                }
            }
        }
        tree
    }
}

impl Routes {
    /// No paths yet; `guarded` are the directions of links that gateways guard, in the order of the gateways.
    pub(crate) fn new(guarded: impl Iterator<Item = u32>) -> Routes {
        Routes { gateways: guarded.zip(0..).collect(), ..Routes::default() }
    }

    /// Marks the links that pass their packets on at once: those whose packets all go on to links that nobody else feeds,
    /// neither another link nor a host. What such a packet meets next is settled when it is sent. Before a stop every
    /// packet comes at its time; the links of the paths that start at `held` may lose their packets to a handover.
    pub(crate) fn mark_passing(&mut self, links: usize, held: &[u32]) {
        // For each link, the only hop before it; a link that several feed, or a host, is shared.
        let mut feeder: Vec<Option<Hop>> = vec![None; links];
        let mut shared = vec![false; links];
        let mut previous = Hop::ARRIVED;
        for hop in &self.hops {
            if hop.is_link() {
                let link = hop.link() as usize;
                let only = *feeder[link].get_or_insert(previous);
                shared[link] |= only != previous || previous == Hop::ARRIVED;
            } else if *hop != Hop::ARRIVED {
                continue;
            }
            previous = *hop;
        }
        let mut passes = vec![true; links];
        for pair in self.hops.windows(2) {
            if pair[0].is_link() && (!pair[1].is_link() || shared[pair[1].link() as usize]) {
                passes[pair[0].link() as usize] = false;
            }
        }
        for start in held {
            let path = self.hops[*start as usize..].iter().take_while(|hop| **hop != Hop::ARRIVED);
            path.filter(|hop| hop.is_link()).for_each(|hop| passes[hop.link() as usize] = false);
        }
        for hop in self.hops.iter_mut().filter(|hop| hop.is_link()) {
            if passes[hop.link() as usize] {
                hop.0 |= PASSES;
            }
        }
    }

    /// Adds a path; returns where it starts.
    pub(crate) fn add(&mut self, path: &[u32]) -> u32 {
        let start = self.hops.len() as u32;
        if self.gateways.is_empty() {
            self.hops.extend(path.iter().map(|link| Hop(*link)));
        } else {
            let mut before = None;
            for (place, link) in path.iter().enumerate() {
                self.add_gateways(before, Some(*link), place);
                self.hops.push(Hop(*link));
                before = Some(*link);
            }
            self.add_gateways(before, None, path.len());
        }
        self.hops.push(Hop::ARRIVED);
        start
    }

    /// The gateways at the node between two links of a path, `place` links behind the host that sends.
    fn add_gateways(&mut self, before: Option<u32>, behind: Option<u32>, place: usize) {
        // The routers before this node: neither the host nor the node itself.
        let ttl = TTL.saturating_sub(place.saturating_sub(1).min(usize::from(TTL) - 1) as u8);
        if let Some(gateway) = before.and_then(|link| self.gateways.get(&(link ^ 1)).copied()) {
            self.add_stop(Stop::Backward { gateway, ttl });
        }
        if let Some(gateway) = behind.and_then(|link| self.gateways.get(&link).copied()) {
            self.add_stop(Stop::Forward { gateway, ttl });
        }
    }

    fn add_stop(&mut self, stop: Stop) {
        let hop = match self.known.get(&stop) {
            Some(hop) => *hop,
            None => {
                let hop = self.stop(stop);
                self.known.insert(stop, hop);
                hop
            }
        };
        self.hops.push(hop);
    }

    fn stop(&mut self, stop: Stop) -> Hop {
        self.stops.push(stop);
        Hop(PASSES | STOP | (self.stops.len() - 1) as u32)
    }

    /// Turns the path at `old` into that at `new` for the packets that are on it: behind each link that both have, on to the
    /// new one; behind each other link, out of the network.
    pub(crate) fn turn(&mut self, old: u32, new: u32, handover: u32) {
        let left = self.stop(Stop::Left { handover });
        let new: Vec<(u32, u32)> = self.links(new).collect();
        let old: Vec<(u32, u32)> = self.links(old).collect();
        for (hop, link) in old {
            let kept = new.iter().find(|(_, other)| *other == link);
            self.hops[hop as usize + 1] = match kept {
                Some((hop, _)) => self.stop(Stop::Turn { hop: hop + 1 }),
                None => left,
            };
        }
    }

    /// The places of a path's links, and their numbers.
    fn links(&self, start: u32) -> impl Iterator<Item = (u32, u32)> {
        let path = (start..).zip(&self.hops[start as usize..]).take_while(|(_, hop)| **hop != Hop::ARRIVED);
        path.filter(|(_, hop)| hop.is_link()).map(|(place, hop)| (place, hop.link()))
    }
}

#[cfg(test)]
impl Routes {
    /// Makes every arrival an event; tells whether any was not.
    pub(crate) fn pass_nothing(&mut self) -> bool {
        let links = || self.hops.iter().filter(|hop| hop.is_link());
        let passing = links().any(|hop| hop.passes());
        self.hops.iter_mut().filter(|hop| hop.is_link()).for_each(|hop| hop.0 &= !PASSES);
        passing
    }
}
