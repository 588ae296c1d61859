//! A queue, first in, first out, that is managed by a decision on each packet that arrives.

use std::fmt;

use bentpipe_units::{Rate, Span, Time};

use super::Packets;
use super::discipline::Verdict;
use crate::Stream;
use crate::ring::Ring;

/// A packet that arrives, and the queue that it finds.
pub(crate) struct Arrival {
    pub(crate) now: Time,
    pub(crate) bytes: u32,
    /// Whether it may be marked.
    pub(crate) capable: bool,
    /// Packets waiting, the one being sent not counted.
    pub(crate) waiting: u32,
    /// Packets of the length of the last one that could have been sent since the link fell idle; none while it is busy.
    pub(crate) idle_packets: Option<f64>,
}

/// What a scheme says of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Take,
    /// Mark the packet, or drop it where it may not be marked.
    MarkOrDrop,
    /// Drop, whether the packet may be marked or not.
    Drop,
}

/// A scheme that decides when a packet arrives.
pub(super) trait Admission: fmt::Debug + Send {
    /// What becomes of a packet. `ring` holds the packets of the link in order, those that came before it.
    fn decide(&mut self, arrival: &Arrival, ring: &Ring, stream: &mut Stream) -> Decision;

    /// A packet found the queue full.
    fn on_full(&mut self) {}

    /// A packet of `bytes` bytes enters the queue.
    fn on_taken(&mut self, _bytes: u32) {}

    /// The link sends at this rate from now on.
    fn on_rate(&mut self, _rate: Rate) {}
}

/// A scheme, and what is common to all.
#[derive(Debug)]
pub(crate) struct Gate {
    scheme: Box<dyn Admission>,
    ecn: bool,
    limit: Packets,
    stream: Stream,
}

impl Gate {
    pub(super) fn new(scheme: impl Admission + 'static, ecn: bool, limit: Packets, stream: Stream) -> Gate {
        Gate { scheme: Box::new(scheme), ecn, limit, stream }
    }

    /// What becomes of a packet. `ring` holds the packets of the link in order, those that came before it.
    pub(crate) fn decide(&mut self, arrival: &Arrival, ring: &Ring) -> Verdict {
        let decision = self.scheme.decide(arrival, ring, &mut self.stream);
        let marks = decision == Decision::MarkOrDrop && self.ecn && arrival.capable;
        if decision != Decision::Take && !marks {
            return Verdict::DropEarly;
        }
        if arrival.idle_packets.is_none() && arrival.waiting >= self.limit.0 {
            self.scheme.on_full();
            return Verdict::DropFull;
        }
        self.scheme.on_taken(arrival.bytes);
        if marks { Verdict::Mark } else { Verdict::Take }
    }

    pub(super) fn on_rate(&mut self, rate: Rate) {
        self.scheme.on_rate(rate);
    }
}

/// Packets that could have been sent in an idle time, each in the time `service`. Where a packet takes no time, which holds
/// before the first too, any idle time is endless.
pub(crate) fn packets_in(idle: Span, service: Span) -> f64 {
    idle.as_nanos() as f64 / service.as_nanos().max(1) as f64
}
