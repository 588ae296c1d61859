//! The 22 cases of the draft's appendix "BBR Example Test Cases", each over a bottleneck of 1 MB/s and 100 ms (100 segments) unless
//! it says otherwise. A test has the name of its case.

use super::super::test_path::{Path, Policer, SMSS, ms};
use super::bounds::too_high;
use super::*;

mod by_hand;
mod marks;
mod paths;
mod probe_rtt;
mod spurious;
mod timeouts;

const RATE: f64 = 1e6;
const RTT: f64 = 100.0;
const BDP: f64 = 1e5;

fn path() -> Path<Bbr3> {
    Path::new(Bbr3::new(), RATE, RTT)
}

fn until(path: &mut Path<Bbr3>, state: State) {
    assert!(path.runs_until(60.0, |path| path.control().state == state), "{state:?} never came");
}

/// Until it is in a state from which it is so many seconds to the next ProbeRTT, without a smaller RTT.
fn until_long_before_probe_rtt(path: &mut Path<Bbr3>, state: State, seconds: f64) {
    let is_so = |path: &Path<Bbr3>| {
        let since = path.now.since(path.control().probe_rtt_min_at).as_secs();
        path.control().state == state && 5.0 - since > seconds
    };
    assert!(path.runs_until(100.0, is_so), "{state:?} never came so early");
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
    // A tenth less, as the draft has it, does not keep half of the rate from draining: so much less does.
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
    path.runs_until(0.4, |_| false);
    assert_eq!(path.control().state, State::Up);
    assert!(path.in_flight() < 0.4 * BDP);
    lose(&mut path, 4);
    // So little is in flight that DOWN is over at once.
    assert!(path.runs_until(0.5, |path| path.control().state != State::Up));
    let control = path.control();
    assert_eq!((control.state, control.prev_probe_too_high), (State::Cruise, true));
    // HandleInflightTooHigh: what the application limits says nothing of the path's volume, so that none is set.
    assert!(control.inflight_longterm.is_infinite());
}

#[test]
fn never_exiting_probe_up_or_startup_when_application_limited_with_no_loss() {
    for state in [State::Startup, State::Up] {
        let mut path = path();
        until_long_before_probe_rtt(&mut path, state, 2.0);
        path.writes = Some((3000, ms(10.0)));
        let rounds = path.control().rounds;
        // ProbeRTT alone ends it, for a while.
        assert!(path.runs_until(6.0, |path| path.control().state != state));
        assert_eq!(path.control().state, State::ProbeRtt, "after {state:?}");
        assert!(path.control().rounds - rounds > 12);
        assert!(!path.control().full_bw_now);
    }
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
fn exiting_probe_down_after_max_time() {
    let mut path = path();
    // One that is over before ProbeRTT is due.
    assert!(path.runs_until(200.0, |path| {
        let control = path.control();
        let probe_rtt = control.probe_rtt_min_at + ms(4950.0);
        control.state == State::Down && control.cycle_began + control.probe_wait < probe_rtt
    }));
    path.set_rate(0.9 * RATE);
    let (began, wait) = (path.control().cycle_began, path.control().probe_wait);
    assert!((2.0..3.0).contains(&wait.as_secs()));
    assert!(path.runs_until(4.0, |path| path.control().state != State::Down));
    assert_eq!(path.control().state, State::Refill, "with no cruise between");
    let late = path.now.since(began + wait).as_secs();
    assert!((0.0..0.01).contains(&late), "{late}");
    assert!(path.in_flight() > product(&path), "{}", path.in_flight());
}

#[test]
fn handling_loss_during_probe_up_after_inflight_longterm_is_set() {
    let mut path = path();
    path.buffer = 5e4;
    assert!(path.runs_until(30.0, |path| {
        path.control().inflight_longterm.is_finite() && path.control().state == State::Up
    }));
    let before = path.control();
    lose(&mut path, 10);
    assert!(path.runs_until(2.0, |path| path.control().state != State::Up));
    let control = path.control();
    assert_eq!((control.state, control.prev_probe_too_high), (State::Down, true));
    assert!(!control.full_bw_now, "it was no plateau");
    let at_loss = control.inflight_longterm;
    assert!(
        at_loss <= before.inflight_longterm.max(path.in_flight()) && at_loss >= 0.7 * BDP * 0.9,
        "{at_loss}"
    );
    // However little was in flight, Beta of the target is left.
    let (mut control, w) = (before, *path.sender.window());
    let target = control.target_inflight(&w);
    control.on_too_high(&w, path.now, 0.5 * target, false);
    assert_eq!((control.state, control.inflight_longterm), (State::Down, 0.7 * target));
}

#[test]
fn the_threshold_is_two_hundredths_of_what_was_in_flight() {
    assert!(!too_high(2000.0, 1e5) && too_high(2001.0, 1e5));
}

#[test]
fn handling_application_limited_sending_during_probe_refill() {
    let mut path = path();
    until(&mut path, State::Refill);
    let (known, rounds) = (path.control().max_bw.get(), path.control().rounds);
    path.writes = Some((1000, ms(20.0)));
    until(&mut path, State::Up);
    assert_eq!(path.control().rounds - rounds, 1);
    // A round of nothing but samples of a twentieth of the rate.
    path.runs_until(0.5, |_| false);
    assert!(path.control().bw_latest < 0.1 * RATE, "{}", path.control().bw_latest);
    assert_eq!((path.control().max_bw.get(), path.control().state), (known, State::Up));
    path.writes = None;
    until(&mut path, State::Down);
    assert!(path.control().full_bw_now);
    assert!((path.control().max_bw.get() / RATE - 1.0).abs() < 0.02);
}

impl Bbr3 {
    /// The least that cwnd may be, in segments: after a timeout, one.
    pub(in crate::control) fn floor(&self) -> f64 {
        if matches!(self.repair, Repair::Timeout(_)) { 1.0 } else { LEAST }
    }
}
