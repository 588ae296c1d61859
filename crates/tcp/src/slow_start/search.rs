//! SEARCH, slow start exit at the right chokepoint (draft-chung-ccwg-search-09): `search`.

use bentpipe_units::bounded::{Above, Number};
use bentpipe_units::{Span, Time};

use super::{SlowStart, SlowStartFactory, options};
use crate::control::{Ack, Window};

/// Bins of a window (W), and further ones that let it be looked at an RTT ago (`EXTRA_BINS`).
const BINS: u64 = 10;
const EXTRA_BINS: u64 = 15;
/// As many as are looked at: from the bin before the window of an RTT ago to the newest.
const KEPT: usize = (BINS + EXTRA_BINS + 1) as usize;

options! {
    "search", "SEARCH: slow start ends once less is delivered than was sent an RTT before (draft-chung-ccwg-search-09)";
    /// Options of the slow start search.
    pub struct SearchOptions {
        /// How long the window is that deliveries are counted in, in first round-trip times (`WINDOW_SIZE`), above 0 to 100.
        #[serde(with = "Above::<0, 100>")]
        pub window: f64 = 3.5,
        /// The share of what was sent in a window that is missing from what was delivered an RTT later, from which on slow start ends
        /// (`THRESH`), 0 to 1.
        #[serde(with = "Number::<0, 1>")]
        pub threshold: f64 = 0.26,
        /// Bring cwnd down to what was delivered in the first round-trip time's length before slow start ends.
        pub drain: bool = true,
    }
}

impl SlowStartFactory for SearchOptions {
    fn make(&self) -> Box<dyn SlowStart> {
        Box::new(Search { options: *self, state: State::Idle })
    }

    fn phases(&self) -> &'static [&'static str] {
        &["drain"]
    }
}

/// Slow start until what is delivered stays behind what was sent an RTT before.
///
/// Both are counted in bins of a tenth of the window; the check is made where a bin ends. Then cwnd drains: each ACK takes off half of what
/// it acknowledges, so that half of the rate goes out, until cwnd is what the path holds with an empty queue.
#[derive(Clone, Debug)]
pub struct Search {
    options: SearchOptions,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Before the first RTT sample, and again after a timeout or a pause.
    Idle,
    Looking(Box<Bins>),
    /// Down to so many bytes.
    Draining(f64),
    /// Slow start has ended; growth below a later ssthresh is RFC 5681's until a timeout.
    Over,
}

/// Bytes sent and delivered since the connection began, as they were at the end of each bin.
#[derive(Clone, Debug)]
struct Bins {
    first_rtt: Span,
    duration: Span,
    ends: Time,
    newest: u64,
    sent: [u64; KEPT],
    delivered: [u64; KEPT],
}

impl Bins {
    fn new(first_rtt: Span, window: f64, ack: &Ack<'_>) -> Option<Bins> {
        let duration = Span::from_secs(first_rtt.as_secs() * window / BINS as f64);
        let mut bins = Bins {
            first_rtt,
            duration,
            ends: ack.now + duration,
            newest: 0,
            sent: [0; KEPT],
            delivered: [0; KEPT],
        };
        bins.put(ack);
        (duration > Span::ZERO).then_some(bins)
    }

    fn put(&mut self, ack: &Ack<'_>) {
        let slot = self.newest as usize % KEPT;
        self.delivered[slot] = ack.delivered();
        self.sent[slot] = ack.delivered() + u64::from(ack.flight);
    }

    /// Ends the bins that are over by `ack`; a bin in which none came has what the one before has. None when so many are over that they
    /// say nothing of now.
    fn pass(&mut self, ack: &Ack<'_>) -> Option<()> {
        let passed = ack.now.since(self.ends).as_nanos() / self.duration.as_nanos() + 1;
        if passed > BINS {
            return None;
        }
        let last = self.newest as usize % KEPT;
        for _ in 1..passed {
            self.newest += 1;
            let slot = self.newest as usize % KEPT;
            (self.sent[slot], self.delivered[slot]) = (self.sent[last], self.delivered[last]);
        }
        self.newest += 1;
        self.ends += self.duration * passed;
        self.put(ack);
        Some(())
    }

    fn sent_between(&self, from: u64, to: u64) -> f64 {
        // A hole that is filled takes off what was counted twice, as delivered and as outstanding.
        self.sent[to as usize % KEPT].saturating_sub(self.sent[from as usize % KEPT]) as f64
    }

    fn delivered_between(&self, from: u64, to: u64) -> f64 {
        (self.delivered[to as usize % KEPT] - self.delivered[from as usize % KEPT]) as f64
    }

    /// The share of what was sent in the window that ended an RTT ago that the last window has not delivered; none while there is too
    /// little to look at, or the RTT is too long to look back.
    ///
    /// An RTT ago lies between the ends of two bins as a rule: what was sent is interpolated towards the earlier.
    fn missing(&self, rtt: Span) -> Option<f64> {
        let back = rtt.as_nanos() / self.duration.as_nanos();
        let before = self.newest.checked_sub(back).filter(|&before| before > BINS && back < EXTRA_BINS)?;
        let share = (rtt.as_nanos() % self.duration.as_nanos()) as f64 / self.duration.as_nanos() as f64;
        let later = self.sent_between(before - BINS, before);
        let sooner = self.sent_between(before - BINS - 1, before - 1);
        let sent = sooner * share + later * (1.0 - share);
        let delivered = self.delivered_between(self.newest - BINS, self.newest);
        (sent > 0.0).then(|| (sent - delivered).max(0.0) / sent)
    }

    /// What the path holds with an empty queue: delivered in as many bins as the first RTT fills.
    fn empty_path(&self) -> f64 {
        let bins = self.first_rtt.as_nanos().div_ceil(self.duration.as_nanos());
        self.delivered_between(self.newest.saturating_sub(bins), self.newest)
    }
}

impl Search {
    /// Goes by an ACK while it is looking; gives what cwnd is to drain to when slow start is to end.
    fn look(&mut self, w: &Window, ack: &Ack<'_>) -> Option<f64> {
        let rtt = ack.rtt()?;
        let State::Looking(bins) = &mut self.state else {
            let bins = Bins::new(rtt, self.options.window, ack);
            self.state = bins.map_or(State::Idle, |bins| State::Looking(Box::new(bins)));
            return None;
        };
        if ack.now <= bins.ends {
            return None;
        }
        if bins.pass(ack).is_none() {
            self.state = State::Idle;
            return None;
        }
        bins.missing(rtt).filter(|&missing| missing >= self.options.threshold)?;
        Some(if self.options.drain { bins.empty_path().clamp(2.0 * w.smss, w.cwnd) } else { w.cwnd })
    }
}

impl SlowStart for Search {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, growth: f64) {
        let target = match self.state {
            State::Over => {
                w.cwnd += growth;
                return;
            }
            State::Draining(target) => target,
            _ => match self.look(w, ack) {
                None => {
                    w.cwnd += growth;
                    return;
                }
                Some(target) => {
                    self.state = State::Draining(target);
                    target
                }
            },
        };
        if w.cwnd > target {
            w.cwnd = (w.cwnd - f64::from(ack.acked) / 2.0).max(target);
        }
        if w.cwnd <= target {
            w.ssthresh = target;
            self.state = State::Over;
        }
    }

    fn on_timeout(&mut self) {
        self.state = State::Idle;
    }

    fn phase(&self, w: &Window) -> Option<&'static str> {
        (w.in_slow_start() && matches!(self.state, State::Draining(_))).then_some("drain")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Record;
    use crate::control::test_acks::at;

    #[test]
    fn a_silence_of_more_than_a_window_says_nothing_of_now() {
        let record = Record::default();
        let ack = |ms| Ack { now: at(ms), ..Ack::new(&record) };
        // Bins of 35 ms.
        let passes =
            |ms| Bins::new(Span::from_millis(100), 3.5, &ack(0)).and_then(|mut bins| bins.pass(&ack(ms)));
        assert_eq!([384, 385].map(passes), [Some(()), None]);
    }
}
