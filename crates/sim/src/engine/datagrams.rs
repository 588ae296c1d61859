//! Datagrams in the event loop: sent when their application says, whatever becomes of them.
//!
//! They go through links and packet store as segments do, to an end that has no endpoint: UDP flow k goes from end 2k to
//! end 2k + 1, counted behind the ends of all connections.

use bentpipe_path::PacketId;
use bentpipe_tcp::{Segment, Seq};
use bentpipe_units::Time;

use super::{Engine, Network};
use crate::apps::{App, HEADERS};

impl Network {
    /// The event of a datagram's loss, which may be settled before its time; none for a segment.
    pub(super) fn expect_loss(&mut self, at: Time, to: u32) {
        if let Some(behind) = to.checked_sub(self.ends) {
            self.queue.push(at, self.losses + behind / 2);
        }
    }
}

impl Engine {
    /// Sends the datagrams of UDP flow `number` that are due.
    pub(super) fn send_datagrams(&mut self, target: u32, number: usize) {
        let network = &mut self.network;
        let App::Udp(udp) = &mut self.flows[self.udp_flows[number] as usize].app else { return };
        let from = network.ends as usize + 2 * number;
        let mut offset = udp.sent_bytes;
        while let Some(len) = udp.poll(network.now) {
            // Of a datagram only its length counts, and for those who watch its place among the bytes sent.
            network.outgoing = Segment { seq: Seq(offset as u32), len, ..Segment::default() };
            network.send_packet(from, udp.route, HEADERS + len, false);
            offset = udp.sent_bytes;
        }
        match udp.next_time() {
            Time::NEVER => self.settle(number),
            next => network.queue.push(next, target),
        }
    }

    /// A datagram has reached its host.
    #[cold]
    pub(super) fn datagram_arrives(&mut self, id: PacketId) {
        let packet = self.network.packets.get_mut(id);
        let (number, len) = ((packet.to - self.network.ends) as usize / 2, packet.segment.len);
        self.network.packets.remove(id);
        if let App::Udp(udp) = &mut self.flows[self.udp_flows[number] as usize].app {
            udp.on_delivery(self.network.now, len);
        }
        self.settle(number);
    }

    /// A datagram of UDP flow `number` was dropped or damaged.
    pub(super) fn datagram_lost(&mut self, number: usize) {
        if let App::Udp(udp) = &mut self.flows[self.udp_flows[number] as usize].app {
            udp.lost += 1;
        }
        self.settle(number);
    }

    fn settle(&mut self, number: usize) {
        let flow = &mut self.flows[self.udp_flows[number] as usize];
        if let App::Udp(udp) = &flow.app
            && udp.over()
            && !flow.over
        {
            flow.over = true;
            self.open_flows -= 1;
        }
    }
}
