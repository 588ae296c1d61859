//! Hosts in the event loop: what arrives at an end of a connection, and what it sends.

use std::ops::Range;

use bentpipe_apps::{Due, Socket};
use bentpipe_net::{Arrived, Network};
use bentpipe_tcp::{State, Written};
use bentpipe_units::Time;

use super::Engine;
use super::end::End;
use crate::flow::Flow;
use crate::ids::{Call, EndId, Side};
use crate::packet::{Content, Packet};
use crate::watch::{HostProbe, Watch};

/// An end may be due before the event that it has: then it has an event before that.
#[cold]
#[inline(never)]
fn arm(net: &mut Network<Packet, Watch>, id: EndId, end: &mut End) {
    let due = end.tcp.next_timeout();
    if due < end.armed {
        arm_at(net, id, end, due);
    }
}

#[inline(always)]
fn arm_at(net: &mut Network<Packet, Watch>, id: EndId, end: &mut End, due: Time) {
    if end.tcp.sender().is_paced() {
        end.armed_next = end.armed_next.min(end.armed);
    }
    end.armed = due;
    net.probe.timers.push(due, Call::Timer(id).into());
}

/// Sends what an end has to send; returns whether it may be due before the event that it has.
#[inline(always)]
fn serve(net: &mut Network<Packet, Watch>, id: EndId, end: &mut End) -> bool {
    let now = net.now();
    if end.tcp.state() == State::CloseWait {
        // The other end opened the connection, and has no use for more.
        end.tcp.close(true);
    }
    loop {
        let packet = net.outgoing();
        let segment = packet.segment_mut();
        let Some(Written { bytes, again, last }) = end.tcp.poll_segment(now, segment) else { break };
        debug_assert_eq!(bytes, segment.packet_len());
        packet.to = id.peer();
        packet.again = again;
        packet.sent = now;
        net.inject(end.route, bytes);
        if last {
            break;
        }
    }
    net.probe.acted(now, id, &end.tcp);
    end.tcp.quiet_until() < end.armed
}

/// The same for those who are not the loop.
#[inline(never)]
fn serve_apart(net: &mut Network<Packet, Watch>, id: EndId, end: &mut End) -> bool {
    serve(net, id, end)
}

impl Engine {
    // In the loop, with all that an end does inlined: a packet needs no frame of its own.
    #[inline(always)]
    pub(super) fn packet_arrives(&mut self, arrived: Arrived) {
        let net = &mut self.net;
        let now = net.now();
        let packet = net.packet(&arrived);
        let to = packet.to;
        let Content::Segment(segment) = &packet.content else { return self.other_packet_arrives(arrived) };
        let end = &mut self.ends[to.index()];
        end.tcp.on_segment(now, segment);
        let data = segment.len > 0;
        net.discard(arrived);
        if end.attended {
            return self.attend(to, data);
        }
        if data {
            end.got.take(now, end.tcp.read(u32::MAX));
        }
        if serve(net, to, end) {
            return self.go_on(to);
        }
        if matches!(end.tcp.state(), State::Closed | State::TimeWait) {
            self.closed(to);
        }
    }

    /// What is no segment of our TCP has arrived.
    #[cold]
    #[inline(never)]
    fn other_packet_arrives(&mut self, arrived: Arrived) {
        let Packet { content, to, .. } = self.net.take(arrived);
        match content {
            Content::Segment(_) => {}
            Content::Foreign(segment) => self.arrives_at_kernel(to, &segment),
            Content::Datagram(datagram) => self.datagram_arrives(datagram),
        }
    }

    /// The timer of an end may be due.
    pub(super) fn timer(&mut self, id: EndId) {
        let end = &mut self.ends[id.index()];
        let now = self.net.now();
        if end.armed != now {
            // An earlier event took its place.
            if end.armed_next == now {
                end.armed_next = Time::NEVER;
            }
            return;
        }
        end.armed = std::mem::replace(&mut end.armed_next, Time::NEVER);
        if end.remote.is_some() {
            return self.turn_of_kernel(id);
        }
        if end.tcp.next_timeout() <= now {
            end.tcp.on_timeout(now);
        }
        if serve_apart(&mut self.net, id, end) {
            return self.go_on(id);
        }
        if end.is_over() {
            self.closed(id);
        }
    }

    /// The event at hand is through but for the timer of an end, whose turn may come before that of anything else: then it needs no event. So
    /// paced segments go out one by one.
    #[inline(never)]
    fn go_on(&mut self, id: EndId) {
        let (net, end) = (&mut self.net, &mut self.ends[id.index()]);
        loop {
            let due = end.tcp.next_timeout();
            if due >= end.armed {
                break;
            }
            let next = net.next_time().min(net.probe.timers.next_time());
            let goes = due < next && due <= self.last && self.events != self.pause_at;
            if !(goes && end.tcp.sender().is_paced() && end.tcp.state() == State::Established) {
                arm_at(net, id, end, due);
                break;
            }
            self.events += 1;
            net.advance(due);
            (end.armed, end.armed_next) = (end.armed.min(end.armed_next), Time::NEVER);
            end.tcp.on_timeout(due);
            if !serve_apart(net, id, end) {
                break;
            }
        }
        if end.is_over() {
            self.closed(id);
        }
    }

    /// A segment, with data or not, has come to an end whose application does more than read.
    #[inline(never)]
    fn attend(&mut self, id: EndId, data: bool) {
        let number = self.ends[id.index()].flow;
        if let Some(relay) = self.relay_at(id) {
            let connection = id.connection().index() - self.flows[number.index()].connections.start;
            return self.relay(relay, connection);
        }
        if data {
            let end = &mut self.ends[id.index()];
            let bytes = end.tcp.read(u32::MAX);
            if bytes > 0 {
                end.got.take(self.net.now(), bytes);
                self.converse(id, bytes);
            }
        }
        self.serve(id);
    }

    /// An end has read what its application answers.
    #[cold]
    pub(super) fn converse(&mut self, id: EndId, bytes: u32) {
        let now = self.net.now();
        let own = self.ends[id.index()].flow;
        let flow = &self.flows[own.index()];
        let place = id.connection().index() - flow.connections.start;
        let number = flow.source.unwrap_or(own);
        let due = self.at_both_ends(number, |flow, pairs| flow.on_data(now, place, id.side(), bytes, pairs));
        let Due { at, others } = due;
        if at != Time::NEVER {
            self.net.probe.timers.push(at, Call::Application(number).into());
        }
        if others {
            let connections = self.flows[number.index()].connections.clone();
            self.serve_all(connections);
            self.serve_user(number);
        }
    }

    /// Serves every end of these connections that was opened.
    #[cold]
    pub(super) fn serve_all(&mut self, connections: Range<usize>) {
        for id in Flow::ends_of(connections) {
            if self.ends[id.index()].state() != State::Closed {
                self.serve(id);
            }
        }
    }

    #[inline(never)]
    pub(super) fn serve(&mut self, id: EndId) {
        let end = &mut self.ends[id.index()];
        if end.remote.is_some() {
            return self.serve_remote(id);
        }
        if serve_apart(&mut self.net, id, end) {
            arm(&mut self.net, id, end);
        }
        if end.is_over() {
            self.closed(id);
        }
    }

    /// An end is closed, or only waits for old segments to die out.
    #[cold]
    pub(super) fn closed(&mut self, id: EndId) {
        let end = &self.ends[id.index()];
        let flow = &self.flows[end.flow.index()];
        let place = id.connection().index() - flow.connections.start;
        let broken = end.attended && end.is_broken();
        // With relays the user sits at the end of the last relay, not at the end of the first flow.
        let (number, behind) = match id.side() {
            Side::Data => (end.flow, false),
            Side::Back => (flow.source.unwrap_or(end.flow), flow.last.is_some()),
        };
        let flow = &mut self.flows[number.index()];
        if !flow.over && !behind && flow.on_closed(self.net.now(), place, id.side(), end.is_broken()) {
            flow.over = true;
            self.close_flow();
            self.tell_relays(number);
        }
        if broken {
            self.break_relay(id);
        }
    }
}
