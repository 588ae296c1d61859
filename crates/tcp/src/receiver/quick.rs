//! ACKs at once at a connection's start and after a hole, and a delay that follows the segments: Linux's delayed ACKs.

use bentpipe_units::{Span, Time};

use super::edge::whole_segments;
use crate::{Config, Host, Seq};

/// What Linux takes a peer's full segments for before they show more, and the least that they may be.
const TCP_MSS_DEFAULT: u32 = 536;
const TCP_MIN_MSS: u32 = 88;

/// How many ACKs still go at once, and how long the others wait: the quick-ACK mode and `ato` of Linux 2.4.19 and 6
/// (`tcp_input.c`).
#[derive(Clone, Copy, Debug)]
pub(super) struct QuickAcks {
    /// Linux 6, not 2.4.
    linux: bool,
    /// Whether the application answers what comes, so that its answer carries the ACK (`inet_csk_in_pingpong_mode`).
    answers: bool,
    /// Whether a small segment waits for an ACK, or one with PSH (`ICSK_ACK_PUSHED`); and whether one more does (`ICSK_ACK_PUSHED2`).
    pushed: (bool, bool),
    /// Length of the peer's full segments, as far as they have shown it (`rcv_mss`); this end takes `largest` at most.
    full: u32,
    largest: u32,
    /// Length of the last segment, if it was smaller.
    small: u32,
    /// So many full segments wait before an ACK goes.
    waiting: u32,
    /// RCV.NXT as it was acknowledged last.
    acknowledged: Seq,
    most: u32,
    left: u32,
    mss: u32,
    /// The window that the kernel would advertise by now; the receiver here advertises all of it from the start.
    offered: u32,
    capacity: u32,
    /// How long an ACK waits now.
    delay: Span,
    shortest: Span,
    longest: Span,
    /// The longest that an ACK waits once the round trip is known.
    bound: Span,
    last: Option<Time>,
    /// A pause that is longer means that the sender starts anew.
    pause: Span,
}

impl QuickAcks {
    /// None where every ACK waits alike.
    pub(super) fn of(config: &Config) -> Option<Box<QuickAcks>> {
        let ack = &config.delayed_ack;
        let quick = QuickAcks {
            linux: config.host == Host::Linux,
            answers: false,
            pushed: (false, false),
            full: config.mss.clamp(TCP_MIN_MSS, TCP_MSS_DEFAULT),
            largest: config.mss,
            small: 0,
            waiting: ack.segments - 1,
            acknowledged: Seq(0),
            most: ack.quick,
            left: 0,
            mss: config.mss,
            offered: config.receive_window,
            capacity: config.receive_window,
            delay: ack.shortest,
            shortest: ack.shortest,
            longest: ack.timeout,
            bound: ack.timeout,
            last: None,
            pause: config.rto.initial,
        };
        (ack.quick > 0 || ack.shortest < ack.timeout).then(|| Box::new(quick))
    }

    /// The connection opens: the window of Linux 2.4 begins with what an initial window of RFC 2414 fills
    /// (`tcp_select_initial_window`), that of Linux 6 with all whole segments that a buffer of a fixed size has room for.
    /// Where the window is `tuned`, it is the receiver that tells when it opens.
    pub(super) fn open(&mut self, capacity: u32, mss: u32, tuned: bool) {
        let first = match mss {
            _ if self.linux => whole_segments(self.capacity, mss),
            0..=1460 => 4 * mss,
            1461..=4380 => 3 * mss,
            _ => 2 * mss,
        };
        (self.mss, self.capacity, self.offered) =
            (mss, capacity, if tuned { capacity } else { capacity.min(first) });
    }

    /// The peer pauses for less than this while it has data.
    pub(super) fn expect_pauses(&mut self, shorter_than: Span) {
        self.pause = shorter_than;
    }

    /// The round trip: no ACK waits longer, if that is more than the shortest wait (`tcp_send_delayed_ack`).
    #[inline]
    pub(super) fn know_round_trip(&mut self, smoothed: Option<Span>) {
        if let (true, Some(smoothed)) = (self.linux, smoothed) {
            self.bound = smoothed.max(self.shortest);
        }
    }

    /// As many as half the window has segments, two at least (`tcp_incr_quickack`).
    fn refill(&mut self) {
        let half = match self.offered / (2 * self.mss) {
            0 => 2,
            half => half,
        };
        self.left = self.left.max(half.min(self.most));
    }

    /// Data came past a hole: Linux 2.4 acknowledges what follows at once.
    pub(super) fn past_hole(&mut self) {
        if !self.linux {
            self.renew();
        }
    }

    /// Old data came (`tcp_enter_quickack_mode`).
    pub(super) fn renew(&mut self) {
        self.refill();
        self.answers = false;
        self.delay = self.shortest;
    }

    /// Data came in order: whether its ACK goes at once (`tcp_event_data_recv`, `tcp_grow_window`).
    pub(super) fn on_data(&mut self, now: Time, opens: bool) -> bool {
        let first = self.last.is_none();
        match self.last.map(|last| now.since(last)) {
            None => self.refill(),
            Some(gap) if gap <= self.shortest / 2 => self.delay = self.delay / 2 + self.shortest / 2,
            Some(gap) if gap < self.delay => self.delay = (self.delay / 2 + gap).min(self.longest),
            Some(gap) if gap > self.pause => self.refill(),
            Some(_) => {}
        }
        self.last = Some(now);
        // A buffer of a fixed size is measured by the first segment (`tcp_measure_rcv_mss`), and opens with the second.
        if opens || (self.offered < self.capacity && !(self.linux && first)) {
            self.offered = self.capacity.min(self.offered + 2 * self.mss);
            self.opens();
        }
        self.goes_at_once()
    }

    /// The window opens: one ACK more goes at once (`tcp_grow_window`).
    pub(super) fn opens(&mut self) {
        self.left |= u32::from(self.most > 0);
    }

    /// Whether the application answers what comes.
    pub(super) fn answers(&self) -> bool {
        self.answers
    }

    /// Whether ACKs go at once (`tcp_in_quickack_mode`).
    pub(super) fn goes_at_once(&self) -> bool {
        self.left > 0 && !self.answers
    }

    /// A segment of `len` bytes came, with PSH or without, `first` of those that wait for an ACK (`tcp_measure_rcv_mss`); all up to `acknowledged` do not.
    pub(super) fn measure(&mut self, len: u32, push: bool, acknowledged: Seq, first: bool) {
        self.acknowledged = acknowledged;
        if len == 0 {
            return;
        }
        if first {
            self.pushed = (false, false);
        }
        let before = std::mem::take(&mut self.small);
        if len >= self.full {
            self.full = len.min(self.largest);
            self.pushed.0 |= push;
            return;
        }
        if len >= TCP_MSS_DEFAULT || (len >= TCP_MIN_MSS && !push) {
            self.small = len;
            if len == before {
                self.full = len;
                return;
            }
        }
        self.pushed = (true, self.pushed.0);
    }

    /// Whether ACKs go by bytes and not by segments.
    pub(super) fn counts_bytes(&self) -> bool {
        self.linux
    }

    /// RCV.NXT as it was acknowledged, where more came since, up to `nxt`, than waits for an ACK.
    pub(super) fn is_full(&self, nxt: Seq) -> Option<Seq> {
        (self.linux && nxt - self.acknowledged > self.waiting * self.full).then_some(self.acknowledged)
    }

    /// The application has read all that came: whether the ACK that waits goes now (`__tcp_cleanup_rbuf`).
    pub(super) fn goes_when_read(&self) -> bool {
        // A Linux sender puts PSH on every second segment: where more than two share an ACK, it is not looked at.
        self.linux && self.waiting <= 1 && (self.pushed.1 || (self.pushed.0 && !self.answers))
    }

    /// The end sends data: what came within the time that an ACK waits is answered (`tcp_event_data_sent`).
    pub(super) fn on_reply(&mut self, now: Time) {
        self.answers |= self.linux && self.last.is_some_and(|last| now.since(last) < self.delay);
    }

    /// The peer has closed, and this end is expected to (`tcp_fin`).
    pub(super) fn expect_answer(&mut self) {
        self.answers = true;
    }

    /// An ACK goes at once, for whatever reason (`tcp_dec_quickack_mode`).
    pub(super) fn sent(&mut self) {
        if self.left > 0 {
            self.left -= 1;
            if self.left == 0 {
                self.delay = self.shortest;
            }
        }
    }

    /// An ACK waited to the end (`tcp_delack_timer`).
    pub(super) fn missed(&mut self) {
        if std::mem::take(&mut self.answers) {
            self.delay = self.shortest;
            return;
        }
        self.delay = (self.delay * 2).min(self.longest);
    }

    /// How long an ACK waits; not at all before any data came (`icsk_ack.ato` 0).
    pub(super) fn delay(&self) -> Span {
        match self.linux && self.last.is_none() {
            true => Span::ZERO,
            false => self.delay.min(self.bound),
        }
    }
}
