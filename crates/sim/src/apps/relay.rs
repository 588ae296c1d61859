//! Two connections joined at a node: what arrives by one is sent on by the other, through a bounded buffer.

use bentpipe_tcp::{ConnectionError, Endpoint, Seq, State};
use bentpipe_units::Time;

use crate::ids::FlowId;
use crate::scenario::RelaySpec;

/// A relay's buffer, and how far the data has come.
///
/// The buffer holds what was read from the upstream connection until the downstream connection's receiver has acknowledged
/// it, as the buffers of a proxy and of its socket do together. No more is read than it has room for, so that the upstream
/// connection's receive window closes while the downstream connection is slower.
pub(crate) struct Relay {
    /// The flow whose data it carries on.
    pub(crate) upstream: FlowId,
    /// Size of the buffer in bytes.
    size: u64,
    /// Bytes read from upstream.
    read: u64,
    /// Of those, handed to the downstream TCP.
    written: u64,
    /// Of those, acknowledged by the receiver.
    acked: u64,
    /// SND.UNA of the downstream connection at the newest count.
    una: Option<Seq>,
    /// Why the upstream connection broke.
    pub(crate) broken: Option<ConnectionError>,
    /// When it crashes, and when it is there again; `Time::NEVER` for never.
    crash: Time,
    back: Time,
    /// The most that was acknowledged to the sender and not by the receiver, in bytes.
    most_undelivered: u64,
    fill: Fill,
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

impl Relay {
    /// An empty buffer.
    pub(crate) fn new(upstream: FlowId, spec: &RelaySpec) -> Relay {
        let crash = spec.crash.map_or(Time::NEVER, |at| Time::ZERO + at);
        Relay {
            upstream,
            size: spec.buffer,
            crash,
            back: spec.back.map_or(Time::NEVER, |span| crash + span),
            most_undelivered: 0,
            read: 0,
            written: 0,
            acked: 0,
            una: None,
            broken: None,
            fill: Fill::default(),
        }
    }

    /// Moves data from `up`, the receiving end of the upstream connection, to `down`, the sending end of the downstream one,
    /// which it opens when `up` is open and closes behind the last byte. Returns how many bytes it read.
    pub(crate) fn carry(&mut self, now: Time, up: &mut Endpoint, down: &mut Endpoint) -> u32 {
        let opening = matches!(up.state(), State::Listen | State::SynSent | State::SynReceived);
        if self.broken.is_some() || opening || down.error().is_some() || now >= self.crash {
            return 0;
        }
        if self.una.is_none() {
            if up.state() == State::Closed {
                return 0;
            }
            self.una = Some(down.sender().una());
            down.connect();
        }
        self.count_acked(down.sender().una());
        let room = self.size - self.held();
        let read = up.read(room.min(u32::MAX.into()) as u32);
        self.read += u64::from(read);
        let ended = up.receiver().finished() && up.receiver().unread() == 0;
        self.write(down, ended);
        self.most_undelivered = self.most_undelivered.max(self.undelivered(up));
        if self.held() != self.fill.bytes {
            self.fill.change(now, self.held());
        }
        debug_assert!(self.acked <= self.written && self.written <= self.read && self.held() <= self.size);
        debug_assert_eq!(self.read + u64::from(up.receiver().unread()), up.receiver().delivered());
        read
    }

    /// A FIN, which counts in sequence numbers, is no data.
    fn count_acked(&mut self, una: Seq) {
        let before = self.una.replace(una).unwrap_or(una);
        self.acked = (self.acked + u64::from(una - before)).min(self.written);
    }

    /// As Nagle's algorithm does (RFC 9293 section 3.7.4): less than a segment waits while something is unacknowledged.
    fn write(&mut self, down: &mut Endpoint, ended: bool) {
        let mut due = self.read - self.written;
        if !ended && self.acked < self.written {
            due -= due % u64::from(down.segment_size());
        }
        if due > 0 {
            self.written += due;
            down.write(due);
        }
        if ended {
            down.close(false);
        }
    }

    /// Whether the downstream connection was opened.
    pub(crate) fn opened(&self) -> bool {
        self.una.is_some()
    }

    /// Bytes in the buffer.
    pub(crate) fn held(&self) -> u64 {
        self.read - self.acked
    }

    /// Bytes that were acknowledged to the upstream sender and not by the receiver behind the relay; `up` is the receiving
    /// end of the upstream connection.
    pub(crate) fn undelivered(&self, up: &Endpoint) -> u64 {
        self.held() + u64::from(up.receiver().unread())
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

    /// The host of both ends, which are its own, goes down or comes back at `now`; the buffer is gone.
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

    /// Size of the buffer in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The most that was in the buffer, in bytes.
    pub(crate) fn most(&self) -> u64 {
        self.fill.most
    }

    /// What was in the buffer on average, in bytes: from the first byte on until the last was acknowledged, which is before
    /// the end of the run when the transfer is `over`.
    pub(crate) fn mean(&self, end: Time, over: bool) -> f64 {
        self.fill.mean(end, over)
    }
}
