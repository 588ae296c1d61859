use super::duplicates::DuplicateAcks;
use super::{Context, Next, Outstanding, Recovery, RecoveryFactory, RecoveryState, Resend, options};
use crate::control::{Exit, PartialAck, Response};
use crate::{Agreed, Config, Seq};

/// Segments that an ACK lets out in fast recovery beside the one that goes again (ns-2's `maxburst` there).
const BURST: u32 = 2;

/// NewReno as ns-2 had it from 1998 to 2003: every partial ACK restarts the timer and ends what duplicate ACKs have added to cwnd
/// so far.
///
/// RFC 2582 section 4 calls a timer that every partial ACK restarts the Slow-but-Steady variant; section 3 has the other one.
#[derive(Debug)]
pub struct NewReno1999 {
    options: NewReno1999Options,
    duplicates: DuplicateAcks,
    phase: Option<Phase>,
    /// What goes out ends here until the next ACK comes, in fast recovery and while refused duplicates inflate cwnd.
    burst_end: Seq,
}

#[derive(Clone, Copy, Debug)]
struct Phase {
    first_hole: Seq,
    recover: Seq,
    inflates: bool,
    /// Bytes of cwnd that stand for duplicate ACKs.
    inflation: u32,
    partial_acks: u32,
}

impl NewReno1999 {
    /// A recovery with nothing outstanding.
    pub fn new(config: &Config, options: NewReno1999Options) -> NewReno1999 {
        NewReno1999 {
            options,
            duplicates: DuplicateAcks::new(config, true),
            phase: None,
            burst_end: Seq::default(),
        }
    }
}

impl Phase {
    fn inflate(&mut self, cx: &mut Context<'_>, segments: u32) {
        cx.inflate(segments);
        self.inflation += segments * cx.window().smss as u32;
    }

    /// A partial ACK of `acked` bytes takes its share of the inflation off: all, or by RFC 2582 section 3 step 5 "the amount of new
    /// data acknowledged", and from cwnd itself what exceeds it.
    fn deflate(&mut self, cx: &mut Context<'_>, acked: u32, by_what_is_acked: bool) {
        let smss = cx.window().smss as u32;
        if by_what_is_acked {
            cx.partial_ack(&PartialAck { acked, flight: cx.flight(), inflated: self.inflates });
            self.inflation = self.inflation.saturating_sub(acked) + smss.min(acked);
        } else {
            cx.deflate(self.inflation);
            self.inflation = 0;
        }
    }
}

impl Recovery for NewReno1999 {
    fn on_duplicate_ack(&mut self, cx: &mut Context<'_>) {
        let threshold = self.duplicates.threshold;
        let further = self.phase.is_some();
        if !further && self.duplicates.reached(cx.una, cx.max) {
            let (first_hole, recover) = (cx.una, cx.max);
            let flight = cx.window_to_halve(0);
            let inflates = self.duplicates.enter_with(cx, flight) == Response::Reduced;
            self.phase = Some(Phase { first_hole, recover, inflates, inflation: 0, partial_acks: 0 });
            self.duplicates.resend.at_once(cx.una);
            cx.restart_timer();
        }
        self.burst_end = self.duplicates.resend.next_byte(cx.max) + BURST * cx.window().smss as u32;
        let Some(phase) = &mut self.phase else { return self.duplicates.inflate_refused(cx) };
        if phase.inflates {
            phase.inflate(cx, if further { 1 } else { threshold });
        }
    }

    fn on_new_ack(&mut self, cx: &mut Context<'_>, acked: u32) -> RecoveryState {
        self.duplicates.acknowledged(cx);
        let Some(mut phase) = self.phase else {
            self.duplicates.end_refused(cx);
            return RecoveryState::Open;
        };
        if cx.una >= phase.recover {
            // What partial ACKs have left of cwnd stays, and the ACK opens it as any other.
            let smss = cx.window().smss;
            let cwnd = (cx.window().cwnd - f64::from(phase.inflation)).max(smss);
            self.phase = None;
            cx.exit(&Exit { flight: cx.flight(), acked: cx.una - phase.first_hole, cwnd });
            return RecoveryState::Open;
        }
        if cx.lose_further(cx.una, phase.first_hole, phase.recover) == Response::Reduced {
            phase.inflates = true;
        }
        phase.deflate(cx, acked, self.options.partial_deflation);
        phase.partial_acks += 1;
        self.burst_end = cx.max + BURST * cx.window().smss as u32;
        self.phase = Some(phase);
        self.duplicates.resend.at_once(cx.una);
        RecoveryState::Recovering { restart_timer: phase.partial_acks == 1 || !self.options.impatient }
    }

    fn flight_at_timeout(&self, cx: &Context<'_>) -> Option<u32> {
        Some(cx.window_to_halve(self.phase.map_or(self.duplicates.refused(), |phase| phase.inflation)))
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        self.phase = None;
        self.duplicates.timed_out(cx);
    }

    fn in_recovery(&self) -> bool {
        self.phase.is_some()
    }

    fn is_idle(&self) -> bool {
        self.phase.is_none() && self.duplicates.is_idle()
    }

    fn resend(&mut self) -> &mut Resend {
        &mut self.duplicates.resend
    }

    fn next(&mut self, o: &Outstanding<'_>) -> Next {
        match self.duplicates.next(o) {
            Next::NewData { room } if self.phase.is_some() || self.duplicates.refused() > 0 => {
                let burst = if o.max < self.burst_end { self.burst_end - o.max } else { 0 };
                Next::NewData { room: room.min(burst) }
            }
            Next::Again(range) if self.duplicates.refused() > 0 && range.start >= self.burst_end => {
                Next::Nothing
            }
            next => next,
        }
    }

    fn phases(&self) -> u32 {
        self.duplicates.phases
    }
}

options! {
    "newreno-1999", "NewReno of its time: each partial ACK restarts the timer and ends the inflation (RFC 2582 section 4, ns-2)";
    /// Options of the recovery newreno-1999. The defaults are ns-2's until May 2003, and with both on it is ns-2 since.
    pub struct NewReno1999Options {
        /// Only the first partial ACK of a recovery restarts the retransmission timer (RFC 2582 section 3; ns-2's `newreno_changes1_`).
        pub impatient: bool = false,
        /// A partial ACK takes what it acknowledges off cwnd and adds a segment back (RFC 2582 section 3; ns-2's
        /// `partial_window_deflation_`), in place of all that duplicate ACKs have added.
        pub partial_deflation: bool = false,
    }
}

impl RecoveryFactory for NewReno1999Options {
    fn make(&self, config: &Config, _agreed: Agreed) -> Box<dyn Recovery> {
        Box::new(NewReno1999::new(config, *self))
    }
}
