//! Segments that leave a Linux host as one packet (TSO, in its stack also where the device has none): the last of two or more has PSH
//! (`tcp_write_xmit`, `__tcp_transmit_skb`).

use super::{Outgoing, Sender};
use crate::Flags;

/// `sk_gso_max_size`.
const MOST: u32 = 65_536;
/// `tcp_tso_rtt_log`, 9: below 32 times 512 µs a packet is larger by `MOST` halved for each.
const RTT_SHIFT: u32 = 9;
/// `tcp_min_tso_segs`.
const LEAST_SEGMENTS: u32 = 2;

/// The packet that is going out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    /// Segments of it that are still to go.
    left: u32,
    single: bool,
}

impl Sender {
    /// A segment of new data goes out, where the window had room for `room` bytes and there were `unsent` bytes: with PSH if it is the last of
    /// its packet.
    #[inline(never)]
    pub(super) fn in_group(&mut self, sent: Outgoing, room: u32, unsent: u64) -> Outgoing {
        if self.group.left == 0 {
            let half = (self.window.segments() / 2).max(1);
            let waiting = u32::try_from(unsent.div_ceil(u64::from(self.smss))).unwrap_or(u32::MAX);
            let left = (room / self.smss).min(half).min(waiting).min(self.most_in_group()).max(1);
            self.group = Group { left, single: left == 1 };
        }
        self.group.left -= 1;
        match self.group.left == 0 && !self.group.single {
            true => Outgoing { flags: sent.flags | Flags::PSH, ..sent },
            false => sent,
        }
    }

    /// `tcp_tso_autosize`: what goes in a millisecond at 1.2 or, early in slow start, twice cwnd a round trip (`tcp_update_pacing_rate`).
    fn most_in_group(&self) -> u32 {
        let w = &self.window;
        let ratio = if w.cwnd < w.ssthresh / 2.0 { 2.0 } else { 1.2 };
        let flight = f64::from(self.max - self.una);
        let rate = self.rtt.smoothed().map_or(0.0, |srtt| ratio * w.cwnd.max(flight) / srtt.as_secs());
        let near = self.rtt.min().map_or(0, |rtt| (rtt.as_nanos() / 1000) >> RTT_SHIFT);
        let more = if near < 32 { MOST >> near } else { 0 };
        let bytes = ((rate / 1024.0) as u32).saturating_add(more).min(MOST);
        (bytes / self.smss).max(LEAST_SEGMENTS)
    }
}
