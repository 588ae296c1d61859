//! The order of packets at the far end.

use std::collections::{BTreeMap, VecDeque};

use bentpipe_units::{Span, Time};

use crate::queue::Waiting;

/// Lets packets out in order, or as they come.
#[derive(Debug)]
pub(super) struct Order {
    in_order: bool,
    /// Packets that have come out.
    left: u64,
    /// The first packet of which it is not known whether it arrives.
    expected: u64,
    /// By number, those behind it of which it is: since when, and whether they are whole.
    held: BTreeMap<u64, (Time, Waiting, bool)>,
    ready: VecDeque<(Waiting, bool)>,
    /// When the last one got ready.
    since: Time,
    longest: Span,
}

impl Order {
    pub(super) fn new(in_order: bool) -> Order {
        Order {
            in_order,
            left: 0,
            expected: 0,
            held: BTreeMap::new(),
            ready: VecDeque::new(),
            since: Time::ZERO,
            longest: Span::ZERO,
        }
    }

    /// Whether a packet comes out as soon as it is known whether it arrives, since nothing waits; it has come out then.
    #[inline]
    pub(super) fn passes(&mut self, number: u64) -> bool {
        let passes =
            self.ready.is_empty() && self.held.is_empty() && (!self.in_order || number == self.expected);
        self.expected += u64::from(passes && self.in_order);
        self.left += u64::from(passes);
        passes
    }

    /// It is known now whether a packet arrives.
    pub(super) fn known(&mut self, now: Time, number: u64, packet: Waiting, whole: bool) {
        self.since = now;
        if !self.in_order {
            self.ready.push_back((packet, whole));
            return;
        }
        self.held.insert(number, (now, packet, whole));
        while let Some((since, packet, whole)) = self.held.remove(&self.expected) {
            self.longest = self.longest.max(now.since(since));
            self.ready.push_back((packet, whole));
            self.expected += 1;
        }
    }

    /// The next packet that comes out, and whether it is whole.
    pub(super) fn take(&mut self) -> Option<(Waiting, bool)> {
        let packet = self.ready.pop_front()?;
        self.left += 1;
        Some(packet)
    }

    pub(super) fn ready_since(&self) -> Option<Time> {
        (!self.ready.is_empty()).then_some(self.since)
    }

    pub(super) fn left(&self) -> u64 {
        self.left
    }

    pub(super) fn longest(&self) -> Span {
        self.longest
    }

    pub(super) fn forget_waits(&mut self) {
        self.longest = Span::ZERO;
    }
}
