//! The probe, which hears what happens to packets in the network.

use bentpipe_path::Link;
use bentpipe_units::Time;

use crate::LinkId;

/// Why a packet did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The queue of this link was full, or is managed so that it dropped the packet early.
    Dropped(LinkId),
    /// This link damaged it.
    Damaged(LinkId),
    /// It came out of a link that its flow had left, by the turn of this number; see
    /// [`Network::turn`](crate::Network::turn).
    Left(u32),
}

/// Hears what happens to packets between hosts: the network's [`probe`](crate::Network::probe).
///
/// `now` never goes back from call to call. `at` is the time of what happens; it is later than `now` where a link passes its
/// packets on. A method without a body costs nothing, and so does the probe [`()`](unit).
pub trait Probe<P> {
    /// Whether [`Probe::sent`] and [`Probe::arrived`] are called.
    #[inline(always)]
    fn follows(&self) -> bool {
        false
    }

    /// A packet is sent.
    #[inline(always)]
    fn sent(&mut self, now: Time, packet: &P) {
        let _ = (now, packet);
    }

    /// A packet has come to the end of its route.
    #[inline(always)]
    fn arrived(&mut self, now: Time, packet: &P) {
        let _ = (now, packet);
    }

    /// A link has taken a packet. `state` is the link's, with the time at which the packet begins to be sent.
    #[inline(always)]
    fn taken(&mut self, now: Time, at: Time, link: LinkId, state: &mut Link) {
        let _ = (now, at, link, state);
    }

    /// A link that goes step by step has gone on.
    #[inline(always)]
    fn served(&mut self, now: Time, link: LinkId, state: &mut Link) {
        let _ = (now, link, state);
    }

    /// A link's queue has marked a packet.
    #[inline(always)]
    fn marked(&mut self, now: Time, at: Time, link: LinkId, packet: &P) {
        let _ = (now, at, link, packet);
    }

    /// A packet is lost.
    #[inline(always)]
    fn lost(&mut self, now: Time, at: Time, packet: &P, why: Lost) {
        let _ = (now, at, packet, why);
    }
}

impl<P> Probe<P> for () {}
