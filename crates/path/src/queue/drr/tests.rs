use super::*;
use crate::Label;

const BUSY: ServerView = ServerView { rate: Rate::from_bps(8_000_000), idle_since: None };

fn queue(limit: u32) -> Drr {
    Drr::new(
        &DrrOptions {
            limit: Packets(limit),
            quantum: usual_quantum(),
            queues: None,
            drop: None,
            alpha: None,
        },
        7,
    )
}

fn offer(queue: &mut Drr, flow: u32, bytes: u32, drops: &mut Drops) -> Verdict {
    let label = Label { flow, ..Label::default() };
    let packet = Waiting { id: flow, bytes, label, came: Time::ZERO, marked: false };
    queue.enqueue(Time::ZERO, packet, &BUSY, drops)
}

fn sent(queue: &mut Drr) -> Option<(u32, u32)> {
    queue.dequeue(Time::ZERO, &mut Drops::default()).map(|packet| (packet.id, packet.bytes))
}

fn lengths(queue: &Drr, flows: u32) -> Vec<u32> {
    (0..flows).map(|flow| queue.queues.get(&flow).map_or(0, |queue| queue.line.len())).collect()
}

/// Four flows that always have packets of other lengths: who sends how much, with this quantum.
fn turns(quantum: u64, packets: usize) -> Vec<(usize, u64)> {
    let (mut queue, mut drops) = (queue(100_000), Drops::default());
    queue.options.quantum = Bytes::new(quantum);
    for number in 0..packets as u32 {
        for (flow, bytes) in (0..).zip([1500, 40 + 7 * (number % 100), 1000, 100]) {
            offer(&mut queue, flow, bytes, &mut drops);
        }
    }
    let one = || sent(&mut queue).map(|(flow, bytes)| (flow as usize, u64::from(bytes)));
    std::iter::from_fn(one).take(packets).collect()
}

const LONGEST: [u64; 4] = [1500, 733, 1000, 100];

/// Lemma 2 of the paper: in m rounds a queue that always has packets sends m quanta, less than the longest packet off.
#[test]
fn in_each_round_a_backlogged_queue_sends_its_quantum_within_a_packet() {
    let (mut bytes, mut rounds, mut last) = ([0; 4], 0, 3);
    // With a quantum that carries any packet, each queue sends in each round.
    for (flow, length) in turns(1500, 4000) {
        if flow < last {
            for (bytes, longest) in std::iter::zip(bytes, LONGEST) {
                assert!(u64::abs_diff(bytes, rounds * 1500) < longest, "{bytes} in {rounds} rounds");
            }
            rounds += 1;
        }
        bytes[flow] += length;
        last = flow;
    }
    assert!(rounds > 100, "{rounds}");
}

/// Theorem of the paper: at any time two queues that always have packets have sent alike, but for a quantum and a packet of each.
#[test]
fn two_backlogged_queues_are_never_further_apart_than_a_quantum_and_two_packets() {
    for quantum in [1, 100, 500, 1500, 9000] {
        let mut bytes = [0; 4];
        for (flow, length) in turns(quantum, 3000) {
            bytes[flow] += length;
            for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                let apart = u64::abs_diff(bytes[i], bytes[j]);
                assert!(apart <= quantum + LONGEST[i] + LONGEST[j], "{bytes:?} by a quantum of {quantum}");
            }
        }
    }
}

#[test]
fn a_queue_keeps_what_is_left_of_its_quantum_and_loses_it_when_empty() {
    let (mut queue, mut drops) = (queue(100), Drops::default());
    queue.options.quantum = Bytes::new(1000);
    // 600 of 1000, then 600 + 600 of 400 + 1000.
    (0..3).for_each(|_| {
        offer(&mut queue, 1, 600, &mut drops);
    });
    (0..4).for_each(|_| {
        offer(&mut queue, 2, 1000, &mut drops);
    });
    let order: Vec<u32> = (0..4).map(|_| sent(&mut queue).unwrap().0).collect();
    assert_eq!(order, [1, 2, 1, 1]);
    // Flow 1 was empty, so its 200 bytes are gone: 1000 do not carry 1100.
    offer(&mut queue, 1, 1100, &mut drops);
    let order: Vec<u32> = std::iter::from_fn(|| sent(&mut queue)).map(|(flow, _)| flow).collect();
    assert_eq!(order, [2, 2, 1, 2]);
    assert!(queue.queues.is_empty() && queue.active.is_empty());
    assert_eq!((queue.packets(), queue.bytes()), (0, 0));
}

#[test]
fn where_there_is_no_room_the_longest_queue_loses_its_newest_or_oldest_packet() {
    for (drop, lost) in [(None, 3), (Some(Victim::Newest), 3), (Some(Victim::Oldest), 0)] {
        let (mut queue, mut drops) = (queue(5), Drops::default());
        queue.options.drop = drop;
        let put = |queue: &mut Drr, drops: &mut Drops, id, flow, bytes| {
            let label = Label { flow, ..Label::default() };
            let packet = Waiting { id, bytes, label, came: Time::ZERO, marked: false };
            assert_eq!(queue.enqueue(Time::ZERO, packet, &BUSY, drops), Verdict::Take);
        };
        (0..4).for_each(|id| put(&mut queue, &mut drops, id, 8, 1500));
        (4..6).for_each(|id| put(&mut queue, &mut drops, id, 9, 100));
        assert_eq!(drops.packets.iter().map(|packet| packet.id).collect::<Vec<_>>(), [lost]);
        assert_eq!((queue.packets(), queue.bytes(), drops.full, drops.early), (5, 4700, 1, 0));
    }
    // By bytes: three packets of flow 2 are shorter than one of flow 1, which thereby leaves the round.
    let (mut queue, mut drops) = (queue(3), Drops::default());
    offer(&mut queue, 1, 1500, &mut drops);
    (0..3).for_each(|_| {
        offer(&mut queue, 2, 100, &mut drops);
    });
    assert_eq!((drops.packets[0].id, queue.active.len()), (1, 1));
    assert_eq!(std::iter::from_fn(|| sent(&mut queue)).count(), 3);
}

#[test]
fn no_room_at_all_is_enough_for_an_idle_server() {
    for alpha in [None, Some(1.0)] {
        let (mut queue, mut drops) = (queue(0), Drops::default());
        queue.options.alpha = alpha;
        let idle = ServerView { idle_since: Some(Time::ZERO), ..BUSY };
        let packet = Waiting { id: 1, bytes: 100, label: Label::default(), came: Time::ZERO, marked: false };
        assert_eq!(queue.enqueue(Time::ZERO, packet, &idle, &mut drops), Verdict::Take);
        assert_eq!(sent(&mut queue), Some((1, 100)));
        let verdict = offer(&mut queue, 1, 100, &mut drops);
        // Without thresholds it is taken, and makes room for itself.
        assert_eq!((verdict == Verdict::DropFull, drops.full), (alpha.is_some(), u64::from(alpha.is_none())));
        assert_eq!(queue.packets(), 0);
    }
}

/// S queues that take all they can have αB/(1 + αS) each, and B/(1 + αS) stay free (equation 4 of the paper).
#[test]
fn saturated_queues_settle_at_their_dynamic_threshold() {
    for (alpha, flows, each) in
        [(1.0, 1, 60), (1.0, 2, 40), (1.0, 3, 30), (2.0, 2, 48), (0.5, 2, 30), (2.0, 4, 27)]
    {
        let (mut queue, mut drops) = (queue(120), Drops::default());
        queue.options.alpha = Some(alpha);
        for _ in 0..200 {
            (0..flows).for_each(|flow| {
                offer(&mut queue, flow, 1000, &mut drops);
            });
        }
        for length in lengths(&queue, flows) {
            assert!(u32::abs_diff(length, each) <= 1, "{length} for alpha {alpha}, {flows} queues");
        }
    }
}

#[test]
fn a_new_queue_finds_the_room_that_the_thresholds_left_free() {
    let (mut queue, mut drops) = (queue(120), Drops::default());
    queue.options.alpha = Some(1.0);
    let fill = |queue: &mut Drr, drops: &mut Drops, flow| {
        (0..200)
            .map(|_| offer(queue, flow, 1000, drops))
            .filter(|verdict| *verdict == Verdict::DropEarly)
            .count()
    };
    assert_eq!(fill(&mut queue, &mut drops, 0), 140);
    assert_eq!(fill(&mut queue, &mut drops, 1), 170);
    assert_eq!(lengths(&queue, 2), [60, 30]);
    // Both take what comes as they are served: the first takes nothing until it is as short as the second may be.
    for _ in 0..60 {
        sent(&mut queue);
        (0..2).for_each(|flow| {
            offer(&mut queue, flow, 1000, &mut drops);
        });
    }
    assert!(lengths(&queue, 2).iter().all(|length| length.abs_diff(40) <= 1), "{:?}", lengths(&queue, 2));
    assert_eq!(drops.full, 0);
}

#[test]
fn flows_share_a_queue_by_chance_where_there_are_so_many_queues() {
    let few = |salt| Drr::new(&DrrOptions { queues: Some(16), ..queue(10).options }, salt);
    let numbers = |queue: &Drr| (0..100).map(|flow| queue.queue_of(flow)).collect::<Vec<_>>();
    assert_ne!(numbers(&few(7)), numbers(&few(8)));
    assert!(numbers(&few(7)).iter().all(|number| *number < 16));
    assert_eq!(numbers(&queue(10)), (0..100).collect::<Vec<_>>());
}
