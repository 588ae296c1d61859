//! Relays in the event loop: nodes that carry the data of one connection on over another.

use super::{Engine, pairs, pairs_mut};
use crate::engine::End;
use crate::flow::{App, Flow};
use crate::ids::{ConnectionId, EndId, FlowId, Side};
use crate::watch::HostProbe;

impl Engine {
    /// Tells the flows whose data a relay carries on of it.
    pub(super) fn join_relays(&mut self) {
        let ids = || (0..).map(FlowId);
        for id in ids().take(self.flows.len()) {
            if let App::Relay(relay) = &self.flows[id.index()].app {
                let upstream = relay.upstream;
                self.flows[upstream.index()].relay = Some(id);
                for number in 0..self.flows[id.index()].connections.len() {
                    for end in self.relay_ends(id, upstream, number) {
                        self.ends[end.index()].attended = true;
                    }
                }
            }
        }
        for id in ids().take(self.flows.len()) {
            self.join_user(id);
        }
    }

    /// Puts the user of a flow that relays carry at the end of the last one: what was asked for is over with the flow itself.
    fn join_user(&mut self, id: FlowId) {
        if let App::Relay(_) = self.flows[id.index()].app {
            return;
        }
        let mut last = id;
        while let Some(relay) = self.flows[last.index()].relay {
            let flow = &mut self.flows[relay.index()];
            if !matches!(&flow.app, App::Relay(relay) if relay.is_asked()) {
                return;
            }
            flow.over = true;
            self.close_flow();
            last = relay;
        }
        if last != id {
            self.flows[id.index()].last = Some(last);
            self.flows[last.index()].source = Some(id);
            for number in 0..self.flows[last.index()].connections.len() {
                let end = self.end_of(last, number, Side::Back);
                self.ends[end.index()].attended = true;
            }
        }
    }

    fn end_of(&self, flow: FlowId, number: usize, side: Side) -> EndId {
        ConnectionId((self.flows[flow.index()].connections.start + number) as u32).end(side)
    }

    /// The ends of connection `number` at the node of relay `id`: the receiving one upstream and the sending one downstream.
    fn relay_ends(&self, id: FlowId, upstream: FlowId, number: usize) -> [EndId; 2] {
        [(upstream, Side::Back), (id, Side::Data)].map(|(flow, side)| self.end_of(flow, number, side))
    }

    /// Calls the application of a flow with the ends of its connections that are its own: behind relays the user's is at the end of
    /// the last one.
    pub(super) fn at_both_ends<T>(
        &mut self,
        id: FlowId,
        call: impl FnOnce(&mut Flow, &mut [[End; 2]]) -> T,
    ) -> T {
        self.swap_users(id);
        let flow = &mut self.flows[id.index()];
        let pairs = pairs_mut(&mut self.ends, flow);
        let answer = call(flow, pairs);
        self.swap_users(id);
        answer
    }

    fn swap_users(&mut self, id: FlowId) {
        let Some(last) = self.flows[id.index()].last else { return };
        for number in 0..self.flows[id.index()].connections.len() {
            let ends = [id, last].map(|flow| self.end_of(flow, number, Side::Back).index());
            if let Ok([own, far]) = self.ends.get_disjoint_mut(ends) {
                std::mem::swap(&mut own.tcp, &mut far.tcp);
            }
        }
    }

    /// What a user has asked for is over: tells the relays that carried it whether all has come.
    pub(super) fn tell_relays(&mut self, id: FlowId) {
        let flow = &self.flows[id.index()];
        let complete = flow.complete(pairs(&self.ends, flow));
        let mut next = flow.last.and(flow.relay);
        while let Some(relay) = next {
            let flow = &mut self.flows[relay.index()];
            next = flow.relay;
            if let App::Relay(relay) = &mut flow.app {
                relay.complete = complete;
            }
        }
    }

    /// Serves the ends of a user behind relays.
    pub(super) fn serve_user(&mut self, id: FlowId) {
        if let Some(last) = self.flows[id.index()].last {
            let connections = self.flows[last.index()].connections.clone();
            self.serve_all(connections);
        }
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

    /// A relay carries on what it can of a connection, and both its ends send what they have to send.
    pub(super) fn relay(&mut self, id: FlowId, number: usize) {
        let now = self.net.now();
        let App::Relay(relay) = &self.flows[id.index()].app else { return };
        let mut ends = self.relay_ends(id, relay.upstream, number);
        let first = self.end_of(id, 0, Side::Data).connection();
        let App::Relay(relay) = &mut self.flows[id.index()].app else { return };
        let mut opened = false;
        if let Ok([up, down]) = self.ends.get_disjoint_mut(ends.map(EndId::index)) {
            let before = relay.held();
            up.got.take(now, relay.carry(now, number, &mut up.tcp, &mut down.tcp));
            if relay.held() != before {
                self.net.probe.buffered(now, first, relay.held());
            }
            opened = relay.opened(number);
        }
        if relay.is_asked() {
            ends.reverse();
        }
        ends.into_iter().take(1 + usize::from(opened)).for_each(|end| self.serve(end));
    }

    /// A relay goes down, or is there again.
    pub(super) fn crash_relay(&mut self, id: FlowId) {
        let now = self.net.now();
        let App::Relay(relay) = &self.flows[id.index()].app else { return };
        let upstream = relay.upstream;
        for number in 0..self.flows[id.index()].connections.len() {
            let ends = self.relay_ends(id, upstream, number);
            let App::Relay(relay) = &mut self.flows[id.index()].app else { return };
            if let Ok([up, down]) = self.ends.get_disjoint_mut(ends.map(EndId::index)) {
                relay.crash(now, &mut up.tcp, &mut down.tcp);
            }
            ends.into_iter().for_each(|end| self.serve(end));
        }
        let first = self.end_of(id, 0, Side::Data).connection();
        self.net.probe.buffered(now, first, 0);
    }

    /// The connection of an end at a relay has broken: the relay resets the other one.
    #[cold]
    pub(super) fn break_relay(&mut self, end: EndId) {
        let Some(id) = self.relay_at(end) else { return };
        let own = &self.ends[end.index()];
        let (tcp, flow) = (&own.tcp, own.flow);
        let number = end.connection().index() - self.flows[flow.index()].connections.start;
        let App::Relay(relay) = &mut self.flows[id.index()].app else { return };
        if end.side() == Side::Back {
            if tcp.receiver().finished() {
                // All data has come, and waits for nobody upstream.
                return;
            }
            relay.broken = relay.broken.or(tcp.error());
        }
        let upstream = relay.upstream;
        for other in self.relay_ends(id, upstream, number).into_iter().filter(|other| *other != end) {
            if !self.ends[other.index()].is_over() {
                self.ends[other.index()].tcp.abort();
                self.serve(other);
            }
        }
    }
}
