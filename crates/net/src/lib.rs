//! The network between hosts: links, routes, gateways, and the packets that are on their way.
//!
//! It is sans-IO and knows no host. A driver injects packets and polls for those that have arrived; the network names the
//! time at which it wants to be polled next. What a packet carries is the driver's: [`Carried`] is all that the network
//! asks of it. A [`Probe`] hears what happens on the way.

mod agents;
mod ahead;
mod calendar;
mod carried;
mod gateways;
mod ids;
mod left;
mod network;
mod probe;
mod router;
mod routes;
mod store;
mod topology;

pub use calendar::Calendar;
pub use carried::{Carried, Meeting};
pub use ids::{LinkId, NodeId, RouteId};
pub use left::LeftRoutes;
pub use network::{Arrived, Network};
pub use probe::{Lost, Probe};
pub use router::Router;
pub use topology::{DirectionSetup, LinkSetup, Topology};

/// TTL of a packet when it leaves its host; each router takes one off.
pub const TTL: u8 = 64;
