//! What the controls that go by delay share: round trips, and the RTTs that come in them.

use bentpipe_units::Time;

use super::Ack;

/// A round trip: it ends with the ACK of what was sent when it began or later.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    began: Option<Time>,
    rtts: Rtts,
}

/// The RTTs of a round trip, in s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rtts {
    pub(super) count: u32,
    pub(super) least: f64,
    pub(super) sum: f64,
    pub(super) last: f64,
}

impl Default for Rtts {
    fn default() -> Rtts {
        Rtts { count: 0, least: f64::INFINITY, sum: 0.0, last: 0.0 }
    }
}

impl Rtts {
    pub(super) fn mean(&self) -> f64 {
        self.sum / f64::from(self.count)
    }
}

impl Round {
    /// An ACK that shows an RTT of `rtt` s; returns the RTTs of the round that it ends.
    pub(super) fn add(&mut self, ack: &Ack<'_>, rtt: f64) -> Option<Rtts> {
        let Rtts { count, least, sum, .. } = self.rtts;
        self.rtts = Rtts { count: count + 1, least: least.min(rtt), sum: sum + rtt, last: rtt };
        let ends = self.began.is_some_and(|began| ack.newest_sent_at().is_some_and(|sent| sent >= began));
        if !ends && self.began.is_some() {
            return None;
        }
        let rtts = std::mem::take(&mut self.rtts);
        self.began = Some(ack.now);
        ends.then_some(rtts)
    }

    /// What was measured so far says nothing of the window that is there now: begins again with the next ACK.
    pub(super) fn restart(&mut self) {
        *self = Round::default();
    }
}
