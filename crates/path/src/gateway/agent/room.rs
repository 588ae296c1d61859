//! Room before the link that an agent guards, in the queue's own units.

use std::collections::VecDeque;

use bentpipe_units::{Rate, Time};

use crate::QueueSpec;

/// The link that an agent guards, at the moment at which it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Rate that carries packets.
    pub rate: Rate,
    /// Packets and bytes that wait.
    pub waiting: (u32, u64),
    /// The most that may wait.
    pub most: (u32, u64),
    /// The most that waits before a scheme that manages the queue drops or marks; where there is none, the most that may wait.
    pub calm: (u32, u64),
}

impl Room {
    /// Before a link of this rate, where so much waits.
    pub fn new(queue: &QueueSpec, rate: Rate, waiting: (u32, u64)) -> Room {
        Room { rate, waiting, most: queue.room(), calm: queue.calm(rate) }
    }
}

/// The packets of an agent that wait before its link, as far as it knows: with what is found there they leave in turn.
#[derive(Clone, Debug)]
pub(super) struct Own {
    /// Share of the queue that they may fill.
    share: f64,
    /// When each one leaves, and its bytes.
    waiting: VecDeque<(Time, u32)>,
    bytes: u64,
}

impl Own {
    pub(super) fn new(share: f64) -> Own {
        Own { share, waiting: VecDeque::new(), bytes: 0 }
    }

    /// Whether the queue takes a packet of so many bytes, and the agent has not filled its share of it, or what a scheme leaves alone. An
    /// empty queue takes any.
    pub(super) fn has_room(&mut self, now: Time, bytes: u32, room: &Room) -> bool {
        while let Some((_, bytes)) = self.waiting.front().copied().filter(|(leaves, _)| *leaves <= now) {
            self.bytes -= u64::from(bytes);
            self.waiting.pop_front();
        }
        let Room { waiting, most, calm, .. } = *room;
        let share = ((f64::from(most.0) * self.share) as u32, (most.1 as f64 * self.share) as u64);
        let own = (share.0.min(calm.0), share.1.min(calm.1));
        takes(waiting, most, bytes) && takes((self.waiting.len() as u32, self.bytes), own, bytes)
    }

    /// A packet goes into the queue.
    pub(super) fn enters(&mut self, now: Time, bytes: u32, room: &Room) {
        let leaves = now + room.rate.time_to_send(room.waiting.1 + u64::from(bytes));
        self.waiting.push_back((leaves, bytes));
        self.bytes += u64::from(bytes);
    }
}

fn takes(waiting: (u32, u64), most: (u32, u64), bytes: u32) -> bool {
    waiting.0 == 0 || (waiting.0 < most.0 && waiting.1 + u64::from(bytes) <= most.1)
}
