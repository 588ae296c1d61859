//! A queue that is managed actively: the decision on each packet that arrives.
//!
//! A link is first in, first out and knows when a packet will leave as soon as it comes. A decision on leaving would have to
//! take that back, so that only schemes that decide on arrival, as RED and REM do, are possible here.

use bentpipe_units::{Rate, Time};

use super::red::Red;
use super::rem::Rem;
use super::{ActiveSpec, Packets};
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

/// What a queue does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Take,
    Mark,
    Drop,
}

/// What a scheme says of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Take,
    /// Tell the sender, by a mark or a drop.
    Tell,
    /// Drop, whether the packet may be marked or not.
    Drop,
}

#[derive(Clone, Debug)]
enum Scheme {
    Red(Red),
    Rem(Rem),
}

#[derive(Clone, Debug)]
pub(crate) struct ActiveQueue {
    scheme: Scheme,
    ecn: bool,
    limit: Packets,
    stream: Stream,
    pub(crate) marked: u64,
    pub(crate) early_dropped: u64,
}

impl ActiveQueue {
    pub(crate) fn new(spec: &ActiveSpec, rate: Rate, stream: Stream) -> ActiveQueue {
        let (scheme, ecn) = match spec {
            ActiveSpec::Red(options) => (Scheme::Red(Red::new(options)), options.ecn),
            ActiveSpec::Rem(options) => (Scheme::Rem(Rem::new(options, rate)), options.ecn),
        };
        ActiveQueue { scheme, ecn, limit: spec.limit(), stream, marked: 0, early_dropped: 0 }
    }

    /// What becomes of a packet. `ring` holds the packets of the link in order, those that came before it.
    pub(crate) fn decide(&mut self, arrival: &Arrival, ring: &Ring) -> Verdict {
        let decision = match &mut self.scheme {
            Scheme::Red(red) => red.decide(arrival, &mut self.stream),
            Scheme::Rem(rem) => rem.decide(arrival, ring, &mut self.stream),
        };
        let marks = decision == Decision::Tell && self.ecn && arrival.capable;
        if decision != Decision::Take && !marks {
            self.early_dropped += 1;
            return Verdict::Drop;
        }
        if arrival.idle_packets.is_none() && arrival.waiting >= self.limit.0 {
            if let Scheme::Red(red) = &mut self.scheme {
                red.on_full();
            }
            return Verdict::Drop;
        }
        if let Scheme::Rem(rem) = &mut self.scheme {
            rem.on_taken(arrival.bytes);
        }
        self.marked += u64::from(marks);
        if marks { Verdict::Mark } else { Verdict::Take }
    }
}
