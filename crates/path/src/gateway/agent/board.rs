//! The scoreboard of a spoofing agent: which packets the receiver lacks, and when they go again.
//!
//! Where both hosts offered SACK, losses are found by the times of sending, as RACK does (RFC 8985 section 6.2). Elsewhere the third
//! duplicate tells of one loss, and an acknowledgment that the repair of a loss brings tells of the next (RFC 6582). When the timer
//! expires, all that is out is taken for lost, and goes again as slow start would send it; an acknowledgment that was under way
//! already says that nothing was (RFC 3522).

use bentpipe_units::{Span, Time};

use super::cache::{Cache, Entry};
use super::desk::{Desk, Local};
use super::rtt::LocalRtt;

/// RFC 5681 section 3.2: so many duplicates tell of a loss.
const DUPLICATES: u32 = 3;

/// The receiver's report of the packets that arrived.
pub(super) struct Report {
    /// Before it everything has come.
    pub(super) ack: u64,
    /// What came beyond a hole, each from its first byte to the one after its last.
    pub(super) sack: [(u64, u64); 4],
    /// The TSval that it echoes.
    pub(super) echo: Option<u32>,
    /// Its window is closed.
    pub(super) closed: bool,
    /// Whether it could be a duplicate: it has no data, and the window that it had before.
    pub(super) repeats: bool,
}

/// What is kept for a receiver, and how far it has come.
#[derive(Clone, Debug)]
pub(super) struct Board {
    pub(super) local: Local,
    pub(super) cache: Cache,
    /// Whether the receiver reports what it has beyond a hole.
    pub(super) selective: bool,
    /// Before it everything has come.
    pub(super) una: u64,
    /// Behind the last packet that went.
    pub(super) next: u64,
    /// The newest TSval of the sender, with which copies go.
    pub(super) stamp: Option<u32>,
    rtt: LocalRtt,
    delivered: Delivered,
    /// Packets that were reported beyond a hole.
    sacked: u32,
    /// Packets that are to go again, and a place with none of them before it.
    lost: u32,
    lost_from: u64,
    duplicates: u32,
    /// The losses that are being repaired lie before it.
    recover: u64,
    restart: Option<Restart>,
    /// The first packet is to go to a closed window, to ask.
    asks: bool,
    /// When the timer expires, and when a packet that others have overtaken counts as lost.
    due: Time,
    lost_at: Time,
    /// Expiries since the receiver was heard of.
    silent: u32,
}

/// What is known of the packets that came.
#[derive(Clone, Copy, Debug)]
struct Delivered {
    /// Of those the one that was sent last: when, the place behind it, and how long it took until it was reported.
    newest: (Time, u64),
    took: Span,
    /// Shortest round trip.
    least: Option<Span>,
    /// Behind the highest one.
    highest: u64,
    /// One came that was sent before another, and later than that.
    overtaken: bool,
}

/// After the timer has expired.
#[derive(Clone, Copy, Debug)]
struct Restart {
    /// What was out then lies before it.
    until: u64,
    /// So many packets may go again.
    allowance: u32,
    /// The TSval with which the first one went again.
    stamp: Option<u32>,
}

impl Delivered {
    fn is_too_fast(&self, took: Span) -> bool {
        self.least.is_some_and(|least| took < least)
    }

    fn note(&mut self, now: Time, entry: &Entry) {
        let took = now.since(entry.sent);
        if entry.again {
            // That fast only the one that was sent before can have come (RFC 8985 section 6.2 step 2).
            if self.is_too_fast(took) {
                return;
            }
        } else {
            self.least = Some(self.least.map_or(took, |least| least.min(took)));
            self.overtaken |= entry.end < self.highest;
        }
        self.highest = self.highest.max(entry.end);
        if (entry.sent, entry.end) > self.newest {
            self.newest = (entry.sent, entry.end);
            self.took = took;
        }
    }
}

impl Board {
    pub(super) fn new(local: Local, first: u64) -> Board {
        Board {
            local,
            cache: Cache::default(),
            selective: false,
            una: first,
            next: first,
            stamp: None,
            rtt: LocalRtt::NEW,
            delivered: Delivered {
                newest: (Time::ZERO, 0),
                took: Span::ZERO,
                least: None,
                highest: 0,
                overtaken: false,
            },
            sacked: 0,
            lost: 0,
            lost_from: first,
            duplicates: 0,
            recover: first,
            restart: None,
            asks: false,
            due: Time::NEVER,
            lost_at: Time::NEVER,
            silent: 0,
        }
    }

    pub(super) fn due(&self) -> Time {
        self.due.min(self.lost_at)
    }

    /// The receiver is not waited for any more.
    pub(super) fn stop(&mut self) {
        (self.due, self.lost_at) = (Time::NEVER, Time::NEVER);
    }

    /// The timer runs from now if it does not and the receiver owes an answer, and not otherwise.
    pub(super) fn mind(&mut self, now: Time, waits: bool) {
        if !waits {
            self.due = Time::NEVER;
        } else if self.due == Time::NEVER {
            self.due = now + self.rtt.timeout(&self.local);
        }
    }

    /// The SYN of the sender was answered after this time: the first round trip.
    pub(super) fn took_to_open(&mut self, took: Span) {
        self.delivered.least = Some(took);
        self.rtt.sample(took);
    }

    /// A window that was closed is open: the next timeout is that of a packet again.
    pub(super) fn window_opens(&mut self) {
        if self.next == self.una {
            self.asks = false;
            self.rtt.expiries = 0;
            self.due = Time::NEVER;
        }
    }

    /// The packet to go next, in whole or within the window that ends at `right`; none beyond `top`.
    pub(super) fn sendable(&self, right: u64, top: u64) -> Option<&Entry> {
        if self.asks {
            return self.cache.from(self.una).next();
        }
        if self.restart.is_some_and(|restart| restart.allowance == 0) {
            return None;
        }
        if self.lost > 0 {
            return self.cache.from(self.lost_from).find(|entry| entry.lost);
        }
        if self.next >= top {
            return None;
        }
        self.cache.from(self.next).next().filter(|entry| entry.start <= self.next && entry.end <= right)
    }

    /// That packet goes; returns its copy.
    pub(super) fn send(&mut self, now: Time, desk: &mut Desk) -> u32 {
        let (asks, again) = (std::mem::take(&mut self.asks), self.lost > 0);
        let from = if asks {
            self.una
        } else if again {
            self.lost_from
        } else {
            self.next
        };
        let Some(entry) = self.cache.reaching_mut(from).find(|entry| asks || !again || entry.lost) else {
            return 0;
        };
        entry.again |= asks || entry.sent != Time::NEVER;
        entry.sent = now;
        let Entry { copy, end, again: repeated, .. } = *entry;
        if repeated {
            desk.tally.local_retransmissions += u64::from(again);
            self.rtt.sent_again();
        } else {
            self.rtt.sent(now, end);
        }
        if asks {
            return copy;
        }
        if let Some(restart) = &mut self.restart {
            restart.allowance -= 1;
        }
        if again {
            entry.lost = false;
            self.lost -= 1;
            self.lost_from = end;
        } else {
            self.next = end;
        }
        copy
    }

    /// What the receiver reports.
    pub(super) fn hear(&mut self, now: Time, report: &Report, desk: &mut Desk) {
        let Report { ack, .. } = *report;
        if self.next == self.una || report.closed || ack > self.una {
            self.silent = 0;
        }
        if ack > self.una {
            self.hear_of_new(now, report, desk);
        } else if report.repeats && !report.closed {
            self.hear_again();
        }
        if self.selective && report.sack[0].1 > self.una {
            for (start, end) in report.sack {
                self.hear_of_block(now, start.max(self.una), end.min(self.next));
            }
        }
        self.find_losses(now);
    }

    /// A duplicate acknowledgment. The third one tells of a loss, unless losses are being repaired.
    fn hear_again(&mut self) {
        if self.selective || self.next == self.una || self.restart.is_some() {
            return;
        }
        self.duplicates += 1;
        if self.duplicates == DUPLICATES && self.una >= self.recover {
            self.recover = self.next;
            self.lose_first();
        }
    }

    fn hear_of_new(&mut self, now: Time, report: &Report, desk: &mut Desk) {
        let Report { ack, .. } = *report;
        if self.restart.is_some_and(|restart| self.was_needless(now, restart, report.echo)) {
            self.restart = None;
            self.forget_losses();
        }
        let (mut came, until) = (0, self.restart.map_or(u64::MAX, |restart| restart.until));
        while let Some(entry) = self.cache.pop(ack, &mut desk.places) {
            self.lost -= u32::from(entry.lost);
            self.sacked -= u32::from(entry.sacked);
            came += u32::from((entry.again || entry.start >= until) && !entry.sacked);
            if !entry.sacked && entry.sent != Time::NEVER {
                self.delivered.note(now, &entry);
            }
        }
        self.una = ack;
        self.next = self.next.max(ack);
        self.lost_from = self.lost_from.max(ack);
        self.duplicates = 0;
        self.asks = false;
        self.rtt.acknowledged(now, ack);
        self.due = Time::NEVER;
        self.grant(came);
        if self.restart.is_some_and(|restart| ack >= restart.until) {
            self.restart = None;
        }
    }

    /// After a timeout each packet that went since then and comes lets two more go.
    fn grant(&mut self, came: u32) {
        if let Some(restart) = &mut self.restart {
            restart.allowance = restart.allowance.saturating_add(2 * came);
        }
    }

    /// Whether what comes now was under way already when the timer expired.
    fn was_needless(&self, now: Time, restart: Restart, echo: Option<u32>) -> bool {
        let Some(first) = self.cache.from(self.una).next() else { return false };
        let older = |(echo, stamp): (u32, u32)| echo.wrapping_sub(stamp).cast_signed() < 0;
        first.lost
            || (first.again && self.delivered.is_too_fast(now.since(first.sent)))
            || echo.zip(restart.stamp).is_some_and(older)
    }

    fn hear_of_block(&mut self, now: Time, start: u64, end: u64) {
        let (mut came, until) = (0, self.restart.map_or(u64::MAX, |restart| restart.until));
        for entry in self.cache.reaching_mut(start).take_while(|entry| entry.end <= end) {
            if entry.start < start || entry.sacked || entry.sent == Time::NEVER {
                continue;
            }
            entry.sacked = true;
            self.sacked += 1;
            self.lost -= u32::from(std::mem::take(&mut entry.lost));
            came += u32::from(entry.again || entry.start >= until);
            self.delivered.note(now, entry);
        }
        self.grant(came);
    }

    /// What was sent before a packet that came, and has not come, is lost (RFC 8985 section 6.2 step 5). It may be late by a quarter
    /// of the shortest round trip, unless three packets came beyond a hole or losses are being repaired, and nothing was ever
    /// overtaken. Without SACK that is known of the first packet alone, and only while losses are being repaired.
    fn find_losses(&mut self, now: Time) {
        self.lost_at = Time::NEVER;
        let repairs = self.una < self.recover;
        if self.next == self.una || (self.sacked == 0 && !repairs) {
            return;
        }
        let Delivered { newest, took, least, overtaken, .. } = self.delivered;
        if !self.selective {
            let first = self.cache.from(self.una).next();
            if first.is_some_and(|first| !first.lost && (first.sent, first.end) < newest) {
                self.lose_first();
            }
            return;
        }
        let known = !overtaken && (repairs || self.sacked >= DUPLICATES);
        let late = took + if known { Span::ZERO } else { least.unwrap_or(took) / 4 };
        let (una, next) = (self.una, self.next);
        for entry in self.cache.reaching_mut(una).take_while(|entry| entry.start < next) {
            if entry.sacked || entry.lost || (entry.sent, entry.end) >= newest {
                continue;
            }
            if now < entry.sent + late {
                self.lost_at = self.lost_at.min(entry.sent + late);
                continue;
            }
            entry.lost = true;
            self.lost += 1;
            self.lost_from = self.lost_from.min(entry.start);
            self.recover = self.recover.max(next);
        }
    }

    fn lose_first(&mut self) {
        if let Some(first) = self.cache.first().filter(|first| !first.lost) {
            first.lost = true;
            self.lost += 1;
            self.lost_from = first.start;
        }
    }

    fn forget_losses(&mut self) {
        let next = self.next;
        self.cache
            .reaching_mut(0)
            .take_while(|entry| entry.start < next)
            .for_each(|entry| entry.lost = false);
        self.lost = 0;
    }

    /// A time has come. True when the receiver was not heard of for so long that the flow is given up.
    pub(super) fn on_timer(&mut self, now: Time) -> bool {
        if now >= self.lost_at {
            self.find_losses(now);
        }
        if now < self.due {
            return false;
        }
        self.due = Time::NEVER;
        let may = self.restart.is_none_or(|restart| restart.allowance > 0);
        let waits = may && self.cache.first().is_some_and(|first| first.lost);
        if waits || self.asks {
            // It waits for room before the link.
            return false;
        }
        self.silent += 1;
        if self.silent > self.local.retries {
            return true;
        }
        self.rtt.expiries += 1;
        match self.next == self.una {
            // RFC 9293 section 3.8.6.1: a closed window is asked for as long as the receiver answers.
            true => self.asks = true,
            false => self.start_over(),
        }
        false
    }

    /// All that is out and was not reported is taken for lost; where the first packet was reported, the receiver has gone back on its
    /// reports (RFC 2018 section 8).
    fn start_over(&mut self) {
        self.rtt.sent_again();
        let (una, next) = (self.una, self.next);
        if self.cache.first().is_some_and(|first| first.sacked) {
            self.cache.reaching_mut(una).for_each(|entry| entry.sacked = false);
            self.sacked = 0;
        }
        self.lost = 0;
        for entry in self.cache.reaching_mut(una).take_while(|entry| entry.start < next) {
            entry.lost = !entry.sacked;
            self.lost += u32::from(entry.lost);
        }
        self.lost_from = una.min(self.cache.first().map_or(una, |first| first.start));
        self.duplicates = 0;
        self.restart = Some(Restart { until: next, allowance: 1, stamp: self.stamp });
    }
}
