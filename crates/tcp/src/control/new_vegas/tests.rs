use super::*;
use crate::Growth;
use crate::control::test_path::{Path, SMSS, ms};

/// A control that knows a path of 100 ms, at the end of a round of `rtt` ms.
fn knows(options: NewVegasOptions, rtt: f64) -> NewVegas {
    let mut control = NewVegas::new(options);
    control.sample(ms(100.0));
    control.least = rtt / 1e3;
    control
}

fn unpaired() -> NewVegasOptions {
    NewVegasOptions { pairs: false, ..NewVegasOptions::default() }
}

fn window(segments: f64, ssthresh: f64) -> Window {
    Window::new(segments * SMSS, ssthresh * SMSS, SMSS, Growth::PerAck)
}

/// cwnd and ssthresh in segments after a round of `rtt` ms with so many.
fn judged(options: NewVegasOptions, rtt: f64, segments: f64, ssthresh: f64) -> (f64, f64) {
    let mut w = window(segments, ssthresh);
    knows(options, rtt).judge(&mut w, true);
    (w.cwnd / SMSS, w.ssthresh / SMSS)
}

#[test]
fn a_round_trip_moves_the_window_by_a_segment_unless_two_to_four_wait() {
    // With 20 segments and 100 ms, Diff is 1 at 105.26 ms, 2 at 111.1 ms, 4 at 125 ms.
    for (rtt, expected) in [(100.0, 21.0), (110.9, 21.0), (111.3, 20.0), (124.9, 20.0), (125.2, 19.0)] {
        assert_eq!(judged(unpaired(), rtt, 20.0, 10.0).0, expected, "{rtt} ms");
    }
    let wider = NewVegasOptions { alpha: 0.5, beta: 1.0, ..unpaired() };
    assert_eq!(judged(wider, 104.0, 20.0, 10.0).0, 20.0, "0.77 segments wait");
    assert_eq!(judged(wider, 107.0, 20.0, 10.0).0, 19.0, "1.3 segments wait");
    let mut w = window(20.0, 10.0);
    knows(unpaired(), 100.0).judge(&mut w, false);
    assert_eq!(w.cwnd, 20.0 * SMSS, "an application that does not fill the window does not open it");
}

#[test]
fn a_window_that_was_full_at_any_ack_of_a_round_grows() {
    let record = crate::Record::default();
    let after = |full: [bool; 3]| {
        let (mut control, mut w) = (knows(unpaired(), 100.0), window(20.0, 10.0));
        for cwnd_limited in full {
            control.on_ack(
                &mut w,
                &Ack { cwnd_limited, ..Ack::new(&record) },
                &mut crate::slow_start::StandardStart,
            );
        }
        control.end_round(&mut w, Time::ZERO, false);
        w.cwnd / SMSS
    };
    assert_eq!([[true, false, false], [false, false, true], [false; 3]].map(after), [21.0, 21.0, 20.0]);
}

#[test]
fn a_window_that_goes_down_is_no_slow_start() {
    let (cwnd, ssthresh) = judged(unpaired(), 140.0, 10.0, 10.0);
    assert_eq!((cwnd, ssthresh), (10.0, 10.0), "2.9 segments wait");
    let (cwnd, ssthresh) = judged(unpaired(), 200.0, 10.0, 10.0);
    assert_eq!((cwnd, ssthresh), (9.0, 9.0));
    assert_eq!(judged(unpaired(), 1e6, 6.0, 2.0).0, 5.0);
    assert_eq!(judged(NewVegasOptions { beta: 0.1, ..unpaired() }, 200.0, 2.0, 2.0).0, 2.0, "two at least");
}

#[test]
fn pairs_move_the_window_by_two_every_second_round() {
    let (mut control, mut w) = (knows(NewVegasOptions::default(), 100.0), window(20.0, 10.0));
    let mut seen = Vec::new();
    for rtt in [0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2] {
        control.least = rtt;
        control.judge(&mut w, true);
        seen.push(w.cwnd / SMSS);
    }
    assert_eq!(seen, [20.0, 22.0, 22.0, 24.0, 24.0, 22.0, 22.0]);
    w.cwnd = 23_500.0;
    control.least = 0.115;
    control.judge(&mut w, true);
    assert_eq!(w.cwnd, 22_000.0, "what a recovery has left becomes pairs");
}

#[test]
fn slow_start_ends_where_more_than_gamma_waits_and_growth_is_halved() {
    let infinite = f64::INFINITY;
    // Diff is 0.99 and 1.01.
    assert_eq!(judged(unpaired(), 105.2, 20.0, infinite), (20.0, infinite));
    let (cwnd, ssthresh) = judged(unpaired(), 105.32, 20.0, infinite);
    assert!((cwnd - (20.0 / 1.0532 + 1.0)).abs() < 1e-9 && ssthresh == cwnd, "{cwnd} {ssthresh}");
    let record = crate::Record::default();
    let ack = Ack { acked: 1000, ..Ack::new(&record) };
    let (mut control, mut w) = (knows(unpaired(), 110.0), window(20.0, infinite));
    for growth in [500.0, 250.0, 125.0, 62.5, 0.0, 0.0] {
        control.least = 0.11;
        control.judge(&mut w, true);
        let before = w.cwnd;
        control.congestion_avoidance(&mut w, &ack);
        assert!((w.cwnd - before - growth).abs() < 1e-9, "{growth}: {}", w.cwnd - before);
        w.cwnd = 20_000.0;
        w.ssthresh = w.ssthresh.min(20_000.0);
    }
    w = window(20.0, infinite);
    let mut at_once = knows(NewVegasOptions { convergence: false, ..unpaired() }, 110.0);
    at_once.judge(&mut w, true);
    let before = w.cwnd;
    at_once.congestion_avoidance(&mut w, &ack);
    assert_eq!(w.cwnd, before);
}

#[test]
fn slow_start_is_paced_in_pairs_and_nothing_else_is() {
    let (mut control, mut w) = (NewVegas::new(NewVegasOptions::default()), window(10.0, f64::INFINITY));
    assert!(control.extras().paces);
    control.on_handshake(&mut w, Time::ZERO, ms(500.0));
    assert_eq!((w.pacing_rate, w.send_quantum), (40_000.0, 2000.0), "twice 10 segments in half a second");
    control.on_loss(&mut w, &Loss { now: Time::ZERO, distance: 0, flight: 10_000 });
    assert_eq!((w.cwnd, w.pacing_rate, w.send_quantum), (5000.0, f64::INFINITY, 0.0));
    let mut unpaced = NewVegas::new(NewVegasOptions { pacing_gain: 0.0, ..NewVegasOptions::default() });
    unpaced.pace(&mut w);
    assert!(!unpaced.extras().paces && w.pacing_rate.is_infinite());
    let mut lone = NewVegas::new(unpaired());
    let mut w = window(10.0, f64::INFINITY);
    lone.on_handshake(&mut w, Time::ZERO, ms(500.0));
    assert_eq!((w.pacing_rate, w.send_quantum), (40_000.0, 0.0));
}

#[test]
fn a_loss_halves_the_flight_and_ends_convergence() {
    let record = crate::Record::default();
    let ack = Ack { acked: 1000, ..Ack::new(&record) };
    let now = Time::ZERO;
    let events: [fn(&mut NewVegas, &mut Window, Time); 3] = [
        |control, w, now| {
            control.on_loss(w, &Loss { now, distance: 0, flight: 30_000 });
        },
        |control, w, now| control.on_congestion_mark(w, &Mark { now, flight: 30_000 }),
        |control, w, now| {
            control.on_timeout(w, &Timeout { now, flight: 30_000, repeated: false });
            assert_eq!(w.cwnd, SMSS);
            w.cwnd = w.ssthresh;
        },
    ];
    for event in events {
        let (mut control, mut w) = (knows(unpaired(), 110.0), window(20.0, f64::INFINITY));
        control.judge(&mut w, true);
        event(&mut control, &mut w, now);
        assert_eq!((w.cwnd, w.ssthresh), (15_000.0, 15_000.0));
        control.congestion_avoidance(&mut w, &ack);
        assert_eq!(w.cwnd, 15_000.0);
    }
}

/// A path of 1 MB/s and 100 ms, which holds 100 segments.
fn path(options: NewVegasOptions) -> Path<NewVegas> {
    Path::new(NewVegas::new(options), 1e6, 100.0)
}

#[test]
fn the_link_is_full_and_two_to_four_segments_wait() {
    let mut path = path(NewVegasOptions::default());
    path.run(10.0);
    let goodput = path.run(20.0);
    assert!(goodput > 0.99e6, "{goodput}");
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    path.runs_until(10.0, |path| {
        let waits = (path.in_flight() - 1e5) / SMSS;
        (least, most) = (least.min(waits), most.max(waits));
        false
    });
    assert!(least > -3.0 && most < 8.0, "{least} {most}");
    assert_eq!(path.dropped, 0);
}

#[test]
fn convergence_reaches_the_window_sooner_than_a_segment_a_round_trip() {
    // For a while all come later than the path has it, as behind cross traffic: slow start ends early.
    let time = |convergence: bool| {
        let mut path = path(NewVegasOptions { convergence, ..NewVegasOptions::default() });
        let late = |number: u64| {
            if number < 20 { 0.0 } else { (30.0 - 0.3 * (number as f64 - 60.0).max(0.0)).max(0.0) }
        };
        path.late = Box::new(move |number| ms(late(number)));
        assert!(path.runs_until(60.0, |path| path.in_flight() > 95_000.0));
        path.now.as_secs()
    };
    let (slow, fast) = (time(false), time(true));
    assert!(fast < 0.6 * slow, "{slow} {fast}");
}

#[test]
fn new_segments_of_slow_start_go_out_in_pairs() {
    let pairs = |pairs: bool| {
        let mut path = path(NewVegasOptions { pairs, ..NewVegasOptions::default() });
        path.run(0.45);
        let two = path.bursts.iter().filter(|burst| burst.bytes == 2.0 * SMSS).count();
        (two as f64 / path.bursts.len() as f64, path.bursts.len())
    };
    let ((with, bursts), (without, _)) = (pairs(true), pairs(false));
    // The receiver acknowledges each segment: now and then one has room alone.
    assert!(with > 0.7 && bursts > 30 && without < 0.1, "{with} {without} {bursts}");
}
