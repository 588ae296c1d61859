//! ACK spoofing: the agent acknowledges data to the sender at once, and delivers it to the receiver itself.

use bentpipe_units::bounded::{Above, AboveZero, SomeBytes, Whole};
use bentpipe_units::{Bytes, Span, Time, options};

use super::board::{Board, Report};
use super::cache::Entry;
use super::desk::{Desk, Local};
use super::line::{Line, later};
use super::segment::{Answer, Seen, Verdict};

/// RFC 7323 section 2.3: a larger shift counts as this one.
const MAX_SHIFT: u8 = 14;

/// The third duplicate tells the sender of its hole (RFC 5681 section 3.2); it needs no more at once.
const MOST_OWED: u32 = 3;

options! {
    "spoof", "acknowledges data in the receiver's name, and keeps it until the receiver does", also ["ack-spoofing", "pep", "spoofing"];
    /// Settings of ACK spoofing.
    pub struct SpoofOptions {
        /// Most payload of one flow that is kept. At most half of it is acknowledged ahead of the receiver, and no window larger than
        /// the other half is advertised.
        #[serde(with = "SomeBytes")]
        pub buffer: Bytes = Bytes::new(1 << 20),
        /// The local timer waits at least so much longer than the mean round trip over the link.
        #[serde(with = "AboveZero")]
        pub min_timeout: Span = Span::from_millis(250),
        /// The timer before the first round trip over the link was measured, which is that of the SYN unless it went twice.
        #[serde(with = "AboveZero")]
        pub first_timeout: Span = Span::from_millis(1000),
        /// Share of the queue before the link that its own packets fill, above 0 and up to 1; the rest is for what it only passes.
        #[serde(with = "Above::<0, 1>")]
        pub queue_share: f64 = 0.5,
        /// The local timer expires so often without word from the receiver; then the flow is given up.
        pub retries: u32 = 15,
        /// Most flows remembered; those beyond them pass as if there were no agent.
        #[serde(with = "Whole::<1, 4_294_967_295>")]
        pub max_flows: u32 = 65_536,
    }
}

/// The options of a host's SYN.
#[derive(Clone, Copy, Debug)]
struct Offer {
    scale: Option<u8>,
    sack: bool,
    /// When it was seen; never where it came more than once.
    once: Time,
}

/// One flow whose data is acknowledged locally (RFC 3135 sections 3.1.2 and 3.1.3).
///
/// Between the receiver's cumulative acknowledgment `una` and `top` every byte is kept. Of these, `acked` were acknowledged to the
/// sender: whole packets, at most half the buffer ahead of `una`, and no FIN. Those before `next` went onto the link, within the
/// receiver's window and as the queue had room. Packets beyond a hole of the sender's lie behind `top`.
#[derive(Clone, Debug)]
pub(super) struct Spoof {
    board: Board,
    offers: [Option<Offer>; 2],
    line: Line,
    acked: u64,
    top: u64,
    /// Behind the last byte that the receiver has room for.
    right: u64,
    /// Its window in bytes.
    window: u64,
    /// The receiver's newest window field, of its SYN none; and the field that the sender was told last.
    field: Option<u16>,
    last_field: Option<u16>,
    /// Duplicates to send once everything before the sender's hole is acknowledged.
    owed: u32,
    /// Of the receiver's newest segment: the sequence number behind it, its TSval, its echo of a mark.
    behind: u32,
    stamp: Option<u32>,
    ece: bool,
    /// TSval of the sender's newest data in order.
    echo: Option<u32>,
    /// A packet of the receiver: answers to the sender go its way.
    way_back: Option<u32>,
}

impl Spoof {
    pub(super) fn new(options: &SpoofOptions) -> Spoof {
        let SpoofOptions { buffer, min_timeout, first_timeout, retries, .. } = *options;
        let local = Local { cache: buffer.get(), min_timeout, first_timeout, retries };
        Spoof {
            board: Board::new(local, Line::FIRST),
            offers: [None; 2],
            line: Line::from(0),
            acked: Line::FIRST,
            top: Line::FIRST,
            right: Line::FIRST,
            window: 0,
            field: None,
            last_field: None,
            owed: 0,
            behind: 0,
            stamp: None,
            ece: false,
            echo: None,
            way_back: None,
        }
    }

    /// The sender's newest TSval, which copies carry. With its own TSval a copy behind later data would be too old for the receiver
    /// (PAWS, RFC 7323 section 5).
    pub(super) fn newest_stamp(&self) -> Option<u32> {
        self.board.stamp
    }

    pub(super) fn due(&self) -> Time {
        self.board.due()
    }

    pub(super) fn holds_nothing(&self) -> bool {
        self.board.cache.is_empty()
    }

    /// Bytes that were acknowledged to the sender and not by the receiver.
    pub(super) fn ahead(&self) -> u64 {
        self.acked - self.board.una
    }

    pub(super) fn clear(&mut self, desk: &mut Desk) {
        desk.tally.acknowledged_ahead_bytes += self.ahead();
        self.acked = self.board.una;
        self.board.stop();
        self.board.cache.clear(&mut desk.places);
        desk.places.give_back_all(self.way_back.take());
    }

    fn buffer(&self) -> u64 {
        self.board.local.cache
    }

    /// Half the buffer: what may be acknowledged ahead, and the largest window.
    fn half(&self) -> u64 {
        self.buffer() / 2
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

    /// A segment of the sender. With `free` it may go onto the link at once.
    pub(super) fn forward(&mut self, now: Time, seen: &Seen, free: bool, desk: &mut Desk) -> Verdict {
        let header = &seen.header;
        if header.syn {
            if let Some(offer) = &mut self.offers[0] {
                offer.once = Time::NEVER;
            } else {
                self.offers[0] =
                    Some(Offer { scale: header.window_scale, sack: seen.sack_permitted, once: now });
                self.line = Line::from(seen.seq.wrapping_add(1));
                self.echo = seen.stamp;
                self.board.stamp = seen.stamp;
            }
            return Verdict::Pass;
        }
        self.board.stamp = self.board.stamp.zip(seen.stamp).map(|(newest, stamp)| later(stamp, newest));
        if !self.is_open() {
            return Verdict::Pass;
        }
        let (una, start) = (self.board.una, self.line.place(seen.seq));
        if header.payload == 0 && !header.fin {
            return self.within_reach(seen);
        }
        let end = start + u64::from(header.payload) + u64::from(header.fin);
        let fits = u64::from(header.payload) <= self.buffer();
        if end > una && (start < una || !fits) {
            return Verdict::Pass;
        }
        if end <= self.top
            || self.board.cache.find(start).is_some()
            || !self.make_room(start, header.payload, desk)
        {
            desk.tally.data_swallowed += 1;
            self.answer(desk);
            return Verdict::Swallow;
        }
        let copy = desk.places.take();
        self.board.cache.insert(Entry::new(start, header.fin, header.payload, seen.bytes, copy));
        desk.record_cached(self.board.cache.bytes());
        let in_order = start <= self.top;
        if in_order {
            self.echo = seen.stamp;
            let top = self.top;
            self.top = self.board.cache.from(top).fold(self.top.max(end), |top, entry| {
                if entry.start <= top { top.max(entry.end) } else { top }
            });
        }
        let moved = self.advance(desk);
        self.tell(moved, !in_order, desk);
        let passes =
            free && self.board.next == start && self.sendable().is_some_and(|entry| entry.copy == copy);
        if passes {
            self.board.send(now, desk);
        }
        self.mind(now);
        if passes { Verdict::Keep(copy) } else { Verdict::Hold(copy) }
    }

    /// An acknowledgment or a reset of the sender, which numbers it behind all its data. It is renumbered to the last byte that went onto
    /// the link, because the receiver does not read a segment beyond its window (RFC 9293 section 3.10.7.4).
    pub(super) fn within_reach(&self, seen: &Seen) -> Verdict {
        let next = self.board.next;
        if self.is_open() && self.line.place(seen.seq) > next {
            return Verdict::Renumber(self.line.seq(next));
        }
        Verdict::Pass
    }

    /// Whether a packet may be kept. It must lie within the buffer, which begins at the first byte that the receiver lacks: a packet that
    /// fills a hole has room. Overlapping packets may need more than the buffer; then those behind the hole are dropped.
    fn make_room(&mut self, start: u64, payload: u32, desk: &mut Desk) -> bool {
        let (end, buffer) = (start + u64::from(payload), self.buffer());
        let in_order = start <= self.top;
        if end > self.board.una + buffer || (!in_order && self.board.cache.overlaps(start, end)) {
            return false;
        }
        let most = buffer - u64::from(payload);
        while self.board.cache.bytes() > most {
            if !in_order || self.board.cache.pop_last(self.top.max(start), &mut desk.places).is_none() {
                return false;
            }
        }
        true
    }

    /// Acknowledges more to the sender where it may, and returns whether it did. Counts the most bytes ahead of the receiver.
    fn advance(&mut self, desk: &mut Desk) -> bool {
        let before = self.acked;
        let most = self.board.una + self.half();
        for entry in self.board.cache.from(before).take_while(|entry| entry.end <= self.top) {
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

    /// Whether the sender's newest acknowledgment is all that is kept in order, but for a FIN.
    fn is_told_all(&self) -> bool {
        let last = self.board.cache.from(self.acked).next();
        last.is_none_or(|entry| entry.start >= self.top || entry.payload == 0)
    }

    /// Sends a new acknowledgment, or a duplicate for one more packet behind the sender's hole. With SACK the blocks report held packets
    /// too. Without SACK duplicates wait until nothing is held: an earlier one would ask for a packet that the agent has.
    fn tell(&mut self, moved: bool, duplicate: bool, desk: &mut Desk) {
        if self.board.selective {
            if moved || duplicate {
                self.answer(desk);
            }
            return;
        }
        self.owed += u32::from(duplicate);
        if moved {
            self.answer(desk);
        }
        if self.is_told_all() {
            for _ in 0..std::mem::take(&mut self.owed).min(MOST_OWED) {
                self.answer(desk);
            }
        }
    }

    /// Acknowledges everything up to `acked`, with the packets kept beyond as SACK blocks.
    fn answer(&mut self, desk: &mut Desk) {
        let Some(way) = self.way_back else { return };
        let sack = if self.board.selective { self.blocks() } else { Default::default() };
        let window = self.field_out();
        self.last_field = Some(window);
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

    /// SACK blocks: the runs of packets behind the sender's hole, the last one first, then the held packets before it. Without a hole
    /// there are none.
    fn blocks(&self) -> [(u32, u32); 3] {
        let mut blocks = [(0, 0); 3];
        let held = (self.top > self.acked).then_some((self.acked, self.top));
        let most = blocks.len() - usize::from(held.is_some());
        let mut runs = 0;
        let mut run: Option<(u64, u64)> = None;
        for entry in self.board.cache.entries().rev().take_while(|entry| entry.start > self.top) {
            match &mut run {
                Some((start, _)) if entry.end >= *start => *start = entry.start,
                _ if runs == most => break,
                _ => {
                    run = Some((entry.start, entry.end));
                    runs += 1;
                }
            }
            if let Some((start, end)) = run {
                blocks[runs - 1] = (self.line.seq(start), self.line.seq(end));
            }
        }
        if let Some((start, end)) = held.filter(|_| runs > 0) {
            blocks[runs] = (self.line.seq(start), self.line.seq(end));
        }
        blocks
    }

    /// The packet that may go onto the link next.
    fn sendable(&self) -> Option<&Entry> {
        self.board.sendable(self.right, self.top)
    }

    /// Its bytes.
    pub(super) fn waiting(&self) -> Option<u32> {
        self.sendable().map(|entry| entry.bytes)
    }

    /// It goes; returns its copy.
    pub(super) fn send(&mut self, now: Time, desk: &mut Desk) -> u32 {
        let copy = self.board.send(now, desk);
        self.mind(now);
        copy
    }

    /// The timer runs while something is out, or something waits for a window.
    fn mind(&mut self, now: Time) {
        let Board { una, next, .. } = self.board;
        self.board.mind(now, next > una || (self.top > una && self.sendable().is_none()));
    }

    pub(super) fn backward(&mut self, now: Time, seen: &Seen, desk: &mut Desk) -> Verdict {
        let header = &seen.header;
        let behind = seen.seq.wrapping_add(header.payload + u32::from(header.syn) + u32::from(header.fin));
        if header.syn {
            if self.offers[1].is_none() {
                let asked = self.offers[0].map_or(Time::NEVER, |offer| offer.once);
                if asked != Time::NEVER {
                    self.board.took_to_open(now.since(asked));
                }
                self.offers[1] =
                    Some(Offer { scale: header.window_scale, sack: seen.sack_permitted, once: now });
                self.board.selective = self.offers.iter().flatten().all(|offer| offer.sack);
                self.behind = behind;
                self.stamp = seen.stamp;
                self.window = u64::from(header.window);
                self.right = self.right.max(self.board.una + self.window);
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
                self.tell(moved, false, desk);
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

    /// Reads an acknowledgment of the receiver; returns whether the sender is to hear of it.
    fn acknowledge(&mut self, now: Time, seen: &Seen, pure: bool, desk: &mut Desk) -> bool {
        let ack = self.line.place(seen.ack);
        if ack < self.board.una {
            return false;
        }
        let (before, field) = (self.acked, seen.header.window);
        let same = self.field.replace(field) == Some(field);
        self.window = u64::from(field) << self.shift();
        if pure {
            self.ece = seen.ece;
        }
        let sack = seen.sack.map(|(start, end)| (self.line.place(start), self.line.place(end)));
        let sack = if seen.sack[0].0 == seen.sack[0].1 { Default::default() } else { sack };
        let report = Report { ack, sack, echo: seen.echo, closed: field == 0, repeats: pure && same };
        self.board.hear(now, &report, desk);
        self.line.move_to(ack);
        self.acked = self.acked.max(ack);
        self.top = self.top.max(ack);
        if ack + self.window > self.right {
            self.right = ack + self.window;
            if self.sendable().is_some() {
                self.board.window_opens();
            }
        }
        self.advance(desk);
        self.mind(now);
        self.acked > before || self.last_field != Some(self.field_out())
    }

    /// A time of the board has come. In the end the flow is given up.
    pub(super) fn on_timer(&mut self, now: Time, desk: &mut Desk) {
        if now < self.due() {
            return;
        }
        match self.board.on_timer(now) {
            true => self.clear(desk),
            false => self.mind(now),
        }
    }
}
