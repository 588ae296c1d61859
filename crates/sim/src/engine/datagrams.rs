//! Datagrams in the event loop: sent at their application's times, whatever is lost.
//!
//! They go through the network as segments do, to an end that has no endpoint.

use bentpipe_units::Time;

use super::Engine;
use crate::flow::App;
use crate::ids::{Call, FlowId};
use crate::packet::HEADERS;
use crate::packet::{Content, Datagram, Packet};

impl Engine {
    /// Sends the datagrams of a flow that are due, and sees to the next.
    pub(super) fn datagrams_due(&mut self, flow: FlowId) {
        let now = self.net.now();
        let App::Udp(udp) = &mut self.flows[flow.index()].app else { return };
        let mut offset = udp.sent_bytes;
        while let Some(len) = udp.poll(now) {
            let content = Content::Datagram(Datagram { flow, offset, len });
            *self.net.outgoing() = Packet { content, to: udp.end.peer(), again: false, sent: now };
            self.net.inject(udp.route, HEADERS + len);
            offset = udp.sent_bytes;
        }
        match udp.datagrams.next_time() {
            Time::NEVER => self.close_if_over(flow),
            next => self.net.probe.timers.push(next, Call::Application(flow).into()),
        }
    }

    /// A datagram has reached its host.
    #[cold]
    pub(super) fn datagram_arrives(&mut self, datagram: Datagram) {
        if let App::Udp(udp) = &mut self.flows[datagram.flow.index()].app {
            udp.on_delivery(self.net.now(), datagram);
        }
        self.close_if_over(datagram.flow);
    }

    /// A datagram was dropped or damaged.
    pub(super) fn datagram_lost(&mut self, flow: FlowId) {
        if let App::Udp(udp) = &mut self.flows[flow.index()].app {
            udp.lost += 1;
        }
        self.close_if_over(flow);
    }

    fn close_if_over(&mut self, flow: FlowId) {
        let flow = &mut self.flows[flow.index()];
        if let App::Udp(udp) = &flow.app
            && udp.over()
            && !flow.over
        {
            flow.over = true;
            self.close_flow();
        }
    }
}
