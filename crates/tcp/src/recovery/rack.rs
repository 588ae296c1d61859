use std::collections::VecDeque;

use bentpipe_units::Time;

use super::pieces::Pieces;
use super::{
    Context, NewReno, Next, Outstanding, Range, Recovery, RecoveryFactory, RecoveryState, Resend, options,
};
use crate::control::PartialAck;
use crate::{Agreed, Config, Growth, SackBlock, Seq};

mod losses;
mod phase;
mod prr;
mod reordering;
mod tail;
mod timeout;
mod undo;

use phase::{Marked, Phase};
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
        self.process_tail_ack(cx, acked);
        if self.phase.is_some_and(|phase| cx.una >= phase.recovery_point) {
            self.leave(cx);
        } else if self.phase.is_some() && acked > 0 {
            cx.partial_ack(&PartialAck { acked, flight: cx.flight(), inflated: false });
            if self.echoes_original(cx) {
                self.reordering.was_late(cx, cx.una - acked);
                // "If there are no retransmits out then we can undo. Otherwise we clock out new packets" (`tcp_try_undo_partial`).
                self.only_new = self.is_resent_under_way(cx);
                if !self.only_new {
                    self.undo_reduction(cx, true);
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
            self.undo_reduction(cx, false);
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
        let room = self.room(o);
        if let Some(tail) = self.tail.as_mut().filter(|tail| tail.due) {
            return tail.probe(o, room);
        }
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

options! {
    "rack", "losses by the time of sending, probes of the tail, proportional rate reduction (RFC 8985, RFC 9937)", also ["prr", "rack-tlp", "tlp"];
    /// The choice of [`Rack`], which has no options.
    pub struct RackOptions;
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
