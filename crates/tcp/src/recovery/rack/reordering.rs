//! What RACK knows of the order in which segments are delivered, and how long it waits for one that is late (RFC 8985 section 6.2).

use bentpipe_units::{Span, Time};

use super::super::Context;
use crate::Seq;
use crate::sender::Sent;

/// Recoveries without a D-SACK, after which the window is a quarter of the shortest round trip again.
const CALM: u32 = 16;
/// Segments by which one may be late and count as in order (`tcp_reordering`), and the most that are counted (`tcp_max_reordering`).
const IN_ORDER: u32 = 3;
const MOST_EXTENT: u32 = 300;
/// The window is at most so many quarters of the shortest round trip (`tcp_rack_update_reo_wnd`).
const MOST_STEPS: u32 = 255;

/// The segment that was sent last of those delivered, and the reordering window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reordering {
    /// When it was sent (`RACK.xmit_ts`, `RACK.end_seq`).
    newest: Option<Order>,
    /// Its round trip (`RACK.rtt`).
    rtt: Span,
    /// The byte after the highest one that is held (`RACK.fack`); none when nothing is held.
    highest: Option<Seq>,
    /// Whether a segment was ever delivered behind one that was sent after it.
    seen: bool,
    /// How far behind at most, in segments, beyond [`IN_ORDER`] (`tcp_sock.reordering`).
    extent: u32,
    /// Quarters of the shortest round trip in the window, beyond the first (`RACK.reo_wnd_mult`).
    more_steps: u32,
    /// Recoveries until these are forgotten (`RACK.reo_wnd_persist`).
    persist: u32,
    /// A D-SACK has told of a segment that went again for being late, and when the last one widened the window that did.
    came_twice: bool,
    widened: Time,
}

impl Reordering {
    /// Takes what the ACK at hand reports; whether it may show a loss (RFC 8985 section 6.2 steps 2 and 3).
    /// It has `moved` the cumulative point or not; `order` tells when a segment that was sent again was.
    pub(super) fn report(
        &mut self,
        cx: &Context<'_>,
        moved: bool,
        order: impl FnOnce(&Sent) -> Order,
    ) -> bool {
        let record = cx.record();
        let before = std::mem::replace(&mut self.highest, record.board().highest());
        let Some(newest) = record.newest() else { return false };
        // RFC 8985 section 6.2 step 3: "Segment.end_seq < RACK.fack AND Segment.retransmitted is FALSE".
        if let (Some(lowest), Some(before)) = (record.lowest_original(), before)
            && lowest < before
        {
            self.was_late(cx, lowest - cx.window().smss as u32);
        }
        self.widen(cx.now, newest.at);
        // Step 2: of what was sent again a round trip shorter than any lately is that of the original, and so is one whose ACK
        // echoes a time before. The cumulative point tells by which segment it moved; what is reported beyond it has no echo of its own.
        let shorter = |at: Time| cx.rtt().min().is_some_and(|min| cx.now.since(at) < min);
        let of_original = |at: Time| shorter(at) || (moved && cx.echoes_before(at));
        let tells = |sent: &&Sent| !(sent.resent() && of_original(sent.at));
        let newest = Some(newest).filter(tells).or_else(|| record.newest_original());
        let Some(newest) = newest else { return false };
        // Linux takes the round trip of the segment that is reported last, newest or not (`tcp_rack_advance`).
        self.rtt = cx.now.since(record.last().filter(tells).unwrap_or(newest).at);
        let order = if newest.resent() { order(newest) } else { Order::once(newest.at, newest.end()) };
        if self.newest.is_none_or(|known| order.is_behind(known)) {
            self.newest = Some(order);
        }
        true
    }

    /// How long a segment may be late (RFC 8985 section 6.2 step 4, `RACK_update_reo_wnd`); `proven` while three segments above
    /// are held or a recovery is under way.
    pub(super) fn window(&self, cx: &Context<'_>, proven: bool) -> Span {
        if !self.seen && proven {
            return Span::ZERO;
        }
        let shortest = cx.rtt().min().unwrap_or(self.rtt);
        let smoothed = cx.rtt().smoothed().unwrap_or(self.rtt);
        (shortest / 4 * u64::from(1 + self.more_steps)).min(smoothed)
    }

    /// When a segment that was sent then is lost, unless it is reported until that time; none while none is delivered that was sent
    /// after it.
    #[inline]
    pub(super) fn due(&self, sent: Order, window: Span) -> Option<Time> {
        self.newest.filter(|newest| newest.is_behind(sent)).map(|_| sent.at + self.rtt + window)
    }

    /// The peer reports that data came to it twice which went again because it was taken for lost: as in Linux (`tcp_dsack_seen`) this
    /// tells nothing before a segment was ever late.
    pub(super) fn came_twice(&mut self) {
        self.came_twice |= self.seen;
    }

    /// RFC 8985 section 6.2 step 4: "Grow the reordering window per round that sees DSACK." A round is over when something is delivered that was sent
    /// after the window grew last; `newest` was sent last of what is.
    fn widen(&mut self, now: Time, newest: Time) {
        if std::mem::take(&mut self.came_twice) && newest >= self.widened {
            self.more_steps = (self.more_steps + 1).min(MOST_STEPS - 1);
            self.persist = CALM;
            self.widened = now;
        } else if self.persist == 0 {
            self.more_steps = 0;
        }
    }

    /// The segment at `start` arrived behind others that were sent after it (`tcp_check_sack_reordering`).
    pub(super) fn was_late(&mut self, cx: &Context<'_>, start: Seq) {
        let highest = cx.record().board().highest().unwrap_or(cx.una);
        if start < highest {
            let segments = (highest - start).div_ceil(cx.window().smss as u32).min(MOST_EXTENT);
            self.extent = self.extent.max(segments.saturating_sub(IN_ORDER));
            self.seen = true;
        }
    }

    /// Whether segments come late by more than [`IN_ORDER`], so that SACKed data opens cwnd (`tcp_may_raise_cwnd`).
    pub(super) fn is_far(&self) -> bool {
        self.extent > 0
    }

    /// A recovery is over that was no mistake.
    ///
    /// "Reset the window after 16 DSACK-free recoveries."
    pub(super) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }
}

/// When a segment was sent: of those that one event lets out at the same time, in their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    pub(super) at: Time,
    /// Of what was sent once, where it ends; of what goes again, where the newest data ends that was sent before.
    behind: Seq,
    /// Where it ends, if it goes again.
    again: Option<Seq>,
}

impl Order {
    /// Of a segment that was sent once.
    #[inline]
    pub(super) fn once(at: Time, end: Seq) -> Order {
        Order { at, behind: end, again: None }
    }

    /// Of a segment that goes again when the newest data ends at `max`.
    pub(super) fn again(at: Time, end: Seq, max: Seq) -> Order {
        Order { at, behind: max, again: Some(end) }
    }

    /// Whether it was sent after `other`: RFC 8985 section 6.1, `RACK_sent_after`, which goes by the sequence numbers at the same
    /// time.
    #[inline]
    fn is_behind(self, other: Order) -> bool {
        if self.at != other.at {
            return self.at > other.at;
        }
        if self.behind != other.behind {
            return self.behind > other.behind;
        }
        match (self.again, other.again) {
            (Some(end), Some(other)) => end > other,
            (again, other) => again.is_some() && other.is_none(),
        }
    }
}
