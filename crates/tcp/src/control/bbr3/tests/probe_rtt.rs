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

/// The draft has "no more than roughly 2%" of the rate for 200 ms in 5 s. But `ProbeRTT` goes on for a round too, and takes half of a product
/// off what is in flight before that: over a long path it costs a product, each time.
#[test]
fn each_probe_rtt_costs_a_product_over_a_geostationary_path() {
    let (rate, rtt) = (1.25e6, 600.0);
    let mut path: Path<Bbr3> = Path::new(Bbr3::new(), rate, rtt);
    path.buffer = rate * rtt / 1e3;
    path.run(30.0);
    until(&mut path, State::ProbeRtt);
    let (began, received) = (path.now, path.received());
    let visits = 40;
    for _ in 0..visits {
        until(&mut path, State::Cruise);
        until(&mut path, State::ProbeRtt);
    }
    let took = path.now.since(began).as_secs();
    let missing = took * rate - (path.received() - received) as f64;
    // Pacing a hundredth below the rate is the rest.
    let each = missing / (rate * rtt / 1e3) / f64::from(visits);
    assert!((1.0..1.1).contains(&each), "{each} products");
    let cycle = took / f64::from(visits);
    assert!((6.2..6.4).contains(&cycle), "5 s, and two round trips: {cycle} s");
    assert!((0.89..0.91).contains(&(1.0 - missing / took / rate)));
}
