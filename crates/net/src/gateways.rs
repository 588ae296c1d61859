//! Gateways at the nodes: each sees what enters the link that it guards, and what comes out of the opposite direction. Those that
//! are agents are in [`agents`](crate::agents).

use bentpipe_path::gateway::{Direction, Gateway, GatewaySpec, LinkView};
use bentpipe_path::{Link, QueueSpec};
use bentpipe_units::Time;

use crate::carried::Meeting;
use crate::{Carried, LinkId, Topology};

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
        let guards = topology.directions().filter_map(|(link, direction)| {
            let spec = direction.gateway.as_ref()?;
            Some(Guard {
                gateway: Gateway::new(spec)?,
                link,
                buffer_bytes: buffer_bytes(&direction.link.queue, spec),
            })
        });
        Gateways { guards: guards.collect(), names }
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
        let link = LinkView { rate: link.rate(), buffer_bytes: *buffer_bytes, queued_bytes };
        packet.show(&self.names, ttl, way, Meeting { gateway, now, link });
    }
}

pub(crate) fn buffer_bytes(queue: &QueueSpec, gateway: &GatewaySpec) -> u64 {
    let packets = match queue {
        QueueSpec::Unlimited => return u64::MAX,
        QueueSpec::Bytes(bytes) => return *bytes,
        QueueSpec::Packets(packets) => *packets,
        QueueSpec::Active(active) => active.limit().0,
    };
    u64::from(packets).saturating_mul(gateway.packet().get())
}
