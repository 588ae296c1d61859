use super::{Context, DuplicateAcks, Progress, Recovery};
use crate::Config;
use crate::control::Response;

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
                cx.control.start_over(cx.window);
                *cx.nxt = cx.una;
            }
            *cx.retransmit_now = Some(cx.una);
        }
    }

    fn on_new_ack(&mut self, _cx: &mut Context<'_>, _acked: u32) -> Progress {
        self.duplicates.count = 0;
        Progress::Open
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        self.duplicates.timed_out(cx.max);
    }

    fn in_recovery(&self) -> bool {
        false
    }

    fn is_idle(&self) -> bool {
        self.duplicates.count == 0
    }

    fn extra_window(&self, smss: u32) -> u32 {
        self.duplicates.extra_window(smss)
    }

    fn phases(&self) -> u32 {
        self.duplicates.phases
    }
}
