//! Hosts in the event loop: what arrives at an end of a connection, and what it sends.

use bentpipe_path::PacketId;
use bentpipe_tcp::{Endpoint, State};
use bentpipe_units::Time;

use super::{Engine, Network};
use crate::apps::App;

/// One end of a connection, as the event loop sees it.
pub(crate) struct End {
    pub(crate) tcp: Endpoint,
    /// When its application read something last.
    pub(crate) last_delivery: Option<Time>,
    /// Where its route starts in the route table.
    pub(super) route: u32,
    /// The flow that it belongs to.
    pub(super) flow: u32,
    /// Whether what arrives makes the application write.
    pub(super) answers: bool,
    /// When its event is due: its timer's time, or earlier.
    pub(super) armed: Time,
}

impl End {
    /// Whether it is closed, or only waits for old segments to die out.
    #[inline]
    fn is_over(&self) -> bool {
        matches!(self.tcp.state(), State::Closed | State::TimeWait)
    }
}

impl Network {
    /// Sends what an end has to send, and sees to its timer.
    #[inline(always)]
    fn serve(&mut self, index: usize, end: &mut End) {
        if end.tcp.state() == State::CloseWait {
            // The other end opened the connection, and has no use for more.
            end.tcp.close(true);
        }
        while let Some(again) = end.tcp.poll_segment(self.now, &mut self.outgoing) {
            self.send_packet(index, end.route, self.outgoing.packet_len(), again);
        }
        let due = end.tcp.next_timeout();
        if due < end.armed {
            end.armed = due;
            self.queue.push(due, (self.links.len() + index) as u32);
        }
        if let Some(observer) = &mut self.observer {
            observer.state(self.now, index, &end.tcp);
        }
    }

    /// Sends what is outgoing in a packet of so many bytes.
    #[inline(always)]
    pub(super) fn send_packet(&mut self, from: usize, route: u32, bytes: u32, again: bool) {
        let segment = &self.outgoing;
        if let Some(observer) = &mut self.observer {
            observer.sent(self.now, from, segment, again);
        }
        let id = self.packets.insert(segment, route, from as u32 ^ 1, self.now);
        self.offer(route, id, bytes);
    }
}

impl Engine {
    // Out of line, with all that an end does inlined: one frame a packet.
    #[inline(never)]
    pub(super) fn packet_arrives(&mut self, id: PacketId) {
        let network = &mut self.network;
        let packet = network.packets.get_mut(id);
        let (to, segment) = (packet.to as usize, &packet.segment);
        let Some(end) = self.ends.get_mut(to) else { return self.datagram_arrives(id) };
        if let Some(observer) = &mut network.observer {
            observer.arrived(network.now, to, segment);
        }
        end.tcp.on_segment(network.now, segment);
        let read = segment.len > 0 && end.tcp.read(u32::MAX) > 0;
        network.packets.remove(id);
        if read {
            end.last_delivery = Some(network.now);
            if end.answers {
                return self.converse(to);
            }
        }
        network.serve(to, end);
        if end.is_over() {
            self.closed(to);
        }
    }

    /// An end has read what its application answers.
    #[cold]
    fn converse(&mut self, index: usize) {
        let number = self.ends[index].flow as usize;
        let flow = &mut self.flows[number];
        let (first, ends) = (flow.ends.start, &mut self.ends[flow.ends.clone()]);
        if let App::Http(http) = &mut flow.app
            && http.on_data(self.network.now, index - first, ends)
        {
            if http.next_page != Time::NEVER {
                self.network.queue.push(http.next_page, self.app_target(number));
            }
            self.serve_flow(number);
        }
        self.serve(index);
    }

    /// Serves every end that was opened.
    #[cold]
    pub(super) fn serve_flow(&mut self, number: usize) {
        for index in self.flows[number].ends.clone() {
            if self.ends[index].tcp.state() != State::Closed {
                self.serve(index);
            }
        }
    }

    #[inline(never)]
    pub(super) fn serve(&mut self, index: usize) {
        let end = &mut self.ends[index];
        self.network.serve(index, end);
        if end.is_over() {
            self.closed(index);
        }
    }

    /// An end is closed, or only waits for old segments to die out.
    #[cold]
    fn closed(&mut self, index: usize) {
        let end = &self.ends[index];
        let flow = &mut self.flows[end.flow as usize];
        if !flow.over && flow.on_closed(index, &end.tcp) {
            flow.over = true;
            self.open_flows -= 1;
        }
    }
}
