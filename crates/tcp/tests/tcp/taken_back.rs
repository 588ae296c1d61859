//! What takes a reduction of the recovery `rack` back: reports of what came twice (RFC 3708), echoes of the original (Eifel, RFC 3522), and
//! data that was sent once after a timeout (F-RTO, RFC 5682).

use crate::script::{Out, Script, again, new};

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
    // And a report of what was never sent.
    script.ack(10, &[(20, 20), (19, 21)]);
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
fn one_report_may_tell_of_two_segments() {
    let mut script = Script::new("rack", "standard", 100);
    script.write(10);
    script.wait(100);
    for held in 3..=10 {
        script.ack(0, &[(3, held)]);
    }
    script.wait(100);
    script.ack(10, &[]);
    assert_eq!(script.windows(), (5.0, 5.0));
    script.ack(10, &[(1, 2)]);
    assert_eq!(script.windows(), (10.0, f64::INFINITY));
}

#[test]
fn what_came_twice_from_before_the_reduction_takes_nothing_back() {
    let mut script = Script::new("rack", "standard", 100);
    script.write(10);
    script.wait(100);
    script.ack(4, &[]);
    assert_eq!(script.ack(4, &[(6, 8)]), again(5..=5));
    let reduced = script.windows().1;
    script.wait(100);
    script.ack(10, &[]);
    script.ack(10, &[(1, 1)]);
    assert_eq!(script.windows().1, reduced);
    script.ack(10, &[(5, 5)]);
    assert_eq!(script.windows().1, f64::INFINITY);
}

#[test]
fn a_probe_under_way_at_the_reduction_has_to_come_twice_too() {
    let mut script = Script::new("rack", "standard", 100);
    script.write(10);
    assert_eq!(script.quiet(210), [(200.0, (10, true))]);
    // Nine of ten come late; the first is taken for lost by what was sent with it.
    assert_eq!(script.ack(0, &[(2, 9)]), again(1..=1));
    script.wait(10);
    script.ack(9, &[]);
    script.ack(9, &[(1, 1)]);
    assert!(script.windows().1 < 10.0, "the probe may have been needed");
}

#[test]
fn the_echo_is_held_against_the_first_that_went_again() {
    // The first goes again at 100 ms, the second at 120; the ACK echoes 110.
    let mut script = Script::new("rack", "standard", 100);
    script.write(10);
    script.wait(100);
    assert_eq!(script.ack(0, &[(3, 5)]), again(1..=1));
    script.wait(20);
    assert_eq!(script.ack(0, &[(3, 8)]), again(2..=2));
    script.wait(10);
    script.echoes = Some(20);
    script.ack(2, &[(3, 8)]);
    assert_eq!((script.windows().1, script.sender.in_recovery()), (5.0, true));
}

#[test]
fn what_an_echo_takes_back_was_not_lost_but_late() {
    let mut script = Script::new("rack", "standard", 100);
    script.write(10);
    script.wait(100);
    assert_eq!(script.ack(0, &[(3, 5)]), again(1..=1));
    script.wait(10);
    script.echoes = Some(110);
    // The second was found lost too, and had not gone again.
    assert_eq!(script.ack(1, &[(3, 5)]), []);
    assert_eq!((script.windows(), script.sender.in_recovery()), ((10.0, f64::INFINITY), false));
    script.echoes = None;
    script.ack(10, &[]);
    // From now on three segments are no proof: a quarter of the shortest round trip has to pass.
    assert_eq!(script.write(10), new(11..=20));
    script.wait(100);
    assert_eq!(script.ack(10, &[(12, 14)]), []);
    assert!(!script.sender.in_recovery());
    assert_eq!(script.quiet(30).first().map(|&(_, out)| out), Some((11, true)));
}

#[test]
fn an_echo_of_the_original_takes_a_timeout_back_at_once() {
    let mut script = expired();
    script.wait(10);
    script.echoes = Some(1210);
    let sent = script.ack(1, &[]);
    assert!(sent.iter().all(|(_, again)| !again), "{sent:?}");
    assert_eq!(script.windows().1, f64::INFINITY);
}

#[test]
fn a_timeout_that_stood_is_not_taken_back_later() {
    let mut script = expired();
    script.wait(100);
    script.ack(1, &[]);
    script.wait(100);
    assert_eq!(script.ack(1, &[(12, 12)]), again(2..=2));
    script.wait(100);
    // The third was sent once, and arrives after all.
    script.ack(3, &[(12, 12)]);
    assert_eq!(script.windows().1, 5.0);
}

#[test]
fn what_was_sent_after_the_timeout_proves_nothing_by_itself() {
    let mut script = expired();
    script.wait(100);
    assert_eq!(script.ack(1, &[]), new(12..=13));
    script.wait(100);
    script.ack(1, &[(13, 13)]);
    assert_eq!((script.windows().1, script.sender.stats().timeouts), (5.0, 1));
}

#[test]
fn a_timeout_within_a_recovery_reduces_no_further_and_sends_again_before_new_data() {
    // RFC 5682 section 2.1, step 1: not while loss recovery is under way.
    let mut script = first_is_late();
    script.sender.write(20_000);
    let sent = script.quiet(2000);
    assert_eq!((sent.last().map(|&(_, out)| out), script.sender.stats().timeouts), (Some((1, true)), 1));
    assert_eq!(script.windows().1, 5.0);
    script.wait(10);
    let sent = script.ack(4, &[]);
    assert!(!sent.is_empty() && sent.iter().all(|(_, again)| *again), "{sent:?}");
    assert_eq!(script.windows().1, 5.0);
}

#[test]
fn a_second_timeout_is_not_doubted_once_something_was_acknowledged() {
    let mut script = expired();
    script.wait(100);
    assert_eq!(script.ack(1, &[]), new(12..=13));
    let sent = script.quiet(4000);
    assert_eq!(sent.first().map(|&(_, out)| out), Some((2, true)));
    assert_eq!(script.sender.stats().timeouts, 2);
    script.wait(100);
    let sent = script.ack(2, &[]);
    assert!(!sent.is_empty() && sent.iter().all(|(_, again)| *again), "{sent:?}");
}

#[test]
fn what_was_sent_lately_stays_in_flight_after_a_timeout() {
    // RFC 8985 section 6.3: what was sent within a round trip is not lost yet. cwnd is that and a segment.
    let mut script = Script::new("rack", "standard", 100);
    script.write(5);
    assert_eq!(script.quiet(1150), [(200.0, (5, true))]);
    assert_eq!(script.write(3), new(6..=8));
    let sent = script.quiet(60);
    assert_eq!(sent.iter().map(|&(_, out)| out).collect::<Vec<_>>(), again(1..=1));
    assert_eq!((script.windows().0, script.sender.stats().timeouts), (4.0, 1));
}
