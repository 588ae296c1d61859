//! Segments that leave a Linux host as one packet (TSO, in its stack also where the device has none): the last of two or more has PSH
//! (`tcp_write_xmit`, `__tcp_transmit_skb`).

use bentpipe_units::{Span, Time};

use super::Sender;
use super::application::Fin;
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
    /// A segment of new data goes out, where the window had room for `room` bytes and there were `unsent` bytes: whether it is the last of its
    /// packet, so that it has PSH.
    #[inline(always)]
    pub(super) fn ends_group(&mut self, room: u32, unsent: u64) -> bool {
        if let Some(left @ 1..) = &mut self.groups.left {
            *left -= 1;
            return *left == 0;
        }
        // The first of a packet is its last where it goes alone, without PSH.
        if room >= 2 * self.smss {
            self.begin_group(room, unsent);
        }
        false
    }

    #[inline(never)]
    fn begin_group(&mut self, room: u32, unsent: u64) {
        self.groups.left = Some(self.size_of_group(room, unsent) - 1);
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

    fn size_of_group(&self, room: u32, unsent: u64) -> u32 {
        let room = room / self.smss;
        let half = self.window.segments() / 2;
        let waiting = u32::try_from(unsent.div_ceil(u64::from(self.smss))).unwrap_or(u32::MAX);
        let left = room.min(half).min(waiting).max(1);
        // So many may always go: what else bounds them need not be known.
        if left <= LEAST_SEGMENTS && !self.paced { left } else { left.min(self.most_in_group()) }
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

    /// Whether new data waits for the next ACK, with which more goes at once (`tcp_tso_should_defer`): cwnd has room for `room` bytes, which is
    /// less than a packet and than a third of the window, something was sent just now, and the ACK of the first segment is due. What waits so
    /// has filled cwnd, unless all of it has room. Where the kernel's write queue is cut, what is left of a buffer goes all the same; that is left out.
    #[inline(always)]
    pub(super) fn waits_for_more(&mut self, now: Time, room: u32, paced: bool) -> bool {
        let before = if paced { self.pacing.release() } else { self.timers.last_sent };
        now.since(before) <= SOON && self.expects_to_send_more(now, room)
    }

    #[inline(never)]
    fn expects_to_send_more(&mut self, now: Time, room: u32) -> bool {
        let rwnd = self.peer.rwnd;
        let room = room.min(rwnd.saturating_sub(self.flight()));
        let under_way = self.groups.left.is_some_and(|left| left > 0);
        let unsent = self.app.unsent;
        let all = unsent < u64::from(room);
        // One segment is Nagle's affair, and nothing comes behind FIN.
        let goes = unsent <= u64::from(self.smss) || all && self.app.fin == Fin::Queued;
        if under_way || room < self.smss || self.una == self.max || goes {
            return false;
        }
        let srtt = self.rtt.smoothed().unwrap_or_default();
        let head = self.record.entries(self.una).next().map_or(now, |(_, first)| first.at);
        let window = rwnd.min(self.window.segments() * self.smss);
        let ack_is_due = head + srtt <= now + SOON.min(srtt / 2);
        let waits = ack_is_due && room / self.smss < self.most_in_group() && room < window / 3;
        if waits && !all {
            self.usage.filled(self.max);
        }
        waits
    }
}
