//! A recovery phase from its first loss to its end, and the reduction that a mark begins.

use super::super::{Context, Range};
use super::Rack;
use super::prr::RateReduction;
use super::reordering::Order;
use super::undo::Undo;
use crate::Seq;
use crate::control::{Exit, Response};

#[derive(Clone, Copy, Debug)]
pub(super) struct Phase {
    pub(super) first_hole: Seq,
    pub(super) recovery_point: Seq,
    /// None while the control leaves the window alone.
    pub(super) reduction: Option<RateReduction>,
}

/// cwnd goes down in answer to a mark, without a loss (CWR of `tcp_enter_cwr`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Marked {
    /// It is over when an ACK goes beyond this.
    pub(super) end: Seq,
    pub(super) reduction: RateReduction,
}

impl Rack {
    /// Tells the control of what was found: the first loss of a window begins a phase.
    pub(super) fn answer_losses(&mut self, cx: &mut Context<'_>, lost_again: bool) {
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

    pub(super) fn lose_further(&mut self, cx: &mut Context<'_>, hole: Range) {
        let Some(phase) = self.phase else { return };
        let before = cx.window().cwnd;
        let response = cx.lose_further(hole.start, phase.first_hole, phase.recovery_point);
        self.begin_reduction(cx, response, before);
    }

    pub(super) fn enter(&mut self, cx: &mut Context<'_>, first: Seq) {
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
    pub(super) fn begin_reduction(&mut self, cx: &mut Context<'_>, response: Response, before: f64) {
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
    pub(super) fn reduce(&mut self, cx: &mut Context<'_>, delivered: u32, safe: bool) {
        let marked = self.marked.as_mut().map(|marked| &mut marked.reduction);
        let reduction = self.phase.as_mut().and_then(|phase| phase.reduction.as_mut()).or(marked);
        if let Some(reduction) = reduction.filter(|_| delivered > 0) {
            let cwnd = reduction.step(cx, delivered, safe);
            cx.step(cwnd);
        }
    }

    /// The window of data that a mark has reduced for is through when something beyond it is acknowledged.
    pub(super) fn end_marked(&mut self, cx: &mut Context<'_>) {
        let Some(marked) = self.marked else { return };
        if cx.una > marked.end {
            self.marked = None;
            cx.step(marked.reduction.target);
        }
    }

    /// The window in which the loss happened is through.
    pub(super) fn leave(&mut self, cx: &mut Context<'_>) {
        if self.echoes_original(cx) {
            return self.undo_reduction(cx, false);
        }
        let Some(phase) = self.phase.take() else { return };
        self.reordering.recovered();
        let cwnd = phase.reduction.map_or(cx.window().cwnd, |reduction| reduction.target);
        cx.exit(&Exit { flight: cx.flight(), acked: cx.una - phase.first_hole, cwnd });
    }

    /// The last reduction was needless; with `losses`, nothing is lost either.
    pub(super) fn undo_reduction(&mut self, cx: &mut Context<'_>, losses: bool) {
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
            cx.undo_losses(!by_timer);
            let mut again: Vec<_> = (cx.record().entries(cx.una))
                .filter(|(_, sent)| sent.resent() && !sent.sacked() && !sent.excused())
                .map(|(range, sent)| (Order::again(sent.at, range.end, cx.max), range))
                .collect();
            again.sort_by_key(|(order, _)| order.at);
            self.again = again.into();
        }
    }
}
