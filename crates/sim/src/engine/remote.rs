//! A socket of a kernel at an end of a connection: what the application wants of it, and what is seen of it on the wire.

use std::collections::BTreeMap;

use bentpipe_tcp::{Flags, Segment, Seq, State};

use crate::kernel::{Socket, SocketFacts};

/// A kernel's socket.
pub(crate) struct Remote {
    /// The kernel's place among those of the run.
    pub(super) kernel: usize,
    /// How it is made.
    pub(super) socket: Socket,
    /// Whether it is still to be opened.
    pub(super) opens: bool,
    /// Bytes of each write that is still to be asked for.
    pub(super) writes: Vec<u64>,
    /// Whether closing is still to be asked for, and whether that discards.
    pub(super) closes: Option<bool>,
    pub(super) state: State,
    /// Whether all that the other end sent has been read.
    pub(super) ended: bool,
    pub(super) error: Option<String>,
    /// What its host sent.
    pub(crate) sent: Sent,
    /// What came to its host.
    pub(crate) received: Received,
    /// The kernel's release.
    pub(crate) release: String,
    /// What the kernel told last.
    pub(crate) facts: SocketFacts,
}

impl Remote {
    pub(super) fn new(kernel: usize, socket: Socket, release: &str) -> Remote {
        Remote {
            kernel,
            socket,
            opens: false,
            writes: Vec::new(),
            closes: None,
            state: State::Closed,
            ended: false,
            error: None,
            sent: Sent::default(),
            received: Received::default(),
            release: release.to_owned(),
            facts: SocketFacts::default(),
        }
    }

    pub(super) fn open(&mut self, connects: bool) {
        self.opens = true;
        self.socket.connects = connects;
        self.state = if connects { State::SynSent } else { State::Listen };
    }

    pub(super) fn write(&mut self, bytes: u64) {
        self.writes.push(bytes);
    }

    pub(super) fn close(&mut self, discard: bool) {
        self.state = match self.state {
            State::Closed | State::Listen => State::Closed,
            State::CloseWait => State::TimeWait,
            State::SynSent | State::SynReceived | State::Established => State::FinWait1,
            // It has been closed before.
            other => return self.state = other,
        };
        self.closes = Some(discard);
    }

    /// Something has come from the other end.
    pub(super) fn is_established(&mut self) {
        if matches!(self.state, State::Listen | State::SynSent | State::SynReceived) {
            self.state = State::Established;
        }
    }

    /// All that there was has been read.
    pub(super) fn ends(&mut self) {
        self.is_established();
        self.ended = true;
        self.state = if self.state == State::Established { State::CloseWait } else { State::TimeWait };
    }

    pub(super) fn breaks(&mut self, error: String) {
        self.error = Some(error);
        self.state = State::Closed;
    }
}

/// What a host has sent over a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// The byte behind the last one sent.
    max: Option<Seq>,
    /// The first byte that the other end has not acknowledged.
    pub(crate) una: Seq,
    /// Segments with payload.
    pub(crate) data_segments: u64,
    /// Bytes of their payload.
    pub(crate) data_bytes: u64,
    /// Those that were sent before.
    pub(crate) retransmitted_segments: u64,
}

impl Sent {
    /// Bytes that are sent and not acknowledged.
    pub(crate) fn flight(&self) -> u32 {
        self.max.map_or(0, |max| u32::try_from(max.diff(self.una)).unwrap_or(0))
    }

    /// Counts a segment; returns whether its data was sent before.
    pub(super) fn count(&mut self, segment: &Segment) -> bool {
        let syn = segment.flags.has(Flags::SYN);
        if syn {
            self.una = segment.seq;
        }
        let again = self.max.is_some_and(|max| segment.seq < max) && segment.len > 0;
        let end = segment.seq + (segment.len + u32::from(syn));
        if self.max.is_none_or(|max| end > max) {
            self.max = Some(end);
        }
        if segment.len > 0 {
            self.data_segments += 1;
            self.data_bytes += u64::from(segment.len);
            self.retransmitted_segments += u64::from(again);
        }
        again
    }

    /// An acknowledgment of it has come.
    pub(super) fn acknowledged(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::ACK) && segment.ack > self.una {
            self.una = segment.ack;
        }
    }
}

/// What has come to a host over a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    /// The other end's first byte of data, and how many have come in order since.
    first: Option<Seq>,
    in_order: u64,
    /// Runs of bytes beyond a hole: where each begins and ends.
    beyond: BTreeMap<u64, u64>,
    /// Bytes that had come before.
    pub(crate) duplicate_bytes: u64,
}

impl Received {
    /// Bytes that have come in order.
    pub(crate) fn delivered(&self) -> u64 {
        self.in_order
    }

    /// Takes what a segment brings; returns how many bytes have come in order by it.
    pub(super) fn take(&mut self, segment: &Segment) -> u32 {
        if segment.flags.has(Flags::SYN) {
            self.first = Some(segment.seq + 1);
        }
        let Some(first) = self.first.filter(|_| segment.len > 0) else { return 0 };
        let next = first + self.in_order as u32;
        let start = self.in_order.saturating_add_signed(i64::from(segment.seq.diff(next)));
        let (mut start, mut end) = (start, start + u64::from(segment.len));
        let whole = end - start;
        let mut known = self.in_order.min(end).saturating_sub(start);
        start = start.max(self.in_order).min(end);
        // What overlaps becomes one run.
        while let Some((&from, &to)) = self.beyond.range(..=end).next_back().filter(|(_, to)| **to >= start) {
            known += to.min(end).saturating_sub(from.max(start));
            (start, end) = (start.min(from), end.max(to));
            self.beyond.remove(&from);
        }
        self.duplicate_bytes += known.min(whole);
        if start > self.in_order {
            self.beyond.insert(start, end);
            return 0;
        }
        let new = end.saturating_sub(self.in_order);
        self.in_order += new;
        new as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(seq: u32, len: u32) -> Segment {
        let flags = if len == 0 { Flags::SYN } else { Flags::ACK };
        Segment { seq: Seq(seq), len, flags, ..Segment::default() }
    }

    #[test]
    fn bytes_are_in_order_when_the_holes_before_them_are_filled() {
        let mut received = Received::default();
        // The numbers wrap within.
        let first = u32::MAX - 150;
        let at = |offset: u32| first.wrapping_add(offset);
        assert_eq!(received.take(&segment(first.wrapping_sub(1), 0)), 0);
        assert_eq!(received.take(&segment(at(0), 100)), 100);
        assert_eq!(received.take(&segment(at(200), 100)), 0);
        assert_eq!(received.take(&segment(at(400), 100)), 0);
        assert_eq!(received.take(&segment(at(300), 100)), 0);
        assert_eq!((received.delivered(), received.duplicate_bytes), (100, 0));
        assert_eq!(received.take(&segment(at(50), 100)), 50);
        assert_eq!(received.duplicate_bytes, 50);
        assert_eq!(received.take(&segment(at(250), 100)), 0);
        assert_eq!(received.duplicate_bytes, 150);
        assert_eq!(received.take(&segment(at(150), 50)), 350);
        assert_eq!((received.delivered(), received.duplicate_bytes), (500, 150));
    }

    #[test]
    fn data_below_what_was_sent_is_sent_again() {
        let mut sent = Sent::default();
        let again: Vec<bool> = [(9, 0), (10, 100), (110, 100), (10, 100), (210, 100)]
            .map(|(seq, len)| sent.count(&segment(seq, len)))
            .into();
        assert_eq!(again, [false, false, false, true, false]);
        assert_eq!((sent.data_segments, sent.data_bytes, sent.retransmitted_segments), (4, 400, 1));
    }
}
