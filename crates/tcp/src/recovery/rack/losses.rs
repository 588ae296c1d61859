//! What is lost by the time of sending, and what went again and is under way.

use bentpipe_units::Time;

use super::super::{Context, Range};
use super::Rack;
use super::reordering::Order;
use crate::{Record, Seq};

impl Rack {
    /// Whether something that went again is neither reported nor lost since (`retrans_out`).
    pub(super) fn is_resent_under_way(&self, cx: &Context<'_>) -> bool {
        self.again.iter().filter(|(_, range)| range.end > cx.una).any(|(order, range)| {
            let entries = cx.record().entries_at(range.start.max(cx.una), cx.una);
            let mut entries = entries.take_while(|(part, _)| part.start < range.end);
            entries.any(|(_, sent)| sent.at == order.at && sent.resent() && !sent.lost() && !sent.sacked())
        })
    }

    /// Nothing is under way that went again, and the oldest segment did not (`tcp_retrans_stamp_cleanup`).
    pub(super) fn forget_resent(&mut self, cx: &Context<'_>) {
        if self.resent_since.is_some()
            && !cx.record().entries(cx.una).next().is_some_and(|(_, oldest)| oldest.resent())
            && !self.is_resent_under_way(cx)
        {
            self.resent_since = None;
        }
    }

    /// Whether `threshold` segments were reported, however short they are: FIN with data is no segment of its own.
    fn has_reported(&self, record: &Record, una: Seq) -> bool {
        let Some(first) = record.board().first() else { return false };
        let reported = record.entries_at(first.start, una).filter(|(_, sent)| sent.sacked());
        reported.take(self.threshold as usize).count() == self.threshold as usize
    }

    /// Finds what is lost (RFC 8985 section 6.2 step 5, `RACK_detect_loss`); whether a retransmission is among it.
    pub(super) fn find_losses(&mut self, cx: &mut Context<'_>) -> bool {
        let record = cx.record();
        let board = record.board();
        let proven = self.phase.is_some()
            || self.timed_out.is_some()
            || board.count() >= self.threshold as usize
            || board.held() > (self.threshold - 1) * self.smss + 1
            || self.has_reported(record, cx.una);
        let window = self.reordering.window(cx, proven);
        let mut wait = None;
        self.found.clear();
        // What was sent once was sent in the order of its bytes.
        let mut from = self.decided.map_or(cx.una, |decided| decided.max(cx.una));
        let mut decided = None;
        'holes: while from < cx.max {
            let hole = board.missing_from(from, cx.max);
            let entries = record.entries_at(hole.start, cx.una);
            for (range, sent) in entries.take_while(|(range, _)| range.start < hole.end) {
                if sent.resent() || sent.lost() || sent.excused() {
                    continue;
                }
                match self.reordering.due(Order::once(sent.at, range.end), window) {
                    Some(due) if due <= cx.now => self.found.add(range),
                    due => {
                        decided.get_or_insert(range.start);
                        wait = wait.max(due);
                        if due.is_none() {
                            break 'holes;
                        }
                    }
                }
            }
            from = hole.end.max(hole.start);
        }
        self.decided = Some(decided.unwrap_or(cx.max));
        let mut lost_again = false;
        let mut next = 0;
        while let Some((order, range)) = self.again.get(next).copied() {
            let Some(due) = self.reordering.due(order, window) else { break };
            let start = range.start.max(cx.una);
            let mut under_way = record
                .entries_at(start, cx.una)
                .take_while(|(part, _)| part.start < range.end)
                .filter(|(_, sent)| sent.at == order.at && sent.resent() && !sent.lost() && !sent.sacked())
                .filter(|(_, sent)| !sent.excused())
                .map(|(part, _)| part)
                .peekable();
            if start < range.end && under_way.peek().is_some() && due > cx.now {
                wait = wait.max(Some(due));
                next += 1;
                continue;
            }
            if start < range.end {
                for part in under_way {
                    self.found.add(part);
                    lost_again = true;
                }
            }
            self.again.remove(next);
        }
        self.timer = wait.map_or(Time::NEVER, |due| cx.rtt().recovery_timer(cx.now, due));
        for part in self.found.iter() {
            cx.mark_lost(part);
            self.lost.add(part);
            if part.start == cx.una {
                // It goes out with this ACK.
                cx.restart_timer();
            }
        }
        lost_again
    }

    /// The lowest byte that was lost, as far as is known, and is not reported since: it may have been sent again already.
    ///
    /// RFC 5681 section 4.3: "Loss in two successive windows of data, or the loss of a retransmission, should be taken as two
    /// indications of congestion and, therefore, cwnd (and ssthresh) MUST be lowered twice in this case." What lies beyond the
    /// recovery point was lost in the next window, though it was found and sent again before the recovery ends (`lost_out` of
    /// `tcp_time_to_recover`).
    pub(super) fn first_lost(&self, cx: &Context<'_>) -> Option<Seq> {
        let missing = |range: &Range| {
            let entries = cx.record().entries_at(range.start.max(cx.una), cx.una);
            let mut entries = entries.take_while(|(part, _)| part.start < range.end);
            entries.find(|(_, sent)| sent.lost_and_missing()).map(|(part, _)| part.start)
        };
        let again = self.again.iter().filter(|(_, range)| range.end > cx.una);
        let again = again.filter_map(|(_, range)| missing(range));
        let first = self.lost.first().map(|first| first.start);
        again.chain(first).reduce(Seq::min)
    }
}
