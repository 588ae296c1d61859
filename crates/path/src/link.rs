//! One direction of a link: a queue, a server and a pipe.
//!
//! Where the queue is first in, first out, nothing changes and no loss is repaired, the moment at which a packet leaves is known when it comes,
//! and the link is computed in closed form. Otherwise it goes step by step (`served`). Both do the same where both can.

mod config;
mod frame;
mod measured;
mod outcome;
mod pipe;
mod repair;
mod schedule;
mod served;
mod stats;
mod supply;
mod waits;
mod work;

use bentpipe_units::{Rate, Span, Time};

pub use config::LinkConfig;
pub use outcome::{Fate, Leaving, Offered, Passed};
pub use repair::{ArqSpec, Attempts, FecSpec, Repair, RepairStats};
pub use schedule::{Change, InOutage, Schedule};
use served::Served;
pub use stats::LinkStats;
use stats::{Counts, Sums, Tally};
pub use supply::SupplyStats;
pub use waits::WaitQuantiles;
use waits::Waits;
use work::{Known, work};

use crate::loss::Losses;
use crate::packet::PacketId;
use crate::queue::{Arrival, Discipline, Fifo, Gate, Label, Queue, Verdict, packets_in};
use crate::ring::{Ring, Slot};
use crate::{LossModel, LossSpec, QueueSpec, Stream};

/// What the ring notes of a packet that passes.
const WHOLE: PacketId = 0;
const DAMAGED: PacketId = 1;
/// Lengths that no packet has.
const NO_LENGTH: u32 = u32::MAX;
const EACH_ANEW: u32 = u32::MAX - 1;

/// One direction of a link.
///
/// In closed form it keeps its packets in a ring, in order, and waits for one event only, the arrival of its head. The times
/// passed in never go back.
// The fields lie by cache lines: first those of a packet that finds the link idle, then those of most packets, then those of few.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Link {
    /// The last two lengths, data and ACKs; none where a packet's way over the link is more than a time.
    known: [Known; 2],
    /// The time that the last packet length takes to send: most packets have the length of the one before.
    last_service: Span,
    /// Above [`ROUNDED`]: work that is left when the last packet taken has been sent, less than a nanosecond's.
    rest: u64,
    /// When the last packet taken has left the sender.
    free_at: Time,
    delay: Span,
    tally: Tally,
    /// The last packet length. [`NO_LENGTH`] before a queue that decides, so that the one comparison leads to the decision on a packet too;
    /// [`EACH_ANEW`] where a part of a nanosecond is left.
    last_bytes: u32,
    max_waiting_packets: u32,
    /// When the ring's head arrives; or when a link that goes step by step is to be called, or earlier.
    next: Time,
    /// Number of the first packet that had not begun service when this was last looked at. It may fall behind the head:
    /// delivered packets stay readable until the next is pushed, and before that `offer` brings this up to date.
    serving: u64,
    waiting_bytes: u64,
    ring: Ring,
    max_waiting_bytes: u64,
    loss: LossModel,
    /// Packets go through by [`Link::pass`]: the ring remembers them until they have arrived, or longer, and
    /// nobody fetches them.
    passes: bool,
    counts: Counts,
    rate: Rate,
    gate: Option<Box<Gate>>,
    /// Instead of all the above but `next`: the link goes step by step.
    served: Option<Box<Served>>,
    stream: Stream,
    /// From when on it is measured, if not from the start, and what it had done by then.
    before: Option<Box<(Time, Sums)>>,
    /// The waits of those that had to wait, where somebody asked; a link that goes step by step has its own.
    waits: Option<Box<Waits>>,
}

impl Link {
    /// An idle link. `stream` is for its losses, which are the same whatever the queue: one that draws does so from a stream
    /// that is derived from it.
    pub fn new(config: &LinkConfig, stream: Stream) -> Link {
        match discipline(config, &stream) {
            Discipline::OnArrival(gate) if is_closed(config) => Link::closed(config, gate, stream),
            other => Link::with_queue(config, queue(config, other), stream),
        }
    }

    /// As [`Link::new`], but step by step also where the closed form would do: to hold the one against the other.
    pub fn step_by_step(config: &LinkConfig, stream: Stream) -> Link {
        Link::with_queue(config, queue(config, discipline(config, &stream)), stream)
    }

    /// An idle link with a queue of the caller's own, in place of the one in `config`.
    pub fn with_queue(config: &LinkConfig, queue: Box<dyn Queue>, mut stream: Stream) -> Link {
        let loss = Losses::new(&config.loss, &mut stream);
        let served = Served::new(config, queue, loss, stream.clone());
        let idle = Link::closed(&LinkConfig { loss: LossSpec::None, ..config.clone() }, None, stream);
        Link { last_bytes: NO_LENGTH, served: Some(Box::new(served)), ..idle }
    }

    fn closed(config: &LinkConfig, gate: Option<Box<Gate>>, mut stream: Stream) -> Link {
        let (max_waiting_packets, max_waiting_bytes) = config.queue.room();
        let rate = config.rate.scaled(config.efficiency);
        Link {
            ring: Ring::new(),
            next: Time::NEVER,
            free_at: Time::ZERO,
            serving: 0,
            waiting_bytes: 0,
            max_waiting_bytes,
            max_waiting_packets,
            last_bytes: if gate.is_some() { NO_LENGTH } else { 0 },
            last_service: rate.time_to_send(0),
            rest: 0,
            known: [Known::NOTHING; 2],
            passes: false,
            delay: config.delay,
            loss: LossModel::new(&config.loss, &mut stream),
            tally: Tally::default(),
            counts: Counts::default(),
            stream,
            rate,
            gate,
            served: None,
            before: None,
            waits: None,
        }
    }

    /// Takes a packet of `bytes` bytes, or drops it when it would have to wait and may not. Only a queue that decides asks for
    /// its `label`.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, id: PacketId, bytes: u32, label: impl FnOnce() -> Label) -> Offered {
        if bytes == self.last_bytes {
            return self.take(now, id, bytes);
        }
        // The label is asked for here, so that what it is read from is not in memory for a queue that does not ask.
        match self.last_bytes {
            NO_LENGTH => self.offer_to_deciding(now, id, bytes, label()),
            _ => self.take_of_other_length(now, id, bytes),
        }
    }

    #[inline(never)]
    fn take_of_other_length(&mut self, now: Time, id: PacketId, bytes: u32) -> Offered {
        let before = self.rest;
        let (service, part) = self.service(now, bytes);
        self.last_service = service;
        self.last_bytes = if self.rest == 0 && part == 0 { bytes } else { EACH_ANEW };
        let offered = self.take(now, id, bytes);
        if offered == Offered::Dropped {
            self.rest = before;
        }
        offered
    }

    /// How long it takes to send a packet that comes now, and by itself the part of a nanosecond beside whole ones.
    fn service(&mut self, now: Time, bytes: u32) -> (Span, u64) {
        let (time, part) = match self.known.iter().find(|known| known.bytes == bytes) {
            Some(known) => (Span::from_nanos(u64::from(known.nanos)), known.part),
            None => self.learn(bytes),
        };
        let rest = if self.free_at < now { 0 } else { self.rest };
        let lacks = self.rate.as_bps() - part;
        if rest >= lacks {
            self.rest = rest - lacks;
            return (time + Span::from_nanos(1), part);
        }
        self.rest = rest + part;
        (time, part)
    }

    #[cold]
    #[inline(never)]
    fn learn(&mut self, bytes: u32) -> (Span, u64) {
        let (time, part) = work(self.rate, bytes);
        if self.gate.is_none()
            && self.loss.is_none()
            && let Ok(nanos) = u32::try_from(time.as_nanos())
        {
            self.known = [Known { bytes, nanos, part }, self.known[0]];
        }
        (time, part)
    }

    /// Takes a packet whose sending time is known, or drops it when it would have to wait and may not.
    #[inline(always)]
    fn take(&mut self, now: Time, id: PacketId, bytes: u32) -> Offered {
        let starts = if self.free_at <= now {
            self.serving = self.ring.tail + 1;
            self.waiting_bytes = 0;
            self.tally.idle += now.since(self.free_at);
            now
        } else {
            self.advance_service(now);
            let waiting = (self.ring.tail - self.serving) as u32;
            let waiting_bytes = self.waiting_bytes + u64::from(bytes);
            if waiting >= self.max_waiting_packets || waiting_bytes > self.max_waiting_bytes {
                self.counts.dropped += 1;
                return Offered::Dropped;
            }
            self.waiting_bytes = waiting_bytes;
            self.tally.max_waiting = self.tally.max_waiting.max(waiting + 1);
            let wait = self.free_at.since(now);
            self.counts.waits += u128::from(wait.as_nanos());
            if let Some(waits) = &mut self.waits {
                waits.add(wait);
            }
            self.free_at
        };
        self.free_at = starts + self.last_service;
        let arrives = self.free_at + self.delay;
        if self.ring.head == self.ring.tail {
            self.next = arrives;
        }
        // Last, so that nothing need be kept in registers across the call.
        if self.ring.push(Slot { id, bytes, offered: now, starts, arrives }) {
            self.make_room(now);
        }
        Offered::Queued
    }

    /// The ring is full: forgets the older half of what has passed once all of it has arrived, or grows.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, now: Time) {
        let half = self.ring.head + (self.ring.tail - self.ring.head) / 2;
        match self.passes && self.ring.get(half - 1).arrives <= now {
            true => self.ring.head = half,
            false => self.ring.grow(),
        }
    }

    /// A queue decides on a packet that arrives; one that it takes finds room.
    #[cold]
    #[inline(never)]
    fn offer_to_deciding(&mut self, now: Time, id: PacketId, bytes: u32, label: Label) -> Offered {
        if let Some(served) = &mut self.served {
            let offered = served.offer(now, id, bytes, label);
            self.next = self.next.min(served.next_time());
            return offered;
        }
        self.advance_service(now);
        let waiting = (self.ring.tail - self.serving) as u32;
        let Some(gate) = &mut self.gate else { return Offered::Dropped };
        let idle = (self.free_at <= now).then(|| now.since(self.free_at));
        let last = self.ring.last().map_or(0, |last| last.bytes);
        let idle_packets = idle.map(|idle| packets_in(idle, self.rate.time_to_send(u64::from(last))));
        let arrival = Arrival { now, bytes, capable: label.ecn_capable, waiting, idle_packets };
        let verdict = gate.decide(&arrival, &self.ring);
        if matches!(verdict, Verdict::DropEarly | Verdict::DropFull) {
            self.counts.dropped += 1;
            self.counts.early += u64::from(verdict == Verdict::DropEarly);
            return Offered::Dropped;
        }
        self.last_service = self.service(now, bytes).0;
        self.take(now, id, bytes);
        if verdict == Verdict::Take {
            return Offered::Queued;
        }
        self.counts.marked += 1;
        Offered::Marked
    }

    /// Whether the moment at which a packet arrives is known when it is offered. [`Link::pass`] needs that.
    pub fn is_closed(&self) -> bool {
        self.served.is_none()
    }

    /// Takes a packet of `bytes` bytes and tells at once what becomes of it.
    ///
    /// For a link in closed form whose packets all go to elements that nobody else feeds: what happens to them there is known
    /// by now, so their arrival needs no event. A link is used either by this or by [`Link::offer`] and [`Link::poll`].
    #[inline(always)]
    pub fn pass(&mut self, now: Time, bytes: u32, label: impl FnOnce() -> Label) -> Passed {
        self.passes = true;
        match self.offer(now, WHOLE, bytes, label) {
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
            self.counts.corrupted += 1;
            return Passed::Corrupted(arrives);
        }
        self.tally.delivered_bytes += u64::from(bytes);
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

    /// [`Link::offer`] behind [`Link::begin_ahead`], where packets [`Link::leave`] when they are offered, as far as they arrive by a time; also
    /// tells when this one arrives. `poll` has nothing to give until [`Link::settle`].
    #[inline(always)]
    pub fn offer_ahead(
        &mut self,
        now: Time,
        id: PacketId,
        bytes: u32,
        label: impl FnOnce() -> Label,
    ) -> (Offered, Time) {
        let offered = self.offer(now, id, bytes, label);
        self.next = Time::NEVER;
        (offered, self.free_at + self.delay)
    }

    /// [`Link::offer_ahead`] and [`Link::leave`] in one, without a place in the ring, where a packet finds the link idle and arrives by
    /// `until`: tells when. None where it has to go the longer way; then nothing is done.
    #[inline(always)]
    pub fn cross(&mut self, now: Time, bytes: u32, until: Time) -> Option<Time> {
        let known = self.known.iter().find(|known| known.bytes == bytes)?;
        let free_at = now.later_by(Span::from_nanos(u64::from(known.nanos)));
        let arrives = free_at.later_by(self.delay);
        if self.free_at >= now || arrives > until {
            return None;
        }
        self.last_bytes = if known.part == 0 { bytes } else { EACH_ANEW };
        self.last_service = Span::from_nanos(u64::from(known.nanos));
        self.rest = known.part;
        self.tally.idle += now.since(self.free_at);
        self.free_at = free_at;
        self.tally.delivered_bytes += u64::from(bytes);
        self.tally.crossed += 1;
        Some(arrives)
    }

    /// The packet that arrives next does so; returns whether it is damaged.
    #[inline(always)]
    pub fn leave(&mut self, bytes: u32) -> bool {
        if self.loss.lost(bytes, &mut self.stream) {
            self.counts.corrupted += 1;
            return true;
        }
        self.tally.delivered_bytes += u64::from(bytes);
        false
    }

    /// What arrives by `now` has left by [`Link::leave`]; the rest has not.
    pub fn settle(&mut self, now: Time) {
        let mut first = self.ring.tail;
        while first > self.ring.head && self.ring.get(first - 1).arrives > now {
            first -= 1;
        }
        self.ring.head = first;
        self.next = if first == self.ring.tail { Time::NEVER } else { self.ring.get(first).arrives };
        self.passes = false;
    }

    /// Begins to have its packets leave ahead of their time: `poll` gives none of them.
    pub fn begin_ahead(&mut self) {
        self.passes = true;
        self.next = Time::NEVER;
    }

    /// The packets that are under way: when each arrives, its id and its length.
    pub fn under_way(&self) -> impl Iterator<Item = (Time, PacketId, u32)> {
        (self.ring.head..self.ring.tail).map(|number| {
            let slot = self.ring.get(number);
            (slot.arrives, slot.id, slot.bytes)
        })
    }

    /// When [`Link::poll`] wants to be called next, or earlier; `Time::NEVER` when nothing is under way. Only `poll` makes it
    /// later.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.next
    }

    /// The next packet that has left the link by `now`; to be called until there is none. Where the queue decides when a packet
    /// leaves, or the link changes, there may be none at [`Link::next_time`].
    #[inline]
    pub fn poll(&mut self, now: Time) -> Option<Leaving> {
        if self.next > now {
            return None;
        }
        if self.ring.head == self.ring.tail {
            return self.poll_served(now);
        }
        let Slot { id, bytes, .. } = *self.ring.get(self.ring.head);
        self.ring.head += 1;
        let empty = self.ring.head == self.ring.tail;
        self.next = if empty { Time::NEVER } else { self.ring.get(self.ring.head).arrives };
        let fate = if self.leave(bytes) { Fate::Damaged } else { Fate::Whole };
        Some(Leaving { id, bytes, fate })
    }

    #[cold]
    #[inline(never)]
    fn poll_served(&mut self, now: Time) -> Option<Leaving> {
        let served = self.served.as_mut()?;
        let leaving = served.poll(now);
        self.next = served.next_time();
        leaving
    }

    /// The propagation delay of what is offered from `now` on, or of what is sent from then on where the link goes step by step.
    ///
    /// Nothing overtakes: where the delay becomes shorter, the sender first waits until what it sends arrives behind the packet
    /// before.
    pub fn set_delay(&mut self, now: Time, delay: Span) {
        if let Some(served) = &mut self.served {
            return served.set_delay(now, delay);
        }
        self.delay = delay;
        if let Some(last) = self.ring.last().filter(|last| last.arrives > now + delay) {
            let behind = Time::ZERO + last.arrives.since(Time::ZERO).saturating_sub(delay);
            self.tally.idle += behind.since(self.free_at);
            self.free_at = self.free_at.max(behind);
        }
    }

    /// The rate at which it sends, whether it stands still or not.
    pub fn rate(&self) -> Rate {
        self.served.as_ref().map_or(self.rate, |served| served.rate())
    }

    /// The rate at which it carries packets, as seen from outside: that of [`Link::rate`], or where its schedule makes it stand still the
    /// mean of the last tenth of a second that is over, standstills with it.
    pub fn carries(&mut self, now: Time) -> Rate {
        self.served.as_mut().map_or(self.rate, |served| served.carries(now))
    }

    /// When the packet that was taken just now leaves the queue to be sent; none where it is not known yet.
    pub fn last_begins(&self) -> Option<Time> {
        self.is_closed().then(|| Time::ZERO + self.free_at.since(Time::ZERO + self.last_service))
    }

    /// When the packet that was taken just now has been sent; none where it is not known yet.
    pub fn last_ends(&self) -> Option<Time> {
        self.is_closed().then_some(self.free_at)
    }

    /// Of a link that goes step by step: how long it has sent until `now`, and until when it goes on as things are.
    pub fn sending(&mut self, now: Time) -> Option<(Span, Time)> {
        self.served.as_mut().map(|served| served.sending(now))
    }

    /// Packets waiting at `now`, the one being sent not counted.
    pub fn queue_packets(&mut self, now: Time) -> u32 {
        if let Some(served) = &mut self.served {
            return served.queue_packets(now);
        }
        self.advance_service(now);
        (self.ring.tail - self.serving) as u32
    }

    /// Bytes waiting at `now`, the packet being sent not counted.
    pub fn queue_bytes(&mut self, now: Time) -> u64 {
        if let Some(served) = &mut self.served {
            return served.queue_bytes(now);
        }
        self.advance_service(now);
        self.waiting_bytes
    }

    /// Packets taken and not yet delivered: waiting, being sent or on their way. Where packets pass, some that have arrived
    /// may still be among them.
    pub fn in_flight_packets(&self) -> usize {
        if let Some(served) = &self.served {
            return served.in_flight_packets();
        }
        (self.ring.tail - self.ring.head) as usize
    }

    /// Moves on over the packets that have begun service by `now`: once each, so a constant cost a packet.
    #[inline]
    fn advance_service(&mut self, now: Time) {
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

/// Whether a queue that decides on arrival leaves nothing to do step by step.
fn is_closed(config: &LinkConfig) -> bool {
    let own_loss = matches!(config.loss, LossSpec::External(_));
    config.schedule.0.is_empty() && config.repair == Repair::None && !own_loss
}

/// How the queue of a link decides; its random numbers come from a stream that is derived from the link's.
fn discipline(config: &LinkConfig, stream: &Stream) -> Discipline {
    let rate = config.rate.scaled(config.efficiency);
    match &config.queue {
        QueueSpec::Active(spec) => spec.discipline(rate, stream.part("queue")),
        _ => Discipline::OnArrival(None),
    }
}

fn queue(config: &LinkConfig, discipline: Discipline) -> Box<dyn Queue> {
    match discipline {
        Discipline::OnArrival(gate) => Box::new(Fifo::new(config.queue.room(), gate)),
        Discipline::OnLeaving(queue) => queue,
    }
}

#[cfg(test)]
mod tests;
