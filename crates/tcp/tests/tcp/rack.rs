//! What the recovery `rack` does: the kernel's packet scripts as traces of ours, and what its documents say of times.
//!
//! The scripts are those of packetdrill, also in Linux (tools/testing/selftests/net/packetdrill), written anew: each test names
//! its own.

use bentpipe_tcp::{Config, Growth, Profile, Receiver, Seq};
use bentpipe_units::{Span, Time};

use proptest::prelude::*;

use crate::harness::{CLIENT, Fate, Net, config, control};
use crate::script::{Script, again, new};

#[test]
fn one_of_ten_lost_costs_cubic_three_segments_of_ten() {
    // tcp_fast_recovery_prr-ss-10pkt-lost-1.pkt: in flight is ssthresh all the way, and each ACK lets one segment out.
    let mut script = Script::new("rack", "cubic", 100);
    assert_eq!(script.write(10), new(1..=10));
    script.wait(110);
    assert_eq!(script.ack(0, &[(2, 2)]), []);
    script.wait(10);
    assert_eq!(script.ack(0, &[(2, 3)]), []);
    script.wait(10);
    assert_eq!(script.ack(0, &[(2, 4)]), again(1..=1));
    assert_eq!(script.windows(), (7.0, 7.0));
    assert!(script.sender.in_recovery());
    script.wait(20);
    assert_eq!(script.write(7), []);
    for held in 5..=10 {
        script.wait(10);
        assert_eq!(script.ack(0, &[(2, held)]), new(held + 6..=held + 6));
    }
    script.wait(20);
    assert_eq!(script.ack(10, &[]), new(17..=17));
    assert!(!script.sender.in_recovery());
    assert_eq!(script.windows(), (7.0, 7.0));
}

#[test]
fn in_linux_the_ack_that_ends_a_recovery_counts_towards_the_next_segment() {
    let growth = Growth::Delivered;
    let mut script = Script::of(&Config { growth, initial_window: 10, ..config("rack") }, 100);
    assert_eq!(script.write(30), new(1..=10));
    script.wait(110);
    for held in 2..=12 {
        script.wait(10);
        script.ack(0, &[(2, held)]);
    }
    assert_eq!(script.windows(), (5.0, 5.0));
    script.wait(100);
    // It reports segment 1; with four more a window of five is acknowledged.
    script.ack(12, &[]);
    assert!(!script.sender.in_recovery());
    for acked in 13..=15 {
        script.ack(acked, &[]);
        assert_eq!(script.windows(), (5.0, 5.0));
    }
    script.ack(16, &[]);
    assert_eq!(script.windows(), (6.0, 5.0));
}

#[test]
fn what_ssthresh_allows_goes_at_once_when_all_is_acknowledged() {
    // tcp_fast_recovery_prr-ss-30pkt-lost1_4.pkt.
    let mut script = Script::new("rack", "cubic", 10);
    assert_eq!(script.write(10), new(1..=10));
    script.wait(10);
    assert_eq!(script.ack(0, &[(5, 5)]), []);
    script.wait(2);
    assert_eq!(script.ack(0, &[(5, 6)]), []);
    for (lost, held) in (7..=10).enumerate() {
        let lost = lost as u32 + 1;
        assert_eq!(script.ack(0, &[(5, held)]), again(lost..=lost));
    }
    script.wait(10);
    for acked in 1..=3 {
        assert_eq!(script.ack(acked, &[(5, 10)]), []);
    }
    assert_eq!(script.ack(10, &[]), []);
    script.wait(10);
    assert_eq!(script.write(10), new(11..=17));
}

#[test]
fn lost_retransmissions_and_a_second_burst_of_losses_go_by_what_is_delivered() {
    // tcp_fast_recovery_prr-ss-30pkt-lost-1_4-11_16.pkt.
    let mut script = Script::new("rack", "cubic", 10);
    assert_eq!(script.write(20), new(1..=10));
    script.wait(10);
    assert_eq!(script.ack(0, &[(5, 5)]), new(11..=11));
    script.wait(2);
    assert_eq!(script.ack(0, &[(5, 6)]), new(12..=12));
    for (lost, held) in (7..=10).enumerate() {
        script.wait(2);
        let lost = lost as u32 + 1;
        assert_eq!(script.ack(0, &[(5, held)]), again(lost..=lost));
    }
    // Less is in flight than ssthresh: as much goes out as is delivered (PRR-CRB).
    script.wait(2);
    assert_eq!(script.ack(0, &[(5, 11)]), new(13..=13));
    script.wait(2);
    assert_eq!(script.ack(0, &[(5, 12)]), new(14..=14));
    // And one more by an ACK that moves the cumulative point (PRR-SSRB).
    script.wait(10);
    assert_eq!(script.ack(1, &[(5, 12)]), new(15..=16));
    // The second retransmission is lost: what was sent after it is delivered.
    script.wait(2);
    assert_eq!(script.ack(1, &[(3, 12)]), [again(2..=2), new(17..=17)].concat());
    script.wait(2);
    assert_eq!(script.ack(1, &[(3, 13)]), new(18..=18));
    script.wait(2);
    assert_eq!(script.ack(1, &[(3, 14)]), new(19..=19));
}

#[test]
fn the_first_loss_goes_again_at_once_though_as_much_is_in_flight_as_ssthresh() {
    // RFC 9937 section 6.2: "Force a fast retransmit upon entering recovery". Five of ten are in flight: two are lost.
    let mut script = Script::new("rack", "standard", 100);
    script.write(20);
    script.wait(100);
    assert_eq!(script.ack(0, &[(3, 5)]), again(1..=1));
    assert_eq!(script.windows().1, 5.0);
}

#[test]
fn where_segments_were_late_before_a_loss_waits_for_a_quarter_of_the_shortest_round_trip() {
    // cubic-rack-reo-timeout-retrans-failed-incoming-data.pkt.
    let mut script = Script::new("rack", "cubic", 20);
    assert_eq!(script.write(10), new(1..=10));
    script.wait(20);
    assert_eq!(script.ack(0, &[(10, 10)]), []);
    assert_eq!(script.ack(0, &[(4, 4), (10, 10)]), []);
    assert_eq!(script.ack(10, &[]), []);
    script.wait(25);
    let written = script.now.as_secs() * 1e3;
    assert_eq!(script.write(2), new(11..=12));
    script.wait(20);
    assert_eq!(script.ack(10, &[(12, 12)]), []);
    assert!(!script.sender.in_recovery());
    // A round trip of 20 ms, and 5 ms more.
    assert_eq!(script.quiet(20), [(written + 25.0, (11, true))]);
    assert!(script.sender.in_recovery());
    assert_eq!(script.windows().0, 1.0, "nothing else is in flight");
    script.wait(10);
    assert_eq!(script.ack(10, &[(12, 12)]), []);
    assert_eq!(script.windows().0, 1.0);
}

#[test]
fn over_a_path_that_became_longer_the_shortest_round_trip_is_forgotten_after_five_minutes() {
    // RFC 8985 section 6.2 step 1.
    let waits_after = |seconds: u32| {
        let mut script = Script::new("rack", "standard", 20);
        script.write(10);
        script.wait(20);
        // The last came first: from now on what is late may come yet.
        script.ack(0, &[(10, 10)]);
        script.ack(10, &[]);
        let known = 10 + seconds / 10;
        for segment in 11..=known {
            script.write(1);
            script.wait(200);
            script.ack(segment, &[]);
            script.wait(9800);
        }
        let written = script.now.as_secs() * 1e3;
        script.write(2);
        script.wait(200);
        assert_eq!(script.ack(known, &[(known + 2, known + 2)]), []);
        let sent = script.quiet(100);
        assert_eq!((sent.len(), sent[0].1), (1, (known + 1, true)));
        sent[0].0 - written - 200.0
    };
    // A quarter of 20 ms, and of 200 ms.
    assert_eq!((waits_after(290), waits_after(310)), (5.0, 50.0));
}

#[test]
fn the_last_segment_is_probed_and_the_loss_that_the_probe_repaired_is_answered() {
    // RFC 8985 section 7: two round trips, and what a receiver may wait with an ACK of a single segment.
    for (twice, expected) in [(false, 9.5), (true, f64::INFINITY)] {
        let mut script = Script::new("rack", "standard", 100);
        script.write(10);
        script.wait(100);
        script.ack(9, &[]);
        assert_eq!(script.quiet(1000), [(500.0, (10, true))]);
        let blocks: &[(u32, u32)] = if twice { &[(10, 10)] } else { &[] };
        assert_eq!(script.ack(10, blocks), []);
        assert_eq!(script.windows().1, f64::INFINITY, "what is not known yet");
        script.write(1);
        script.wait(100);
        script.ack(11, &[]);
        assert_eq!((script.windows().1, script.sender.stats().timeouts), (expected, 0));
    }
}

#[test]
fn a_probe_is_new_data_where_there_is_any() {
    let mut script = Script::new("rack", "standard", 100);
    assert_eq!(script.write(12), new(1..=10));
    assert_eq!(script.quiet(300), [(200.0, (11, false))]);
    // It counts from the last segment sent, not from the last ACK.
    let mut script = Script::new("rack", "standard", 100);
    script.write(2);
    script.wait(150);
    script.write(2);
    assert_eq!(script.quiet(500), [(350.0, (4, true))]);
}

#[test]
fn a_probe_of_new_data_is_the_only_one_until_it_is_answered() {
    let mut script = Script::new("rack", "standard", 100);
    script.write(11);
    assert_eq!(script.quiet(300), [(200.0, (11, false))]);
    // What was sent before it is acknowledged: no second probe, but the timer.
    assert_eq!(script.ack(10, &[]), []);
    assert_eq!(script.quiet(2000).first(), Some(&(1300.0, (11, true))));
    assert_eq!(script.sender.stats().timeouts, 1);
}

#[test]
fn two_acks_of_the_last_segment_tell_that_the_probe_was_needless() {
    // A peer without D-SACK acknowledges the original, then the probe.
    let mut script = Script::new("rack", "standard", 100);
    script.write(10);
    script.wait(100);
    script.ack(9, &[]);
    assert_eq!(script.quiet(1000), [(500.0, (10, true))]);
    script.ack(10, &[]);
    script.ack(10, &[]);
    script.write(1);
    script.wait(100);
    script.ack(11, &[]);
    assert_eq!(script.windows().1, f64::INFINITY);
}

#[test]
fn a_report_of_an_earlier_recovery_does_not_take_back_what_the_probe_found() {
    let mut script = Script::new("rack", "standard", 100);
    script.write(10);
    script.wait(100);
    assert_eq!(script.ack(0, &[(2, 4)]), again(1..=1));
    script.wait(100);
    script.ack(10, &[]);
    script.write(5);
    script.wait(100);
    script.ack(14, &[]);
    let probed = script.quiet(1000);
    assert_eq!(probed.iter().map(|&(_, out)| out).collect::<Vec<_>>(), again(15..=15));
    script.ack(15, &[]);
    script.write(1);
    script.wait(100);
    script.ack(16, &[]);
    let reduced = script.windows();
    assert!(reduced.1 < 5.0, "{reduced:?}");
    script.ack(16, &[(1, 1)]);
    assert_eq!(script.windows(), reduced);
}

/// One of two segments is late by so many ms, in a connection of 40 ms: when it goes again, after the time of sending.
fn goes_again_after(script: &mut Script, segment: u32) -> f64 {
    let written = script.now.as_secs() * 1e3;
    assert_eq!(script.write(2), new(segment..=segment + 1));
    script.wait(40);
    assert_eq!(script.ack(segment - 1, &[(segment + 1, segment + 1)]), []);
    let sent = script.quiet(60);
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(sent[0].1, (segment, true));
    sent[0].0 - written
}

/// Four segments over 40 ms, the second of which came behind the fourth.
fn reordered_once() -> Script {
    let mut script = Script::new("rack", "standard", 40);
    script.write(4);
    script.wait(40);
    script.ack(0, &[(4, 4)]);
    script.ack(0, &[(2, 2), (4, 4)]);
    script.ack(4, &[]);
    script
}

#[test]
fn the_window_of_reordering_grows_by_what_came_twice_and_shrinks_after_sixteen_recoveries() {
    // RFC 8985 section 6.2 step 4.
    let mut script = reordered_once();
    assert_eq!(goes_again_after(&mut script, 5), 50.0, "a quarter of 40 ms");
    script.ack(6, &[]);
    script.ack(6, &[(5, 5)]);
    // Twice in a round trip count once.
    script.ack(6, &[(5, 5)]);
    assert_eq!(goes_again_after(&mut script, 7), 60.0);
    script.ack(8, &[]);
    script.ack(8, &[(7, 7)]);
    let mut segment = 9;
    let mut waits = Vec::new();
    for _ in 0..17 {
        waits.push(goes_again_after(&mut script, segment));
        script.wait(40);
        script.ack(segment + 1, &[]);
        segment += 2;
    }
    assert_eq!((waits[0], waits[15], waits[16]), (70.0, 70.0, 50.0), "{waits:?}");
}

#[test]
fn what_else_is_lost_of_a_window_reduces_it_no_further() {
    // RFC 5681 section 4.3: one indication of congestion a window of data.
    let mut script = Script::new("rack", "standard", 100);
    script.write(20);
    script.wait(100);
    assert!(script.ack(0, &[(2, 4)]).contains(&(1, true)));
    assert_eq!(script.windows().1, 5.0);
    assert!(script.ack(0, &[(2, 4), (6, 8)]).contains(&(5, true)));
    assert_eq!((script.windows().1, script.sender.in_recovery()), (5.0, true));
}

#[test]
fn what_came_twice_in_one_round_trip_widens_the_window_of_reordering_once() {
    // RFC 8985 section 6.2 step 4: "Grow the reordering window per round that sees DSACK."
    let mut script = reordered_once();
    assert_eq!(script.write(6), new(5..=10));
    script.wait(40);
    assert_eq!(script.ack(4, &[(6, 6)]), []);
    assert_eq!(script.quiet(20)[0].1, (5, true));
    script.ack(6, &[]);
    // Each report comes with something that was sent before the first of them.
    script.ack(7, &[(5, 5)]);
    script.ack(8, &[(5, 5)]);
    script.ack(10, &[]);
    assert_eq!(goes_again_after(&mut script, 11), 60.0);
}

#[test]
fn the_window_of_reordering_is_a_smoothed_round_trip_at_most() {
    let mut script = reordered_once();
    let mut segment = 5;
    let waits: Vec<f64> = (0..8)
        .map(|_| {
            let wait = goes_again_after(&mut script, segment);
            script.ack(segment + 1, &[]);
            script.ack(segment + 1, &[(segment, segment)]);
            segment += 2;
            wait
        })
        .collect();
    assert_eq!(waits[..4], [50.0, 60.0, 70.0, 80.0]);
    let smoothed = script.sender.rtt().smoothed().map_or(0.0, |rtt| rtt.as_secs() * 1e3);
    assert!(waits[7] <= 40.0 + smoothed + 1.0, "{waits:?} {smoothed}");
}

#[test]
fn an_ack_that_echoes_the_original_does_not_show_that_the_retransmission_arrived() {
    // RFC 8985 section 6.2 step 2: "If ACK.ts_option.echo_reply < Segment.xmit_ts: Continue". The first of ten is late by more than a
    // round trip after it went again; what was sent before that is under way yet.
    for (echoed, expected) in [(Some(230), false), (None, true)] {
        let mut script = Script::new("rack", "standard", 100);
        script.write(10);
        script.wait(120);
        assert!(script.ack(0, &[(2, 4)]).contains(&(1, true)));
        script.wait(110);
        script.echoes = echoed;
        let sent = script.ack(4, &[]);
        assert_eq!(sent.iter().any(|&(_, again)| again), expected, "{sent:?}");
    }
}

#[test]
fn a_receiver_reports_what_came_twice_beside_what_it_holds() {
    // tcp_dsack_mult.pkt.
    let mut config: Config = Profile::Rfc.config(crate::harness::recovery("rack"), control("standard"));
    config.duplicate_sack = true;
    let mut receiver = Receiver::new(&config);
    receiver.start(Seq(1));
    let mut after = |start: u32, end: u32| {
        receiver.on_data(Time::ZERO, Seq(start), end - start, false);
        let blocks = receiver.sack_blocks(4);
        let blocks: Vec<_> = blocks.as_slice().iter().map(|block| (block.start.0, block.end.0)).collect();
        (receiver.nxt().0, blocks)
    };
    assert_eq!(after(1001, 2001), (1, vec![(1001, 2001)]));
    assert_eq!(after(2001, 3001), (1, vec![(1001, 3001)]));
    assert_eq!(after(4001, 5001), (1, vec![(4001, 5001), (1001, 3001)]));
    assert_eq!(after(7001, 8001), (1, vec![(7001, 8001), (4001, 5001), (1001, 3001)]));
    assert_eq!(after(1, 6001), (6001, vec![(1001, 3001), (7001, 8001)]));
    assert_eq!(after(6001, 8001), (8001, vec![(7001, 8001)]));
    assert_eq!(after(1, 1001), (8001, vec![(1, 1001)]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every byte arrives once and in order, with cwnd of at least a segment (the harness looks at both), by every control.
    #[test]
    fn whatever_is_lost_late_or_doubled_everything_arrives(
        name in prop::sample::select(&["standard", "adalr", "afc", "adalr+afc", "cubic"][..]),
        fates in prop::collection::vec(
            prop_oneof![
                6 => Just(Fate::pass()),
                2 => Just(Fate::drop()),
                1 => (1_u64..400).prop_map(Fate::late),
                1 => (0_u64..300).prop_map(Fate::twice),
            ],
            0..160,
        ),
        acks_too in any::<bool>(),
        [timestamps, duplicate_sack, delayed] in any::<[bool; 3]>(),
        bytes in 1000_u64..150_000,
    ) {
        let config = Config {
            control: control(name),
            initial_window: 10,
            timestamps,
            duplicate_sack,
            max_retransmissions: 200,
            // Nobody forgets the connection before the other end is through.
            time_wait: Span::from_millis(20_000_000),
            ..config("rack")
        };
        let config = Config { delayed_ack: bentpipe_tcp::DelayedAck { segments: 1 + u32::from(delayed), ..config.delayed_ack }, ..config };
        let net = Net::alike(config).through(move |p| {
            let hit = p.from == CLIENT || acks_too;
            fates.get(p.number).filter(|_| hit).cloned().unwrap_or(Fate::pass())
        });
        net.transfer(bytes);
    }
}
