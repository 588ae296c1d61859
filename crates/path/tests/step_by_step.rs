//! A link step by step, held against the closed form, and against what must hold when it changes.

mod common;

use bentpipe_path::{
    ActiveSpec, Change, CodelOptions, DrrOptions, Fate, FqCodelOptions, InOutage, Label, Leaving, Link,
    LinkConfig, LossSpec, Offered, Packets, PriorityOptions, QueueSpec, Repair, Schedule, Stream, Victim,
};
use bentpipe_units::{Bytes, Rate, Span, Time};
use common::{losses, managed_queues, packets, queues};
use proptest::prelude::*;

fn config(queue: QueueSpec, loss: LossSpec, schedule: Vec<Change>) -> LinkConfig {
    LinkConfig {
        rate: Rate::from_bps(8_000_000),
        delay: Span::from_millis(5),
        efficiency: 1.0,
        queue,
        loss,
        schedule: Schedule::from(schedule),
        repair: Repair::None,
    }
}

/// Calls a link whenever it asks for it, until `end`.
fn drain(link: &mut Link, end: Time, out: &mut Vec<(Time, Leaving)>) {
    while link.next_time() <= end && link.next_time() != Time::NEVER {
        let now = link.next_time();
        out.extend(std::iter::from_fn(|| link.poll(now)).map(|leaving| (now, leaving)));
        assert!(link.next_time() > now, "it asks again for the same time");
    }
}

fn label(id: u32, bytes: u32) -> Label {
    Label { ecn_capable: bytes.is_multiple_of(2), flow: id % 5, class: (id % 8) as u8, low: id % 8 == 3 }
}

proptest! {
    /// Where the closed form holds, each step by itself comes to the same: deliveries, drops, marks and statistics.
    #[test]
    fn the_closed_form_is_the_sum_of_the_steps(
        gaps in packets(),
        queue in prop_oneof![queues(), managed_queues()],
        loss in losses(),
        efficiency in 0.1..=1.0,
        seed: u64,
        measured in 0_u32..60,
    ) {
        let config = LinkConfig { efficiency, ..config(queue, loss, vec![]) };
        let mut closed = Link::new(&config, Stream::derive(seed, "link"));
        let mut steps = Link::step_by_step(&config, Stream::derive(seed, "link"));
        prop_assert!(closed.is_closed() && !steps.is_closed());
        let (mut now, mut out) = (Time::ZERO, [vec![], vec![]]);
        for (id, (gap, bytes)) in (0_u32..).zip(gaps) {
            now += Span::from_nanos(gap);
            drain(&mut closed, now, &mut out[0]);
            drain(&mut steps, now, &mut out[1]);
            if id == measured {
                closed.measure_from(now);
                steps.measure_from(now);
            }
            prop_assert_eq!(closed.queue_packets(now), steps.queue_packets(now));
            prop_assert_eq!(closed.queue_bytes(now), steps.queue_bytes(now));
            let offered = closed.offer(now, id, bytes, || label(id, bytes));
            prop_assert_eq!(offered, steps.offer(now, id, bytes, || label(id, bytes)));
            prop_assert_eq!(closed.in_flight_packets(), steps.in_flight_packets());
            let (of_closed, of_steps) = (closed.stats(now), steps.stats(now));
            // What is going to be of those that wait is known to the closed form alone.
            let queueing_delay_mean_s = of_closed.queueing_delay_mean_s;
            prop_assert_eq!(of_closed, bentpipe_path::LinkStats { queueing_delay_mean_s, ..of_steps });
        }
        drain(&mut closed, Time::NEVER, &mut out[0]);
        drain(&mut steps, Time::NEVER, &mut out[1]);
        prop_assert_eq!(&out[0], &out[1]);
        let end = out[0].last().map_or(now, |(at, _)| *at).max(now);
        let (of_closed, of_steps) = (closed.stats(end), steps.stats(end));
        // Those that wait when a measurement begins count before it in closed form, and in it otherwise.
        let queueing_delay_mean_s = match measured {
            0 => of_steps.queueing_delay_mean_s,
            _ => of_closed.queueing_delay_mean_s,
        };
        prop_assert_eq!(of_closed, bentpipe_path::LinkStats { queueing_delay_mean_s, ..of_steps });
    }
}

proptest! {
    /// The same above 1 Gbit/s, where a packet takes a part of a nanosecond beside whole ones: all of them together take what the
    /// rate says.
    #[test]
    fn parts_of_a_nanosecond_go_on_to_the_next_packet(
        gbps in 1.0..1000.0,
        gaps in proptest::collection::vec((0_u64..60, 40_u32..1500), 1..200),
        queue in queues(),
        seed: u64,
    ) {
        let rate = Rate::from_bps((gbps * 1e9) as u64);
        let config = LinkConfig { rate, delay: Span::ZERO, ..config(queue, LossSpec::None, vec![]) };
        let mut closed = Link::new(&config, Stream::derive(seed, "link"));
        let mut steps = Link::step_by_step(&config, Stream::derive(seed, "link"));
        let (mut now, mut out) = (Time::ZERO, [vec![], vec![]]);
        let (mut busy_from, mut taken, mut ends) = (0, 0_u128, 0);
        for (id, (gap, bytes)) in (0_u32..).zip(gaps) {
            now += Span::from_nanos(gap);
            drain(&mut closed, now, &mut out[0]);
            drain(&mut steps, now, &mut out[1]);
            let offered = closed.offer(now, id, bytes, || label(id, bytes));
            prop_assert_eq!(offered, steps.offer(now, id, bytes, || label(id, bytes)));
            prop_assert_eq!(closed.queue_bytes(now), steps.queue_bytes(now));
            if offered == Offered::Dropped {
                continue;
            }
            if ends < now.as_nanos() {
                (busy_from, taken) = (now.as_nanos(), 0);
            }
            taken += u128::from(bytes) * 8_000_000_000;
            ends = busy_from + (taken / u128::from(rate.as_bps())) as u64;
            prop_assert_eq!(closed.last_ends(), Some(Time::from_nanos(ends)));
        }
        drain(&mut closed, Time::NEVER, &mut out[0]);
        drain(&mut steps, Time::NEVER, &mut out[1]);
        prop_assert_eq!(&out[0], &out[1]);
        let end = Time::from_nanos(ends.max(1));
        prop_assert_eq!(closed.stats(end).utilization, steps.stats(end).utilization);
    }
}

fn disciplines() -> impl Strategy<Value = QueueSpec> {
    let times = (1_u64..10, 1_u64..50)
        .prop_map(|(target, more)| (Span::from_millis(target), Span::from_millis(target + more)));
    let codel = (1_u32..40, times.clone(), any::<bool>()).prop_map(|(limit, (target, interval), ecn)| {
        ActiveSpec::Codel(CodelOptions {
            limit: Packets(limit),
            target,
            interval,
            mtu: Bytes::new(1500),
            ecn,
        })
    });
    let fair = (1_u32..40, 1_u32..8, 1_u64..3000, times, any::<bool>()).prop_map(
        |(limit, queues, quantum, (target, interval), ecn)| {
            let (limit, quantum) = (Packets(limit), Bytes::new(quantum));
            ActiveSpec::FqCodel(FqCodelOptions {
                limit,
                queues,
                quantum,
                target,
                interval,
                mtu: Bytes::new(1500),
                ecn,
            })
        },
    );
    let priority =
        (0_u32..40).prop_map(|limit| ActiveSpec::Priority(PriorityOptions { limit: Packets(limit) }));
    let rounds =
        (1_u32..40, 1_u64..3000, prop::option::of(1_u32..8), any::<bool>(), prop::option::of(0.1..9.0))
            .prop_map(|(limit, quantum, queues, oldest, alpha)| {
                let (limit, quantum) = (Packets(limit), Bytes::new(quantum));
                let drop = oldest.then_some(Victim::Oldest);
                ActiveSpec::Drr(DrrOptions { limit, quantum, queues, drop, alpha })
            });
    prop_oneof![
        queues(),
        managed_queues(),
        rounds.prop_map(QueueSpec::Active),
        codel.prop_map(QueueSpec::Active),
        fair.prop_map(QueueSpec::Active),
        priority.prop_map(QueueSpec::Active),
    ]
}

fn schedules() -> impl Strategy<Value = Vec<Change>> {
    let change = (
        1_u64..30_000_000,
        prop::option::of(100_000_u64..100_000_000),
        prop::option::of(0_u64..20_000_000),
        any::<bool>(),
        prop::option::of(losses()),
        prop::option::of((1_u64..20_000_000, any::<bool>())),
    );
    prop::collection::vec(change, 0..8).prop_map(|changes| {
        let mut at = Span::ZERO;
        changes
            .into_iter()
            .map(|(gap, rate, delay, overtake, loss, outage)| {
                at += Span::from_nanos(gap);
                let change = Change {
                    at,
                    // Something must change.
                    rate: Some(Rate::from_bps(rate.unwrap_or(5_000_000))),
                    delay: delay.map(Span::from_nanos),
                    overtake: delay.map(|_| overtake),
                    loss,
                    outage: outage.map(|(time, _)| Span::from_nanos(time)),
                    waiting: outage.map(|(_, lose)| if lose { InOutage::Lose } else { InOutage::Hold }),
                    repeat: None,
                };
                at += change.outage.unwrap_or_default();
                change
            })
            .collect()
    })
}

/// Nanoseconds times bit/s that a link could have sent in [0, `end`].
fn capacity(config: &LinkConfig, end: Time) -> f64 {
    let end = end.as_secs();
    let (mut bits, mut since, mut rate) = (0.0, 0.0, config.rate.as_bps() as f64);
    for change in config.schedule.0.iter() {
        let at = change.at.as_secs().min(end);
        bits += rate * (at - since);
        since = at;
        rate = change.rate.map_or(rate, |rate| rate.as_bps() as f64);
        if change.waiting == Some(InOutage::Hold) {
            since = (at + change.outage.unwrap_or_default().as_secs()).min(end);
        }
    }
    bits + rate * (end - since)
}

proptest! {
    /// Whatever changes: each packet leaves once, packets of a flow keep their order, and no more is sent than the rate allows.
    #[test]
    fn changes_lose_and_repeat_nothing(
        gaps in packets(),
        queue in disciplines(),
        schedule in schedules(),
        seed: u64,
    ) {
        let config = config(queue, LossSpec::None, schedule);
        prop_assert_eq!(config.schedule.validate(), Ok(()));
        let mut link = Link::step_by_step(&config, Stream::derive(seed, "link"));
        let (mut now, mut out, mut refused, mut lengths) = (Time::ZERO, vec![], vec![], vec![]);
        for (id, (gap, bytes)) in (0_u32..).zip(gaps) {
            now += Span::from_nanos(gap / 2);
            drain(&mut link, now, &mut out);
            lengths.push(bytes);
            if link.offer(now, id, bytes, || label(id, bytes)) == Offered::Dropped {
                refused.push(id);
            }
            let (max_packets, max_bytes) = config.queue.room();
            prop_assert!(link.queue_packets(now) <= max_packets && link.queue_bytes(now) <= max_bytes);
            let stats = link.stats(now);
            let gone = stats.delivered_packets + stats.corrupted_packets + stats.dropped_packets;
            let told = out.iter().filter(|(_, leaving)| leaving.fate == Fate::Dropped).count();
            let untold = stats.dropped_packets as usize - refused.len() - told;
            prop_assert_eq!(gone as usize + link.in_flight_packets() - untold, lengths.len());
            prop_assert!((0.0..=1.0).contains(&stats.utilization));
        }
        drain(&mut link, Time::NEVER, &mut out);
        prop_assert_eq!((link.in_flight_packets(), link.queue_packets(now), link.queue_bytes(now)), (0, 0, 0));
        let mut all: Vec<u32> = refused.clone();
        all.extend(out.iter().map(|(_, leaving)| leaving.id));
        all.sort_unstable();
        prop_assert_eq!(all, (0..lengths.len() as u32).collect::<Vec<_>>());
        let arrived = || out.iter().filter(|(_, leaving)| leaving.fate != Fate::Dropped);
        let overtakes = config.schedule.0.iter().any(|change| change.overtake == Some(true));
        // Flow 5k has the packets of one class each: id, id + 40 and so on share flow and class.
        let mut last = [None; 40];
        for (_, delivery) in arrived() {
            let last = &mut last[delivery.id as usize % 40];
            prop_assert!(overtakes || last.is_none_or(|last| last < delivery.id));
            *last = Some(delivery.id);
            prop_assert_eq!(delivery.bytes, lengths[delivery.id as usize]);
        }
        let (mut bits, mut count) = (0.0, 0.0);
        for (at, delivery) in arrived() {
            bits += f64::from(delivery.bytes) * 8.0;
            count += 1.0;
            // A packet, or the rest of one after a change, may be half a nanosecond early.
            let rounding = 1e-9 * 1e8 * (count + 20.0);
            prop_assert!(bits <= capacity(&config, *at) + rounding, "{} bits by {:?}", bits, at);
        }
    }
}

/// What becomes of packets of 1000 bytes, 1 ms each, that all come at 0: when each arrives in µs, and whether whole.
fn arrivals(schedule: Vec<Change>, many: u32) -> Vec<(u32, u64, bool)> {
    let mut link =
        Link::new(&config(QueueSpec::Unlimited, LossSpec::None, schedule), Stream::derive(1, "link"));
    (0..many).for_each(|id| {
        link.offer(Time::ZERO, id, 1000, Label::default);
    });
    let mut out = vec![];
    drain(&mut link, Time::NEVER, &mut out);
    out.into_iter()
        .map(|(at, leaving)| (leaving.id, at.as_nanos() / 1000, leaving.fate == Fate::Whole))
        .collect()
}

fn at(us: u64) -> Span {
    Span::from_nanos(us * 1000)
}

#[test]
fn a_new_rate_holds_for_the_rest_of_a_packet_too() {
    let halved = Change { at: at(1500), rate: Some(Rate::from_bps(4_000_000)), ..Change::default() };
    let doubled = Change { at: at(3500), rate: Some(Rate::from_bps(16_000_000)), ..Change::default() };
    // The second packet: half at 8 Mbit/s, half at 4. The third begins at 2.5 ms: half at 4, half at 16.
    let arrived = arrivals(vec![halved, doubled], 4);
    assert_eq!(arrived, [(0, 6000, true), (1, 7500, true), (2, 8750, true), (3, 9250, true)]);
}

#[test]
fn a_shorter_delay_lets_packets_overtake_only_where_it_says_so() {
    let nearer = |overtake| Change { at: at(1500), delay: Some(at(1000)), overtake, ..Change::default() };
    assert_eq!(
        arrivals(vec![nearer(None)], 4),
        [(0, 6000, true), (1, 6000, true), (2, 6000, true), (3, 6000, true)]
    );
    assert_eq!(arrivals(vec![nearer(None)], 7)[5..], [(5, 7000, true), (6, 8000, true)]);
    let overtaken = [(1, 3000, true), (2, 4000, true), (3, 5000, true), (0, 6000, true)];
    assert_eq!(arrivals(vec![nearer(Some(true))], 4), overtaken);
}

#[test]
fn an_outage_holds_what_waits_or_loses_it() {
    let outage = |waiting| Change { at: at(1500), outage: Some(at(2000)), waiting, ..Change::default() };
    // The second packet was half sent, and goes on at 3.5 ms.
    let held = [(0, 6000, true), (1, 9000, true), (2, 10_000, true), (3, 11_000, true), (4, 12_000, true)];
    assert_eq!(arrivals(vec![outage(None)], 5), held);
    let lost = [(0, 6000, true), (1, 7000, false), (2, 8000, false), (3, 9000, false), (4, 10_000, true)];
    assert_eq!(arrivals(vec![outage(Some(InOutage::Lose))], 5), lost);
}

#[test]
fn a_held_link_is_not_busy_and_its_queue_is_limited() {
    let outage = Change { at: at(500), outage: Some(at(2000)), ..Change::default() };
    let mut link =
        Link::new(&config(QueueSpec::Packets(1), LossSpec::None, vec![outage]), Stream::derive(1, "link"));
    let offer = |link: &mut Link, us, id| link.offer(Time::ZERO + at(us), id, 1000, Label::default);
    assert_eq!(offer(&mut link, 1000, 0), Offered::Queued);
    assert_eq!(offer(&mut link, 1000, 1), Offered::Dropped);
    assert_eq!(link.next_time(), Time::ZERO + at(2500));
    let mut out = vec![];
    drain(&mut link, Time::NEVER, &mut out);
    assert_eq!(out.len(), 1);
    assert_eq!(out[0].0, Time::ZERO + at(3500 + 5000));
    // 1 of 10 ms; 1.5 ms of waiting.
    let stats = link.stats(Time::ZERO + at(10_000));
    assert_eq!(
        (stats.utilization, stats.queue_mean_packets, stats.queueing_delay_mean_s),
        (0.1, 0.15, 1.5e-3)
    );
}

#[test]
fn losses_change_with_what_is_sent() {
    let none = Change { at: at(3500), loss: Some(LossSpec::None), ..Change::default() };
    let all = Change { at: at(1500), loss: Some(LossSpec::Packet { probability: 1.0 }), ..Change::default() };
    let whole: Vec<bool> = arrivals(vec![all, none], 5).into_iter().map(|(_, _, whole)| whole).collect();
    assert_eq!(whole, [true, false, false, true, true]);
}

#[test]
fn the_delays_of_a_schedule_are_none_while_nothing_gets_through() {
    let nearer = Change { at: at(2000), delay: Some(at(1000)), ..Change::default() };
    let outage = |us, waiting| Change { at: at(us), outage: Some(at(500)), waiting, ..Change::default() };
    let slower = Change { at: at(5500), rate: Some(Rate::from_bps(1)), ..Change::default() };
    let schedule =
        Schedule::from(vec![outage(1000, None), nearer, outage(4000, Some(InOutage::Lose)), slower]);
    let delays = schedule.delays(at(5000), Time::ZERO).into_iter();
    let delays: Vec<_> = delays.map(|(at, delay)| (at.as_nanos() / 1000, delay)).collect();
    let expected =
        [(1000, None), (1500, Some(at(5000))), (2000, Some(at(1000))), (4000, None), (4500, Some(at(1000)))];
    assert_eq!(delays, expected);
}

#[test]
fn a_schedule_that_repeats_begins_anew() {
    let slow = Change { at: at(2000), rate: Some(Rate::from_bps(4_000_000)), ..Change::default() };
    let fast = Change { at: at(0), rate: Some(Rate::from_bps(8_000_000)), ..Change::default() };
    let again = Change { at: at(4000), repeat: Some(true), ..Change::default() };
    // Of each 4 ms, 2 at 1 ms a packet and 2 at 2 ms a packet, and 5 ms on the way.
    let arrived: Vec<u64> = arrivals(vec![fast, slow, again], 9).into_iter().map(|(_, at, _)| at).collect();
    assert_eq!(arrived, [6000, 7000, 9000, 10_000, 11_000, 13_000, 14_000, 15_000, 17_000]);
}

#[test]
fn an_outage_that_repeats_may_end_where_the_schedule_does() {
    let outage = Change { at: at(1000), outage: Some(at(1000)), ..Change::default() };
    let again = Change { at: at(2000), repeat: Some(true), ..Change::default() };
    let schedule = Schedule::from(vec![outage.clone(), again.clone()]);
    assert_eq!(schedule.validate(), Ok(()));
    let arrived: Vec<u64> = arrivals(schedule.0.to_vec(), 3).into_iter().map(|(_, at, _)| at).collect();
    assert_eq!(arrived, [6000, 8000, 10_000]);
    let delays = schedule.delays(at(5), Time::ZERO + at(4000)).into_iter();
    let delays: Vec<_> = delays.map(|(at, delay)| (at.as_nanos() / 1000, delay.is_some())).collect();
    assert_eq!(delays, [(1000, false), (2000, true), (3000, false), (4000, true)]);
    let changes: Vec<Span> = schedule.changes().take(3).map(|(at, _)| at).collect();
    assert_eq!(changes, [at(1000), at(3000), at(5000)]);
}

proptest! {
    /// A schedule that repeats does what the same changes do, written down one round after the other.
    #[test]
    fn a_round_is_like_the_one_before(changes in schedules(), rest in 1_u64..5_000_000, many in 1_u32..120) {
        let end = changes.iter().map(|change| change.at + change.outage.unwrap_or_default()).max();
        let period = end.unwrap_or_default() + Span::from_nanos(rest);
        let mut written = Vec::new();
        for round in 0..60 {
            let later = |change: &Change| Change { at: change.at + period * round, ..change.clone() };
            written.extend(changes.iter().map(later));
        }
        let again = Change { at: period, repeat: Some(true), ..Change::default() };
        let repeated: Vec<Change> = changes.into_iter().chain([again]).collect();
        prop_assert_eq!(Schedule::from(repeated.clone()).validate(), Ok(()));
        let (found, expected) = (arrivals(repeated, many), arrivals(written, many));
        let told = expected.iter().take_while(|(_, at, _)| at * 1000 < period.as_nanos() * 60).count();
        prop_assert_eq!(&found[..told], &expected[..told]);
    }
}

#[test]
fn impossible_schedules_name_the_change_and_the_key() {
    let change =
        |ms| Change { at: Span::from_millis(ms), rate: Some(Rate::from_bps(1)), ..Change::default() };
    let outage = |ms, long| Change { outage: Some(Span::from_millis(long)), ..change(ms) };
    let repeat = |ms| Change { at: Span::from_millis(ms), repeat: Some(true), ..Change::default() };
    for (changes, place, message) in [
        (
            vec![change(5), change(5)],
            1,
            "at: expected a time after that of the change before (5 ms), found 5 ms",
        ),
        (
            vec![change(5), Change::default()],
            1,
            "at: expected a time after that of the change before (5 ms), found 0 ns",
        ),
        (vec![Change::default()], 0, "at: needs rate, delay, loss or outage beside it"),
        (
            vec![outage(5, 10), outage(14, 1)],
            1,
            "outage: begins at 14 ms, before the end of the last outage (15 ms)",
        ),
        (vec![Change { overtake: Some(true), ..change(1) }], 0, "overtake: needs delay beside it"),
        (vec![Change { waiting: Some(InOutage::Hold), ..change(1) }], 0, "waiting: needs outage beside it"),
        (
            vec![change(1), repeat(2), change(3)],
            1,
            "repeat: there are changes behind it, and none comes after it",
        ),
        (
            vec![outage(1, 5), repeat(2)],
            1,
            "repeat: begins anew at 2 ms, before the end of the last outage (6 ms)",
        ),
        (
            vec![Change { repeat: Some(true), ..change(1) }],
            0,
            "repeat: cannot be combined with another key than at",
        ),
        (vec![repeat(0)], 0, "at: expected a time above zero, from which on it repeats, found 0 s"),
        (
            vec![Change { repeat: Some(false), ..Change::default() }],
            0,
            "at: needs rate, delay, loss or outage beside it",
        ),
    ] {
        let error = Schedule::from(changes).validate().unwrap_err();
        assert_eq!(error.to_string(), format!("[{place}].{message}"));
    }
    assert_eq!(Schedule::from(vec![outage(5, 10), outage(15, 1)]).validate(), Ok(()));
}
