//! Snoop's repair: what is lost behind the agent, by duplicate acknowledgments and by the agent's own timer (Balakrishnan, Seshan and
//! Katz, "Improving reliable transport and handoff performance in cellular wireless networks", Wireless Networks 1(4), 1995, section 3).

use bentpipe_units::Time;

use super::cache::Cache;
use super::desk::{Desk, Local};
use super::rtt::LocalRtt;
use super::segment::Emission;

/// What a flow's agent awaits of the receiver.
#[derive(Clone, Debug)]
pub(super) struct Repair {
    pub(super) local: Local,
    pub(super) cache: Cache,
    pub(super) rtt: LocalRtt,
    /// Duplicates that are still to come for what was sent behind the packet that was sent again.
    expected: u32,
    /// When the timer expires.
    due: Time,
}

impl Repair {
    pub(super) fn new(local: Local) -> Repair {
        Repair { local, cache: Cache::default(), rtt: LocalRtt::NEW, expected: 0, due: Time::NEVER }
    }

    pub(super) fn due(&self) -> Time {
        self.due
    }

    /// Whether so many more bytes may be kept.
    pub(super) fn has_room(&self, payload: u32) -> bool {
        self.cache.bytes() + u64::from(payload) <= self.local.cache
    }

    /// The timer runs from now, if it does not run.
    pub(super) fn start_timer(&mut self, now: Time) {
        if self.due == Time::NEVER {
            self.due = now + self.rtt.timeout(&self.local);
        }
    }

    pub(super) fn stop_timer(&mut self) {
        self.due = Time::NEVER;
    }

    /// The sender has seen to it: what comes is as if nothing had been sent again.
    pub(super) fn forget_duplicates(&mut self) {
        self.expected = 0;
        self.rtt.sent_again();
    }

    /// The receiver has acknowledged what lies before `una`, which is news.
    pub(super) fn acknowledged(&mut self, now: Time, una: u64, desk: &mut Desk) {
        self.cache.release(una, &mut desk.places);
        self.rtt.acknowledged(now, una);
        self.expected = 0;
        self.stop_timer();
        if !self.cache.is_empty() {
            self.start_timer(now);
        }
    }

    /// A duplicate acknowledgment of the first packet. The first one, and each that is not expected, sends that packet again;
    /// then one is expected for each packet that was sent behind it before, of which this is the first.
    pub(super) fn duplicate(&mut self, now: Time, desk: &mut Desk) {
        match self.expected.checked_sub(1) {
            Some(fewer) => self.expected = fewer,
            None => {
                self.expected = (self.cache.entries().count() as u32).saturating_sub(2);
                self.resend(now, desk);
            }
        }
    }

    /// Sends the first packet again, unless that was tried too often.
    pub(super) fn resend(&mut self, now: Time, desk: &mut Desk) {
        self.rtt.sent_again();
        self.stop_timer();
        let Some(entry) = self.cache.first().filter(|entry| entry.tries < self.local.retries) else { return };
        entry.tries += 1;
        entry.sent = now;
        desk.tally.local_retransmissions += 1;
        desk.out.push_back(Emission::Copy(entry.copy, None));
        self.start_timer(now);
    }

    /// Whether the first packet was sent again as often as may be.
    pub(super) fn exhausted(&mut self) -> bool {
        let retries = self.local.retries;
        self.cache.first().is_some_and(|entry| entry.tries >= retries)
    }
}
