//! The topology of a network, and the settings of its links.

use std::sync::Arc;

use bentpipe_path::LinkConfig;
use bentpipe_path::gateway::GatewaySpec;

use crate::{LinkId, NodeId};

/// Nodes, and the links between them.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// How many nodes there are.
    pub nodes: usize,
    /// The links, known by their place here.
    pub links: Vec<LinkSetup>,
}

/// A link between two nodes; each direction is set up by itself.
#[derive(Clone, Debug)]
pub struct LinkSetup {
    /// A name of its own, from which its random streams are derived.
    pub name: String,
    /// One node.
    pub from: NodeId,
    /// The other node.
    pub to: NodeId,
    /// `from` to `to`; many links may share what sets them up.
    pub forward: Arc<DirectionSetup>,
    /// `to` to `from`.
    pub reverse: Arc<DirectionSetup>,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct DirectionSetup {
    /// The link.
    pub link: LinkConfig,
    /// The gateway that guards it.
    pub gateway: Option<GatewaySpec>,
}

impl Topology {
    /// The directions of all links in the order of their ids.
    pub fn directions(&self) -> impl Iterator<Item = (LinkId, &DirectionSetup)> {
        let directions = self.links.iter().flat_map(|link| [&*link.forward, &*link.reverse]);
        directions.enumerate().map(|(index, direction)| (LinkId::at(index), direction))
    }
}
