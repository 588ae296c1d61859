use super::{Context, Next, Outstanding, Progress, Range, Recovery};
use crate::control::{Exit, PartialAck};
use crate::runs::Runs;
use crate::{Config, SackBlock, Seq};

/// Loss recovery over the SACK scoreboard: the pipe algorithm of RFC 6675.
#[derive(Debug)]
pub struct Sack {
    board: Runs,
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
    /// A recovery with nothing outstanding.
    pub fn new(config: &Config) -> Sack {
        Sack {
            board: Runs::default(),
            duplicates: 0,
            before_duplicates: Seq::default(),
            threshold: config.duplicate_threshold,
            limited_transmit: config.limited_transmit,
            smss: config.mss,
            recovery_point: None,
            phase: None,
            phases: 0,
        }
    }

    /// The scoreboard.
    pub fn board(&self) -> &Runs {
        &self.board
    }

    /// RFC 6675 section 4, SetPipe: each byte not held counts once if it is not lost and once if it was retransmitted.
    fn pipe(&self, una: Seq, max: Seq) -> u32 {
        let resent = self.phase.as_ref().map_or(0, |phase| phase.resent);
        let (from, held) =
            self.board.lost_below(self.threshold, self.smss).unwrap_or((una, self.board.held()));
        (max - from) - held + resent
    }

    /// Section 5 step 4: a new phase.
    fn enter(&mut self, cx: &mut Context<'_>) {
        self.phases += 1;
        self.recovery_point = Some(cx.max);
        let loss = cx.loss_at(cx.una, cx.una, cx.max, self.before_duplicates - cx.una);
        cx.tell_loss(&loss);
        let first = self.board.missing_from(cx.una, cx.max);
        let end = (first.start + self.smss).min(first.end);
        self.phase = Some(Phase {
            first_hole: cx.una,
            told: end,
            recovery_point: cx.max,
            high_rxt: end,
            resent: end - first.start,
            rescued: false,
        });
        *cx.retransmit_now = Some(cx.una);
    }

    /// Tells the control of each hole that the scoreboard has come to call lost.
    fn tell_further_losses(&mut self, cx: &mut Context<'_>) {
        let Some(phase) = &mut self.phase else { return };
        let Some((lost_below, _)) = self.board.lost_below(self.threshold, self.smss) else { return };
        let limit = lost_below.min(phase.recovery_point);
        while phase.told < limit {
            let hole = self.board.missing_from(phase.told.max(cx.una), limit);
            if hole.start >= limit {
                phase.told = limit;
                return;
            }
            phase.told = hole.end;
            let loss = cx.loss_at(hole.start, phase.first_hole, phase.recovery_point, cx.flight());
            cx.tell_further_loss(&loss);
        }
    }
}

impl Recovery for Sack {
    fn on_sack(&mut self, blocks: &[SackBlock], una: Seq, max: Seq) -> bool {
        let high_rxt = self.phase.as_ref().map(|phase| phase.high_rxt);
        let mut resent = 0;
        let mut news = false;
        for block in blocks {
            // A block below the cumulative ACK is a duplicate report (RFC 2883); one beyond SND.MAX is a lie.
            // Counted from the ACK: half the sequence space away a block can lie behind it and before SND.MAX at once.
            let (start, end) = (block.start - una, block.end - una);
            if start >= end || end > max - una {
                continue;
            }
            if !self.board.admits(*block, max - una, self.smss) {
                continue;
            }
            self.board.insert(*block, |fresh| {
                news = true;
                if let Some(high) = high_rxt
                    && fresh.start < high
                {
                    resent += fresh.end.min(high) - fresh.start;
                }
            });
        }
        if let Some(phase) = &mut self.phase {
            phase.resent -= resent;
        }
        news
    }

    fn needs_sack(&self) -> bool {
        true
    }

    fn on_duplicate_ack(&mut self, cx: &mut Context<'_>) {
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
        let lost = self.board.lost_below(self.threshold, self.smss).is_some_and(|(below, _)| below > cx.una);
        if allowed && (self.duplicates >= self.threshold || lost) {
            self.enter(cx);
            self.tell_further_losses(cx);
        }
    }

    fn on_new_ack(&mut self, cx: &mut Context<'_>, acked: u32) -> Progress {
        self.duplicates = 0;
        let before = cx.una - acked;
        let mut resent = 0;
        if let Some(phase) = &self.phase {
            resent = phase.high_rxt.min(cx.una).max(before) - before;
            let high = phase.high_rxt;
            self.board.advance(cx.una, |gone| {
                if gone.start < high {
                    resent -= gone.end.min(high) - gone.start;
                }
            });
        } else {
            self.board.advance(cx.una, |_| {});
        }
        let Some(phase) = &mut self.phase else { return Progress::Open };
        phase.resent -= resent;
        phase.high_rxt = phase.high_rxt.max(cx.una);
        let flight = cx.max - cx.una;
        if cx.una >= phase.recovery_point {
            let (acked, cwnd) = (cx.una - phase.first_hole, cx.window.cwnd);
            self.phase = None;
            cx.control.on_recovery_exit(cx.window, &Exit { flight, acked, cwnd });
        } else {
            cx.control.on_partial_ack(cx.window, &PartialAck { acked, flight, inflated: false });
            self.tell_further_losses(cx);
        }
        Progress::Recovering { restart_timer: true }
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        self.phase = None;
        self.duplicates = 0;
        self.recovery_point = Some(cx.max);
        // RFC 2018 section 8: "the data sender SHOULD turn off all of the SACKed bits, since the timeout might indicate
        // that the data receiver has reneged".
        self.board.clear();
    }

    fn in_recovery(&self) -> bool {
        self.phase.is_some()
    }

    fn is_idle(&self) -> bool {
        self.phase.is_none() && self.duplicates == 0 && self.board.is_empty()
    }

    fn in_flight(&self, o: &Outstanding) -> u32 {
        if self.phase.is_some() {
            return self.pipe(o.una, o.max);
        }
        if self.board.is_empty() {
            return o.nxt - o.una;
        }
        if o.nxt < o.max {
            // Going back after a timeout: what was resent and is not held.
            return (o.nxt - o.una) - self.board.held_between(o.una, o.nxt);
        }
        // Section 5 step 3: limited transmit sends by cwnd - pipe.
        if self.limited_transmit { self.pipe(o.una, o.max) } else { o.nxt - o.una }
    }

    fn next(&mut self, o: &Outstanding) -> Next {
        let Some(phase) = &mut self.phase else { return Next::InOrder };
        // Section 5 step C: "if cwnd - pipe >= 1 SMSS".
        if o.room < o.smss {
            return Next::Nothing;
        }
        // Section 4, NextSeg.
        let hole = self.board.missing_from(phase.high_rxt.max(o.una), o.max);
        let hole = Range { start: hole.start, end: hole.end.min(hole.start + o.smss) };
        let highest = self.board.highest();
        let beyond_known = highest.is_none_or(|highest| hole.start >= highest);
        let lost =
            self.board.lost_below(self.threshold, self.smss).is_some_and(|(below, _)| hole.start < below);
        if lost && !beyond_known {
            // (1) the lowest hole that is lost and not yet retransmitted
        } else if o.new_data {
            return Next::NewData; // (2)
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

    fn missing_from(&self, seq: Seq, max: Seq) -> Range {
        self.board.missing_from(seq, max)
    }

    fn scoreboard_runs(&self) -> usize {
        self.board.count()
    }

    fn phases(&self) -> u32 {
        self.phases
    }
}

#[cfg(test)]
mod tests;
