//! A link step by step: a queue that decides when a packet comes and when one leaves, a server whose rate may change under
//! the packet that it sends, and a pipe whose delay may change under those that are in it.

use bentpipe_units::{Rate, Span, Time};

use super::config::LinkConfig;
use super::frame::Frame;
use super::outcome::{Fate, Leaving, Offered};
use super::pipe::Pipe;
use super::repair::Repairer;
use super::schedule::{InOutage, Step, Steps};
use super::stats::Sums;
use super::supply::{Seen, Supply};
use super::waits::Waits;
use super::work::{ROUNDED, UNITS_A_BYTE};
use crate::Stream;
use crate::loss::{Losses, Sent};
use crate::packet::PacketId;
use crate::queue::{Drops, Label, Queue, ServerView, Verdict, Waiting};

/// A packet that is being sent.
#[derive(Clone, Copy, Debug)]
struct Sending {
    packet: Waiting,
    /// Work that was left at `since`.
    left: u128,
    /// When it began, or when the server last changed.
    since: Time,
    /// When its last bit is sent, as things are; never while the server stands still.
    ends: Time,
    /// A part of it was sent in an outage.
    void: bool,
}

#[derive(Debug)]
pub(super) struct Served {
    queue: Box<dyn Queue>,
    sending: Option<Sending>,
    /// When the server fell idle.
    free_since: Time,
    /// Above [`ROUNDED`]: work of the packet sent last that was left then, less than a nanosecond's.
    rest: u128,
    rate: Rate,
    efficiency: f64,
    outage: Option<InOutage>,
    steps: Steps,
    /// It has a schedule.
    pub(super) changes: bool,
    supply: Supply,
    /// Where it stands still at times.
    seen: Option<Seen>,
    pipe: Pipe,
    repairer: Option<Box<Repairer>>,
    drops: Drops,
    loss: Losses,
    /// Packets whose last bit was sent.
    sent: u64,
    stream: Stream,
    tally: Tally,
    /// Where somebody asked.
    pub(super) waits: Option<Box<Waits>>,
}

/// What has happened, by the events of the server.
#[derive(Debug, Default)]
struct Tally {
    /// When the number of packets waiting was last added up.
    at: Time,
    /// Packets waiting, over time, in nanoseconds.
    waiting: u128,
    max_waiting: u32,
    busy: Span,
    /// Packets that began to be sent, and the nanoseconds that they had waited.
    begun: u64,
    waits: u128,
    delivered: u64,
    delivered_bytes: u64,
    corrupted: u64,
    dropped: u64,
    early: u64,
    marked: u64,
}

impl Served {
    pub(super) fn new(config: &LinkConfig, queue: Box<dyn Queue>, loss: Losses, stream: Stream) -> Served {
        Served {
            queue,
            sending: None,
            free_since: Time::ZERO,
            rest: 0,
            rate: config.rate.scaled(config.efficiency),
            efficiency: config.efficiency,
            outage: None,
            steps: Steps::of(&config.schedule),
            changes: !config.schedule.0.is_empty(),
            supply: Supply::default(),
            seen: config.schedule.stands_still().then(|| Seen::new(config.rate.scaled(config.efficiency))),
            pipe: Pipe::new(config.delay),
            repairer: Repairer::new(&config.repair),
            drops: Drops::default(),
            loss,
            sent: 0,
            stream,
            tally: Tally::default(),
            waits: None,
        }
    }

    pub(super) fn offer(&mut self, now: Time, id: PacketId, bytes: u32, label: Label) -> Offered {
        self.advance(now);
        self.add_up(now);
        let idle = self.sending.is_none() && !self.stands_still();
        let server = ServerView { rate: self.rate, idle_since: idle.then_some(self.free_since) };
        let packet = Waiting { id, bytes, label, came: now, marked: false };
        let verdict = self.queue.enqueue(now, packet, &server, &mut self.drops);
        if idle {
            self.begin(now);
        }
        self.count_drops();
        self.tally.max_waiting = self.tally.max_waiting.max(self.queue.packets());
        match verdict {
            Verdict::Take => Offered::Queued,
            Verdict::Mark => {
                self.tally.marked += 1;
                Offered::Marked
            }
            Verdict::DropEarly | Verdict::DropFull => {
                self.tally.dropped += 1;
                self.tally.early += u64::from(verdict == Verdict::DropEarly);
                Offered::Dropped
            }
        }
    }

    /// The propagation delay of what is sent from `now` on, which overtakes nothing.
    pub(super) fn set_delay(&mut self, now: Time, delay: Span) {
        self.advance(now);
        self.pipe.set_delay(delay, false);
    }

    /// What happens next by itself, and may be seen from outside.
    pub(super) fn next_time(&self) -> Time {
        if !self.drops.packets.is_empty() {
            return self.tally.at;
        }
        if let Some(since) = self.repairer.as_ref().and_then(|repairer| repairer.ready_since()) {
            return since;
        }
        self.next_step().min(self.pipe.next_time())
    }

    pub(super) fn poll(&mut self, now: Time) -> Option<Leaving> {
        self.advance(now);
        if let Some(Waiting { id, bytes, .. }) = self.drops.packets.pop_front() {
            return Some(Leaving { id, bytes, fate: Fate::Dropped });
        }
        let (packet, whole) = match &mut self.repairer {
            Some(repairer) => repairer.receive(now, &mut self.pipe)?,
            None => self.pipe.receive(now).map(|flying| (flying.packet, !flying.corrupted))?,
        };
        let Waiting { id, bytes, marked, .. } = packet;
        if !whole {
            self.tally.corrupted += 1;
            return Some(Leaving { id, bytes, fate: Fate::Damaged });
        }
        self.tally.delivered += 1;
        self.tally.delivered_bytes += u64::from(bytes);
        Some(Leaving { id, bytes, fate: if marked { Fate::Marked } else { Fate::Whole } })
    }

    /// When the server has something to do. A change that meets nothing is made when the next packet comes.
    fn next_step(&self) -> Time {
        let due = self.due();
        if self.sending.is_none() && self.queue.packets() == 0 && due == Time::NEVER {
            return Time::NEVER;
        }
        let change = self.steps.next_time();
        match self.sending {
            Some(sending) => sending.ends.min(change),
            None if self.stands_still() => change,
            None => due.min(change),
        }
    }

    /// When a server that is idle then has something to send again, or parity.
    fn due(&self) -> Time {
        self.repairer.as_ref().map_or(Time::NEVER, |repairer| repairer.due())
    }

    fn stands_still(&self) -> bool {
        self.outage == Some(InOutage::Hold)
    }

    /// Does what is due by `now`, in order. A packet that ends when the link changes is sent as the link was.
    fn advance(&mut self, now: Time) {
        loop {
            let idle = self.sending.is_none() && !self.stands_still();
            let ends = match self.sending {
                Some(sending) => sending.ends,
                None if idle => self.due(),
                None => Time::NEVER,
            };
            let change = self.steps.next_time();
            if ends.min(change) > now || ends.min(change) == Time::NEVER {
                return;
            }
            if ends <= change {
                if idle { self.begin(ends) } else { self.finish(ends) }
            } else if let Some((at, step)) = self.steps.pop() {
                self.change(at, step);
            }
        }
    }

    /// The last bit of a packet has been sent.
    fn finish(&mut self, now: Time) {
        let Some(Sending { packet, left, since, void, .. }) = self.sending.take() else { return };
        let time = now.since(since);
        self.tally.busy += time;
        if self.rate > ROUNDED {
            self.rest = left.saturating_sub(u128::from(time.as_nanos()) * u128::from(self.rate.as_bps()));
        }
        self.sent += 1;
        let sent = Sent { at: now, number: self.sent, bytes: packet.bytes };
        let lost = self.loss.lost(&sent, &mut self.stream);
        match &mut self.repairer {
            Some(repairer) => repairer.sent(now, packet, lost || void, &mut self.pipe),
            None => self.pipe.send(now, packet, lost || void, Frame::default()),
        }
        self.free_since = now;
        self.begin(now);
    }

    /// An idle server takes the next packet.
    fn begin(&mut self, now: Time) {
        self.add_up(now);
        let packets_wait = self.queue.packets() > 0;
        if let Some(packet) = self.repairer.as_mut().and_then(|repairer| repairer.ahead(now, packets_wait)) {
            return self.send(now, packet);
        }
        let next = self.queue.dequeue(now, &mut self.drops);
        self.count_drops();
        let Some(packet) = next else { return };
        if let Some(repairer) = &mut self.repairer {
            repairer.begins(now, &packet, self.rate);
        }
        self.tally.begun += 1;
        let wait = now.since(packet.came);
        self.tally.waits += u128::from(wait.as_nanos());
        if let Some(waits) = &mut self.waits {
            waits.add(wait);
        }
        self.tally.marked += u64::from(packet.marked);
        self.send(now, packet);
    }

    fn send(&mut self, now: Time, packet: Waiting) {
        let rest = if self.free_since == now { std::mem::take(&mut self.rest) } else { 0 };
        let left = u128::from(packet.bytes) * UNITS_A_BYTE + rest;
        let void = self.outage.is_some();
        self.sending =
            Some(Sending { packet, left, since: now, ends: now + time_for(left, self.rate), void });
    }

    fn change(&mut self, now: Time, step: Step) {
        self.supply.add_up(now, self.rate, self.stands_still());
        match step {
            Step::Rate(rate) => {
                self.pause(now);
                self.rate = rate.scaled(self.efficiency);
                self.queue.on_rate(self.rate);
                self.go_on(now);
            }
            Step::Delay(delay, overtake) => self.pipe.set_delay(delay, overtake),
            Step::Loss(spec) => self.loss = Losses::new(&spec, &mut self.stream),
            Step::Down(InOutage::Hold) => {
                self.pause(now);
                self.outage = Some(InOutage::Hold);
                self.go_on(now);
            }
            Step::Down(InOutage::Lose) => {
                self.outage = Some(InOutage::Lose);
                if let Some(sending) = &mut self.sending {
                    sending.void = true;
                }
            }
            Step::Up => {
                if self.outage.take() != Some(InOutage::Hold) {
                    return;
                }
                if self.sending.is_some() {
                    self.go_on(now);
                } else {
                    (self.free_since, self.rest) = (now, 0);
                    self.begin(now);
                }
            }
        }
    }

    /// Takes off what was done of the packet that is being sent.
    fn pause(&mut self, now: Time) {
        let (still, rate) = (self.stands_still(), self.rate);
        let Some(sending) = self.sending.as_mut().filter(|_| !still) else { return };
        let time = now.since(sending.since);
        self.tally.busy += time;
        sending.left = sending.left.saturating_sub(u128::from(time.as_nanos()) * u128::from(rate.as_bps()));
        sending.since = now;
    }

    /// Goes on with the packet that is being sent, as the server now is.
    fn go_on(&mut self, now: Time) {
        let (still, rate) = (self.stands_still(), self.rate);
        let Some(sending) = &mut self.sending else { return };
        sending.since = now;
        sending.ends = if still { Time::NEVER } else { now + time_for(sending.left, rate) };
    }

    /// Adds up the packets that have waited until now.
    fn add_up(&mut self, now: Time) {
        let time = now.since(self.tally.at).as_nanos();
        self.tally.waiting += u128::from(time) * u128::from(self.queue.packets());
        self.tally.at = self.tally.at.max(now);
    }

    fn count_drops(&mut self) {
        self.tally.dropped += self.drops.early + self.drops.full;
        self.tally.early += self.drops.early;
        (self.drops.early, self.drops.full) = (0, 0);
    }

    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    pub(super) fn carries(&mut self, now: Time) -> Rate {
        self.advance(now);
        let (rate, still) = (self.rate, self.stands_still());
        let Some(seen) = &mut self.seen else { return rate };
        self.supply.add_up(now, rate, still);
        seen.look(&self.supply)
    }

    pub(super) fn queue_packets(&mut self, now: Time) -> u32 {
        self.advance(now);
        self.queue.packets()
    }

    pub(super) fn queue_bytes(&mut self, now: Time) -> u64 {
        self.advance(now);
        self.queue.bytes()
    }

    pub(super) fn in_flight_packets(&self) -> usize {
        let sent = match &self.repairer {
            Some(repairer) => repairer.packets(),
            None => usize::from(self.sending.is_some()) + self.pipe.packets(),
        };
        self.queue.packets() as usize + sent + self.drops.packets.len()
    }

    /// How long it has sent until `now`, and until when it goes on as things are.
    pub(super) fn sending(&mut self, now: Time) -> (Span, Time) {
        self.advance(now);
        match self.sending.filter(|_| !self.stands_still()) {
            Some(sending) => (self.tally.busy + now.since(sending.since), sending.ends),
            None => (self.tally.busy, now),
        }
    }

    /// With the most packets that have waited at once.
    pub(super) fn sums(&mut self, end: Time) -> (Sums, u32) {
        self.advance(end);
        self.add_up(end);
        self.supply.add_up(end, self.rate, self.stands_still());
        let (busy, _) = self.sending(end);
        let tally = &self.tally;
        let sums = Sums {
            busy,
            waiting: tally.waiting,
            taken: tally.begun,
            waits: tally.waits,
            delivered: tally.delivered,
            delivered_bytes: tally.delivered_bytes,
            corrupted: tally.corrupted,
            dropped: tally.dropped,
            early: tally.early,
            marked: tally.marked,
            repair: self.repairer.as_ref().map(|repairer| repairer.sums()).unwrap_or_default(),
            supply: self.supply,
        };
        (sums, tally.max_waiting)
    }

    /// The longest wait for order, where losses are repaired.
    pub(super) fn order_wait(&self) -> Option<Span> {
        self.repairer.as_ref().map(|repairer| repairer.order_wait())
    }

    /// What is the most is so from now on, with so many that wait.
    pub(super) fn forget_most(&mut self, waiting: u32) {
        self.tally.max_waiting = waiting;
        if let Some(repairer) = &mut self.repairer {
            repairer.forget_waits();
        }
    }
}

/// The time that so much work takes, rounded to the nearest nanosecond; above [`ROUNDED`] without the part of one at the end.
fn time_for(left: u128, rate: Rate) -> Span {
    let half = if rate > ROUNDED { 0 } else { u128::from(rate.as_bps() / 2) };
    let nanos = (left + half) / u128::from(rate.as_bps());
    Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
