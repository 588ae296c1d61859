//! ACK spoofing, rule by rule.

use bentpipe_units::Bytes;

use bentpipe_units::Span;

use super::*;
use crate::gateway::GatewaySpec;

/// Half the buffer is four segments.
fn spec() -> GatewaySpec {
    let min_timeout = Span::from_millis(100);
    GatewaySpec::Spoof(SpoofOptions { buffer: Bytes::new(8000), min_timeout, ..SpoofOptions::default() })
}

#[test]
fn data_is_acknowledged_at_once_and_the_receivers_acknowledgment_goes_no_further() {
    let mut driver = Driver::open(&spec());
    assert_eq!(driver.data(110, &data(0, 1000)), [Data(0, 1000), Ack(1000, 4000)]);
    assert_eq!(driver.data(111, &data(1000, 1000)), [Data(1000, 1000), Ack(2000, 4000)]);
    assert_eq!(driver.ack(160, &ack(1000)), []);
    assert_eq!(driver.ack(161, &ack(2000)), []);
    let stats = driver.agent.stats();
    assert_eq!((stats.acks_made, stats.acks_swallowed, stats.acknowledged_ahead_max_bytes), (2, 2, 2000));
    assert_eq!(stats.acknowledged_ahead_bytes, 0);
    assert_eq!(driver.until(100_000), []);
}

/// Beyond half the buffer acknowledgments are held, until the receiver's make room.
#[test]
fn acknowledgments_are_held_while_half_the_buffer_is_ahead() {
    let mut driver = Driver::open(&spec());
    for number in 0..4 {
        let upto = 1000 * (number + 1);
        assert_eq!(driver.data(110, &data(upto - 1000, 1000)), [Data(upto - 1000, 1000), Ack(upto, 4000)]);
    }
    assert_eq!(driver.data(111, &data(4000, 1000)), [Data(4000, 1000)]);
    assert_eq!(driver.data(112, &data(5000, 1000)), [Data(5000, 1000)]);
    assert_eq!(driver.ack(160, &ack(1000)), [Ack(5000, 4000)]);
    assert_eq!(driver.ack(161, &ack(3000)), [Ack(6000, 4000)]);
    assert_eq!(driver.agent.stats().acknowledged_ahead_max_bytes, 4000);
}

#[test]
fn what_has_no_room_is_dropped() {
    let mut driver = Driver::open(&spec());
    for number in 0..8 {
        driver.data(110, &data(1000 * number, 1000));
    }
    // RFC 9293 section 3.10.7.4: what is not taken is answered.
    assert_eq!(driver.data(111, &data(8000, 1000)), [Ack(4000, 4000)]);
    let stats = driver.agent.stats();
    assert_eq!((stats.cached_max_bytes, stats.data_swallowed), (8000, 1));
}

/// Without SACK: what is lost is sent again by the third duplicate; then a partial acknowledgment brings what is lost besides.
#[test]
fn losses_are_repaired_locally() {
    let mut driver = Driver::open(&spec());
    for number in 0..6 {
        driver.data(110, &data(1000 * number, 1000));
    }
    assert_eq!(driver.ack(160, &ack(1000)), [Ack(5000, 4000)]);
    // The second and the fourth are lost.
    assert_eq!(driver.ack(161, &ack(1000)), []);
    assert_eq!(driver.ack(162, &ack(1000)), []);
    assert_eq!(driver.ack(163, &ack(1000)), [Data(1000, 1000)]);
    assert_eq!(driver.ack(213, &ack(3000)), [Ack(6000, 4000), Data(3000, 1000)]);
    // Two went behind that one, and may bring a duplicate each.
    assert_eq!(driver.ack(214, &ack(3000)), []);
    assert_eq!(driver.ack(215, &ack(3000)), []);
    assert_eq!(driver.ack(263, &ack(6000)), []);
    assert_eq!((driver.agent.stats().local_retransmissions, driver.until(100_000)), (2, vec![]));
}

#[test]
fn what_the_sender_sends_again_goes_no_further() {
    let mut driver = Driver::open(&spec());
    driver.data(110, &data(0, 1000));
    assert_eq!(driver.data(120, &data(0, 1000)), [Ack(1000, 4000)]);
    driver.ack(160, &ack(1000));
    assert_eq!(driver.data(170, &data(0, 1000)), [Ack(1000, 4000)]);
}

/// A hole on the sender's side: duplicates of what came in order, nothing beyond it goes on before it is filled.
#[test]
fn a_hole_on_the_senders_side_is_the_senders() {
    let mut driver = Driver::open(&spec());
    driver.data(110, &data(0, 1000));
    assert_eq!(driver.data(111, &data(2000, 1000)), [Ack(1000, 4000)]);
    assert_eq!(driver.data(112, &data(3000, 1000)), [Ack(1000, 4000)]);
    let filled = driver.data(130, &data(1000, 1000));
    assert_eq!(filled, [Data(1000, 1000), Ack(4000, 4000), Data(2000, 1000), Data(3000, 1000)]);
}

#[test]
fn selective_acknowledgments_name_what_lies_behind_the_hole() {
    let mut driver = Driver::new(&spec());
    let mut syn = segment(FLOW, ISS, 0);
    (syn.header.syn, syn.header.ack, syn.sack_permitted, syn.stamp) = (true, false, true, Some(1));
    driver.data(0, &syn);
    let mut answer = Seen { ack: ISS.wrapping_add(1), ..segment(FLOW.reversed(), PEER, 0) };
    (answer.header.syn, answer.sack_permitted, answer.stamp) = (true, true, Some(77));
    driver.ack(100, &answer);
    let stamped = |from| Seen { stamp: Some(5), ..data(from, 1000) };
    driver.data(110, &stamped(0));
    driver.data(111, &stamped(2000));
    driver.agent.forward(at(112), &stamped(4000), &LINK);
    let Some(Emission::Answer(_, made)) = driver.agent.poll(at(112), &LINK) else { panic!("no answer") };
    let seq = |from: u32| ISS.wrapping_add(1).wrapping_add(from);
    assert_eq!(made.sack, [(seq(4000), seq(5000)), (seq(2000), seq(3000)), (0, 0)]);
    assert_eq!((made.ack, made.stamps), (seq(1000), Some((77, 5))));
    // The packet that fills the hole is younger than those behind it, which go with its timestamp.
    driver.agent.forward(at(113), &Seen { stamp: Some(9), ..data(1000, 1000) }, &LINK);
    assert!(matches!(driver.agent.poll(at(113), &LINK), Some(Emission::Answer(..))));
    assert!(matches!(driver.agent.poll(at(113), &LINK), Some(Emission::Copy(_, Some(9)))));
}

/// The receiver has room for two segments; the third waits, and is sent to ask when no word comes.
#[test]
fn the_receivers_window_holds_back_what_goes_on() {
    let mut driver = Driver::greeted(&spec(), false, None, 2000);
    assert_eq!(driver.data(110, &data(0, 1000)), [Data(0, 1000), Ack(1000, 2000)]);
    assert_eq!(driver.data(110, &data(1000, 1000)), [Data(1000, 1000), Ack(2000, 2000)]);
    assert_eq!(driver.data(110, &data(2000, 1000)), [Ack(3000, 2000)]);
    let mut closed = ack(2000);
    closed.header.window = 0;
    // The sender hears that the window is closed; what waits is sent when the timer expires: after 100 ms and then
    // 50, SRTT is 93.75 ms and RTTVAR 50.
    assert_eq!(driver.ack(160, &closed), [Ack(3000, 0)]);
    assert_eq!(driver.until(453), []);
    assert_eq!(driver.until(454), [Data(2000, 1000)]);
    let mut open = ack(2000);
    open.header.window = 2000;
    // It did not take what asked.
    assert_eq!(driver.ack(480, &open), [Ack(3000, 2000), Data(2000, 1000)]);
}

/// The link's queue is full, in bytes or in packets, and the link takes a millisecond for 1000 bytes.
#[test]
fn the_links_queue_is_never_overrun() {
    for full in [
        Room { waiting: (1, 500), most: (10, 1500), ..LINK },
        Room { waiting: (10, 400), most: (10, u64::MAX), ..LINK },
    ] {
        let mut driver = Driver::open(&spec());
        driver.link = full;
        assert_eq!(driver.data(110, &data(0, 1000)), [Ack(1000, 4000)]);
        assert_eq!(driver.data(110, &data(1000, 1000)), [Ack(2000, 4000)]);
        assert_eq!(driver.until(115), []);
        driver.link.waiting = (0, 0);
        assert_eq!(driver.until(117), [Data(0, 1000), Data(1000, 1000)]);
        // What is sent again waits too: the timer has long expired.
        driver.link = full;
        assert_eq!(driver.until(60_000), []);
        driver.link.waiting = (0, 0);
        assert_eq!(driver.until(60_002), [Data(0, 1000)]);
    }
}

#[test]
fn without_both_syns_nothing_is_acknowledged() {
    let mut driver = Driver::new(&spec());
    let mut syn = segment(FLOW, ISS, 0);
    (syn.header.syn, syn.header.ack) = (true, false);
    driver.data(0, &syn);
    assert_eq!(driver.data(600, &data(0, 1000)), [Data(0, 1000)]);
    assert_eq!(driver.until(100_000), []);
    assert_eq!(driver.agent.stats().cached_max_bytes, 0);
    // The receiver's alone opens nothing either.
    let mut driver = Driver::new(&spec());
    let mut answer = Seen { ack: ISS.wrapping_add(1), ..segment(FLOW.reversed(), PEER, 0) };
    answer.header.syn = true;
    driver.ack(100, &answer);
    assert_eq!(driver.data(600, &data(0, 1000)), [Data(0, 1000)]);
    assert_eq!(driver.agent.stats().cached_max_bytes, 0);
}

/// The FIN is the receiver's to acknowledge.
#[test]
fn a_fin_is_not_acknowledged_ahead() {
    let mut driver = Driver::open(&spec());
    let mut last = data(0, 1000);
    last.header.fin = true;
    assert_eq!(driver.data(110, &last), [Data(0, 1000), Ack(1000, 4000)]);
    assert_eq!(driver.ack(160, &ack(1001)), [Ack(1001, 4000)]);
}

/// What lies behind a hole on the sender's side is not the agent's to send, however long that takes.
#[test]
fn the_timer_leaves_what_lies_behind_a_hole() {
    let mut driver = Driver::open(&spec());
    driver.data(110, &data(0, 1000));
    driver.data(111, &data(2000, 1000));
    assert_eq!(driver.ack(160, &ack(1000)), []);
    assert_eq!(driver.until(100_000), []);
    let filled = driver.data(100_000, &data(1000, 1000));
    assert_eq!(filled, [Data(1000, 1000), Ack(3000, 4000), Data(2000, 1000)]);
}

/// Who never answers loses what was acknowledged in its name; that is counted.
#[test]
fn a_flow_that_is_given_up_is_counted() {
    let mut driver =
        Driver::open(&GatewaySpec::Spoof(SpoofOptions { retries: 2, ..SpoofOptions::default() }));
    driver.data(110, &data(0, 1000));
    driver.data(110, &data(1000, 1000));
    assert_eq!(driver.until(100_000), [Data(0, 1000), Data(0, 1000)]);
    assert_eq!(driver.agent.stats().acknowledged_ahead_bytes, 2000);
    // From then on it is no more than a router.
    assert_eq!(driver.data(100_001, &data(2000, 1000)), [Data(2000, 1000)]);
}

/// What is to go again and finds no room is not the receiver's silence.
#[test]
fn a_flow_that_waits_for_room_before_the_link_is_not_given_up() {
    let options = SpoofOptions { retries: 2, min_timeout: Span::from_millis(100), ..SpoofOptions::default() };
    let mut driver = Driver::open(&GatewaySpec::Spoof(options));
    driver.data(110, &data(0, 1000));
    driver.link.waiting = MOST;
    assert_eq!(driver.until(60_000), []);
    driver.link.waiting = (0, 0);
    assert_eq!(driver.until(60_002), [Data(0, 1000)]);
}

/// RFC 9293 section 3.8.6.1: a receiver that answers keeps its connection, however long its window stays closed. The time between two
/// questions doubles up to 64 times.
#[test]
fn a_closed_window_is_asked_for_as_long_as_the_receiver_answers() {
    let options = SpoofOptions { retries: 2, min_timeout: Span::from_millis(100), ..SpoofOptions::default() };
    let mut driver = Driver::greeted(&GatewaySpec::Spoof(options), false, None, 1000);
    driver.data(110, &data(0, 1000));
    let mut closed = ack(1000);
    closed.header.window = 0;
    driver.ack(160, &closed);
    driver.data(170, &data(1000, 1000));
    let mut asked = Vec::new();
    for ms in 171..60_000 {
        if driver.until(ms) == [Data(1000, 1000)] {
            asked.push(ms);
            assert_eq!(driver.ack(ms, &closed), []);
        }
    }
    let waits: Vec<_> = asked.windows(2).map(|two| two[1] - two[0]).collect();
    assert_eq!(waits, [588, 1175, 2350, 4700, 9400, 18_800, 18_800], "{asked:?}");
    assert_eq!(driver.agent.stats().acknowledged_ahead_bytes, 1000);
    let mut open = ack(1000);
    open.header.window = 4000;
    assert_eq!(driver.ack(60_001, &open), [Ack(2000, 4000), Data(1000, 1000)]);
    // And its timer is that of a packet again.
    assert_eq!(driver.until(60_296), [Data(1000, 1000)]);
    assert_eq!(driver.agent.stats().local_retransmissions, 1);
}

/// Answers of a receiver whose window is closed repeat its acknowledgment, and tell of no loss.
#[test]
fn a_closed_window_brings_no_duplicates() {
    let mut driver = Driver::open(&spec());
    for number in 0..3 {
        driver.data(110, &data(1000 * number, 1000));
    }
    let mut closed = ack(1000);
    closed.header.window = 0;
    driver.ack(160, &closed);
    for ms in 161..170 {
        assert_eq!(driver.ack(ms, &closed), []);
    }
}

/// A receiver that takes its window back has been promised more: what went beyond is the receiver's to take.
#[test]
fn the_right_edge_does_not_move_back() {
    let mut driver = Driver::open(&spec());
    driver.data(110, &data(0, 1000));
    let mut smaller = ack(1000);
    smaller.header.window = 500;
    driver.ack(160, &smaller);
    assert!(driver.data(170, &data(1000, 1000)).contains(&Data(1000, 1000)));
}

/// All was late and nothing lost: the timer sends one packet again, and no more where the echo of a timestamp tells of it. Without
/// timestamps it takes a second acknowledgment, before which two more went.
#[test]
fn a_timer_that_expires_for_nothing_sends_no_window_again() {
    for (stamp, most) in [(Some(1), 1), (None, 3)] {
        for sack in [true, false] {
            let mut driver = Driver::offers(&spec(), sack, stamp);
            for number in 0..8 {
                let stamp = stamp.map(|_| 10 + number);
                driver.data(110, &Seen { stamp, ..data(1000 * number, 1000) });
            }
            let late = driver.until(700);
            assert_eq!(late, [Data(0, 1000)], "{sack} {stamp:?}");
            for number in 0..8 {
                let ms = 701 + u64::from(number);
                driver.ack(ms, &Seen { echo: stamp.map(|_| 10 + number), ..ack(1000 * (number + 1)) });
            }
            // The copies come too, and bring duplicates.
            for ms in 800..820 {
                driver.ack(ms, &Seen { echo: stamp.map(|_| 17), ..ack(8000) });
            }
            let again = driver.agent.stats().local_retransmissions;
            assert!(again <= most && again > 0, "{again}: {sack} {stamp:?}");
        }
    }
}

/// A whole window is lost, and its packets go again as slow start sends: one, two, four.
#[test]
fn after_a_timeout_what_was_out_goes_again_ever_faster() {
    for sack in [true, false] {
        let mut driver = Driver::offers(&spec(), sack, None);
        driver.data(110, &data(0, 1000));
        driver.ack(160, &ack(1000));
        for number in 1..8 {
            driver.data(200, &data(1000 * number, 1000));
        }
        assert_eq!(driver.until(500).len(), 1);
        let sent = |out: Vec<Out>| out.iter().filter(|out| matches!(out, Data(..))).count();
        assert_eq!(sent(driver.ack(560, &ack(2000))), 2);
        assert_eq!(sent(driver.ack(620, &ack(4000))), 4);
        assert_eq!(sent(driver.ack(680, &ack(8000))), 0);
        assert_eq!(driver.agent.stats().local_retransmissions, 7);
    }
}

/// Without SACK: what was late and comes beside its copy brings duplicates, which tell of no loss.
#[test]
fn duplicates_behind_a_timeout_bring_nothing_again() {
    let mut driver = Driver::offers(&spec(), false, None);
    driver.data(110, &data(0, 1000));
    driver.ack(160, &ack(1000));
    for number in 1..4 {
        driver.data(200, &data(1000 * number, 1000));
    }
    assert_eq!(driver.until(500), [Data(1000, 1000)]);
    assert!(driver.ack(560, &ack(2000)).ends_with(&[Data(2000, 1000), Data(3000, 1000)]));
    driver.ack(620, &ack(3000));
    for ms in 621..625 {
        assert_eq!(driver.ack(ms, &ack(3000)), []);
    }
}

/// RFC 8985: all that was sent before what has come, and has not, is lost; of one repair too.
#[test]
fn the_receivers_blocks_tell_of_all_losses_at_once() {
    let mut driver = Driver::offers(&spec(), true, None);
    for number in 0..7 {
        driver.data(110, &data(1000 * number, 1000));
    }
    driver.ack(160, &ack(1000));
    // The second and the fourth are lost. One block may come early, and tells of nothing for a quarter of a round trip.
    assert_eq!(driver.ack(161, &sacked(1000, &[(2000, 3000)])), []);
    assert_eq!(driver.ack(162, &sacked(1000, &[(4000, 5000), (2000, 3000)])), []);
    let both = [Data(1000, 1000), Data(3000, 1000)];
    assert_eq!(driver.ack(163, &sacked(1000, &[(4000, 6000), (2000, 3000)])), both);
    // A report of what is known brings nothing.
    assert_eq!(driver.ack(164, &sacked(1000, &[(4000, 7000), (2000, 3000)])), []);
    // The first repair is lost, the second, which went behind it, comes.
    assert_eq!(driver.ack(213, &sacked(1000, &[(2000, 7000)])), [Data(1000, 1000)]);
    assert_eq!(driver.ack(263, &ack(7000)), [Ack(7000, 4000)]);
    assert_eq!((driver.agent.stats().local_retransmissions, driver.until(100_000)), (3, vec![]));
}

/// What is overtaken by less than a quarter of the round trip is not lost; then no longer three blocks, but time alone tells.
#[test]
fn what_was_overtaken_once_is_given_time() {
    let mut driver = Driver::offers(&spec(), true, None);
    for number in 0..7 {
        driver.data(110, &data(1000 * number, 1000));
    }
    driver.ack(160, &ack(1000));
    assert_eq!(driver.ack(161, &sacked(1000, &[(2000, 3000)])), []);
    assert_eq!(driver.ack(165, &ack(3000)), [Ack(7000, 4000)]);
    assert_eq!(driver.ack(166, &sacked(3000, &[(4000, 7000)])), []);
    assert_eq!(driver.until(177), []);
    assert_eq!(driver.until(179), [Data(3000, 1000)]);
}

/// The sender's acknowledgments are numbered behind what it has sent, which may be far beyond the window of the receiver.
#[test]
fn the_senders_acknowledgments_come_within_the_receivers_window() {
    let seq = |from: u32| ISS.wrapping_add(1).wrapping_add(from);
    let mut driver = Driver::open(&spec());
    driver.data(110, &data(0, 1000));
    driver.link.waiting = MOST;
    driver.data(111, &data(1000, 1000));
    assert_eq!(driver.agent.forward(at(171), &data(2000, 0), &LINK), Verdict::Renumber(seq(1000)));
    assert_eq!(driver.agent.forward(at(171), &data(1000, 0), &LINK), Verdict::Pass);
    let mut reset = data(2000, 0);
    reset.header.rst = true;
    assert_eq!(driver.agent.forward(at(172), &reset, &LINK), Verdict::Renumber(seq(1000)));
    assert_eq!(driver.agent.stats().flows_remembered, 0);
}

/// With a hole on the sender's side no more than half the buffer is acknowledged either. The blocks say what is held back; where there
/// are none, the duplicates wait.
#[test]
fn half_the_buffer_bounds_what_is_acknowledged_before_a_hole_too() {
    for sack in [true, false] {
        let mut driver = Driver::offers(&spec(), sack, None);
        for number in 0..6 {
            driver.data(110, &data(1000 * number, 1000));
        }
        let told = driver.data(111, &data(7000, 1000));
        assert_eq!(told, if sack { vec![Ack(4000, 4000)] } else { vec![] });
        assert_eq!(driver.agent.stats().acknowledged_ahead_max_bytes, 4000);
        let told = driver.ack(160, &ack(2000));
        assert_eq!(told, if sack { vec![Ack(6000, 4000)] } else { vec![Ack(6000, 4000), Ack(6000, 4000)] });
    }
}

/// What lies behind a hole never takes the room of what fills it.
#[test]
fn what_fills_a_hole_has_room() {
    let mut driver = Driver::open(&spec());
    driver.data(110, &data(0, 1000));
    for number in 2..9 {
        driver.data(111, &data(1000 * number, 1000));
    }
    let stats = driver.agent.stats();
    assert_eq!((stats.cached_max_bytes, stats.data_swallowed), (7000, 1));
    assert!(driver.data(120, &data(1000, 1000)).contains(&Data(1000, 1000)));
    assert_eq!(driver.agent.stats().cached_max_bytes, 8000);
    // Packets of another length overlap what is kept: those behind the hole make way.
    let mut driver = Driver::open(&spec());
    for number in 1..8 {
        driver.data(110, &data(1000 * number, 1000));
    }
    assert!(driver.data(120, &data(0, 1500)).contains(&Data(0, 1500)));
    assert!(driver.agent.stats().cached_max_bytes <= 8000);
}

/// Flows before a link are served in turn, a packet that comes when others wait as well.
#[test]
fn flows_are_served_in_turn() {
    let mut agent = spec().agent().unwrap();
    let flow = |number: u16, seen: Seen| {
        let mut seen = seen;
        let port = if seen.header.flow.source == FLOW.source {
            &mut seen.header.flow.source_port
        } else {
            &mut seen.header.flow.destination_port
        };
        *port += number;
        seen
    };
    let full = Room { waiting: (1000, 1000), ..LINK };
    for number in 0..2 {
        let mut syn = segment(FLOW, ISS, 0);
        (syn.header.syn, syn.header.ack) = (true, false);
        agent.forward(at(0), &flow(number, syn), &LINK);
        let mut answer = Seen { ack: ISS.wrapping_add(1), ..segment(FLOW.reversed(), PEER, 0) };
        answer.header.syn = true;
        agent.backward(at(100), &flow(number, answer));
    }
    let mut owner = HashMap::new();
    for packet in 0..3 {
        let Verdict::Hold(copy) = agent.forward(at(110), &flow(0, data(1000 * packet, 1000)), &full) else {
            panic!("there is no room")
        };
        owner.insert(copy, 0);
    }
    for packet in 0..3 {
        // There is room now, and the other flow waits.
        let Verdict::Hold(copy) = agent.forward(at(111), &flow(1, data(1000 * packet, 1000)), &LINK) else {
            panic!("it went in front")
        };
        owner.insert(copy, 1);
    }
    let mut turns = Vec::new();
    while agent.next_time() <= at(200) {
        if let Some(Emission::Copy(copy, _)) = agent.poll(at(200), &LINK) {
            turns.push(owner[&copy]);
        }
    }
    assert_eq!(turns, [0, 1, 0, 1, 0, 1]);
}

/// Before a queue that is managed the agent keeps no more of its own packets than wait in peace.
#[test]
fn a_managed_queue_gets_no_more_than_it_leaves_alone() {
    let mut driver = Driver::open(&spec());
    driver.link = Room { waiting: (1, 1000), calm: (2, u64::MAX), ..LINK };
    assert!(driver.data(110, &data(0, 1000)).contains(&Data(0, 1000)));
    assert!(driver.data(110, &data(1000, 1000)).contains(&Data(1000, 1000)));
    assert_eq!(driver.data(110, &data(2000, 1000)), [Ack(3000, 4000)]);
    // Each leaves when all that it found there has.
    assert_eq!(driver.until(113), [Data(2000, 1000)]);
}

/// Of a queue that is not managed the agent fills its share: the rest is for what passes it.
#[test]
fn a_share_of_the_queue_is_left_to_what_passes() {
    let mut driver = Driver::open(&spec());
    driver.link = Room { waiting: (1, 1000), most: (6, u64::MAX), calm: (6, u64::MAX), ..LINK };
    for number in 0..3 {
        assert!(driver.data(110, &data(1000 * number, 1000)).contains(&Data(1000 * number, 1000)));
    }
    assert_eq!(driver.data(110, &data(3000, 1000)), [Ack(4000, 4000)]);
}

/// RFC 3168: the receiver's echo of a mark comes to the sender with the next acknowledgment.
#[test]
fn the_echo_of_a_mark_is_passed_on() {
    let mut driver = Driver::open(&spec());
    driver.data(110, &data(0, 1000));
    driver.ack(160, &Seen { ece: true, ..ack(1000) });
    let Verdict::Keep(_) = driver.agent.forward(at(170), &data(1000, 1000), &LINK) else { panic!("held") };
    let Some(Emission::Answer(_, answer)) = driver.agent.poll(at(170), &LINK) else { panic!("no answer") };
    assert!(answer.ece);
    driver.ack(180, &ack(1000));
    let Verdict::Keep(_) = driver.agent.forward(at(190), &data(2000, 1000), &LINK) else { panic!("held") };
    let Some(Emission::Answer(_, answer)) = driver.agent.poll(at(190), &LINK) else { panic!("no answer") };
    assert!(!answer.ece);
}

/// After a timeout new data that comes lets packets go as what went again does: what it tells of losses is not left lying.
#[test]
fn new_data_after_a_timeout_lets_what_is_lost_go() {
    let mut driver = Driver::offers(&spec(), true, None);
    driver.data(110, &data(0, 1000));
    driver.ack(160, &ack(1000));
    driver.data(200, &data(1000, 1000));
    driver.data(200, &data(2000, 1000));
    // Both are lost. The first repair comes, the second does not, and beside it goes new data, which comes.
    assert_eq!(driver.until(500), [Data(1000, 1000)]);
    driver.data(510, &data(3000, 1000));
    let out = driver.ack(560, &ack(2000));
    assert!(out.contains(&Data(2000, 1000)) && out.contains(&Data(3000, 1000)), "{out:?}");
    driver.ack(611, &sacked(2000, &[(3000, 4000)]));
    let again = driver.until(700);
    assert_eq!(again, [Data(2000, 1000)]);
}
