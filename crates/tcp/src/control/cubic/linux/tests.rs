//! Whole segments, and what a timeout, an undone reduction and a pause do to the curve.

use super::*;
use crate::slow_start::StandardStart;
use crate::{Growth, Record};

const SMSS: f64 = 1000.0;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// A control with its window, in congestion avoidance, after a round trip of 100 ms.
struct Driven {
    cubic: LinuxCubic,
    w: Window,
    ms: u64,
}

impl Driven {
    fn new(segments: f64) -> Driven {
        let mut cubic = LinuxCubic::new(CubicOptions::default());
        cubic.on_rtt_sample(at(0), Span::from_millis(100));
        Driven { cubic, w: Window::new(segments * SMSS, SMSS, SMSS, Growth::Delivered), ms: 0 }
    }

    fn ack(&mut self, segments: u32) -> f64 {
        let record = Record::default();
        let ack = Ack { now: at(self.ms), acked: segments * 1000, ..Ack::new(&record) };
        self.cubic.on_ack(&mut self.w, &ack, &mut StandardStart);
        self.w.cwnd / SMSS
    }

    /// Round trips of 100 ms, each of a window acknowledged two by two.
    fn rounds(&mut self, rounds: u32) -> f64 {
        for _ in 0..rounds {
            let pairs = self.w.segments() / 2;
            let began = self.ms;
            for pair in 1..=pairs {
                self.ms = began + u64::from(100 * pair / pairs);
                self.ack(2);
            }
        }
        self.w.cwnd / SMSS
    }

    fn lose(&mut self) -> f64 {
        let loss = Loss { now: at(self.ms), distance: 0, flight: self.w.cwnd as u32 };
        self.w.save();
        self.cubic.on_loss(&mut self.w, &loss);
        self.w.cwnd / SMSS
    }
}

#[test]
fn windows_are_whole_segments_and_a_loss_leaves_717_of_1024_rounded_down() {
    // 99 · 717 / 1024 is 69.3.
    let mut run = Driven::new(99.0);
    assert_eq!((run.lose(), run.w.ssthresh), (69.0, 69_000.0));
    for _ in 0..200 {
        run.rounds(1);
        assert_eq!(run.w.cwnd % SMSS, 0.0);
    }
    // K is the cube root of 30 / 0.4, 4.2 s; three times as long after the loss it lies far above.
    assert!(run.w.cwnd > 200.0 * SMSS, "{}", run.w.cwnd);
}

#[test]
fn the_last_maximum_of_before_a_timeout_is_forgotten() {
    let left = |timeout: bool| {
        let mut run = Driven::new(600.0);
        run.lose();
        if timeout {
            run.cubic.on_timeout(&mut run.w, &Timeout { now: at(0), flight: 0, repeated: true });
        }
        run.w.cwnd = 546.0 * SMSS;
        run.lose();
        run.cubic.seen.most
    };
    // A window that did not come back makes room: 546 · (1 + 717/1024) / 2. After a timeout it is the first that is seen.
    assert_eq!((left(false), left(true)), (464, 546));
}

#[test]
fn an_undone_reduction_gives_the_window_back_and_not_the_curve() {
    let grown = |undone: bool| {
        let mut run = Driven::new(500.0);
        run.lose();
        run.rounds(30);
        run.w.cwnd = 533.0 * SMSS;
        if undone {
            run.cubic.save(&mut run.w);
            run.cubic.on_timeout(&mut run.w, &Timeout { now: at(run.ms), flight: 0, repeated: false });
            run.cubic.restore(&mut run.w);
        }
        assert_eq!(run.w.cwnd, 533.0 * SMSS);
        run.rounds(4)
    };
    // No maximum is known: a segment for every 20 acknowledged at least, where the old curve lies nearly flat.
    assert!(grown(true) > 640.0, "{}", grown(true));
    assert!(grown(false) < 560.0, "{}", grown(false));
}

#[test]
fn a_pause_shifts_the_curve() {
    let after = |idle: u64| {
        let mut run = Driven::new(1000.0);
        run.lose();
        run.rounds(20);
        run.ms += idle;
        run.cubic.on_resume(
            &mut run.w,
            &Resume { now: at(run.ms), idle: Span::from_millis(idle), by_application: true },
        );
        run.rounds(3)
    };
    assert_eq!(after(60_000), after(0));
}

#[test]
fn for_a_second_after_a_reduction_a_shorter_round_trip_is_not_looked_at() {
    let mut run = Driven::new(100.0);
    run.lose();
    run.ack(2);
    run.cubic.on_rtt_sample(at(996), Span::from_millis(50));
    assert_eq!(run.cubic.seen.delay_min, Some(Span::from_millis(100)));
    run.cubic.on_rtt_sample(at(1000), Span::from_millis(50));
    assert_eq!(run.cubic.seen.delay_min, Some(Span::from_millis(50)));
}

#[test]
fn where_the_curve_is_slower_renos_window_pulls() {
    let after = |reno_friendly| {
        let mut run = Driven::new(10.0);
        run.cubic.options.reno_friendly = reno_friendly;
        run.lose();
        run.rounds(30)
    };
    // After 3 s the curve from 7 segments is little beyond its 10; Reno has added a half of a segment each round trip.
    assert!(after(false) <= 12.0, "{}", after(false));
    assert!(after(true) >= 15.0, "{}", after(true));
}

#[test]
fn however_far_the_curve_is_ahead_each_second_segment_counts() {
    let mut run = Driven::new(50.0);
    run.lose();
    run.ack(2);
    run.ms += 60_000;
    let before = run.ack(2);
    assert!((run.ack(20) - before - 10.0).abs() <= 1.0, "{before} and {}", run.w.cwnd / SMSS);
}
