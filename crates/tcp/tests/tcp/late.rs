//! Segments that come late and were not lost, as Linux has it: what the recovery `rack` takes back, and what opens cwnd meanwhile.

use bentpipe_tcp::{Config, Profile};

use crate::harness::{control, recovery};
use crate::script::{Script, again, new};

/// Linux's sender of segments of 1000 bytes, ten at first; the handshake took 100 ms.
fn linux() -> Script {
    Script::of(&config(), 100)
}

fn config() -> Config {
    let config = Profile::Linux.config(recovery("rack"), control("standard"));
    Config { mss: 1000, initial_window: 10, ..config }
}

#[test]
fn data_reported_by_sack_opens_cwnd_once_a_segment_was_late_by_more_than_three() {
    // tcp_may_raise_cwnd: "If reordering is high then always grow cwnd whenever data is delivered regardless of its ordering."
    let mut script = linux();
    script.write(60);
    script.wait(100);
    script.ack(0, &[(2, 3)]);
    assert_eq!(script.windows().0, 10.0);
    // Segment 1 is late by two: not far.
    script.ack(3, &[]);
    assert_eq!(script.windows().0, 11.0);
    script.ack(3, &[(5, 9)]);
    assert_eq!(script.windows().0, 11.0);
    // Segment 4 by five.
    script.ack(9, &[]);
    assert_eq!(script.windows().0, 12.0);
    script.ack(10, &[]);
    script.wait(101);
    script.ack(10, &[(12, 14)]);
    assert_eq!(script.windows().0, 16.0);
}

#[test]
fn what_came_twice_was_delivered_twice() {
    // tcp_dsack_seen: "A spurious retransmission is delivered".
    let mut script = linux();
    script.write(40);
    script.wait(100);
    assert_eq!(script.ack(0, &[(2, 4)])[0], (1, true));
    script.wait(10);
    script.echoes = Some(110);
    script.ack(4, &[]);
    assert!(!script.sender.in_recovery());
    script.echoes = None;
    let before = script.windows().0;
    script.ack(5, &[(1, 1)]);
    assert_eq!(script.windows().0, before + 2.0);
    // Nothing went again that a second report could be of (tcp_dsack_seen: "dup segs weren't retransmitted by sender").
    script.ack(6, &[(2, 2)]);
    assert_eq!(script.windows().0, before + 3.0);
}

#[test]
fn a_recovery_is_not_taken_back_while_something_that_went_again_is_under_way() {
    // tcp_try_undo_partial: "If there are no retransmits out then we can undo. Otherwise we clock out new packets but do not
    // mark more packets lost or retransmit more."
    let mut script = linux();
    script.write(40);
    script.wait(100);
    let sent = script.ack(0, &[(2, 4), (6, 10)]);
    assert!(sent.contains(&(5, true)), "{sent:?}");
    script.wait(5);
    script.wait(5);
    script.echoes = Some(110);
    let sent = script.ack(4, &[(6, 10)]);
    assert!(script.sender.in_recovery() && sent.iter().all(|(_, again)| !again), "{sent:?}");
    script.wait(5);
    script.echoes = Some(115);
    script.ack(10, &[]);
    assert_eq!((script.sender.in_recovery(), script.windows().1), (false, f64::INFINITY));
}

#[test]
fn what_was_excused_is_left_to_the_timer() {
    // tcp_rack_detect_loss takes what it marks off its list, and tcp_undo_cwnd_reduction does not put it back.
    let mut script = linux();
    script.write(40);
    script.wait(100);
    assert_eq!(script.ack(0, &[(2, 4), (6, 6)]), again(1..=1));
    script.wait(5);
    script.echoes = Some(105);
    script.ack(4, &[(6, 6)]);
    assert!(!script.sender.in_recovery());
    script.echoes = None;
    for held in 7..=10 {
        let sent = script.quiet(60);
        assert!(sent.iter().all(|(_, (segment, _))| *segment != 5), "{sent:?}");
        let sent = script.ack(4, &[(6, held)]);
        assert!(sent.iter().all(|(segment, _)| *segment != 5), "{sent:?}");
    }
}

#[test]
fn the_round_trip_of_rack_is_that_of_the_segment_reported_last() {
    // tcp_rack_advance: rtt_us is set by every segment that an ACK reports, of which the cumulative ones come last.
    let mut script = linux();
    script.write(40);
    script.wait(100);
    assert_eq!(script.ack(0, &[(2, 2)]), new(11..=11));
    script.wait(24);
    // Segment 1 took 124 ms and segment 11 took 24: those between are lost when 124 ms and a quarter of 24 have passed.
    let sent = script.ack(2, &[(11, 11)]);
    assert!(sent.iter().all(|(_, again)| !again), "{sent:?}");
    assert!(script.quiet(50).iter().any(|(_, sent)| *sent == (3, true)));
}

#[test]
fn a_lone_segment_waits_for_a_second_where_the_next_ack_is_due() {
    // tcp_tso_should_defer; a packet has two segments at least.
    let begun = || {
        let mut script = linux();
        script.write(60);
        script.wait(100);
        assert_eq!(script.ack(1, &[]), new(11..=12));
        script
    };
    let mut script = begun();
    assert_eq!(script.ack(1, &[(3, 3)]), []);
    assert_eq!(script.ack(1, &[(3, 4)]), new(13..=14));
    // "Avoid bursty behavior by allowing defer only if the last write was recent (1 ms)."
    let mut script = begun();
    script.wait(2);
    assert_eq!(script.ack(1, &[(3, 3)]), new(13..=13));
    // What waits has filled cwnd: the next ACK opens it.
    let mut script = begun();
    script.ack(1, &[(3, 3)]);
    script.ack(3, &[]);
    assert_eq!(script.windows().0, 12.0);
}

#[test]
fn while_a_probe_is_not_answered_the_timer_is_that_of_the_oldest_segment() {
    // tcp_send_loss_probe: "At most one outstanding TLP retransmission"; tcp_rearm_rto: "Offset the time elapsed after installing
    // regular RTO".
    let mut script = linux();
    script.write(4);
    let probed = script.quiet(300);
    assert_eq!(probed[0].1, (4, true));
    script.wait(250);
    script.ack(1, &[]);
    let (acked, rto) = (script.now.as_secs() * 1e3, script.sender.rtt().rto().as_secs() * 1e3);
    let (timeout, sent) = script.quiet(5000)[0];
    assert_eq!(sent, (2, true));
    // The next timer of a probe comes later than the RTO of segment 2, which went out at 0.
    assert!(rto <= timeout && timeout < acked + 0.8 * rto, "{timeout} {rto} {acked}");
}
