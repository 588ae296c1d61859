use std::collections::VecDeque;

use super::pieces::Pieces;
use super::{
    Context, NewReno, Next, Outstanding, Range, Recovery, RecoveryFactory, RecoveryState, Resend, options,
};
use crate::control::{Exit, PartialAck, Response};
use crate::{Agreed, Config, Runs, Seq};

/// Segments that may go out at once when the state of the network is in doubt (`tcp_max_burst`).
const MAX_BURST: u32 = 3;

/// Loss recovery of Linux 2.4.19 (`net/ipv4/tcp_input.c`): forward acknowledgment and rate halving.
///
/// Everything missing is lost that lies three segments or more below the newest byte reported (FACK, Mathis and Mahdavi 1996).
/// What the control takes off cwnd goes a segment at every second ACK (`tcp_cwnd_down`), instead of at once. A retransmission is
/// lost when data that was sent after it is reported.
#[derive(Debug)]
pub struct SackLinux24 {
    threshold: u32,
    limited_transmit: bool,
    smss: u32,
    /// Taken for lost and not sent again since.
    lost: Pieces,
    /// Sent again, and not taken for lost: twice in the network.
    twice: Pieces,
    /// What was sent again since the last timeout, each with SND.MAX at that time.
    again: VecDeque<(Range, Seq)>,
    phase: Option<Phase>,
    /// No phase begins before the data below this, outstanding at a timeout, is acknowledged.
    timeout_point: Option<Seq>,
    phases: u32,
    resend: Resend,
    /// The ACK at hand reports something by SACK: [`Recovery::on_duplicate_ack`] is told of it last.
    news: bool,
}

#[derive(Clone, Copy, Debug)]
struct Phase {
    first_hole: Seq,
    /// Holes below this were told to the control.
    told: Seq,
    recovery_point: Seq,
    /// None while the control leaves the window alone.
    halving: Option<Halving>,
}

#[derive(Clone, Copy, Debug)]
struct Halving {
    /// cwnd as the control reduced it.
    target: f64,
    /// Where going down by ACKs ends.
    least: f64,
    /// The next ACK takes a segment off.
    due: bool,
}

impl SackLinux24 {
    /// A recovery with nothing outstanding, of segments of `smss` bytes.
    pub fn new(config: &Config, smss: u32) -> SackLinux24 {
        SackLinux24 {
            threshold: config.duplicate_threshold,
            limited_transmit: config.limited_transmit,
            smss,
            lost: Pieces::default(),
            twice: Pieces::default(),
            again: VecDeque::new(),
            phase: None,
            timeout_point: None,
            phases: 0,
            resend: Resend::default(),
            news: false,
        }
    }

    /// Bytes taken to be in the network: `tcp_packets_in_flight`.
    fn in_flight(&self, board: &Runs, una: Seq, max: Seq) -> u32 {
        let left = self.lost.bytes() + board.held();
        if self.phase.is_none() && self.timeout_point.is_none() && !self.limited_transmit {
            return (max - una) - self.lost.bytes();
        }
        (max - una) + self.twice.bytes() - left
    }

    /// Whether the newest byte reported lies more than three segments above the first hole (`tcp_time_to_recover`).
    fn is_time(&self, cx: &Context<'_>) -> bool {
        let highest = cx.record().board().highest();
        highest.is_some_and(|highest| highest - cx.una > self.threshold * self.smss)
    }

    /// cwnd leaves room for a short burst and no more (`tcp_moderate_cwnd`); whether it was larger.
    fn moderate(&mut self, cx: &mut Context<'_>) -> bool {
        let in_flight = self.in_flight(cx.record().board(), cx.una, cx.max);
        let most = f64::from(in_flight + MAX_BURST * self.smss);
        let larger = cx.window().cwnd > most;
        if larger {
            cx.step(most);
        }
        larger
    }

    fn enter(&mut self, cx: &mut Context<'_>) {
        self.phases += 1;
        let (una, max, before) = (cx.una, cx.max, cx.whole_window());
        let response = cx.lose(una, una, max, before as u32);
        let first = cx.record().board().missing_from(una, max);
        let first = Range { start: first.start, end: first.end.min(first.start + self.smss) };
        cx.mark_lost(first);
        self.lost.add(first);
        self.phase = Some(Phase { first_hole: una, told: first.end, recovery_point: max, halving: None });
        self.answer(cx, response, before);
        self.find_losses(cx, una);
        self.step_down(cx);
        self.lost.remove(first);
        self.again.push_back((first, max));
        self.resend.at_once(una);
        cx.restart_timer();
    }

    /// The control answered to a loss, when cwnd was `before`: what it took off goes bit by bit.
    fn answer(&mut self, cx: &mut Context<'_>, response: Response, before: f64) {
        let Some(phase) = &mut self.phase else { return };
        if response != Response::Keep {
            let (w, half) = (cx.window(), before / 2.0);
            let target = if response == Response::Adjusted { w.ssthresh } else { w.cwnd };
            // The source compares with ssthresh/2, which an ACK of each segment of a window cannot pass on its way to the half. A control
            // that leaves more than the half has said where cwnd ends.
            let least = if target > half.max(2.0 * w.smss) { target } else { target / 2.0 };
            phase.halving = Some(Halving { target, least, due: false });
            cx.step(before.max(target));
        }
    }

    /// An ACK in a phase: cwnd goes down by a segment at every second one (`tcp_cwnd_down`).
    ///
    /// It ends at half of what the control halved to, as the source has it (`snd_cwnd > snd_ssthresh/2`), and leaves room for one
    /// segment at any time.
    fn step_down(&mut self, cx: &mut Context<'_>) {
        let in_flight = self.in_flight(cx.record().board(), cx.una, cx.max);
        let Some(halving) = self.phase.as_mut().and_then(|phase| phase.halving.as_mut()) else { return };
        let mut cwnd = cx.window().cwnd;
        if halving.due && cwnd > halving.least {
            cwnd -= cx.window().smss;
        }
        halving.due = !halving.due;
        cx.step(cwnd.min(f64::from(in_flight + self.smss)).max(cx.window().smss));
    }

    /// Finds what the scoreboard shows to be lost, at least what lies below `at_least`, and tells the control of each hole.
    fn find_losses(&mut self, cx: &mut Context<'_>, at_least: Seq) {
        let Some(highest) = cx.record().board().highest() else { return };
        self.find_lost_again(cx, highest);
        let Some(Phase { first_hole, recovery_point, mut told, .. }) = self.phase else { return };
        let sure = highest - cx.una > self.threshold * self.smss;
        let below = if sure { cx.una + ((highest - cx.una) - self.threshold * self.smss) } else { cx.una };
        let limit = below.max(at_least).min(recovery_point);
        while told < limit {
            let hole = cx.record().board().missing_from(told.max(cx.una), limit);
            if hole.start >= limit {
                told = limit;
                break;
            }
            told = hole.end;
            cx.mark_lost(hole);
            self.lose(hole);
            let before = cx.whole_window();
            let response = cx.lose_further(hole.start, first_hole, recovery_point);
            self.answer(cx, response, before);
        }
        if let Some(phase) = &mut self.phase {
            phase.told = told;
        }
    }

    /// A hole is lost; what of it was sent again is in the network once.
    fn lose(&mut self, hole: Range) {
        let mut from = hole.start;
        while from < hole.end {
            let part = self.twice.missing_from(from, hole.end);
            self.lost.add(part);
            from = part.end;
        }
        self.twice.remove(hole);
    }

    /// Data was reported that was sent after a retransmission which was not: that one is lost.
    fn find_lost_again(&mut self, cx: &mut Context<'_>, highest: Seq) {
        while let Some((range, _)) = self.again.front().copied().filter(|(_, max)| *max < highest) {
            self.again.pop_front();
            let mut from = range.start.max(cx.una);
            while from < range.end {
                let missing = cx.record().board().missing_from(from, range.end);
                if missing.start >= range.end {
                    break;
                }
                cx.mark_lost(missing);
                self.twice.remove(missing);
                self.lost.add(missing);
                if missing.start == cx.una {
                    // It goes out with this ACK.
                    cx.restart_timer();
                }
                from = missing.end;
            }
        }
    }

    /// Everything missing from `from` on is lost.
    fn lose_all(&mut self, board: &Runs, from: Seq, max: Seq) {
        self.lost.clear();
        self.twice.clear();
        self.again.clear();
        let mut missing = board.missing_from(from, max);
        while missing.start < max {
            self.lost.add(missing);
            missing = board.missing_from(missing.end, max);
        }
    }

    /// The window in which the loss happened is through (`tcp_complete_cwr`).
    fn leave(&mut self, cx: &mut Context<'_>, phase: Phase) {
        self.phase = None;
        self.twice.clear();
        self.again.clear();
        let target = phase.halving.map_or(f64::INFINITY, |halving| halving.target);
        let cwnd = cx.window().cwnd.min(target);
        cx.exit(&Exit { flight: cx.flight(), acked: cx.una - phase.first_hole, cwnd });
    }

    /// An ACK outside a phase that reports or fills something, the one that ends a phase too: another begins, or cwnd is moderated
    /// (`tcp_try_to_open`), whatever the last phase has done to it.
    fn begin_or_moderate(&mut self, cx: &mut Context<'_>) {
        if self.timeout_point.is_none() && self.is_time(cx) {
            self.enter(cx);
        } else {
            self.moderate(cx);
        }
    }
}

impl Recovery for SackLinux24 {
    fn needs_sack(&self) -> bool {
        true
    }

    fn flight_at_timeout(&self, cx: &Context<'_>) -> Option<u32> {
        let reduced = self.phase.is_some_and(|phase| phase.halving.is_some());
        (!reduced).then(|| cx.whole_window() as u32)
    }

    fn on_sacked(&mut self, part: Range) {
        self.news = true;
        self.lost.remove(part);
        self.twice.remove(part);
    }

    fn on_duplicate_ack(&mut self, cx: &mut Context<'_>) {
        self.news = false;
        if self.phase.is_some() {
            // A duplicate ACK says that the first hole is one, however little lies above it.
            self.find_losses(cx, cx.una + self.smss.min(cx.flight()));
            self.step_down(cx);
        } else {
            self.begin_or_moderate(cx);
        }
    }

    fn on_new_ack(&mut self, cx: &mut Context<'_>, acked: u32) -> RecoveryState {
        self.resend.acknowledged(cx.una, cx.max);
        cx.record.board_mut().advance(cx.una, |_| {});
        self.lost.advance(cx.una);
        self.twice.advance(cx.una);
        while self.again.front().is_some_and(|(range, _)| range.end <= cx.una) {
            self.again.pop_front();
        }
        self.timeout_point = self.timeout_point.filter(|point| cx.una < *point);
        let Some(phase) = self.phase else {
            // What this ACK would open is bounded with the rest.
            let bounded = !self.news && self.moderate(cx);
            return if bounded {
                RecoveryState::Recovering { restart_timer: true }
            } else {
                RecoveryState::Open
            };
        };
        if cx.una >= phase.recovery_point {
            self.leave(cx, phase);
            if !self.news {
                self.begin_or_moderate(cx);
            }
        } else {
            cx.partial_ack(&PartialAck { acked, flight: cx.flight(), inflated: false });
            if !self.news {
                self.find_losses(cx, cx.una);
                self.step_down(cx);
            }
        }
        RecoveryState::Recovering { restart_timer: true }
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        cx.mark_all_lost();
        self.phase = None;
        self.timeout_point = Some(cx.max);
        // What was reported stays so, unless the receiver lacks it after all (`tcp_check_sack_reneging`).
        if cx.record().board().holding(cx.una).is_some() {
            cx.record.forget_sacked();
        }
        self.lose_all(cx.record().board(), cx.una, cx.max);
        if let Some(first) = self.lost.first() {
            self.lost.remove(Range { start: first.start, end: first.start + self.smss });
        }
        self.resend.at_once(cx.una);
    }

    fn in_recovery(&self) -> bool {
        self.phase.is_some()
    }

    fn is_idle(&self) -> bool {
        let nothing_lost = self.phase.is_none() && self.timeout_point.is_none() && self.lost.is_empty();
        nothing_lost && self.resend.is_empty()
    }

    fn resend(&mut self) -> &mut Resend {
        &mut self.resend
    }

    fn next(&mut self, o: &Outstanding<'_>) -> Next {
        let board = o.record.board();
        if let Some(from) = self.resend.take_back() {
            self.lose_all(board, from, o.max);
        }
        let room = o.cwnd.saturating_sub(self.in_flight(board, o.una, o.max));
        if let Some(first) = self.lost.first() {
            let range = Range { start: first.start, end: first.end.min(first.start + self.smss) };
            let fits = range.end - range.start <= room && range.end - o.una <= o.rwnd;
            if !fits || !o.may_resend {
                return Next::Nothing;
            }
            self.lost.remove(range);
            return self.send_again(range, o);
        }
        let Some(phase) = &self.phase else { return Next::NewData { room } };
        if o.new_data || room < o.smss {
            return if room < o.smss { Next::Nothing } else { Next::NewData { room } };
        }
        // Nothing new may go: a hole that is not known to be lost (`tcp_xmit_retransmit_queue`).
        let (mut from, highest) = (phase.told.max(o.una), board.highest().unwrap_or(o.una));
        while from < highest {
            let hole = board.missing_from(from, highest);
            let part = self.twice.missing_from(hole.start, hole.end);
            if part.start < part.end {
                let range = Range { start: part.start, end: part.end.min(part.start + self.smss) };
                return self.send_again(range, o);
            }
            from = hole.end;
        }
        Next::Nothing
    }

    fn phases(&self) -> u32 {
        self.phases
    }
}

impl SackLinux24 {
    fn send_again(&mut self, range: Range, o: &Outstanding<'_>) -> Next {
        if let Some(phase) = &self.phase {
            self.again.push_back((range, o.max));
            if range.start >= phase.told {
                self.twice.add(range);
            }
        }
        Next::Again(range)
    }
}

options! {
    "sack-linux-2.4", "the SACK scoreboard as Linux 2.4 read it: forward acknowledgment, rate halving, cwnd moderation (Linux 2.4.19)";
    /// The choice of [`SackLinux24`], which has no options.
    pub struct SackLinux24Options;
}

impl RecoveryFactory for SackLinux24Options {
    fn make(&self, config: &Config, agreed: Agreed) -> Box<dyn Recovery> {
        match agreed.sack {
            true => Box::new(SackLinux24::new(config, agreed.smss)),
            false => Box::new(NewReno::new(config)),
        }
    }

    fn offers_sack(&self) -> bool {
        true
    }
}
