//! The estimate of the bandwidth sample by sample, and what losses leave by it.

use super::super::test_acks::{ack, at, window};
use super::super::test_path::{Path, SMSS};
use super::*;

const LINUX: WestwoodReading = WestwoodReading::Linux;

fn control(reading: WestwoodReading) -> Westwood {
    Westwood::new(WestwoodOptions { reading, ..WestwoodOptions::default() })
}

/// The control after ACKs at 1000 ms, 1100 ms … of so many segments each; the RTT is 100 ms.
fn told(reading: WestwoodReading, segments: &[u32]) -> Westwood {
    let (mut control, mut w) = (control(reading), window(50.0, 20.0));
    for (now, segments) in (1000..).step_by(100).zip(segments) {
        ack(&mut control, &mut w, now, 100, *segments);
    }
    control
}

fn loss(flight: u32) -> Loss {
    Loss { now: at(5000), distance: 0, flight }
}

#[test]
fn each_rtt_gives_a_sample_and_the_filter_keeps_seven_eighths() {
    assert_eq!(told(WestwoodReading::Paper, &[7]).bandwidth, None);
    // The first ACK begins the first sample and is not of it.
    assert_eq!(told(WestwoodReading::Paper, &[7, 10]).bandwidth, Some(100_000.0));
    assert_eq!(told(WestwoodReading::Paper, &[7, 10, 18]).bandwidth, Some(110_000.0));
    let twice = told(WestwoodReading::Paper, &[7, 10, 18, 19]).bandwidth;
    assert_eq!(twice, Some(110_000.0 + 80_000.0 / 8.0));
}

#[test]
fn a_sample_is_an_rtt_long_and_no_shorter_than_50_ms() {
    let intervals = |rtt: u64| {
        let (mut control, mut w) = (control(WestwoodReading::Paper), window(50.0, 20.0));
        let mut ends = Vec::new();
        for now in (1000..1300).step_by(10) {
            let before = control.began;
            ack(&mut control, &mut w, now, rtt, 1);
            if control.began != before {
                ends.push(now - 1000);
            }
        }
        ends
    };
    assert_eq!(intervals(100), [0, 100, 200]);
    assert_eq!(intervals(20), [0, 50, 100, 150, 200, 250]);
}

#[test]
fn a_loss_leaves_the_bandwidth_times_the_least_rtt() {
    // 100 kB/s and 100 ms: ten segments.
    let mut w = window(50.0, 20.0);
    let mut control = told(WestwoodReading::Paper, &[7, 10]);
    assert_eq!(control.on_loss(&mut w, &loss(50_000)), Response::Reduced);
    assert_eq!((w.cwnd, w.ssthresh), (10_000.0, 10_000.0));
    // A smaller cwnd stays where it is.
    let mut w = window(4.0, 20.0);
    control.on_loss(&mut w, &loss(4000));
    assert_eq!((w.cwnd, w.ssthresh), (4000.0, 10_000.0));
    // Two segments at least.
    let mut w = window(50.0, 20.0);
    told(WestwoodReading::Paper, &[7, 1]).on_loss(&mut w, &loss(50_000));
    assert_eq!((w.cwnd, w.ssthresh), (2000.0, 2000.0));
    // RFC 5681 before there is an estimate.
    let mut w = window(50.0, 100.0);
    told(WestwoodReading::Paper, &[7]).on_loss(&mut w, &loss(50_000));
    assert_eq!((w.cwnd, w.ssthresh), (25_000.0, 25_000.0));
}

#[test]
fn a_timeout_leaves_it_to_ssthresh_and_a_segment_to_cwnd() {
    let timeout = Timeout { now: at(5000), flight: 50_000, repeated: false };
    let mut w = window(50.0, 20.0);
    let mut control = told(WestwoodReading::Paper, &[7, 10]);
    control.on_timeout(&mut w, &timeout);
    assert_eq!((w.cwnd, w.ssthresh), (1000.0, 10_000.0));
    assert!(control.rtt_min.is_some());
}

#[test]
fn linux_counts_whole_bytes_a_tick_and_filters_them_twice() {
    let left = |segments: &[u32]| told(LINUX, segments).pipe(&window(50.0, 20.0));
    // Two segments before there is a sample.
    assert_eq!(left(&[7, 10]), Some(2000.0));
    // A sample is longer than an RTT: 10 segments in 50 ticks, 5 of them in the 25 of an RTT. A duplicate stands for a segment, which the next
    // ACK does not count again.
    assert_eq!(left(&[7, 10, 18]), Some(5000.0));
    // 138 segments in 50 ticks are 2760 bytes a tick: 520 behind one filter, and 240 behind the other.
    assert_eq!(left(&[7, 10, 18, 119, 1]), Some(5000.0));
    assert_eq!(left(&[7, 10, 18, 120, 1]), Some(6000.0));
    // The first of the timeouts in a row begins RTTmin anew.
    let (mut control, mut w) = (told(LINUX, &[7, 10, 18]), window(50.0, 20.0));
    for (repeated, ssthresh) in [(false, 5000.0), (true, 5000.0)] {
        control.on_timeout(&mut w, &Timeout { now: at(5000), flight: 50_000, repeated });
        assert_eq!(w.ssthresh, ssthresh);
    }
    ack(&mut control, &mut w, 5400, 400, 1);
    assert!(control.pipe(&w) > Some(5000.0));
}

#[test]
fn linux_halves_and_comes_to_the_estimate_when_the_recovery_is_through() {
    let mut w = window(50.0, 20.0);
    let mut control = told(LINUX, &[7, 10, 18]);
    control.on_loss(&mut w, &loss(40_000));
    assert_eq!((w.cwnd, w.ssthresh), (25_000.0, 25_000.0));
    control.on_recovery_exit(&mut w, &Exit { flight: 25_000, acked: 50_000, cwnd: 25_000.0 });
    assert_eq!((w.cwnd, w.ssthresh), (5000.0, 5000.0));
}

/// 1 MB/s and 100 ms, which is 100 segments, and as many in the queue.
#[test]
fn on_a_clean_bottleneck_a_loss_leaves_what_the_path_holds() {
    let mut path = Path::new(control(WestwoodReading::Paper), 1e6, 100.0);
    path.buffer = 100.0 * SMSS;
    path.run(20.0);
    // The first loss of slow start is long over.
    let dropped = path.dropped;
    assert!(path.runs_until(60.0, |path| path.dropped > dropped));
    assert!(path.runs_until(2.0, |path| path.cwnd() < 150.0 * SMSS));
    let bandwidth = path.control().bandwidth.unwrap_or_default();
    assert!((bandwidth / 1e6 - 1.0).abs() < 0.03, "{bandwidth} of 1e6 bytes/s");
    let left = path.sender.window().ssthresh / SMSS;
    assert!((98.0..=103.0).contains(&left), "{left} segments");
    // So that the link is never idle.
    let goodput = path.run(60.0);
    assert!(goodput > 0.98e6, "{goodput}");
}

#[test]
fn a_random_loss_costs_next_to_nothing() {
    let goodput = |control: Westwood| {
        let mut path = Path::new(control, 1e6, 100.0);
        path.buffer = 100.0 * SMSS;
        path.loses = Box::new(|number| number % 500 == 499);
        path.run(10.0);
        path.run(60.0)
    };
    let mut halves = Path::new(super::super::Standard, 1e6, 100.0);
    halves.buffer = 100.0 * SMSS;
    halves.loses = Box::new(|number| number % 500 == 499);
    halves.run(10.0);
    let (ours, reno) = (goodput(control(WestwoodReading::Paper)), halves.run(60.0));
    assert!(ours > 1.3 * reno, "{ours} and {reno} bytes/s");
}
