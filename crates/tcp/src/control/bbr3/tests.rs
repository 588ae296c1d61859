//! The draft's appendix "BBR Example Test Cases", each over a bottleneck of 1 MB/s and 100 ms (100 segments) unless it says otherwise.
//! A test names the case that it is.

use super::super::test_path::{Path, Policer, SMSS, ms};
use super::bounds::too_high;
use super::*;

const RATE: f64 = 1e6;
const RTT: f64 = 100.0;
const BDP: f64 = 1e5;

fn path() -> Path<Bbr3> {
    Path::new(Bbr3::new(), RATE, RTT)
}

fn until(path: &mut Path<Bbr3>, state: State) {
    assert!(path.runs_until(60.0, |path| path.control().state == state), "{state:?} never came");
}

/// Loses one segment of `every` from now on.
fn lose(path: &mut Path<Bbr3>, every: u64) {
    path.loses = Box::new(move |number| number % every == 0);
}

/// The product by the model, with its budget.
fn product(path: &Path<Bbr3>) -> f64 {
    path.control().inflight(path.sender.window(), 1.0)
}

#[test]
fn exiting_startup_on_bandwidth_plateau() {
    let mut path = path();
    until(&mut path, State::Drain);
    let control = path.control();
    assert!((control.max_bw.get() / RATE - 1.0).abs() < 0.02, "{}", control.max_bw.get());
    assert_eq!((control.full_bw_rounds, control.full_bw_now, control.full_bw_reached), (3, true, true));
}

#[test]
fn exiting_startup_on_loss_when_application_limited() {
    let mut path = path();
    // 60 segments a round trip are offered, and for a round trip one of five is lost.
    path.writes = Some((6000, ms(10.0)));
    path.runs_until(1.0, |_| false);
    assert_eq!(path.control().state, State::Startup);
    let from = path.sent;
    path.loses = Box::new(move |number| number < from + 60 && number % 5 == 0);
    // So little is in flight that Drain is over at once.
    assert!(path.runs_until(2.0, |path| path.control().state != State::Startup));
    let control = path.control();
    assert!(control.full_bw_now && control.full_bw_reached && control.inflight_longterm.is_finite());
    assert!(control.full_bw_rounds < 3, "it was no plateau");
}

#[test]
fn exiting_drain_based_on_inflight() {
    let mut path = path();
    until(&mut path, State::Drain);
    assert_eq!(path.control().gains(), (0.5, 2.0));
    let mut before = f64::INFINITY;
    assert!(path.runs_until(2.0, |path| {
        let over = path.control().state != State::Drain;
        before = if over { before } else { path.in_flight() };
        over
    }));
    assert!(path.control().probes_bw());
    let product = product(&path);
    assert!(path.in_flight() <= product && product < before + 2.0 * SMSS, "{before} and {product}");
}

#[test]
fn exiting_drain_based_on_time() {
    let mut path = path();
    until(&mut path, State::Drain);
    let began = path.control().drain_began;
    // What is delivered would have to be far below the estimate for what is in flight to stay above the product.
    path.set_rate(RATE * 0.4);
    assert!(path.runs_until(30.0, |path| path.control().state != State::Drain));
    assert!(path.in_flight() > product(&path), "{} and {}", path.in_flight(), product(&path));
    assert_eq!(path.control().rounds - began, 4, "the round after three whole ones");
}

#[test]
fn exiting_probe_up_on_bandwidth_plateau() {
    let mut path = path();
    until(&mut path, State::Up);
    until(&mut path, State::Down);
    let control = path.control();
    assert_eq!((control.full_bw_now, control.full_bw_rounds, control.prev_probe_too_high), (true, 3, false));
    assert_eq!(path.dropped, 0);
}

#[test]
fn exiting_probe_up_on_loss_when_application_limited() {
    let mut path = path();
    until(&mut path, State::Up);
    path.writes = Some((3000, ms(10.0)));
    lose(&mut path, 4);
    assert!(path.runs_until(2.0, |path| path.control().state == State::Down));
    assert!(path.control().prev_probe_too_high);
}

#[test]
fn never_exiting_startup_when_application_limited_with_no_loss() {
    let mut path = path();
    path.writes = Some((3000, ms(10.0)));
    path.run(4.5);
    assert_eq!(path.control().state, State::Startup);
    assert!(!path.control().full_bw_reached);
}

#[test]
fn exiting_probe_down_on_inflight() {
    let mut path = path();
    until(&mut path, State::Up);
    until(&mut path, State::Down);
    assert_eq!(path.control().gains().0, 0.9);
    until(&mut path, State::Cruise);
    assert!(path.in_flight() <= product(&path));
    assert!(path.in_flight() <= path.control().inflight_with_headroom(path.sender.window()));
}

#[test]
fn entering_and_exiting_probe_rtt() {
    let mut path = path();
    until(&mut path, State::Cruise);
    path.rtt = ms(RTT + 20.0);
    let least = path.control().probe_rtt_min_at;
    until(&mut path, State::ProbeRtt);
    let waited = path.now.since(least).as_secs();
    assert!((5.0..6.0).contains(&waited), "{waited}");
    assert_eq!(path.control().gains(), (1.0, 0.5));
    let began = path.now;
    until(&mut path, State::Cruise);
    let took = path.now.since(began).as_secs();
    assert!((0.2..0.6).contains(&took), "{took}");
    assert!(path.run(1.0) > 0.8 * RATE, "it sends again");
}

#[test]
fn correctly_managing_sub_packet_bdps() {
    // 10 kB/s and 20 ms: a fifth of a segment.
    let mut path: Path<Bbr3> = Path::new(Bbr3::new(), 1e4, 20.0);
    until(&mut path, State::Cruise);
    let goodput = path.run(20.0);
    assert!(path.cwnd() >= 4.0 * SMSS);
    assert!(goodput > 9.5e3, "{goodput}");
    let rate = path.sender.window().pacing_rate;
    assert!((0.8e4..1.4e4).contains(&rate), "{rate}");
}

#[test]
fn increasing_bandwidth_10x_and_ensuring_full_bandwidth_is_reached() {
    let mut path = path();
    until(&mut path, State::Cruise);
    path.run(1.0);
    path.set_rate(10.0 * RATE);
    assert!(path.runs_until(15.0, |path| path.control().max_bw.get() > 9.0 * RATE));
}

#[test]
fn decreasing_bandwidth_10x_and_ensuring_max_bandwidth_adapts_down() {
    let mut path: Path<Bbr3> = Path::new(Bbr3::new(), 10.0 * RATE, RTT);
    path.buffer = 2e5;
    until(&mut path, State::Cruise);
    path.set_rate(RATE);
    assert!(path.runs_until(5.0, |path| path.control().bw_shortterm.is_finite()), "losses tell first");
    assert!(path.runs_until(30.0, |path| path.control().max_bw.get() < 1.1 * RATE));
}

#[test]
fn handling_token_bucket_policers() {
    let mut path = path();
    until(&mut path, State::Cruise);
    let (rate, burst) = (5e5, 1e5);
    path.policer = Some(Policer { rate, burst, tokens: burst, filled: path.now });
    assert!(path.runs_until(10.0, |path| path.control().bw_shortterm.is_finite()));
    path.run(20.0);
    let (sent, dropped) = (path.sent, path.dropped);
    let goodput = path.run(30.0);
    let share = (path.dropped - dropped) as f64 / (path.sent - sent) as f64;
    assert!(goodput > 0.7 * rate && share < 0.1, "{goodput}, {share} lost");
}

#[test]
fn handling_loss_during_probe_up_after_inflight_longterm_is_set() {
    let mut path = path();
    path.buffer = 5e4;
    assert!(path.runs_until(30.0, |path| {
        path.control().inflight_longterm.is_finite() && path.control().state == State::Up
    }));
    let before = path.control().inflight_longterm;
    lose(&mut path, 10);
    assert!(path.runs_until(2.0, |path| path.control().state == State::Down));
    let control = path.control();
    assert!(control.inflight_longterm < before * 1.3 && control.inflight_longterm >= 0.7 * BDP * 0.9);
}

#[test]
fn the_threshold_is_two_hundredths_of_what_was_in_flight() {
    assert!(!too_high(2000.0, 1e5) && too_high(2001.0, 1e5));
}
