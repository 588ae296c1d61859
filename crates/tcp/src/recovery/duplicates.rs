//! Losses known by duplicate ACKs.

use super::next::{Next, Outstanding};
use super::{Context, Resend};
use crate::control::Response;
use crate::{Config, Seq};

/// What the recoveries that only count duplicate ACKs share.
#[derive(Clone, Copy, Debug)]
pub(super) struct DuplicateAcks {
    pub(super) count: u32,
    pub(super) threshold: u32,
    limited_transmit: bool,
    /// No new phase before the data below this is acknowledged; RFC 6582's `recover`.
    recover: Option<Seq>,
    guard: bool,
    /// What was outstanding when the first duplicate came ends here; limited transmit sends beyond it.
    before_duplicates: Seq,
    pub(super) phases: u32,
    pub(super) resend: Resend,
    /// Bytes of cwnd that stand for duplicates which began no phase.
    refused: u32,
}

impl DuplicateAcks {
    pub(super) fn new(config: &Config, guard: bool) -> DuplicateAcks {
        DuplicateAcks {
            count: 0,
            threshold: config.duplicate_threshold,
            limited_transmit: config.limited_transmit,
            recover: None,
            guard,
            before_duplicates: Seq::default(),
            phases: 0,
            resend: Resend::default(),
            refused: 0,
        }
    }

    /// Counts one more; true when it is the one that means a loss.
    pub(super) fn reached(&mut self, una: Seq, max: Seq) -> bool {
        if self.count == 0 {
            self.before_duplicates = max;
        }
        self.count += 1;
        // RFC 6582 section 3.2 step 2: "the Cumulative Acknowledgment field covers more than recover".
        let covered = !self.guard || self.recover.is_none_or(|recover| una > recover);
        self.count == self.threshold && covered
    }

    /// Bytes beyond cwnd that limited transmit allows now (RFC 3042).
    fn extra_window(&self, smss: u32) -> u32 {
        let limited = self.limited_transmit && self.count < self.threshold && !self.resend.going_back();
        if limited { self.count.min(2) * smss } else { 0 }
    }

    /// An ACK of new data.
    pub(super) fn acknowledged(&mut self, cx: &Context<'_>) {
        self.count = 0;
        self.resend.acknowledged(cx.una, cx.max);
    }

    /// What goes out next: what was sent up to SND.NXT is taken to be in the network.
    pub(super) fn next(&mut self, o: &Outstanding<'_>) -> Next {
        let in_flight = self.resend.next_byte(o.max) - o.una;
        let room = o.cwnd.saturating_add(self.extra_window(o.smss)).saturating_sub(in_flight);
        self.resend.next(o, room)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.count == 0 && self.resend.is_empty()
    }

    /// Tells the control of the loss at `una`, and notes how far the window reaches.
    pub(super) fn enter(&mut self, cx: &mut Context<'_>) -> Response {
        // RFC 5681 section 3.2 step 2: data sent by limited transmit "MUST NOT be included in this calculation".
        let flight = self.before_duplicates - cx.una;
        self.enter_with(cx, flight)
    }

    /// The same, or as ns-2's agents: the window is halved, and the timer starts anew (`slowdown` and `reset_rtx_timer`, `tcp.cc`).
    pub(super) fn enter_as(&mut self, cx: &mut Context<'_>, ns2: bool) -> Response {
        if !ns2 {
            return self.enter(cx);
        }
        cx.restart_timer();
        let flight = cx.window_to_halve(0);
        self.enter_with(cx, flight)
    }

    /// The same where something else than FlightSize is halved.
    pub(super) fn enter_with(&mut self, cx: &mut Context<'_>, flight: u32) -> Response {
        self.recover = Some(cx.max);
        self.phases += 1;
        cx.lose(cx.una, cx.una, cx.max, flight)
    }

    /// Duplicates that begin no phase inflate cwnd all the same, from the third on, as in ns-2 until July 2003 (`dupwnd_` in `recv`,
    /// `tcp-reno.cc` and `tcp-newreno.cc`).
    pub(super) fn inflate_refused(&mut self, cx: &mut Context<'_>) {
        if self.count >= self.threshold {
            let segments = if self.count == self.threshold { self.threshold } else { 1 };
            cx.inflate(segments);
            self.refused += segments * cx.window().smss as u32;
        }
    }

    /// That inflation, which an ACK of new data ends.
    pub(super) fn refused(&self) -> u32 {
        self.refused
    }

    pub(super) fn end_refused(&mut self, cx: &mut Context<'_>) {
        if self.refused > 0 {
            cx.deflate(std::mem::take(&mut self.refused));
        }
    }

    /// The phase is over, and nothing forbids the next one.
    pub(super) fn forget_recover(&mut self) {
        self.recover = None;
    }

    pub(super) fn timed_out(&mut self, cx: &mut Context<'_>) {
        cx.mark_all_lost();
        self.count = 0;
        self.refused = 0;
        self.recover = Some(cx.max);
        self.resend.at_once(cx.una);
        self.resend.go_back(cx.una);
    }
}
