//! Relays in the event loop: nodes that carry the data of one connection on over another.

use super::Engine;
use crate::apps::App;
use crate::ids::{ConnectionId, EndId, FlowId, Side};
use crate::watch::HostProbe;

impl Engine {
    /// Tells the flows whose data a relay carries on of it.
    pub(super) fn join_relays(&mut self) {
        for id in (0..self.flows.len() as u32).map(FlowId) {
            if let App::Relay(relay) = &self.flows[id.index()].app {
                let upstream = relay.upstream;
                self.flows[upstream.index()].relay = Some(id);
                for end in self.relay_ends(id, upstream) {
                    self.ends[end.index()].attended = true;
                }
            }
        }
    }

    /// The ends at the node of relay `id`: the receiving one of the upstream connection and the sending one of its own.
    fn relay_ends(&self, id: FlowId, upstream: FlowId) -> [EndId; 2] {
        [(upstream, Side::Back), (id, Side::Data)].map(|(flow, side)| {
            let connection = self.flows[flow.index()].connections.start;
            ConnectionId(connection as u32).end(side)
        })
    }

    /// The relay that an end is an end of.
    pub(super) fn relay_at(&self, end: EndId) -> Option<FlowId> {
        let number = self.ends[end.index()].flow;
        let flow = &self.flows[number.index()];
        match end.side() {
            Side::Back => flow.relay,
            Side::Data => matches!(flow.app, App::Relay(_)).then_some(number),
        }
    }

    /// A relay carries on what it can, and both its ends send what they have to send.
    pub(super) fn relay(&mut self, id: FlowId) {
        let now = self.net.now();
        let App::Relay(relay) = &self.flows[id.index()].app else { return };
        let ends = self.relay_ends(id, relay.upstream);
        let App::Relay(relay) = &mut self.flows[id.index()].app else { return };
        let mut opened = false;
        if let Ok([up, down]) = self.ends.get_disjoint_mut(ends.map(EndId::index)) {
            let before = relay.held();
            if relay.carry(now, &mut up.tcp, &mut down.tcp) > 0 {
                up.last_delivery = Some(now);
            }
            if relay.held() != before {
                self.net.probe.buffered(now, ends[1].connection(), relay.held());
            }
            opened = relay.opened();
        }
        ends.into_iter().take(1 + usize::from(opened)).for_each(|end| self.serve(end));
    }

    /// A relay goes down, or is there again.
    pub(super) fn crash_relay(&mut self, id: FlowId) {
        let now = self.net.now();
        let App::Relay(relay) = &self.flows[id.index()].app else { return };
        let ends = self.relay_ends(id, relay.upstream);
        let App::Relay(relay) = &mut self.flows[id.index()].app else { return };
        if let Ok([up, down]) = self.ends.get_disjoint_mut(ends.map(EndId::index)) {
            relay.crash(now, &mut up.tcp, &mut down.tcp);
        }
        self.net.probe.buffered(now, ends[1].connection(), 0);
        ends.into_iter().for_each(|end| self.serve(end));
    }

    /// The connection of an end at a relay has broken: the relay resets the other one.
    #[cold]
    pub(super) fn break_relay(&mut self, end: EndId) {
        let Some(id) = self.relay_at(end) else { return };
        let tcp = &self.ends[end.index()].tcp;
        let App::Relay(relay) = &mut self.flows[id.index()].app else { return };
        if end.side() == Side::Back {
            if tcp.receiver().finished() {
                // All data has come, and waits for nobody upstream.
                return;
            }
            relay.broken = relay.broken.or(tcp.error());
        }
        let upstream = relay.upstream;
        for other in self.relay_ends(id, upstream).into_iter().filter(|other| *other != end) {
            if !self.ends[other.index()].is_over() {
                self.ends[other.index()].tcp.abort();
                self.serve(other);
            }
        }
    }
}
