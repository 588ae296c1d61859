//! Hybrid slow start as Linux has it beside CUBIC: `hystart`.

use bentpipe_units::bounded::Number;
use bentpipe_units::{Span, Time};

use super::{SlowStart, SlowStartFactory, options};
use crate::Growth;
use crate::control::{Ack, Window};

/// `HYSTART_MIN_SAMPLES`: RTT samples of a round that are not judged yet.
const SAMPLES: u32 = 8;
/// `HYSTART_DELAY_MIN` and `HYSTART_DELAY_MAX`: how much above the connection's smallest RTT that of a round has to be, at least and at
/// most, and as a share of the smallest.
const LEAST_RISE: Span = Span::from_millis(4);
const MOST_RISE: Span = Span::from_millis(16);
const RISE_DIVISOR: u64 = 8;
/// `hystart_ack_delay`: the time that four of the largest bursts (`gso_max_size`) take at twice the rate of a window an RTT, at most a
/// millisecond.
const BURSTS: f64 = 4.0 * 65_536.0;
const MOST_BURST_DELAY: Span = Span::from_millis(1);

options! {
    "hystart", "HyStart: slow start ends once ACKs come in a long train or the RTT rises (Ha and Rhee 2008, Linux's tcp_cubic)";
    /// Options of the slow start hystart: the parameters of Linux's module `tcp_cubic` with their defaults.
    pub struct HyStartOptions {
        /// End slow start when the ACKs of a round come as a train that is longer than half of the smallest RTT (`hystart_detect`, bit 0).
        pub ack_train: bool = true,
        /// End slow start when the smallest RTT of a round is above that of the connection by an eighth, 4 to 16 ms (`hystart_detect`, bit 1).
        pub delay: bool = true,
        /// The window from which on either may end it, in segments (`hystart_low_window`), 0 to 1,000,000.
        #[serde(with = "Number::<0, 1_000_000>")]
        pub low_window: f64 = 16.0,
        /// The longest time between two ACKs of a train (`hystart_ack_delta_us`).
        pub ack_delta: Span = Span::from_millis(2),
        /// Look at nothing below the low window, not at the ends of rounds either: Linux 5.16 to 6.13, which began rounds too late (mended by
        /// 25c1a9ca53db in January 2025).
        pub late_rounds: bool = false,
    }
}

impl SlowStartFactory for HyStartOptions {
    fn make(&self) -> Box<dyn SlowStart> {
        Box::new(HyStart { options: *self, seen: Seen::default() })
    }
}

/// Slow start that ends where one of two signs tells that the path is full: no cwnd is lost, only ssthresh is found.
///
/// Once it has ended, growth below ssthresh is RFC 5681's until a timeout. Linux goes by ACKs that do not open cwnd too; this hears of none.
#[derive(Clone, Copy, Debug)]
pub struct HyStart {
    options: HyStartOptions,
    seen: Seen,
}

/// What it has seen since the connection or the last timeout.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    found: bool,
    /// The smallest RTT, and a smoothed one for the rate.
    smallest: Option<Span>,
    smoothed: Option<Span>,
    round: Round,
}

#[derive(Clone, Copy, Debug, Default)]
struct Round {
    began: Time,
    /// The last ACK of the train that the round began with.
    train: Time,
    smallest: Option<Span>,
    samples: u32,
}

impl HyStart {
    /// Whether it has ended slow start.
    pub fn found(&self) -> bool {
        self.seen.found
    }

    /// Whether the ACKs of this round have come in a train for half of the smallest RTT; for all of it where data is paced, which draws
    /// a train out to that half.
    fn train_is_long(&mut self, w: &Window, now: Time, smallest: Span) -> bool {
        let round = &mut self.seen.round;
        if now.since(round.train) > self.options.ack_delta {
            return false;
        }
        round.train = now;
        let srtt = self.seen.smoothed.unwrap_or(smallest).as_secs();
        let burst = Span::from_secs(BURSTS * srtt / (2.0 * w.cwnd)).min(MOST_BURST_DELAY);
        let whole = smallest + burst;
        now.since(round.began) > if w.is_paced() { whole } else { whole / 2 }
    }

    /// Whether the RTT of this round lies above the smallest.
    fn rtt_has_risen(&mut self, rtt: Span, smallest: Span) -> bool {
        let round = &mut self.seen.round;
        let least = round.smallest.map_or(rtt, |least| least.min(rtt));
        round.smallest = Some(least);
        if round.samples < SAMPLES {
            round.samples += 1;
            return false;
        }
        least > smallest + (smallest / RISE_DIVISOR).clamp(LEAST_RISE, MOST_RISE)
    }
}

impl SlowStart for HyStart {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, growth: f64) {
        if self.seen.found {
            w.cwnd += growth;
            return;
        }
        if let Some(rtt) = ack.rtt() {
            let seen = &mut self.seen;
            let smallest = seen.smallest.map_or(rtt, |smallest| smallest.min(rtt));
            seen.smallest = Some(smallest);
            seen.smoothed = Some(seen.smoothed.map_or(rtt, |smoothed| smoothed - smoothed / 8 + rtt / 8));
            let large = w.cwnd >= self.options.low_window * w.smss;
            let ended = ack.newest_sent_at().is_some_and(|sent| sent >= seen.round.began);
            if ended && (large || !self.options.late_rounds) {
                seen.round = Round { began: ack.now, train: ack.now, ..Round::default() };
            }
            if large {
                let long = self.options.ack_train && self.train_is_long(w, ack.now, smallest);
                let risen = self.options.delay && self.rtt_has_risen(rtt, smallest);
                if long || risen {
                    self.seen.found = true;
                    w.ssthresh = w.cwnd;
                    if w.growth != Growth::Delivered {
                        return;
                    }
                }
            }
        }
        w.cwnd += growth;
    }

    fn on_timeout(&mut self) {
        self.seen = Seen::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::test_acks::{at, reported, window};

    #[test]
    fn a_rise_at_less_than_16_segments_is_not_looked_at() {
        for (segments, found) in [(15.0, false), (16.0, true)] {
            let seen = Seen { smallest: Some(Span::from_millis(50)), ..Seen::default() };
            let mut hystart = HyStart { options: HyStartOptions::default(), seen };
            let record = reported(1000, 100, 1000);
            for _ in 0..20 {
                let ack = Ack { now: at(1000), ..Ack::new(&record) };
                hystart.on_ack(&mut window(segments, f64::INFINITY), &ack, 0.0);
            }
            assert_eq!(hystart.found(), found);
        }
    }

    #[test]
    fn a_timeout_forgets_what_was_found() {
        let mut hystart =
            HyStart { options: HyStartOptions::default(), seen: Seen { found: true, ..Seen::default() } };
        SlowStart::on_timeout(&mut hystart);
        assert!(!hystart.found());
    }
}
