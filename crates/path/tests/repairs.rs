//! Links that repair their losses, held against what RFC 3366 and a block code say.

mod common;

use bentpipe_path::{
    ArqSpec, Attempts, Change, Fate, FecSpec, InOutage, Label, Leaving, Link, LinkConfig, LinkStats,
    LossSpec, Offered, QueueSpec, Repair, Schedule, Stream,
};
use bentpipe_units::{Bytes, Rate, Span, Time};
use common::{losses, managed_queues, packets, queues};
use proptest::prelude::*;

/// 1000 bytes take 1 ms, and 5 ms to the far end.
fn config(loss: LossSpec, repair: Repair) -> LinkConfig {
    LinkConfig {
        rate: Rate::from_bps(8_000_000),
        delay: Span::from_millis(5),
        efficiency: 1.0,
        queue: QueueSpec::Unlimited,
        loss,
        schedule: Schedule::default(),
        repair,
    }
}

fn link(config: &LinkConfig) -> Link {
    Link::new(config, Stream::derive(1, "link"))
}

fn arq(attempts: Attempts, in_order: bool) -> Repair {
    Repair::Arq(ArqSpec { attempts, in_order, turnaround: Span::from_millis(2) })
}

fn fec(data: u32, parity: u32, in_order: bool) -> Repair {
    Repair::Fec(FecSpec::Packets { data, parity, wait: Some(Span::from_millis(20)), in_order })
}

fn dropping(packets: &[u64]) -> LossSpec {
    LossSpec::Drop { packets: packets.to_vec(), at_least: Bytes::default() }
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Calls a link whenever it asks for it, until `end`.
fn drain(link: &mut Link, end: Time, out: &mut Vec<(Time, Leaving)>) {
    while link.next_time() <= end && link.next_time() != Time::NEVER {
        let now = link.next_time();
        out.extend(std::iter::from_fn(|| link.poll(now)).map(|leaving| (now, leaving)));
        assert!(link.next_time() > now, "it asks again for the same time");
    }
}

/// What becomes of packets of 1000 bytes that all come at 0: when each arrives in ms, and whether whole.
fn arrivals(config: &LinkConfig, many: u32) -> (Vec<(u32, u64, bool)>, LinkStats) {
    let mut link = link(config);
    (0..many).for_each(|id| {
        link.offer(Time::ZERO, id, 1000, Label::default);
    });
    let mut out = vec![];
    drain(&mut link, Time::NEVER, &mut out);
    let end = out.last().map_or(Time::ZERO, |(at, _)| *at);
    let rows =
        out.iter().map(|(at, leaving)| (leaving.id, at.as_nanos() / 1_000_000, leaving.fate == Fate::Whole));
    (rows.collect(), link.stats(end))
}

#[test]
fn arq_sends_again_when_two_delays_and_the_turnaround_are_over() {
    // Packet 1 is sent at 1 to 2 ms; known at 14 ms, again until 15, there at 20.
    let (arrived, stats) = arrivals(&config(dropping(&[2]), arq(Attempts::AtMost(2), true)), 4);
    assert_eq!(arrived, [(0, 6, true), (1, 20, true), (2, 20, true), (3, 20, true)]);
    let repair = stats.repair.unwrap();
    assert_eq!((repair.retransmitted_frames, repair.recovered_packets, repair.parity_frames), (1, 1, 0));
    // Packet 2 was there at 8 ms.
    assert_eq!(repair.order_wait_max_s, 0.012);
    assert_eq!((stats.delivered_packets, stats.corrupted_packets, stats.utilization), (4, 0, 0.25));
    let (arrived, stats) = arrivals(&config(dropping(&[2]), arq(Attempts::AtMost(2), false)), 4);
    assert_eq!(arrived, [(0, 6, true), (2, 8, true), (3, 9, true), (1, 20, true)]);
    assert_eq!(stats.repair.unwrap().order_wait_max_s, 0.0);
}

#[test]
fn a_frame_that_is_sent_again_goes_before_those_that_wait() {
    // Packet 14 is being sent when packet 1 is known to be lost: it waits for it and for nothing else.
    let (arrived, stats) = arrivals(&config(dropping(&[2]), arq(Attempts::Unlimited, false)), 20);
    let at = |id| arrived.iter().find(|row| row.0 == id).unwrap().1;
    assert_eq!([at(13), at(1), at(14), at(19)], [19, 20, 21, 26]);
    assert_eq!(stats.queueing_delay_mean_s, (0..14).chain(15..21).sum::<u32>() as f64 / 20.0 * 1e-3);
}

#[test]
fn a_frame_is_given_up_after_its_last_attempt_and_holds_nobody_any_longer() {
    // The drop list counts frames: 2 is packet 1, 5 and 6 are its second and third attempt.
    let lost = dropping(&[2, 5, 6]);
    let (arrived, stats) = arrivals(&config(lost.clone(), arq(Attempts::AtMost(3), true)), 4);
    assert_eq!(arrived, [(0, 6, true), (1, 33, false), (2, 33, true), (3, 33, true)]);
    assert_eq!((stats.corrupted_packets, stats.repair.unwrap().retransmitted_frames), (1, 2));
    // What was given up was not recovered.
    assert_eq!(stats.repair.unwrap().recovered_packets, 0);
    let (arrived, stats) = arrivals(&config(lost, arq(Attempts::Unlimited, true)), 4);
    assert_eq!(arrived, [(0, 6, true), (1, 46, true), (2, 46, true), (3, 46, true)]);
    assert_eq!((stats.corrupted_packets, stats.repair.unwrap().retransmitted_frames), (0, 3));
    assert_eq!(stats.repair.unwrap().recovered_packets, 1);
}

#[test]
fn what_is_lost_in_an_outage_is_sent_again_after_it() {
    let outage = |waiting| {
        let outage = Change {
            at: Span::from_millis(1),
            outage: Some(Span::from_millis(30)),
            waiting: Some(waiting),
            ..Change::default()
        };
        let schedule = Schedule::from(vec![outage]);
        LinkConfig { schedule, ..config(dropping(&[1]), arq(Attempts::Unlimited, true)) }
    };
    // Packet 0 is lost at 1, 14 and 27 ms, packet 1 a millisecond later each time; then the outage is over.
    let lose = arrivals(&outage(InOutage::Lose), 2).0;
    assert_eq!(lose, [(0, 45, true), (1, 46, true)]);
    // Packet 0 is lost at 1 ms, when the link stops; it goes on at 31 ms with what it knows to be lost.
    let hold = arrivals(&outage(InOutage::Hold), 2).0;
    assert_eq!(hold, [(0, 38, true), (1, 38, true)]);
}

#[test]
fn a_block_gives_what_it_lost_when_enough_of_it_is_there() {
    // Packets are sent until 3 ms, parity until 4 and 5. The first of parity is there at 9 ms, the second at 10.
    let code = |packets: &[u64], in_order| arrivals(&config(dropping(packets), fec(3, 2, in_order)), 3);
    let (arrived, stats) = code(&[2], true);
    assert_eq!(arrived, [(0, 6, true), (1, 9, true), (2, 9, true)]);
    let repair = stats.repair.unwrap();
    assert_eq!((repair.parity_frames, repair.recovered_packets, repair.retransmitted_frames), (2, 1, 0));
    assert_eq!(repair.order_wait_max_s, 0.001);
    assert_eq!(code(&[2], false).0, [(0, 6, true), (2, 8, true), (1, 9, true)]);
    assert_eq!(code(&[2, 3], true).0, [(0, 6, true), (1, 10, true), (2, 10, true)]);
    assert_eq!(code(&[2, 4], true).0, [(0, 6, true), (1, 10, true), (2, 10, true)]);
    // Three of five are too many: that is known when the last of the three is missed, and nobody waits any longer.
    let (arrived, stats) = code(&[1, 2, 4], true);
    assert_eq!(arrived, [(0, 9, false), (1, 9, false), (2, 9, true)]);
    assert_eq!((stats.delivered_packets, stats.corrupted_packets), (1, 2));
    assert_eq!(code(&[1, 2, 3], true).0, [(0, 8, false), (1, 8, false), (2, 8, false)]);
}

#[test]
fn parity_goes_before_those_that_wait_and_is_as_long_as_the_longest_of_its_block() {
    let mut link = link(&config(LossSpec::None, fec(2, 1, true)));
    for (id, bytes) in [(0, 2000), (1, 1000), (2, 500), (3, 500)] {
        assert_eq!(link.offer(Time::ZERO, id, bytes, Label::default), Offered::Queued);
    }
    let mut out = vec![];
    drain(&mut link, Time::NEVER, &mut out);
    // 2 + 1 ms, parity of 2 ms, 0.5 + 0.5 ms.
    let times: Vec<_> = out.iter().map(|(at, leaving)| (leaving.id, at.as_nanos() / 100_000)).collect();
    assert_eq!(times, [(0, 70), (1, 80), (2, 105), (3, 110)]);
    assert_eq!(link.stats(ms(13)).utilization, 0.5);
}

#[test]
fn a_block_that_nobody_fills_is_closed_when_its_time_is_over() {
    let spaced = |repair| {
        let mut link = link(&config(dropping(&[2]), repair));
        let mut out = vec![];
        for id in 0..3 {
            drain(&mut link, ms(8 * id), &mut out);
            link.offer(ms(8 * id), id as u32, 1000, Label::default);
        }
        drain(&mut link, Time::NEVER, &mut out);
        let stats = link.stats(ms(60));
        let rows: Vec<_> = out.iter().map(|(at, leaving)| (leaving.id, at.as_nanos() / 1_000_000)).collect();
        (rows, stats.repair.unwrap().parity_frames)
    };
    // The block begins at 0 and is closed at 20 ms, with three packets in it; the first of parity is there at 26 ms.
    assert_eq!(spaced(fec(10, 2, true)), (vec![(0, 6), (1, 26), (2, 26)], 2));
    // As long as ten packets of 1500 B take: 15 ms, so that packet 2, at 16 ms, is in a block of its own.
    let usual = FecSpec::Packets { data: 10, parity: 1, wait: None, in_order: true };
    assert_eq!(spaced(Repair::Fec(usual)), (vec![(0, 6), (1, 21), (2, 22)], 2));
}

/// The usual time of a block is made for packets of 1500 B, and packets may be longer.
#[test]
fn a_busy_link_fills_its_blocks_whatever_the_length_of_its_packets() {
    let parity = |bytes, wait| {
        let repair = FecSpec::Packets { data: 20, parity: 4, wait, in_order: true };
        let mut link = link(&config(LossSpec::None, Repair::Fec(repair)));
        (0..200).for_each(|id| {
            link.offer(Time::ZERO, id, bytes, Label::default);
        });
        drain(&mut link, Time::NEVER, &mut vec![]);
        link.stats(ms(10_000)).repair.unwrap().parity_frames
    };
    for bytes in [40, 1500, 3000, 9000] {
        assert_eq!(parity(bytes, None), 40, "{bytes}");
    }
    // A time that was given ends a block also where packets wait: two of 9 ms are begun within 15 ms.
    assert_eq!(parity(9000, Some(Span::from_millis(15))), 400);
}

/// Five standard deviations of a sum of `n` with this variance each.
fn within(found: f64, mean: f64, variance: f64, n: f64) {
    let room = 5.0 * (n * variance).sqrt();
    assert!((found - n * mean).abs() < room, "{found}, expected {} +- {room}", n * mean);
}

#[test]
fn unlimited_arq_delivers_all_with_one_over_one_less_p_transmissions_each() {
    for p in [0.01, 0.1, 0.5] {
        let loss = LossSpec::Packet { probability: p };
        let (arrived, stats) = arrivals(&config(loss, arq(Attempts::Unlimited, true)), 20_000);
        assert_eq!(arrived.len(), 20_000);
        assert!(arrived.iter().zip(0..).all(|((id, _, whole), number)| *id == number && *whole));
        let sent = 20_000.0 + stats.repair.unwrap().retransmitted_frames as f64;
        within(sent, 1.0 / (1.0 - p), p / ((1.0 - p) * (1.0 - p)), 20_000.0);
        // All of it is time of the link.
        let end = arrived.last().unwrap().1 as f64 * 1e-3;
        assert!((stats.utilization * end - sent * 1e-3).abs() < 1e-9);
    }
}

#[test]
fn what_arq_and_fec_leave_lost_is_what_the_equations_say() {
    let n = 60_000;
    for (repair, p, blocks) in [
        (arq(Attempts::AtMost(2), false), 0.1, 1.0),
        (arq(Attempts::AtMost(3), true), 0.3, 1.0),
        // Losses of a block come together: fewer independent draws.
        (fec(20, 4, true), 0.1, 20.0),
        (fec(4, 2, false), 0.2, 4.0),
        (fec(1, 1, true), 0.3, 1.0),
    ] {
        let loss = LossSpec::Packet { probability: p };
        let (arrived, stats) = arrivals(&config(loss, repair), n);
        let lost = 1.0 - repair.delivered(p);
        within(stats.corrupted_packets as f64, lost, lost * blocks, f64::from(n));
        assert_eq!(arrived.len() as u32, n);
        let carried = stats.delivered_packets as f64 / (arrived.last().unwrap().1 as f64);
        assert!((carried / repair.carried(p) - 1.0).abs() < 0.01, "{carried} {}", repair.carried(p));
    }
    // 1 - 0.1 P(2 or more of 3 others are lost) = 1 - 0.1 (3 x 0.01 x 0.9 + 0.001), and half of that.
    let half = fec(2, 2, true);
    assert!((half.delivered(0.1) - 0.9972).abs() < 1e-12 && (half.carried(0.1) - 0.4986).abs() < 1e-12);
}

#[test]
fn a_measurement_leaves_out_what_was_before() {
    let mut link = link(&config(dropping(&[2, 60]), arq(Attempts::Unlimited, true)));
    let mut out = vec![];
    for id in 0..100 {
        drain(&mut link, ms(id), &mut out);
        link.offer(ms(id), id as u32, 1000, Label::default);
        if id == 40 {
            assert_eq!(link.stats(ms(40)).repair.unwrap().retransmitted_frames, 1);
            link.measure_from(ms(40));
            let repair = link.stats(ms(40)).repair.unwrap();
            assert_eq!((repair.retransmitted_frames, repair.order_wait_max_s), (0, 0.0));
        }
    }
    assert_eq!(link.stats(ms(99)).repair.unwrap().retransmitted_frames, 1);
}

fn repairs() -> impl Strategy<Value = Repair> {
    let attempts = prop_oneof![Just(Attempts::Unlimited), (1_u32..5).prop_map(Attempts::AtMost)];
    let arq = (attempts, any::<bool>(), 0_u64..20_000_000).prop_map(|(attempts, in_order, turnaround)| {
        Repair::Arq(ArqSpec { attempts, in_order, turnaround: Span::from_nanos(turnaround) })
    });
    let wait = prop::option::of((0_u64..30_000_000).prop_map(Span::from_nanos));
    let fec = (1_u32..12, 1_u32..6, wait, any::<bool>()).prop_map(|(data, parity, wait, in_order)| {
        Repair::Fec(FecSpec::Packets { data, parity, wait, in_order })
    });
    prop_oneof![arq, fec]
}

/// Losses under which every frame arrives before long.
fn passing() -> impl Strategy<Value = LossSpec> {
    losses().prop_map(|loss| match loss {
        LossSpec::Packet { probability } => LossSpec::Packet { probability: probability * 0.8 },
        LossSpec::Ber { ber, correctable_bits } => LossSpec::Ber { ber: ber * 0.1, correctable_bits },
        loss => loss,
    })
}

proptest! {
    /// No packet comes twice, none is missing, and where order is kept they come in order; also where the link changes.
    #[test]
    fn every_packet_comes_out_once_and_in_order(
        gaps in packets(),
        queue in prop_oneof![queues(), managed_queues()],
        loss in passing(),
        repair in repairs(),
        outage in prop::option::of((0_u64..100_000_000, 1_u64..50_000_000, any::<bool>())),
        seed: u64,
    ) {
        let change = |(at, outage, lose)| Change {
            at: Span::from_nanos(at),
            rate: Some(Rate::from_bps(5_000_000)),
            delay: Some(Span::from_millis(2)),
            overtake: Some(lose),
            loss: None,
            outage: Some(Span::from_nanos(outage)),
            waiting: Some(if lose { InOutage::Lose } else { InOutage::Hold }),
            repeat: None,
        };
        let schedule = Schedule::from(outage.map(change).into_iter().collect::<Vec<_>>());
        let mut link = Link::new(&LinkConfig { queue: queue.clone(), schedule, ..config(loss, repair) }, Stream::derive(seed, "link"));
        prop_assert!(!link.is_closed());
        let (mut now, mut out, mut taken) = (Time::ZERO, vec![], vec![]);
        for (id, (gap, bytes)) in (0_u32..).zip(gaps) {
            now += Span::from_nanos(gap);
            drain(&mut link, now, &mut out);
            if link.offer(now, id, bytes, Label::default) == Offered::Queued {
                taken.push((id, bytes));
            }
            let (max_packets, max_bytes) = queue.room();
            prop_assert!(link.queue_packets(now) <= max_packets && link.queue_bytes(now) <= max_bytes);
            prop_assert_eq!(link.in_flight_packets(), taken.len() - out.len());
        }
        drain(&mut link, Time::NEVER, &mut out);
        prop_assert_eq!((link.in_flight_packets(), link.queue_packets(now)), (0, 0));
        let mut came: Vec<_> = out.iter().map(|(_, leaving)| (leaving.id, leaving.bytes)).collect();
        let in_order = match repair {
            Repair::None => false,
            Repair::Arq(spec) => spec.in_order,
            Repair::Fec(FecSpec::Packets { in_order, .. }) => in_order,
        };
        if in_order {
            prop_assert_eq!(&came, &taken);
        }
        came.sort_unstable();
        prop_assert_eq!(came, taken);
        let lost = out.iter().filter(|(_, leaving)| leaving.fate != Fate::Whole).count() as u64;
        // Parity may still be sent when the last packet is there.
        let stats = link.stats(now + Span::from_secs(1000.0));
        prop_assert_eq!((stats.corrupted_packets, stats.delivered_packets), (lost, out.len() as u64 - lost));
        prop_assert!(stats.utilization <= 1.0);
        if let Repair::Arq(ArqSpec { attempts: Attempts::Unlimited, .. }) = repair {
            prop_assert_eq!(lost, 0);
        }
    }

    /// A single attempt is a link that repairs nothing.
    #[test]
    fn one_attempt_is_none(gaps in packets(), queue in queues(), loss in losses(), in_order: bool, seed: u64) {
        let config = |repair| LinkConfig { queue: queue.clone(), ..config(loss.clone(), repair) };
        let plain = Link::new(&config(Repair::None), Stream::derive(seed, "link"));
        let once = Link::new(&config(arq(Attempts::AtMost(1), in_order)), Stream::derive(seed, "link"));
        let (mut now, mut links, mut out) = (Time::ZERO, [plain, once], [vec![], vec![]]);
        for (id, (gap, bytes)) in (0_u32..).zip(gaps) {
            now += Span::from_nanos(gap);
            for (link, out) in links.iter_mut().zip(&mut out) {
                drain(link, now, out);
                link.offer(now, id, bytes, Label::default);
            }
        }
        links.iter_mut().zip(&mut out).for_each(|(link, out)| drain(link, Time::NEVER, out));
        prop_assert_eq!(&out[0], &out[1]);
    }
}
