//! Cases of ProbeRTT.

use super::*;

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
    assert!(path.control().full_bw_reached);
    let began = path.now;
    until(&mut path, State::Cruise);
    let took = path.now.since(began).as_secs();
    assert!((0.2..0.6).contains(&took), "{took}");
    assert!(path.run(1.0) > 0.8 * RATE, "it sends again");
}

#[test]
fn skipping_probe_rtt_due_to_application_limited_sending() {
    let mut path = path();
    until(&mut path, State::Cruise);
    let known = path.control().probe_rtt_min_at;
    path.writes = Some((0, ms(100.0)));
    path.runs_until(6.0, |_| false);
    assert_eq!((path.in_flight(), path.control().resuming), (0.0, false));
    path.writes = None;
    assert!(path.runs_until(0.2, |path| path.in_flight() > 0.0));
    assert!(path.control().resuming, "the pause was noticed");
    assert!(path.now.since(known).as_secs() > 6.0, "long overdue");
    assert!(path.runs_until(0.5, |path| !path.control().resuming));
    assert!(path.now.since(path.control().probe_rtt_min_at).as_secs() < 0.01, "a pause is as good");
    assert!(!path.runs_until(4.5, |path| path.control().state == State::ProbeRtt));
}

#[test]
fn entering_and_exiting_probe_rtt_during_startup() {
    let mut path = path();
    path.writes = Some((3000, ms(10.0)));
    until(&mut path, State::ProbeRtt);
    assert!(!path.control().full_bw_reached);
    let began = path.now;
    assert!(path.runs_until(2.0, |path| path.control().state != State::ProbeRtt));
    assert_eq!(path.control().state, State::Startup);
    assert!(path.now.since(began).as_secs() >= 0.2);
    // And goes on to look for the rate.
    path.writes = None;
    until(&mut path, State::Drain);
    assert!((path.control().max_bw.get() / RATE - 1.0).abs() < 0.02);
}
