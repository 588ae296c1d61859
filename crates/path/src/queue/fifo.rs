//! First in, first out, with a decision on arrival: drop-tail, RED, REM.

use bentpipe_units::{Rate, Time};

use super::admission::{Arrival, Gate, packets_in};
use super::discipline::{Drops, Label, Queue, ServerView, Verdict, Waiting};
use crate::ring::{Ring, Slot};

#[derive(Debug)]
pub(crate) struct Fifo {
    /// What waits; what has left has its time of leaving as `starts`.
    ring: Ring,
    bytes: u64,
    max_packets: u32,
    max_bytes: u64,
    gate: Option<Box<Gate>>,
    /// Length of the last packet taken.
    last_bytes: u32,
}

impl Fifo {
    pub(crate) fn new((max_packets, max_bytes): (u32, u64), gate: Option<Box<Gate>>) -> Fifo {
        Fifo { ring: Ring::new(), bytes: 0, max_packets, max_bytes, gate, last_bytes: 0 }
    }

    fn decide(&mut self, now: Time, packet: &Waiting, server: &ServerView) -> Verdict {
        let Waiting { bytes, label, .. } = *packet;
        let waiting = self.packets();
        match &mut self.gate {
            Some(gate) => {
                let service = server.rate.time_to_send(u64::from(self.last_bytes));
                let idle_packets = server.idle_since.map(|since| packets_in(now.since(since), service));
                let arrival = Arrival { now, bytes, capable: label.ecn_capable, waiting, idle_packets };
                gate.decide(&arrival, &self.ring)
            }
            None => {
                let room = waiting < self.max_packets && self.bytes + u64::from(bytes) <= self.max_bytes;
                if room || server.idle_since.is_some() { Verdict::Take } else { Verdict::DropFull }
            }
        }
    }
}

impl Queue for Fifo {
    fn enqueue(&mut self, now: Time, packet: Waiting, server: &ServerView, _: &mut Drops) -> Verdict {
        let verdict = self.decide(now, &packet, server);
        if matches!(verdict, Verdict::Take | Verdict::Mark) {
            let Waiting { id, bytes, .. } = packet;
            let slot = Slot { id, bytes, offered: now, starts: Time::NEVER, arrives: Time::NEVER };
            if self.ring.push(slot) {
                self.ring.grow();
            }
            self.bytes += u64::from(bytes);
            self.last_bytes = bytes;
        }
        verdict
    }

    fn dequeue(&mut self, now: Time, _: &mut Drops) -> Option<Waiting> {
        if self.ring.head == self.ring.tail {
            return None;
        }
        let slot = self.ring.get_mut(self.ring.head);
        slot.starts = now;
        let Slot { id, bytes, offered, .. } = *slot;
        self.ring.head += 1;
        self.bytes -= u64::from(bytes);
        Some(Waiting { id, bytes, label: Label::default(), came: offered, marked: false })
    }

    fn packets(&self) -> u32 {
        (self.ring.tail - self.ring.head) as u32
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn on_rate(&mut self, rate: Rate) {
        if let Some(gate) = &mut self.gate {
            gate.on_rate(rate);
        }
    }
}
