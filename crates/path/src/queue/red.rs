//! Random early detection (Floyd and Jacobson 1993, "Random Early Detection Gateways for Congestion Avoidance").

use bentpipe_units::bounded::Above;
use bentpipe_units::{Fault, Rate, fault, options};

use super::admission::{Admission, Arrival, Decision, Gate};
use super::options::{at_most, yes};
use super::{Discipline, Packets, Scheme};
use crate::Stream;
use crate::ring::Ring;

options! {
    "red", "random early detection: drops or marks by the average queue (Floyd, Jacobson 1993)";
    /// Random early detection (Floyd and Jacobson 1993), in packets.
    pub struct RedOptions {
        /// The most packets that wait.
        pub limit: Packets,
        /// Average queue below which nothing is dropped.
        pub min: Packets,
        /// Average queue at which the probability of a drop reaches `max_p`.
        pub max: Packets,
        /// Probability of a drop at an average queue of `max`, above 0, at most 1.
        #[serde(default = "RedOptions::usual_max_p", with = "Above::<0, 1>")]
        pub max_p: f64,
        /// Weight of the queue that a packet finds in the average, above 0, at most 1.
        #[serde(default = "RedOptions::usual_weight", with = "Above::<0, 1>")]
        pub weight: f64,
        /// Let the probability grow from `max_p` to 1 between `max` and twice `max` (Floyd 2000), instead of all at once.
        #[serde(default = "yes")]
        pub gentle: bool,
        /// Decide as ns-2 does: nothing is dropped early where fewer than two packets wait, nor is the first packet that could be.
        #[serde(default)]
        pub ns2: bool,
        /// Mark packets that are ECN-capable instead of dropping them.
        #[serde(default)]
        pub ecn: bool,
    }
}

impl RedOptions {
    fn usual_max_p() -> f64 {
        0.1
    }

    fn usual_weight() -> f64 {
        0.002
    }
}

impl Scheme for RedOptions {
    fn limit(&self) -> Packets {
        self.limit
    }

    fn draws(&self) -> bool {
        true
    }

    fn calm(&self, _: Rate) -> (u32, u64) {
        (self.min.0.min(self.limit.0), u64::MAX)
    }

    fn validate(&self) -> Result<(), Fault> {
        at_most("min", self.min, self.max, "max")?;
        if self.min == self.max {
            let max = self.max;
            return Err(fault!("more packets than min", "{max}").under("max"));
        }
        at_most("max", self.max, self.limit, "limit")
    }

    fn discipline(&self, _: Rate, stream: Stream) -> Discipline {
        Discipline::OnArrival(Some(Box::new(Gate::new(Red::new(self), self.ecn, self.limit, stream))))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Red {
    options: RedOptions,
    /// The average queue, in packets.
    average: f64,
    /// Packets since the last one that was dropped or marked; none while the average is below `min`.
    since: Option<u64>,
}

impl Red {
    pub(super) fn new(options: &RedOptions) -> Red {
        Red { options: *options, average: 0.0, since: None }
    }

    /// The average over the queue that a packet finds. Each packet that could have been sent while the link was idle counts
    /// as one that found the queue empty.
    fn observe(&mut self, waiting: u32, idle_packets: Option<f64>) {
        let weight = self.options.weight;
        self.average = match idle_packets {
            None => (1.0 - weight) * self.average + weight * f64::from(waiting),
            Some(packets) => self.average * libm::pow(1.0 - weight, packets),
        };
    }

    /// p_b, the probability by the average queue alone; none where every packet is dropped.
    fn base_probability(&self) -> Option<f64> {
        let (min, max) = (f64::from(self.options.min.0), f64::from(self.options.max.0));
        let max_p = self.options.max_p;
        if self.average < min {
            Some(0.0)
        } else if self.average < max {
            Some(max_p * (self.average - min) / (max - min))
        } else if self.options.gentle && self.average < 2.0 * max {
            Some(max_p + (1.0 - max_p) * (self.average - max) / max)
        } else {
            None
        }
    }
}

impl Admission for Red {
    fn decide(&mut self, arrival: &Arrival, _: &Ring, stream: &mut Stream) -> Decision {
        self.observe(arrival.waiting, arrival.idle_packets);
        let alone = self.options.ns2 && arrival.waiting < 2;
        if self.average < f64::from(self.options.min.0) || alone {
            self.since = None;
            return Decision::Take;
        }
        let Some(base) = self.base_probability() else {
            // RFC 3168 section 7: where every packet would be marked, it is dropped instead.
            self.since = Some(0);
            return Decision::Drop;
        };
        if self.options.ns2 && self.since.is_none() {
            self.since = Some(1);
            return Decision::Take;
        }
        let since = self.since.map_or(0, |since| since + 1);
        if stream.uniform() < spread(base, since) {
            self.since = Some(0);
            return Decision::MarkOrDrop;
        }
        self.since = Some(since);
        Decision::Take
    }

    /// A drop like any other.
    fn on_full(&mut self) {
        self.since = Some(0);
    }
}

/// p_a = p_b / (1 - count p_b): the gaps between drops are uniform over 1 to 1/p_b packets.
fn spread(base: f64, since: u64) -> f64 {
    let rest = 1.0 - since as f64 * base;
    if base < rest { base / rest } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use bentpipe_units::Time;

    use super::*;

    fn red(gentle: bool, weight: f64) -> Red {
        Red::new(&RedOptions {
            limit: Packets(50),
            min: Packets(5),
            max: Packets(15),
            max_p: 0.1,
            weight,
            gentle,
            ns2: false,
            ecn: false,
        })
    }

    fn arrival(waiting: u32) -> Arrival {
        Arrival { now: Time::ZERO, bytes: 1000, capable: false, waiting, idle_packets: None }
    }

    #[test]
    fn the_average_is_weighted_and_falls_while_the_link_is_idle() {
        let mut red = red(true, 0.25);
        red.observe(8, None);
        assert_eq!(red.average, 2.0);
        red.observe(4, None);
        assert_eq!(red.average, 2.5);
        red.observe(0, None);
        assert_eq!(red.average, 1.875);
        // Two packets could have been sent: 1.875 x 0.75 x 0.75.
        red.observe(0, Some(2.0));
        assert_eq!(red.average, 1.0546875);
        red.observe(0, Some(0.0));
        assert_eq!(red.average, 1.0546875);
        // Half a packet: the root of one step.
        red.observe(0, Some(0.5));
        assert!((red.average - 1.0546875 * 0.75_f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn the_probability_is_piecewise_linear_in_the_average() {
        let at = |average, gentle| Red { average, ..red(gentle, 0.002) }.base_probability();
        for (average, gentle, expected) in [
            (4.99, true, Some(0.0)),
            (5.0, true, Some(0.0)),
            (10.0, true, Some(0.05)),
            (15.0, true, Some(0.1)),
            (22.5, true, Some(0.55)),
            (30.0, true, None),
            (10.0, false, Some(0.05)),
            (15.0, false, None),
        ] {
            assert_eq!(at(average, gentle), expected, "{average} {gentle}");
        }
    }

    #[test]
    fn the_count_makes_the_gaps_uniform() {
        assert_eq!([0, 1, 2, 3, 4].map(|since| spread(0.25, since)), [0.25, 1.0 / 3.0, 0.5, 1.0, 1.0]);
        // With an average of 10 packets p_b is 1/20: gaps of 1 to 20 packets, 10.5 in the mean.
        let mut red = Red { average: 10.0, ..red(true, 1.0) };
        let mut stream = Stream::derive(1, "red");
        let (mut gap, mut gaps) = (0, Vec::new());
        for _ in 0..200_000 {
            gap += 1;
            if red.decide(&arrival(10), &Ring::new(), &mut stream) == Decision::MarkOrDrop {
                gaps.push(gap);
                gap = 0;
            }
        }
        assert!(gaps.iter().all(|gap| (1..=21).contains(gap)));
        let mean = 200_000.0 / gaps.len() as f64;
        // After a drop the count starts at 0 and is raised before the next decision: p_a of the first is 1/19, and the gaps
        // are uniform over 1 to 19. Standard deviation 5.5, over 20,000 gaps.
        assert!((mean - 10.0).abs() < 0.2, "{mean}");
        for length in 1..=19 {
            let share = gaps.iter().filter(|gap| **gap == length).count() as f64 / gaps.len() as f64;
            assert!((share - 1.0 / 19.0).abs() < 0.01, "{length}: {share}");
        }
    }

    #[test]
    fn below_min_nothing_is_dropped_and_above_max_everything_unless_gentle() {
        let mut stream = Stream::derive(1, "red");
        let mut low = Red { average: 4.0, ..red(true, 1.0) };
        assert!((0..1000).all(|_| low.decide(&arrival(4), &Ring::new(), &mut stream) == Decision::Take));
        let mut high = Red { average: 15.0, ..red(false, 1.0) };
        assert!((0..1000).all(|_| high.decide(&arrival(15), &Ring::new(), &mut stream) == Decision::Drop));
        let mut gentle = Red { average: 15.0, ..red(true, 1.0) };
        let decisions: Vec<_> =
            (0..1000).map(|_| gentle.decide(&arrival(15), &Ring::new(), &mut stream)).collect();
        assert!(decisions.contains(&Decision::Take) && decisions.contains(&Decision::MarkOrDrop));
    }

    /// Share of packets that are dropped, each the first one decided on by a RED in this state, at an average of 10 and so p_b = 1/2.
    fn dropped(state: &Red) -> f64 {
        let mut stream = Stream::derive(1, "red");
        let drops = (0..2000)
            .filter(|_| state.clone().decide(&arrival(10), &Ring::new(), &mut stream) != Decision::Take);
        drops.count() as f64 / 2000.0
    }

    fn half() -> Red {
        let red = red(true, 1.0);
        Red { average: 10.0, options: RedOptions { max_p: 1.0, ..red.options }, ..red }
    }

    /// The paper: "Initialization: count <- -1", and "count <- count + 1" before p_a.
    #[test]
    fn the_first_packet_above_min_has_a_count_of_0_and_the_first_after_a_drop_of_1() {
        let mut red = half();
        assert!((dropped(&red) - 0.5).abs() < 0.05);
        // A drop because the queue is full is one like any other: 1/2 / (1 - 1/2) = 1.
        red.on_full();
        assert_eq!(dropped(&red), 1.0);
    }

    /// The paper: below min_th "count <- -1".
    #[test]
    fn below_min_the_count_begins_anew() {
        let mut red = Red { since: Some(1), ..half() };
        assert_eq!(dropped(&red), 1.0);
        red.decide(&arrival(2), &Ring::new(), &mut Stream::derive(1, "red"));
        assert!((dropped(&red) - 0.5).abs() < 0.05);
    }

    #[test]
    fn where_every_packet_is_dropped_the_count_begins_at_0() {
        let mut red = Red { since: Some(7), ..half() };
        let every = red.decide(&arrival(30), &Ring::new(), &mut Stream::derive(1, "red"));
        assert_eq!((every, red.since), (Decision::Drop, Some(0)));
    }

    /// red.cc of ns-2.35: "qlen > 1", and the packet with which the average crosses min_th goes through with a count of 1.
    #[test]
    fn ns2_lets_a_lone_packet_pass_and_the_first_above_min() {
        let mut stream = Stream::derive(1, "red");
        let mut decide = |red: &mut Red, waiting| red.decide(&arrival(waiting), &Ring::new(), &mut stream);
        let still = |ns2| Red { options: RedOptions { ns2, weight: 1e-9, ..half().options }, ..half() };
        // An average of 10 with one packet waiting, or none.
        for waiting in [0, 1] {
            let mut red = still(true);
            assert!((0..100).all(|_| decide(&mut red, waiting) == Decision::Take));
            let mut paper = still(false);
            assert!((0..100).any(|_| decide(&mut paper, waiting) != Decision::Take));
        }
        // The first above min passes each time, and the next has a count of 2.
        for _ in 0..100 {
            let mut red = still(true);
            assert_eq!([decide(&mut red, 10), decide(&mut red, 10)], [Decision::Take, Decision::MarkOrDrop]);
            assert_eq!(red.since, Some(0));
        }
        let mut full = Red { average: 40.0, ..still(true) };
        assert_eq!([decide(&mut full, 1), decide(&mut full, 2)], [Decision::Take, Decision::Drop]);
    }
}
