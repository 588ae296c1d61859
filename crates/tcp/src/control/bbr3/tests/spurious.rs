//! Cases of recoveries that turn out needless: D-SACKs tell.

use super::*;

/// Sends so many segments from now on by a way that takes longer.
fn delay(path: &mut Path<Bbr3>, count: u64, by: f64) {
    let from = path.sent;
    path.late = Box::new(move |number| if number - from <= count { ms(by) } else { ms(0.0) });
}

/// In `ProbeBW_UP` with a long-term bound.
fn probing() -> Path<Bbr3> {
    let mut path = path();
    path.buffer = 5e4;
    assert!(path.runs_until(30.0, |path| {
        path.control().inflight_longterm.is_finite() && path.control().state == State::Up
    }));
    path.buffer = f64::INFINITY;
    path.dropped = 0;
    path
}

/// Runs until a recovery has begun that took it out of `ProbeBW_UP`; what it was before.
fn recovers(path: &mut Path<Bbr3>, repair: impl Fn(Repair) -> bool) -> Bbr3 {
    let mut before = path.control();
    assert!(path.runs_until(5.0, |path| {
        let control = path.control();
        before = if control.repair == Repair::None { control } else { before };
        repair(control.repair) && control.state != State::Up
    }));
    assert_eq!(before.state, State::Up);
    let control = path.control();
    // `SaveStateUponLoss`, and what the losses have done since.
    assert_eq!(control.undo.state, Some(State::Up));
    assert_eq!(control.undo.bw_shortterm, before.bw_shortterm);
    assert_eq!(control.undo.inflight_shortterm, before.inflight_shortterm);
    assert_eq!(control.undo.inflight_longterm, before.inflight_longterm);
    assert!(control.inflight_longterm < before.inflight_longterm, "{}", control.inflight_longterm);
    before
}

/// The recovery is found needless, and what was saved is there again.
fn takes_back(path: &mut Path<Bbr3>, before: &Bbr3) {
    assert!(path.runs_until(0.5, |path| path.control().undo.state.is_none()));
    let control = path.control();
    assert_eq!((control.state, control.repair), (State::Refill, Repair::None), "it probes anew");
    assert_eq!(control.bw_shortterm, before.bw_shortterm);
    assert_eq!(control.inflight_shortterm, before.inflight_shortterm);
    assert!(control.inflight_longterm >= before.inflight_longterm, "{}", control.inflight_longterm);
    assert!(!control.loss_in_round && !control.full_bw_now);
}

#[test]
fn handling_spurious_fast_recovery() {
    let mut path = probing();
    // Six of a hundred are late by less than what went again in their place.
    delay(&mut path, 6, 60.0);
    let before = recovers(&mut path, |repair| repair == Repair::FastRecovery);
    takes_back(&mut path, &before);
    assert_eq!((path.dropped, path.sender.stats().timeouts), (0, 0));
    until(&mut path, State::Up);
}

#[test]
fn handling_spurious_rto_recovery() {
    let mut path = probing();
    delay(&mut path, 200, 1500.0);
    let before = recovers(&mut path, |repair| matches!(repair, Repair::Timeout(_)));
    assert_eq!(path.sender.stats().timeouts, 1);
    takes_back(&mut path, &before);
    until(&mut path, State::Up);
}
