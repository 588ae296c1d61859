//! What an ACK does.

use bentpipe_units::{Span, Time};

use super::*;
use crate::control::Ack;
use crate::recovery::RecoveryState;
use crate::{Config, Growth, SackBlock};

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

impl Sender {
    /// An acceptable ACK arrived: `una <= ack <= max`.
    #[inline(always)]
    pub fn on_ack(&mut self, now: Time, incoming: &Incoming<'_>) {
        self.on_ack_of::<true>(now, incoming, || incoming.timestamp_rtt);
    }

    /// The same of a peer that is known to send no timestamps, or not; `echoed` gives the RTT by the timestamp.
    #[inline(always)]
    pub(crate) fn on_ack_of<const STAMPED: bool>(
        &mut self,
        now: Time,
        incoming: &Incoming<'_>,
        echoed: impl Fn() -> Option<Span>,
    ) {
        let least = if STAMPED { SendPath::Plain } else { SendPath::Plainest };
        let alone = incoming.sack.is_empty() && incoming.ack != self.una;
        if self.send_path < least || !alone {
            let timed = !STAMPED || (alone && self.times_itself(incoming.ack));
            let timestamp_rtt = if timed { None } else { echoed() };
            return match alone && self.send_path != SendPath::ByRecovery {
                // Each has its own, so that what is read from the segment need not be in memory for the first.
                true => self.on_paced_ack(now, &Incoming { timestamp_rtt, ..*incoming }),
                false => self.on_other_ack(now, &Incoming { timestamp_rtt, ..*incoming }),
            };
        }
        match STAMPED && self.rtt.is_linux() {
            true => self.on_plain_ack::<true, false>(now, incoming, echoed),
            false => self.on_plain_ack::<false, false>(now, incoming, echoed),
        }
        if STAMPED {
            self.note_room(0);
        }
    }

    /// An ACK of new data that tells nothing else.
    #[inline(always)]
    pub(super) fn on_plain_ack<const LINUX: bool, const PACED: bool>(
        &mut self,
        now: Time,
        incoming: &Incoming<'_>,
        echoed: impl Fn() -> Option<Span>,
    ) {
        let prior_flight = self.flight();
        if let Some(window) = incoming.window {
            self.note_window(window);
        }
        self.resent_this_pass = 0;
        let short = PACED && self.asked.reads_rates;
        self.on_new_data_acked(now, incoming, prior_flight, (true, short), LINUX, echoed);
    }

    /// An ACK that the recovery may have to know of, or that acknowledges nothing new.
    #[inline(never)]
    fn on_other_ack(&mut self, now: Time, incoming: &Incoming<'_>) {
        let prior_flight = self.flight();
        self.usage.look(&self.window, self.una, self.max, self.record.in_flight(prior_flight));
        self.echoed = incoming.timestamp_rtt;
        self.record.begin_report();
        let news = !incoming.sack.is_empty() && self.take_sack(now, incoming);
        let same_window = incoming.window.is_none_or(|window| window == self.peer.rwnd);
        if let Some(window) = incoming.window {
            self.note_window(window);
        }
        self.resent_this_pass = 0;
        let mut duplicate = news;
        let advanced = incoming.ack != self.una;
        let mut rtt_sample = None;
        if news && !advanced && self.rtt.is_linux() {
            rtt_sample = self.take_rtt_samples(now, false, || None);
        }
        if advanced {
            let linux = self.rtt.is_linux();
            self.on_new_data_acked(now, incoming, prior_flight, (false, false), linux, || {
                incoming.timestamp_rtt
            });
        } else if self.probing() || self.peer.rwnd == 0 {
            // RFC 1122 section 4.2.2.17: "As long as the receiving TCP continues to send acknowledgments in response to
            // the probe segments, the sending TCP MUST allow the connection to stay open"; section 4.2.2.16 says the same of data that lies beyond
            // the right edge.
            self.timers.timeouts_in_a_row = 0;
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
        if self.probing() && self.window_opened() {
            self.leave_persist();
            if self.una < self.max {
                self.recovery.resend().go_back(self.una);
            }
        }
        self.settle();
        self.note_room(Config::room_by_sack(self.record.board().held()));
    }

    #[inline(always)]
    fn on_new_data_acked(
        &mut self,
        now: Time,
        incoming: &Incoming<'_>,
        prior_flight: u32,
        (plain, short): (bool, bool),
        linux: bool,
        echoed: impl Fn() -> Option<Span>,
    ) {
        let acked = incoming.ack - self.una;
        self.una = incoming.ack;
        self.timers.timeouts_in_a_row = 0;
        match plain {
            true => self.record.acknowledge_alone(now, self.una, acked),
            false => self.record.acknowledge(now, self.una, acked),
        }
        let rtt_sample = match linux {
            true => self.take_rtt_samples(now, plain, echoed),
            false => self.take_rtt_sample(now, echoed(), prior_flight),
        };
        let progress = match plain {
            true => RecoveryState::Open,
            false => self.with_recovery(now, |recovery, cx| recovery.on_new_ack(cx, acked)),
        };
        let (recovering, restart_timer) = match progress {
            RecoveryState::Recovering { restart_timer } => (true, restart_timer),
            RecoveryState::Open => (false, true),
        };
        let flight = self.flight();
        if !(short && self.control.on_plain_ack(&mut self.window, now, &self.record, flight)) {
            match plain {
                true => self.tell_control::<true>(now, incoming, acked, prior_flight, rtt_sample, recovering),
                false => {
                    self.tell_control::<false>(now, incoming, acked, prior_flight, rtt_sample, recovering)
                }
            }
        }
        if !plain && self.probing() {
            self.leave_persist();
        }
        if self.una == self.max {
            self.timers.timer = Time::NEVER;
        } else if restart_timer {
            // RFC 6298 (5.3): "restart the retransmission timer so that it will expire after RTO seconds".
            self.timers.timer = now + self.rtt.wait();
            self.timers.armed = now;
            self.timers.before_tick = true;
        }
    }

    /// Whether an ACK that does not move the cumulative point opens cwnd: it reports data, and it does so late as a rule.
    fn opens_by_sack(&self) -> bool {
        self.record.newest().is_some() && self.recovery.opens_by_sack()
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
            Growth::Delivered if !PLAIN && (acked > 0 || self.opens_by_sack()) => {
                self.record.newly_delivered().wrapping_sub(acked) as i32
            }
            _ => 0,
        };
        let ack = Ack {
            now,
            acked,
            counted_beside,
            flight: self.flight(),
            prior_flight,
            rwnd: self.peer.rwnd,
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
