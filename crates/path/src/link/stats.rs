use bentpipe_units::Span;
use schemars::JsonSchema;
use serde::Serialize;

/// What a link did from the start of a run to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LinkStats {
    /// Share of the time spent sending, 0 to 1.
    pub utilization: f64,
    /// Packets that arrived whole.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets that found the queue full, or were dropped early.
    pub dropped_packets: u64,
    /// Those of them that the queue dropped while there was room.
    pub early_dropped_packets: u64,
    /// Packets that the queue marked.
    pub marked_packets: u64,
    /// Packets that arrived damaged.
    pub corrupted_packets: u64,
    /// Time average of the number of packets waiting, the one being sent not counted.
    pub queue_mean_packets: f64,
    /// Most packets that ever waited at once.
    pub queue_max_packets: u32,
    /// Mean wait before service of the packets taken, in seconds; service and propagation are not in it. A packet still
    /// waiting at the end counts with the wait that it was going to have; where that is not known, because the queue decides when
    /// it leaves or the link changes, it does not count.
    pub queueing_delay_mean_s: f64,
}

/// What cannot be told from the ring's numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) delivered_bytes: u64,
    pub(super) max_waiting: u32,
    /// Time spent sending nothing, to the end of the packet taken last.
    pub(super) idle: Span,
    /// Nanoseconds; wide, because a long run through a long queue exceeds 2⁶⁴.
    pub(super) waits: u128,
    pub(super) dropped: u64,
    pub(super) early: u64,
    pub(super) marked: u64,
    pub(super) corrupted: u64,
}

/// A share of a whole; none of nothing.
pub(super) fn share_of(part: u128, whole: u128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
