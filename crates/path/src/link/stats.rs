//! What a link did: counted packet by packet, and told as shares and means.

use bentpipe_units::Span;

use super::repair::{RepairStats, RepairSums};
use super::supply::{Supply, SupplyStats};
use super::waits::WaitQuantiles;

bentpipe_units::numbers! {
    /// What a link did from the start of a run to its end, or from where a measurement began.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct LinkStats {
        /// Share of the time spent sending, 0 to 1.
        pub utilization: f64 = "share", "busy";
        /// Packets that arrived whole.
        pub delivered_packets: u64 = "packet", "delivered";
        /// Bytes of the packets that arrived whole.
        pub delivered_bytes: u64 = "B", "delivered bytes";
        /// Packets that found the queue full, or were dropped early.
        pub dropped_packets: u64 = "packet", "dropped", runs packets;
        /// Packets that an active queue dropped while there was room.
        pub early_dropped_packets: u64 = "packet", "dropped early";
        /// Packets that the queue marked.
        pub marked_packets: u64 = "packet", "marked";
        /// Packets that arrived damaged, and that nothing repaired.
        pub corrupted_packets: u64 = "packet", "corrupted", runs packets;
        /// Time average of the number of packets waiting, the one being sent not counted.
        pub queue_mean_packets: f64 = "packet", "queue, mean";
        /// Most packets that ever waited at once.
        pub queue_max_packets: u32 = "packet", "queue, most";
        /// Mean wait before service of the packets taken, in seconds; service and propagation are not in it. A packet still
        /// waiting at the end counts with the wait that it was going to have; where that is not known, because the queue decides when
        /// it leaves or the link changes, it does not count.
        pub queueing_delay_mean_s: f64 = "s", "queueing delay";
        /// How the waits are distributed.
        #[serde(flatten)]
        pub waits: WaitQuantiles;
        /// How its losses were repaired, where they are.
        #[serde(flatten)]
        pub repair: Option<RepairStats>;
        /// What it could have carried, where it changes.
        #[serde(flatten)]
        pub supply: Option<SupplyStats>;
    }
}

/// What cannot be told from the ring's numbers, and most packets change.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Packets that had no place in the ring.
    pub(super) crossed: u64,
    pub(super) delivered_bytes: u64,
    /// Time spent sending nothing, to the end of the packet taken last.
    pub(super) idle: Span,
    pub(super) max_waiting: u32,
}

/// What few packets change.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// Nanoseconds; wide, because a long run through a long queue exceeds 2⁶⁴.
    pub(super) waits: u128,
    pub(super) dropped: u64,
    pub(super) early: u64,
    pub(super) marked: u64,
    pub(super) corrupted: u64,
}

/// What a link did up to a time, as sums.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) busy: Span,
    /// Packets waiting, over time, in nanoseconds.
    pub(super) waiting: u128,
    /// Packets that were taken, and the nanoseconds that they waited.
    pub(super) taken: u64,
    pub(super) waits: u128,
    pub(super) delivered: u64,
    pub(super) delivered_bytes: u64,
    pub(super) corrupted: u64,
    pub(super) dropped: u64,
    pub(super) early: u64,
    pub(super) marked: u64,
    pub(super) repair: RepairSums,
    pub(super) supply: Supply,
}

impl Sums {
    /// What was added since `earlier`. A packet that waited then has the wait that it was going to have in both, and what a
    /// link passes ahead of its time may lie in `earlier` alone.
    pub(super) fn since(&self, earlier: &Sums) -> Sums {
        Sums {
            busy: self.busy - earlier.busy,
            waiting: self.waiting.saturating_sub(earlier.waiting),
            taken: self.taken.saturating_sub(earlier.taken),
            waits: self.waits.saturating_sub(earlier.waits),
            delivered: self.delivered.saturating_sub(earlier.delivered),
            delivered_bytes: self.delivered_bytes.saturating_sub(earlier.delivered_bytes),
            corrupted: self.corrupted.saturating_sub(earlier.corrupted),
            dropped: self.dropped.saturating_sub(earlier.dropped),
            early: self.early.saturating_sub(earlier.early),
            marked: self.marked.saturating_sub(earlier.marked),
            repair: self.repair.since(&earlier.repair),
            supply: self.supply.since(&earlier.supply),
        }
    }

    pub(super) fn stats(&self, elapsed: Span, most_waiting: u32) -> LinkStats {
        let elapsed = u128::from(elapsed.as_nanos());
        LinkStats {
            utilization: share_of(u128::from(self.busy.as_nanos()), elapsed),
            delivered_packets: self.delivered,
            delivered_bytes: self.delivered_bytes,
            dropped_packets: self.dropped,
            early_dropped_packets: self.early,
            marked_packets: self.marked,
            corrupted_packets: self.corrupted,
            queue_mean_packets: share_of(self.waiting, elapsed),
            queue_max_packets: most_waiting,
            queueing_delay_mean_s: share_of(self.waits, u128::from(self.taken)) * 1e-9,
            waits: WaitQuantiles::default(),
            repair: None,
            supply: None,
        }
    }
}

/// A share of a whole; none of nothing.
fn share_of(part: u128, whole: u128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
