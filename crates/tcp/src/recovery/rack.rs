use std::collections::VecDeque;

use bentpipe_units::Time;
use schemars::JsonSchema;
use serde::Deserialize;

use super::pieces::Pieces;
use super::{Context, NewReno, Next, Outstanding, Range, Recovery, RecoveryFactory, RecoveryState, Resend};
use crate::control::{Exit, PartialAck, Response};
use crate::{Agreed, Config, Growth, Named, SackBlock, Seq};

mod prr;
mod reordering;
mod tail;
mod timeout;
mod undo;

use prr::RateReduction;
use reordering::{Order, Reordering};
use tail::Tail;
use timeout::TimedOut;
use undo::Undo;

/// Loss recovery by the time at which segments were sent: RACK-TLP (RFC 8985), with proportional rate reduction (RFC 9937) and
/// what takes a needless reduction back. Where the RFCs leave a choice it is that of Linux 6 (`net/ipv4/tcp_recovery.c`,
/// `tcp_input.c`).
///
/// A segment is lost when one that was sent after it is delivered and a round trip and the reordering window have passed. That
/// goes for retransmissions too.
#[derive(Debug)]
pub struct Rack {
    threshold: u32,
    limited_transmit: bool,
    smss: u32,
    reordering: Reordering,
    /// What was sent again and may still be found lost, in the order in which that was.
    again: VecDeque<(Order, Range)>,
    /// Of what was sent once, everything below this is delivered or lost.
    decided: Option<Seq>,
    /// Taken for lost and not sent again since.
    lost: Pieces,
    /// What the ACK at hand lets be found.
    found: Pieces,
    /// When [`Recovery::on_timer`] looks for losses again.
    timer: Time,
    phase: Option<Phase>,
    marked: Option<Marked>,
    timed_out: Option<TimedOut>,
    tail: Option<Tail>,
    undo: Option<Undo>,
    /// When the first segment went again of those that were under way ever since (`retrans_stamp`), a probe of the tail left out.
    resent_since: Option<Time>,
    /// Something was taken back: what is lost is to be looked at though nothing new was delivered.
    look_again: bool,
    /// The ACK at hand shows that the originals are late: only new data goes out, before the next.
    only_new: bool,
    phases: u32,
    resend: Resend,
    /// The ACK at hand reports something by SACK: [`Recovery::on_duplicate_ack`] is told of it last.
    news: bool,
    /// The ACK at hand is dealt with.
    taken: bool,
}

#[derive(Clone, Copy, Debug)]
struct Phase {
    first_hole: Seq,
    recovery_point: Seq,
    /// None while the control leaves the window alone.
    reduction: Option<RateReduction>,
}

/// cwnd goes down in answer to a mark, without a loss (CWR of `tcp_enter_cwr`).
#[derive(Clone, Copy, Debug)]
struct Marked {
    /// It is over when an ACK goes beyond this.
    end: Seq,
    reduction: RateReduction,
}

impl Rack {
    /// A recovery with nothing outstanding, of segments of `smss` bytes.
    pub fn new(config: &Config, smss: u32) -> Rack {
        Rack {
            threshold: config.duplicate_threshold,
            limited_transmit: config.limited_transmit,
            smss,
            reordering: Reordering::default(),
            again: VecDeque::new(),
            decided: None,
            lost: Pieces::default(),
            found: Pieces::default(),
            timer: Time::NEVER,
            phase: None,
            marked: None,
            timed_out: None,
            tail: None,
            undo: None,
            resent_since: None,
            look_again: false,
            only_new: false,
            phases: 0,
            resend: Resend::default(),
            news: false,
            taken: false,
        }
    }

    /// Whether the control was told of the window of data under way, and what was sent since is not acknowledged.
    fn answered(&self) -> bool {
        self.phase.is_some_and(|phase| phase.reduction.is_some())
            || self.timed_out.is_some_and(|timed_out| !timed_out.progress)
    }

    /// Whether nothing is repaired, nor waited for by a timer.
    fn is_calm(&self) -> bool {
        self.phase.is_none()
            && self.timed_out.is_none()
            && self.timer == Time::NEVER
            && self.lost.is_empty()
            && self.resend.is_empty()
    }

    /// Whether cwnd is the recovery's business.
    fn in_reduction(&self) -> bool {
        self.phase.is_some() || self.marked.is_some()
    }

    /// An ACK that tells something, of `acked` bytes of new data: all that it means.
    fn take_ack(&mut self, cx: &mut Context<'_>, acked: u32) {
        self.only_new = false;
        let again = &self.again;
        self.look_again |= self.reordering.report(cx, acked > 0, |sent| {
            let known = again.iter().find(|(order, range)| order.at == sent.at && range.end >= sent.end());
            known.map_or(Order::once(sent.at, sent.end()), |(order, _)| *order)
        });
        self.look_at_tail(cx, acked);
        if self.phase.is_some_and(|phase| cx.una >= phase.recovery_point) {
            self.leave(cx);
        } else if self.phase.is_some() && acked > 0 {
            cx.partial_ack(&PartialAck { acked, flight: cx.flight(), inflated: false });
            if self.echoes_original(cx) {
                self.reordering.was_late(cx, cx.una - acked);
                // "If there are no retransmits out then we can undo. Otherwise we clock out new packets" (`tcp_try_undo_partial`).
                self.only_new = self.is_resent_under_way(cx);
                if !self.only_new {
                    self.take_back(cx, true);
                }
            }
        }
        if self.timed_out.is_some() {
            self.after_timeout(cx, acked);
        }
        if !self.only_new {
            let looks = std::mem::take(&mut self.look_again);
            let lost_again = looks && self.find_losses(cx);
            self.answer_losses(cx, lost_again);
        } else {
            // The retransmission timer is set in place of this one.
            self.timer = Time::NEVER;
        }
        self.end_marked(cx);
        self.reduce(cx, cx.record().newly_delivered(), acked > 0 && cx.record().newly_lost() == 0);
        self.news = false;
        if self.phase.is_none() && self.timed_out.is_none() {
            self.forget_resent(cx);
        }
        if self.is_idle() && cx.record().board().is_empty() {
            // Nobody tells what is acknowledged from here on.
            self.again.clear();
            self.decided = None;
        }
    }

    /// Whether the ACK of new data at hand answers to what was sent before anything was sent again.
    ///
    /// RFC 3522 section 3.2 step 5: "If the value of the Timestamp Echo Reply field of the acceptable ACK's Timestamps option
    /// is smaller than the value of RetransmitTS". Where nothing was sent again it does (`tcp_packet_delayed`).
    fn echoes_original(&self, cx: &Context<'_>) -> bool {
        self.undo.is_some() && self.resent_since.is_none_or(|since| cx.echoes_before(since))
    }

    /// Whether something that went again is neither reported nor lost since (`retrans_out`).
    fn is_resent_under_way(&self, cx: &Context<'_>) -> bool {
        self.again.iter().filter(|(_, range)| range.end > cx.una).any(|(order, range)| {
            let entries = cx.record().entries_at(range.start.max(cx.una), cx.una);
            let mut entries = entries.take_while(|(part, _)| part.start < range.end);
            entries.any(|(_, sent)| sent.at == order.at && sent.resent() && !sent.lost() && !sent.sacked())
        })
    }

    /// Nothing is under way that went again, and the oldest segment did not (`tcp_retrans_stamp_cleanup`).
    fn forget_resent(&mut self, cx: &Context<'_>) {
        if self.resent_since.is_some()
            && !cx.record().entries(cx.una).next().is_some_and(|(_, oldest)| oldest.resent())
            && !self.is_resent_under_way(cx)
        {
            self.resent_since = None;
        }
    }

    /// Finds what is lost (RFC 8985 section 6.2 step 5, `RACK_detect_loss`); whether a retransmission is among it.
    fn find_losses(&mut self, cx: &mut Context<'_>) -> bool {
        let record = cx.record();
        let board = record.board();
        let proven = self.phase.is_some()
            || self.timed_out.is_some()
            || board.count() >= self.threshold as usize
            // FIN is no third.
            || board.held() > (self.threshold - 1) * self.smss + 1;
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

    /// Tells the control of what was found: the first loss of a window begins a phase.
    fn answer_losses(&mut self, cx: &mut Context<'_>, lost_again: bool) {
        match self.phase {
            Some(phase) => {
                for part in std::mem::take(&mut self.found).iter() {
                    if part.start < phase.recovery_point {
                        self.lose_further(cx, part);
                    }
                }
            }
            None if self.timed_out.is_none() || lost_again => {
                if let Some(first) = self.first_lost(cx) {
                    self.enter(cx, first);
                }
            }
            None => {}
        }
        self.found.clear();
    }

    /// The lowest byte that was lost, as far as is known, and is not reported since: it may have been sent again already.
    ///
    /// RFC 5681 section 4.3: "Loss in two successive windows of data, or the loss of a retransmission, should be taken as two
    /// indications of congestion and, therefore, cwnd (and ssthresh) MUST be lowered twice in this case." What lies beyond the
    /// recovery point was lost in the next window, though it was found and sent again before the recovery ends (`lost_out` of
    /// `tcp_time_to_recover`).
    fn first_lost(&self, cx: &Context<'_>) -> Option<Seq> {
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

    fn lose_further(&mut self, cx: &mut Context<'_>, hole: Range) {
        let Some(phase) = self.phase else { return };
        let before = cx.window().cwnd;
        let response = cx.lose_further(hole.start, phase.first_hole, phase.recovery_point);
        self.begin_reduction(cx, response, before);
    }

    fn enter(&mut self, cx: &mut Context<'_>, first: Seq) {
        self.phases += 1;
        let before = cx.whole_window();
        self.forget_resent(cx);
        self.undo = Some(Undo::new(cx));
        (self.tail, self.timed_out) = (None, None);
        let response = cx.lose(first, first, cx.max, before as u32);
        self.phase = Some(Phase { first_hole: first, recovery_point: cx.max, reduction: None });
        self.begin_reduction(cx, response, before);
        let first_end = first + self.smss;
        let others: Vec<Range> =
            self.lost.iter().map(|part| Range { start: part.start.max(first_end), ..part }).collect();
        for hole in others.into_iter().filter(|hole| hole.start < hole.end) {
            self.lose_further(cx, hole);
        }
    }

    /// The control answered to a loss, when cwnd was `before`: what it took off goes bit by bit.
    fn begin_reduction(&mut self, cx: &mut Context<'_>, response: Response, before: f64) {
        let marked = self.marked.take();
        let Some(phase) = &mut self.phase else { return };
        // What a mark has begun goes on.
        phase.reduction = phase.reduction.or(marked.map(|marked| marked.reduction));
        if response != Response::Keep {
            let target = match response {
                Response::Adjusted => cx.window().ssthresh,
                _ => cx.window().cwnd,
            };
            phase.reduction = Some(RateReduction::new(before, target, cx.max));
            cx.step(before.max(target));
        }
    }

    /// `delivered` bytes are reported: the next step of a reduction.
    fn reduce(&mut self, cx: &mut Context<'_>, delivered: u32, safe: bool) {
        let marked = self.marked.as_mut().map(|marked| &mut marked.reduction);
        let reduction = self.phase.as_mut().and_then(|phase| phase.reduction.as_mut()).or(marked);
        if let Some(reduction) = reduction.filter(|_| delivered > 0) {
            let cwnd = reduction.step(cx, delivered, safe);
            cx.step(cwnd);
        }
    }

    /// The window of data that a mark has reduced for is through when something beyond it is acknowledged.
    fn end_marked(&mut self, cx: &mut Context<'_>) {
        let Some(marked) = self.marked else { return };
        if cx.una > marked.end {
            self.marked = None;
            cx.step(marked.reduction.target);
        }
    }

    /// The window in which the loss happened is through.
    fn leave(&mut self, cx: &mut Context<'_>) {
        if self.echoes_original(cx) {
            return self.take_back(cx, false);
        }
        let Some(phase) = self.phase.take() else { return };
        self.reordering.recovered();
        let cwnd = phase.reduction.map_or(cx.window().cwnd, |reduction| reduction.target);
        cx.exit(&Exit { flight: cx.flight(), acked: cx.una - phase.first_hole, cwnd });
    }

    /// The last reduction was needless; with `losses`, nothing is lost either.
    fn take_back(&mut self, cx: &mut Context<'_>, losses: bool) {
        self.undo = None;
        self.look_again = true;
        let by_timer = self.timed_out.take().is_some();
        cx.undo();
        if let Some(phase) = self.phase.take() {
            let cwnd = cx.window().cwnd;
            cx.exit(&Exit { flight: cx.flight(), acked: cx.una - phase.first_hole, cwnd });
        }
        if losses {
            self.lost.clear();
            self.decided = None;
            // What RACK has found is off its list (`tcp_rack_detect_loss`), what the timer has is not.
            cx.take_back_losses(!by_timer);
            let mut again: Vec<_> = (cx.record().entries(cx.una))
                .filter(|(_, sent)| sent.resent() && !sent.sacked() && !sent.excused())
                .map(|(range, sent)| (Order::again(sent.at, range.end, cx.max), range))
                .collect();
            again.sort_by_key(|(order, _)| order.at);
            self.again = again.into();
        }
    }

    /// Bytes that the window has room for.
    fn room(&self, o: &Outstanding<'_>) -> u32 {
        let flight = o.max - o.una;
        let early = self.phase.is_none() && self.timed_out.is_none() && !self.limited_transmit;
        let in_flight = match self.resend.going_back() {
            true => self.resend.next_byte(o.max) - o.una,
            false if early => flight,
            false => o.record.in_flight(flight),
        };
        o.cwnd.saturating_sub(in_flight)
    }
}

impl Recovery for Rack {
    fn needs_sack(&self) -> bool {
        true
    }

    fn counts_plain_duplicates(&self) -> bool {
        true
    }

    fn on_sacked(&mut self, part: Range) {
        self.news = true;
        self.lost.remove(part);
    }

    fn on_duplicate_report(&mut self, cx: &mut Context<'_>, block: SackBlock) {
        let probe = self.tail.and_then(|tail| tail.again);
        match probe.is_some_and(|probe| probe.start < block.end && block.start < probe.end) {
            true => self.tail = None,
            false => self.reordering.came_twice(),
        }
        let held = cx.record().entries_at(block.start, cx.una).next().map(|(_, sent)| *sent);
        if block.start > cx.una && held.is_some_and(|held| held.resent() && held.sacked()) {
            self.reordering.was_late(cx, block.start);
        }
        let Some(undo) = &mut self.undo else { return };
        undo.came_twice(cx, block);
        if undo.all_came_twice(cx) && self.timed_out.is_none() {
            self.take_back(cx, false);
        }
    }

    fn on_duplicate_ack(&mut self, cx: &mut Context<'_>) {
        if std::mem::take(&mut self.taken) {
            return;
        }
        let head = cx.record().entries(cx.una).next().map(|(_, sent)| sent.at);
        let newest = cx.record().newest().filter(|newest| !newest.resent()).map(|newest| newest.at);
        if newest.is_some() && newest < head {
            // What was sent before the oldest segment went again still arrives (`tcp_clean_rtx_queue`).
            cx.restart_timer();
        }
        self.take_ack(cx, 0);
    }

    fn on_new_ack(&mut self, cx: &mut Context<'_>, acked: u32) -> RecoveryState {
        self.resend.acknowledged(cx.una, cx.max);
        cx.record.board_mut().advance(cx.una, |_| {});
        self.lost.advance(cx.una);
        self.taken = self.news;
        // In Linux the ACK that ends a recovery opens cwnd as any other ACK (`tcp_cong_control`).
        let recovering = self.in_reduction() && cx.window().growth != Growth::Delivered;
        self.take_ack(cx, acked);
        match recovering || self.in_reduction() {
            true => RecoveryState::Recovering { restart_timer: true },
            false => RecoveryState::Open,
        }
    }

    fn on_resent(&mut self, now: Time, range: Range, max: Seq) {
        self.lost.remove(range);
        self.again.push_back((Order::again(now, range.end, max), range));
        if self.tail.is_some_and(|tail| tail.again == Some(range)) {
            return;
        }
        self.resent_since.get_or_insert(now);
        let bytes = range.end - range.start;
        if let Some(undo) = &mut self.undo {
            undo.resent(bytes);
        }
        if let Some(reduction) = self.phase.as_mut().and_then(|phase| phase.reduction.as_mut()) {
            reduction.resent(bytes);
        }
    }

    fn flight_at_mark(&self, cx: &Context<'_>, _flight: u32) -> u32 {
        cx.whole_window() as u32
    }

    fn on_reduced_by_mark(&mut self, cx: &mut Context<'_>, before: f64, moved: bool) {
        if self.phase.is_some() || self.timed_out.is_some() {
            return;
        }
        let before = (before / cx.window().smss).floor().max(1.0) * cx.window().smss;
        let reduction = RateReduction::new(before, cx.window().cwnd, cx.max);
        self.marked = Some(Marked { end: cx.max, reduction });
        cx.step(before);
        self.reduce(cx, cx.record().newly_delivered(), moved);
    }

    fn flight_at_timeout(&self, cx: &Context<'_>) -> Option<u32> {
        let marked = self.marked.is_some_and(|marked| cx.una < marked.end);
        (!self.answered() && !marked).then(|| cx.whole_window() as u32)
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        self.time_out(cx);
    }

    fn next_timeout(&self) -> Time {
        self.timer
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) {
        (self.timer, self.only_new) = (Time::NEVER, false);
        let before = cx.record().lost();
        let entered = self.phase.is_some();
        self.find_losses(cx);
        if cx.record().lost() > before {
            // A timer may begin a phase whatever came before (`tcp_rack_reo_timeout`).
            self.answer_losses(cx, true);
            if !entered {
                self.reduce(cx, self.smss, false);
            }
        }
    }

    fn probes_tail(&self) -> bool {
        true
    }

    fn opens_by_sack(&self) -> bool {
        self.marked.is_none() && self.reordering.is_far()
    }

    fn counts_segments(&self) -> bool {
        true
    }

    fn may_probe_tail(&self) -> bool {
        self.tail.is_none() && self.is_calm()
    }

    fn awaits_probe(&self) -> bool {
        self.tail.is_some() && self.is_calm()
    }

    fn on_tail_silent(&mut self, cx: &mut Context<'_>) -> bool {
        let open = self.may_probe_tail() && cx.record().board().is_empty() && cx.flight() > 0;
        if open {
            self.tail = Some(Tail { due: true, end: cx.max, again: None });
        }
        open
    }

    fn in_recovery(&self) -> bool {
        self.phase.is_some()
    }

    fn is_idle(&self) -> bool {
        self.may_probe_tail() && self.marked.is_none()
    }

    fn resend(&mut self) -> &mut Resend {
        &mut self.resend
    }

    fn next(&mut self, o: &Outstanding<'_>) -> Next {
        if let Some(tail) = self.tail.as_mut().filter(|tail| tail.due) {
            return tail.probe(o);
        }
        let room = self.room(o);
        if self.resend.going_back() {
            return self.resend.next(o, room);
        }
        if let Some(timed_out) = self.timed_out.as_mut().filter(|timed_out| timed_out.new_first) {
            if o.new_data && room >= o.smss {
                return Next::NewData { room };
            }
            if o.max > timed_out.point {
                return Next::Nothing;
            }
            (timed_out.doubted, timed_out.new_first) = (false, false);
        }
        if let Some(first) = self.lost.first().filter(|_| !self.only_new) {
            // As it was sent: FIN goes with the data before it, and has no part in the window.
            let sent = o.record.entries_at(first.start, o.una).next();
            let end = sent.map_or(first.end, |(sent, _)| sent.end.min(first.end));
            let range = Range { start: first.start, end };
            let data = (range.end - range.start).min(self.smss);
            let fits = data <= room && range.start + data - o.una <= o.rwnd;
            return if fits && o.may_resend { Next::Again(range) } else { Next::Nothing };
        }
        if (self.phase.is_some() || self.marked.is_some()) && room < o.smss {
            Next::Nothing
        } else {
            Next::NewData { room }
        }
    }

    fn phases(&self) -> u32 {
        self.phases
    }
}

/// The choice of [`Rack`], which has no options.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
pub struct RackOptions;

impl Named for RackOptions {
    const NAME: &'static str = "rack";
    const SUMMARY: &'static str =
        "losses by the time of sending, probes of the tail, proportional rate reduction (RFC 8985, RFC 9937)";
    const ALSO: &'static [&'static str] = &["prr", "rack-tlp", "tlp"];
}

impl RecoveryFactory for RackOptions {
    fn make(&self, config: &Config, agreed: Agreed) -> Box<dyn Recovery> {
        match agreed.sack {
            true => Box::new(Rack::new(config, agreed.smss)),
            // RFC 8985 section 4: "The connection MUST use selective acknowledgment (SACK) options".
            false => Box::new(NewReno::new(config)),
        }
    }

    fn offers_sack(&self) -> bool {
        true
    }
}
