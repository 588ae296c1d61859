use super::duplicates::DuplicateAcks;
use super::{Context, Next, Outstanding, Recovery, RecoveryFactory, RecoveryState, Resend, options};
use crate::control::{Exit, Response};
use crate::{Agreed, Config};

/// Fast retransmit and fast recovery; the first ACK of new data ends it (RFC 5681 section 3.2, RFC 2581).
#[derive(Debug)]
pub struct Reno {
    options: RenoOptions,
    duplicates: DuplicateAcks,
    recovering: bool,
    inflates: bool,
}

impl Reno {
    /// A recovery with nothing outstanding.
    pub fn new(config: &Config, options: RenoOptions) -> Reno {
        let duplicates = DuplicateAcks::new(config, config.recover_guard);
        Reno { options, duplicates, recovering: false, inflates: false }
    }
}

impl Recovery for Reno {
    fn on_duplicate_ack(&mut self, cx: &mut Context<'_>) {
        if self.recovering {
            // RFC 5681 section 3.2 step 4: "cwnd MUST be incremented by SMSS" for each further duplicate.
            if self.inflates {
                cx.inflate(1);
                self.duplicates.count += 1;
            }
        } else if self.duplicates.reached(cx.una, cx.max) {
            self.recovering = true;
            self.inflates = self.duplicates.enter_as(cx, self.options.as_in_ns2) == Response::Reduced;
            if self.inflates {
                // Step 3: "cwnd set to ssthresh plus 3*SMSS".
                cx.inflate(self.duplicates.threshold);
            }
            self.duplicates.resend.at_once(cx.una);
        } else if self.options.as_in_ns2 {
            self.duplicates.inflate_refused(cx);
        }
    }

    fn on_new_ack(&mut self, cx: &mut Context<'_>, acked: u32) -> RecoveryState {
        self.duplicates.acknowledged(cx);
        if !self.recovering {
            self.duplicates.end_refused(cx);
            return RecoveryState::Open;
        }
        self.recovering = false;
        if self.options.each_loss {
            self.duplicates.forget_recover();
        }
        // Step 6: "set cwnd to ssthresh (the value set in step 2)".
        let cwnd = if self.inflates { cx.window().ssthresh } else { cx.window().cwnd };
        cx.exit(&Exit { flight: cx.flight(), acked, cwnd });
        match self.options.as_in_ns2 {
            true => RecoveryState::Open,
            false => RecoveryState::Recovering { restart_timer: true },
        }
    }

    fn flight_at_timeout(&self, cx: &Context<'_>) -> Option<u32> {
        let inflated = if self.recovering && self.inflates { self.duplicates.count } else { 0 };
        let inflation = inflated * cx.window().smss as u32 + self.duplicates.refused();
        Some(if self.options.as_in_ns2 { cx.window_to_halve(inflation) } else { cx.flight() })
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        self.recovering = false;
        self.duplicates.timed_out(cx);
    }

    fn in_recovery(&self) -> bool {
        self.recovering
    }

    fn is_idle(&self) -> bool {
        !self.recovering && self.duplicates.is_idle()
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
    "reno", "fast recovery that the first new ACK ends (RFC 2581)";
    /// Options of the recovery reno. The defaults are the RFC's.
    pub struct RenoOptions {
        /// Each loss of a window is repaired by a fast retransmit of its own, as in ns-2 until July 2003: `recover_guard` holds behind a
        /// timeout alone, and the end of a fast recovery forgets it.
        pub each_loss: bool = false,
        /// As ns-2's agent: a loss halves the window in whole segments in place of the flight size, the fast retransmit restarts the timer,
        /// the ACK that ends fast recovery opens cwnd as any other, and duplicates that `recover_guard` refuses inflate it.
        pub as_in_ns2: bool = false,
    }
}

impl RecoveryFactory for RenoOptions {
    fn make(&self, config: &Config, _agreed: Agreed) -> Box<dyn Recovery> {
        Box::new(Reno::new(config, *self))
    }
}
