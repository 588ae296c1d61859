//! Each mode by what it does to a sender over a bottleneck of 1 MB/s and 100 ms: 100 segments.

use super::super::test_path::{Path, Policer, SMSS, ms};
use super::*;

mod by_hand;

const RATE: f64 = 1e6;
const RTT: f64 = 100.0;
const BDP: f64 = 100.0;

fn path() -> Path<Bbr1> {
    Path::new(Bbr1::new(Bbr1Options::default()), RATE, RTT)
}

fn path_in_probe_bw() -> Path<Bbr1> {
    let mut path = path();
    until(&mut path, Mode::ProbeBw);
    path.run(2.0);
    path
}

/// Until it is in a mode.
fn until(path: &mut Path<Bbr1>, mode: Mode) {
    assert!(path.runs_until(60.0, |path| path.control().mode == mode), "{mode:?} never came");
}

fn segments(path: &Path<Bbr1>) -> f64 {
    path.cwnd() / SMSS
}

#[test]
fn startup_begins_at_the_high_gain_and_doubles_each_round() {
    let mut path = path();
    assert!(path.runs_until(1.0, |path| path.control().has_paced));
    // bbr_init_pacing_rate_from_rtt: high_gain * init_cwnd / RTT, 1677.7 units, less a hundredth.
    let first = path.sender.window().pacing_rate;
    assert!((first - 0.99 * HIGH_GAIN * 1677.0 * UNIT * SMSS).abs() < 1.0, "{first}");
    let mut windows = vec![10.0];
    for round in 2..6 {
        assert!(path.runs_until(1.0, |path| path.control().rounds == round));
        windows.push(segments(&path).round());
    }
    // What is acknowledged is added while the estimate leaves room.
    assert!(windows.windows(2).all(|pair| (1.8..=2.1).contains(&(pair[1] / pair[0]))), "{windows:?}");
    assert_eq!((path.control().pacing_gain, path.control().cwnd_gain), (739.0 / 256.0, 739.0 / 256.0));
}

#[test]
fn three_rounds_without_a_quarter_more_end_startup_and_drain_empties_the_queue() {
    let mut path = path();
    until(&mut path, Mode::Drain);
    {
        let control = path.control();
        assert_eq!((control.full_rounds, control.filled), (3, true));
        assert!((control.bandwidth.get() / RATE - 1.0).abs() < 0.01, "{}", control.bandwidth.get());
        assert_eq!(control.pacing_gain, 88.0 / 256.0);
    }
    // The queue is what the gain of the window has let in.
    let queued = path.queued() / SMSS;
    assert!((0.8 * (HIGH_GAIN - 1.0) * BDP..1.2 * (HIGH_GAIN - 1.0) * BDP).contains(&queued), "{queued}");
    let began = path.now;
    until(&mut path, Mode::ProbeBw);
    // The queue of 189 segments, less the six bursts that count as none, at 1 - 0.34 of the rate.
    let took = path.now.since(began).as_secs();
    assert!((0.2..0.4).contains(&took), "{took}");
    assert!(path.in_flight() <= (BDP + 8.0) * SMSS, "{}", path.in_flight());
    assert_ne!(path.control().cycle, 1, "it never begins by draining");
}

#[test]
fn probe_bw_goes_through_its_cycle_a_round_trip_each_with_twice_the_product_in_cwnd() {
    let mut path = path();
    until(&mut path, Mode::ProbeBw);
    path.run(3.0);
    let mut seen: Vec<(usize, f64, Time)> = Vec::new();
    path.runs_until(2.0, |path| {
        let control = path.control();
        if seen.last().is_none_or(|last| last.0 != control.cycle) {
            seen.push((control.cycle, control.pacing_gain, path.now));
        }
        false
    });
    assert!(seen.len() > 12, "{seen:?}");
    for pair in seen[1..].windows(2) {
        assert_eq!(pair[1].0, (pair[0].0 + 1) % 8);
        assert_eq!(pair[0].1, [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0][pair[0].0]);
        let took = pair[1].2.since(pair[0].2).as_secs();
        // The probing phase lasts until 1.25 * BDP and its bursts are in flight, the draining one until they are not.
        let expected = [0.12..0.15, 0.01..0.12][pair[0].0.min(1)].clone();
        let expected = if pair[0].0 > 1 { 0.1..0.11 } else { expected };
        assert!(expected.contains(&took), "phase {} took {took}", pair[0].0);
    }
    // bbr_quantization_budget: 2 * BDP and three bursts of two segments, even; two more while it probes. The product's last
    // segment is the one that is being sent.
    let window = segments(&path);
    assert!((2.0 * BDP + 6.0..2.0 * BDP + 14.0).contains(&window), "{window}");
    // No segment is as fast as the handshake, so that 10 s always come to a ProbeRTT: half a second at most.
    let goodput = path.run(10.0) / RATE;
    assert!((0.94..0.99).contains(&goodput), "{goodput}");
}

#[test]
fn probe_rtt_comes_after_ten_seconds_without_a_smaller_rtt_for_200_ms_at_four_segments() {
    let mut path = path();
    until(&mut path, Mode::ProbeBw);
    // A queue of somebody else's: no RTT is as small as the one known.
    path.rtt = super::super::test_path::ms(RTT + 20.0);
    until(&mut path, Mode::ProbeRtt);
    let stale = path.now.since(path.control().min_rtt_at).as_secs();
    assert!(stale < 0.2, "the sample that came as the old one expired counts: {stale}");
    assert!(path.runs_until(1.0, |path| path.control().probe_rtt_until.is_some()));
    let (began, before) = (path.now, path.control().prior_cwnd);
    assert_eq!(segments(&path), 4.0);
    assert!(path.sender.window().held_back, "rates of this time are not the network's");
    until(&mut path, Mode::ProbeBw);
    let took = path.now.since(began).as_secs();
    assert!((0.2..0.4).contains(&took), "{took}");
    assert!(path.cwnd() >= before.min(2.0 * BDP * SMSS), "{} and {before}", path.cwnd());
    let min_rtt = path.control().min_rtt.map_or(0.0, Span::as_secs);
    assert!((min_rtt - 0.121).abs() < 0.001, "the path without a queue: {min_rtt}");
}

#[test]
fn a_recovery_begins_with_as_much_as_is_delivered_and_ends_where_it_began() {
    let mut path = path_in_probe_bw();
    let lost = path.sent + 1;
    path.loses = Box::new(move |number| number == lost);
    let before = path.cwnd();
    assert!(path.runs_until(1.0, |path| path.control().conserving));
    assert!(
        (path.cwnd() - path.in_flight() - SMSS).abs() <= SMSS,
        "{} and {}",
        path.cwnd(),
        path.in_flight()
    );
    assert!(path.runs_until(1.0, |path| path.control().repair == Repair::None));
    assert!((path.cwnd() - before).abs() <= 2.0 * SMSS, "{} and {before}", path.cwnd());
    assert_eq!(path.sender.stats().timeouts, 0);
}

#[test]
fn a_timeout_leaves_one_segment_and_its_end_gives_the_window_back() {
    let mut path = path_in_probe_bw();
    let (from, before) = (path.sent, path.cwnd());
    path.loses = Box::new(move |number| (from + 1..from + 300).contains(&number));
    assert!(path.runs_until(3.0, |path| path.sender.stats().timeouts > 0));
    assert_eq!(segments(&path), 1.0);
    path.loses = Box::new(|_| false);
    assert!(path.runs_until(3.0, |path| path.control().repair == Repair::None));
    assert!(path.cwnd() >= before.min(2.0 * BDP * SMSS), "{} and {before}", path.cwnd());
}

#[test]
fn recovery_from_a_timeout_ends_at_all_that_was_outstanding() {
    let is_over = |path: &Path<Bbr1>| path.control().repair == Repair::None;
    // Less than cwnd where the application had no more: 20 segments of 200.
    let mut path = path_in_probe_bw();
    path.writes = Some((20_000, ms(2000.0)));
    path.run(3.0);
    let (outstanding, end) = path.recovers_from_a_timeout(is_over);
    assert_eq!((outstanding, path.sender.una()), (20_000, end));
    // More than cwnd where the peer holds what lies behind a hole, two round trips of it.
    let mut path = path_in_probe_bw();
    let (lost, cwnd) = (path.sent + 1, path.cwnd());
    path.loses = Box::new(move |number| number == lost);
    assert!(path.runs_until(1.0, |path| path.sender.in_recovery()));
    let again = path.sent + 1;
    path.loses = Box::new(move |number| number == again);
    path.run(RTT / 1e3);
    let (outstanding, end) = path.recovers_from_a_timeout(is_over);
    assert!(f64::from(outstanding) > 1.2 * cwnd, "{outstanding} and {cwnd}");
    assert!(path.sender.una() >= end, "{:?} and {end:?}", path.sender.una());
}

#[test]
fn a_policers_rate_is_found_and_kept_for_48_rounds() {
    let mut path = path();
    path.buffer = 4e6;
    let (rate, burst) = (3e5, 2e5);
    path.policer = Some(Policer { rate, burst, tokens: burst, filled: Time::ZERO });
    assert!(path.runs_until(60.0, |path| path.control().policed.rate().is_some()), "it was never found");
    let found = path.control().policed.rate().unwrap_or(0.0);
    assert!((found / rate - 1.0).abs() < 0.15, "{found}");
    let (sent, dropped) = (path.sent, path.dropped);
    assert!(
        path.runs_until(1.0, |path| path.control().mode == Mode::ProbeBw
            && path.control().pacing_gain == 1.0)
    );
    let rounds = path.control().rounds;
    assert!(path.runs_until(60.0, |path| path.control().policed.rate().is_none()));
    let held = path.control().rounds - rounds;
    assert!((40..=49).contains(&held), "{held}");
    let share = (path.dropped - dropped) as f64 / (path.sent - sent) as f64;
    assert!(share < 0.1, "while it holds, little is lost: {share}");
    // Without it, the same policer costs more.
    let options = Bbr1Options { long_term_rate: false };
    let mut unaware = Path::new(Bbr1::new(options), RATE, RTT);
    unaware.policer = Some(Policer { rate, burst, tokens: burst, filled: Time::ZERO });
    unaware.run(30.0);
    assert!(unaware.control().policed.rate().is_none());
    assert!(unaware.dropped as f64 / unaware.sent as f64 > 2.0 * share);
}

#[test]
fn acks_that_come_together_widen_the_window_by_what_they_bring() {
    let mut path = path();
    path.together = Some(Span::from_millis(40));
    until(&mut path, Mode::ProbeBw);
    assert!(path.run(5.0) > 0.9 * RATE);
    let extra = path.control().extra.most(RATE) / SMSS;
    assert!((20.0..60.0).contains(&extra), "40 ms are 40 segments: {extra}");
}

#[test]
fn after_a_pause_it_goes_on_at_the_estimate_and_does_not_probe_the_rtt() {
    // 3000 segments each 15 s: all is acknowledged long before the next.
    let mut path = path();
    path.writes = Some((3_000_000, Span::from_millis(15_000)));
    until(&mut path, Mode::ProbeBw);
    assert!(path.runs_until(14.0, |path| path.in_flight() == 0.0 && path.control().filled));
    let window = path.cwnd();
    assert!(path.runs_until(16.0, |path| path.control().resuming), "the pause was noticed");
    assert_eq!(path.control().mode, Mode::ProbeBw);
    assert!((path.sender.window().pacing_rate / RATE - 0.99).abs() < 0.02, "{:?}", path.sender.window());
    assert_eq!(path.cwnd(), window);
    assert!(path.runs_until(1.0, |path| !path.control().resuming));
    assert_eq!(path.control().mode, Mode::ProbeBw, "the pause has emptied the queue well enough");
}

#[test]
fn no_more_than_a_burst_goes_out_ahead_of_the_pacing_rate() {
    let mut path = path();
    until(&mut path, Mode::ProbeBw);
    path.bursts.clear();
    path.run(3.0);
    let rate = 1.26 * RATE;
    let bursts = std::mem::take(&mut path.bursts);
    for (first, burst) in bursts.iter().enumerate().step_by(50) {
        let mut bytes = 0.0;
        for later in &bursts[first..] {
            bytes += later.bytes;
            let allowed = later.at.since(burst.at).as_secs() * rate + 2.0 * SMSS;
            assert!(bytes <= allowed + 1.0, "{bytes} and {allowed}");
        }
    }
}

#[test]
fn a_slower_link_is_known_when_ten_rounds_have_passed() {
    let mut path = path();
    until(&mut path, Mode::ProbeBw);
    path.run(2.0);
    path.set_rate(RATE / 2.0);
    let rounds = path.control().rounds;
    assert!(path.runs_until(10.0, |path| path.control().bandwidth.get() < 0.6 * RATE));
    let took = path.control().rounds - rounds;
    assert!((10..=12).contains(&took), "{took}");
}

impl Bbr1 {
    /// The least that cwnd may be, in segments: in a recovery that holds as much as is delivered, and after a timeout, one.
    pub(in crate::control) fn floor(&self) -> f64 {
        if self.repair == Repair::None && !self.conserving { LEAST } else { 1.0 }
    }
}
