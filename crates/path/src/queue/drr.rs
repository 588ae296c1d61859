//! Deficit round robin (M. Shreedhar and G. Varghese, "Efficient Fair Queueing Using Deficit Round Robin", SIGCOMM 1995), and
//! dynamic thresholds (A. K. Choudhury and E. L. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches",
//! IEEE/ACM Transactions on Networking 6 (2), 1998).

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use bentpipe_units::bounded::{Above, Size, Whole};
use bentpipe_units::{Bytes, Fault, Rate, Time, conflict, options};
use schemars::JsonSchema;
use serde::Deserialize;

use super::codel::Line;
use super::discipline::{Drops, Queue, ServerView, Verdict, Waiting};
use super::{Discipline, Packets, Scheme};
use crate::Stream;
use crate::stream::splitmix64;

options! {
    "drr", "deficit round robin: a queue a flow, served in turn by bytes; the longest makes room, or dynamic \
                                   thresholds keep it (Shreedhar and Varghese 1995, Choudhury and Hahne 1998)", also ["fq", "sfq"];
    /// Deficit round robin (Shreedhar and Varghese 1995).
    pub struct DrrOptions {
        /// The most packets that wait in all queues together.
        pub limit: Packets,
        /// Bytes that a queue may send in a round, 1 B to 1 MiB.
        #[serde(default = "usual_quantum", with = "Size::<1, 1_048_576>")]
        pub quantum: Bytes,
        /// Number of queues, 1 to 65536, among which flows are spread by chance; default a queue for each flow.
        #[serde(default, with = "Whole::<1, 65_536>")]
        pub queues: Option<u32>,
        /// Which packet of the longest queue goes when there is no room; default "newest". Not with `alpha`.
        #[serde(default)]
        pub drop: Option<Victim>,
        /// A queue takes no packet while it is as long as so many times the free room, above 0; default no such threshold.
        #[serde(default, with = "Above::<0, 1_000_000>")]
        pub alpha: Option<f64>,
    }
}

/// Which packet of the longest queue makes room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Victim {
    /// The one that came last.
    #[default]
    Newest,
    /// The one that came first.
    Oldest,
}

/// The paper wants at least the longest packet, so that each queue sends one in each round.
fn usual_quantum() -> Bytes {
    Bytes::new(1500)
}

impl Scheme for DrrOptions {
    fn limit(&self) -> Packets {
        self.limit
    }

    fn validate(&self) -> Result<(), Fault> {
        match (self.alpha, self.drop) {
            (Some(_), Some(_)) => {
                Err(conflict!("cannot be combined with alpha, with which the buffer never fills up")
                    .under("drop"))
            }
            _ => Ok(()),
        }
    }

    fn discipline(&self, _: Rate, mut stream: Stream) -> Discipline {
        Discipline::OnLeaving(Box::new(Drr::new(self, stream.next_u64())))
    }
}

#[derive(Debug, Default)]
struct FlowQueue {
    line: Line,
    /// The paper's DeficitCounter.
    deficit: u64,
}

#[derive(Debug)]
struct Drr {
    options: DrrOptions,
    /// Salts the hash, so that which flows share a queue is a matter of chance.
    perturbation: u64,
    /// Those with packets, by number.
    queues: BTreeMap<u32, FlowQueue>,
    /// Their numbers in the order of their turns: the paper's ActiveList.
    active: VecDeque<u32>,
    /// The first of them has got its quantum of this round.
    granted: bool,
    packets: u32,
    bytes: u64,
}

impl Drr {
    fn new(options: &DrrOptions, perturbation: u64) -> Drr {
        let (queues, active) = (BTreeMap::new(), VecDeque::new());
        Drr { options: *options, perturbation, queues, active, granted: false, packets: 0, bytes: 0 }
    }

    fn queue_of(&self, flow: u32) -> u32 {
        let hashed = |queues| splitmix64(self.perturbation ^ u64::from(flow)) % u64::from(queues);
        self.options.queues.map_or(flow, |queues| hashed(queues) as u32)
    }

    /// Choudhury and Hahne: T(t) = α (B − Σ Q(t)), and a queue that is as long as that takes nothing.
    fn is_above_threshold(&self, number: u32, alpha: f64) -> bool {
        let length = self.queues.get(&number).map_or(0, |queue| queue.line.len());
        let free = self.options.limit.0.saturating_sub(self.packets);
        f64::from(length) >= alpha * f64::from(free)
    }

    fn push(&mut self, number: u32, packet: Waiting) {
        let queue = self.queues.entry(number).or_default();
        if queue.line.len() == 0 {
            self.active.push_back(number);
        }
        queue.line.push(packet);
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
    }

    /// A packet has left a queue. An empty one leaves the round, and what it had saved is gone.
    fn left(&mut self, number: u32, packet: &Waiting) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes);
        if self.queues.get(&number).is_some_and(|queue| queue.line.len() == 0) {
            self.queues.remove(&number);
            self.granted &= self.active.front() != Some(&number);
            self.active.retain(|other| *other != number);
        }
    }

    /// The queue with the most bytes loses a packet; the lowest number where several have as many.
    fn make_room(&mut self, drops: &mut Drops) {
        let longest =
            self.queues.iter_mut().max_by_key(|(number, queue)| (queue.line.bytes(), Reverse(**number)));
        let Some((&number, FlowQueue { line, .. })) = longest else { return };
        let victim = match self.options.drop.unwrap_or_default() {
            Victim::Newest => line.pop_last(),
            Victim::Oldest => line.pop(),
        };
        if let Some(packet) = victim {
            self.left(number, &packet);
            drops.full(packet);
        }
    }
}

impl Queue for Drr {
    fn enqueue(&mut self, _: Time, packet: Waiting, server: &ServerView, drops: &mut Drops) -> Verdict {
        let number = self.queue_of(packet.label.flow);
        let busy = server.idle_since.is_none();
        if self.options.alpha.is_some_and(|alpha| busy && self.is_above_threshold(number, alpha)) {
            let full = self.packets >= self.options.limit.0;
            return if full { Verdict::DropFull } else { Verdict::DropEarly };
        }
        self.push(number, packet);
        if self.packets > self.options.limit.0 && busy {
            self.make_room(drops);
        }
        Verdict::Take
    }

    fn dequeue(&mut self, _: Time, _: &mut Drops) -> Option<Waiting> {
        loop {
            let number = *self.active.front()?;
            let queue = self.queues.get_mut(&number)?;
            if !self.granted {
                queue.deficit += self.options.quantum.get();
                self.granted = true;
            }
            let length = queue.line.first().map_or(0, |first| u64::from(first.bytes));
            if length <= queue.deficit
                && let Some(packet) = queue.line.pop()
            {
                queue.deficit -= length;
                self.left(number, &packet);
                return Some(packet);
            }
            // What is left of its quantum is added to that of the next round.
            self.active.rotate_left(1);
            self.granted = false;
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
