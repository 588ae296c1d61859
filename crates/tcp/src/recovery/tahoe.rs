use super::duplicates::DuplicateAcks;
use super::{Context, Next, Outstanding, Recovery, RecoveryFactory, RecoveryState, Resend, options};
use crate::control::Response;
use crate::{Agreed, Config};

/// Fast retransmit, then slow start from one segment (Jacobson 1988; Fall and Floyd 1996 section 2).
#[derive(Debug)]
pub struct Tahoe {
    options: TahoeOptions,
    duplicates: DuplicateAcks,
}

impl Tahoe {
    /// A recovery with nothing outstanding.
    pub fn new(config: &Config, options: TahoeOptions) -> Tahoe {
        Tahoe { options, duplicates: DuplicateAcks::new(config, config.recover_guard) }
    }
}

impl Recovery for Tahoe {
    fn on_duplicate_ack(&mut self, cx: &mut Context<'_>) {
        if self.duplicates.reached(cx.una, cx.max) {
            if self.duplicates.enter_as(cx, self.options.as_in_ns2) == Response::Reduced {
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

    fn flight_at_timeout(&self, cx: &Context<'_>) -> Option<u32> {
        Some(if self.options.as_in_ns2 { cx.window_to_halve(0) } else { cx.flight() })
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

options! {
    "tahoe", "fast retransmit, then slow start from one segment (Jacobson 1988)";
    /// Options of the recovery tahoe.
    pub struct TahoeOptions {
        /// As ns-2's agents: a loss halves the window in whole segments in place of the flight size, and the fast retransmit restarts the
        /// timer.
        pub as_in_ns2: bool = false,
    }
}

impl RecoveryFactory for TahoeOptions {
    fn make(&self, config: &Config, _agreed: Agreed) -> Box<dyn Recovery> {
        Box::new(Tahoe::new(config, *self))
    }
}
