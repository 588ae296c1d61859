//! What the recovery `rack` does: the kernel's packet scripts as traces of ours, and what its documents say of times.
//!
//! The scripts are those of packetdrill, also in Linux (tools/testing/selftests/net/packetdrill), written anew: each test names
//! its own.

use bentpipe_tcp::{Config, Growth, Incoming, Outgoing, Profile, Receiver, SackBlock, Sender, Seq};
use bentpipe_units::{Span, Time};

use proptest::prelude::*;

use crate::harness::{CLIENT, Fate, Net, config, control};

const FIRST: Seq = Seq(1);

/// A sender whose peer is written by hand, in segments of 1000 bytes counted from 1.
struct Script {
    sender: Sender,
    now: Time,
    /// RTT by the timestamps of the ACKs to come, in ms.
    echoes: Option<u64>,
}

/// A segment that went out: its number, and whether it went again.
type Out = (u32, bool);

impl Script {
    /// Ten segments may go out at first; the handshake took `rtt_ms`.
    fn new(recovery: &str, controlled: &str, rtt_ms: u64) -> Script {
        let growth = Growth::Bytes { limit: u32::MAX };
        let config = Config { control: control(controlled), initial_window: 10, growth, ..config(recovery) };
        let mut sender = Sender::new(&config, FIRST);
        sender.set_peer_window(320 << 10);
        sender.sample_handshake(Time::ZERO, Span::from_millis(rtt_ms));
        Script { sender, now: Time::ZERO, echoes: None }
    }

    fn wait(&mut self, ms: u64) {
        self.now += Span::from_millis(ms);
    }

    fn poll(&mut self) -> Vec<Out> {
        let out = std::iter::from_fn(|| self.sender.poll(self.now));
        out.map(|out: Outgoing| ((out.seq - FIRST) / 1000 + 1, out.again)).collect()
    }

    fn write(&mut self, segments: u64) -> Vec<Out> {
        self.sender.write(segments * 1000);
        self.poll()
    }

    /// An ACK of all up to segment `acked`, with blocks from one segment to another, both included.
    fn ack(&mut self, acked: u32, blocks: &[(u32, u32)]) -> Vec<Out> {
        let end = |segment: u32| FIRST + segment * 1000;
        let block = |&(from, to): &(u32, u32)| SackBlock { start: end(from - 1), end: end(to) };
        let sack: Vec<SackBlock> = blocks.iter().map(block).collect();
        let timestamp_rtt = self.echoes.map(Span::from_millis);
        self.sender.on_ack(self.now, &Incoming { sack: &sack, timestamp_rtt, ..Incoming::of(end(acked)) });
        self.poll()
    }

    /// What goes out by timers within so many milliseconds, with the time of each.
    fn quiet(&mut self, ms: u64) -> Vec<(f64, Out)> {
        let until = self.now + Span::from_millis(ms);
        let mut sent = Vec::new();
        while self.sender.next_timeout() <= until {
            self.now = self.sender.next_timeout();
            assert_eq!(self.sender.on_timeout(self.now), Ok(()));
            let at = self.now.as_secs() * 1e3;
            sent.extend(self.poll().into_iter().map(|out| (at, out)));
        }
        self.now = until;
        sent
    }

    /// cwnd and ssthresh in segments.
    fn windows(&self) -> (f64, f64) {
        let window = self.sender.window();
        (window.cwnd / 1000.0, window.ssthresh / 1000.0)
    }
}

fn new(segments: std::ops::RangeInclusive<u32>) -> Vec<Out> {
    segments.map(|segment| (segment, false)).collect()
}

fn again(segments: std::ops::RangeInclusive<u32>) -> Vec<Out> {
    segments.map(|segment| (segment, true)).collect()
}

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

/// Ten segments, of which the first is late: it goes again at 120 ms.
fn first_is_late() -> Script {
    let mut script = Script::new("rack", "standard", 100);
    script.write(10);
    script.wait(100);
    for held in 2..=3 {
        assert_eq!(script.ack(0, &[(2, held)]), []);
    }
    script.wait(20);
    assert_eq!(script.ack(0, &[(2, 4)]), again(1..=1));
    assert_eq!(script.windows().1, 5.0);
    script
}

#[test]
fn a_recovery_is_taken_back_when_all_that_went_again_has_come_twice() {
    // RFC 3708: the original comes, then the retransmission, when the recovery is over.
    let mut script = first_is_late();
    script.wait(10);
    script.ack(4, &[]);
    script.ack(10, &[]);
    assert_eq!((script.windows(), script.sender.in_recovery()), ((5.0, 5.0), false));
    script.wait(80);
    script.ack(10, &[(1, 1)]);
    assert_eq!(script.windows(), (10.0, f64::INFINITY));
    // Once.
    script.ack(10, &[(1, 1)]);
    assert_eq!(script.windows(), (10.0, f64::INFINITY));
}

#[test]
fn one_of_two_that_came_twice_takes_nothing_back() {
    let mut script = Script::new("rack", "standard", 100);
    script.write(10);
    script.wait(100);
    let sent: Vec<Out> = (3..=10).flat_map(|held| script.ack(0, &[(3, held)])).collect();
    assert_eq!(sent, again(1..=2));
    script.wait(100);
    script.ack(10, &[]);
    script.ack(10, &[(1, 1)]);
    assert_eq!(script.windows(), (5.0, 5.0));
    script.ack(10, &[(2, 2)]);
    assert_eq!(script.windows(), (10.0, f64::INFINITY));
}

#[test]
fn what_came_twice_without_a_reduction_takes_nothing_back() {
    let mut script = first_is_late();
    script.wait(10);
    // Of another segment, which did not go again.
    script.ack(4, &[]);
    script.ack(10, &[]);
    script.ack(10, &[(20, 20)]);
    assert_eq!(script.windows(), (5.0, 5.0));
}

#[test]
fn a_recovery_is_taken_back_by_an_echo_of_the_original() {
    // RFC 3522: the ACK of new data echoes a time before that of the retransmission.
    for (echoed, expected) in [(130, (10.0, f64::INFINITY)), (10, (5.0, 5.0))] {
        let mut script = first_is_late();
        script.wait(10);
        script.echoes = Some(echoed);
        script.ack(10, &[]);
        assert_eq!((script.windows(), script.sender.in_recovery()), (expected, false), "{echoed} ms");
    }
    // And in the middle of it.
    let mut script = first_is_late();
    script.wait(10);
    script.echoes = Some(130);
    script.ack(4, &[]);
    assert_eq!((script.windows(), script.sender.in_recovery()), ((10.0, f64::INFINITY), false));
}

/// Twenty segments to send, ten under way, and nothing heard until the timer has expired behind the probe.
fn expired() -> Script {
    let mut script = Script::new("rack", "standard", 100);
    assert_eq!(script.write(20), new(1..=10));
    // Two round trips; and an RTO of 1 s after the probe.
    assert_eq!(script.quiet(1200), [(200.0, (11, false)), (1200.0, (1, true))]);
    assert_eq!((script.windows(), script.sender.stats().timeouts), ((1.0, 5.0), 1));
    script
}

#[test]
fn a_spurious_timeout_is_taken_back_by_acks_of_what_was_sent_once() {
    // RFC 5682 section 3.1: 2.b, then 3.b.
    let mut script = expired();
    script.wait(10);
    assert_eq!(script.ack(1, &[]), new(12..=13));
    script.wait(10);
    let sent = script.ack(2, &[]);
    assert!(sent.iter().all(|(_, again)| !again), "{sent:?}");
    assert_eq!(script.windows().1, f64::INFINITY);
    assert!(script.windows().0 >= 10.0);
}

#[test]
fn a_timeout_stands_when_only_what_was_sent_after_it_arrives() {
    // 3.a.
    let mut script = expired();
    script.wait(100);
    assert_eq!(script.ack(1, &[]), new(12..=13));
    script.wait(100);
    assert_eq!(script.ack(1, &[(12, 12)]), again(2..=2));
    assert_eq!(script.windows(), (2.0, 5.0));
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

#[test]
fn the_window_of_reordering_grows_by_what_came_twice_and_shrinks_after_sixteen_recoveries() {
    // RFC 8985 section 6.2 step 4.
    let mut script = Script::new("rack", "standard", 40);
    script.write(4);
    script.wait(40);
    script.ack(0, &[(4, 4)]);
    script.ack(0, &[(2, 2), (4, 4)]);
    script.ack(4, &[]);
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
