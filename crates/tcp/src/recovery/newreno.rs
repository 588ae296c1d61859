use super::duplicates::DuplicateAcks;
use super::{Context, Next, Outstanding, Recovery, RecoveryFactory, RecoveryState, Resend, options};
use crate::control::{Exit, PartialAck, Response};
use crate::{Agreed, Config, Seq};

/// Fast recovery that lasts until the window of the loss is acknowledged and repairs a hole a round trip (RFC 6582).
#[derive(Debug)]
pub struct NewReno {
    duplicates: DuplicateAcks,
    phase: Option<Phase>,
}

#[derive(Clone, Copy, Debug)]
struct Phase {
    first_hole: Seq,
    recover: Seq,
    inflates: bool,
    partial_acks: u32,
}

impl NewReno {
    /// A recovery with nothing outstanding.
    pub fn new(config: &Config) -> NewReno {
        NewReno { duplicates: DuplicateAcks::new(config, true), phase: None }
    }
}

impl Recovery for NewReno {
    fn on_duplicate_ack(&mut self, cx: &mut Context<'_>) {
        if let Some(phase) = &self.phase {
            if phase.inflates {
                cx.inflate(1);
            }
        } else if self.duplicates.reached(cx.una, cx.max) {
            let inflates = self.duplicates.enter(cx) == Response::Reduced;
            if inflates {
                cx.inflate(self.duplicates.threshold);
            }
            self.phase = Some(Phase { first_hole: cx.una, recover: cx.max, inflates, partial_acks: 0 });
            self.duplicates.resend.at_once(cx.una);
        }
    }

    fn on_new_ack(&mut self, cx: &mut Context<'_>, acked: u32) -> RecoveryState {
        self.duplicates.acknowledged(cx);
        let Some(phase) = &mut self.phase else { return RecoveryState::Open };
        let flight = cx.flight();
        if cx.una >= phase.recover {
            // RFC 6582 section 3.2, full acknowledgment, option 1: "min (ssthresh, max(FlightSize, SMSS) + SMSS)".
            let smss = cx.window().smss;
            let cwnd = match phase.inflates {
                true => cx.window().ssthresh.min(f64::from(flight).max(smss) + smss),
                false => cx.window().cwnd,
            };
            let acked = cx.una - phase.first_hole;
            self.phase = None;
            cx.exit(&Exit { flight, acked, cwnd });
            return RecoveryState::Recovering { restart_timer: true };
        }
        if cx.lose_further(cx.una, phase.first_hole, phase.recover) == Response::Reduced {
            phase.inflates = true;
        }
        cx.partial_ack(&PartialAck { acked, flight, inflated: phase.inflates });
        self.duplicates.resend.at_once(cx.una);
        phase.partial_acks += 1;
        // "For the first partial ACK that arrives during fast recovery, also reset the retransmit timer."
        RecoveryState::Recovering { restart_timer: phase.partial_acks == 1 }
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
        self.duplicates.next(o)
    }

    fn phases(&self) -> u32 {
        self.duplicates.phases
    }
}

options! {
    "newreno", "fast recovery through partial ACKs, a hole a round trip (RFC 6582)";
    /// The choice of [`NewReno`], which has no options.
    pub struct NewRenoOptions;
}

impl RecoveryFactory for NewRenoOptions {
    fn make(&self, config: &Config, _agreed: Agreed) -> Box<dyn Recovery> {
        Box::new(NewReno::new(config))
    }
}
