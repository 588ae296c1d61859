use super::{
    Context, NewReno, Next, Outstanding, Range, Recovery, RecoveryFactory, RecoveryState, Resend, options,
};
use crate::control::{Exit, PartialAck};
use crate::{Agreed, Config, Runs, Seq};

/// Loss recovery over the SACK scoreboard: the pipe algorithm of RFC 6675.
#[derive(Debug)]
pub struct Sack {
    duplicates: u32,
    /// What was outstanding when the first duplicate came ends here; limited transmit sends beyond it.
    before_duplicates: Seq,
    threshold: u32,
    limited_transmit: bool,
    smss: u32,
    /// No new phase before the data below this is acknowledged: RecoveryPoint, kept after a timeout (section 5.1).
    recovery_point: Option<Seq>,
    phase: Option<Phase>,
    phases: u32,
    resend: Resend,
    /// Everything missing below this is lost, and so many bytes are held from there on: of the scoreboard as it was told last.
    lost_below: Option<(Seq, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Phase {
    first_hole: Seq,
    /// Holes below this were told to the control.
    told: Seq,
    recovery_point: Seq,
    /// HighRxt as the byte after the highest one retransmitted.
    high_rxt: Seq,
    /// Bytes below `high_rxt` that are outstanding and not held: what retransmission has put into the pipe.
    resent: u32,
    rescued: bool,
}

impl Sack {
    /// A recovery with nothing outstanding, of segments of `smss` bytes.
    pub fn new(config: &Config, smss: u32) -> Sack {
        Sack {
            duplicates: 0,
            before_duplicates: Seq::default(),
            threshold: config.duplicate_threshold,
            limited_transmit: config.limited_transmit,
            smss,
            recovery_point: None,
            phase: None,
            phases: 0,
            resend: Resend::default(),
            lost_below: None,
        }
    }

    /// The scoreboard has changed.
    fn update_lost_below(&mut self, board: &Runs) {
        self.lost_below = board.lost_below(self.threshold, self.smss);
    }

    /// RFC 6675 section 4, SetPipe: each byte not held counts once if it is not lost and once if it was retransmitted.
    fn pipe(&self, board: &Runs, una: Seq, max: Seq) -> u32 {
        let resent = self.phase.as_ref().map_or(0, |phase| phase.resent);
        let (from, held) = self.lost_below.unwrap_or((una, board.held()));
        (max - from) - held + resent
    }

    /// Bytes taken to be in the network.
    fn in_flight(&self, board: &Runs, una: Seq, max: Seq) -> u32 {
        if self.phase.is_some() {
            return self.pipe(board, una, max);
        }
        let next = self.resend.next_byte(max);
        if board.is_empty() {
            return next - una;
        }
        if self.resend.going_back() {
            // After a timeout: what was resent and is not held.
            return (next - una) - board.held_between(una, next);
        }
        // Section 5 step 3: limited transmit sends by cwnd - pipe.
        if self.limited_transmit { self.pipe(board, una, max) } else { max - una }
    }

    /// Section 5 step 4: a new phase.
    fn enter(&mut self, cx: &mut Context<'_>) {
        self.phases += 1;
        self.recovery_point = Some(cx.max);
        cx.lose(cx.una, cx.una, cx.max, self.before_duplicates - cx.una);
        let first = cx.record().board().missing_from(cx.una, cx.max);
        let end = (first.start + self.smss).min(first.end);
        cx.mark_lost(Range { start: first.start, end });
        self.phase = Some(Phase {
            first_hole: cx.una,
            told: end,
            recovery_point: cx.max,
            high_rxt: end,
            resent: end - first.start,
            rescued: false,
        });
        self.resend.at_once(cx.una);
    }

    /// Tells the control of each hole that the scoreboard has come to call lost.
    fn tell_further_losses(&mut self, cx: &mut Context<'_>) {
        let Some(phase) = &mut self.phase else { return };
        let Some((lost_below, _)) = self.lost_below else { return };
        let limit = lost_below.min(phase.recovery_point);
        while phase.told < limit {
            let hole = cx.record().board().missing_from(phase.told.max(cx.una), limit);
            if hole.start >= limit {
                phase.told = limit;
                return;
            }
            phase.told = hole.end;
            cx.mark_lost(hole);
            cx.lose_further(hole.start, phase.first_hole, phase.recovery_point);
        }
    }
}

impl Recovery for Sack {
    fn needs_sack(&self) -> bool {
        true
    }

    fn on_sacked(&mut self, part: Range) {
        if let Some(phase) = &mut self.phase
            && part.start < phase.high_rxt
        {
            phase.resent -= part.end.min(phase.high_rxt) - part.start;
        }
    }

    fn on_duplicate_ack(&mut self, cx: &mut Context<'_>) {
        self.update_lost_below(cx.record().board());
        if self.duplicates == 0 {
            self.before_duplicates = cx.max;
        }
        self.duplicates += 1;
        if self.phase.is_some() {
            self.tell_further_losses(cx);
            return;
        }
        // Section 5 step 2 and 4; section 5.1 forbids a new phase below the old RecoveryPoint.
        let allowed = self.recovery_point.is_none_or(|point| cx.una >= point);
        let lost = self.lost_below.is_some_and(|(below, _)| below > cx.una);
        if allowed && (self.duplicates >= self.threshold || lost) {
            self.enter(cx);
            self.tell_further_losses(cx);
        }
    }

    fn on_new_ack(&mut self, cx: &mut Context<'_>, acked: u32) -> RecoveryState {
        self.duplicates = 0;
        self.resend.acknowledged(cx.una, cx.max);
        let before = cx.una - acked;
        let high = self.phase.as_ref().map_or(before, |phase| phase.high_rxt);
        let mut resent = high.min(cx.una).max(before) - before;
        cx.record.board_mut().advance(cx.una, |gone| {
            if gone.start < high {
                resent -= gone.end.min(high) - gone.start;
            }
        });
        self.update_lost_below(cx.record().board());
        let Some(phase) = &mut self.phase else { return RecoveryState::Open };
        phase.resent -= resent;
        phase.high_rxt = phase.high_rxt.max(cx.una);
        let flight = cx.flight();
        if cx.una >= phase.recovery_point {
            let (acked, cwnd) = (cx.una - phase.first_hole, cx.window().cwnd);
            self.phase = None;
            cx.exit(&Exit { flight, acked, cwnd });
        } else {
            cx.partial_ack(&PartialAck { acked, flight, inflated: false });
            self.tell_further_losses(cx);
        }
        RecoveryState::Recovering { restart_timer: true }
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        cx.mark_all_lost();
        self.phase = None;
        self.duplicates = 0;
        self.recovery_point = Some(cx.max);
        cx.record.forget_sacked();
        self.lost_below = None;
        self.resend.at_once(cx.una);
        self.resend.go_back(cx.una);
    }

    fn in_recovery(&self) -> bool {
        self.phase.is_some()
    }

    fn is_idle(&self) -> bool {
        self.phase.is_none() && self.duplicates == 0 && self.resend.is_empty()
    }

    fn resend(&mut self) -> &mut Resend {
        &mut self.resend
    }

    fn next(&mut self, o: &Outstanding<'_>) -> Next {
        let board = o.record.board();
        let room = o.cwnd.saturating_sub(self.in_flight(board, o.una, o.max));
        let Some(phase) = &mut self.phase else { return self.resend.next(o, room) };
        // Section 5 step C: "If cwnd - pipe >= 1 SMSS".
        if room < o.smss {
            return Next::Nothing;
        }
        // Section 4, NextSeg.
        let hole = board.missing_from(phase.high_rxt.max(o.una), o.max);
        let hole = Range { start: hole.start, end: hole.end.min(hole.start + o.smss) };
        let highest = board.highest();
        let beyond_known = highest.is_none_or(|highest| hole.start >= highest);
        let lost = !beyond_known && self.lost_below.is_some_and(|(below, _)| hole.start < below);
        if (lost || !o.new_data) && !o.may_resend {
            return Next::Nothing;
        }
        if lost {
            // (1) the lowest hole that is lost and not yet retransmitted
        } else if o.new_data {
            return Next::NewData { room }; // (2)
        } else if !beyond_known {
            // (3) a hole that is not known to be lost
        } else if !phase.rescued && o.una < o.max {
            // (4) once a phase, the highest data outstanding; HighRxt stays
            phase.rescued = true;
            let start = o.una.max(highest.unwrap_or(o.una)).max(o.max - o.smss);
            return if start < o.max { Next::Again(Range { start, end: o.max }) } else { Next::Nothing };
        } else {
            return Next::Nothing;
        }
        phase.resent += hole.end - hole.start;
        phase.high_rxt = hole.end;
        Next::Again(hole)
    }

    fn phases(&self) -> u32 {
        self.phases
    }
}

options! {
    "sack", "the SACK scoreboard and the pipe algorithm (RFC 2018, RFC 6675)";
    /// The choice of [`Sack`], which has no options.
    pub struct SackOptions;
}

impl RecoveryFactory for SackOptions {
    fn make(&self, config: &Config, agreed: Agreed) -> Box<dyn Recovery> {
        match agreed.sack {
            true => Box::new(Sack::new(config, agreed.smss)),
            // RFC 6675 needs a peer that offers SACK, and RFC 6582 is for "the absence of SACK".
            false => Box::new(NewReno::new(config)),
        }
    }

    fn offers_sack(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
