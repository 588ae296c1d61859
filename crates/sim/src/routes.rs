//! Static routes: the path of least delay from host to host, then of fewest hops, then of the lowest link numbers.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::scenario::Scenario;

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop(u32);

/// Set when the link of a hop passes its packets on; see [`Routes::mark_passing`].
const PASSES: u32 = 1 << 31;

impl Hop {
    /// The end of a path: the host.
    pub(crate) const ARRIVED: Hop = Hop(u32::MAX >> 1);

    /// The link's number: twice the link's index, plus one for its reverse direction.
    #[inline]
    pub(crate) fn link(self) -> u32 {
        self.0 & !PASSES
    }

    /// Whether what happens to a packet behind this link is settled when it is sent.
    #[inline]
    pub(crate) fn passes(self) -> bool {
        self.0 & PASSES != 0
    }
}

/// The paths of all flows, one after the other, each ended by [`Hop::ARRIVED`].
#[derive(Debug, Default)]
pub(crate) struct Routes {
    pub(crate) hops: Vec<Hop>,
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
        Router { edges, trees: HashMap::new() }
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
    /// Marks the links that pass their packets on at once: those whose packets all go on to links that nobody else feeds,
    /// neither another link nor a host. What such a packet meets next is settled when it is sent.
    pub(crate) fn mark_passing(&mut self, links: usize) {
        // For each link, the only hop before it; a link that several feed, or a host, is shared.
        let mut feeder: Vec<Option<Hop>> = vec![None; links];
        let mut shared = vec![false; links];
        let mut previous = Hop::ARRIVED;
        for hop in &self.hops {
            if *hop != Hop::ARRIVED {
                let link = hop.link() as usize;
                let only = *feeder[link].get_or_insert(previous);
                shared[link] |= only != previous || previous == Hop::ARRIVED;
            }
            previous = *hop;
        }
        let mut passes = vec![true; links];
        for pair in self.hops.windows(2) {
            if pair[0] != Hop::ARRIVED && (pair[1] == Hop::ARRIVED || shared[pair[1].link() as usize]) {
                passes[pair[0].link() as usize] = false;
            }
        }
        for hop in self.hops.iter_mut().filter(|hop| **hop != Hop::ARRIVED) {
            if passes[hop.link() as usize] {
                hop.0 |= PASSES;
            }
        }
    }

    /// Adds a path; returns where it starts.
    pub(crate) fn add(&mut self, path: &[u32]) -> u32 {
        let start = self.hops.len() as u32;
        self.hops.extend(path.iter().map(|link| Hop(*link)));
        self.hops.push(Hop::ARRIVED);
        start
    }
}

#[cfg(test)]
impl Routes {
    /// Makes every arrival an event; tells whether any was not.
    pub(crate) fn pass_nothing(&mut self) -> bool {
        let passing = self.hops.iter().any(|hop| hop.passes());
        self.hops.iter_mut().for_each(|hop| hop.0 &= !PASSES);
        passing
    }
}
