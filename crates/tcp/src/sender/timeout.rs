//! The timers expire: a timeout, a probe of the tail, the recovery's own.

use bentpipe_units::{Span, Time};

use super::asked::DummiesLeft;
use super::send_path::SendPath;
use super::timers::{Persist, PutOff, Timers};
use super::{ConnectionError, Sender};
use crate::Growth;
use crate::control;
use crate::recovery::Reduction;

/// What a receiver may wait with an ACK: what a probe of a single segment is put off by (RFC 8985 section 7.2, TLP.max_ack_delay;
/// Linux takes its shortest RTO).
const MAX_ACK_DELAY: Span = Span::from_millis(200);

impl Sender {
    #[inline(never)]
    pub(super) fn arm(&mut self, now: Time, slack: Span) {
        self.timers.armed = now;
        self.timers.timer = self.rtt.expiry(now, slack + self.rtt.wait());
        self.timers.before_tick = false;
    }

    /// When the retransmission timer expires.
    fn timer(&self) -> Time {
        let Timers { timer, armed, before_tick, .. } = self.timers;
        match before_tick && timer != Time::NEVER {
            true => self.rtt.expiry(armed, timer.since(armed)),
            false => timer,
        }
    }

    /// The SYN had to be sent again: RFC 6298 (5.7).
    pub fn after_lost_syn(&mut self) {
        self.rtt.after_lost_syn(Span::from_millis(3000));
    }

    /// When `on_timeout` wants to be called.
    #[inline]
    pub fn next_timeout(&self) -> Time {
        match self.timers.other <= self.timers.timer {
            true => self.timers.other,
            false => self.timer().min(self.timers.other),
        }
    }

    /// No later than [`Sender::next_timeout`], and known at once.
    #[inline]
    pub(crate) fn quiet_until(&self) -> Time {
        self.timers.timer.min(self.timers.other)
    }

    /// Whether nothing is due by `now` but what pacing lets go, which the sender sees when it is asked for a segment.
    #[inline]
    pub(crate) fn only_paces(&self, now: Time) -> bool {
        let paces = self.send_path == SendPath::Paced && self.dummies == DummiesLeft::None;
        paces && now < self.timers.timer && !self.all_acknowledged()
    }

    /// The peer's window is open: nothing is probed any more. [`Sender::settle`] is due.
    pub(super) fn leave_persist(&mut self) {
        self.timers.persist = Persist::Off;
        self.timers.timer = Time::NEVER;
        // The probes' back-off says nothing of the network.
        self.rtt.end_backoff();
    }

    /// A timer expired.
    ///
    /// # Errors
    /// The retransmission limit was reached: the connection is over.
    pub fn on_timeout(&mut self, now: Time) -> Result<(), ConnectionError> {
        // What is due goes out when the sender is asked.
        if self.dummies == DummiesLeft::Awaited {
            self.dummies = DummiesLeft::Some;
        }
        if now >= self.timers.other {
            self.on_other_timer(now);
        }
        if now < self.timers.timer || now < self.timer() {
            return Ok(());
        }
        if self.probe_first(now) {
            return Ok(());
        }
        self.timers.timer = Time::NEVER;
        if std::mem::take(&mut self.timers.after_mark) {
            self.settle();
            return Ok(());
        }
        self.timers.timeouts_in_a_row += 1;
        if self.timers.timeouts_in_a_row > self.timers.max_retransmissions {
            return Err(ConnectionError::TimedOut);
        }
        self.rtt.back_off();
        self.record.stop_timing();
        self.resent_this_pass = 0;
        if self.probing() {
            self.timers.persist = Persist::Due;
            return Ok(());
        }
        self.stats.timeouts += 1;
        let halved = self.with_recovery(now, |recovery, cx| recovery.flight_at_timeout(cx));
        let event = control::Timeout {
            now,
            flight: halved.unwrap_or(self.flight()),
            repeated: self.timers.timeouts_in_a_row > 1 || halved.is_none(),
        };
        if !event.repeated {
            self.control.save(&mut self.window);
        }
        self.control.on_timeout(&mut self.window, &event);
        self.window.reduced();
        self.usage.forget();
        if let Growth::Bytes { .. } = self.window.growth {
            // RFC 3465 section 2.3: "L=1*SMSS" in the slow start that follows a timeout.
            self.window.growth = Growth::Bytes { limit: 1 };
        }
        self.slow_start.on_timeout();
        let (una, max) = (self.una, self.max);
        self.reductions.push(Reduction { time: now, una, below: max, max, marked: false });
        self.with_recovery(now, |recovery, cx| recovery.on_timeout(cx));
        self.settle();
        self.arm(now, self.asked.timeout_slack);
        Ok(())
    }

    /// The timer has expired: whether it is put off, because the tail is probed first (RFC 8985 section 7), or because the RTO is
    /// not over where there is nothing to probe.
    ///
    /// What is sent does not arm the timer anew, as the RFC has it: when it expires is soon enough to look.
    #[cold]
    fn probe_first(&mut self, now: Time) -> bool {
        let Some(behind) = self.rtt.behind_probe() else { return false };
        let (timer, una) = (self.timer(), self.una);
        let known = self.timers.put_off.as_deref().copied();
        let known = known.filter(|known| known.timer == timer && known.armed == self.timers.armed);
        let linux = self.rtt.is_linux();
        let plain = if linux { self.rtt.expiry(self.timers.armed, self.rtt.rto()) } else { timer + behind };
        let (probe, timeout) = known.map_or((timer, plain), |known| (known.probe, known.timeout));
        let quiet = !self.probing() && una < self.max && self.record.board().is_empty();
        let segment = self.smss + u32::from(self.fin_sent());
        let alone = self.flight() <= segment;
        if linux && quiet && self.recovery.awaits_probe() && known.is_none_or(|set| set.probe < set.timeout) {
            // "At most one outstanding TLP": in the place of another the timer is set to what is left of the RTO of the first segment
            // (`tcp_send_loss_probe`, `tcp_rearm_rto`).
            let probe = self.probe_of_linux(alone);
            if now < probe {
                return self.put_off(probe, probe, timeout);
            }
            let first = self.record.entries(una).next().map_or(now, |(_, sent)| sent.at);
            let timeout = self.rtt.expiry(now, (first + self.rtt.rto()).since(now));
            return now < timeout && self.put_off(timeout, timeout, timeout);
        }
        if !(quiet && self.recovery.may_probe_tail()) {
            return now < timeout && self.put_off(timeout, timeout, timeout);
        }
        let probe = if linux {
            self.probe_of_linux(alone)
        } else {
            let single = if known.is_none() && alone { MAX_ACK_DELAY } else { Span::ZERO };
            (probe + single).max(self.timers.last_sent + self.rtt.probe_timeout() + single).min(timeout)
        };
        if now < probe {
            return self.put_off(probe, probe, timeout);
        }
        self.resent_this_pass = 0;
        let probes = self.with_recovery(now, |recovery, cx| recovery.on_tail_silent(cx));
        self.settle();
        let timeout = if linux { self.rtt.expiry(now, self.rtt.rto()) } else { now + self.rtt.rto() };
        probes && self.put_off(timeout, timeout, timeout)
    }

    /// When Linux probes the tail (`tcp_schedule_loss_probe`): an ACK sets the timer, to the RTO at most, and what is sent sets it
    /// anew, to what is left of the RTO of the first segment at most, if anything is.
    fn probe_of_linux(&self, alone: bool) -> Time {
        // A lone segment waits for a delayed ACK: `tcp_rto_min` in place of two ticks.
        let single = if alone { MAX_ACK_DELAY - self.rtt.least_timer() } else { Span::ZERO };
        let (wait, rto) = (self.rtt.probe_timeout() + single, self.rtt.rto());
        if self.timers.last_sent < self.timers.armed {
            return self.rtt.expiry(self.timers.armed, wait.min(rto));
        }
        let first = self.record.entries(self.una).next().map_or(self.timers.armed, |(_, sent)| sent.at);
        let left = (first + rto).since(self.timers.last_sent);
        self.rtt.expiry(self.timers.last_sent, if left > Span::ZERO { wait.min(left) } else { wait })
    }

    fn put_off(&mut self, timer: Time, probe: Time, timeout: Time) -> bool {
        self.timers.put_off = Some(Box::new(PutOff { timer, armed: self.timers.armed, probe, timeout }));
        self.timers.timer = timer;
        self.timers.before_tick = false;
        true
    }

    /// The recovery's own timer expired, or pacing lets the next segment go, which it does by itself.
    #[cold]
    fn on_other_timer(&mut self, now: Time) {
        self.pacing.holds_back = false;
        if now >= self.recovery.next_timeout() {
            let restart_timer = self.with_recovery(now, |recovery, cx| {
                recovery.on_timer(cx);
                cx.restarts_timer
            });
            if restart_timer {
                self.arm(now, Span::ZERO);
            }
        }
        self.settle();
    }
}
