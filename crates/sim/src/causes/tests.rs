use std::collections::{BTreeSet, VecDeque};

use bentpipe_net::LinkId;
use bentpipe_tcp::Segment;
use proptest::prelude::*;

use super::*;

/// Sequence number of the first byte: the numbers wrap soon.
const FIRST: Seq = Seq(u32::MAX - 2500);

const DROPPED: Lost = Lost::Dropped(LinkId::FIRST);
const DAMAGED: Lost = Lost::Damaged(LinkId::FIRST);

fn seq(segment: u32) -> Seq {
    FIRST + 1000 * segment
}

fn at(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

fn packet(segment: u32, sent: u64) -> Packet {
    let segment = Segment { seq: seq(segment), len: 1000, ..Segment::default() };
    let to = ConnectionId(0).end(Side::Back);
    Packet { content: crate::packet::Content::Segment(segment), to, again: false, sent: at(sent) }
}

/// Why a packet is lost.
fn why(by_queue: bool) -> Lost {
    if by_queue { DROPPED } else { DAMAGED }
}

/// A reduction at a time with SND.UNA, `recover` and SND.MAX at these segments.
fn reduction(time: u64, una: u32, below: u32, max: u32) -> Reduction {
    Reduction { time: at(time), una: seq(una), below: seq(below), max: seq(max), marked: false }
}

fn one() -> Causes {
    Causes::new(1)
}

impl Causes {
    fn join_one(&mut self, now: u64, una: u32, reductions: &[Reduction]) -> LossCauses {
        self.join(at(now), |_| (seq(una), reductions.to_vec()));
        self.sum(0..1)
    }
}

#[test]
fn a_loss_in_the_window_of_a_reduction_cost_it_and_others_did_not() {
    let mut causes = one();
    for segment in [3, 5, 10, 11] {
        causes.note(at(100), &packet(segment, 20), why(segment > 9));
    }
    causes.note(at(100), &packet(4, 20), DROPPED);
    let found = causes.join_one(500, 20, &[reduction(200, 4, 11, 20)]);
    // 3 was acknowledged before and 11 lies beyond.
    let expected = LossCauses {
        random: 2,
        random_cut: Some(1),
        congestion: 3,
        congestion_kept: Some(1),
        cuts: Some(1),
        ..LossCauses::default()
    };
    assert_eq!(found, expected);
}

#[test]
fn a_control_that_keeps_its_window_pays_for_nothing() {
    let mut causes = one();
    causes.note(at(100), &packet(3, 20), DAMAGED);
    causes.note(at(100), &packet(4, 20), DROPPED);
    assert_eq!(causes.join_one(150, 3, &[]), LossCauses { open: 2, ..LossCauses::default() });
    let kept = LossCauses { random: 1, congestion: 1, congestion_kept: Some(1), ..LossCauses::default() };
    assert_eq!(causes.join_one(300, 9, &[]), kept);
}

#[test]
fn a_retransmission_that_is_lost_asks_for_a_reduction_of_its_own() {
    let fast = reduction(200, 3, 9, 9);
    let (original, again) = (packet(3, 20), packet(3, 200));
    for early in [false, true] {
        let mut causes = one();
        causes.note(at(100), &original, DAMAGED);
        if early {
            causes.note(at(280), &again, DAMAGED);
        }
        let first = LossCauses { random: 1, random_cut: Some(1), cuts: Some(1), ..LossCauses::default() };
        assert_eq!(causes.join_one(250, 3, &[fast]), first);
        if !early {
            causes.note(at(280), &again, DAMAGED);
        }
        assert_eq!(causes.join_one(300, 3, &[]), LossCauses { open: 1, ..first }, "the second is open");
        let both = LossCauses { random: 2, random_cut: Some(2), cuts: Some(2), ..LossCauses::default() };
        assert_eq!(causes.join_one(1500, 20, &[reduction(1200, 3, 9, 9)]), both);
    }
}

#[test]
fn a_loss_that_comes_after_the_reduction_is_found_though_the_join_came_between() {
    let mut causes = one();
    let spurious = causes.join_one(210, 3, &[reduction(200, 3, 9, 9)]);
    assert_eq!(spurious.needless_cuts, Some(1), "so far");
    // Sent before the reduction, lost after it.
    causes.note(at(220), &packet(5, 190), DROPPED);
    let found = causes.join_one(900, 20, &[]);
    assert_eq!(found, LossCauses { congestion: 1, cuts: Some(1), ..LossCauses::default() });
}

#[test]
fn a_reduction_is_needless_when_nothing_of_its_window_was_lost() {
    let mut causes = one();
    causes.note(at(100), &packet(2, 20), DROPPED);
    causes.note(at(230), &packet(5, 200), DAMAGED);
    let found = causes.join_one(900, 20, &[reduction(200, 3, 9, 9), reduction(700, 9, 12, 12)]);
    let expected = LossCauses {
        random: 1,
        congestion: 1,
        congestion_kept: Some(1),
        cuts: Some(2),
        needless_cuts: Some(2),
        ..LossCauses::default()
    };
    assert_eq!(found, expected);
}

#[test]
fn requests_and_bare_acks_are_no_data_and_a_lost_fin_is_a_reason() {
    let mut causes = one();
    causes.note(at(100), &Packet { to: ConnectionId(0).end(Side::Data), ..packet(3, 20) }, DROPPED);
    let mut bare = packet(3, 20);
    bare.segment_mut().len = 0;
    causes.note(at(100), &bare, DROPPED);
    let timeout = reduction(1200, 3, 4, 4);
    assert_eq!(causes.join_one(1300, 3, &[timeout]).needless_cuts, Some(1));
    bare.segment_mut().flags = Flags::FIN | Flags::ACK;
    let mut causes = one();
    causes.note(at(100), &bare, DROPPED);
    assert_eq!(causes.join_one(1300, 3, &[timeout]), LossCauses { cuts: Some(1), ..LossCauses::default() });
}

#[test]
fn a_loss_after_the_end_of_the_run_is_none() {
    let mut causes = one();
    causes.note(at(1001), &packet(3, 900), DAMAGED);
    let found = causes.join_one(1000, 3, &[reduction(990, 3, 9, 9)]);
    assert_eq!(found, LossCauses { cuts: Some(1), needless_cuts: Some(1), ..LossCauses::default() });
}

/// What a sender and its links may do next.
#[derive(Clone, Debug)]
enum Step {
    Send { lost: Option<bool>, early: bool },
    Again { segment: u32, lost: Option<bool>, early: bool },
    Arrive,
    Reduce { short: bool },
    Wait,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let lost = || prop_oneof![3 => Just(None), 1 => any::<bool>().prop_map(Some)];
    let send = (lost(), any::<bool>()).prop_map(|(lost, early)| Step::Send { lost, early });
    let again = (0_u32..12, lost(), any::<bool>());
    let again = again.prop_map(|(segment, lost, early)| Step::Again { segment, lost, early });
    let reduce = any::<bool>().prop_map(|short| Step::Reduce { short });
    let step =
        prop_oneof![6 => send, 3 => again, 9 => Just(Step::Arrive), 1 => reduce, 4 => Just(Step::Wait)];
    prop::collection::vec(step, 1..400)
}

/// What the tellers of a history say, one entry a step.
#[derive(Clone, Debug, Default)]
struct Told {
    now: u64,
    una: u32,
    noted: Vec<Sent>,
    reduced: Option<Reduction>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    segment: u32,
    sent: u64,
    /// When it is lost, and whether by a queue.
    lost: Option<(u64, bool)>,
    by_queue: Option<bool>,
    told_at: Option<usize>,
}

/// Plays the steps over a path that keeps the order: what is told when, and every packet that was lost in time.
fn play(steps: &[Step]) -> (Vec<Told>, Vec<Sent>) {
    let (mut now, mut una, mut max, mut reduced_below) = (0, 0, 0, 0);
    let mut history = vec![Told::default(); steps.len()];
    let (mut sent, mut under_way) = (Vec::<Sent>::new(), VecDeque::new());
    let mut held = BTreeSet::new();
    for (number, step) in steps.iter().enumerate() {
        let mut go = |segment, lost: Option<bool>, early: bool| {
            let told_at = early.then_some(number);
            under_way.push_back(sent.len());
            sent.push(Sent { segment, sent: now, lost: None, by_queue: lost, told_at });
        };
        match step {
            Step::Send { lost, early } => {
                go(max, *lost, *early);
                max += 1;
            }
            Step::Again { segment, lost, early } if una + segment < max => go(una + segment, *lost, *early),
            Step::Arrive => {
                if let Some(index) = under_way.pop_front() {
                    let packet = &mut sent[index];
                    match packet.by_queue {
                        Some(by_queue) => {
                            packet.lost = Some((now, by_queue));
                            packet.told_at.get_or_insert(number);
                        }
                        None => _ = held.insert(packet.segment),
                    }
                    while held.remove(&una) {
                        una += 1;
                    }
                }
            }
            Step::Reduce { short } if una < max => {
                // A further loss answers for the window of the first.
                let below = if *short && reduced_below > una { reduced_below } else { max };
                reduced_below = below;
                history[number].reduced = Some(reduction(now, una, below, max));
            }
            Step::Wait => now += 1,
            Step::Again { .. } | Step::Reduce { .. } => {}
        }
        (history[number].now, history[number].una) = (now, una);
    }
    // What is lost after the end is told early all the same.
    for packet in &sent {
        if let (Some(by_queue), Some(told_at)) = (packet.by_queue, packet.told_at) {
            let lost = packet.lost.or(Some((now + 1, by_queue)));
            history[told_at].noted.push(Sent { lost, ..*packet });
        }
    }
    sent.retain(|packet| packet.lost.is_some());
    (history, sent)
}

/// The definition, loss by loss.
fn defined(history: &[Told], lost: &[Sent]) -> LossCauses {
    let mut sum = LossCauses::default();
    let una = history.last().map_or(0, |told| told.una);
    let reductions = || history.iter().filter_map(|told| told.reduced);
    let costs = |packet: &Sent, cut: &Reduction| {
        at(packet.sent) < cut.time && seq(packet.segment) >= cut.una && seq(packet.segment) < cut.below
    };
    for packet in lost {
        let cut = reductions().any(|reduction| costs(packet, &reduction));
        let counted = u64::from(cut || packet.segment < una);
        if packet.lost.is_some_and(|(_, by_queue)| by_queue) {
            sum.congestion += counted;
            add(&mut sum.congestion_kept, counted * u64::from(!cut));
        } else {
            sum.random += counted;
            add(&mut sum.random_cut, u64::from(cut));
        }
        sum.open += 1 - counted;
    }
    sum.cuts = Some(reductions().count() as u64);
    let needless = reductions().filter(|reduction| !lost.iter().any(|packet| costs(packet, reduction)));
    sum.needless_cuts = Some(needless.count() as u64);
    sum
}

fn joined(history: &[Told], ends_batch: impl Fn(usize) -> bool) -> LossCauses {
    let mut causes = one();
    let mut reductions = Vec::new();
    for (number, told) in history.iter().enumerate() {
        for packet in &told.noted {
            if let Some((time, by_queue)) = packet.lost {
                causes.note(at(time), &super::tests::packet(packet.segment, packet.sent), why(by_queue));
            }
        }
        reductions.extend(told.reduced);
        if ends_batch(number) || number + 1 == history.len() {
            causes.join_one(told.now, told.una, &std::mem::take(&mut reductions));
        }
    }
    causes.sum(0..1)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn batches_of_any_size_give_what_the_definition_says(steps in steps(), size in 1_usize..60) {
        let (history, lost) = play(&steps);
        let expected = defined(&history, &lost);
        prop_assert_eq!(joined(&history, |_| false), expected);
        prop_assert_eq!(joined(&history, |_| true), expected);
        prop_assert_eq!(joined(&history, |number| number % size == 0), expected);
        prop_assert!(expected.random_cut <= Some(expected.random));
        prop_assert!(expected.congestion_kept <= Some(expected.congestion));
        prop_assert!(expected.needless_cuts <= expected.cuts);
        prop_assert_eq!(expected.random + expected.congestion + expected.open, lost.len() as u64);
    }
}
