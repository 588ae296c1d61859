//! One direction of a link: a queue, a sender of fixed rate, a propagation delay.

mod stats;

use bentpipe_units::{Rate, Span, Time};

pub use stats::LinkStats;
use stats::Tally;

use crate::queue::{ActiveQueue, Arrival, Verdict};
use crate::ring::{Ring, Slot};
use crate::{Loss, LossSpec, QueueSpec, Stream};

/// What the ring notes of a packet that passes.
const WHOLE: PacketId = 0;
const DAMAGED: PacketId = 1;
/// A length that no packet has.
const NO_LENGTH: u32 = u32::MAX;

/// How a driver knows a packet: an index into its own store.
pub type PacketId = u32;

/// What one direction of a link is set up with.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Nominal rate.
    pub rate: Rate,
    /// Propagation delay, from the last bit sent to the last bit received.
    pub delay: Span,
    /// Share of the nominal rate that carries packets (framing, coding, roll-off); above 0, at most 1.
    pub efficiency: f64,
    /// What may wait while another packet is sent.
    pub queue: QueueSpec,
    /// Which packets arrive damaged.
    pub loss: LossSpec,
}

/// What became of a packet that was offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// Taken: it will come out of [`Link::deliver`].
    Queued,
    /// Taken, and marked: it will come out of [`Link::deliver`], and the caller sets the ECN codepoint CE on it.
    Marked,
    /// The queue was full, or is managed so that it dropped the packet early; the packet is the caller's again.
    Dropped,
}

/// What becomes of a packet that goes through a link without an event for its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// It arrives at this time.
    Arrives(Time),
    /// It arrives at this time, marked: the caller sets the ECN codepoint CE on it.
    Marked(Time),
    /// It arrives at this time, damaged.
    Corrupted(Time),
    /// The queue was full, or is managed so that it dropped the packet early.
    Dropped,
}

/// A packet at the far end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The id that it was offered with.
    pub id: PacketId,
    /// The length that it was offered with, in bytes.
    pub bytes: u32,
    /// Damaged under way: it used the link, and nobody receives it.
    pub corrupted: bool,
}

/// One direction of a link.
///
/// It is first in, first out, so the moment at which a packet leaves is known when it comes: the link keeps its packets in
/// a ring, in order, and waits for one event only, the arrival of its head. The times passed in never go back.
#[derive(Clone, Debug)]
pub struct Link {
    ring: Ring,
    /// When the ring's head arrives.
    next: Time,
    /// When the last packet taken has left the sender.
    free_at: Time,
    /// Number of the first packet that had not begun service when this was last looked at. It may fall behind the head:
    /// delivered packets stay readable until the next is pushed, and before that `offer` brings this up to date.
    serving: u64,
    waiting_bytes: u64,
    max_waiting_bytes: u64,
    max_waiting_packets: u32,
    /// The last packet length, and the time that it takes to send: most packets have the length of the one before.
    /// [`NO_LENGTH`] before an active queue, so that the one comparison leads to the decision on a packet too.
    last_bytes: u32,
    last_service: Span,
    /// Packets go through by [`Link::pass`]: the ring remembers them until they have arrived, or longer, and
    /// nobody fetches them.
    passes: bool,
    delay: Span,
    loss: Loss,
    tally: Tally,
    stream: Stream,
    rate: Rate,
    active: Option<Box<ActiveQueue>>,
}

impl Link {
    /// An idle link. `stream` is for its losses, which are the same whatever the queue: an active one draws from a stream
    /// that is derived from it.
    pub fn new(config: &LinkConfig, mut stream: Stream) -> Link {
        let (max_waiting_packets, max_waiting_bytes) = config.queue.room();
        let rate = config.rate.scaled(config.efficiency);
        let active = match &config.queue {
            QueueSpec::Active(spec) => Some(Box::new(ActiveQueue::new(spec, rate, stream.part("queue")))),
            _ => None,
        };
        Link {
            ring: Ring::new(),
            next: Time::NEVER,
            free_at: Time::ZERO,
            serving: 0,
            waiting_bytes: 0,
            max_waiting_bytes,
            max_waiting_packets,
            last_bytes: if active.is_some() { NO_LENGTH } else { 0 },
            last_service: rate.time_to_send(0),
            passes: false,
            delay: config.delay,
            loss: Loss::new(&config.loss, &mut stream),
            tally: Tally::default(),
            stream,
            rate,
            active,
        }
    }

    /// Takes a packet of `bytes` bytes that is not ECN-capable, or drops it when it would have to wait and may not.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, id: PacketId, bytes: u32) -> Offered {
        self.offer_marking(now, id, bytes, || false)
    }

    /// As [`Link::offer`], for a packet that an active queue may mark when it is `capable`; others do not ask.
    #[inline(always)]
    pub fn offer_marking(
        &mut self,
        now: Time,
        id: PacketId,
        bytes: u32,
        capable: impl FnOnce() -> bool,
    ) -> Offered {
        match bytes == self.last_bytes {
            true => self.take(now, id, bytes),
            false => self.offer_of_other_length(now, id, bytes, capable),
        }
    }

    #[inline(never)]
    fn offer_of_other_length(
        &mut self,
        now: Time,
        id: PacketId,
        bytes: u32,
        capable: impl FnOnce() -> bool,
    ) -> Offered {
        if self.active.is_some() {
            return self.offer_to_active(now, id, bytes, capable());
        }
        self.last_bytes = bytes;
        self.last_service = self.rate.time_to_send(u64::from(bytes));
        self.take(now, id, bytes)
    }

    /// Takes a packet whose sending time is known, or drops it when it would have to wait and may not.
    #[inline(always)]
    fn take(&mut self, now: Time, id: PacketId, bytes: u32) -> Offered {
        let starts = if self.free_at <= now {
            self.serving = self.ring.tail + 1;
            self.waiting_bytes = 0;
            now
        } else {
            self.settle(now);
            let waiting = (self.ring.tail - self.serving) as u32;
            let waiting_bytes = self.waiting_bytes + u64::from(bytes);
            if waiting >= self.max_waiting_packets || waiting_bytes > self.max_waiting_bytes {
                self.tally.dropped += 1;
                return Offered::Dropped;
            }
            self.waiting_bytes = waiting_bytes;
            self.tally.max_waiting = self.tally.max_waiting.max(waiting + 1);
            self.tally.waits += u128::from(self.free_at.since(now).as_nanos());
            self.free_at
        };
        self.tally.busy += self.last_service;
        self.free_at = starts + self.last_service;
        let arrives = self.free_at + self.delay;
        if self.ring.head == self.ring.tail {
            self.next = arrives;
        }
        self.ring.push(Slot { id, bytes, offered: now, starts, arrives });
        Offered::Queued
    }

    /// An active queue decides on a packet that arrives; one that it takes finds room.
    #[cold]
    #[inline(never)]
    fn offer_to_active(&mut self, now: Time, id: PacketId, bytes: u32, capable: bool) -> Offered {
        self.settle(now);
        let waiting = (self.ring.tail - self.serving) as u32;
        let Some(active) = &mut self.active else { return Offered::Dropped };
        // Where the last packet took no time, which holds before the first too, any idle time is endless.
        let service = self.last_service.as_nanos().max(1) as f64;
        let idle = (self.free_at <= now).then(|| now.since(self.free_at).as_nanos() as f64);
        let idle_packets = idle.map(|idle| idle / service);
        let arrival = Arrival { now, bytes, capable, waiting, idle_packets };
        let verdict = active.decide(&arrival, &self.ring);
        if verdict == Verdict::Drop {
            self.tally.dropped += 1;
            return Offered::Dropped;
        }
        self.last_service = self.rate.time_to_send(u64::from(bytes));
        self.take(now, id, bytes);
        if verdict == Verdict::Mark { Offered::Marked } else { Offered::Queued }
    }

    /// Takes a packet of `bytes` bytes that is not ECN-capable and tells at once what becomes of it.
    ///
    /// For a link whose packets all go to elements that nobody else feeds: what happens to them there is settled by now, so
    /// their arrival needs no event. A link is used either by this or by [`Link::offer`] and [`Link::deliver`].
    #[inline]
    pub fn pass(&mut self, now: Time, bytes: u32) -> Passed {
        self.pass_marking(now, bytes, || false)
    }

    /// As [`Link::pass`], for a packet that an active queue may mark when it is `capable`; others do not ask.
    #[inline]
    pub fn pass_marking(&mut self, now: Time, bytes: u32, capable: impl FnOnce() -> bool) -> Passed {
        self.passes = true;
        if self.ring.is_full() {
            self.forget_arrived(now);
        }
        match self.offer_marking(now, WHOLE, bytes, capable) {
            Offered::Queued => self.passed(bytes),
            Offered::Marked => self.passed_marked(bytes),
            Offered::Dropped => Passed::Dropped,
        }
    }

    /// What becomes of the packet that was just taken.
    #[inline(always)]
    fn passed(&mut self, bytes: u32) -> Passed {
        let arrives = self.free_at + self.delay;
        if self.loss.lost(bytes, &mut self.stream) {
            self.ring.last_mut().id = DAMAGED;
            return Passed::Corrupted(arrives);
        }
        Passed::Arrives(arrives)
    }

    #[cold]
    #[inline(never)]
    fn passed_marked(&mut self, bytes: u32) -> Passed {
        match self.passed(bytes) {
            Passed::Arrives(at) => Passed::Marked(at),
            other => other,
        }
    }

    /// Counts the passed packets that have arrived by `now`.
    #[inline(never)]
    fn forget_arrived(&mut self, now: Time) {
        while self.ring.head < self.ring.tail {
            let Slot { id, bytes, arrives, .. } = *self.ring.get(self.ring.head);
            if arrives > now {
                return;
            }
            self.ring.head += 1;
            match id {
                DAMAGED => self.tally.corrupted += 1,
                _ => self.tally.delivered_bytes += u64::from(bytes),
            }
        }
    }

    /// When [`Link::deliver`] wants to be called next; `Time::NEVER` when nothing is under way.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.next
    }

    /// The next packet that has arrived by `now`; to be called until there is none.
    #[inline]
    pub fn deliver(&mut self, now: Time) -> Option<Delivery> {
        if self.next > now || self.ring.head == self.ring.tail {
            return None;
        }
        let Slot { id, bytes, .. } = *self.ring.get(self.ring.head);
        self.ring.head += 1;
        let empty = self.ring.head == self.ring.tail;
        self.next = if empty { Time::NEVER } else { self.ring.get(self.ring.head).arrives };
        let corrupted = self.loss.lost(bytes, &mut self.stream);
        if corrupted {
            self.tally.corrupted += 1;
        } else {
            self.tally.delivered_bytes += u64::from(bytes);
        }
        Some(Delivery { id, bytes, corrupted })
    }

    /// When the packet that was taken last leaves the queue to be sent; none before the first packet.
    pub fn last_begins(&self) -> Option<Time> {
        self.ring.last().map(|slot| slot.starts)
    }

    /// Packets waiting at `now`, the one being sent not counted.
    pub fn queue_packets(&mut self, now: Time) -> u32 {
        self.settle(now);
        (self.ring.tail - self.serving) as u32
    }

    /// Bytes waiting at `now`, the packet being sent not counted.
    pub fn queue_bytes(&mut self, now: Time) -> u64 {
        self.settle(now);
        self.waiting_bytes
    }

    /// Packets taken and not yet delivered: waiting, being sent or on their way. Where packets pass, some that have arrived
    /// may still be among them.
    pub fn in_flight_packets(&self) -> usize {
        (self.ring.tail - self.ring.head) as usize
    }

    /// What the link did in [0, `end`]; `end` is not before the last delivery. A packet that [`Link::pass`] on another link
    /// brought here ahead of time counts only when its time has come.
    pub fn stats(&mut self, end: Time) -> LinkStats {
        if self.passes {
            self.forget_arrived(end);
        }
        let tally = &self.tally;
        let mut busy = tally.busy;
        let (mut waits, mut waits_to_end, mut taken) = (tally.waits, tally.waits, self.ring.tail);
        for number in (self.ring.head..self.ring.tail).rev() {
            let slot = self.ring.get(number);
            let sent = Time::ZERO + (slot.arrives.since(Time::ZERO) - self.delay);
            if sent <= end {
                break;
            }
            busy = busy - sent.since(slot.starts.max(end));
            waits_to_end -= u128::from(slot.starts.since(end.max(slot.offered)).as_nanos());
            if slot.offered > end {
                taken -= 1;
                waits -= u128::from(slot.starts.since(slot.offered).as_nanos());
            }
        }
        let share_of = |part: u128, whole: u128| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let elapsed = u128::from(end.as_nanos());
        LinkStats {
            utilization: share_of(u128::from(busy.as_nanos()), elapsed),
            delivered_packets: self.ring.head - tally.corrupted,
            delivered_bytes: tally.delivered_bytes,
            dropped_packets: tally.dropped,
            early_dropped_packets: self.active.as_ref().map_or(0, |active| active.early_dropped),
            marked_packets: self.active.as_ref().map_or(0, |active| active.marked),
            corrupted_packets: tally.corrupted,
            queue_mean_packets: share_of(waits_to_end, elapsed),
            queue_max_packets: tally.max_waiting,
            queueing_delay_mean_s: share_of(waits, u128::from(taken)) * 1e-9,
        }
    }

    /// Passes over the packets that have begun service by `now`: once each, so a constant cost a packet.
    #[inline]
    fn settle(&mut self, now: Time) {
        while self.serving < self.ring.tail {
            let first = self.ring.get(self.serving);
            if first.starts > now {
                return;
            }
            self.waiting_bytes -= u64::from(first.bytes);
            self.serving += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 bytes take 1 ms.
    fn config(queue: &str) -> LinkConfig {
        LinkConfig {
            rate: Rate::from_bps(10_000_000),
            delay: Span::from_millis(250),
            efficiency: 0.8,
            queue: queue.parse().unwrap(),
            loss: LossSpec::None,
        }
    }

    fn link(queue: &str) -> Link {
        Link::new(&config(queue), Stream::derive(1, "link"))
    }

    fn us(us: u64) -> Time {
        Time::from_nanos(us * 1000)
    }

    #[test]
    fn a_packet_takes_its_sending_time_and_the_delay() {
        let mut link = link("unlimited");
        assert_eq!(link.next_time(), Time::NEVER);
        assert_eq!(link.offer(us(100), 7, 1000), Offered::Queued);
        assert_eq!(link.next_time(), us(251_100));
        assert_eq!(link.deliver(Time::from_nanos(251_099_999)), None);
        assert_eq!(link.deliver(us(251_100)), Some(Delivery { id: 7, bytes: 1000, corrupted: false }));
        assert_eq!(link.deliver(us(251_100)), None);
        assert_eq!(link.next_time(), Time::NEVER);
    }

    #[test]
    fn only_waiting_packets_count_against_the_queue() {
        let mut link = link("2 packets");
        let offers: Vec<_> = (0..4).map(|id| link.offer(us(0), id, 1000)).collect();
        assert_eq!(offers, [Offered::Queued, Offered::Queued, Offered::Queued, Offered::Dropped]);
        assert_eq!(link.queue_packets(us(999)), 2);
        // At 1 ms the first has left, the second is being sent, and there is room for one again.
        assert_eq!(link.queue_packets(us(1000)), 1);
        assert_eq!(link.offer(us(1000), 4, 1000), Offered::Queued);
        assert_eq!(link.offer(us(1000), 5, 1000), Offered::Dropped);
        assert_eq!(link.stats(us(1000)).dropped_packets, 2);
    }

    #[test]
    fn a_queue_of_no_packets_lets_nothing_wait() {
        let mut link = link("0 packets");
        assert_eq!(link.offer(us(0), 0, 1000), Offered::Queued);
        assert_eq!(link.offer(us(999), 1, 1000), Offered::Dropped);
        assert_eq!(link.offer(us(1000), 2, 1000), Offered::Queued);
        assert_eq!(link.stats(us(1000)).queue_max_packets, 0);
    }

    #[test]
    fn a_queue_in_bytes_takes_what_fits() {
        let mut link = link("1500 B");
        assert_eq!(link.offer(us(0), 0, 3000), Offered::Queued);
        assert_eq!(link.offer(us(0), 1, 1000), Offered::Queued);
        assert_eq!(link.offer(us(0), 2, 501), Offered::Dropped);
        assert_eq!(link.offer(us(0), 3, 500), Offered::Queued);
        assert_eq!(link.queue_bytes(us(0)), 1500);
        assert_eq!(link.offer(us(2999), 4, 1), Offered::Dropped);
        assert_eq!(link.queue_bytes(us(3000)), 500);
        assert_eq!(link.queue_packets(us(4000)), 0);
    }

    #[test]
    fn statistics_are_clipped_at_the_end() {
        let mut link = link("unlimited");
        for id in 0..3 {
            link.offer(us(1000), id, 1000);
        }
        // Sending 1 ms to 4 ms; waits of 0, 1 and 2 ms. At 2.5 ms the third packet has waited 1.5 ms.
        let stats = link.stats(us(2500));
        assert_eq!(stats.utilization, 0.6);
        assert_eq!(stats.queue_mean_packets, 1.0);
        assert_eq!(stats.queue_max_packets, 2);
        assert_eq!(stats.queueing_delay_mean_s, 1e-3);
        let stats = link.stats(us(6000));
        assert_eq!((stats.utilization, stats.queue_mean_packets), (0.5, 0.5));
        assert_eq!(self::link("unlimited").stats(Time::ZERO), LinkStats::default());
    }

    #[test]
    fn a_delivery_late_by_the_caller_keeps_the_count_of_waiting() {
        let mut link = link("unlimited");
        for id in 0..3 {
            link.offer(us(0), id, 1000);
        }
        let ids: Vec<_> = std::iter::from_fn(|| link.deliver(us(400_000))).map(|d| d.id).collect();
        assert_eq!(ids, [0, 1, 2]);
        assert_eq!((link.queue_packets(us(400_000)), link.queue_bytes(us(400_000))), (0, 0));
    }

    #[test]
    fn damaged_packets_use_the_link_and_are_counted_apart() {
        let loss = LossSpec::Drop { packets: vec![2], at_least: Default::default() };
        let mut link = Link::new(&LinkConfig { loss, ..config("unlimited") }, Stream::derive(1, "link"));
        for id in 0..3 {
            link.offer(us(0), id, 1000);
        }
        let corrupted: Vec<_> =
            std::iter::from_fn(|| link.deliver(us(400_000))).map(|d| d.corrupted).collect();
        assert_eq!(corrupted, [false, true, false]);
        let stats = link.stats(us(400_000));
        assert_eq!((stats.delivered_packets, stats.delivered_bytes, stats.corrupted_packets), (2, 2000, 1));
        assert_eq!(stats.utilization, 3.0 / 400.0);
    }

    #[test]
    fn packets_without_length_pass_in_no_time() {
        let mut link = link("0 packets");
        assert_eq!(link.offer(us(5), 0, 0), Offered::Queued);
        assert_eq!(link.offer(us(5), 1, 0), Offered::Queued);
        assert_eq!(link.next_time(), us(250_005));
    }
}
