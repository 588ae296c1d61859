//! Random exponential marking (Athuraliya, Low, Li and Yin 2001, "REM: Active Queue Management").

use bentpipe_units::bounded::{Above, AboveZero, Number};
use bentpipe_units::{Fault, Rate, Span, Time, options};

use super::admission::{Admission, Arrival, Decision, Gate};
use super::options::at_most;
use super::{Discipline, Packets, Scheme};
use crate::Stream;
use crate::ring::Ring;

options! {
    "rem", "random exponential marking: drops or marks by a price (Athuraliya et al. 2001)";
    /// Random exponential marking (Athuraliya, Low, Li and Yin 2001), in packets.
    pub struct RemOptions {
        /// The most packets that wait.
        pub limit: Packets,
        /// How much the price moves, above 0.
        #[serde(default = "RemOptions::usual_gamma", with = "Above::<0, 1_000_000>")]
        pub gamma: f64,
        /// Weight of the queue beside the rate, at least 0.
        #[serde(default = "RemOptions::usual_alpha", with = "Number::<0, 1_000_000>")]
        pub alpha: f64,
        /// Base of the probability, above 1.
        #[serde(default = "RemOptions::usual_phi", with = "Above::<1, 1_000_000>")]
        pub phi: f64,
        /// Queue that the price drives at.
        #[serde(default = "RemOptions::usual_target")]
        pub target: Packets,
        /// Time from one change of the price to the next, above zero.
        #[serde(default = "RemOptions::usual_interval", with = "AboveZero")]
        pub interval: Span,
        /// Mark packets that are ECN-capable instead of dropping them.
        #[serde(default)]
        pub ecn: bool,
    }
}

impl RemOptions {
    fn usual_gamma() -> f64 {
        0.001
    }

    fn usual_alpha() -> f64 {
        0.1
    }

    fn usual_phi() -> f64 {
        1.001
    }

    fn usual_target() -> Packets {
        Packets(20)
    }

    fn usual_interval() -> Span {
        Span::from_millis(2)
    }
}

impl Scheme for RemOptions {
    fn limit(&self) -> Packets {
        self.limit
    }

    fn draws(&self) -> bool {
        true
    }

    fn calm(&self, _: Rate) -> (u32, u64) {
        (self.target.0.min(self.limit.0), u64::MAX)
    }

    fn validate(&self) -> Result<(), Fault> {
        at_most("target", self.target, self.limit, "limit")
    }

    fn discipline(&self, rate: Rate, stream: Stream) -> Discipline {
        Discipline::OnArrival(Some(Box::new(Gate::new(Rem::new(self, rate), self.ecn, self.limit, stream))))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Rem {
    options: RemOptions,
    price: f64,
    /// Probability of a mark or a drop, by the price.
    probability: f64,
    /// Bytes that the link can send in an interval.
    capacity: f64,
    /// When the price changes next.
    due: Time,
    /// Packets and bytes that entered the queue in the interval under way.
    packets: u64,
    bytes: u64,
    /// Mean length in bytes of the packets of the last interval in which some entered.
    length: f64,
    /// Number of the first packet that had not begun service when this was last looked at.
    serving: u64,
}

impl Rem {
    pub(super) fn new(options: &RemOptions, rate: Rate) -> Rem {
        Rem {
            options: *options,
            price: 0.0,
            probability: 0.0,
            capacity: capacity(rate, options),
            due: Time::ZERO + options.interval,
            packets: 0,
            bytes: 0,
            length: 1.0,
            serving: 0,
        }
    }

    /// Changes the price as often as was due by `now`: nothing has come since the first time.
    fn catch_up(&mut self, now: Time, ring: &Ring) {
        while self.due <= now {
            let waiting = self.waiting_at(self.due, ring);
            self.change(f64::from(waiting), 1);
            self.due += self.options.interval;
            if waiting == 0 && self.due <= now {
                // The queue stays empty: all changes that are left are alike.
                let left = now.since(self.due).as_nanos() / self.options.interval.as_nanos() + 1;
                self.change(0.0, left);
                self.due += self.options.interval * left;
            }
        }
        self.probability = 1.0 - libm::pow(self.options.phi, -self.price);
    }

    /// p <- max(0, p + gamma (alpha (q - q*) + x - c)), so many times; x and c in packets an interval.
    fn change(&mut self, queue: f64, times: u64) {
        let options = &self.options;
        if self.packets > 0 {
            self.length = (self.bytes as f64 / self.packets as f64).max(1.0);
        }
        let excess = (self.bytes as f64 - self.capacity) / self.length;
        let backlog = options.alpha * (queue - f64::from(options.target.0));
        self.price = (self.price + times as f64 * options.gamma * (backlog + excess)).max(0.0);
        (self.packets, self.bytes) = (0, 0);
    }

    /// Packets waiting at a time that is not before the one of the last call. The link's own count may be ahead of it,
    /// because others ask for that.
    fn waiting_at(&mut self, at: Time, ring: &Ring) -> u32 {
        while self.serving < ring.tail && ring.get(self.serving).starts <= at {
            self.serving += 1;
        }
        (ring.tail - self.serving) as u32
    }
}

impl Admission for Rem {
    fn decide(&mut self, arrival: &Arrival, ring: &Ring, stream: &mut Stream) -> Decision {
        if self.due <= arrival.now {
            self.catch_up(arrival.now, ring);
        }
        // A later change of the price meets the packets that will not have begun service by now.
        self.waiting_at(arrival.now, ring);
        if stream.uniform() < self.probability { Decision::MarkOrDrop } else { Decision::Take }
    }

    fn on_taken(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    fn on_rate(&mut self, rate: Rate) {
        self.capacity = capacity(rate, &self.options);
    }
}

/// Bytes that the link can send in an interval.
fn capacity(rate: Rate, options: &RemOptions) -> f64 {
    rate.as_bps() as f64 / 8.0 * options.interval.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::Slot;

    /// 1000-byte packets, ten an interval of 10 ms.
    fn rem() -> Rem {
        let options = RemOptions {
            limit: Packets(100),
            gamma: 0.5,
            alpha: 0.1,
            phi: 1.5,
            target: Packets(20),
            interval: Span::from_millis(10),
            ecn: false,
        };
        Rem::new(&options, Rate::from_bps(8_000_000))
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn arrive(rem: &mut Rem, at: Time) {
        let arrival = Arrival { now: at, bytes: 1000, capable: false, waiting: 0, idle_packets: None };
        rem.decide(&arrival, &Ring::new(), &mut Stream::derive(1, "rem"));
        rem.on_taken(arrival.bytes);
    }

    #[test]
    fn the_price_follows_queue_and_rate() {
        let mut rem = rem();
        (rem.packets, rem.bytes) = (24, 24_000);
        // 0.5 (0.1 (30 - 20) + 24 - 10).
        rem.change(30.0, 1);
        assert_eq!(rem.price, 7.5);
        // Nothing came: 7.5 + 0.5 (0.1 (0 - 20) - 10).
        rem.change(0.0, 1);
        assert_eq!(rem.price, 1.5);
        rem.change(0.0, 1);
        assert_eq!(rem.price, 0.0);
        (rem.packets, rem.bytes) = (12, 12_000);
        rem.change(20.0, 1);
        assert_eq!(rem.price, 1.0);
    }

    #[test]
    fn the_probability_is_exponential_in_the_price() {
        let mut rem = rem();
        for _ in 0..24 {
            arrive(&mut rem, ms(9));
        }
        arrive(&mut rem, ms(10));
        // 0.5 (0.1 (0 - 20) + 24 - 10) = 6.
        assert_eq!(rem.price, 6.0);
        assert!((rem.probability - (1.0 - libm::pow(1.5, -6.0))).abs() < 1e-15);
    }

    #[test]
    fn a_long_silence_is_many_short_ones() {
        let prices = [1, 10].map(|steps| {
            let mut rem = rem();
            (rem.price, rem.length) = (100.0, 1000.0);
            for step in 1..=steps {
                rem.catch_up(ms(100 * step / steps), &Ring::new());
            }
            (rem.price, rem.due)
        });
        assert_eq!(prices[0], prices[1]);
        assert_eq!(prices[0], (100.0 - 10.0 * 6.0, ms(110)));
    }

    #[test]
    fn a_price_is_made_of_the_queue_at_its_own_time() {
        let (mut rem, mut ring) = (rem(), Ring::new());
        for starts in [1, 8, 12, 14, 16] {
            let slot = Slot { id: 0, bytes: 1000, offered: ms(0), starts: ms(starts), arrives: ms(90) };
            if ring.push(slot) {
                ring.grow();
            }
            rem.on_taken(1000);
        }
        rem.price = 50.0;
        // At 10 ms three waited, at 15 one does.
        rem.catch_up(ms(15), &ring);
        assert_eq!(rem.price, 50.0 + 0.5 * (0.1 * (3.0 - 20.0) + 5.0 - 10.0));
    }
}
