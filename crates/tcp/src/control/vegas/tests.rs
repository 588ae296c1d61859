//! One step a round trip by the paper's equations, and where a connection comes to rest.

use super::super::test_acks::{ack, window};
use super::super::test_path::{Path, SMSS};
use super::*;
use bentpipe_units::Time;

use crate::Record;

const PAPER: VegasReading = VegasReading::Paper;
const LINUX: VegasReading = VegasReading::Linux;
const NS2: VegasReading = VegasReading::Ns2;

fn control(reading: VegasReading) -> Vegas {
    Vegas::new(VegasOptions { reading, ..VegasOptions::default() })
}

fn rtts(last: f64, least: f64, mean: f64) -> Rtts {
    Rtts { count: 10, last, least, sum: 10.0 * mean }
}

/// cwnd and ssthresh, in segments, after a round trip with all RTTs of so many s; the least is 0.1 s.
fn stepped(control: &mut Vegas, cwnd: f64, ssthresh: f64, rtt: f64) -> (f64, f64) {
    control.base = 0.1;
    let (mut w, record) = (window(cwnd, ssthresh), Record::default());
    let told = Ack { acked: SMSS as u32, prior_flight: w.cwnd as u32, ..Ack::new(&record) };
    control.step(&mut w, &told, &rtts(rtt, rtt, rtt));
    (w.cwnd / SMSS, w.ssthresh / SMSS)
}

#[test]
fn each_reading_measures_the_backlog_in_its_own_way() {
    let measured = rtts(0.125, 0.11, 0.12);
    let of = |reading| Vegas { base: 0.1, ..control(reading) }.backlog(20.0, &measured);
    assert!((of(PAPER) - 20.0 * (1.0 - 0.1 / 0.125)).abs() < 1e-9);
    // 20 × 10/100 is 2, a last digit below; 20 × (1 − 100/120) + 0.5 is 3.8.
    assert!((1.0..=2.0).contains(&of(LINUX)));
    assert_eq!(of(NS2), 3.0);
}

#[test]
fn congestion_avoidance_steps_by_a_segment_towards_alpha_and_beta() {
    // 20 × (1 − 100/RTT): 1.8, 2.2, 3.9, 4.1 segments.
    for (rtt, after) in [(0.110, 21.0), (0.1125, 20.0), (0.1242, 20.0), (0.1258, 19.0)] {
        let (cwnd, ssthresh) = stepped(&mut control(PAPER), 20.0, 10.0, rtt);
        assert_eq!((cwnd, ssthresh), (after, 10.0), "{rtt} s");
    }
    // ssthresh follows, so that slow start does not begin again, and two segments are the least.
    assert_eq!(stepped(&mut control(PAPER), 20.0, 20.0, 0.2), (19.0, 19.0));
    let mut narrow = Vegas::new(VegasOptions { alpha: 0.0, beta: 0.5, ..VegasOptions::default() });
    assert_eq!(stepped(&mut narrow, 2.0, 2.0, 0.2), (2.0, 2.0));
}

#[test]
fn slow_start_doubles_every_other_round_trip_and_ends_above_gamma() {
    let mut vegas = control(PAPER);
    assert!(vegas.doubles);
    // A round trip in which cwnd doubled tells nothing of the window that is there now.
    assert_eq!(stepped(&mut vegas, 20.0, 1e6, 0.2), (20.0, 1e6));
    assert!(!vegas.doubles);
    // 20 × (1 − 100/105) = 0.95.
    assert_eq!(stepped(&mut vegas, 20.0, 1e6, 0.105), (20.0, 1e6));
    assert!(vegas.doubles);
    vegas.doubles = false;
    // 20 × (1 − 100/106) = 1.13.
    assert_eq!(stepped(&mut vegas, 20.0, 1e6, 0.106), (20.0, 20.0));
    // Linux looks each round trip: 20 × 100/125 is 16, and one more; ns-2 takes off an eighth.
    assert_eq!(stepped(&mut control(LINUX), 20.0, 1e6, 0.125), (17.0, 17.0));
    let mut ns2 = Vegas { doubles: false, ..control(NS2) };
    assert_eq!(stepped(&mut ns2, 20.0, 1e6, 0.125), (17.5, 17.5));
}

#[test]
fn a_round_trip_ends_with_what_was_sent_when_it_began() {
    let (mut vegas, mut w) = (control(PAPER), window(10.0, 5.0));
    // The first begins at 1000 ms; the segment acknowledged at 1090 ms was sent before, that at 1100 ms with it.
    for (now, after) in [(1000, 10.0), (1090, 10.0), (1100, 11.0), (1190, 11.0), (1200, 12.0)] {
        ack(&mut vegas, &mut w, now, 100, 1);
        assert_eq!(w.cwnd / SMSS, after, "{now} ms");
    }
}

#[test]
fn linux_begins_the_least_rtt_anew_once_all_was_acknowledged() {
    for (reading, base) in [(PAPER, 0.1), (LINUX, 0.3), (NS2, 0.1)] {
        let (mut vegas, mut w) = (Vegas { base: 0.1, ..control(reading) }, window(10.0, 5.0));
        let now = Time::ZERO + bentpipe_units::Span::from_millis(5000);
        let resume = Resume { now, idle: bentpipe_units::Span::from_millis(100), by_application: true };
        vegas.on_resume(&mut w, &resume);
        ack(&mut vegas, &mut w, 5300, 300, 1);
        assert_eq!(vegas.base, base, "{reading:?}");
    }
}

#[test]
fn a_loss_takes_half_or_in_ns2_a_quarter() {
    let loss = Loss { now: Time::ZERO, distance: 0, flight: 20_000 };
    for (reading, left) in [(PAPER, 10_000.0), (LINUX, 20_000.0), (NS2, 30_000.0)] {
        let mut w = window(40.0, 100.0);
        control(reading).on_loss(&mut w, &loss);
        assert_eq!((w.cwnd, w.ssthresh), (left, left));
    }
}

/// 1 MB/s and 100 ms, which is 100 segments: the queue comes to between alpha and beta segments and stays there, with what Linux and ns-2
/// round off.
#[test]
fn it_rests_with_alpha_to_beta_segments_in_the_queue_and_loses_none() {
    for (reading, most) in [(PAPER, 4.0), (LINUX, 5.0), (NS2, 4.5)] {
        let mut path = Path::new(control(reading), 1e6, 100.0);
        path.buffer = 200.0 * SMSS;
        path.run(30.0);
        let before = path.dropped;
        let mut cwnds = (f64::INFINITY, 0.0_f64);
        path.runs_until(30.0, |path| {
            cwnds = (cwnds.0.min(path.cwnd() / SMSS), cwnds.1.max(path.cwnd() / SMSS));
            false
        });
        assert_eq!(path.dropped, before, "{reading:?}");
        // What the path holds is 100 segments and the one that the link is sending.
        let backlog = (cwnds.0 - 101.0, cwnds.1 - 101.0);
        assert!(backlog.0 >= 0.9 && backlog.1 <= most + 0.1, "{reading:?}: {backlog:?}");
        assert!(path.run(10.0) > 0.999e6, "{reading:?}");
    }
}

/// cwnd in segments, of 20, after a round trip of `measured` with `flight` segments under way.
fn stepped_with(reading: VegasReading, flight: u32, measured: &Rtts) -> f64 {
    let mut vegas = Vegas { base: 0.1, ..control(reading) };
    let (mut w, record) = (window(20.0, 10.0), Record::default());
    let told = Ack { acked: SMSS as u32, prior_flight: flight * SMSS as u32, ..Ack::new(&record) };
    vegas.step(&mut w, &told, measured);
    w.cwnd / SMSS
}

#[test]
fn what_is_under_way_counts_and_not_a_window_that_nobody_fills() {
    // 100/115 of the window is the path's: 2.6 segments of 20 wait, and 1.3 of 10.
    let measured = rtts(0.115, 0.115, 0.115);
    assert_eq!(stepped_with(PAPER, 20, &measured), 20.0);
    assert_eq!(stepped_with(PAPER, 10, &measured), 21.0);
}

#[test]
fn linux_goes_by_no_fewer_than_three_rtts_of_a_round() {
    let measured = |count| Rtts { count, ..rtts(0.2, 0.2, 0.2) };
    assert_eq!(stepped_with(LINUX, 20, &measured(3)), 19.0);
    assert!(stepped_with(LINUX, 20, &measured(2)) > 20.0);
}
