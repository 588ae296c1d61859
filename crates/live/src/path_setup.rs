//! What the path of a run is made of: a network, the hosts of both ends in it, and the routes between them.

use std::sync::Arc;

use bentpipe_net::{DirectionSetup, LinkId, LinkSetup, NodeId, Router, Topology};
use bentpipe_path::LinkConfig;
use bentpipe_path::gateway::FlowKey;
use bentpipe_units::{Span, Time};

/// What a [`Path`](crate::path::Path) is made of, for one connection.
#[derive(Clone, Debug)]
pub(crate) struct PathSetup {
    pub(crate) topology: Topology,
    /// The host that the data comes from.
    pub(crate) from: NodeId,
    /// The host that the data goes to.
    pub(crate) to: NodeId,
    /// Links that the data takes, in this order; places in the topology.
    pub(crate) via: Vec<usize>,
    /// In the order of their times.
    pub(crate) handovers: Vec<Handover>,
    /// What a priority queue serves the packets by.
    pub(crate) class: u8,
    /// What the network's clock shows when the run begins.
    pub(crate) start: Time,
    /// What the host writes that the data comes from.
    pub(crate) key: FlowKey,
}

/// The connection takes another route.
#[derive(Clone, Debug)]
pub(crate) struct Handover {
    pub(crate) name: String,
    pub(crate) at: Time,
    /// As [`PathSetup::via`].
    pub(crate) via: Arc<[usize]>,
    /// Whether what is on links that it leaves is lost.
    pub(crate) loses: bool,
}

/// The first host and its first port, and the second, as the simulator numbers them.
const FIRST_TWO: FlowKey =
    FlowKey { source: 0x0a00_0001, destination: 0x0a00_0002, source_port: 49_152, destination_port: 5001 };

impl PathSetup {
    /// Two hosts and one link, `forward` the direction of the data.
    pub(crate) fn direct(forward: &LinkConfig, backward: &LinkConfig) -> PathSetup {
        let setup = |link: &LinkConfig| Arc::new(DirectionSetup { link: link.clone(), gateway: None });
        let (from, to) = (NodeId(0), NodeId(1));
        let link = LinkSetup {
            name: "path".to_owned(),
            from,
            to,
            forward: setup(forward),
            reverse: setup(backward),
        };
        PathSetup {
            topology: Topology { nodes: 2, links: vec![link] },
            from,
            to,
            via: Vec::new(),
            handovers: Vec::new(),
            class: 0,
            start: Time::ZERO,
            key: FIRST_TWO,
        }
    }

    /// The route of the data over the links `via`, and the route back.
    pub(crate) fn routes(&self, router: &mut Router, via: &[usize]) -> [Vec<LinkId>; 2] {
        let there = router.route(self.from, self.to, via.iter().copied());
        let back = router.route(self.to, self.from, via.iter().rev().copied());
        [there.unwrap_or_default(), back.unwrap_or_default()]
    }

    /// The propagation delay from the data's host to the other, at first.
    pub(crate) fn delay(&self) -> Span {
        let [there, _] = self.routes(&mut Router::new(&self.topology), &self.via);
        let directions: Vec<_> = self.topology.directions().collect();
        there.iter().fold(Span::ZERO, |sum, link| sum + directions[link.index()].1.link.delay)
    }

    /// The names of all directions of links, in the order of their ids.
    pub(crate) fn names(&self) -> Vec<String> {
        let links = self.topology.links.iter();
        links.flat_map(|link| [link.name.clone(), format!("{}/reverse", link.name)]).collect()
    }
}
