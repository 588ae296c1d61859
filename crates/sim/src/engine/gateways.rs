//! Gateways in the event loop: a stop before the link that one guards, and one behind the opposite direction.

use bentpipe_path::gateway::{FlowKey, Gateway, GatewaySpec, Header, LinkView};
use bentpipe_path::{PacketId, QueueSpec};
use bentpipe_tcp::Flags;
use bentpipe_units::{Rate, Time};

use super::{Link, Network};
use crate::addresses;
use crate::routes::Stop;
use crate::scenario::Scenario;

#[derive(Default)]
pub(super) struct Gateways {
    guards: Vec<Guard>,
    /// What each end writes into its packets; empty when there is no gateway.
    keys: Vec<FlowKey>,
}

/// A gateway and the direction of a link that it guards.
struct Guard {
    gateway: Gateway,
    link: usize,
    rate: Rate,
    buffer_bytes: u64,
}

impl Gateways {
    pub(super) fn new(scenario: &Scenario) -> Gateways {
        let directions = scenario.links.iter().flat_map(|link| [&link.forward, &link.reverse]);
        let guards = directions.enumerate().filter_map(|(link, direction)| {
            let spec = direction.gateway.as_ref()?;
            Some(Guard {
                gateway: Gateway::new(spec),
                link,
                rate: direction.rate.scaled(direction.efficiency),
                buffer_bytes: buffer_bytes(&direction.queue, spec),
            })
        });
        let guards: Vec<Guard> = guards.collect();
        let keys = if guards.is_empty() { Vec::new() } else { addresses::keys(scenario).collect() };
        Gateways { guards, keys }
    }

    /// The guarded directions, in the order of their gateways.
    pub(super) fn guarded(&self) -> impl Iterator<Item = u32> {
        self.guards.iter().map(|guard| guard.link as u32)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (usize, &Gateway)> {
        self.guards.iter().map(|guard| (guard.link, &guard.gateway))
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

impl Guard {
    fn view(&self, links: &mut [Link], now: Time) -> LinkView {
        let queued_bytes = links[self.link].queue_bytes(now);
        LinkView { rate: self.rate, buffer_bytes: self.buffer_bytes, queued_bytes }
    }
}

impl Network {
    /// A packet has come to a stop at `hop`; returns where it goes on, unless it is lost.
    #[cold]
    #[inline(never)]
    pub(super) fn stop(&mut self, number: usize, hop: u32, id: PacketId) -> Option<u32> {
        match self.routes.stops[number] {
            Stop::Forward { gateway, ttl } => self.show(gateway, ttl, id, true),
            Stop::Backward { gateway, ttl } => self.show(gateway, ttl, id, false),
            Stop::Turn { hop } => return Some(hop),
            Stop::Left { handover } => {
                self.handovers.count_loss(handover);
                self.lose(self.now, id, false);
                return None;
            }
        }
        Some(hop + 1)
    }

    /// Shows a segment to a gateway, which lowers its window on the way backward; a datagram is none of its business.
    fn show(&mut self, gateway: u32, ttl: u8, id: PacketId, forward: bool) {
        let packet = self.packets.get_mut(id);
        if packet.to >= self.ends {
            return;
        }
        let segment = &mut packet.segment;
        let header = Header {
            flow: self.gateways.keys[packet.to as usize ^ 1],
            ttl,
            syn: segment.flags.has(Flags::SYN),
            ack: segment.flags.has(Flags::ACK),
            fin: segment.flags.has(Flags::FIN),
            rst: segment.flags.has(Flags::RST),
            payload: segment.len,
            window: segment.window,
            window_scale: segment.options.window_scale,
        };
        let guard = &mut self.gateways.guards[gateway as usize];
        let view = guard.view(&mut self.links, self.now);
        if forward {
            guard.gateway.forward(self.now, &header, &view);
        } else if let Some(window) = guard.gateway.backward(self.now, &header, &view) {
            debug_assert!(window <= segment.window, "a gateway raised a window");
            segment.window = window;
        }
    }
}
