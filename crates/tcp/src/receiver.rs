//! The receiving half of a connection: reassembly, the advertised window, and when to acknowledge.

mod buffer;
mod compression;
mod edge;
mod quick;
mod report;
mod tuning;
mod window;

use bentpipe_units::{Span, Time};

use crate::runs::Runs;
use crate::{Config, DelayedAck, Host, SackBlock, SackBlocks, Seq};
use compression::Compression;
use edge::{whole_segments, worthwhile};
use quick::QuickAcks;
use tuning::Tuning;

/// Counters of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Segments with payload.
    pub data_segments: u64,
    /// Payload bytes that were held already.
    pub duplicate_bytes: u64,
    /// Payload bytes beyond the advertised window, dropped.
    pub beyond_window_bytes: u64,
    /// Segments that arrived past a hole.
    pub out_of_order_segments: u64,
}

/// How a segment of data came.
#[derive(Clone, Copy, Debug)]
enum Arrival {
    /// The next: it opens the window further, or the peer's FIN is reached with it.
    InOrder {
        opens: bool,
        closes: bool,
    },
    /// All of it was here.
    Old,
    PastHole,
}

/// The receiving half of a connection.
#[derive(Debug)]
pub struct Receiver {
    nxt: Seq,
    /// Right edge of the advertised window; never moves left.
    edge: Seq,
    capacity: u32,
    mss: u32,
    scale: u8,
    /// How far the right edge moves at least.
    worthwhile: u32,
    /// The window that is advertised when all was read, in bytes and as the field has it.
    open: u32,
    open_field: u16,
    /// Bytes in order that the application has not read.
    unread: u32,
    held: Runs,
    /// The runs reported last, newest first (RFC 2018 section 4); one that the cumulative ACK has passed may be among them.
    recent: [SackBlock; SackBlocks::MOST],
    recent_count: u8,
    /// What came twice and was not reported yet; kept only where it is to be reported.
    duplicate: Option<SackBlock>,
    reports_duplicates: bool,
    fin: Option<Seq>,
    /// Whether a FIN is known, or each segment counts for when the next is acknowledged.
    watches: bool,
    fin_reached: bool,
    delayed_ack: DelayedAck,
    /// None where ACKs are timed alike.
    quick: Option<Box<QuickAcks>>,
    /// None where what comes past a hole is answered at once.
    compression: Option<Box<Compression>>,
    /// None where the window stays as it is.
    tuning: Option<Box<Tuning>>,
    waiting_segments: u32,
    deadline: Time,
    ack_now: bool,
    /// Whether the ACK that is owed goes without data.
    alone: bool,
    /// Whether ACKs are timed as in Linux 6.
    linux: bool,
    /// The window field that went out last, while nothing has come or been read since.
    standing_field: Option<u16>,
    delivered: u64,
    stats: ReceiverStats,
}

impl Receiver {
    /// A receiver that has not heard of the peer's sequence numbers.
    pub fn new(config: &Config) -> Receiver {
        let tuning = Tuning::of(config);
        let capacity = tuning.as_ref().map_or(config.receive_window, |tuning| tuning.window(0));
        let quick = QuickAcks::of(config);
        Receiver {
            nxt: Seq::default(),
            edge: Seq::default(),
            capacity,
            mss: config.mss,
            scale: 0,
            worthwhile: worthwhile(capacity, config.mss, 0),
            open: capacity,
            open_field: capacity.min(65_535) as u16,
            unread: 0,
            held: Runs::default(),
            recent: [SackBlock { start: Seq(0), end: Seq(0) }; SackBlocks::MOST],
            recent_count: 0,
            duplicate: None,
            reports_duplicates: config.duplicate_sack,
            fin: None,
            watches: quick.is_some() || tuning.is_some(),
            fin_reached: false,
            delayed_ack: match quick.as_ref().is_some_and(|quick| quick.counts_bytes()) {
                true => DelayedAck { segments: u32::MAX, ..config.delayed_ack },
                false => config.delayed_ack,
            },
            quick,
            compression: Compression::of(config),
            tuning,
            waiting_segments: 0,
            deadline: Time::NEVER,
            ack_now: false,
            alone: false,
            linux: config.host == Host::Linux,
            standing_field: None,
            delivered: 0,
            stats: ReceiverStats::default(),
        }
    }

    /// The peer's SYN arrived: its first byte of data is `first`.
    pub fn start(&mut self, first: Seq) {
        self.nxt = first;
        self.edge = first + u32::from(self.syn_window());
    }

    /// Both ends offered scaling: windows go out shifted by `scale`. Without it the buffer in use is 65,535 bytes.
    /// Segments carry `mss` bytes.
    pub fn negotiated(&mut self, scale: Option<u8>, mss: u32) {
        self.mss = mss;
        self.standing_field = None;
        self.scale = scale.unwrap_or(0);
        if let Some(tuning) = &mut self.tuning {
            tuning.open(65_535 << self.scale, mss);
            self.capacity = tuning.window(0);
        }
        self.capacity = self.capacity.min(65_535 << self.scale);
        if let Some(quick) = &mut self.quick {
            quick.open(self.capacity, mss, self.tuning.is_some());
        }
        if self.linux && self.scale == 0 {
            // Where the field has no scale it tells of whole segments (`__tcp_select_window`).
            self.capacity = whole_segments(self.capacity, mss);
        }
        self.worthwhile = worthwhile(self.capacity, mss, self.scale);
        self.open = self.capacity >> self.scale << self.scale;
        self.open_field = (self.capacity >> self.scale).min(65_535) as u16;
    }

    /// The peer takes no SACK blocks: each segment past a hole is a duplicate ACK of its own.
    pub(crate) fn reports_no_sack(&mut self) {
        self.compression = None;
    }

    /// The retransmission timeout that this end begins with: a longer pause of the peer's means a new start.
    pub(crate) fn expect_pauses(&mut self, shorter_than: Span) {
        if let Some(quick) = &mut self.quick {
            quick.expect_pauses(shorter_than);
        }
    }

    /// RCV.NXT.
    #[inline]
    pub fn nxt(&self) -> Seq {
        self.nxt
    }

    /// Bytes from RCV.NXT that the peer was told it may send.
    #[inline]
    pub fn window(&self) -> u32 {
        self.edge - self.nxt
    }

    /// Whether the next byte is all that the receiver waits for, nothing being held past a hole, and is acknowledged as any other.
    #[inline]
    pub(crate) fn lacks_nothing(&self) -> bool {
        self.held.is_empty() && !self.watches
    }

    /// [`Receiver::on_data`] for `len` bytes from RCV.NXT on, inside the window, when the receiver lacks nothing else.
    #[inline]
    pub(crate) fn on_next(&mut self, now: Time, len: u32) {
        self.standing_field = None;
        self.stats.data_segments += 1;
        self.in_order(now, self.nxt + len);
    }

    /// Payload `seq .. seq + len`, with FIN behind it or not, arrived. Returns the bytes that became readable.
    #[inline(always)]
    pub fn on_data(&mut self, now: Time, seq: Seq, len: u32, fin: bool) -> u32 {
        self.standing_field = None;
        if self.tuning.is_some() {
            self.measure(now);
        }
        if len > 0 {
            self.stats.data_segments += 1;
        }
        if fin && seq + len <= self.edge {
            self.fin = Some(seq + len);
            self.watches = true;
        }
        let end = (seq + len).min(self.edge);
        self.stats.beyond_window_bytes += u64::from((seq + len) - end.max(seq));
        let start = seq.max(self.nxt);
        if seq < start {
            self.note_duplicate(seq, start.min(seq + len));
        }
        let deadline = self.deadline;
        let readable = if start >= end {
            self.stats.duplicate_bytes += u64::from(self.nxt.min(seq + len).max(seq) - seq);
            // In Linux the FIN behind it makes it new.
            self.ack_now |= len > 0 && !(self.linux && self.fin == Some(self.nxt));
            0
        } else if start == self.nxt {
            if let Some(held) = self.held.first().filter(|held| held.start < end && seq >= self.nxt) {
                // RFC 2883 section 4.2: a segment that brings some of what is here. What lies below RCV.NXT comes first.
                self.note_duplicate(held.start, held.end.min(end));
            }
            self.in_order(now, end)
        } else {
            self.out_of_order(SackBlock { start, end });
            0
        };
        let first = if readable > 0 { end - start } else { 0 };
        let opens =
            self.tuning.is_some() && self.tune(SackBlock { start: seq, end: seq + len }, first, readable);
        if start < end && readable == 0 {
            // While the window opens, each is answered at once past a hole too (`tcp_grow_window`), but where the application answers.
            let opens = opens && self.quick.as_ref().is_none_or(|quick| !quick.answers());
            if let Some(quick) = self.quick.as_mut().filter(|_| opens) {
                quick.opens();
            }
            self.ack_now |= opens || self.compression.is_none() || self.answers_hole(now);
        }
        let closes = self.linux && self.fin == Some(self.nxt) && !self.fin_reached;
        if self.quick.is_some() {
            let arrival = match (readable > 0 || closes, start >= end) {
                (true, _) => Arrival::InOrder { opens, closes },
                (false, true) => Arrival::Old,
                (false, false) => Arrival::PastHole,
            };
            self.time_ack(now, deadline, len > 0, arrival);
        }
        if fin && !closes {
            self.ack_now = true;
        }
        if let Some(fin) = self.fin
            && fin <= self.nxt
            && !self.fin_reached
        {
            self.reach_fin(now, fin);
        }
        readable
    }

    /// Times the ACK of a segment of data where the times differ; `deadline` is what stood before it came.
    #[inline(never)]
    fn time_ack(&mut self, now: Time, deadline: Time, data: bool, arrival: Arrival) {
        let Some(quick) = self.quick.as_mut().filter(|_| data) else { return };
        match arrival {
            Arrival::InOrder { opens, closes } => {
                if closes {
                    quick.expect_answer();
                }
                self.ack_now |= quick.on_data(now, opens);
                // "If delack timer is about to expire, send ACK now" (tcp_send_delayed_ack).
                self.ack_now |= self.linux && deadline <= now + quick.delay() / 4;
                self.deadline = deadline.min(now + quick.delay());
                self.ack_now = self.ack_now || self.is_due(self.nxt + u32::from(closes));
            }
            Arrival::Old => quick.renew(),
            Arrival::PastHole => quick.past_hole(),
        }
        if let (true, Some(quick)) = (self.ack_now, &mut self.quick) {
            quick.sent();
        }
    }

    /// A segment with data comes, with PSH or without; `smoothed` is the round trip of this end's own data.
    #[inline(never)]
    pub(crate) fn foresee(&mut self, len: u32, push: bool, smoothed: Option<Span>, acknowledged: Seq) {
        if let Some(quick) = &mut self.quick {
            quick.measure(len, push, acknowledged, self.waiting_segments == 0);
            quick.know_round_trip(smoothed);
        }
        if let Some(compression) = &mut self.compression {
            compression.smoothed = smoothed;
        }
    }

    /// This end sends data.
    #[inline(never)]
    pub(crate) fn on_reply(&mut self, now: Time) {
        if let Some(quick) = &mut self.quick {
            quick.on_reply(now);
        }
    }

    /// Everything up to a FIN arrived, or more.
    #[cold]
    #[inline(never)]
    fn reach_fin(&mut self, now: Time, fin: Seq) {
        self.fin = None;
        self.watches = self.quick.is_some() || self.tuning.is_some();
        if fin == self.nxt {
            self.fin_reached = true;
            self.nxt += 1;
            self.edge = self.edge.max(self.nxt);
            // What a peer sent behind its own FIN is nothing.
            self.held.clear();
            let full = self.is_due(self.nxt);
            if let Some(quick) = self.quick.as_mut().filter(|_| self.linux) {
                // tcp_fin: the application's own FIN is waited for, and what was to be reported is forgotten.
                quick.expect_answer();
                self.ack_now |= full || self.deadline <= now + quick.delay() / 4;
                self.deadline = self.deadline.min(now + quick.delay());
                self.duplicate = None;
            }
        }
    }

    /// Payload `seq .. seq + len` arrived, and no byte of it lies in the window: it is counted.
    #[cold]
    #[inline(never)]
    pub fn refuse(&mut self, seq: Seq, len: u32) {
        if let Some(quick) = self.quick.as_mut().filter(|_| len > 0) {
            quick.renew();
            quick.sent();
        }
        let below = if seq < self.nxt { len.min(self.nxt - seq) } else { 0 };
        self.note_duplicate(seq, seq + below);
        self.stats.data_segments += u64::from(len > 0);
        self.stats.duplicate_bytes += u64::from(below);
        self.stats.beyond_window_bytes += u64::from(len - below);
    }

    #[inline(always)]
    fn in_order(&mut self, now: Time, end: Seq) -> u32 {
        let before = self.nxt;
        self.nxt = end;
        if self.held.is_empty() {
            self.waiting_segments += 1;
            if self.waiting_segments >= self.delayed_ack.segments {
                self.ack_now = true;
            } else {
                self.deadline = self.deadline.min(now + self.delayed_ack.timeout);
            }
        } else {
            self.fill(now);
        }
        let readable = self.nxt - before;
        self.unread += readable;
        self.delivered += u64::from(readable);
        readable
    }

    /// The next bytes arrived before what is held.
    #[inline(never)]
    fn fill(&mut self, now: Time) {
        // RFC 5681 section 4.2: an immediate ACK "when it receives a data segment that fills in all or part of a gap in
        // the sequence space".
        self.ack_now = true;
        // A segment cut otherwise than before may reach across more than one run.
        while let Some(run) = self.held.first().filter(|run| run.start <= self.nxt) {
            self.nxt = self.nxt.max(run.end);
            self.held.advance(self.nxt, |_| {});
        }
        if !self.held.is_empty() {
            // It counts among the duplicates that go at once.
            self.answers_hole(now);
        }
    }

    fn out_of_order(&mut self, block: SackBlock) {
        self.stats.out_of_order_segments += 1;
        self.ack_now = self.ack_now || self.compression.is_none() || self.begins_a_block(block);
        if !self.held.admits(block, self.capacity.max(self.window()), self.mss) {
            return;
        }
        let (mut fresh, mut known_to) = (0, block.start);
        let mut known = None;
        self.held.insert(block, |part| {
            fresh += part.end - part.start;
            if known_to < part.start {
                known.get_or_insert((known_to, part.start));
            }
            known_to = part.end;
        });
        if known_to < block.end {
            known.get_or_insert((known_to, block.end));
        }
        if let Some((start, end)) = known {
            self.note_duplicate(start, end);
        }
        self.stats.duplicate_bytes += u64::from((block.end - block.start) - fresh);
        self.note_run(block.start);
    }

    /// An acknowledgment is owed at once.
    #[inline]
    pub fn owes_ack(&self) -> bool {
        self.ack_now
    }

    /// An acknowledgment is owed that data cannot carry: RFC 5681 section 4.2 has a duplicate ACK answer out of order data.
    #[inline]
    pub(crate) fn owes_ack_alone(&self) -> bool {
        // Linux sends an ACK before the application hears of the data, or when it reads them: it writes later.
        self.ack_now && (self.alone || self.linux || self.has_hole())
    }

    /// Owes an acknowledgment from now on, which goes without data.
    pub(crate) fn ack_alone(&mut self) {
        self.ack_now = true;
        self.alone = true;
    }

    /// The acknowledgment goes out without data.
    pub(crate) fn sends_alone(&mut self) {
        self.alone = false;
    }

    /// Whether data is held past a hole.
    #[inline]
    pub fn has_hole(&self) -> bool {
        !self.held.is_empty()
    }

    /// Runs of data held past a hole.
    pub fn held_runs(&self) -> usize {
        self.held.count()
    }

    /// Owes an acknowledgment from now on.
    pub fn ack_soon(&mut self) {
        self.ack_now = true;
    }

    /// When `on_timeout` wants to be called: the delayed ACK's deadline.
    #[inline]
    pub fn next_timeout(&self) -> Time {
        self.deadline
    }

    /// The delayed ACK's time is up.
    pub fn on_timeout(&mut self, now: Time) {
        if now >= self.deadline {
            self.deadline = Time::NEVER;
            self.ack_now = true;
            if let Some(quick) = self.quick.as_mut().filter(|_| self.held.is_empty()) {
                quick.missed();
            }
        }
    }

    /// Bytes in order that the application has not read.
    pub fn unread(&self) -> u32 {
        self.unread
    }

    /// Bytes that became readable so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether everything up to the peer's FIN arrived.
    #[inline]
    pub fn finished(&self) -> bool {
        self.fin_reached
    }

    /// Counters.
    pub fn stats(&self) -> &ReceiverStats {
        &self.stats
    }
}
