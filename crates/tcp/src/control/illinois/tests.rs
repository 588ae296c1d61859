//! α and β against the queueing delay, when they change, and growth and reductions by them.

use super::super::test_acks::{ack, at, growth, window};
use super::super::test_path::{Path, SMSS};
use super::*;

fn control() -> Illinois {
    Illinois::new(IllinoisOptions::default())
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

/// Queueing delays of 0 to 100 ms: d1 is 1 ms, d2 10 ms, d3 80 ms.
#[test]
fn alpha_falls_from_ten_to_three_tenths_by_the_delay() {
    let alpha = |delay| control().alpha(delay, 0.1);
    assert_eq!((alpha(0.0), alpha(0.001)), (10.0, 10.0));
    close(alpha(0.1), 0.3);
    // κ1/(κ2 + da) with κ1 = (dm − d1) αmin αmax/(αmax − αmin) and κ2 = (dm − d1) αmin/(αmax − αmin) − d1.
    let (k1, k2) = (0.099 * 3.0 / 9.7, 0.099 * 0.3 / 9.7 - 0.001);
    for delay in [0.0011, 0.01, 0.05, 0.09] {
        close(alpha(delay), k1 / (k2 + delay));
    }
}

#[test]
fn beta_rises_from_an_eighth_to_a_half_by_the_delay() {
    let beta = |delay| control().beta(delay, 0.1);
    assert_eq!((beta(0.0), beta(0.01)), (0.125, 0.125));
    assert_eq!((beta(0.08), beta(0.1)), (0.5, 0.5));
    // Halfway.
    close(beta(0.045), 0.3125);
    // κ3 + κ4 da.
    let (k3, k4) = ((0.125 * 0.08 - 0.5 * 0.01) / 0.07, 0.375 / 0.07);
    close(beta(0.03), k3 + k4 * 0.03);
}

#[test]
fn after_a_queue_alpha_waits_five_round_trips() {
    let mut control = control();
    control.alpha = control.alpha(0.05, 0.1);
    let before = control.alpha;
    for _ in 1..5 {
        control.alpha = control.alpha(0.0, 0.1);
        assert_eq!(control.alpha, before);
    }
    assert_eq!(control.alpha(0.0, 0.1), 10.0);
    assert_eq!(control.alpha(0.0, 0.1), 10.0);
}

#[test]
fn a_round_trip_sets_both_by_its_mean_rtt_and_a_small_window_is_rfc_5681() {
    let (mut illinois, mut w) = (control(), window(20.0, 10.0));
    // RTTs of 100 to 200 ms; the round trip from 1200 to 1400 ms has 200, 100 and 120 ms: 140 in the mean.
    ack(&mut illinois, &mut w, 1200, 200, 1);
    assert_eq!((illinois.alpha, illinois.beta), (10.0, 0.5), "none is over");
    ack(&mut illinois, &mut w, 1250, 100, 1);
    ack(&mut illinois, &mut w, 1290, 200, 1);
    ack(&mut illinois, &mut w, 1320, 120, 1);
    let mean = 0.04;
    close(illinois.alpha, control().alpha(mean, 0.1));
    close(illinois.beta, control().beta(mean, 0.1));
    let mut w = window(14.9, 10.0);
    illinois.update(&w, 0.1);
    assert_eq!((illinois.alpha, illinois.beta), (1.0, 0.5));
    w.cwnd = 15.0 * SMSS;
    illinois.update(&w, 0.1);
    assert_eq!(illinois.beta, 0.125);
}

#[test]
fn an_ack_adds_alpha_over_cwnd_and_a_loss_takes_beta() {
    let (mut illinois, mut w) = (control(), window(20.0, 10.0));
    ack(&mut illinois, &mut w, 1000, 100, 1);
    close(w.cwnd / SMSS, 20.5);
    illinois.beta = 0.2;
    let mut w = window(20.0, 10.0);
    assert_eq!(
        illinois.on_loss(&mut w, &Loss { now: at(0), distance: 0, flight: 20_000 }),
        Response::Reduced
    );
    assert_eq!((w.cwnd, w.ssthresh), (16_000.0, 16_000.0));
    illinois.on_timeout(&mut w, &Timeout { now: at(0), flight: 16_000, repeated: false });
    assert_eq!((w.cwnd, w.ssthresh, illinois.alpha, illinois.beta), (1000.0, 8000.0, 1.0, 0.5));
}

#[test]
fn without_a_queue_it_grows_by_ten_segments_a_round_trip() {
    let found = growth(control(), 100.0, 5.0, 10.0);
    assert!((found / 500.0 - 1.0).abs() < 0.05, "{found}");
}

/// 1 MB/s and 100 ms, which is 100 segments, and as many in the queue: growth is slow where the queue is long.
#[test]
fn before_a_full_queue_growth_is_slow_and_a_loss_takes_half() {
    let mut path = Path::new(control(), 1e6, 100.0);
    path.buffer = 100.0 * SMSS;
    path.run(60.0);
    let dropped = path.dropped;
    assert!(path.runs_until(200.0, |path| path.dropped > dropped));
    let at_loss = path.control();
    assert!(at_loss.alpha < 0.5 && at_loss.beta == 0.5, "{at_loss:?}");
    assert!(path.runs_until(5.0, |path| path.cwnd() < 130.0 * SMSS));
    path.run(2.0);
    assert!(path.control().alpha > 2.0 * at_loss.alpha, "{:?}", path.control());
}
