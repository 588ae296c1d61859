//! Ids of nodes, links and routes.

/// A node, by its number in the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Its place among all nodes.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One direction of a link, which is what a [`Link`](bentpipe_path::Link) is.
///
/// Directions are in the order of the topology's links, forward before reverse; events at one time come in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(u32);

impl LinkId {
    /// The first of all.
    pub const FIRST: LinkId = LinkId(0);

    /// From the first node of the topology's link number `link` to the second.
    pub fn forward(link: usize) -> LinkId {
        LinkId(2 * link as u32)
    }

    /// From the second node of the topology's link number `link` to the first.
    pub fn reverse(link: usize) -> LinkId {
        LinkId::forward(link).opposite()
    }

    /// The other direction of the same link.
    pub fn opposite(self) -> LinkId {
        LinkId(self.0 ^ 1)
    }

    /// Its place among all directions of links.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The direction at a place among all; behind them, what else has events.
    pub(crate) fn at(index: usize) -> LinkId {
        LinkId(index as u32)
    }

    #[inline]
    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    #[inline]
    pub(crate) fn from_bits(bits: u32) -> LinkId {
        LinkId(bits)
    }
}

/// A route, by its first place in the route table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RouteId(pub(crate) u32);
