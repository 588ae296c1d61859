//! Where the recovery from a timeout ends.

use super::*;

fn is_over(path: &Path<Bbr3>) -> bool {
    path.control().repair == Repair::None
}

fn cruising() -> Path<Bbr3> {
    let mut path = path();
    until_long_before_probe_rtt(&mut path, State::Cruise, 4.0);
    path
}

#[test]
fn where_the_application_had_no_more_it_ends_below_cwnd() {
    let mut path = cruising();
    path.writes = Some((20_000, ms(2000.0)));
    path.run(3.0);
    let (outstanding, end) = path.recovers_from_a_timeout(is_over);
    assert_eq!((outstanding, path.sender.una()), (20_000, end));
}

#[test]
fn where_the_peer_holds_what_lies_behind_a_hole_it_ends_beyond_cwnd() {
    let mut path = cruising();
    let (lost, cwnd) = (path.sent + 1, path.cwnd());
    path.loses = Box::new(move |number| number == lost);
    path.run(RTT / 1e3);
    let (outstanding, end) = path.recovers_from_a_timeout(is_over);
    assert!(f64::from(outstanding) > 1.2 * cwnd, "{outstanding} and {cwnd}");
    assert!(path.sender.una() >= end, "{:?} and {end:?}", path.sender.una());
}
