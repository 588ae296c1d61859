//! A block code over packets: a block of packets is followed by parity, and any so many frames of it as it has packets give
//! all of them (a code that is maximum distance separable, such as Reed-Solomon's).

use std::collections::VecDeque;

use bentpipe_units::{Rate, Span, Time};

use super::order::Order;
use crate::link::frame::Frame;
use crate::link::pipe::Flying;
use crate::packet::PacketId;
use crate::queue::{Label, Waiting};

/// Length of the packets by which the usual time of a block is reckoned, after which it waits no longer for packets to come.
const USUAL_BYTES: u64 = 1500;

#[derive(Debug)]
pub(super) struct Fec {
    data: u32,
    parity: u32,
    wait: Option<Span>,
    open: Option<Open>,
    /// Frames of parity that are to be sent, of the last block that was closed, and their length.
    owed: u32,
    bytes: u32,
    /// Number of the next block.
    next: u64,
    /// Those of which a frame has not arrived yet.
    blocks: VecDeque<Block>,
}

/// The block that takes packets.
#[derive(Debug)]
struct Open {
    packets: u32,
    /// Length of its longest packet, which that of its parity is.
    longest: u32,
    /// When it takes no more; where no time was given, when it no longer waits for packets to come.
    until: Time,
}

/// A block, as it arrives.
#[derive(Debug, Default)]
struct Block {
    /// Its packets; none while it is open.
    packets: Option<u32>,
    arrived: u32,
    whole: u32,
    /// Packets that are lost so far, with their numbers.
    lost: Vec<(u64, Waiting)>,
}

impl Fec {
    pub(super) fn new(data: u32, parity: u32, wait: Option<Span>) -> Fec {
        let blocks = VecDeque::new();
        Fec { data, parity, wait, open: None, owed: 0, bytes: 0, next: 0, blocks }
    }

    /// A packet begins to be sent; returns the number of its block.
    pub(super) fn begins(&mut self, now: Time, packet: &Waiting, rate: Rate) -> u64 {
        let usual = || rate.time_to_send(u64::from(self.data) * USUAL_BYTES);
        let open = self.open.get_or_insert_with(|| {
            self.next += 1;
            self.blocks.push_back(Block::default());
            Open { packets: 0, longest: 0, until: now + self.wait.unwrap_or_else(usual) }
        });
        open.packets += 1;
        open.longest = open.longest.max(packet.bytes);
        self.next - 1
    }

    /// Closes the block if it is full, or its time is over. The usual time ends no block while packets wait: how long a full one takes
    /// depends on their lengths.
    fn close(&mut self, now: Time, packets_wait: bool) {
        let goes_on = self.wait.is_none() && packets_wait;
        let ends = |open: &mut Open| open.packets == self.data || (open.until <= now && !goes_on);
        let Some(open) = self.open.take_if(ends) else { return };
        if let Some(block) = self.blocks.back_mut() {
            block.packets = Some(open.packets);
        }
        (self.owed, self.bytes) = (self.parity, open.longest);
    }

    /// The next frame of parity, if one is to be sent by now.
    pub(super) fn parity(&mut self, now: Time, packets_wait: bool) -> Option<(Waiting, Frame)> {
        self.close(now, packets_wait);
        self.owed = self.owed.checked_sub(1)?;
        // No packet of the driver's: the receiver keeps it.
        let packet = Waiting {
            id: PacketId::MAX,
            bytes: self.bytes,
            label: Label::default(),
            came: now,
            marked: false,
        };
        Some((packet, Frame { number: 0, part: self.next - 1, parity: true }))
    }

    pub(super) fn due(&self) -> Time {
        self.open.as_ref().map_or(Time::NEVER, |open| open.until)
    }

    /// A frame arrives; returns whether its packet comes out at once, and how many packets it brings back.
    pub(super) fn received(&mut self, flying: &Flying, order: &mut Order) -> (bool, u64) {
        let Flying { packet, arrives, corrupted, frame } = *flying;
        let place = (frame.part + self.blocks.len() as u64 - self.next) as usize;
        let Some(block) = self.blocks.get_mut(place) else { return (false, 0) };
        block.arrived += 1;
        block.whole += u32::from(!corrupted);
        let mut passes = false;
        match (frame.parity, corrupted) {
            (true, _) => {}
            (false, true) => block.lost.push((frame.number, packet)),
            (false, false) => {
                passes = order.passes(frame.number);
                if !passes {
                    order.known(arrives, frame.number, packet, true);
                }
            }
        }
        let decoded = block.packets.is_some_and(|packets| block.whole >= packets);
        let mut recovered = 0;
        if decoded || block.arrived - block.whole > self.parity {
            for (number, packet) in block.lost.drain(..) {
                order.known(arrives, number, packet, decoded);
                recovered += u64::from(decoded);
            }
        }
        let complete =
            |block: &Block| block.packets.is_some_and(|packets| block.arrived == packets + self.parity);
        while self.blocks.front().is_some_and(complete) {
            self.blocks.pop_front();
        }
        (passes, recovered)
    }
}
