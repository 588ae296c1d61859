//! What the recovery `rack` does: the kernel's packet scripts as traces of ours, and what its documents say of times.
//!
//! The scripts are those of packetdrill, also in Linux (tools/testing/selftests/net/packetdrill), written anew: each test names
//! its own.

use bentpipe_tcp::{Config, Growth, Incoming, Outgoing, SackBlock, Sender, Seq};
use bentpipe_units::{Span, Time};

use crate::harness::{config, control};

const FIRST: Seq = Seq(1);

/// A sender whose peer is written by hand, in segments of 1000 bytes counted from 1.
struct Script {
    sender: Sender,
    now: Time,
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
        Script { sender, now: Time::ZERO }
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
        self.sender.on_ack(self.now, &Incoming { sack: &sack, ..Incoming::of(end(acked)) });
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
