//! The route of least delay from node to node, then of fewest hops, then of the lowest link numbers, over the links that are
//! asked for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bentpipe_units::Span;

use crate::{LinkId, NodeId, Topology};

/// The delay of a link that carries nothing; a sum of many is still a number.
const DOWN: u64 = 1 << 58;

struct Edge {
    link: LinkId,
    to: usize,
    delay: u64,
}

/// For each node, the last edge of the path to it: (link, previous node).
type Tree = Vec<Option<(LinkId, usize)>>;

/// Finds routes through a topology.
pub struct Router {
    edges: Vec<Vec<Edge>>,
    /// Per link, the nodes that it joins.
    joins: Vec<(usize, usize)>,
    /// Per direction of a link, its delay in nanoseconds.
    delays: Vec<u64>,
    /// Per node, the tree from it, where one was asked for.
    trees: Vec<Option<Tree>>,
}

impl Router {
    /// For routes through `topology`, with the delays that it is set up with.
    pub fn new(topology: &Topology) -> Router {
        let nanos = |delay: Span| delay.as_nanos();
        let mut edges: Vec<Vec<Edge>> = (0..topology.nodes).map(|_| Vec::new()).collect();
        for (index, link) in topology.links.iter().enumerate() {
            let (from, to) = (link.from.index(), link.to.index());
            let delay = nanos(link.forward.link.delay);
            edges[from].push(Edge { link: LinkId::forward(index), to, delay });
            let delay = nanos(link.reverse.link.delay);
            edges[to].push(Edge { link: LinkId::reverse(index), to: from, delay });
        }
        let joins = topology.links.iter().map(|link| (link.from.index(), link.to.index())).collect();
        let delays = topology.directions().map(|(_, direction)| nanos(direction.link.delay)).collect();
        let trees = vec![None; topology.nodes];
        Router { edges, joins, delays, trees }
    }

    /// From now on `link` has another delay, or, without one, carries nothing: no route takes it then but over `via`, or where
    /// it is a host's only link.
    pub fn set_delay(&mut self, link: LinkId, delay: Option<Span>) {
        let delay = delay.map_or(DOWN, Span::as_nanos);
        self.delays[link.index()] = delay;
        for edge in self.edges.iter_mut().flatten().filter(|edge| edge.link == link) {
            edge.delay = delay;
        }
        self.trees.fill(None);
    }

    /// The route from node `from` to node `to` over the links `via`, places in the topology, in their order and each in the
    /// better direction; none when there is none.
    pub fn route(
        &mut self,
        from: NodeId,
        to: NodeId,
        via: impl Iterator<Item = usize>,
    ) -> Option<Vec<LinkId>> {
        let (from, to) = (from.index(), to.index());
        let mut via = via.peekable();
        if via.peek().is_none() {
            return self.path(from, to);
        }
        let mut routes = vec![(from, Vec::new())];
        for link in via {
            let (a, b) = self.joins[link];
            routes = [(a, LinkId::forward(link), b), (b, LinkId::reverse(link), a)]
                .into_iter()
                .filter_map(|(enter, number, leave)| {
                    let mut route = self.best(&routes, enter)?;
                    route.push(number);
                    Some((leave, route))
                })
                .collect();
        }
        self.best(&routes, to)
    }

    /// The best of `routes`, each with the node that it has come to, continued to node `to`.
    fn best(&mut self, routes: &[(usize, Vec<LinkId>)], to: usize) -> Option<Vec<LinkId>> {
        let continued = routes.iter().filter_map(|(node, route)| {
            let rest = if *node == to { Vec::new() } else { self.path(*node, to)? };
            Some([route.as_slice(), &rest].concat())
        });
        let continued: Vec<_> = continued.collect();
        let cost = |route: &Vec<LinkId>| {
            (route.iter().map(|link| self.delays[link.index()]).sum::<u64>(), route.len())
        };
        continued.into_iter().min_by_key(cost)
    }

    /// The links from node `from` to node `to`, or none when there is no path.
    fn path(&mut self, from: usize, to: usize) -> Option<Vec<LinkId>> {
        let mut path = Vec::new();
        let mut root = from;
        // A host with one link shares the tree of the node behind it: a thousand hosts at one router need one tree.
        if let [only] = &self.edges[from][..] {
            path.push(only.link);
            root = only.to;
        }
        let tree = match self.trees[root].take() {
            Some(tree) => tree,
            None => self.tree(root),
        };
        let tree = self.trees[root].insert(tree);
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
            for edge in self.edges[node].iter().filter(|edge| edge.delay != DOWN) {
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
