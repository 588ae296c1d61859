//! The sending half of a connection: what is outstanding, the retransmission timer, and the order in which data goes out.

mod marks;
mod state;
mod transmit;

use bentpipe_units::{Span, Time};

use crate::control::{self, Ack, Control, Window};
use crate::recovery::{self, Context, Progress, Recovery, Reduction, Reductions};
use crate::rtt::RttEstimator;
use crate::{Config, SackBlock, Seq};

/// A segment that the sender wants on the wire; the endpoint adds the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// First byte.
    pub seq: Seq,
    /// Payload bytes.
    pub len: u32,
    /// Whether FIN follows the payload.
    pub fin: bool,
    /// Whether its first byte was sent before.
    pub again: bool,
}

/// An incoming ACK, with everything that the sender reads from it.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// The acknowledgment field.
    pub ack: Seq,
    /// The advertised window in bytes, scale applied; `None` when the segment is too old to update it.
    pub window: Option<u32>,
    /// SACK blocks.
    pub sack: &'a [SackBlock],
    /// Whether the segment carried data, SYN or FIN, and so is no duplicate ACK.
    pub carries_data: bool,
    /// RTT by the timestamp echo, if there was one.
    pub timestamp_rtt: Option<Span>,
}

/// Why a connection ended before its data was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionError {
    /// The retransmission limit was reached (R2 of RFC 1122 section 4.2.3.5).
    TimedOut,
    /// The peer reset the connection.
    Reset,
    /// The peer refused the connection.
    Refused,
}

impl std::fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ConnectionError::TimedOut => "the retransmission limit was reached without an answer",
            ConnectionError::Reset => "the peer reset the connection",
            ConnectionError::Refused => "the peer refused the connection",
        })
    }
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Segments with payload, retransmissions included.
    pub data_segments: u64,
    /// Payload bytes, retransmissions included.
    pub data_bytes: u64,
    /// Segments whose first byte was sent before.
    pub retransmitted_segments: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Zero-window probes.
    pub window_probes: u64,
    /// Duplicate ACKs received.
    pub duplicate_acks: u64,
    /// Reductions of the window in answer to a mark.
    pub mark_reductions: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fin {
    Open,
    Queued,
    Sent(Seq),
}

/// The sending half of a connection.
pub struct Sender {
    una: Seq,
    nxt: Seq,
    max: Seq,
    rwnd: u32,
    largest_rwnd: u32,
    smss: u32,
    window: Window,
    /// Bytes that the application handed over and that were never sent; `u64::MAX` has no end.
    unsent: u64,
    fin: Fin,
    retransmit_now: Option<Seq>,
    /// Segments resent in order since the last ACK or timeout.
    resent_this_pass: u32,
    rtt: RttEstimator,
    /// The segment being timed: acknowledged from this byte on, sent at this time.
    timed: Option<(Seq, Time)>,
    /// Retransmission timer, or persist timer while `probing`.
    timer: Time,
    probing: bool,
    probe_now: bool,
    timeouts_in_a_row: u32,
    last_sent: Time,
    control: Box<dyn Control>,
    recovery: Box<dyn Recovery>,
    /// What `recovery.is_idle()` answered after the last event that it was told of.
    recovery_idle: bool,
    restart_window: Option<f64>,
    growth_needs_limit: bool,
    max_retransmissions: u32,
    stats: SenderStats,
    reductions: Reductions,
}

impl Sender {
    /// A sender whose first byte has sequence number `first`.
    pub fn new(config: &Config, first: Seq) -> Sender {
        let mut sender = Sender {
            una: first,
            nxt: first,
            max: first,
            rwnd: 0,
            largest_rwnd: 0,
            smss: config.mss,
            window: Window { cwnd: 0.0, ssthresh: 0.0, smss: 0.0, growth: config.growth },
            unsent: 0,
            fin: Fin::Open,
            retransmit_now: None,
            resent_this_pass: 0,
            rtt: RttEstimator::new(config.rto),
            timed: None,
            timer: Time::NEVER,
            probing: false,
            probe_now: false,
            timeouts_in_a_row: 0,
            last_sent: Time::ZERO,
            control: control::new(config),
            recovery: recovery::new(config),
            recovery_idle: true,
            restart_window: None,
            growth_needs_limit: config.grow_only_when_limited,
            max_retransmissions: config.max_retransmissions,
            stats: SenderStats::default(),
            reductions: Reductions::default(),
        };
        sender.open(config, config.initial_window);
        sender
    }

    /// Sets the window for the first data: `config.mss` is what the handshake left of it.
    pub fn open(&mut self, config: &Config, initial_segments: u32) {
        let smss = f64::from(config.mss);
        self.smss = config.mss;
        self.window = Window {
            cwnd: smss * f64::from(initial_segments),
            ssthresh: config.initial_ssthresh.map_or(f64::INFINITY, f64::from),
            smss,
            growth: config.growth,
        };
        self.restart_window = config.restart_after_idle.then_some(self.window.cwnd);
        self.recovery = recovery::new(config);
        self.recovery_idle = true;
    }

    /// Replaces the control, before any data is sent.
    pub fn set_control(&mut self, control: Box<dyn Control>) {
        self.control = control;
    }

    /// The application hands over `bytes` more; `u64::MAX` means that it never stops.
    pub fn write(&mut self, bytes: u64) {
        self.unsent = self.unsent.saturating_add(bytes);
    }

    /// The application has no more data: what was handed over and not sent is dropped when `discard`.
    pub fn close(&mut self, discard: bool) {
        if discard {
            self.unsent = 0;
            if self.probing && self.una == self.max {
                // Nothing is left to probe for, and FIN needs no window.
                self.leave_persist();
            }
        }
        if self.fin == Fin::Open {
            self.fin = Fin::Queued;
        }
    }

    /// The handshake told the window that the peer has to begin with, in bytes.
    pub fn set_peer_window(&mut self, bytes: u32) {
        self.note_window(bytes);
        self.control.on_advertised_window(bytes);
    }

    /// There is no peer any more.
    pub(crate) fn forget_peer_window(&mut self) {
        self.rwnd = 0;
        self.largest_rwnd = 0;
    }

    #[inline]
    fn note_window(&mut self, bytes: u32) {
        self.rwnd = bytes;
        self.largest_rwnd = self.largest_rwnd.max(bytes);
    }

    /// An acceptable ACK arrived: `una <= ack <= max`.
    #[inline(always)]
    pub fn on_ack(&mut self, now: Time, incoming: &Incoming<'_>) {
        let plain = self.recovery_idle && !self.probing && incoming.sack.is_empty();
        if !plain || incoming.ack == self.una {
            // By value, so that what is read from the segment need not be in memory for a plain ACK.
            return self.on_other_ack(now, *incoming);
        }
        let prior_flight = self.flight();
        if let Some(window) = incoming.window {
            self.note_window(window);
        }
        self.resent_this_pass = 0;
        self.on_new_data_acked(now, incoming, prior_flight);
        self.control.on_advertised_window(self.rwnd);
    }

    /// An ACK that the recovery may have to know of, or that acknowledges nothing new.
    #[inline(never)]
    fn on_other_ack(&mut self, now: Time, incoming: Incoming<'_>) {
        let prior_flight = self.flight();
        let news = !incoming.sack.is_empty() && self.take_sack(&incoming);
        let same_window = incoming.window.is_none_or(|window| window == self.rwnd);
        if let Some(window) = incoming.window {
            self.note_window(window);
        }
        self.resent_this_pass = 0;
        let mut duplicate = news;
        if incoming.ack != self.una {
            self.on_new_data_acked(now, &incoming, prior_flight);
        } else if self.probing || self.rwnd == 0 {
            // RFC 1122 section 4.2.2.17: the connection stays open "as long as the receiving TCP continues to send
            // acknowledgments in response to the probe segments"; section 4.2.2.16 says the same of data that lies beyond
            // the right edge.
            self.timeouts_in_a_row = 0;
        } else if prior_flight > 0 && !incoming.carries_data && same_window && !self.recovery.needs_sack() {
            duplicate = true;
        }
        if duplicate {
            // RFC 5681 section 2. With SACK it is an ACK with new SACK information and no other, "even if it carries new
            // data, changes the advertised window, or moves the cumulative acknowledgment point" (RFC 6675 section 2).
            self.stats.duplicate_acks += 1;
            self.with_recovery(now, |recovery, cx| recovery.on_duplicate_ack(cx));
        }
        if self.probing && self.window_opened() {
            self.leave_persist();
            self.nxt = self.una;
        }
        self.control.on_advertised_window(self.rwnd);
    }

    fn leave_persist(&mut self) {
        self.probing = false;
        self.probe_now = false;
        self.timer = Time::NEVER;
        // The probes' back-off says nothing of the network.
        self.rtt.end_backoff();
    }

    fn take_sack(&mut self, incoming: &Incoming<'_>) -> bool {
        let news = self.recovery.on_sack(incoming.sack, incoming.ack, self.max);
        self.recovery_idle = self.recovery.is_idle();
        news
    }

    fn with_recovery<T>(
        &mut self,
        now: Time,
        call: impl FnOnce(&mut dyn Recovery, &mut Context<'_>) -> T,
    ) -> T {
        let mut cx = Context {
            now,
            una: self.una,
            nxt: &mut self.nxt,
            max: self.max,
            window: &mut self.window,
            control: &mut *self.control,
            retransmit_now: &mut self.retransmit_now,
            reductions: &mut self.reductions,
        };
        let outcome = call(&mut *self.recovery, &mut cx);
        self.recovery_idle = self.recovery.is_idle();
        outcome
    }

    /// Whether the receiver has room worth leaving the persist state for.
    fn window_opened(&self) -> bool {
        let waiting = self.unsent.saturating_add(u64::from(self.flight()));
        let worthwhile = self.smss.min(self.largest_rwnd / 2).max(1);
        u64::from(self.rwnd) >= waiting.min(u64::from(worthwhile))
    }

    #[inline(always)]
    fn on_new_data_acked(&mut self, now: Time, incoming: &Incoming<'_>, prior_flight: u32) {
        let acked = incoming.ack - self.una;
        self.una = incoming.ack;
        self.nxt = self.nxt.max(self.una);
        self.timeouts_in_a_row = 0;
        self.retransmit_now = None;
        let cwnd_limited =
            !self.growth_needs_limit || f64::from(prior_flight) + self.window.smss > self.window.cwnd;
        let rtt_sample = self.take_rtt_sample(now, incoming.timestamp_rtt, prior_flight);
        let progress = match self.recovery_idle {
            true => Progress::Open,
            false => self.with_recovery(now, |recovery, cx| recovery.on_new_ack(cx, acked)),
        };
        let restart_timer = match progress {
            Progress::Recovering { restart_timer } => restart_timer,
            Progress::Open => {
                let ack = Ack {
                    now,
                    acked,
                    flight: self.flight(),
                    prior_flight,
                    rwnd: self.rwnd,
                    rtt_sample,
                    rtt_min: self.rtt.min(),
                    cwnd_limited,
                };
                self.control.on_ack(&mut self.window, &ack);
                true
            }
        };
        if self.probing {
            self.leave_persist();
        }
        if self.una == self.max {
            self.timer = Time::NEVER;
        } else if restart_timer {
            // RFC 6298 (5.3): "restart the retransmission timer so that it will expire after RTO seconds".
            self.arm(now, Span::ZERO);
        }
    }

    #[inline]
    fn take_rtt_sample(&mut self, now: Time, by_timestamp: Option<Span>, prior_flight: u32) -> Option<Span> {
        let timed = self.timed.filter(|(end, _)| self.una >= *end);
        if timed.is_some() {
            self.timed = None;
        }
        let (sample, expected) = match by_timestamp {
            Some(rtt) => (rtt, prior_flight.div_ceil(2 * self.smss)),
            None => match timed {
                Some((_, sent)) => (now.since(sent), 1),
                // Karn: without a sample a backed-off RTO stays (RFC 6298 section 5, last note).
                None => return None,
            },
        };
        self.rtt.sample(sample, expected);
        self.control.on_rtt_sample(now, sample);
        Some(sample)
    }

    /// The time of the handshake gives the first sample.
    pub fn sample_handshake(&mut self, now: Time, rtt: Span) {
        self.rtt.sample(rtt, 1);
        self.control.on_rtt_sample(now, rtt);
    }

    /// The SYN had to be sent again: RFC 6298 (5.7).
    pub fn after_lost_syn(&mut self) {
        self.rtt.after_lost_syn(Span::from_millis(3000));
    }

    #[inline(always)]
    fn arm(&mut self, now: Time, slack: Span) {
        let due = now + slack + self.rtt.rto();
        let due = due.since(Time::ZERO).round_up_to(self.rtt.granularity());
        self.timer = Time::ZERO + due;
    }

    /// When `on_timeout` wants to be called.
    #[inline]
    pub fn next_timeout(&self) -> Time {
        self.timer
    }

    /// The timer expired.
    ///
    /// # Errors
    /// The retransmission limit was reached: the connection is over.
    pub fn on_timeout(&mut self, now: Time) -> Result<(), ConnectionError> {
        if now < self.timer {
            return Ok(());
        }
        self.timer = Time::NEVER;
        self.timeouts_in_a_row += 1;
        if self.timeouts_in_a_row > self.max_retransmissions {
            return Err(ConnectionError::TimedOut);
        }
        self.rtt.back_off();
        self.timed = None;
        self.resent_this_pass = 0;
        if self.probing {
            self.probe_now = true;
            return Ok(());
        }
        self.stats.timeouts += 1;
        let event = control::Timeout { now, flight: self.flight(), repeated: self.timeouts_in_a_row > 1 };
        self.control.on_timeout(&mut self.window, &event);
        let (una, max) = (self.una, self.max);
        self.reductions.push(Reduction { time: now, una, below: max, max, marked: false });
        self.nxt = self.una;
        self.retransmit_now = Some(self.una);
        self.with_recovery(now, |recovery, cx| recovery.on_timeout(cx));
        let slack = self.control.timeout_slack();
        self.arm(now, slack);
        Ok(())
    }
}
