use super::*;
use crate::Label;

const BUSY: ServerView = ServerView { rate: Rate::from_bps(8_000_000), idle_since: None };

fn queue(limit: u32) -> FqCodel {
    let options = FqCodelOptions {
        limit: Packets(limit),
        queues: usual_queues(),
        quantum: usual_quantum(),
        target: usual_target(),
        interval: usual_interval(),
        mtu: usual_mtu(),
        ecn: true,
    };
    FqCodel::new(&options, 7)
}

fn offer(queue: &mut FqCodel, flow: u32, bytes: u32, drops: &mut Drops) {
    let label = Label { flow, ..Label::default() };
    let packet = Waiting { id: flow, bytes, label, came: Time::ZERO, marked: false };
    assert_eq!(queue.enqueue(Time::ZERO, packet, &BUSY, drops), Verdict::Take);
}

fn sent(queue: &mut FqCodel) -> Option<(u32, u32)> {
    queue.dequeue(Time::ZERO, &mut Drops::default()).map(|packet| (packet.id, packet.bytes))
}

#[test]
fn flows_take_turns_by_bytes() {
    let (mut queue, mut drops) = (queue(10_000), Drops::default());
    for _ in 0..400 {
        offer(&mut queue, 1, 1500, &mut drops);
    }
    for _ in 0..4000 {
        offer(&mut queue, 2, 150, &mut drops);
    }
    assert_eq!((queue.packets(), queue.bytes()), (4400, 1_200_000));
    let mut bytes = [0_i64; 3];
    while bytes[1] + bytes[2] < 600_000 {
        let (flow, length) = sent(&mut queue).unwrap();
        bytes[flow as usize] += i64::from(length);
        // Deficit round robin: no flow is ahead by more than a quantum and a packet of each.
        assert!((bytes[1] - bytes[2]).abs() <= 1514 + 1500 + 1500, "{bytes:?}");
    }
}

#[test]
fn a_new_flow_goes_before_old_ones_and_then_waits_its_turn() {
    let (mut queue, mut drops) = (queue(10_000), Drops::default());
    for flow in [1, 2] {
        (0..20).for_each(|_| offer(&mut queue, flow, 1500, &mut drops));
    }
    for _ in 0..10 {
        sent(&mut queue);
    }
    (0..3).for_each(|_| offer(&mut queue, 3, 1000, &mut drops));
    // Its quantum is 1514 bytes: two packets at once, the third in its turn.
    let order: Vec<u32> = (0..6).map(|_| sent(&mut queue).unwrap().0).collect();
    assert_eq!(order[..2], [3, 3]);
    assert!(order[2] != 3 && order[3..].contains(&3), "{order:?}");
    let rest = std::iter::from_fn(|| sent(&mut queue)).count();
    assert_eq!((rest, queue.packets(), queue.bytes()), (43 - 10 - 6, 0, 0));
    assert!(queue.new.is_empty() && queue.old.is_empty());
}

#[test]
fn an_emptied_new_queue_is_an_old_one_even_where_there_is_no_other() {
    let (mut queue, mut drops) = (queue(10_000), Drops::default());
    offer(&mut queue, 1, 100, &mut drops);
    (0..3).for_each(|_| offer(&mut queue, 2, 1000, &mut drops));
    assert_eq!([sent(&mut queue), sent(&mut queue)], [Some((1, 100)), Some((2, 1000))]);
    // Flow 1 has been found empty, so flow 3, which comes after it, is newer.
    offer(&mut queue, 1, 100, &mut drops);
    offer(&mut queue, 3, 100, &mut drops);
    let order: Vec<u32> = (0..4).map(|_| sent(&mut queue).unwrap().0).collect();
    assert_eq!(order, [2, 3, 1, 2]);
    assert_eq!(sent(&mut queue), None);
}

#[test]
fn where_there_is_no_room_the_fattest_flow_loses_half_from_its_head() {
    let (mut queue, mut drops) = (queue(300), Drops::default());
    (0..40).for_each(|_| offer(&mut queue, 1, 1500, &mut drops));
    (0..260).for_each(|_| offer(&mut queue, 2, 100, &mut drops));
    assert_eq!(drops.packets.len(), 0);
    offer(&mut queue, 2, 100, &mut drops);
    // 60,000 against 26,100 bytes.
    assert_eq!(drops.packets.iter().map(|packet| packet.id).collect::<Vec<_>>(), [1; 20]);
    (0..20).for_each(|_| offer(&mut queue, 2, 100, &mut drops));
    assert_eq!((drops.packets.len(), queue.packets()), (20 + 10, 291));
    // Never more than 64.
    let (mut queue, mut drops) = (self::queue(300), Drops::default());
    (0..301).for_each(|_| offer(&mut queue, 1, 1500, &mut drops));
    assert_eq!((drops.packets.len(), drops.full, drops.early, queue.packets()), (64, 64, 0, 237));
}

#[test]
fn flows_share_a_queue_by_chance_alone() {
    let (one, other) = (queue(10), FqCodel { perturbation: 8, ..queue(10) });
    let numbers = |queue: &FqCodel| (0..100).map(|flow| queue.queue_of(flow)).collect::<Vec<_>>();
    assert_ne!(numbers(&one), numbers(&other));
    assert!(numbers(&one).iter().all(|number| *number < 1024));
    let mut distinct = numbers(&one);
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() > 85, "{}", distinct.len());
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

#[test]
fn each_queue_has_a_controlled_delay_of_its_own() {
    let (mut queue, mut drops) = (queue(10_000), Drops::default());
    let mut early = vec![];
    for now in 0..1000 {
        let came = |flow| {
            let label = Label { flow, ..Label::default() };
            Waiting { id: flow, bytes: 1000, label, came: at(now), marked: false }
        };
        for flow in [1, 1, 1, 2] {
            queue.enqueue(at(now), came(flow), &BUSY, &mut drops);
        }
        for _ in 0..2 {
            queue.dequeue(at(now), &mut drops);
        }
        early.extend(drops.packets.drain(..).map(|packet| (packet.id, packet.came < at(now - 5))));
    }
    assert_eq!((drops.early, drops.full), (early.len() as u64, 0));
    // By the control law of a line that stands from 5 ms on: about (9.9 / 2)² drops in 9 intervals.
    assert!((20..30).contains(&early.len()), "{}", early.len());
    assert!(early.iter().all(|drop| *drop == (1, true)));
}

#[test]
fn what_goes_at_overload_are_the_oldest_packets() {
    let (mut queue, mut drops) = (queue(10), Drops::default());
    for id in 0..11 {
        let packet = Waiting { id, bytes: 1000, label: Label::default(), came: at(0), marked: false };
        queue.enqueue(at(0), packet, &BUSY, &mut drops);
    }
    assert_eq!(drops.packets.iter().map(|packet| packet.id).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

#[test]
fn a_queue_that_has_sent_its_quantum_waits_its_turn() {
    let (mut queue, mut drops) = (queue(100), Drops::default());
    queue.options.quantum = Bytes::new(1500);
    for flow in [1, 2, 1, 2, 1, 2] {
        offer(&mut queue, flow, 1500, &mut drops);
    }
    assert_eq!([(); 6].map(|()| sent(&mut queue).unwrap().0), [1, 2, 1, 2, 1, 2]);
}

/// Section 4.1: a queue that becomes active has "the number of credits initialised to the configured quantum".
#[test]
fn credits_do_not_outlive_a_queue() {
    let (mut queue, mut drops) = (queue(100), Drops::default());
    queue.options.quantum = Bytes::new(1500);
    offer(&mut queue, 1, 100, &mut drops);
    assert_eq!([sent(&mut queue), sent(&mut queue)], [Some((1, 100)), None]);
    // 1400 of its credits were left.
    (0..2).for_each(|_| offer(&mut queue, 1, 1500, &mut drops));
    offer(&mut queue, 2, 100, &mut drops);
    assert_eq!([(); 3].map(|()| sent(&mut queue).unwrap().0), [1, 2, 1]);
}

#[test]
fn an_idle_server_takes_a_packet_that_may_not_wait() {
    let (mut queue, mut drops) = (queue(0), Drops::default());
    let packet = Waiting { id: 1, bytes: 1000, label: Label::default(), came: at(0), marked: false };
    queue.enqueue(at(0), packet, &ServerView { idle_since: Some(at(0)), ..BUSY }, &mut drops);
    assert_eq!((drops.packets.len(), sent(&mut queue)), (0, Some((1, 1000))));
    queue.enqueue(at(0), packet, &BUSY, &mut drops);
    assert_eq!((drops.packets.len(), sent(&mut queue)), (1, None));
}

/// The longest packet is the interface's: a queue of short packets is compared with the long packets of another flow.
#[test]
fn the_longest_packet_is_that_of_all_queues() {
    let early = |long: bool| {
        let (mut queue, mut drops) = (queue(10_000), Drops::default());
        if long {
            offer(&mut queue, 2, 9000, &mut drops);
            sent(&mut queue);
        }
        for now in 0..1000 {
            while queue.packets() < 9 {
                offer(&mut queue, 1, 1000, &mut drops);
            }
            queue.dequeue(at(now + 10), &mut drops);
        }
        drops.early
    };
    assert_eq!((early(true), early(false) > 0), (0, true));
}
