use super::duplicates::DuplicateAcks;
use super::{
    Context, NewReno1999, NewReno1999Options, Next, Outstanding, Range, Recovery, RecoveryFactory,
    RecoveryState, Resend, options,
};
use crate::control::{Exit, PartialAck};
use crate::{Agreed, Config, Runs, Seq};

/// Loss recovery with SACK before RFC 3517: Fall and Floyd (1996) section 5, as ns-2's Sack1 has it.
///
/// `pipe` is a counter: a segment sent adds one, an ACK takes one off, and a partial ACK two, so that repair is never slower than
/// slow start. Every hole below reported data is lost. Outside of recovery an ACK of new data clears the scoreboard, and after a
/// timeout everything goes again, whatever is reported.
#[derive(Debug)]
pub struct Sack1996 {
    options: Sack1996Options,
    duplicates: DuplicateAcks,
    phase: Option<Phase>,
    /// No ACK of new data has come since the timer expired.
    timed_out: bool,
    /// The ACK at hand has reported data for the first time.
    news: bool,
    /// The ACK at hand has acknowledged new data, so that its report makes no duplicate of it.
    advanced: bool,
}

#[derive(Clone, Copy, Debug)]
struct Phase {
    first_hole: Seq,
    /// Holes below this were told to the control.
    reported: Seq,
    recover: Seq,
    /// The byte after the highest one sent again in this phase.
    high_rxt: Seq,
    /// Segments taken to be in the network; the first one that went again is not among them.
    pipe: i64,
    /// What was sent up to here is in `pipe`.
    counted: Seq,
    /// The ACK at hand began the phase: it lets out nothing but the first retransmission.
    begins: bool,
}

impl Sack1996 {
    /// A recovery with nothing outstanding.
    pub fn new(config: &Config, options: Sack1996Options) -> Sack1996 {
        let duplicates = DuplicateAcks::new(config, true);
        Sack1996 { options, duplicates, phase: None, timed_out: false, news: false, advanced: false }
    }

    fn enter(&mut self, cx: &mut Context<'_>) {
        let smss = cx.window().smss as u32;
        let cwnd = i64::from(cx.window().cwnd as u32 / smss);
        let flight = cx.window_to_halve(0);
        self.duplicates.enter_with(cx, flight);
        // Segments, not bytes: FIN is none of its own where it goes with data.
        let outstanding = match self.options.until_august_2000 {
            true => cwnd,
            false => cx.record().entries(cx.una).count() as i64,
        };
        let first = cx.record().board().missing_from(cx.una, cx.max);
        let end = (first.start + smss).min(first.end);
        cx.mark_lost(Range { start: first.start, end });
        self.phase = Some(Phase {
            first_hole: cx.una,
            reported: end,
            recover: cx.max,
            high_rxt: end,
            pipe: outstanding - i64::from(self.duplicates.threshold),
            counted: cx.max,
            begins: true,
        });
        self.duplicates.resend.at_once(cx.una);
        cx.restart_timer();
    }
}

impl Phase {
    /// The next hole below reported data that was not sent again in this phase.
    fn hole(&self, board: &Runs, una: Seq, max: Seq, smss: u32) -> Option<Range> {
        let hole = board.missing_from(self.high_rxt.max(una), max);
        let below = board.highest().is_some_and(|highest| hole.start < highest);
        below.then(|| Range { start: hole.start, end: hole.end.min(hole.start + smss) })
    }

    /// Tells the control of each hole below what is reported by now.
    fn tell_further_losses(&mut self, cx: &mut Context<'_>) {
        let Some(highest) = cx.record().board().highest() else { return };
        let limit = highest.min(self.recover);
        while self.reported < limit {
            let hole = cx.record().board().missing_from(self.reported.max(cx.una), limit);
            if hole.start >= limit {
                self.reported = limit;
                return;
            }
            self.reported = hole.end;
            cx.mark_lost(hole);
            cx.lose_further(hole.start, self.first_hole, self.recover);
        }
    }
}

impl Recovery for Sack1996 {
    fn needs_sack(&self) -> bool {
        true
    }

    fn counts_plain_duplicates(&self) -> bool {
        true
    }

    fn on_sacked(&mut self, _part: Range) {
        self.news = true;
    }

    fn on_duplicate_ack(&mut self, cx: &mut Context<'_>) {
        let (news, advanced) = (std::mem::take(&mut self.news), std::mem::take(&mut self.advanced));
        if advanced {
            return;
        }
        if let Some(phase) = &mut self.phase {
            phase.pipe -= 1;
            phase.begins = false;
            phase.tell_further_losses(cx);
        } else if self.timed_out {
            cx.record.forget_sacked();
        } else if (news || self.options.until_august_2000) && self.duplicates.reached(cx.una, cx.max) {
            self.enter(cx);
            if let Some(phase) = &mut self.phase {
                phase.tell_further_losses(cx);
            }
        }
    }

    fn on_new_ack(&mut self, cx: &mut Context<'_>, acked: u32) -> RecoveryState {
        self.advanced = std::mem::take(&mut self.news);
        self.duplicates.acknowledged(cx);
        self.timed_out = false;
        let Some(mut phase) = self.phase.take() else {
            cx.record.forget_sacked();
            return RecoveryState::Open;
        };
        let flight = cx.flight();
        if cx.una >= phase.recover {
            cx.record.forget_sacked();
            self.duplicates.forget_recover();
            let cwnd = cx.window().cwnd;
            cx.exit(&Exit { flight, acked: cx.una - phase.first_hole, cwnd });
        } else {
            cx.record.board_mut().advance(cx.una, |_| {});
            cx.partial_ack(&PartialAck { acked, flight, inflated: false });
            phase.pipe -= 2;
            phase.begins = false;
            phase.tell_further_losses(cx);
            self.phase = Some(phase);
        }
        RecoveryState::Recovering { restart_timer: true }
    }

    fn flight_at_timeout(&self, cx: &Context<'_>) -> Option<u32> {
        Some(cx.window_to_halve(0))
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        cx.mark_all_lost();
        self.phase = None;
        self.timed_out = true;
        cx.record.forget_sacked();
        self.duplicates.timed_out(cx);
    }

    fn in_recovery(&self) -> bool {
        self.phase.is_some()
    }

    fn is_idle(&self) -> bool {
        self.phase.is_none() && !self.timed_out && self.duplicates.is_idle()
    }

    fn resend(&mut self) -> &mut Resend {
        &mut self.duplicates.resend
    }

    fn next(&mut self, o: &Outstanding<'_>) -> Next {
        let Some(phase) = &mut self.phase else { return self.duplicates.next(o) };
        // New data goes out a segment at a time, and each time this is asked again.
        phase.pipe += i64::from(o.max != phase.counted);
        phase.counted = o.max;
        let room = i64::from(o.cwnd / o.smss) - phase.pipe;
        if room <= 0 || phase.begins {
            return Next::Nothing;
        }
        let Some(hole) = phase.hole(o.record.board(), o.una, o.max, o.smss) else {
            return Next::NewData { room: u32::try_from(room).unwrap_or(u32::MAX).saturating_mul(o.smss) };
        };
        if !o.may_resend {
            return Next::Nothing;
        }
        phase.pipe += 1;
        phase.high_rxt = hole.end;
        Next::Again(hole)
    }

    fn phases(&self) -> u32 {
        self.duplicates.phases
    }
}

options! {
    "sack-1996", "SACK with a pipe that counts ACKs, and no RFC 6675 (Fall and Floyd 1996 section 5, ns-2's Sack1)";
    /// Options of the recovery sack-1996.
    pub struct Sack1996Options {
        /// As ns-2's Sack1 until July and August 2000: `pipe` begins with cwnd less three segments (`oldCode_`), where it later begins
        /// with what is outstanding, and every duplicate ACK counts, whatever it reports.
        pub until_august_2000: bool = false,
    }
}

impl RecoveryFactory for Sack1996Options {
    fn make(&self, config: &Config, agreed: Agreed) -> Box<dyn Recovery> {
        match agreed.sack {
            true => Box::new(Sack1996::new(config, *self)),
            false => Box::new(NewReno1999::new(config, NewReno1999Options::default())),
        }
    }

    fn offers_sack(&self) -> bool {
        true
    }
}
