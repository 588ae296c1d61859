//! The order in which data goes out: what must go again, what recovery asks for, new data, probes.

use bentpipe_units::{Span, Time};

use super::Sender;
use super::application::Fin;
use super::send_path::SendPath;
use super::timers::Persist;
use crate::recovery::{Next, Outstanding, Range};
use crate::{Flags, Nagle, Seq};

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

impl Sender {
    /// The next segment to send, or none until something changes. Call it until it returns none.
    #[inline(always)]
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        if self.una == self.max && self.send_path >= SendPath::Paced && self.all_acknowledged() {
            return None;
        }
        if self.send_path < SendPath::Plain {
            return match self.send_path {
                SendPath::Paced => self.poll_paced(now),
                _ => self.poll_by_recovery(now),
            };
        }
        if self.una == self.max {
            self.restart_after_idle(now);
        }
        if self.queue.is_there {
            return self.poll_queue(now);
        }
        let (flight, rwnd) = (self.flight(), self.receive_window(false));
        let room = (self.window.cwnd as u32).saturating_sub(flight);
        let sent = self.send_new_data::<false>(now, rwnd, room)?;
        let left = room.min(rwnd.saturating_sub(flight)).saturating_sub(sent.len);
        Some(Outgoing { last: self.is_last(left), ..sent })
    }

    /// The same of a Linux host.
    #[inline(always)]
    fn poll_queue(&mut self, now: Time) -> Option<Outgoing> {
        let (flight, rwnd) = (self.flight(), self.receive_window(false));
        let room = (self.window.cwnd as u32).saturating_sub(flight);
        let sent = self.send_queued::<false>(now, rwnd, room)?;
        let left = room.min(rwnd.saturating_sub(flight)).saturating_sub(sent.len);
        Some(Outgoing { last: self.is_last(left), ..sent })
    }

    /// Whether a full segment waits that a window with room for `left` bytes does not let go. A control that adjusts the
    /// receive window is asked each time.
    #[inline(always)]
    pub(super) fn is_last(&self, left: u32) -> bool {
        let waits = left < self.smss && self.app.unsent >= u64::from(self.smss);
        waits && !self.asked.receive_window && (!self.queue.is_there || self.queue.is_quiet())
    }

    /// Whether there is nothing to send or to send again, and no timer has it sent.
    #[inline]
    pub(crate) fn has_nothing_to_send(&self) -> bool {
        self.send_path >= SendPath::Plain && self.all_acknowledged()
    }

    /// The next segment while the recovery has a say in it, or a probe or pacing.
    #[inline(never)]
    pub(super) fn poll_by_recovery(&mut self, now: Time) -> Option<Outgoing> {
        if let Some(range) = self.recovery.resend().take_at_once(self.record.board(), self.max, self.smss) {
            return Some(self.resend(now, range));
        }
        if self.all_acknowledged() || self.timers.after_mark {
            return None;
        }
        if self.probing() {
            return self.probe(now);
        }
        if !self.paced {
            if self.una == self.max {
                self.restart_after_idle(now);
            }
            return self.next_by_recovery(now);
        }
        self.pacing.holds_back = !self.pacing.lets_go(now);
        self.note_other_timer();
        if self.pacing.holds_back {
            self.write_meanwhile();
            return None;
        }
        if self.una == self.max {
            self.restart_after_idle(now);
        }
        let sent = self.next_by_recovery(now)?;
        let (rate, quantum) = self.rate_and_quantum();
        self.pacing.sent(now, sent.len, rate, quantum, self.stats.data_segments);
        Some(sent)
    }

    fn next_by_recovery(&mut self, now: Time) -> Option<Outgoing> {
        let in_recovery = self.recovery.in_recovery();
        let rwnd = self.receive_window(in_recovery);
        let outstanding = Outstanding {
            una: self.una,
            max: self.max,
            smss: self.smss,
            cwnd: self.window.cwnd as u32,
            rwnd,
            new_data: self.new_data_len(self.max, rwnd).is_some(),
            may_resend: self.resent_this_pass < self.asked.resend_limit,
            record: &self.record,
        };
        match self.recovery.next(&outstanding) {
            Next::Again(range) => Some(self.resend(now, range)),
            Next::NewData { room } => {
                if self.groups.has_bursts() && !in_recovery && self.waits_for_burst(room, rwnd) {
                    return None;
                }
                let sent = match self.queue.is_there {
                    true => self.send_queued::<false>(now, rwnd, room),
                    false => self.send_new_data::<false>(now, rwnd, room),
                };
                let Some(sent) = sent else {
                    self.groups.bursting = false;
                    return None;
                };
                Some(Outgoing { last: in_recovery && self.is_last(room.saturating_sub(sent.len)), ..sent })
            }
            Next::Nothing => {
                self.write_meanwhile();
                None
            }
        }
    }

    #[inline(always)]
    pub(super) fn send_new_data<const PACED: bool>(
        &mut self,
        now: Time,
        rwnd: u32,
        room: u32,
    ) -> Option<Outgoing> {
        let sent = self.send_in_order::<PACED>(now, self.max, rwnd, room);
        if sent.is_none() && self.una == self.max {
            self.persist(now);
        }
        sent
    }

    /// Data waits, none is in flight, the window has no room for it: RFC 9293 section 3.8.6.1.
    #[cold]
    #[inline(never)]
    pub(super) fn persist(&mut self, now: Time) {
        self.timers.persist = Persist::On;
        self.send_path = SendPath::ByRecovery;
        self.arm(now, Span::ZERO);
    }

    /// In the persist state: one byte beyond the window when the timer says so (RFC 9293 section 3.8.6.1).
    fn probe(&mut self, now: Time) -> Option<Outgoing> {
        if self.timers.persist != Persist::Due {
            return None;
        }
        self.timers.persist = Persist::On;
        self.stats.window_probes += 1;
        if self.una < self.max {
            return Some(self.resend(now, Range { start: self.una, end: self.una + 1 }));
        }
        if self.rtt.is_linux() {
            // Nothing, below the window, which is answered all the same (`tcp_xmit_probe_skb`).
            self.sent(now, 0);
            let (seq, flags) = (self.una - 1, Flags::default());
            return Some(Outgoing { seq, len: 0, flags, again: false, last: false });
        }
        if self.app.unsent != u64::MAX {
            self.app.unsent -= 1;
        }
        self.queue.probed();
        self.max = self.una + 1;
        self.record.push(now, self.max);
        self.sent(now, 1);
        let flags = ending(false, self.app.unsent == 0);
        Some(Outgoing { seq: self.una, len: 1, flags, again: false, last: false })
    }

    /// Length of the next new segment from `from`, by the receive window and the sender's silly-window avoidance.
    #[inline]
    pub(super) fn new_data_len(&self, from: Seq, rwnd: u32) -> Option<u32> {
        let window = rwnd.saturating_sub(from - self.una);
        let most = window.min(self.smss);
        if self.app.unsent >= u64::from(self.smss) {
            if most == self.smss {
                return Some(most);
            }
            if from != self.una {
                return None;
            }
        } else if self.app.unsent <= u64::from(most) && self.app.unsent > 0 {
            return (!self.holds_small()).then_some(self.app.unsent as u32);
        }
        // RFC 9293 section 3.8.6.2.1: "[SND.NXT = SND.UNA and] min(D,U) >= Fs * Max(SND.WND)", Fs = 1/2.
        let some = u64::from(most).min(self.app.unsent) as u32;
        (from == self.una && some > 0 && some >= self.peer.largest / 2).then_some(some)
    }

    /// Whether less than a segment, which is all that there is, waits for an ACK. The last that there will be does not.
    #[inline]
    pub(super) fn holds_small(&self) -> bool {
        self.holds_partial() && self.app.fin == Fin::Open
    }

    /// The same, whatever comes behind it.
    pub(super) fn holds_partial(&self) -> bool {
        match self.app.nagle {
            Nagle::Off => false,
            Nagle::Classic => self.una < self.max,
            Nagle::Minshall => self.app.small_end > self.una && self.app.small_end <= self.max,
        }
    }

    /// A full segment, as long as more than that waits and the receive window has room for it: all but the last of what there is.
    #[inline(always)]
    fn send_in_order<const PACED: bool>(
        &mut self,
        now: Time,
        from: Seq,
        rwnd: u32,
        room: u32,
    ) -> Option<Outgoing> {
        let smss = self.smss;
        if self.app.unsent <= u64::from(smss) || rwnd.saturating_sub(from - self.una) < smss {
            return self.send_other::<PACED>(now, from, rwnd, room);
        }
        if room < smss {
            return None;
        }
        if self.app.unsent != u64::MAX {
            self.app.unsent -= u64::from(smss);
        }
        self.note_new::<PACED>(now, from + smss);
        self.stats.data_segments += 1;
        self.stats.data_bytes += u64::from(smss);
        self.note_sent(now);
        Some(Outgoing { seq: from, len: smss, flags: Flags::default(), again: false, last: false })
    }

    /// What may be less than a segment, or the last, or only FIN.
    #[inline(never)]
    fn send_other<const PACED: bool>(
        &mut self,
        now: Time,
        from: Seq,
        rwnd: u32,
        room: u32,
    ) -> Option<Outgoing> {
        let len = match self.new_data_len(from, rwnd) {
            Some(len) if len <= room => len,
            None if self.app.unsent == 0 && self.app.fin == Fin::Queued => 0,
            None if self.app.unsent < u64::from(self.smss)
                && room > 0
                && (self.app.unsent == 0 || self.holds_small()) =>
            {
                self.record.limit_by_application(self.record.in_flight(self.flight()));
                return None;
            }
            _ => return None,
        };
        let fin = self.app.fin == Fin::Queued && u64::from(len) == self.app.unsent;
        if self.app.unsent != u64::MAX {
            self.app.unsent -= u64::from(len);
        }
        let mut end = from + len;
        if fin {
            self.app.fin = Fin::Sent(end);
            end += 1;
        }
        if len < self.smss {
            self.app.small_end = end;
        }
        self.note_new::<PACED>(now, end);
        self.sent(now, len);
        // RFC 9293 section 3.9.1.2: a TCP whose SEND has no PUSH "MUST set the PSH bit in the last buffered segment (i.e., when there is
        // no more queued data to be sent)".
        let flags = ending(fin, self.app.unsent == 0 && len > 0);
        Some(Outgoing { seq: from, len, flags, again: false, last: false })
    }

    /// New data up to `end` goes out.
    #[inline(always)]
    pub(super) fn note_new<const PACED: bool>(&mut self, now: Time, end: Seq) {
        self.max = end;
        match PACED {
            true => self.record.push_paced(now, end),
            false => self.record.push(now, end),
        }
        self.record.time_newest();
    }

    fn resend(&mut self, now: Time, range: Range) -> Outgoing {
        let fin_seq = self.fin_seq();
        let fin = fin_seq.is_some_and(|fin| range.end > fin);
        let len = range.end - range.start - u32::from(fin);
        self.resent_this_pass += 1;
        self.record.resend(now, range, self.una);
        self.recovery.resend().resent(range, self.max);
        self.recovery.on_resent(now, range, self.max);
        self.settle();
        self.stats.retransmitted_segments += 1;
        // The first segment has a whole RTO again (`tcp_xmit_retransmit_queue`), unless RACK's timer runs in place of the RTO's.
        let first = range.start == self.una && now > self.timers.armed;
        if first && self.rtt.is_linux() && self.recovery.next_timeout() == Time::NEVER {
            self.arm(now, Span::ZERO);
        }
        self.sent(now, len);
        let push = self.app.unsent == 0 && len > 0 && range.start + len == fin_seq.unwrap_or(self.max);
        let push = push || self.queue.had_push(range.end);
        Outgoing { seq: range.start, len, flags: ending(fin, push), again: true, last: false }
    }

    pub(super) fn sent(&mut self, now: Time, len: u32) {
        if len > 0 {
            self.stats.data_segments += 1;
            self.stats.data_bytes += u64::from(len);
        }
        self.note_sent(now);
    }

    #[inline(always)]
    fn note_sent(&mut self, now: Time) {
        self.timers.last_sent = now;
        // RFC 6298 (5.1): "if the timer is not running, start it".
        if self.timers.timer == Time::NEVER {
            self.start_timer(now);
        }
    }

    #[inline(never)]
    fn start_timer(&mut self, now: Time) {
        self.arm(now, Span::ZERO);
    }
}

/// The flags of a segment that FIN follows, or that has nothing waiting behind it.
pub(super) fn ending(fin: bool, push: bool) -> Flags {
    let flag = |set: bool, flag: Flags| if set { flag } else { Flags::default() };
    flag(fin, Flags::FIN) | flag(push, Flags::PSH)
}
