//! Controlled delay (RFC 8289, "Controlled Delay Active Queue Management").

use std::collections::VecDeque;

use bentpipe_units::bounded::{AboveZero, Size};
use bentpipe_units::{Bytes, Fault, Rate, Span, Time, options};

use super::discipline::{Drops, Queue, ServerView, Verdict, Waiting};
use super::options::longer;
use super::{Discipline, Packets, Scheme};
use crate::Stream;

options! {
    "codel", "controlled delay: drops or marks what leaves when packets have waited too long (RFC 8289)";
    /// Controlled delay (RFC 8289).
    pub struct CodelOptions {
        /// The most packets that wait.
        pub limit: Packets,
        /// Time that packets may wait in a standing queue, above zero.
        #[serde(default = "usual_target", with = "AboveZero")]
        pub target: Span,
        /// How long they must have waited longer before one is dropped, above `target`.
        #[serde(default = "usual_interval")]
        pub interval: Span,
        /// The longest packet of the link, 1 B to 1 MiB; where no more bytes than these are left, nothing is dropped.
        #[serde(default = "usual_mtu", with = "Size::<1, 1_048_576>")]
        pub mtu: Bytes,
        /// Mark packets that are ECN-capable instead of dropping them.
        #[serde(default)]
        pub ecn: bool,
    }
}

/// RFC 8289 section 5.3: "TARGET = MS2TIME(5); // 5 ms TARGET queue delay".
pub(super) fn usual_target() -> Span {
    Span::from_millis(5)
}

/// RFC 8289 section 5.3: "INTERVAL = MS2TIME(100); // 100 ms sliding-minimum window".
pub(super) fn usual_interval() -> Span {
    Span::from_millis(100)
}

/// RFC 8289 section 5.3: "Maximum packet size in bytes // (SHOULD use interface MTU)", and that is Ethernet's.
pub(super) fn usual_mtu() -> Bytes {
    Bytes::new(1500)
}

impl Scheme for CodelOptions {
    fn limit(&self) -> Packets {
        self.limit
    }

    fn calm(&self, rate: Rate) -> (u32, u64) {
        let bytes = u128::from(rate.as_bps()) * u128::from(self.target.as_nanos()) / 8_000_000_000;
        (self.limit.0, bytes as u64)
    }

    fn validate(&self) -> Result<(), Fault> {
        longer("interval", self.interval, self.target, "target")
    }

    fn discipline(&self, _: Rate, _: Stream) -> Discipline {
        let law = Codel::new(self.target, self.interval, self.ecn);
        let (limit, line, longest) = (self.limit.0, Line::default(), self.mtu.get());
        Discipline::OnLeaving(Box::new(CodelQueue { limit, law, line, longest }))
    }
}

/// Packets in order, and their bytes.
#[derive(Debug, Default)]
pub(super) struct Line {
    packets: VecDeque<Waiting>,
    bytes: u64,
}

impl Line {
    pub(super) fn push(&mut self, packet: Waiting) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    pub(super) fn first(&self) -> Option<&Waiting> {
        self.packets.front()
    }

    pub(super) fn pop_last(&mut self) -> Option<Waiting> {
        let packet = self.packets.pop_back()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    pub(super) fn len(&self) -> u32 {
        self.packets.len() as u32
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The state of CoDel over one line of packets. Its names are those of RFC 8289 section 5.2.
#[derive(Clone, Debug)]
pub(super) struct Codel {
    target: Span,
    interval: Span,
    ecn: bool,
    /// When packets will have waited longer than TARGET for an INTERVAL; none while they do not.
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Codel {
    pub(super) fn new(target: Span, interval: Span, ecn: bool) -> Codel {
        Codel {
            target,
            interval,
            ecn,
            first_above: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
        }
    }

    /// Takes a packet off the line, and returns whether it is "OK to drop" it.
    fn take(&mut self, now: Time, line: &mut Line, max_packet: u64) -> (Option<Waiting>, bool) {
        let Some(packet) = line.pop() else {
            self.first_above = None;
            return (None, false);
        };
        // The bytes left count beside the time waited, so that a slow link keeps a packet to send: "went below - stay below for at
        // least INTERVAL".
        if now.since(packet.came) < self.target || line.bytes() <= max_packet {
            self.first_above = None;
            return (Some(packet), false);
        }
        // "just went above from below. if still above at first_above_time, will say it's ok to drop."
        let first_above = *self.first_above.get_or_insert(now + self.interval);
        (Some(packet), now >= first_above)
    }

    /// Section 5.6: "t + INTERVAL / sqrt(count)".
    fn control_law(&self, from: Time) -> Time {
        from + Span::from_secs(self.interval.as_secs() / libm::sqrt(f64::from(self.count)))
    }

    /// Marks a packet where it may be marked, and drops it otherwise; returns it when it was marked.
    fn mark_or_drop(&self, packet: Waiting, drops: &mut Drops) -> Option<Waiting> {
        if self.ecn && packet.label.ecn_capable {
            return Some(Waiting { marked: true, ..packet });
        }
        drops.early(packet);
        None
    }

    /// The next packet to be sent, after those that are dropped. `max_packet` is the length of the link's longest packet.
    pub(super) fn dequeue(
        &mut self,
        now: Time,
        line: &mut Line,
        max_packet: u64,
        drops: &mut Drops,
    ) -> Option<Waiting> {
        let (mut next, mut ok_to_drop) = self.take(now, line, max_packet);
        if self.dropping {
            // "sojourn time below TARGET - leave drop state".
            self.dropping = ok_to_drop;
            // "Time for the next drop. Drop current packet and dequeue next."
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if let Some(marked) = next.and_then(|packet| self.mark_or_drop(packet, drops)) {
                    self.drop_next = self.control_law(self.drop_next);
                    return Some(marked);
                }
                (next, ok_to_drop) = self.take(now, line, max_packet);
                match ok_to_drop {
                    true => self.drop_next = self.control_law(self.drop_next),
                    false => self.dropping = false,
                }
            }
        } else if ok_to_drop {
            // The packets have waited longer than TARGET for an INTERVAL: "enter drop state".
            let marked = next.and_then(|packet| self.mark_or_drop(packet, drops));
            next = marked.or_else(|| self.take(now, line, max_packet).0);
            self.dropping = true;
            // "If min went above TARGET close to when it last went below, assume that the drop rate that controlled the queue
            // on the last cycle is a good starting point to control it now."
            let delta = self.count.saturating_sub(self.last_count);
            let recent = now.since(self.drop_next) < self.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = self.control_law(now);
            self.last_count = self.count;
        }
        next
    }
}

#[derive(Debug)]
struct CodelQueue {
    limit: u32,
    law: Codel,
    line: Line,
    /// The MTU, or the longest packet where one was longer.
    longest: u64,
}

impl Queue for CodelQueue {
    fn enqueue(&mut self, _: Time, packet: Waiting, server: &ServerView, _: &mut Drops) -> Verdict {
        if self.line.len() >= self.limit && server.idle_since.is_none() {
            return Verdict::DropFull;
        }
        self.longest = self.longest.max(u64::from(packet.bytes));
        self.line.push(packet);
        Verdict::Take
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Waiting> {
        self.law.dequeue(now, &mut self.line, self.longest, drops)
    }

    fn packets(&self) -> u32 {
        self.line.len()
    }

    fn bytes(&self) -> u64 {
        self.line.bytes()
    }
}

#[cfg(test)]
mod tests;
