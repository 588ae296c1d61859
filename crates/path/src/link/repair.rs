//! How a link repairs its losses: by sending frames again (ARQ, RFC 3366), or by parity that is sent with them (FEC).
//!
//! Each packet of the link is a frame. The sender's part of a scheme says what is sent before the packets that wait; the
//! receiver's part makes packets of what arrives, and [`Order`] keeps their order.

mod arq;
mod fec;
mod order;
mod spec;

use bentpipe_units::{Rate, Span, Time};

use self::arq::Arq;
use self::fec::Fec;
use self::order::Order;
pub use self::spec::{ArqSpec, Attempts, FecSpec, Repair};
use super::frame::Frame;
use super::pipe::{Flying, Pipe};
use crate::queue::Waiting;

bentpipe_units::numbers! {
    /// What a link did to repair its losses.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct RepairStats {
        /// Frames that ARQ sent again.
        pub retransmitted_frames: u64 = "frame", "resent frames";
        /// Frames of parity that FEC sent.
        pub parity_frames: u64 = "frame", "parity frames";
        /// Packets that were lost and arrived all the same, sent again or decoded.
        pub recovered_packets: u64 = "packet", "recovered";
        /// Longest wait of a packet at the far end for those before it, in seconds.
        pub order_wait_max_s: f64 = "s", "order wait, most";
    }
}

/// What is counted of it up to a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RepairSums {
    retransmitted: u64,
    parity: u64,
    recovered: u64,
}

impl RepairSums {
    pub(super) fn since(&self, earlier: &RepairSums) -> RepairSums {
        RepairSums {
            retransmitted: self.retransmitted - earlier.retransmitted,
            parity: self.parity - earlier.parity,
            recovered: self.recovered - earlier.recovered,
        }
    }

    pub(super) fn stats(&self, order_wait: Span) -> RepairStats {
        RepairStats {
            retransmitted_frames: self.retransmitted,
            parity_frames: self.parity,
            recovered_packets: self.recovered,
            order_wait_max_s: order_wait.as_secs(),
        }
    }
}

/// What repairs the losses of a link.
#[derive(Debug)]
pub(super) struct Repairer {
    scheme: Scheme,
    /// The frame that is being sent.
    sending: Frame,
    /// Number of the next packet.
    next: u64,
    order: Order,
    sums: RepairSums,
}

#[derive(Debug)]
enum Scheme {
    Arq(Arq),
    Fec(Fec),
}

impl Repairer {
    pub(super) fn new(repair: &Repair) -> Option<Box<Repairer>> {
        let (scheme, in_order) = match repair {
            Repair::None => return None,
            Repair::Arq(spec) => (Scheme::Arq(Arq::new(spec)), spec.in_order),
            Repair::Fec(FecSpec::Packets { data, parity, wait, in_order }) => {
                (Scheme::Fec(Fec::new(*data, *parity, *wait)), *in_order)
            }
        };
        let (sending, sums) = (Frame::default(), RepairSums::default());
        Some(Box::new(Repairer { scheme, sending, next: 0, order: Order::new(in_order), sums }))
    }

    /// What the sender, which sends nothing, sends before any packet that waits.
    pub(super) fn ahead(&mut self, now: Time, packets_wait: bool) -> Option<Waiting> {
        let (packet, frame) = match &mut self.scheme {
            Scheme::Arq(arq) => arq.again(now)?,
            Scheme::Fec(fec) => fec.parity(now, packets_wait)?,
        };
        self.sums.retransmitted += u64::from(!frame.parity);
        self.sums.parity += u64::from(frame.parity);
        self.sending = frame;
        Some(packet)
    }

    /// The sender begins with the next packet that waited.
    pub(super) fn begins(&mut self, now: Time, packet: &Waiting, rate: Rate) {
        let part = match &mut self.scheme {
            Scheme::Arq(_) => 0,
            Scheme::Fec(fec) => fec.begins(now, packet, rate),
        };
        self.sending = Frame { number: self.next, part, parity: false };
        self.next += 1;
    }

    /// The last bit of a frame is sent.
    pub(super) fn sent(&mut self, now: Time, packet: Waiting, lost: bool, pipe: &mut Pipe) {
        if let Scheme::Arq(arq) = &mut self.scheme
            && lost
            && arq.sends_again(now, packet, self.sending, pipe.delay())
        {
            return;
        }
        pipe.send(now, packet, lost, self.sending);
    }

    /// When an idle sender has something to send though nothing comes.
    pub(super) fn due(&self) -> Time {
        match &self.scheme {
            Scheme::Arq(arq) => arq.due(),
            Scheme::Fec(fec) => fec.due(),
        }
    }

    /// The next packet that has come out by `now`, and whether it is whole.
    pub(super) fn receive(&mut self, now: Time, pipe: &mut Pipe) -> Option<(Waiting, bool)> {
        loop {
            if let Some(packet) = self.order.take() {
                return Some(packet);
            }
            let flying = pipe.receive(now)?;
            let Flying { packet, arrives, corrupted, frame } = flying;
            let (passes, recovered) = match &mut self.scheme {
                Scheme::Arq(_) => {
                    let passes = self.order.passes(frame.number);
                    if !passes {
                        self.order.known(arrives, frame.number, packet, !corrupted);
                    }
                    (passes, u64::from(!corrupted && frame.part > 0))
                }
                Scheme::Fec(fec) => fec.received(&flying, &mut self.order),
            };
            self.sums.recovered += recovered;
            if passes {
                return Some((packet, !corrupted));
            }
        }
    }

    /// Since when a packet is ready to come out.
    pub(super) fn ready_since(&self) -> Option<Time> {
        self.order.ready_since()
    }

    /// Packets that have begun to be sent and have not come out.
    pub(super) fn packets(&self) -> usize {
        (self.next - self.order.left()) as usize
    }

    pub(super) fn sums(&self) -> RepairSums {
        self.sums
    }

    /// The longest wait for order since the start, or the last call of [`Repairer::forget_waits`].
    pub(super) fn order_wait(&self) -> Span {
        self.order.longest()
    }

    pub(super) fn forget_waits(&mut self) {
        self.order.forget_waits();
    }
}
