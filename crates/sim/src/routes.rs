//! Static routes: the path of least delay from host to host, then of fewest hops, then of the lowest link numbers.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::scenario::Scenario;

/// Ends a path in [`Routes::hops`].
pub(crate) const ARRIVED: u32 = u32::MAX;

/// The paths of all flows, one after the other, each ended by [`ARRIVED`].
#[derive(Debug, Default)]
pub(crate) struct Routes {
    /// Link numbers: twice the link's index, plus one for its reverse direction.
    pub(crate) hops: Vec<u32>,
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
    /// Which of `links` links pass their packets on at once: those whose packets all go on to links that nobody else feeds,
    /// neither another link nor a host. What such a packet meets next is settled when it is sent.
    pub(crate) fn passing(&self, links: usize) -> Vec<bool> {
        const HOST: u32 = u32::MAX;
        // For each link, the only one that feeds it; none when there are several.
        let mut feeder: Vec<Option<u32>> = vec![None; links];
        let mut shared = vec![false; links];
        let mut previous = HOST;
        for hop in &self.hops {
            if *hop != ARRIVED {
                let only = feeder[*hop as usize].get_or_insert(previous);
                shared[*hop as usize] |= *only != previous || previous == HOST;
            }
            previous = if *hop == ARRIVED { HOST } else { *hop };
        }
        let mut passing = vec![true; links];
        for pair in self.hops.windows(2) {
            if pair[0] != ARRIVED && (pair[1] == ARRIVED || shared[pair[1] as usize]) {
                passing[pair[0] as usize] = false;
            }
        }
        passing
    }

    /// Adds a path; returns where it starts.
    pub(crate) fn add(&mut self, path: &[u32]) -> u32 {
        let start = self.hops.len() as u32;
        self.hops.extend_from_slice(path);
        self.hops.push(ARRIVED);
        start
    }
}
