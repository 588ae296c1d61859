//! Snoop: what a lossy link loses is sent again from its near end, and the sender hears nothing of it.

use bentpipe_units::bounded::{AboveZero, SomeBytes, Whole};
use bentpipe_units::{Bytes, Span, Time, options};

use super::cache::Entry;
use super::desk::{Desk, Local};
use super::line::{Line, later};
use super::repair::Repair;
use super::segment::{Answer, Emission, Seen, Verdict};

options! {
    "snoop", "keeps what passes, sends it again over the link, and hides duplicate acknowledgments", also ["pep"];
    /// Settings of Snoop.
    pub struct SnoopOptions {
        /// Most payload of one flow that is kept.
        #[serde(with = "SomeBytes")]
        pub cache: Bytes = Bytes::new(512 << 10),
        /// The local timer waits at least so much longer than the mean round trip over the link.
        #[serde(with = "AboveZero")]
        pub min_timeout: Span = Span::from_millis(250),
        /// That time before the first round trip over the link was measured.
        #[serde(with = "AboveZero")]
        pub first_timeout: Span = Span::from_millis(1000),
        /// A packet is sent again locally so often; then it is left to the sender.
        pub retries: u32 = 8,
        /// Most flows remembered; those beyond them pass as if there were no agent.
        #[serde(with = "Whole::<1, 4_294_967_295>")]
        pub max_flows: u32 = 65_536,
    }
}

/// One flow under Snoop (Balakrishnan, Seshan and Katz, Wireless Networks 1(4), 1995, section 3).
///
/// Data: new data is kept and goes on. Data that was kept before and that the sender sends again goes on, marked. Data that lies
/// behind newer data and was not kept comes from a loss before the agent: it is kept and marked. Data that the receiver has
/// acknowledged is answered with the newest acknowledgment, and goes no further.
///
/// Acknowledgments: a new one releases what it acknowledges. One that is older than the newest is swallowed. A duplicate goes on
/// when the packet that it asks for is not kept or is marked; otherwise see [`Repair::duplicate`].
#[derive(Clone, Debug)]
pub(super) struct Snoop {
    repair: Repair,
    line: Option<Line>,
    /// Before it everything has come; none before the receiver was heard.
    una: Option<u64>,
    /// Behind the last byte seen.
    high: u64,
    /// A packet of the receiver, by whose way an answer goes.
    way_back: Option<u32>,
    /// Of the receiver's newest segment: the sequence number behind it, its window field unless it is a SYN, its TSval.
    next: u32,
    window: Option<u16>,
    stamp: Option<u32>,
}

impl Snoop {
    pub(super) fn new(options: &SnoopOptions) -> Snoop {
        let SnoopOptions { cache, min_timeout, first_timeout, retries, .. } = *options;
        Snoop {
            repair: Repair::new(Local { cache: cache.get(), min_timeout, first_timeout, retries }),
            line: None,
            una: None,
            high: Line::FIRST,
            way_back: None,
            next: 0,
            window: None,
            stamp: None,
        }
    }

    pub(super) fn due(&self) -> Time {
        self.repair.due()
    }

    pub(super) fn holds_nothing(&self) -> bool {
        self.repair.cache.is_empty()
    }

    pub(super) fn clear(&mut self, desk: &mut Desk) {
        self.repair.cache.clear(&mut desk.places);
        desk.places.give_back_all(self.way_back.take());
    }

    pub(super) fn forward(&mut self, now: Time, seen: &Seen, desk: &mut Desk) -> Verdict {
        let header = &seen.header;
        if header.syn {
            self.line.get_or_insert(Line::from(seen.seq.wrapping_add(1)));
        }
        if header.payload == 0 || header.syn {
            return Verdict::Pass;
        }
        let line = *self.line.get_or_insert(Line::from(seen.seq));
        let start = line.place(seen.seq);
        let end = start + u64::from(header.payload) + u64::from(header.fin);
        if self.una.is_some_and(|una| end <= una) {
            return self.answer(seen, desk);
        }
        if let Some(entry) = self.repair.cache.find(start).filter(|entry| entry.end == end) {
            entry.by_sender = true;
            entry.tries = 0;
            entry.sent = now;
            let copy = entry.copy;
            self.repair.forget_duplicates();
            return Verdict::Keep(copy);
        }
        let by_sender = start < self.high;
        self.high = self.high.max(end);
        if !self.repair.has_room(header.payload) || self.repair.cache.overlaps(start, end) {
            return Verdict::Pass;
        }
        let copy = desk.places.take();
        let entry = Entry::new(start, header.fin, header.payload, seen.bytes, copy);
        self.repair.cache.insert(Entry { by_sender, sent: now, ..entry });
        desk.record_cached(self.repair.cache.bytes());
        if !by_sender {
            self.repair.rtt.sent(now, end);
        }
        if self.una.is_some() {
            self.repair.start_timer(now);
        }
        Verdict::Keep(copy)
    }

    /// The newest acknowledgment once more, for data that the receiver has: the sender may not have heard it.
    fn answer(&mut self, seen: &Seen, desk: &mut Desk) -> Verdict {
        let (Some(line), Some(una), Some(way), Some(window)) =
            (self.line, self.una, self.way_back, self.window)
        else {
            return Verdict::Pass;
        };
        let stamps = self.stamp.zip(seen.stamp);
        let answer = Answer { seq: self.next, ack: line.seq(una), window, stamps, ..Answer::default() };
        desk.tally.data_swallowed += 1;
        desk.answer(way, answer);
        Verdict::Swallow
    }

    pub(super) fn backward(&mut self, now: Time, seen: &Seen, desk: &mut Desk) -> Verdict {
        let header = &seen.header;
        let behind = seen.seq.wrapping_add(header.payload + u32::from(header.syn) + u32::from(header.fin));
        let same_window = self.window == Some(header.window);
        let first = self.una.is_none();
        self.next = if first { behind } else { later(behind, self.next) };
        self.stamp = seen.stamp.or(self.stamp);
        if !header.syn {
            self.window = Some(header.window);
        }
        let keeps = self.way_back.is_none();
        let way_back = *self.way_back.get_or_insert_with(|| desk.places.take());
        let goes_on = if keeps { Verdict::Keep(way_back) } else { Verdict::Pass };
        let swallowed = if keeps { Verdict::Hold(way_back) } else { Verdict::Swallow };
        if !header.ack {
            return goes_on;
        }
        let line = self.line.get_or_insert(Line::from(seen.ack));
        let ack = line.place(seen.ack);
        let pure = header.payload == 0 && !header.syn && !header.fin;
        match self.una {
            Some(una) if ack < una && pure => {
                desk.tally.acks_swallowed += 1;
                swallowed
            }
            Some(una) if ack == una && pure && same_window => {
                let repairable = self.repair.cache.find(una).is_some_and(|entry| !entry.by_sender);
                if !repairable || self.repair.exhausted() {
                    return goes_on;
                }
                self.repair.duplicate(now, desk);
                desk.tally.acks_swallowed += 1;
                swallowed
            }
            Some(una) if ack <= una => goes_on,
            _ => {
                line.move_to(ack);
                self.una = Some(ack);
                self.high = self.high.max(ack);
                self.repair.acknowledged(now, ack, desk);
                goes_on
            }
        }
    }

    /// The timer has expired, or an earlier event has done its work.
    pub(super) fn on_timer(&mut self, now: Time, desk: &mut Desk) {
        if now < self.repair.due() {
            return;
        }
        self.repair.stop_timer();
        // What the receiver lacks first may never have come here.
        if self.una.is_some_and(|una| self.repair.cache.find(una).is_some()) {
            self.repair.rtt.expiries += 1;
            self.repair.forget_duplicates();
            self.repair.resend(now, desk);
        }
    }
}

impl Desk {
    /// So much of a flow is kept.
    pub(super) fn record_cached(&mut self, bytes: u64) {
        self.tally.cached_max_bytes = self.tally.cached_max_bytes.max(bytes);
    }

    /// An answer goes out.
    pub(super) fn answer(&mut self, way: u32, answer: Answer) {
        self.tally.acks_made += 1;
        self.out.push_back(Emission::Answer(way, answer));
    }
}
