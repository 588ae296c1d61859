//! Segments that leave a Linux host as one packet (TSO, in its stack also where the device has none): the last of two or more has PSH
//! (`tcp_write_xmit`, `__tcp_transmit_skb`).

use bentpipe_units::{Span, Time};

use super::application::Fin;
use super::transmit::ending;
use super::write_queue::{Packet, Push};
use super::{Outgoing, Sender};
use crate::Spacing;

/// `sk_gso_max_size`.
const MOST: u32 = 65_536;
/// `tcp_tso_rtt_log`, 9: below 32 times 512 µs a packet is larger by `MOST` halved for each.
const RTT_SHIFT: u32 = 9;
/// `tcp_min_tso_segs`.
const LEAST_SEGMENTS: u32 = 2;

/// What was sent longer ago lets the next go, and so does an ACK that is expected later (`tcp_tso_should_defer`).
const SOON: Span = Span::from_millis(1);
/// What BBR's first rate is times cwnd a round trip, and the rate in bytes a second below which its packets are single segments
/// (`bbr_init_pacing_rate_from_rtt`, `bbr_min_tso_segs`).
const FIRST_GAIN: f64 = 0.99 * 739.0 / 256.0;
const SINGLES_BELOW: f64 = 150_000.0;

impl Sender {
    /// The next segment of the write queue, where cwnd has room for `room` bytes.
    #[inline(never)]
    pub(super) fn send_queued<const PACED: bool>(
        &mut self,
        now: Time,
        rwnd: u32,
        room: u32,
    ) -> Option<Outgoing> {
        if self.queue.packet.left == 0 && !self.begin_packet(now, rwnd, room) {
            return self.sends_nothing(now, room);
        }
        let len = self.queue.packet.left.min(self.smss);
        if len > room {
            return None;
        }
        let (seq, mut end) = (self.max, self.max + len);
        let packet = self.queue.packet;
        let ends = packet.left == len;
        let fin = ends && packet.fin;
        if fin {
            self.app.fin = Fin::Sent(end);
            end += 1;
        }
        if ends && packet.small {
            self.app.small_end = end;
        }
        if self.app.unsent != u64::MAX {
            self.app.unsent -= u64::from(len);
        }
        self.queue.sent(len, end);
        self.note_new::<PACED>(now, end);
        self.sent(now, len);
        if ends {
            self.look_for_space();
        }
        Some(Outgoing { seq, len, flags: ending(fin, ends && packet.push), again: false, last: false })
    }

    /// Finds the next packet (`tcp_write_xmit`). Where none may go, the application writes on; returns whether one was found.
    #[inline(never)]
    fn begin_packet(&mut self, now: Time, rwnd: u32, room: u32) -> bool {
        loop {
            if self.queue.push != Push::Off {
                let found = self.find_packet(now, rwnd, room);
                if self.queue.push == Push::One || !found {
                    self.queue.push = Push::Off;
                }
                if found {
                    return true;
                }
            }
            if !self.write_on() {
                self.queue.push = Push::Pending;
                return false;
            }
        }
    }

    fn find_packet(&mut self, now: Time, rwnd: u32, room: u32) -> bool {
        let (smss, free) = (self.smss, room / self.smss);
        if free == 0 {
            return false;
        }
        let half = (self.window.segments() / 2).max(1);
        let most = free.min(half);
        // So many may always go: what else bounds them need not be known.
        let most = if most <= LEAST_SEGMENTS && !self.paced { most } else { most.min(self.most_in_group()) };
        let Some((len, is_last)) = self.queue.head(most * smss) else {
            self.queue.packet = Packet { fin: true, small: true, ..Packet::default() };
            return self.queue.closed && self.app.fin == Fin::Queued;
        };
        let window = rwnd.saturating_sub(self.flight());
        let fin = is_last && self.queue.closed;
        if window < len.min(smss) {
            // RFC 9293 section 3.8.6.2.1: "[SND.NXT = SND.UNA and] min(D,U) >= Fs * Max(SND.WND)", Fs = 1/2.
            let some = self.una == self.max && window > 0 && window >= self.peer.largest / 2;
            if some {
                self.set_packet(window, fin && window == len);
            }
            return some;
        }
        let held = self.queue.push == Push::Pending && self.holds_partial();
        let limit = if len <= smss {
            if is_last && len < smss && held && !fin {
                return false;
            }
            smss
        } else {
            if self.queue.push != Push::One
                && self.waits_for_more(now, free * smss, window, len, is_last, fin)
            {
                return false;
            }
            // `tcp_mss_split_point`: up to the edge of the window also less than a segment goes.
            let most = most * smss;
            let needed = len.min(window);
            match most <= needed || (most <= window && !is_last) {
                true => most,
                false if held => needed - needed % smss,
                false => needed,
            }
        };
        let bytes = len.min(limit);
        self.set_packet(bytes, fin && bytes == len);
        true
    }

    fn set_packet(&mut self, bytes: u32, fin: bool) {
        let buffer_push = self.queue.take(bytes);
        let (push, small) = (buffer_push || bytes > self.smss, !bytes.is_multiple_of(self.smss));
        self.queue.packet = Packet { left: bytes, push, buffer_push, fin, small };
    }

    /// Nothing goes: a window that has no room is probed, and a control that reads rates hears where there is nothing to send.
    #[inline(never)]
    fn sends_nothing(&mut self, now: Time, room: u32) -> Option<Outgoing> {
        if self.una == self.max && self.app.unsent > 0 {
            self.persist(now);
        } else if self.app.unsent < u64::from(self.smss) && room > 0 && self.app.fin != Fin::Queued {
            self.record.limit_by_application(self.record.in_flight(self.flight()));
        }
        None
    }

    /// Whether the window has too little room for a burst, with more under way that will make some; once one has begun, it goes on for as long
    /// as there is room. A third of the window is enough (`tcp_tso_should_defer`, `tcp_tso_win_divisor`).
    pub(super) fn waits_for_burst(&mut self, room: u32, rwnd: u32) -> bool {
        let room = room.min(rwnd.saturating_sub(self.flight()));
        let window = (self.window.cwnd as u32).min(rwnd);
        let enough = (self.groups.burst * self.smss).min(window / 3);
        let all = u64::from(room) >= self.app.unsent;
        self.groups.bursting |= self.una == self.max || room >= enough || all;
        !self.groups.bursting
    }

    /// `tcp_tso_autosize`: what goes in a millisecond at the control's rate, else at 1.2 or, early in slow start, twice cwnd a round trip
    /// (`tcp_update_pacing_rate`).
    pub(super) fn most_in_group(&self) -> u32 {
        let w = &self.window;
        let (rate, least) = match self.paced && w.spacing == Spacing::Off {
            true => self.rate_and_least(),
            false => (self.linux_rate(), LEAST_SEGMENTS),
        };
        let near = self.rtt.min().map_or(0, |rtt| (rtt.as_nanos() / 1000) >> RTT_SHIFT);
        let more = if near < 32 { MOST >> near } else { 0 };
        let bytes = ((rate / 1024.0) as u32).saturating_add(more).min(MOST);
        (bytes / self.smss).max(least)
    }

    fn rate_and_least(&self) -> (f64, u32) {
        let rate = self.window.pacing_rate;
        let rate = if rate.is_finite() { rate } else { self.rate_of(FIRST_GAIN, self.window_in_use()) };
        (rate, if rate < SINGLES_BELOW { 1 } else { LEAST_SEGMENTS })
    }

    /// What Linux has where a control has no rate (`tcp_update_pacing_rate`), in bytes a second.
    pub(super) fn linux_rate(&self) -> f64 {
        let w = &self.window;
        self.rate_of(if w.cwnd < w.ssthresh / 2.0 { 2.0 } else { 1.2 }, self.window_in_use())
    }

    /// A window a round trip, in bytes a second: as much as goes out in one.
    pub(super) fn even_rate(&self) -> f64 {
        self.rate_of(1.0, self.window.cwnd.min(f64::from(self.peer.rwnd)))
    }

    /// The larger of cwnd and what is outstanding, in bytes.
    fn window_in_use(&self) -> f64 {
        self.window.cwnd.max(f64::from(self.max - self.una))
    }

    /// So many windows a round trip, in bytes a second.
    fn rate_of(&self, windows: f64, window: f64) -> f64 {
        self.rtt.smoothed().map_or(0.0, |srtt| windows * window / srtt.as_secs())
    }

    /// Whether a packet waits for the next ACK, with which more goes at once (`tcp_tso_should_defer`): cwnd has room for `room` bytes and the
    /// receive window for `window`, which is less than a packet and than a third of the window, something was sent just now, and the ACK of the
    /// first segment is due. What waits so has filled cwnd, unless all of the buffer has room; of `len` bytes, it may get more where it `is_last`.
    fn waits_for_more(
        &mut self,
        now: Time,
        room: u32,
        window: u32,
        len: u32,
        is_last: bool,
        fin: bool,
    ) -> bool {
        let before = if self.paced { self.pacing.release() } else { self.timers.last_sent };
        if now.since(before) > SOON || self.recovery.in_recovery() || self.una == self.max {
            return false;
        }
        let limit = room.min(window);
        let whole = self.peer.rwnd.min(self.window.segments() * self.smss);
        if limit >= whole / 3 || (!is_last && limit >= len) || limit / self.smss >= self.most_in_group() {
            return false;
        }
        let srtt = self.rtt.smoothed().unwrap_or_default();
        let head = self.record.entries(self.una).next().map_or(now, |(_, first)| first.at);
        if head + srtt > now + SOON.min(srtt / 2) {
            return false;
        }
        let full = limit <= len;
        if full && room < window {
            self.usage.filled(self.max);
        }
        full || !fin
    }
}
