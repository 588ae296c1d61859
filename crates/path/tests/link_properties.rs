//! What holds of a link whatever is offered to it.

mod common;

use std::collections::VecDeque;

use bentpipe_path::{
    Fate, Label, Leaving, Link, LinkConfig, LinkStats, LossSpec, Offered, Passed, QueueSpec, Repair,
    Schedule, Stream,
};
use bentpipe_units::{Rate, Span, Time};
use common::{losses, managed_queues, packets, queues};
use proptest::prelude::*;

prop_compose! {
    fn configs()(
        bps in 10_000_u64..1_000_000_000,
        delay in 0_u64..300_000_000,
        efficiency in 0.1..=1.0,
        queue in queues(),
        loss in losses(),
    ) -> LinkConfig {
        LinkConfig { rate: Rate::from_bps(bps), delay: Span::from_nanos(delay), efficiency, queue, loss, schedule: Schedule::default(), repair: Repair::None }
    }
}

/// Gaps before the offers in units of one 1000-byte sending time, so that links are busy and idle by turns; sizes in bytes.
fn offers() -> impl Strategy<Value = Vec<(f64, u32)>> {
    prop::collection::vec(
        (prop_oneof![Just(0.0), 0.0..2.5, 0.0..100.0], prop_oneof![Just(1500), 0_u32..9000]),
        1..120,
    )
}

/// A driver that calls the link at the times that it asks for, and checks that these never go back.
struct Driver {
    link: Link,
    now: Time,
    delivered: Vec<(Time, Leaving)>,
}

impl Driver {
    fn run_until(&mut self, end: Time) {
        while self.link.next_time() <= end && self.link.next_time() != Time::NEVER {
            assert!(self.link.next_time() >= self.now, "time went back");
            self.now = self.link.next_time();
            let mut some = false;
            while let Some(delivery) = self.link.poll(self.now) {
                self.delivered.push((self.now, delivery));
                some = true;
            }
            assert!(some, "the link asked to be called for nothing");
        }
        self.now = end.min(Time::from_nanos(u64::MAX - 1));
    }
}

/// A packet of the plain model, which keeps everything and looks at everything.
struct Plain {
    bytes: u32,
    starts: Time,
    leaves: Time,
}

proptest! {
    #[test]
    fn a_link_does_what_a_plain_model_does(config in configs(), offers in offers()) {
        let rate = config.rate.scaled(config.efficiency);
        let unit = rate.time_to_send(1000).as_nanos() as f64;
        let link = Link::new(&config, Stream::derive(5, "link"));
        let mut driver = Driver { link, now: Time::ZERO, delivered: Vec::new() };
        let mut taken: Vec<Plain> = Vec::new();
        let mut expected = VecDeque::new();
        let (mut dropped, mut most_waiting) = (0, 0);
        let mut at = Time::ZERO;
        for (id, (gap, bytes)) in (0_u32..).zip(&offers) {
            at += Span::from_nanos((gap * unit) as u64);
            driver.run_until(at);
            let waiting: Vec<_> = taken.iter().filter(|p| p.starts > at).collect();
            let waiting_bytes: u64 = waiting.iter().map(|p| u64::from(p.bytes)).sum();
            let free = taken.last().map_or(Time::ZERO, |p| p.leaves);
            let (most_packets, most_bytes) = config.queue.room();
            let room = waiting.len() < most_packets as usize && waiting_bytes + u64::from(*bytes) <= most_bytes;
            let fits = free <= at || room;
            let waiting = waiting.len();
            prop_assert_eq!(driver.link.queue_packets(at) as usize, waiting);
            prop_assert_eq!(driver.link.queue_bytes(at), waiting_bytes);
            let offered = driver.link.offer(at, id, *bytes, Label::default);
            prop_assert_eq!(offered, if fits { Offered::Queued } else { Offered::Dropped });
            if fits {
                let starts = free.max(at);
                let leaves = starts + rate.time_to_send(u64::from(*bytes));
                most_waiting = most_waiting.max(waiting + usize::from(starts > at));
                taken.push(Plain { bytes: *bytes, starts, leaves });
                expected.push_back((leaves + config.delay, id, *bytes));
            } else {
                dropped += 1;
            }
            // Nothing is lost but what is counted, at any moment.
            let stats = driver.link.stats(at);
            let gone = stats.delivered_packets + stats.corrupted_packets + stats.dropped_packets;
            prop_assert_eq!(gone + driver.link.in_flight_packets() as u64, u64::from(id) + 1);
            prop_assert_eq!(stats.dropped_packets, dropped);
            prop_assert_eq!(stats.queue_max_packets as usize, most_waiting);
            prop_assert!(driver.link.queue_packets(at) <= most_packets && driver.link.queue_bytes(at) <= most_bytes);
        }
        driver.run_until(Time::NEVER);
        prop_assert_eq!(driver.link.in_flight_packets(), 0);
        let arrived: VecDeque<_> = driver.delivered.iter().map(|(t, d)| (*t, d.id, d.bytes)).collect();
        prop_assert_eq!(arrived, expected);
    }

    #[test]
    fn statistics_are_what_the_plain_model_adds_up(config in configs(), offers in offers()) {
        let rate = config.rate.scaled(config.efficiency);
        let unit = rate.time_to_send(1000).as_nanos() as f64;
        let mut link = Link::new(&config, Stream::derive(5, "link"));
        let mut at = Time::ZERO;
        let mut free = Time::ZERO;
        let mut spans = Vec::new();
        for (gap, bytes) in &offers {
            at += Span::from_nanos((gap * unit) as u64);
            if link.offer(at, 0, *bytes, Label::default) == Offered::Queued {
                let starts = free.max(at);
                free = starts + rate.time_to_send(u64::from(*bytes));
                spans.push((at, starts, free));
            }
        }
        let end = at + Span::from_nanos((unit / 3.0) as u64 + 1);
        let clipped = |from: Time, to: Time| to.min(end).since(from.min(end)).as_secs();
        let stats = link.stats(end);
        let busy: f64 = spans.iter().map(|(_, starts, leaves)| clipped(*starts, *leaves)).sum();
        let waits: f64 = spans.iter().map(|(came, starts, _)| clipped(*came, *starts)).sum();
        let delays: f64 = spans.iter().map(|(came, starts, _)| starts.since(*came).as_secs()).sum();
        prop_assert!((stats.utilization - busy / end.as_secs()).abs() < 1e-9);
        prop_assert!((0.0..=1.0).contains(&stats.utilization));
        prop_assert!((stats.queue_mean_packets - waits / end.as_secs()).abs() < 1e-6);
        prop_assert!((stats.queueing_delay_mean_s - delays / spans.len() as f64).abs() < 1e-6);
    }

    /// Over any stretch of deliveries, the bytes after the first take at least their time at the link's rate; half a
    /// nanosecond a packet is the rounding of sending times.
    #[test]
    fn a_link_never_sends_faster_than_its_rate(config in configs(), offers in offers()) {
        let link = Link::new(&config, Stream::derive(5, "link"));
        let mut driver = Driver { link, now: Time::ZERO, delivered: Vec::new() };
        for (id, (_, bytes)) in (0_u32..).zip(&offers) {
            driver.link.offer(Time::ZERO, id, *bytes, Label::default);
        }
        driver.run_until(Time::NEVER);
        let bps = config.rate.scaled(config.efficiency).as_bps() as f64;
        for (first, (start, _)) in driver.delivered.iter().enumerate() {
            let mut bits = 0.0;
            for (last, (time, delivery)) in driver.delivered.iter().enumerate().skip(first + 1) {
                bits += f64::from(delivery.bytes) * 8.0;
                let rounding = 0.5e-9 * (last - first) as f64 + 1e-12;
                prop_assert!(time.since(*start).as_secs() + rounding >= bits / bps * (1.0 - 1e-12));
            }
        }
    }

    /// Two runs that differ in timing alone see the same packets damaged.
    #[test]
    fn losses_depend_on_the_order_of_packets_only(config in configs(), offers in offers(), other_bps in 10_000_u64..1_000_000) {
        let damaged = |rate, spread| {
            let config = LinkConfig { rate, queue: QueueSpec::Unlimited, ..config.clone() };
            let mut driver = Driver {
                link: Link::new(&config, Stream::derive(5, "link")),
                now: Time::ZERO,
                delivered: Vec::new(),
            };
            for (id, (gap, bytes)) in (0_u32..).zip(&offers) {
                driver.run_until(driver.now + Span::from_nanos((gap * spread) as u64));
                driver.link.offer(driver.now, id, *bytes, Label::default);
            }
            driver.run_until(Time::NEVER);
            driver.delivered.iter().map(|(_, d)| (d.id, d.fate)).collect::<Vec<_>>()
        };
        prop_assert_eq!(damaged(config.rate, 1e6), damaged(Rate::from_bps(other_bps), 1e3));
    }
}

proptest! {
    /// To pass a packet is to offer it and to fetch it when it has arrived: the same times, the same losses, the same numbers.
    #[test]
    fn passing_is_offering_and_delivering(gaps in packets(), queue in managed_queues(), seed: u64) {
        let config = LinkConfig {
            rate: Rate::from_bps(8_000_000),
            delay: Span::from_millis(5),
            efficiency: 1.0,
            queue,
            loss: LossSpec::Packet { probability: 0.1 },
            schedule: Schedule::default(),
            repair: Repair::None,
        };
        let mut passing = Link::new(&config, Stream::derive(seed, "link"));
        let mut plain = Link::new(&config, Stream::derive(seed, "link"));
        let mut told = Vec::new();
        let mut delivered = Vec::new();
        let mut now = Time::ZERO;
        let (mut marked, mut was_marked) = (0, 0);
        for (gap, bytes) in gaps {
            let asked = now + Span::from_nanos(gap / 3);
            now += Span::from_nanos(gap);
            // Who asks how long the queue is changes nothing.
            plain.queue_packets(asked);
            while plain.next_time() <= now {
                let at = plain.next_time();
                let delivery = plain.poll(at).expect("its time has come");
                delivered.push((at, delivery.fate == Fate::Damaged));
            }
            match passing.pass(now, bytes, || Label { ecn_capable: bytes % 2 == 0, ..Label::default() }) {
                Passed::Arrives(at) => told.push((at, false)),
                Passed::Marked(at) => {
                    marked += 1;
                    told.push((at, false));
                }
                Passed::Corrupted(at) => told.push((at, true)),
                Passed::Dropped => {}
            }
            was_marked += u64::from(plain.offer(now, 7, bytes, || Label { ecn_capable: bytes % 2 == 0, ..Label::default() }) == Offered::Marked);
        }
        // A packet that is damaged too is not told to be marked.
        prop_assert!(marked <= was_marked && was_marked == plain.stats(now).marked_packets);
        // Stop while packets are under way, then let them arrive.
        prop_assert_eq!(passing.stats(now), plain.stats(now));
        while plain.next_time() != Time::NEVER {
            let at = plain.next_time();
            let delivery = plain.poll(at).expect("its time has come");
            delivered.push((at, delivery.fate == Fate::Damaged));
            now = at;
        }
        prop_assert_eq!(told, delivered);
        prop_assert_eq!(passing.stats(now), plain.stats(now));
    }

    /// What was brought to a link ahead of time does not count before its time has come.
    #[test]
    fn the_future_does_not_count(gaps in packets(), cut in 0usize..200) {
        let config = LinkConfig {
            rate: Rate::from_bps(8_000_000),
            delay: Span::from_millis(5),
            efficiency: 1.0,
            queue: QueueSpec::Unlimited,
            loss: LossSpec::None,
            schedule: Schedule::default(),
            repair: Repair::None,
        };
        let mut ahead = Link::new(&config, Stream::derive(1, "link"));
        let mut plain = Link::new(&config, Stream::derive(1, "link"));
        let cut = cut.min(gaps.len() - 1);
        let mut now = Time::ZERO;
        let mut end = Time::ZERO;
        for (index, (gap, bytes)) in gaps.into_iter().enumerate() {
            now += Span::from_nanos(gap + 1);
            ahead.offer(now, 7, bytes, Label::default);
            if index <= cut {
                plain.offer(now, 7, bytes, Label::default);
                end = now;
            }
        }
        for link in [&mut ahead, &mut plain] {
            while link.next_time() <= end {
                link.poll(link.next_time());
            }
        }
        let (ahead, plain) = (ahead.stats(end), plain.stats(end));
        // The most that ever waited is remembered from the future too: a run ends when its flows have nothing to send.
        prop_assert_eq!(LinkStats { queue_max_packets: plain.queue_max_packets, ..ahead }, plain);
    }
}
