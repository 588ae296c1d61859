//! Fair queueing with controlled delay (RFC 8290, "The Flow Queue CoDel Packet Scheduler and Active Queue Management
//! Algorithm").

use std::collections::VecDeque;

use bentpipe_units::bounded::{AboveZero, Size, Whole};
use bentpipe_units::{Bytes, Fault, Rate, Span, Time, options};

use super::codel::{Codel, Line, usual_interval, usual_mtu, usual_target};
use super::discipline::{Drops, Queue, ServerView, Verdict, Waiting};
use super::options::longer;
use super::{Discipline, Packets, Scheme};
use crate::Stream;
use crate::stream::splitmix64;

options! {
    "fq-codel", "a queue a flow, served in turn, each with controlled delay; new flows first (RFC 8290)", also ["fq", "sfq"];
    /// Fair queueing with controlled delay (RFC 8290).
    pub struct FqCodelOptions {
        /// The most packets that wait in all queues together.
        #[serde(default = "usual_limit")]
        pub limit: Packets,
        /// Number of queues, 1 to 65536.
        #[serde(default = "usual_queues", with = "Whole::<1, 65_536>")]
        pub queues: u32,
        /// Bytes that a queue may send before it is another's turn, 1 B to 1 MiB.
        #[serde(default = "usual_quantum", with = "Size::<1, 1_048_576>")]
        pub quantum: Bytes,
        /// CoDel: time that packets may wait in a standing queue, above zero.
        #[serde(default = "usual_target", with = "AboveZero")]
        pub target: Span,
        /// CoDel: how long they must have waited longer before one is dropped, above `target`.
        #[serde(default = "usual_interval")]
        pub interval: Span,
        /// CoDel: the longest packet of the link, 1 B to 1 MiB; where a queue has no more bytes than these left, nothing of it is dropped.
        #[serde(default = "usual_mtu", with = "Size::<1, 1_048_576>")]
        pub mtu: Bytes,
        /// Mark packets that are ECN-capable instead of dropping them; default true, as in RFC 8290.
        #[serde(default = "super::options::yes")]
        pub ecn: bool,
    }
}

/// RFC 8290 section 5.2.3.
fn usual_limit() -> Packets {
    Packets(10_240)
}

/// RFC 8290 section 5.2.5.
fn usual_queues() -> u32 {
    1024
}

/// RFC 8290 section 5.2.4: an MTU and the 14 bytes of an Ethernet header, which packets here do not have.
fn usual_quantum() -> Bytes {
    Bytes::new(1514)
}

/// The most packets that go at once when there is no room (RFC 8290 section 4.1).
const MOST_DROPPED: u32 = 64;

impl Scheme for FqCodelOptions {
    fn limit(&self) -> Packets {
        self.limit
    }

    /// What its hash begins with.
    fn draws(&self) -> bool {
        true
    }

    fn calm(&self, rate: Rate) -> (u32, u64) {
        let bytes = u128::from(rate.as_bps()) * u128::from(self.target.as_nanos()) / 8_000_000_000;
        (self.limit.0, bytes as u64)
    }

    fn validate(&self) -> Result<(), Fault> {
        longer("interval", self.interval, self.target, "target")
    }

    fn discipline(&self, _: Rate, mut stream: Stream) -> Discipline {
        Discipline::OnLeaving(Box::new(FqCodel::new(self, stream.next_u64())))
    }
}

/// Which list a queue is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Neither,
    New,
    Old,
}

#[derive(Debug)]
struct FlowQueue {
    line: Line,
    law: Codel,
    credits: i64,
    list: List,
}

#[derive(Debug)]
struct FqCodel {
    options: FqCodelOptions,
    /// Salts the hash, so that which flows share a queue is a matter of chance (RFC 8290 section 4.1).
    perturbation: u64,
    queues: Vec<FlowQueue>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: u32,
    bytes: u64,
    /// The MTU, or the longest packet where one was longer.
    longest: u64,
}

impl FqCodel {
    fn new(options: &FqCodelOptions, perturbation: u64) -> FqCodel {
        let law = Codel::new(options.target, options.interval, options.ecn);
        let queue = || FlowQueue { line: Line::default(), law: law.clone(), credits: 0, list: List::Neither };
        FqCodel {
            options: *options,
            perturbation,
            queues: std::iter::repeat_with(queue).take(options.queues as usize).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
            longest: options.mtu.get(),
        }
    }

    fn queue_of(&self, flow: u32) -> u32 {
        (splitmix64(self.perturbation ^ u64::from(flow)) % u64::from(self.options.queues)) as u32
    }

    /// Section 4.1: the queue with the most bytes loses half its packets, at most 64, from its head.
    fn make_room(&mut self, drops: &mut Drops) {
        let fattest = self.new.iter().chain(&self.old).max_by_key(|&&number| {
            // The lowest number where several are as fat.
            (self.queues[number as usize].line.bytes(), std::cmp::Reverse(number))
        });
        let Some(number) = fattest.copied() else { return };
        let line = &mut self.queues[number as usize].line;
        let many = (line.len() / 2).clamp(1, MOST_DROPPED);
        for packet in (0..many).map_while(|_| line.pop()) {
            self.packets -= 1;
            self.bytes -= u64::from(packet.bytes);
            drops.full(packet);
        }
    }
}

impl Queue for FqCodel {
    fn enqueue(&mut self, _: Time, packet: Waiting, server: &ServerView, drops: &mut Drops) -> Verdict {
        self.longest = self.longest.max(u64::from(packet.bytes));
        let number = self.queue_of(packet.label.flow);
        let queue = &mut self.queues[number as usize];
        queue.line.push(packet);
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
        // Section 4.1: a queue that is not active goes to the end of the new ones, with the quantum as its credits.
        if queue.list == List::Neither {
            queue.list = List::New;
            queue.credits = self.options.quantum.get() as i64;
            self.new.push_back(number);
        }
        if self.packets > self.options.limit.0 && server.idle_since.is_none() {
            self.make_room(drops);
        }
        Verdict::Take
    }

    /// Section 4.2.
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Waiting> {
        loop {
            let (list, number) = match (self.new.front(), self.old.front()) {
                (Some(number), _) => (List::New, *number),
                (None, Some(number)) => (List::Old, *number),
                (None, None) => return None,
            };
            let front = if list == List::New { &mut self.new } else { &mut self.old };
            let queue = &mut self.queues[number as usize];
            // "if that queue has a negative number of credits (i.e., it has already dequeued at least a quantum of bytes), it is
            // given an additional quantum of credits, the queue is put onto _the end of_ the list of old queues". With no credits
            // left it has dequeued a quantum.
            if queue.credits <= 0 {
                queue.credits += self.options.quantum.get() as i64;
                queue.list = List::Old;
                front.pop_front();
                self.old.push_back(number);
                continue;
            }
            let (packets, bytes) = (queue.line.len(), queue.line.bytes());
            let packet = queue.law.dequeue(now, &mut queue.line, self.longest, drops);
            self.packets -= packets - queue.line.len();
            self.bytes -= bytes - queue.line.bytes();
            match packet {
                Some(packet) => {
                    queue.credits -= i64::from(packet.bytes);
                    return Some(packet);
                }
                // An empty new queue goes to the end of the old ones, so that those are not starved by flows that come and go;
                // an empty old one leaves.
                None => {
                    front.pop_front();
                    queue.list = if list == List::New { List::Old } else { List::Neither };
                    if queue.list == List::Old {
                        self.old.push_back(number);
                    }
                }
            }
        }
    }

    fn packets(&self) -> u32 {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests;
