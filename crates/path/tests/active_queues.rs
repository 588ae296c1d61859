//! Queues that are managed actively, under load.

use bentpipe_path::{
    ActiveSpec, Change, Fate, Label, Link, LinkConfig, LinkStats, LossSpec, Offered, Packets, QueueSpec,
    RedOptions, RemOptions, Repair, Schedule, Stream,
};
use bentpipe_units::{Rate, Span, Time};

/// 1000-byte packets take 1 ms.
fn link(queue: QueueSpec, loss: LossSpec) -> Link {
    let (rate, delay) = (Rate::from_bps(8_000_000), Span::from_millis(10));
    Link::new(
        &LinkConfig {
            rate,
            delay,
            efficiency: 1.0,
            queue,
            loss,
            schedule: Schedule::default(),
            repair: Repair::None,
        },
        Stream::derive(1, "link"),
    )
}

fn red(ecn: bool) -> RedOptions {
    RedOptions {
        limit: Packets(50),
        min: Packets(5),
        max: Packets(15),
        max_p: 0.1,
        weight: 0.002,
        gentle: true,
        ns2: false,
        ecn,
    }
}

fn rem(ecn: bool) -> RemOptions {
    RemOptions {
        limit: Packets(100),
        gamma: 0.005,
        alpha: 0.1,
        phi: 1.001,
        target: Packets(20),
        interval: Span::from_millis(2),
        ecn,
    }
}

/// Offers packets at random, `load` times what the link carries, and counts from a third of the way on.
fn loaded(link: &mut Link, load: f64, packets: u32, capable: bool) -> LinkStats {
    let mut arrivals = Stream::derive(2, "arrivals");
    let (mut now, mut waiting) = (Time::ZERO, 0.0);
    for id in 0..packets {
        now += Span::from_nanos((-libm::log(1.0 - arrivals.uniform()) * 1e6 / load) as u64);
        while link.next_time() <= now {
            link.poll(link.next_time());
        }
        if id >= packets / 3 {
            waiting += f64::from(link.queue_packets(now));
        }
        link.offer(now, id, 1000, || Label { ecn_capable: capable, ..Label::default() });
    }
    LinkStats { queue_mean_packets: waiting / f64::from(packets - packets / 3), ..link.stats(now) }
}

#[test]
fn red_keeps_the_mean_queue_between_min_and_max() {
    for load in [1.03, 1.1, 1.15] {
        let spec = QueueSpec::Active(ActiveSpec::Red(red(false)));
        let stats = loaded(&mut link(spec, LossSpec::None), load, 150_000, true);
        assert!((5.0..15.0).contains(&stats.queue_mean_packets), "load {load}: {stats:?}");
        assert_eq!((stats.dropped_packets, stats.marked_packets), (stats.early_dropped_packets, 0));
        // What is too much is dropped; where the average lags behind the queue, a little more.
        assert!(stats.utilization > 0.95, "load {load}: {stats:?}");
        let dropped = stats.dropped_packets as f64 / 150_000.0;
        assert!((dropped - (1.0 - stats.utilization / load)).abs() < 0.01, "load {load}: {stats:?}");
    }
}

#[test]
fn rem_drives_the_queue_to_its_target_and_the_rate_to_capacity() {
    for load in [1.05, 1.2] {
        let spec = QueueSpec::Active(ActiveSpec::Rem(rem(false)));
        let stats = loaded(&mut link(spec, LossSpec::None), load, 300_000, true);
        assert!((stats.queue_mean_packets - 20.0).abs() < 2.0, "load {load}: {stats:?}");
        assert!(stats.utilization > 0.97, "load {load}: {stats:?}");
        let dropped = stats.dropped_packets as f64 / 300_000.0;
        assert!((dropped - (1.0 - stats.utilization / load)).abs() < 0.01, "load {load}: {stats:?}");
    }
}

#[test]
fn capable_packets_are_marked_and_others_dropped() {
    let red =
        |ecn, limit| QueueSpec::Active(ActiveSpec::Red(RedOptions { limit: Packets(limit), ..red(ecn) }));
    // Below capacity, where marks alone keep nothing away: bursts raise the average over min now and then.
    let run = |queue, capable| loaded(&mut link(queue, LossSpec::None), 0.9, 100_000, capable);
    let (dropping, marking, incapable) =
        (run(red(false, 200), true), run(red(true, 200), true), run(red(true, 200), false));
    assert!(dropping.early_dropped_packets > 100 && dropping.marked_packets == 0, "{dropping:?}");
    assert!(marking.dropped_packets == 0 && marking.marked_packets > 100, "{marking:?}");
    assert_eq!(incapable, dropping);
    // A full queue drops what it would have marked, and an average above twice max drops too.
    let full = loaded(&mut link(red(true, 16), LossSpec::None), 1.5, 20_000, true);
    assert!(full.dropped_packets > full.early_dropped_packets && full.marked_packets > 0, "{full:?}");
    let flooded = loaded(&mut link(red(true, 200), LossSpec::None), 1.5, 20_000, true);
    assert!(flooded.early_dropped_packets > 1000 && flooded.marked_packets > 0, "{flooded:?}");
}

#[test]
fn losses_are_the_same_with_any_queue() {
    let lost = |queue| {
        let mut link = link(queue, LossSpec::Packet { probability: 0.2 });
        let mut lost = Vec::new();
        for id in 0..2000_u32 {
            let now = Time::ZERO + Span::from_nanos(u64::from(id) * 1_000_000);
            while link.next_time() <= now {
                lost.extend(link.poll(link.next_time()).map(|delivery| delivery.fate == Fate::Damaged));
            }
            assert_ne!(link.offer(now, id, 1000, Label::default), Offered::Dropped);
        }
        lost
    };
    let plain = lost(QueueSpec::Unlimited);
    assert!(plain.contains(&true));
    assert_eq!(lost(QueueSpec::Active(ActiveSpec::Red(red(false)))), plain);
    assert_eq!(lost(QueueSpec::Active(ActiveSpec::Rem(rem(true)))), plain);
}

/// A link at twice the rate, which falls to what it is at once, treats each packet as one that had that rate from the start.
#[test]
fn a_new_rate_is_heard_by_the_price_of_rem() {
    let run = |schedule: Vec<Change>, mbps: u64| {
        let config = LinkConfig {
            rate: Rate::from_bps(mbps * 1_000_000),
            delay: Span::from_millis(10),
            efficiency: 1.0,
            queue: QueueSpec::Active(ActiveSpec::Rem(rem(false))),
            loss: LossSpec::None,
            schedule: Schedule::from(schedule),
            repair: Repair::None,
        };
        let stats = loaded(&mut Link::step_by_step(&config, Stream::derive(1, "link")), 1.2, 20_000, false);
        (stats.early_dropped_packets, stats.dropped_packets, stats.delivered_packets)
    };
    let rate = Some(Rate::from_bps(8_000_000));
    let change = Change { at: Span::from_nanos(1), rate, ..Change::default() };
    let constant = run(vec![], 8);
    assert!(constant.0 > 1000, "{constant:?}");
    assert_eq!(run(vec![change], 16), constant);
}

/// The paper's RED drops more than ns-2's, most where few packets wait.
#[test]
fn with_the_rules_of_ns2_fewer_packets_are_dropped() {
    let drops = |ns2, load: f64| {
        let queue = QueueSpec::Active(ActiveSpec::Red(RedOptions { ns2, ..red(false) }));
        loaded(&mut link(queue, LossSpec::None), load, (200_000.0 * load) as u32, false).dropped_packets
            as f64
    };
    for (load, least, most) in [(0.9, 0.4, 0.75), (1.05, 0.85, 0.92), (1.2, 0.93, 0.97)] {
        let share = drops(true, load) / drops(false, load);
        assert!((least..most).contains(&share), "{load}: {share}");
    }
}
