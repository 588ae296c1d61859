//! Congestion marks, which the draft leaves to whoever implements it: as a loss above the threshold.

use super::*;

/// An ACK tells of a mark.
fn mark(path: &mut Path<Bbr3>) {
    let (now, flight) = (path.now, path.sender.flight());
    path.sender.on_mark_echo(now, flight);
}

#[test]
fn a_mark_ends_startup_with_a_bound() {
    let mut path = path();
    assert!(path.runs_until(1.0, |path| path.control().rounds == 4));
    assert_eq!(path.control().state, State::Startup);
    mark(&mut path);
    let control = path.control();
    assert!(control.full_bw_now && control.full_bw_reached);
    assert_eq!(control.inflight_longterm, control.bdp(1.0).max(control.inflight_latest));
    assert!(path.runs_until(0.1, |path| path.control().state != State::Startup));
}

#[test]
fn a_mark_ends_a_probe_where_it_is_and_no_needless_recovery_undoes_it() {
    let mut path = path();
    until(&mut path, State::Up);
    let in_flight = f64::from(path.sender.flight());
    mark(&mut path);
    let control = path.control();
    assert_eq!((control.state, control.prev_probe_too_high), (State::Down, true));
    assert_eq!(control.inflight_longterm, in_flight);
    let (mut control, mut w) = (control, *path.sender.window());
    control.on_spurious(&mut w);
    assert_eq!((control.state, control.inflight_longterm), (State::Down, in_flight));
}

#[test]
fn a_mark_while_it_cruises_takes_off_what_a_loss_would() {
    let mut path = path();
    until(&mut path, State::Cruise);
    path.run(0.5);
    let (before, cwnd) = (path.control(), path.cwnd());
    assert_eq!((before.state, before.bw_shortterm), (State::Cruise, f64::INFINITY));
    mark(&mut path);
    assert!(path.runs_until(0.5, |path| path.control().bw_shortterm.is_finite()));
    let control = path.control();
    assert_eq!(control.state, State::Cruise);
    // Beta, or what the round has delivered.
    assert!((0.7 * RATE..=before.max_bw.get()).contains(&control.bw_shortterm), "{}", control.bw_shortterm);
    assert!(
        (0.7 * cwnd - SMSS..0.8 * cwnd).contains(&control.inflight_shortterm),
        "{}",
        control.inflight_shortterm
    );
    assert!(path.cwnd() <= control.inflight_shortterm);
}
