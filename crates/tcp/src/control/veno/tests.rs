//! The backlog, growth and reductions by the paper's equations.

use super::super::Mark;
use super::super::test_acks::{ack, at, window};
use super::super::test_path::{Path, SMSS};
use super::*;

const PAPER: VenoReading = VenoReading::Paper;
const LINUX: VenoReading = VenoReading::Linux;

/// A control that has seen a least RTT of 100 ms, and RTTs of so many ms until the smoothed one is that.
fn after(reading: VenoReading, cwnd: f64, rtt: u64) -> (Veno, Window) {
    let mut control = Veno::new(VenoOptions { reading, ..VenoOptions::default() });
    let w = window(cwnd, 10.0);
    control.measure(&w, Span::from_millis(100));
    for _ in 0..300 {
        control.measure(&w, Span::from_millis(rtt));
    }
    (control, w)
}

fn loss(segments: u32) -> Loss {
    Loss { now: at(5000), distance: 0, flight: segments * SMSS as u32 }
}

#[test]
fn the_backlog_is_what_cwnd_holds_beyond_the_path() {
    // 20 segments, of which 100 of 125 ms are the path's.
    let (control, _) = after(PAPER, 20.0, 125);
    assert!((control.backlog - 4.0).abs() < 1e-9, "{}", control.backlog);
    // The paper's RTT is the smoothed one, Linux's the newest.
    let step = |reading| {
        let (mut control, w) = after(reading, 20.0, 100);
        control.measure(&w, Span::from_millis(180));
        control.backlog
    };
    assert!((step(PAPER) - 20.0 * (1.0 - 100.0 / 110.0)).abs() < 1e-9);
    assert!((step(LINUX) - 20.0 * (1.0 - 100.0 / 180.0)).abs() < 1e-9);
}

#[test]
fn a_loss_takes_a_fifth_below_beta_and_half_from_it_on() {
    // 20 × (1 − 100/117) = 2.9 and 20 × (1 − 100/118) = 3.05.
    for (rtt, left) in [(100, 16_000.0), (117, 16_000.0), (118, 10_000.0), (200, 10_000.0)] {
        for reading in [PAPER, LINUX] {
            let (mut control, mut w) = after(reading, 20.0, rtt);
            assert_eq!(control.on_loss(&mut w, &loss(20)), Response::Reduced);
            assert_eq!((w.cwnd, w.ssthresh), (left, left), "{rtt} ms");
        }
    }
    // The paper's cwnd is RFC 5681's flight size.
    let (mut control, mut w) = after(PAPER, 20.0, 100);
    control.on_loss(&mut w, &loss(10));
    assert_eq!(w.ssthresh, 8000.0);
}

#[test]
fn every_other_ack_counts_while_there_is_a_backlog() {
    let opened = |rtt: u64| {
        let (mut control, mut w) = after(PAPER, 20.0, rtt);
        let record = crate::Record::default();
        let told = Ack { acked: SMSS as u32, ..Ack::new(&record) };
        [0; 4].map(|_| {
            let before = w.cwnd;
            control.congestion_avoidance(&mut w, &told);
            (w.cwnd - before) / SMSS
        })
    };
    let each = opened(110);
    assert!(each.iter().all(|share| (0.0495..=0.05).contains(share)), "{each:?}");
    let [first, second, third, fourth] = opened(150);
    assert_eq!((first, second, fourth), (0.05, 0.0, 0.0));
    assert!((third - 1.0 / 20.05).abs() < 1e-9, "{third}");
}

#[test]
fn a_loss_begins_the_least_rtt_anew_but_in_linux() {
    for (reading, base) in [(PAPER, 0.15), (LINUX, 0.1)] {
        let (mut control, mut w) = after(reading, 20.0, 150);
        control.on_loss(&mut w, &loss(20));
        ack(&mut control, &mut w, 5000, 150, 1);
        assert_eq!(control.base, base);
    }
}

#[test]
fn linux_begins_the_least_rtt_anew_once_all_was_acknowledged() {
    for (reading, base) in [(PAPER, 0.1), (LINUX, 0.15)] {
        let (mut control, mut w) = after(reading, 20.0, 150);
        control
            .on_resume(&mut w, &Resume { now: at(5000), idle: Span::from_millis(150), by_application: true });
        ack(&mut control, &mut w, 5150, 150, 1);
        assert_eq!(control.base, base);
    }
}

#[test]
fn a_timeout_halves_and_a_mark_is_never_random() {
    let timeout = Timeout { now: at(5000), flight: 20_000, repeated: false };
    for (reading, left) in [(PAPER, 10_000.0), (LINUX, 16_000.0)] {
        let (mut control, mut w) = after(reading, 20.0, 100);
        control.on_timeout(&mut w, &timeout);
        assert_eq!((w.cwnd, w.ssthresh), (1000.0, left));
    }
    let (mut control, mut w) = after(PAPER, 20.0, 100);
    control.on_congestion_mark(&mut w, &Mark { now: at(5000), flight: 20_000 });
    assert_eq!((w.cwnd, w.ssthresh), (10_000.0, 10_000.0));
}

/// Between a cut by a fifth and growth of a segment an RTT, with a loss each 1/p segments: W = √((2 − b)/(2 b p)), b = 1/5.
#[test]
fn without_a_queue_its_response_function_is_that_of_a_cut_by_a_fifth() {
    let mut path = Path::new(Veno::new(VenoOptions::default()), 1e9, 100.0);
    path.loses = Box::new(|number| number % 1000 == 999);
    path.run(60.0);
    let mean = path.run(120.0) * 0.1 / SMSS;
    let expected = libm::sqrt(1.8 / (0.4 * 0.001));
    assert!((mean / expected - 1.0).abs() < 0.1, "{mean} of {expected} segments");
}

#[test]
fn linux_reduces_cwnd_and_not_the_flight_size() {
    let (mut control, mut w) = after(LINUX, 20.0, 100);
    control.on_loss(&mut w, &loss(10));
    assert_eq!(w.ssthresh, 16_000.0);
}
