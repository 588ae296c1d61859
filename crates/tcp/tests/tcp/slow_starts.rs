//! Slow starts by name: HyStart++ to its conservative phase and back, and out of it; limited slow start.

use std::collections::VecDeque;

use bentpipe_tcp::{Catalogue, Config, Sender};
use bentpipe_units::{Span, Time};

use crate::carried::{on_ack, sender};
use crate::harness::config;

fn ms(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

fn starting(name: &str) -> Sender {
    let slow_start = Catalogue::default().slow_start(name).unwrap();
    sender(&Config { slow_start, initial_window: 16, ..config("sack") })
}

/// What a sender had at the end of each round trip: cwnd and ssthresh, in segments.
type Rounds = Vec<(f64, f64)>;

/// Carries segments over a path whose round trip, in ms, depends on when a segment is sent.
fn carry(sender: &mut Sender, rtt_ms: impl Fn(Time) -> u64, until: Time) -> Rounds {
    let (mut rounds, mut round_ends, mut acks) = (Vec::new(), Time::ZERO, VecDeque::new());
    let mut now = Time::ZERO;
    loop {
        while let Some(sent) = sender.poll(now) {
            acks.push_back((now + Span::from_millis(rtt_ms(now)), now, sent.seq + sent.len));
        }
        let Some((at, sent, ack)) = acks.pop_front().filter(|(at, ..)| *at <= until) else { return rounds };
        if sent >= round_ends && at > now {
            rounds.push((sender.window().cwnd / 1000.0, sender.window().ssthresh / 1000.0));
            round_ends = at;
        }
        now = at;
        on_ack(sender, now, ack, &[]);
    }
}

#[test]
fn hystart_plus_plus_is_slow_start_while_the_rtt_stays() {
    let rounds = carry(&mut starting("hystart++"), |_| 100, ms(650));
    assert_eq!(rounds, [16, 32, 64, 128, 256, 512].map(|cwnd| (f64::from(cwnd), f64::INFINITY)));
}

#[test]
fn a_lasting_rise_ends_slow_start_after_five_rounds_of_a_quarter() {
    // 13 ms is more than an eighth of 100.
    let mut sender = starting("hystart++");
    let rounds = carry(&mut sender, |sent| if sent < ms(200) { 100 } else { 113 }, ms(1200));
    // Eight samples of the round show the rise; what the others add counts a quarter. 64 -> 64 + 8 + 56/4.
    assert_eq!(rounds[..4], [16.0, 32.0, 64.0, 86.0].map(|cwnd| (cwnd, f64::INFINITY)));
    for (round, &(cwnd, ssthresh)) in rounds[4..].iter().enumerate() {
        let (before, _) = rounds[3 + round];
        if round < 4 {
            assert!((cwnd / before - 1.25).abs() < 0.02, "{round}: {before} to {cwnd}");
            assert_eq!(ssthresh, f64::INFINITY);
        } else {
            assert!(ssthresh <= cwnd, "{round}: {cwnd}");
        }
    }
    let (_, ssthresh) = rounds[rounds.len() - 1];
    // Five rounds of a quarter.
    assert!((ssthresh / (86.0 * 1.25 * 1.25 * 1.25 * 1.25) - 1.0).abs() < 0.02, "{ssthresh}");
    assert!(!sender.window().in_slow_start());
}

#[test]
fn a_rise_that_passes_leads_back_to_slow_start() {
    let rtt = |sent: Time| if (ms(200)..ms(300)).contains(&sent) { 113 } else { 100 };
    let rounds = carry(&mut starting("hystart++"), rtt, ms(700));
    let (cwnd, ssthresh): (Vec<_>, Vec<_>) = rounds.into_iter().unzip();
    assert_eq!(cwnd[..4], [16.0, 32.0, 64.0, 86.0]);
    // Eight samples of the next round show that the rise is over: 86 + 8/4 + 78.
    assert_eq!(cwnd[4], 166.0);
    assert_eq!(cwnd[5], 332.0);
    assert!(ssthresh.iter().all(|&at| at == f64::INFINITY), "{ssthresh:?}");
}

#[test]
fn a_rise_of_less_than_4_ms_and_one_in_few_samples_are_none() {
    let rounds = carry(&mut starting("hystart++"), |sent| if sent < ms(40) { 20 } else { 23 }, ms(140));
    assert_eq!(rounds.last().map(|&(cwnd, _)| cwnd), Some(16.0 * 32.0));
    // Windows of four segments have no eight samples.
    let slow_start = Catalogue::default().slow_start("hystart++").unwrap();
    let mut few = sender(&Config { slow_start, initial_window: 2, ..config("sack") });
    let rounds = carry(&mut few, |sent| if sent < ms(90) { 100 } else { 150 }, ms(260));
    assert_eq!(rounds.iter().map(|&(cwnd, _)| cwnd).collect::<Vec<_>>(), [2.0, 4.0]);
}

#[test]
fn after_a_timeout_hystart_plus_plus_is_out_of_the_game() {
    let mut sender = starting("hystart++");
    carry(&mut sender, |_| 100, ms(350));
    let expires = sender.next_timeout();
    sender.on_timeout(expires).unwrap();
    // All is acknowledged; a quarter of the growth would be seen from the first round on.
    while sender.window().cwnd < 8000.0 {
        while sender.poll(expires).is_some() {}
        let max = sender.max();
        on_ack(&mut sender, expires + Span::from_millis(500), max, &[]);
    }
    assert!(sender.window().in_slow_start());
}

#[test]
fn limited_slow_start_adds_half_of_its_limit_a_round_trip() {
    let rounds = carry(&mut starting("limited"), |_| 100, ms(950));
    let cwnd: Vec<_> = rounds.iter().map(|&(cwnd, _)| cwnd).collect();
    assert_eq!(cwnd[..3], [16.0, 32.0, 64.0]);
    for pair in cwnd[3..].windows(2) {
        // RFC 3742 section 2: at most max_ssthresh / 2, here 50 segments; somewhat less as K rises in a round.
        assert!((40.0..=67.0).contains(&(pair[1] - pair[0])), "{cwnd:?}");
    }
}
