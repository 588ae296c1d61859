use schemars::JsonSchema;
use serde::Deserialize;

use super::{Context, DuplicateAcks, Next, Outstanding, Recovery, RecoveryFactory, RecoveryState, Resend};
use crate::control::Response;
use crate::{Agreed, Config, Named};

/// Fast retransmit, then slow start from one segment (Jacobson 1988; Fall and Floyd 1996 section 2).
#[derive(Debug)]
pub struct Tahoe {
    duplicates: DuplicateAcks,
}

impl Tahoe {
    /// A recovery with nothing outstanding.
    pub fn new(config: &Config) -> Tahoe {
        Tahoe { duplicates: DuplicateAcks::new(config, config.recover_guard) }
    }
}

impl Recovery for Tahoe {
    fn on_duplicate_ack(&mut self, cx: &mut Context<'_>) {
        if self.duplicates.reached(cx.una, cx.max) {
            if self.duplicates.enter(cx) == Response::Reduced {
                cx.start_over();
                self.duplicates.resend.go_back(cx.una);
            }
            self.duplicates.resend.at_once(cx.una);
        }
    }

    fn on_new_ack(&mut self, cx: &mut Context<'_>, _acked: u32) -> RecoveryState {
        self.duplicates.acknowledged(cx);
        RecoveryState::Open
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        self.duplicates.timed_out(cx);
    }

    fn in_recovery(&self) -> bool {
        false
    }

    fn is_idle(&self) -> bool {
        self.duplicates.is_idle()
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

/// The choice of [`Tahoe`], which has no options.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
pub struct TahoeOptions;

impl Named for TahoeOptions {
    const NAME: &'static str = "tahoe";
    const SUMMARY: &'static str = "fast retransmit, then slow start from one segment (Jacobson 1988)";
}

impl RecoveryFactory for TahoeOptions {
    fn make(&self, config: &Config, _agreed: Agreed) -> Box<dyn Recovery> {
        Box::new(Tahoe::new(config))
    }
}
