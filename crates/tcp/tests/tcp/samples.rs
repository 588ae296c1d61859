//! Which round trips Linux takes of an ACK, and what its timers add.

use bentpipe_tcp::{Config, Profile};

use crate::harness::{config, control, recovery};
use crate::script::{Script, again};

/// A connection without timestamps whose retransmission timer is Linux's.
fn linux(rtt_ms: u64) -> Script {
    let rto = Profile::Linux.config(recovery("rack"), control("standard")).rto;
    Script::of(&Config { rto, initial_window: 10, ..config("rack") }, rtt_ms)
}

impl Script {
    fn samples(&self) -> (u64, f64) {
        let rtt = self.sender.rtt();
        (rtt.samples(), rtt.latest().map_or(0.0, |latest| latest.as_secs() * 1e3))
    }
}

#[test]
fn linux_takes_a_sample_of_each_ack_of_what_was_sent_once_also_by_sack_alone() {
    let mut script = linux(100);
    script.write(10);
    script.wait(100);
    script.ack(1, &[]);
    assert_eq!(script.samples(), (2, 100.0));
    script.wait(20);
    // Two ACKs of one window, without timestamps.
    script.ack(2, &[]);
    assert_eq!(script.samples(), (3, 120.0));
    script.wait(20);
    script.ack(2, &[(4, 4)]);
    assert_eq!(script.samples(), (4, 140.0));
    // What was reported before gives none a second time.
    script.wait(20);
    script.ack(2, &[(4, 4)]);
    assert_eq!(script.samples(), (4, 140.0));
    assert!(script.ack(2, &[(4, 6)]).contains(&(3, true)));
    assert_eq!(script.samples(), (5, 160.0));
    // Karn: by the timestamp alone.
    script.wait(100);
    script.ack(6, &[]);
    assert_eq!(script.samples(), (5, 160.0));
    let mut script = linux(100);
    script.write(10);
    script.wait(100);
    assert!(script.ack(0, &[(2, 4)]).contains(&(1, true)));
    script.wait(107);
    script.echoes = Some(107);
    script.ack(4, &[]);
    assert_eq!(script.samples(), (3, 107.0));
}

#[test]
fn linux_goes_by_the_time_of_sending_and_not_by_the_timestamp() {
    // tcp_ack_update_rtt: a timestamp is a whole number of ms.
    let mut script = linux(100);
    script.write(10);
    script.wait(100);
    script.echoes = Some(99);
    script.ack(1, &[]);
    assert_eq!(script.samples(), (2, 100.0));
}

#[test]
fn the_rfc_takes_one_sample_a_window_and_none_by_sack() {
    let mut script = Script::new("rack", "standard", 100);
    script.write(10);
    script.wait(100);
    script.ack(1, &[]);
    script.ack(2, &[]);
    script.ack(2, &[(4, 4)]);
    assert_eq!(script.samples(), (2, 100.0));
}

#[test]
fn linux_adds_two_ms_to_the_timer_of_rack_and_to_the_probe_of_the_tail() {
    // TCP_TIMEOUT_MIN_US, in ticks of 4 ms: a quarter of 100 ms and 2 ms are 7 ticks, and it expires with the next.
    let mut script = linux(100);
    script.write(4);
    script.wait(100);
    // One was late before.
    script.ack(0, &[(3, 3)]);
    script.ack(0, &[(2, 3)]);
    script.ack(4, &[]);
    script.write(2);
    script.wait(100);
    script.ack(4, &[(6, 6)]);
    assert_eq!(script.quiet(60), [(200.0 + 32.0, (5, true))]);
    // Two round trips and 2 ms are 51 ticks.
    let mut script = linux(100);
    script.write(10);
    assert_eq!(script.quiet(300), [(208.0, again(10..=10)[0])]);
}

#[test]
fn linux_probes_a_closed_window_with_nothing_below_it() {
    // tcp_xmit_probe_skb: SEG.SEQ is SND.UNA - 1, no data.
    for (mut script, seq, len) in [(linux(100), 0, 0), (Script::new("rack", "standard", 100), 1, 1)] {
        script.sender.set_peer_window(0);
        assert_eq!(script.write(10), []);
        let mut next = || {
            script.now = script.sender.next_timeout();
            assert_eq!(script.sender.on_timeout(script.now), Ok(()));
            script.sender.poll(script.now)
        };
        // The RTO is over later than the time for a probe of the tail.
        let probe = next().or_else(next).expect("a probe");
        assert_eq!((probe.seq.0, probe.len, script.sender.stats().window_probes), (seq, len, 1));
        assert_eq!(script.sender.poll(script.now), None);
        assert!(script.sender.next_timeout() > script.now, "and another");
    }
}

#[test]
fn the_timer_of_the_first_segment_bounds_the_probe_after_what_linux_sends() {
    // tcp_schedule_loss_probe(sk, false): what is left went out at 0, and its RTO is over before two round trips are from 150 ms.
    for (more, first) in [(0, 368.0), (1, 312.0)] {
        let mut script = linux(100);
        script.write(10);
        script.wait(150);
        script.ack(1, &[]);
        script.write(more);
        assert_eq!(script.quiet(400).first().map(|(at, _)| *at), Some(first), "{more}");
    }
}

#[test]
fn a_first_segment_that_linux_sends_again_has_a_whole_rto() {
    // tcp_xmit_retransmit_queue: F-RTO has sent 14 and 15, and what 14 brings sends 2 again, without a timer of RACK's.
    let mut script = linux(100);
    script.write(20);
    script.quiet(600);
    script.ack(1, &[]);
    script.wait(100);
    assert_eq!(script.ack(1, &[(12, 12)]), again(2..=2));
    assert_eq!(script.quiet(500), [(1024.0, again(2..=2)[0])]);
}
