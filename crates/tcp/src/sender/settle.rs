//! What follows when the recovery, a timer or the peer was heard.

use bentpipe_units::Time;

use super::Sender;
use super::asked::DummiesLeft;
use super::send_path::SendPath;
use super::timers::Persist;
use crate::Spacing;
use crate::recovery::{Context, Recovery};

impl Sender {
    /// Tells the recovery of something; [`Sender::settle`] is due when all is told.
    pub(super) fn with_recovery<T>(
        &mut self,
        now: Time,
        call: impl FnOnce(&mut dyn Recovery, &mut Context<'_>) -> T,
    ) -> T {
        let mut cx = Context {
            now,
            una: self.una,
            max: self.max,
            rwnd: self.peer.rwnd,
            echoed: self.echoed,
            restarts_timer: false,
            window: &mut self.window,
            control: &mut *self.control,
            slow_start: self.start_listens.then_some(&mut *self.slow_start),
            reductions: &mut self.reductions,
            record: &mut self.record,
            rtt: &self.rtt,
        };
        call(&mut *self.recovery, &mut cx)
    }

    /// What follows from something that a part of the sender was told: who paces, which way data goes, and the timer beside the retransmission timer.
    pub(super) fn settle(&mut self) {
        if self.start_listens {
            self.hear_start();
        }
        self.send_path = self.find_send_path();
        self.note_dummies();
        self.note_other_timer();
    }

    fn find_send_path(&self) -> SendPath {
        let waits = self.timers.persist != Persist::Off || self.timers.after_mark;
        let alone = !waits && !self.start_listens && !self.groups.has_bursts();
        if !(alone && self.recovery.is_idle() && self.record.board().is_empty()) {
            SendPath::ByRecovery
        } else if self.paced {
            if self.paces_plainly() { SendPath::Paced } else { SendPath::ByRecovery }
        } else if self.minds_room() || self.rtt.is_linux() {
            SendPath::Plain
        } else {
            SendPath::Plainest
        }
    }

    /// Asks whether the slow start listens, and whether anybody paces.
    #[cold]
    pub(super) fn hear_start(&mut self) {
        self.start_listens = self.slow_start.listens();
        let has_rate = self.asked.paces || (self.start_listens && self.slow_start.paces());
        if !has_rate {
            self.window.pacing_rate = f64::INFINITY;
        }
        self.paced = has_rate || self.window.spacing != Spacing::Off;
        self.pacing.holds_back &= self.paced;
    }

    pub(super) fn note_other_timer(&mut self) {
        let release = if self.pacing.holds_back { self.pacing.release() } else { Time::NEVER };
        let awaited = self.dummies == DummiesLeft::Awaited;
        let dummy = if awaited { self.next_dummy() } else { Time::NEVER };
        self.timers.other = self.recovery.next_timeout().min(release).min(dummy);
    }
}
