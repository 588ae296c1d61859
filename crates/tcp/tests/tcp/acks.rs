//! When the receiver acknowledges, and what.

use bentpipe_tcp::{Config, DelayedAck};
use bentpipe_units::Span;

use crate::harness::{CLIENT, Fate, Net, SERVER, config};

fn delayed() -> Config {
    let mut config = config("sack");
    config.delayed_ack.segments = 2;
    config
}

/// The server's ACKs: time in milliseconds and byte.
fn acks(net: &Net) -> Vec<(f64, i64)> {
    net.acks_by(SERVER)
        .iter()
        .map(|sent| (sent.ms(), net.relative(CLIENT, sent.passing.segment.ack)))
        .collect()
}

/// Opens with an initial window of `segments` and sends so many.
fn burst(config: Config, segments: u32, drop: &[usize]) -> Net {
    let mut net = Net::alike(Config { initial_window: segments, ..config }).dropping(drop);
    net.open();
    net.write(CLIENT, u64::from(segments) * 1000);
    net.run_to(900);
    net
}

#[test]
fn every_second_segment_at_once_and_a_single_one_after_200_ms() {
    assert_eq!(acks(&burst(delayed(), 4, &[])), [(150.0, 2000), (150.0, 4000)]);
    assert_eq!(acks(&burst(delayed(), 5, &[])), [(150.0, 2000), (150.0, 4000), (350.0, 5000)]);
    let mut third = delayed();
    third.delayed_ack.segments = 3;
    assert_eq!(acks(&burst(third, 4, &[])), [(150.0, 3000), (350.0, 4000)]);
    assert_eq!(acks(&burst(config("sack"), 2, &[])), [(150.0, 1000), (150.0, 2000)]);
}

#[test]
fn the_delay_counts_from_the_first_segment_that_waits() {
    let mut net = Net::alike(delayed());
    net.open();
    net.write(CLIENT, 1000);
    net.run_to(600);
    assert_eq!(acks(&net), [(350.0, 1000)]);
    // An ACK that another reason sent forgets the old deadline.
    net.write(CLIENT, 1000);
    net.run_to(700);
    net.write(CLIENT, 1000);
    net.run_to(750);
    net.write(CLIENT, 1000);
    net.run_to(1400);
    assert_eq!(acks(&net)[1..], [(750.0, 3000), (1000.0, 4000)]);
}

/// As Linux 2.4 has it: `quick` ACKs at most, and an ACK after 40 to 500 ms.
fn linux(quick: u32) -> Config {
    let (timeout, shortest) = (Span::from_millis(500), Span::from_millis(40));
    Config { delayed_ack: DelayedAck { segments: 2, timeout, shortest, quick }, ..config("sack") }
}

/// How many bytes each of the server's ACKs acknowledges.
fn steps(net: &Net) -> Vec<i64> {
    let all: Vec<i64> = std::iter::once(0).chain(acks(net).iter().map(|ack| ack.1)).collect();
    all.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn a_connection_starts_with_quick_acks() {
    // While the window opens from 4 segments by 2 a segment to 65,535 bytes, and two more (half of 4 segments).
    let net = burst(linux(16), 40, &[]);
    let (quick, rest) = (vec![1000; 33], [2000, 2000, 2000, 1000]);
    assert_eq!(steps(&net), [&quick[..], &rest].concat(), "{}", net.trace());
    assert_eq!(acks(&net).last(), Some(&(190.0, 40_000)));
    assert_eq!(steps(&burst(linux(0), 4, &[])), [2000, 2000]);
    // A window of four segments is open at once: half of it.
    let small = Config { receive_window: 4000, ..linux(16) };
    assert_eq!(steps(&burst(small.clone(), 4, &[])), [1000, 1000, 2000]);
    // And one at most.
    let one = Config { delayed_ack: DelayedAck { quick: 1, ..small.delayed_ack }, ..small };
    assert_eq!(steps(&burst(one, 4, &[])), [1000, 2000, 1000]);
}

#[test]
fn quick_acks_follow_a_hole() {
    let mut net = burst(Config { delayed_ack: linux(16).delayed_ack, ..config("newreno") }, 60, &[50]);
    assert_eq!(acks(&net).last().map(|ack| ack.1), Some(60_000));
    let before = acks(&net).len();
    net.write(CLIENT, 16_000);
    net.run_to(1400);
    // 16 with each segment past the hole, less the ACK of the last of them and that of the one that filled it.
    assert_eq!(steps(&net)[before..], [&[1000; 14][..], &[2000]].concat(), "{}", net.trace());
}

#[test]
fn a_long_pause_means_quick_acks_again() {
    let mut net = Net::alike(Config { receive_window: 8000, ..linux(16) });
    net.open();
    for ms in [100, 400, 700, 1000, 5000] {
        net.run_to(ms);
        net.write(CLIENT, 1000);
    }
    net.run_to(6000);
    let waits: Vec<f64> = acks(&net)
        .iter()
        .zip([100.0, 400.0, 700.0, 1000.0, 5000.0])
        .map(|(ack, sent)| ack.0 - sent - 50.0)
        .collect();
    // The window opens with the first two; half of it is two or three segments.
    assert_eq!(waits, [0.0, 0.0, 0.0, 0.0, 0.0], "{}", net.trace());
}

#[test]
fn the_delay_follows_the_segments() {
    let sent = [200, 900, 1600, 2300, 3000, 3700, 3720];
    let mut net = Net::alike(linux(0));
    net.open();
    for ms in sent {
        net.run_to(ms);
        net.write(CLIENT, 1000);
    }
    net.run_to(5000);
    // Each that waits to its end doubles it, up to 500 ms; the last segment came 20 ms behind another, and is the second.
    let ends: Vec<f64> = acks(&net).iter().map(|ack| ack.0).collect();
    assert_eq!(ends, [290.0, 1030.0, 1810.0, 2670.0, 3550.0, 3770.0], "{}", net.trace());
    net.write(CLIENT, 1000);
    net.run_to(6000);
    // 500 / 2 + 20 ms, missed never since, and a pause of more than that leaves it.
    assert_eq!(acks(&net).last().map(|ack| ack.0), Some(5320.0), "{}", net.trace());
}

// sack, section 5, receiver: segments out of order are answered with duplicate ACKs that report them
#[test]
fn what_is_out_of_order_is_answered_at_once() {
    // `sack`, section 5: "When the destination receives out-of-order segments, it sends duplicate ACKs".
    // RFC 5681 section 4.2. Segment 2 of 6 is lost: one ACK of the first after its delay would be, but for the third.
    let net = burst(delayed(), 6, &[2]);
    let times: Vec<f64> = acks(&net).iter().map(|ack| ack.0).take(4).collect();
    assert_eq!(times, [150.0; 4], "{}", net.trace());
    assert!(acks(&net)[..4].iter().all(|ack| ack.1 == 1000));
    // The segment that fills the gap too, although it is a single one: it is resent at 200 ms.
    assert_eq!(acks(&net)[4], (250.0, 6000), "{}", net.trace());
}

#[test]
fn a_gap_filled_in_part_is_answered_at_once() {
    let net = burst(delayed(), 8, &[2, 4]);
    let filled: Vec<(f64, i64)> = acks(&net).into_iter().filter(|ack| ack.1 > 1000).collect();
    assert_eq!(filled[0], (250.0, 3000), "{}", net.trace());
}

#[test]
fn a_segment_held_already_is_answered_at_once() {
    let mut net =
        Net::alike(delayed()).through(|p| if p.data_number == 1 { Fate::twice(10) } else { Fate::pass() });
    net.open();
    net.write(CLIENT, 1000);
    net.run_to(400);
    assert_eq!(acks(&net), [(160.0, 1000)]);
    assert_eq!(net.ends[SERVER].receiver().stats().duplicate_bytes, 1000);
}

#[test]
fn fin_is_answered_at_once() {
    let mut net = Net::alike(delayed());
    net.closes_after_peer = [false; 2];
    net.open();
    net.write(CLIENT, 1000);
    net.run_to(110);
    net.close(CLIENT);
    net.run_to(900);
    assert_eq!(acks(&net), [(160.0, 1001)]);
}

/// The SACK blocks of each of the server's ACKs, in segments.
fn blocks(net: &Net) -> Vec<Vec<(i64, i64)>> {
    let segments = |seq| net.relative(CLIENT, seq) / 1000;
    net.acks_by(SERVER)
        .iter()
        .map(|sent| sent.passing.segment.options.sack)
        .map(|sack| {
            sack.as_slice().iter().map(|block| (segments(block.start), segments(block.end))).collect()
        })
        .collect()
}

// sack, section 5, receiver: an ACK tells which segments have been received
#[test]
fn sack_blocks_come_newest_first() {
    // `sack`, section 5: "additional information about the segments that have been received by the destination".
    // RFC 2018 section 7, case 3 continued: every second segment is lost.
    let net = burst(Config { limited_transmit: false, ..config("sack") }, 12, &[1, 3, 5, 7, 9, 11]);
    let expected: [&[(i64, i64)]; 6] = [
        &[(1, 2)],
        &[(3, 4), (1, 2)],
        &[(5, 6), (3, 4), (1, 2)],
        &[(7, 8), (5, 6), (3, 4), (1, 2)],
        &[(9, 10), (7, 8), (5, 6), (3, 4)],
        &[(11, 12), (9, 10), (7, 8), (5, 6)],
    ];
    assert_eq!(blocks(&net)[..6], expected, "{}", net.trace());
    // Timestamps leave room for three (RFC 2018 section 3).
    let stamped = Config { limited_transmit: false, timestamps: true, ..config("sack") };
    let net = burst(Config { mss: 1012, ..stamped }, 10, &[1, 3, 5, 7, 9]);
    assert_eq!(blocks(&net)[3], [(7, 8), (5, 6), (3, 4)], "{}", net.trace());
    assert_eq!(blocks(&net).iter().map(Vec::len).max(), Some(3));
}

#[test]
fn a_fin_behind_what_is_held_is_reported_with_it() {
    for recovery in ["sack", "rack"] {
        let net = Net::alike(Config { initial_window: 4, ..config(recovery) }).dropping(&[1]).transfer(4000);
        let acks = net.acks_by(SERVER);
        let reported = acks.iter().flat_map(|sent| sent.passing.segment.options.sack.as_slice().to_vec());
        let ends: Vec<i64> = reported.map(|block| net.relative(CLIENT, block.end)).collect();
        assert_eq!(ends[..3], [2000, 3000, 4001], "{}", net.trace());
        // FIN is not taken for one octet more that is missing.
        assert_eq!(net.ends[CLIENT].sender().stats().retransmitted_segments, 1, "{}", net.trace());
    }
}

#[test]
fn without_sack_acks_carry_no_blocks() {
    let net = burst(config("newreno"), 8, &[2]);
    assert!(blocks(&net).iter().all(Vec::is_empty));
}

#[test]
fn an_end_that_sends_data_too_still_tells_of_holes() {
    // Both ends send without a pause, and each segment that arrives lets another out: it carries the ACK, but no duplicate
    // ACK.
    for recovery in ["sack", "newreno"] {
        let mut net = Net::alike(Config { receive_window: 400_000, ..config(recovery) }).dropping(&[60]);
        net.open();
        net.run_to(100);
        net.write(CLIENT, 400_000);
        net.write(SERVER, 400_000);
        net.run();
        assert_eq!(net.read, [400_000, 400_000]);
        let stats = net.ends[CLIENT].sender().stats();
        assert_eq!((stats.timeouts, stats.retransmitted_segments), (0, 1), "{recovery:?}\n{}", net.trace());
    }
}
