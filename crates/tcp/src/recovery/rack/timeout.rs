//! After the retransmission timer: what is lost, and whether the expiry was spurious (F-RTO, RFC 5682).

use bentpipe_units::Time;

use super::super::{Context, Range};
use super::Rack;
use super::undo::Undo;
use crate::Seq;

/// The retransmission timer has expired, and not everything is acknowledged that was outstanding then.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedOut {
    /// What was outstanding ends here.
    pub(super) point: Seq,
    /// Whether the expiry may have been spurious (RFC 5682).
    pub(super) doubted: bool,
    /// New data goes out before anything goes again: the ACKs of it tell.
    pub(super) new_first: bool,
    /// Something was acknowledged since.
    pub(super) progress: bool,
}

impl Rack {
    /// The retransmission timer expired.
    pub(super) fn time_out(&mut self, cx: &mut Context<'_>) {
        // What was reported stays so, unless the receiver lacks it after all (RFC 2018 section 8).
        let reneged = cx.record().board().holding(cx.una).is_some();
        if !self.answered() {
            self.undo = Some(Undo::new(cx));
        }
        let first = self.timed_out.is_none_or(|timed_out| !timed_out.progress);
        let doubted = self.phase.is_none() && first && !reneged;
        (self.phase, self.marked, self.tail, self.timer) = (None, None, None, Time::NEVER);
        self.only_new = false;
        self.timed_out = Some(TimedOut { point: cx.max, doubted, new_first: false, progress: false });
        if reneged {
            cx.record.forget_sacked();
        }
        // RFC 8985 section 6.3: the oldest segment, and what was sent a round trip ago or longer.
        let (now, rtt) = (cx.now, cx.rtt().latest().unwrap_or_default());
        let missing = cx.record().entries(cx.una).filter(|(_, sent)| !sent.sacked());
        let old = missing.filter(|(range, sent)| range.start == cx.una || reneged || sent.at + rtt <= now);
        let old: Vec<Range> = old.map(|(range, _)| range).collect();
        for range in old {
            cx.mark_lost(range);
            self.lost.add(range);
        }
        let in_flight = f64::from(cx.in_flight());
        if in_flight > 0.0 {
            // What was sent lately is still there (`tcp_enter_loss`).
            cx.step(in_flight + cx.window().smss);
        }
        self.resend.at_once(cx.una);
    }

    /// An ACK after a timeout: F-RTO as RFC 5682 section 3.1 has it for SACK.
    pub(super) fn after_timeout(&mut self, cx: &mut Context<'_>, acked: u32) {
        let original = cx.record().lowest_original();
        let needless =
            acked > 0 && (self.echoes_original(cx) || self.undo.is_some_and(|undo| undo.all_came_twice(cx)));
        let Some(timed_out) = &mut self.timed_out else { return };
        timed_out.new_first = false;
        timed_out.progress |= acked > 0;
        // Step 3.b: data that was sent once and is acknowledged after all.
        let arrived = timed_out.doubted && original.is_some_and(|end| end <= timed_out.point);
        if arrived || needless {
            return self.undo_reduction(cx, true);
        }
        let through = cx.una >= timed_out.point;
        if timed_out.doubted && cx.max > timed_out.point {
            // Step 3.a: what was sent after the timeout arrives, and what was sent before does not.
            timed_out.doubted = !self.news;
        } else if timed_out.doubted && acked > 0 && !through {
            // Step 2.b.
            timed_out.new_first = true;
        }
        if through {
            self.timed_out = None;
            self.reordering.recovered();
        }
    }
}
