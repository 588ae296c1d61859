//! Gateways at the nodes: each sees what enters the link that it guards, and what comes out of the opposite direction. Those that
//! are agents are in [`agents`](crate::agents).

use bentpipe_path::gateway::{Direction, Gateway, GatewaySpec, LinkView};
use bentpipe_path::{Link, QueueSpec};
use bentpipe_units::Time;

use crate::carried::Meeting;
use crate::{Carried, DirectionSetup, LinkId, Topology};

pub(crate) struct Gateways<N> {
    guards: Vec<Guard>,
    /// What all packets share.
    names: N,
}

/// A gateway and the direction of a link that it guards.
struct Guard {
    gateway: Gateway,
    link: LinkId,
    buffer_bytes: u64,
}

impl<N> Gateways<N> {
    pub(crate) fn new(topology: &Topology, names: N) -> Gateways<N> {
        let mut gateways = Gateways { guards: Vec::new(), names };
        for (link, direction) in topology.directions() {
            gateways.add(link, direction);
        }
        gateways
    }

    /// Adds what guards a direction of a link; returns whether anything does.
    pub(crate) fn add(&mut self, link: LinkId, direction: &DirectionSetup) -> bool {
        let Some(spec) = &direction.gateway else { return false };
        let buffer_bytes = buffer_bytes(&direction.link.queue, spec);
        // An agent is none: it keeps packets, and stands in the network itself.
        let Some(gateway) = Gateway::new(spec) else { return false };
        self.guards.push(Guard { gateway, link, buffer_bytes });
        true
    }

    /// The guarded directions, in the order of their gateways.
    pub(crate) fn guarded(&self) -> impl Iterator<Item = LinkId> {
        self.guards.iter().map(|guard| guard.link)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (LinkId, &Gateway)> {
        self.guards.iter().map(|guard| (guard.link, &guard.gateway))
    }

    /// What the packets share.
    pub(crate) fn names(&self) -> &N {
        &self.names
    }

    /// Shows a packet to a gateway.
    pub(crate) fn show<P: Carried<Names = N>>(
        &mut self,
        gateway: u32,
        way: Direction,
        ttl: u8,
        packet: &mut P,
        links: &mut [Link],
        now: Time,
    ) {
        let Guard { gateway, link, buffer_bytes } = &mut self.guards[gateway as usize];
        let link = &mut links[link.index()];
        let queued_bytes = link.queue_bytes(now);
        let link = LinkView { rate: link.carries(now), buffer_bytes: *buffer_bytes, queued_bytes };
        packet.show(&self.names, ttl, way, Meeting { gateway, now, link });
    }
}

fn buffer_bytes(queue: &QueueSpec, gateway: &GatewaySpec) -> u64 {
    let packets = match queue {
        QueueSpec::Unlimited => return u64::MAX,
        QueueSpec::Bytes(bytes) => return *bytes,
        QueueSpec::Packets(packets) => *packets,
        QueueSpec::Active(active) => active.limit().0,
    };
    u64::from(packets).saturating_mul(gateway.packet().get())
}
