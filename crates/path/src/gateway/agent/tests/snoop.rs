//! Snoop, rule by rule.

use bentpipe_units::Bytes;

use bentpipe_units::Span;

use super::*;
use crate::gateway::GatewaySpec;

fn spec() -> GatewaySpec {
    GatewaySpec::Snoop(SnoopOptions { min_timeout: Span::from_millis(100), ..SnoopOptions::default() })
}

/// Five segments of 1000 bytes have gone onto the link at 110 ms, and the first has come.
fn five() -> Driver {
    let mut driver = Driver::open(&spec());
    for number in 0..5 {
        assert_eq!(driver.data(110, &data(1000 * number, 1000)), [Data(1000 * number, 1000)]);
    }
    assert_eq!(driver.ack(160, &ack(1000)), [Ack(1000, 50_000)]);
    driver
}

#[test]
fn the_first_duplicate_brings_the_lost_packet_and_those_expected_bring_nothing() {
    let mut driver = five();
    // Three packets went behind the lost one: three duplicates, of which the first was that for the first of them.
    assert_eq!(driver.ack(161, &ack(1000)), [Data(1000, 1000)]);
    assert_eq!(driver.ack(162, &ack(1000)), []);
    assert_eq!(driver.ack(163, &ack(1000)), []);
    // A fourth one is not expected: what was sent again is lost too.
    assert_eq!(driver.ack(170, &ack(1000)), [Data(1000, 1000)]);
    let stats = driver.agent.stats();
    assert_eq!((stats.local_retransmissions, stats.acks_swallowed, stats.acks_made), (2, 4, 0));
    assert_eq!(driver.ack(220, &ack(5000)), [Ack(5000, 50_000)]);
    assert_eq!(driver.until(100_000), []);
}

#[test]
fn a_new_acknowledgment_ends_what_is_expected() {
    let mut driver = five();
    assert_eq!(driver.ack(161, &ack(1000)), [Data(1000, 1000)]);
    assert_eq!(driver.ack(215, &ack(2000)), [Ack(2000, 50_000)]);
    assert_eq!(driver.ack(216, &ack(2000)), [Data(2000, 1000)]);
}

#[test]
fn an_acknowledgment_older_than_the_newest_is_swallowed() {
    let mut driver = five();
    assert_eq!(driver.ack(161, &ack(3000)), [Ack(3000, 50_000)]);
    assert_eq!(driver.ack(162, &ack(2000)), []);
}

#[test]
fn a_changed_window_and_data_of_the_receiver_are_no_duplicates() {
    let mut driver = five();
    let mut update = ack(1000);
    update.header.window = 40_000;
    assert_eq!(driver.ack(161, &update), [Ack(1000, 40_000)]);
    let mut with_data = ack(1000);
    (with_data.header.window, with_data.header.payload) = (40_000, 10);
    assert_eq!(driver.ack(162, &with_data), [Ack(1000, 40_000)]);
    assert_eq!(driver.agent.stats().local_retransmissions, 0);
}

#[test]
fn duplicates_for_what_the_sender_has_sent_again_go_to_the_sender() {
    let mut driver = five();
    assert_eq!(driver.data(161, &data(1000, 1000)), [Data(1000, 1000)]);
    assert_eq!(driver.ack(162, &ack(1000)), [Ack(1000, 50_000)]);
    assert_eq!(driver.ack(163, &ack(1000)), [Ack(1000, 50_000)]);
}

#[test]
fn duplicates_for_what_never_came_go_to_the_sender() {
    let mut driver = Driver::open(&spec());
    driver.data(110, &data(0, 1000));
    // The second was lost before the agent.
    driver.data(110, &data(2000, 1000));
    driver.ack(160, &ack(1000));
    assert_eq!(driver.ack(161, &ack(1000)), [Ack(1000, 50_000)]);
    // It comes behind newer data: it is kept, and its loss is the sender's affair.
    assert_eq!(driver.data(200, &data(1000, 1000)), [Data(1000, 1000)]);
    assert_eq!(driver.ack(201, &ack(1000)), [Ack(1000, 50_000)]);
    assert_eq!(driver.agent.stats().local_retransmissions, 0);
}

#[test]
fn data_that_has_come_is_answered_with_the_newest_acknowledgment() {
    let mut driver = five();
    driver.ack(161, &ack(4000));
    assert_eq!(driver.data(162, &data(1000, 1000)), [Ack(4000, 50_000)]);
    // The last segment of it too.
    assert_eq!(driver.data(163, &data(3000, 1000)), [Ack(4000, 50_000)]);
    assert_eq!(driver.agent.stats().data_swallowed, 2);
}

/// The first round trip is 50 ms: the timer waits SRTT + 4 RTTVAR = 150 ms from the newest acknowledgment, then twice as long, and
/// after the eighth time leaves it to the sender.
#[test]
fn the_local_timer_follows_the_local_round_trip_and_gives_up() {
    let mut driver = five();
    let mut times = Vec::new();
    for ms in 161..200_000 {
        times.extend(driver.until(ms).into_iter().map(|out| (ms, out)));
    }
    let waits = [150, 300, 600, 1200, 2400, 4800, 9600, 9600];
    let expected = waits.iter().scan(160, |at, wait| {
        *at += wait;
        Some((*at, Data(1000, 1000)))
    });
    assert_eq!(times, expected.collect::<Vec<_>>());
    // Duplicates now go to the sender as well.
    assert_eq!(driver.ack(200_000, &ack(1000)), [Ack(1000, 50_000)]);
}

#[test]
fn nothing_is_sent_again_before_the_receiver_was_heard() {
    let mut driver = Driver::new(&spec());
    let mut syn = segment(FLOW, ISS, 0);
    (syn.header.syn, syn.header.ack) = (true, false);
    driver.data(0, &syn);
    for number in 0..5 {
        driver.data(600, &data(1000 * number, 1000));
    }
    assert_eq!(driver.until(100_000), []);
}

#[test]
fn the_cache_is_bounded_and_what_does_not_fit_passes() {
    let options = SnoopOptions { cache: Bytes::new(2500), ..SnoopOptions::default() };
    let mut driver = Driver::open(&GatewaySpec::Snoop(options));
    for number in 0..5 {
        assert_eq!(driver.data(110, &data(1000 * number, 1000)), [Data(1000 * number, 1000)]);
    }
    assert_eq!(driver.agent.stats().cached_max_bytes, 2000);
    driver.ack(160, &ack(2000));
    assert_eq!(driver.ack(161, &ack(2000)), [Ack(2000, 50_000)]);
}

#[test]
fn more_flows_than_it_remembers_pass_unseen() {
    let options = SnoopOptions { max_flows: 1, ..SnoopOptions::default() };
    let mut driver = Driver::open(&GatewaySpec::Snoop(options));
    driver.data(110, &data(0, 1000));
    let other = FlowKey { source_port: 50_001, ..FLOW };
    for seen in [segment(other, 1, 1000), segment(other, 1001, 1000)] {
        assert_eq!(driver.agent.forward(at(120), &seen, &LINK), Verdict::Pass);
    }
    let mut reset = data(1000, 0);
    reset.header.rst = true;
    assert_eq!(driver.data(130, &reset), [Data(1000, 0)]);
    assert_eq!(driver.agent.stats().flows_remembered, 0);
    let verdict = driver.agent.forward(at(140), &segment(other, 2001, 1000), &LINK);
    assert!(matches!(verdict, Verdict::Keep(_)), "{verdict:?}");
}

/// Where the local round trip is long and steady, its timer still leaves `min_timeout` beyond it: one acknowledgment that is delayed
/// brings nothing again.
#[test]
fn the_local_timer_never_falls_to_the_round_trip_itself() {
    let mut driver = Driver::open(&spec());
    let mut now = 110;
    for number in 0..40 {
        driver.data(now, &data(1000 * number, 1000));
        now += 500;
        assert_eq!(driver.ack(now, &ack(1000 * (number + 1))), [Ack(1000 * (number + 1), 50_000)]);
    }
    driver.data(now, &data(40_000, 1000));
    assert_eq!(driver.until(now + 599), []);
    assert_eq!(driver.until(now + 602), [Data(40_000, 1000)]);
}

/// RFC 6298 section 2.3, with beta of a quarter: samples of 50 and then of 140 ms make RTTVAR 41.25 ms and SRTT 61.25.
#[test]
fn the_variation_follows_by_a_quarter() {
    let mut driver = five();
    driver.ack(161, &ack(5000));
    driver.data(1000, &data(5000, 1000));
    driver.ack(1140, &ack(6000));
    driver.data(2000, &data(6000, 1000));
    assert_eq!(driver.until(2226), []);
    assert_eq!(driver.until(2227), [Data(6000, 1000)]);
}

/// What was sent again is not timed (Karn's rule), nor is what the sender sends again.
#[test]
fn what_was_sent_more_than_once_is_not_timed() {
    for by_sender in [false, true] {
        let mut driver = five();
        driver.ack(161, &ack(5000));
        driver.data(1000, &data(5000, 1000));
        if by_sender {
            driver.data(1100, &data(5000, 1000));
        } else {
            driver.until(1200);
        }
        driver.ack(1210, &ack(6000));
        // Still 50 ms and 4 times 25.
        driver.data(2000, &data(6000, 1000));
        assert_eq!(driver.until(2149), [], "{by_sender}");
        assert_eq!(driver.until(2150), [Data(6000, 1000)], "{by_sender}");
    }
}

/// An acknowledgment of new data ends the back-off.
#[test]
fn the_back_off_ends_with_new_data_acknowledged() {
    let mut driver = five();
    assert_eq!(driver.until(800).len(), 2);
    driver.ack(801, &ack(5000));
    driver.data(1000, &data(5000, 1000));
    assert_eq!(driver.until(1149), []);
    assert_eq!(driver.until(1150), [Data(5000, 1000)]);
}

/// What the agent sent again too often and the sender then sends is as new.
#[test]
fn what_the_sender_sends_again_may_be_sent_locally_again() {
    let options = SnoopOptions { retries: 2, min_timeout: Span::from_millis(100), ..SnoopOptions::default() };
    let mut driver = Driver::open(&GatewaySpec::Snoop(options));
    driver.data(110, &data(0, 1000));
    driver.data(110, &data(1000, 1000));
    driver.ack(160, &ack(1000));
    assert_eq!(driver.until(320), [Data(1000, 1000)]);
    assert_eq!(driver.data(330, &data(1000, 1000)), [Data(1000, 1000)]);
    assert_eq!(driver.until(20_000), [Data(1000, 1000), Data(1000, 1000)]);
}

/// The timer forgets what duplicates were expected: the next one is news.
#[test]
fn a_timeout_forgets_expected_duplicates() {
    let mut driver = five();
    assert_eq!(driver.ack(161, &ack(1000)), [Data(1000, 1000)]);
    assert_eq!(driver.until(1000).len(), 2);
    assert_eq!(driver.ack(1001, &ack(1000)), [Data(1000, 1000)]);
}

/// The same where the sender sends another packet again than the one that is lacking.
#[test]
fn what_the_sender_sends_again_forgets_expected_duplicates() {
    let mut driver = five();
    assert_eq!(driver.ack(161, &ack(1000)), [Data(1000, 1000)]);
    assert_eq!(driver.data(162, &data(2000, 1000)), [Data(2000, 1000)]);
    assert_eq!(driver.ack(163, &ack(1000)), [Data(1000, 1000)]);
}

/// Behind newer data comes what was lost before the agent: the sender may have sent it more than once.
#[test]
fn what_comes_behind_newer_data_is_not_timed() {
    let mut driver = Driver::open(&spec());
    driver.data(110, &data(0, 1000));
    driver.ack(160, &ack(1000));
    driver.data(200, &data(2000, 1000));
    driver.data(210, &data(2000, 1000));
    driver.data(220, &data(1000, 1000));
    driver.ack(340, &ack(3000));
    // Still 50 ms and 4 times 25.
    driver.data(2000, &data(3000, 1000));
    assert_eq!(driver.until(2149), []);
    assert_eq!(driver.until(2150), [Data(3000, 1000)]);
}

/// Data that the receiver has acknowledged and that never passed here is behind what is newest.
#[test]
fn an_acknowledgment_beyond_what_was_seen_moves_what_is_newest() {
    let mut driver = five();
    driver.ack(161, &ack(9000));
    // Lost before the agent, and sent again by the sender: to it go its duplicates.
    assert_eq!(driver.data(162, &data(9000, 1000)), [Data(9000, 1000)]);
    assert_eq!(driver.ack(210, &ack(9000)), [Data(9000, 1000)]);
    // What begins before it may have gone more than once, and is not timed: still 50 ms and 4 times 25.
    let mut driver = five();
    driver.ack(161, &ack(9000));
    driver.data(1000, &data(8500, 1000));
    driver.ack(1140, &ack(9500));
    driver.data(2000, &data(9500, 1000));
    assert_eq!(driver.until(2149), []);
    assert_eq!(driver.until(2150), [Data(9500, 1000)]);
}

/// Ports are used again: with another SYN everything begins anew.
#[test]
fn another_syn_forgets_the_flow() {
    let mut driver = five();
    let mut syn = segment(FLOW, 99_000, 0);
    (syn.header.syn, syn.header.ack) = (true, false);
    driver.data(1, &syn);
    assert_eq!(driver.until(100_000), []);
    assert_eq!(driver.agent.stats().flows_remembered, 1);
}
