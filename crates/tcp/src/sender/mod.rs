//! The sending half of a connection: what is outstanding, the retransmission timer, and the order in which data goes out.

mod agreed;
mod asked;
mod dummies;
mod error;
mod groups;
mod limit;
mod marks;
mod paced;
mod pacing;
mod rate;
mod record;
mod restart;
mod sack;
mod start;
mod state;
mod timers;
mod transmit;
mod usage;

use bentpipe_units::{Span, Time};

pub use agreed::Agreed;
pub use error::ConnectionError;
pub use limit::Limit;
use pacing::Pacing;
pub use rate::{LostSegment, RateSample};
pub use record::{Record, Sent};

use asked::Asked;
use dummies::DummiesLeft;
use groups::Group;
use restart::Restart;
use timers::PutOff;
use usage::Usage;

use crate::control::{Ack, Control, Window};
use crate::recovery::{Context, Recovery, RecoveryState, Reductions};
use crate::rtt::{RoundTrips, RttEstimator};
use crate::slow_start::SlowStart;
use crate::{Config, Flags, Growth, Host, Nagle, RtoEstimator, SackBlock, Seq};

/// A segment that the sender wants on the wire; the endpoint adds the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// First byte.
    pub seq: Seq,
    /// Payload bytes.
    pub len: u32,
    /// FIN where it follows the payload, PSH where nothing waits behind it.
    pub flags: Flags,
    /// Whether its first byte was sent before.
    pub again: bool,
    /// Whether the window has no room for another until something changes, so that there is no need to ask.
    pub last: bool,
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
    /// Whether it echoes a mark (RFC 3168).
    pub mark_echo: bool,
}

impl Incoming<'_> {
    /// An ACK up to `ack` that tells nothing else.
    pub fn of(ack: Seq) -> Incoming<'static> {
        Incoming { ack, window: None, sack: &[], carries_data: false, timestamp_rtt: None, mark_echo: false }
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
    max: Seq,
    rwnd: u32,
    largest_rwnd: u32,
    smss: u32,
    /// Whether the recovery has nothing to do, nothing is on the scoreboard, nothing is paced, and no closed window is probed:
    /// cwnd and rwnd alone decide what goes out, and an ACK of new data concerns the control alone.
    plain: bool,
    /// The same, and nothing hangs on an ACK but what the RFCs have: no sample of each, no send buffer, no window to be adjusted.
    plainest: bool,
    /// The same of data that is paced, none of which was sent again and is outstanding: pacing, cwnd and rwnd decide.
    plainly_paced: bool,
    /// Whether data is paced.
    paced: bool,
    /// Whether the slow start hears of every ACK and loss.
    start_listens: bool,
    /// Whether pacing holds back what the window may have room for.
    held_back: bool,
    asked: Asked,
    /// Whether an ACK is followed by [`Sender::note_room`].
    minds_room: bool,
    dummies: DummiesLeft,
    /// Whether the recovery goes by SACK blocks.
    reads_sack: bool,
    /// Whether the recovery counts an ACK that reports nothing new among the duplicates.
    plain_duplicates: bool,
    probing: bool,
    probe_now: bool,
    usage: Usage,
    fin: Fin,
    nagle: Nagle,
    /// The byte after the last segment that was less than a full one.
    small_end: Seq,
    /// How much the send buffer holds, and the bytes from SND.UNA on that the application has put into it; all where it has no bound.
    send_buffer: u32,
    buffered: u32,
    /// SND.UNA as `buffered` has it, and with how much left the application goes on.
    buffered_from: Seq,
    refilled_at: u32,
    /// Bytes that the application handed over and that were never sent; `u64::MAX` has no end.
    unsent: u64,
    /// Retransmission timer, or persist timer while `probing`.
    timer: Time,
    /// When it was set.
    armed: Time,
    /// The earlier of the recovery's own timer and of the time at which pacing lets the next segment go.
    other_timer: Time,
    last_sent: Time,
    window: Window,
    control: Box<dyn Control>,
    recovery: Box<dyn Recovery>,
    record: Record,
    rtt: RttEstimator,
    round_trips: RoundTrips,
    stats: SenderStats,
    put_off: Option<PutOff>,
    /// RTT by the timestamp that the last ACK echoed which the recovery may have to know of.
    echoed: Option<Span>,
    /// Segments resent since the last ACK or timeout.
    resent_this_pass: u32,
    timeouts_in_a_row: u32,
    max_retransmissions: u32,
    /// New data goes out so many segments at a time; 1 for as soon as it may.
    burst: u32,
    /// Whether a burst goes out.
    bursting: bool,
    /// Whether segments go in packets of several, and the one under way.
    groups: bool,
    group: Group,
    slow_start: Box<dyn SlowStart>,
    pacing: Pacing,
    restart: Restart,
    reductions: Reductions,
}

impl Sender {
    /// A sender whose first byte has sequence number `first`.
    pub fn new(config: &Config, first: Seq) -> Sender {
        let agreed = Agreed::all(config);
        let recovery = config.recovery.factory().make(config, agreed);
        let slow_start = config.slow_start.factory().make();
        let probes_tail = recovery.probes_tail();
        let mut control = config.control.factory().make();
        Sender {
            una: first,
            max: first,
            rwnd: 0,
            largest_rwnd: 0,
            smss: agreed.smss,
            plain: !slow_start.listens(),
            plainest: false,
            plainly_paced: false,
            paced: false,
            start_listens: slow_start.listens(),
            held_back: false,
            asked: Asked::by(&mut *control),
            minds_room: true,
            dummies: DummiesLeft::None,
            reads_sack: recovery.needs_sack(),
            plain_duplicates: recovery.counts_plain_duplicates(),
            probing: false,
            probe_now: false,
            usage: Usage::new(config.grow_only_when_limited, config.burst, first),
            fin: Fin::Open,
            nagle: config.nagle,
            small_end: first,
            send_buffer: config.send_room(),
            buffered: config.send_room(),
            buffered_from: first,
            refilled_at: refilled_at(config.send_room()),
            unsent: 0,
            timer: Time::NEVER,
            armed: Time::ZERO,
            other_timer: Time::NEVER,
            last_sent: Time::ZERO,
            window: agreed.first_window(config),
            control,
            recovery,
            record: Record::default(),
            rtt: RttEstimator::new(config.rto).probing(probes_tail),
            round_trips: RoundTrips::new(first - 1),
            stats: SenderStats::default(),
            put_off: None,
            echoed: None,
            resent_this_pass: 0,
            timeouts_in_a_row: 0,
            max_retransmissions: config.max_retransmissions,
            burst: config.burst,
            bursting: false,
            groups: config.host == Host::Linux,
            group: Group::default(),
            slow_start,
            pacing: Pacing::new(config.rto.estimator == RtoEstimator::Linux),
            restart: agreed.restart(config),
            reductions: Reductions::default(),
        }
    }

    /// The connection opens, with what the handshake left of `config`.
    pub fn open(&mut self, config: &Config, agreed: Agreed) {
        self.smss = agreed.smss;
        self.window = agreed.first_window(config);
        self.restart = agreed.restart(config);
        self.set_recovery(config.recovery.factory().make(config, agreed));
        self.look_at_control();
    }

    fn look_at_control(&mut self) {
        self.asked = Asked::by(&mut *self.control);
        if self.asked.reads_rates {
            self.record.stamp_entries(self.una);
        }
        self.minds_room = self.asked.receive_window || self.send_buffer != u32::MAX;
        self.look_at_start();
        self.look_at_recovery();
    }

    /// Replaces the control, before any data is sent.
    pub fn set_control(&mut self, control: Box<dyn Control>) {
        self.control = control;
        self.look_at_control();
    }

    /// Replaces the slow start, before any data is sent.
    pub fn set_slow_start(&mut self, slow_start: Box<dyn SlowStart>) {
        self.slow_start = slow_start;
        self.look_at_start();
        self.look_at_recovery();
    }

    /// Replaces the recovery, before any data is sent.
    pub fn set_recovery(&mut self, recovery: Box<dyn Recovery>) {
        self.reads_sack = recovery.needs_sack();
        self.plain_duplicates = recovery.counts_plain_duplicates();
        self.rtt = self.rtt.probing(recovery.probes_tail());
        self.recovery = recovery;
    }

    /// The application hands over `bytes` more; `u64::MAX` means that it never stops.
    pub fn write(&mut self, bytes: u64) {
        if self.unsent == 0 && self.una == self.max && self.stats.data_segments > 0 {
            // A pause with all acknowledged: what follows starts with an empty network, and `poll` noted no limit meanwhile.
            self.record.limit_by_application(0);
        }
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
        let extras = self.control.extras();
        if let Some(control) = extras.receive_window {
            control.on_advertised_window(bytes);
        }
        if let Some(control) = extras.dummies {
            control.on_first_window(bytes);
        }
    }

    /// There is no peer any more.
    pub(crate) fn forget_peer_window(&mut self) {
        self.rwnd = 0;
        self.largest_rwnd = 0;
    }

    #[inline]
    fn note_window(&mut self, bytes: u32) {
        if bytes != self.rwnd {
            self.rwnd = bytes;
            self.largest_rwnd = self.largest_rwnd.max(bytes);
        }
    }

    /// An acceptable ACK arrived: `una <= ack <= max`.
    #[inline(always)]
    pub fn on_ack(&mut self, now: Time, incoming: &Incoming<'_>) {
        self.on_ack_of::<true>(now, incoming);
    }

    /// The same of a peer that is known to send no timestamps, or not.
    #[inline(always)]
    pub(crate) fn on_ack_of<const STAMPED: bool>(&mut self, now: Time, incoming: &Incoming<'_>) {
        let plain = if STAMPED { self.plain } else { self.plainest };
        if !plain || !incoming.sack.is_empty() || incoming.ack == self.una {
            // By value, so that what is read from the segment need not be in memory for a plain ACK.
            return self.on_special_ack(now, *incoming);
        }
        match STAMPED && self.rtt.is_linux() {
            true => self.on_plain_ack::<true>(now, incoming),
            false => self.on_plain_ack::<false>(now, incoming),
        }
        if STAMPED && self.minds_room {
            self.note_room();
        }
    }

    /// An ACK of new data that tells nothing else.
    #[inline(always)]
    fn on_plain_ack<const LINUX: bool>(&mut self, now: Time, incoming: &Incoming<'_>) {
        let prior_flight = self.flight();
        if let Some(window) = incoming.window {
            self.note_window(window);
        }
        self.resent_this_pass = 0;
        self.on_new_data_acked(now, incoming, prior_flight, true, LINUX);
    }

    /// An ACK that the recovery may have to know of, or that acknowledges nothing new.
    #[inline(never)]
    fn on_other_ack(&mut self, now: Time, incoming: &Incoming<'_>) {
        let prior_flight = self.flight();
        self.usage.look(&self.window, self.una, self.max, self.record.in_flight(prior_flight));
        self.echoed = incoming.timestamp_rtt;
        self.record.begin_report();
        let news = !incoming.sack.is_empty() && self.take_sack(now, incoming);
        let same_window = incoming.window.is_none_or(|window| window == self.rwnd);
        if let Some(window) = incoming.window {
            self.note_window(window);
        }
        self.resent_this_pass = 0;
        let mut duplicate = news;
        let advanced = incoming.ack != self.una;
        let mut rtt_sample = None;
        if news && !advanced && self.rtt.is_linux() {
            rtt_sample = self.take_rtt_samples(now, None);
        }
        if advanced {
            self.on_new_data_acked(now, incoming, prior_flight, false, self.rtt.is_linux());
        } else if self.probing || self.rwnd == 0 {
            // RFC 1122 section 4.2.2.17: "As long as the receiving TCP continues to send acknowledgments in response to
            // the probe segments, the sending TCP MUST allow the connection to stay open"; section 4.2.2.16 says the same of data that lies beyond
            // the right edge.
            self.timeouts_in_a_row = 0;
        } else if !incoming.carries_data && same_window && self.counts_duplicate(prior_flight) {
            duplicate = true;
        }
        if duplicate {
            // RFC 5681 section 2. With SACK it is an ACK with new SACK information and no other, "even if it carries new
            // data, changes the advertised window, or moves the cumulative acknowledgment point" (RFC 6675 section 2).
            self.stats.duplicate_acks += 1;
            let restart_timer = self.with_recovery(now, |recovery, cx| {
                recovery.on_duplicate_ack(cx);
                cx.restarts_timer
            });
            if restart_timer {
                self.arm(now, Span::ZERO);
            }
        }
        if !advanced {
            self.tell_control::<false>(
                now,
                incoming,
                0,
                prior_flight,
                rtt_sample,
                self.recovery.in_recovery(),
            );
        }
        if self.paced {
            self.record.forget_losses();
            if self.window.held_back {
                self.record.limit_by_application(self.record.in_flight(self.flight()));
            }
        }
        self.look_at_recovery();
        if self.probing && self.window_opened() {
            self.leave_persist();
            if self.una < self.max {
                self.recovery.resend().go_back(self.una);
                self.no_longer_plain();
            }
        }
        if self.minds_room {
            self.note_room();
        }
    }

    fn no_longer_plain(&mut self) {
        (self.plain, self.plainest, self.plainly_paced) = (false, false, false);
    }

    fn leave_persist(&mut self) {
        self.probing = false;
        self.probe_now = false;
        self.look_at_recovery();
        self.timer = Time::NEVER;
        // The probes' back-off says nothing of the network.
        self.rtt.end_backoff();
    }

    /// Tells the recovery of something; [`Sender::look_at_recovery`] is due when all is told.
    fn with_recovery<T>(
        &mut self,
        now: Time,
        call: impl FnOnce(&mut dyn Recovery, &mut Context<'_>) -> T,
    ) -> T {
        let mut cx = Context {
            now,
            una: self.una,
            max: self.max,
            rwnd: self.rwnd,
            echoed: self.echoed,
            restarts_timer: false,
            window: &mut self.window,
            control: &mut *self.control,
            slow_start: self.start_listens.then_some(&mut *self.slow_start),
            reductions: &mut self.reductions,
            record: &mut self.record,
            rtt: &self.rtt,
        };
        call(&mut *self.recovery, &mut cx)
    }

    /// Notes what the recovery asks for after something that it was told.
    fn look_at_recovery(&mut self) {
        if self.start_listens {
            self.look_at_start();
        }
        let alone = !self.probing && !self.start_listens && self.burst == 1;
        let plain = alone && self.recovery.is_idle() && self.record.board().is_empty();
        self.plain = plain && !self.paced;
        self.plainest = self.plain && !self.minds_room && !self.rtt.is_linux();
        self.plainly_paced = plain && self.paced && self.paces_plainly();
        self.note_dummies();
        self.note_other_timer();
    }

    fn note_other_timer(&mut self) {
        let release = if self.held_back { self.pacing.release() } else { Time::NEVER };
        let awaited = self.dummies == DummiesLeft::Awaited;
        let dummy = if awaited { self.next_dummy() } else { Time::NEVER };
        self.other_timer = self.recovery.next_timeout().min(release).min(dummy);
    }

    /// Whether the receiver has room worth leaving the persist state for.
    fn window_opened(&self) -> bool {
        let waiting = self.unsent.saturating_add(u64::from(self.flight()));
        let worthwhile = self.smss.min(self.largest_rwnd / 2).max(1);
        u64::from(self.rwnd) >= waiting.min(u64::from(worthwhile))
    }

    #[inline(always)]
    fn on_new_data_acked(
        &mut self,
        now: Time,
        incoming: &Incoming<'_>,
        prior_flight: u32,
        plain: bool,
        linux: bool,
    ) {
        let acked = incoming.ack - self.una;
        self.una = incoming.ack;
        self.timeouts_in_a_row = 0;
        match plain {
            true => self.record.acknowledge_alone(now, self.una, acked),
            false => self.record.acknowledge(now, self.una, acked),
        }
        let rtt_sample = match linux {
            true => self.take_rtt_samples(now, incoming.timestamp_rtt),
            false => self.take_rtt_sample(now, incoming.timestamp_rtt, prior_flight),
        };
        let progress = match plain {
            true => RecoveryState::Open,
            false => self.with_recovery(now, |recovery, cx| recovery.on_new_ack(cx, acked)),
        };
        let (recovering, restart_timer) = match progress {
            RecoveryState::Recovering { restart_timer } => (true, restart_timer),
            RecoveryState::Open => (false, true),
        };
        match plain {
            true => self.tell_control::<true>(now, incoming, acked, prior_flight, rtt_sample, recovering),
            false => self.tell_control::<false>(now, incoming, acked, prior_flight, rtt_sample, recovering),
        }
        if !plain && self.probing {
            self.leave_persist();
        }
        if self.una == self.max {
            self.timer = Time::NEVER;
        } else if restart_timer {
            // RFC 6298 (5.3): "restart the retransmission timer so that it will expire after RTO seconds".
            self.timer = self.rtt.expiry_of(linux, now, self.rtt.wait());
            self.armed = now;
        }
    }

    /// An ACK has come: the application goes on once a third of the send buffer is free (`sk_stream_is_writeable`, sock.h), and a
    /// control that adjusts the receive window hears of it.
    #[inline(always)]
    fn note_room(&mut self) {
        if self.send_buffer != u32::MAX {
            let acked = self.una - std::mem::replace(&mut self.buffered_from, self.una);
            self.buffered = self.buffered.saturating_sub(acked);
            if self.buffered <= self.refilled_at {
                self.buffered = self.send_buffer;
            }
        }
        if self.asked.receive_window
            && let Some(control) = self.control.extras().receive_window
        {
            control.on_advertised_window(self.rwnd);
        }
    }

    /// Tells the control of an ACK, after the recovery.
    #[inline(always)]
    fn tell_control<const PLAIN: bool>(
        &mut self,
        now: Time,
        incoming: &Incoming<'_>,
        acked: u32,
        prior_flight: u32,
        rtt_sample: Option<Span>,
        in_recovery: bool,
    ) {
        let cwnd_limited = match PLAIN {
            true => self.usage.of_plain(now, &self.window, self.una, self.max, prior_flight, &self.rtt),
            false => self.usage.of_other(now, &self.window, self.una, self.max, in_recovery, &self.rtt),
        };
        let counted_beside = match self.window.growth {
            Growth::Delivered if !PLAIN => self.record.newly_delivered().wrapping_sub(acked) as i32,
            _ => 0,
        };
        let ack = Ack {
            now,
            acked,
            counted_beside,
            flight: self.flight(),
            prior_flight,
            rwnd: self.rwnd,
            rtt_sample,
            rtt_min: self.rtt.min(),
            cwnd_limited,
            mark_echo: incoming.mark_echo,
            in_recovery,
            record: &self.record,
        };
        self.control.on_ack(&mut self.window, &ack, &mut *self.slow_start);
        if !PLAIN && self.start_listens {
            self.slow_start.on_any_ack(&mut self.window, &ack);
        }
    }
}

/// The most that a send buffer holds when a third of it is free: what is free is at least half of what is held.
fn refilled_at(send_buffer: u32) -> u32 {
    ((u64::from(send_buffer) * 2 + 1) / 3) as u32
}
