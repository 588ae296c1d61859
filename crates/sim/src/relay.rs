//! Connections joined at a node, two by two: what arrives by one is sent on by the other, through a bounded buffer.

use bentpipe_tcp::{ConnectionError, Endpoint, Seq, State};
use bentpipe_units::Time;

use crate::engine::End;
use crate::ids::FlowId;
use bentpipe_apps::AppSpec;
use bentpipe_scenario::FlowSpec;

/// The buffers of a relay, one a connection, and how far the data has come.
///
/// A buffer holds what was read from the upstream connection until the downstream connection's receiver has acknowledged
/// it, as the buffers of a proxy and of its socket do together. No more is read than it has room for, so that the upstream
/// connection's receive window closes while the downstream connection is slower.
pub(crate) struct Relay {
    /// The flow whose data it carries on.
    pub(crate) upstream: FlowId,
    /// Whether the receiving hosts open the connections, and send requests the other way.
    asked: bool,
    /// Size of a buffer in bytes.
    size: u64,
    connections: Vec<Joined>,
    /// Why an upstream connection broke.
    pub(crate) broken: Option<ConnectionError>,
    /// When it crashes, and when it is there again; `Time::NEVER` for never.
    crash: Time,
    back: Time,
    /// Bytes that were acknowledged to the sender and not by the receiver, and the most of them.
    undelivered: u64,
    most_undelivered: u64,
    fill: Fill,
    /// Whether all that was asked for has come.
    pub(crate) complete: bool,
}

/// A connection upstream and one downstream.
#[derive(Clone, Debug, Default)]
struct Joined {
    data: Way,
    requests: Way,
    /// Bytes that were acknowledged to the sender and not by the receiver.
    undelivered: u64,
}

/// What goes from one connection to the other.
#[derive(Clone, Debug, Default)]
struct Way {
    /// Bytes read from the one.
    read: u64,
    /// Of those, handed to the TCP of the other.
    written: u64,
    /// Of those, acknowledged by its receiver.
    acked: u64,
    /// SND.UNA of the other at the newest count.
    una: Option<Seq>,
}

/// What was in a buffer over time.
#[derive(Clone, Copy, Debug, Default)]
struct Fill {
    /// From the first byte on; none before it.
    from: Option<Time>,
    changed: Time,
    bytes: u64,
    most: u64,
    /// Bytes times nanoseconds until the newest change.
    area: u128,
}

impl Fill {
    fn area(&self, until: Time) -> u128 {
        self.area
            + u128::from(self.bytes) * u128::from(until.max(self.changed).since(self.changed).as_nanos())
    }

    fn change(&mut self, now: Time, bytes: u64) {
        self.from.get_or_insert(now);
        *self = Fill { changed: now, bytes, most: self.most.max(bytes), area: self.area(now), ..*self };
    }

    /// The time average from the first byte on until it was empty for good, or else until `end`.
    fn mean(&self, end: Time, over: bool) -> f64 {
        let until = if over { self.changed } else { end.max(self.changed) };
        let span = self.from.map_or(0, |from| until.since(from).as_nanos());
        if span == 0 { 0.0 } else { self.area(until) as f64 / span as f64 }
    }
}

impl Way {
    /// Moves data on, as far as a buffer of `size` bytes has room; returns how many bytes it read. With `wholly` less than a segment
    /// waits while something is unacknowledged, as with Nagle's algorithm (RFC 9293 section 3.7.4).
    fn carry(&mut self, size: u64, wholly: bool, from: &mut Endpoint, to: &mut Endpoint) -> u32 {
        self.count_acked(to.sender().una());
        let room = size - self.held();
        let read = from.read(room.min(u32::MAX.into()) as u32);
        self.read += u64::from(read);
        let ended = from.receiver().finished() && from.receiver().unread() == 0;
        self.write(to, wholly, ended);
        debug_assert!(self.acked <= self.written && self.written <= self.read && self.held() <= size);
        debug_assert_eq!(self.read + u64::from(from.receiver().unread()), from.receiver().delivered());
        read
    }

    /// A FIN, which counts in sequence numbers, is no data.
    fn count_acked(&mut self, una: Seq) {
        let before = self.una.replace(una).unwrap_or(una);
        self.acked = (self.acked + u64::from(una - before)).min(self.written);
    }

    fn write(&mut self, to: &mut Endpoint, wholly: bool, ended: bool) {
        let mut due = self.read - self.written;
        if wholly && !ended && self.acked < self.written {
            due -= due % u64::from(to.segment_size());
        }
        if due > 0 {
            self.written += due;
            to.write(due);
        }
        if ended {
            to.close(false);
        }
    }

    /// Bytes in the buffer.
    fn held(&self) -> u64 {
        self.read - self.acked
    }
}

impl Joined {
    /// Whether the relay has opened its part: from then on it counts what is acknowledged.
    fn opened(&self) -> bool {
        self.data.una.is_some()
    }
}

impl Relay {
    /// The relay of a flow that is one, with empty buffers.
    pub(crate) fn new(flow: &FlowSpec) -> Relay {
        let AppSpec::Relay(spec) = &*flow.app else { unreachable!("a relay alone runs as one") };
        let crash = spec.crash.map_or(Time::NEVER, |at| Time::ZERO + at);
        Relay {
            upstream: FlowId(flow.upstream.unwrap_or_default() as u32),
            asked: spec.carried.asked,
            size: spec.buffer,
            connections: vec![Joined::default(); spec.carried.connections],
            crash,
            back: spec.back.map_or(Time::NEVER, |span| crash + span),
            undelivered: 0,
            most_undelivered: 0,
            broken: None,
            fill: Fill::default(),
            complete: false,
        }
    }

    /// The relay is there, from the start of its flow on.
    pub(crate) fn listen(&self, pairs: &mut [[End; 2]]) {
        for [data, back] in pairs {
            let end = if self.asked { data } else { back };
            end.tcp.listen();
        }
    }

    /// Moves data from `up`, the receiving end of connection `number` upstream, to `down`, the sending end of the same one downstream,
    /// and requests the other way. When the one that its peer opens is open it opens the other, and it closes each behind the last
    /// byte. Returns how many bytes of data it read.
    pub(crate) fn carry(&mut self, now: Time, number: usize, up: &mut Endpoint, down: &mut Endpoint) -> u32 {
        let (first, second) = if self.asked { (&*down, &*up) } else { (&*up, &*down) };
        let opening = matches!(first.state(), State::Listen | State::SynSent | State::SynReceived);
        if self.broken.is_some() || opening || second.error().is_some() || now >= self.crash {
            return 0;
        }
        let joined = &mut self.connections[number];
        if !joined.opened() {
            if first.state() == State::Closed {
                return 0;
            }
            (joined.data.una, joined.requests.una) = (Some(down.sender().una()), Some(up.sender().una()));
            let second = if self.asked { &mut *up } else { &mut *down };
            second.connect();
        }
        let before = joined.data.held();
        let mut read = 0;
        // Who has asked and closed has no use for more.
        if self.asked && down.receiver().finished() {
            joined.data.count_acked(down.sender().una());
        } else {
            read = joined.data.carry(self.size, !self.asked, up, down);
        }
        if self.asked {
            joined.requests.carry(self.size, false, down, up);
        }
        let held = joined.data.held();
        let undelivered = held + u64::from(up.receiver().unread());
        self.undelivered = self.undelivered - joined.undelivered + undelivered;
        joined.undelivered = undelivered;
        self.most_undelivered = self.most_undelivered.max(self.undelivered);
        if held != before {
            self.fill.change(now, self.fill.bytes - before + held);
        }
        read
    }

    /// Whether it has opened its part of connection `number`.
    pub(crate) fn opened(&self, number: usize) -> bool {
        self.connections[number].opened()
    }

    /// Whether the receiving hosts open the connections.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked
    }

    /// Bytes in all buffers, which a crash empties.
    pub(crate) fn held(&self) -> u64 {
        self.fill.bytes
    }

    /// Bytes that were acknowledged to the upstream sender and not by the receiver behind the relay, of connection `number`; `up` is
    /// the receiving end upstream.
    pub(crate) fn undelivered(&self, number: usize, up: &Endpoint) -> u64 {
        self.connections[number].data.held() + u64::from(up.receiver().unread())
    }

    /// The most of those at once, in bytes.
    pub(crate) fn most_undelivered(&self) -> u64 {
        self.most_undelivered
    }

    /// When it wants to be called after `now`: at its crash, and when it is back.
    pub(crate) fn next_time(&self, now: Time) -> Time {
        [self.crash, self.back].into_iter().find(|at| *at > now).unwrap_or(Time::NEVER)
    }

    /// Whether it has crashed by `now`.
    pub(crate) fn crashed(&self, now: Time) -> bool {
        now >= self.crash
    }

    /// When it crashed, if it did by `now`.
    pub(crate) fn crashed_at(&self, now: Time) -> Option<Time> {
        self.crashed(now).then_some(self.crash)
    }

    /// The host of both ends of a connection, which are its own, goes down or comes back at `now`; the buffer is gone.
    pub(crate) fn crash(&mut self, now: Time, up: &mut Endpoint, down: &mut Endpoint) {
        if now == self.crash {
            self.fill.change(now, 0);
            up.go_down();
            down.go_down();
        }
        if now == self.back {
            up.come_back();
            down.come_back();
        }
    }

    /// Size of a buffer in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The most that was in all buffers, in bytes.
    pub(crate) fn most(&self) -> u64 {
        self.fill.most
    }

    /// What was in all buffers on average, in bytes: from the first byte on until the last was acknowledged, which is before
    /// the end of the run when the transfer is `over`.
    pub(crate) fn mean(&self, end: Time, over: bool) -> f64 {
        self.fill.mean(end, over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer that has had its last byte is not there to be averaged over any longer.
    #[test]
    fn the_mean_of_a_buffer_ends_where_it_is_empty_for_good() {
        let at = |s: u64| Time::from_nanos(s * 1_000_000_000);
        let mut fill = Fill::default();
        fill.change(at(1), 100);
        fill.change(at(3), 0);
        assert_eq!([fill.mean(at(101), true), fill.mean(at(101), false)], [100.0, 2.0]);
    }
}
