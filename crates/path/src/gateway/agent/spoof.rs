//! Local acknowledgments: the sender hears at once, and the agent sees to it that the receiver gets what it heard of.

use bentpipe_units::{Bytes, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cache::Entry;
use super::line::{Line, later};
use super::repair::Repair;
use super::{Agent, Answer, Desk, Local, Seen, Verdict, valid};
use crate::InvalidValue;
use crate::gateway::LinkView;

/// RFC 7323 section 2.3: a larger shift counts as this one.
const MAX_SHIFT: u8 = 14;

/// Settings of ACK spoofing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpoofOptions {
    /// Most payload of one flow that is kept. At most half of it is acknowledged ahead of the receiver, and no window larger than
    /// the other half is advertised.
    pub buffer: Bytes,
    /// Shortest time after which the local timer sends a packet again.
    pub min_timeout: Span,
    /// That time before the first round trip over the link was measured.
    pub first_timeout: Span,
    /// A packet is sent again locally so often; then the flow is given up.
    pub retries: u32,
    /// Length of a packet where the queue is given in packets.
    pub packet: Bytes,
    /// Most flows remembered; those beyond them pass as if there were no agent.
    pub max_flows: u32,
}

impl Default for SpoofOptions {
    fn default() -> SpoofOptions {
        SpoofOptions {
            buffer: Bytes::new(1 << 20),
            min_timeout: Span::from_millis(250),
            first_timeout: Span::from_millis(1000),
            retries: 15,
            packet: Bytes::new(1500),
            max_flows: 65_536,
        }
    }
}

impl SpoofOptions {
    /// What `scheme` says.
    pub(crate) const NAME: &'static str = "spoof";
    /// One line for people.
    pub(crate) const SUMMARY: &'static str =
        "acknowledges data in the receiver's name, and keeps it until the receiver does";

    pub(crate) fn validate(&self) -> Result<(), InvalidValue> {
        super::some_bytes("packet", self.packet)?;
        valid(("buffer", self.buffer), [self.min_timeout, self.first_timeout], self.max_flows)
    }

    pub(crate) fn agent(&self) -> Agent {
        Agent::spoof(self)
    }
}

/// What the SYNs of both sides said.
#[derive(Clone, Copy, Debug, Default)]
struct Offer {
    scale: Option<u8>,
    sack: bool,
}

/// One flow whose data is acknowledged locally (RFC 3135 sections 3.1.2 and 3.1.3).
///
/// Between the receiver's cumulative acknowledgment `una` and `top` every byte is kept. Of these, `acked` were acknowledged to the
/// sender: whole packets, at most half the buffer ahead of `una`, and no FIN. Those before `next` went onto the link, within the
/// receiver's window and as the queue had room. Behind `top` are packets that came over a hole on the sender's side.
#[derive(Clone, Debug)]
pub(super) struct Spoof {
    repair: Repair,
    offers: [Option<Offer>; 2],
    line: Line,
    una: u64,
    next: u64,
    acked: u64,
    top: u64,
    /// Behind the last byte that the receiver has room for.
    right: u64,
    /// Its window in bytes.
    window: u64,
    /// Its window field, but for that of its SYN; and what was told the sender last.
    field: Option<u16>,
    told: Option<u16>,
    /// Up to here, what was sent before the newest retransmission may be lost too.
    recover: u64,
    /// Of its newest segment: the sequence number behind it, its TSval, its echo of a mark.
    behind: u32,
    stamp: Option<u32>,
    ece: bool,
    /// TSval of the sender's newest data in order.
    echo: Option<u32>,
    /// A packet of the receiver, by whose way an answer goes.
    way_back: Option<u32>,
}

impl Spoof {
    pub(super) fn new(options: &SpoofOptions) -> Spoof {
        let SpoofOptions { buffer, min_timeout, first_timeout, retries, .. } = *options;
        Spoof {
            repair: Repair::new(Local { cache: buffer.get(), min_timeout, first_timeout, retries }),
            offers: [None; 2],
            line: Line::from(0),
            una: Line::FIRST,
            next: Line::FIRST,
            acked: Line::FIRST,
            top: Line::FIRST,
            right: Line::FIRST,
            window: 0,
            field: None,
            told: None,
            recover: Line::FIRST,
            behind: 0,
            stamp: None,
            ece: false,
            echo: None,
            way_back: None,
        }
    }

    /// The sender's newest TSval: a copy that goes behind what was sent later would be too old for the receiver (PAWS of RFC 7323
    /// section 5) with its own.
    pub(super) fn newest_stamp(&self) -> Option<u32> {
        self.repair.stamp
    }

    pub(super) fn due(&self) -> Time {
        self.repair.due()
    }

    pub(super) fn holds_nothing(&self) -> bool {
        self.repair.cache.is_empty()
    }

    /// Bytes that were acknowledged to the sender and not by the receiver.
    pub(super) fn ahead(&self) -> u64 {
        self.acked - self.una
    }

    pub(super) fn clear(&mut self, desk: &mut Desk) {
        desk.tally.acknowledged_ahead_bytes += self.ahead();
        self.acked = self.una;
        self.repair.stop_timer();
        self.repair.cache.clear(&mut desk.places);
        desk.places.give_back_all(self.way_back.take());
    }

    /// Half the buffer: what may be acknowledged ahead, and the largest window.
    fn half(&self) -> u64 {
        self.repair.local.cache / 2
    }

    /// By how many bits the receiver's windows are shifted.
    fn shift(&self) -> u8 {
        let [Some(sender), Some(receiver)] = self.offers else { return 0 };
        if sender.scale.is_some() { receiver.scale.unwrap_or(0).min(MAX_SHIFT) } else { 0 }
    }

    /// Whether both SYNs passed here, and the flow was not given up.
    fn is_open(&self) -> bool {
        self.way_back.is_some() && self.offers.iter().all(Option::is_some)
    }

    pub(super) fn forward(&mut self, now: Time, seen: &Seen, link: &LinkView, desk: &mut Desk) -> Verdict {
        let header = &seen.header;
        if header.syn {
            if self.offers[0].is_none() {
                self.offers[0] = Some(Offer { scale: header.window_scale, sack: seen.sack_permitted });
                self.line = Line::from(seen.seq.wrapping_add(1));
                self.echo = seen.stamp;
                self.repair.stamp = seen.stamp;
            }
            return Verdict::Pass;
        }
        self.repair.stamp = self.repair.stamp.zip(seen.stamp).map(|(newest, stamp)| later(stamp, newest));
        let length = header.payload + u32::from(header.fin);
        if length == 0 || !self.is_open() {
            return Verdict::Pass;
        }
        let start = self.line.place(seen.seq);
        let end = start + u64::from(length);
        if start < self.una && end > self.una {
            return Verdict::Pass;
        }
        if end <= self.una || self.repair.cache.find(start).is_some() {
            desk.tally.data_swallowed += 1;
            self.answer(desk);
            return Verdict::Swallow;
        }
        if !self.repair.has_room(header.payload) {
            desk.tally.data_swallowed += 1;
            return Verdict::Swallow;
        }
        let copy = desk.places.take();
        let in_order = start <= self.top;
        self.repair.cache.insert(Entry {
            start,
            end,
            copy,
            payload: header.payload,
            bytes: seen.bytes,
            by_sender: false,
            tries: 0,
            sent: Time::NEVER,
        });
        desk.kept(self.repair.cache.bytes());
        if in_order {
            self.echo = seen.stamp;
            let top = self.top;
            self.top = self.repair.cache.from(top).fold(self.top.max(end), |top, entry| {
                if entry.start <= top { top.max(entry.end) } else { top }
            });
        }
        // Held back, it is no duplicate either.
        if self.advance(desk) || !in_order {
            self.answer(desk);
        }
        match self.sendable().is_some_and(|bytes| self.next == start && link.has_room(bytes)) {
            true => {
                self.send(now);
                Verdict::Keep(copy)
            }
            false => {
                // A closed window is asked again by the timer.
                if self.next == self.una && self.sendable().is_none() {
                    self.repair.start_timer(now);
                }
                Verdict::Hold(copy)
            }
        }
    }

    /// Moves what is acknowledged to the sender on, if something was not; the most ahead of the receiver is counted.
    fn advance(&mut self, desk: &mut Desk) -> bool {
        let before = self.acked;
        let most = self.una + self.half();
        for entry in self.repair.cache.from(before).take_while(|entry| entry.end <= self.top) {
            // Without the FIN, which the receiver acknowledges itself.
            let end = entry.start + u64::from(entry.payload);
            if end > most {
                break;
            }
            self.acked = self.acked.max(end);
        }
        desk.tally.acknowledged_ahead_max_bytes = desk.tally.acknowledged_ahead_max_bytes.max(self.ahead());
        self.acked > before
    }

    /// An acknowledgment to the sender of what it may know of. Over a hole on its side it is a duplicate of all that was kept in
    /// order, with the newest packets behind the hole as SACK blocks.
    fn answer(&mut self, desk: &mut Desk) {
        let Some(way) = self.way_back else { return };
        let behind_hole = self.repair.cache.entries().next_back().is_some_and(|entry| entry.end > self.top);
        if behind_hole {
            self.acked = self.acked.max(self.top);
        }
        let sack = if behind_hole { self.blocks() } else { Default::default() };
        let window = self.field_out();
        self.told = Some(window);
        let ack = self.line.seq(self.acked);
        let stamps = self.stamp.zip(self.echo);
        desk.answer(way, Answer { seq: self.behind, ack, window, ece: self.ece, stamps, sack });
    }

    /// The window field to the sender: the receiver's, and no more than half the buffer.
    fn field_out(&self) -> u16 {
        self.field_below(self.window)
    }

    /// The field for a window, which is above zero if the window is.
    fn field_below(&self, window: u64) -> u16 {
        let field = (window.min(self.half()) >> self.shift()).max(u64::from(window > 0));
        field.min(u64::from(u16::MAX)) as u16
    }

    /// The runs of packets behind the hole, the last one first.
    fn blocks(&self) -> [(u32, u32); 3] {
        let mut blocks = [(0, 0); 3];
        if !self.offers.iter().flatten().all(|offer| offer.sack) {
            return blocks;
        }
        let mut runs = 0;
        let mut run: Option<(u64, u64)> = None;
        for entry in self.repair.cache.entries().rev().take_while(|entry| entry.start > self.top) {
            match &mut run {
                Some((start, _)) if entry.end >= *start => *start = entry.start,
                _ if runs == blocks.len() => break,
                _ => {
                    run = Some((entry.start, entry.end));
                    runs += 1;
                }
            }
            if let Some((start, end)) = run {
                blocks[runs - 1] = (self.line.seq(start), self.line.seq(end));
            }
        }
        blocks
    }

    /// Bytes of the packet that may go onto the link next, within the receiver's window.
    pub(super) fn sendable(&self) -> Option<u32> {
        if self.next >= self.top {
            return None;
        }
        let entry = self.repair.cache.from(self.next).next()?;
        (entry.start <= self.next && entry.end <= self.right).then_some(entry.bytes)
    }

    /// That packet goes; returns its copy.
    pub(super) fn send(&mut self, now: Time) -> u32 {
        self.repair.start_timer(now);
        let next = self.next;
        let Some(entry) = self.repair.cache.first_from(next) else { return 0 };
        entry.sent = now;
        let (copy, end) = (entry.copy, entry.end);
        self.next = end;
        self.repair.rtt.sent(now, end);
        copy
    }

    pub(super) fn backward(&mut self, now: Time, seen: &Seen, desk: &mut Desk) -> Verdict {
        let header = &seen.header;
        let behind = seen.seq.wrapping_add(header.payload + u32::from(header.syn) + u32::from(header.fin));
        if header.syn {
            if self.offers[1].is_none() {
                self.offers[1] = Some(Offer { scale: header.window_scale, sack: seen.sack_permitted });
                self.behind = behind;
                self.stamp = seen.stamp;
                self.window = u64::from(header.window);
                self.right = self.right.max(self.una + self.window);
            }
            return self.first(header.window, desk);
        }
        if !self.is_open() {
            return Verdict::Pass;
        }
        self.behind = later(behind, self.behind);
        self.stamp = seen.stamp.or(self.stamp);
        let pure = header.payload == 0 && !header.fin;
        let lowered = header.window.min(self.field_below(u64::from(header.window) << self.shift()));
        if header.ack {
            let moved = self.acknowledge(now, seen, pure, desk);
            if pure {
                desk.tally.acks_swallowed += 1;
                if moved {
                    self.answer(desk);
                }
                return Verdict::Swallow;
            }
        }
        if lowered < header.window { Verdict::Lower(lowered) } else { Verdict::Pass }
    }

    /// The receiver's SYN goes on, with a window of half the buffer if its own is larger.
    fn first(&mut self, window: u16, desk: &mut Desk) -> Verdict {
        let copy = *self.way_back.get_or_insert_with(|| desk.places.take());
        let most = self.half().min(u64::from(u16::MAX)) as u16;
        if window <= most { Verdict::Keep(copy) } else { Verdict::KeepLowered(copy, most) }
    }

    /// What the receiver says; whether the sender is to hear of it.
    fn acknowledge(&mut self, now: Time, seen: &Seen, pure: bool, desk: &mut Desk) -> bool {
        let ack = self.line.place(seen.ack);
        if ack < self.una {
            return false;
        }
        let (before, field) = (self.acked, seen.header.window);
        let same = self.field.replace(field) == Some(field);
        self.window = u64::from(field) << self.shift();
        self.right = self.right.max(ack + self.window);
        if pure {
            self.ece = seen.ece;
        }
        let news = ack > self.una;
        if news {
            self.line.move_to(ack);
            self.una = ack;
            self.acked = self.acked.max(ack);
            self.top = self.top.max(ack);
            self.next = self.next.max(ack);
            self.repair.acknowledged(now, ack, desk);
            // The retransmission has come, and what was sent before it has not.
            if ack < self.recover && self.next > ack {
                self.repair.resend_next(now, desk);
            }
        } else if pure && same && self.next > self.una && self.repair.duplicate(now, desk) {
            self.recover = self.next;
        }
        self.advance(desk);
        self.acked > before || self.told != Some(self.field_out())
    }

    /// The timer has expired, or an earlier event has done its work: what the receiver lacks first is sent again, or, before a
    /// closed window, for the first time. In the end the flow is given up.
    pub(super) fn on_timer(&mut self, now: Time, desk: &mut Desk) {
        if now < self.repair.due() {
            return;
        }
        self.repair.stop_timer();
        if self.top == self.una {
            // What is kept lies behind a hole, which is the sender's affair.
            return;
        }
        if self.next == self.una && self.sendable().is_some() {
            // Everything waits for room before the link.
            return self.repair.start_timer(now);
        }
        if self.repair.exhausted() {
            return self.clear(desk);
        }
        self.repair.rtt.expiries += 1;
        self.repair.forget_duplicates();
        self.repair.resend(now, desk);
        let first = self.repair.cache.first().map_or(self.next, |entry| entry.end);
        self.next = self.next.max(first);
        self.recover = self.next;
    }
}
