//! One direction of the path with the packets in it.

use bentpipe_path::{Disorder, Link, Offered, PacketId, Stream};
use bentpipe_units::Time;
use serde::Serialize;

use crate::Way;

/// What a direction of the path did with its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LaneStats {
    /// Packets that the queue had no room for.
    pub dropped: u64,
    /// Packets lost under way.
    pub lost: u64,
    /// Packets held up.
    pub reordered: u64,
    /// Packets that came twice.
    pub duplicated: u64,
}

/// One direction: a link, and behind it what changes the order.
pub(crate) struct Lane<P> {
    link: Link,
    disorder: Disorder<P>,
    /// Packets in the link, by their number there.
    under_way: Vec<Option<P>>,
    free: Vec<PacketId>,
    dropped: u64,
    lost: u64,
}

impl<P: Clone> Lane<P> {
    /// An empty direction, called `name` where it draws random numbers.
    pub(crate) fn new(way: &Way, seed: u64, name: &str) -> Lane<P> {
        Lane {
            link: Link::new(&way.link(), Stream::derive(seed, name)),
            disorder: Disorder::new(way.disorder, Stream::derive(seed, &format!("{name}.disorder"))),
            under_way: Vec::new(),
            free: Vec::new(),
            dropped: 0,
            lost: 0,
        }
    }

    /// Takes a packet of `bytes` bytes.
    pub(crate) fn offer(&mut self, now: Time, packet: P, bytes: u32) {
        let id = match self.free.pop() {
            Some(id) => id,
            None => {
                self.under_way.push(None);
                (self.under_way.len() - 1) as PacketId
            }
        };
        match self.link.offer(now, id, bytes) {
            Offered::Queued | Offered::Marked => self.under_way[id as usize] = Some(packet),
            Offered::Dropped => {
                self.dropped += 1;
                self.free.push(id);
            }
        }
    }

    /// The next packet that has arrived by `now`; to be called until there is none.
    pub(crate) fn deliver(&mut self, now: Time) -> Option<P> {
        while let Some(delivery) = self.link.deliver(now) {
            let packet = self.under_way[delivery.id as usize].take();
            self.free.push(delivery.id);
            match packet {
                Some(packet) if !delivery.corrupted => self.disorder.offer(now, packet),
                _ => self.lost += 1,
            }
        }
        self.disorder.deliver(now)
    }

    /// When [`Lane::deliver`] wants to be called next.
    pub(crate) fn next_time(&self) -> Time {
        self.link.next_time().min(self.disorder.next_time())
    }

    pub(crate) fn stats(&self) -> LaneStats {
        LaneStats {
            dropped: self.dropped,
            lost: self.lost,
            reordered: self.disorder.reordered(),
            duplicated: self.disorder.duplicated(),
        }
    }
}
