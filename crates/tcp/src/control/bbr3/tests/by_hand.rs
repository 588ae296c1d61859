//! Rules of a single ACK, told by hand.

use super::*;
use crate::control::test_acks::{at, window};

/// A control that knows the path.
fn control() -> Bbr3 {
    let mut control = Bbr3 { full_bw_reached: true, min_rtt: Some(ms(RTT)), bw: RATE, ..Bbr3::new() };
    control.max_bw.add(0, BANDWIDTH_CYCLES, RATE);
    control
}

#[test]
fn what_the_application_limits_shows_no_slower_link() {
    let mut control = control();
    for cycle in 1..5 {
        control.cycles = cycle;
        control.update_max_bw(&Sample { rate: RATE / 2.0, app_limited: true, ..Sample::default() });
    }
    assert_eq!(control.max_bw.get(), RATE);
    control.update_max_bw(&Sample { rate: 2.0 * RATE, app_limited: true, ..Sample::default() });
    assert_eq!(control.max_bw.get(), 2.0 * RATE);
}

#[test]
fn the_end_of_a_recovery_gives_the_window_back() {
    let mut control = Bbr3 { prior_cwnd: 50.0 * SMSS, repair: Repair::FastRecovery, ..control() };
    let mut w = window(10.0, 100.0);
    control.on_recovery_exit(&mut w, &Exit { flight: 0, acked: 0, cwnd: 10.0 * SMSS });
    assert_eq!((w.cwnd, control.repair), (50.0 * SMSS, Repair::None));
}

#[test]
fn six_lost_ranges_of_a_round_end_startup_and_five_do_not() {
    for (lost_ranges, ended) in [(5, false), (6, true)] {
        let repair = Repair::FastRecovery;
        let mut control = Bbr3 { lost_ranges, repair, rounds: 2, loss_round_start: true, ..Bbr3::new() };
        let sample = Sample { lost: 1e4, tx_in_flight: BDP, ..Sample::default() };
        control.check_startup_high_loss(&window(100.0, 100.0), &sample);
        assert_eq!(control.full_bw_reached, ended);
    }
}

#[test]
fn a_needless_recovery_takes_startup_up_again() {
    let mut control = Bbr3 { state: State::Drain, ..control() };
    control.undo.state = Some(State::Startup);
    control.on_spurious(&mut window(10.0, 100.0));
    assert_eq!((control.state, control.full_bw_reached), (State::Startup, false));
}

#[test]
fn cruising_leaves_three_twentieths_of_the_volume_free() {
    let control = Bbr3 { inflight_longterm: BDP, ..control() };
    assert_eq!(control.inflight_with_headroom(&window(100.0, 100.0)), 0.85 * BDP);
}

#[test]
fn it_probes_as_often_as_reno_would_lose() {
    let mut control = Bbr3 { cycle_began: at(1000), probe_wait: ms(3000.0), ..control() };
    for (rounds, due) in [(62, false), (63, true)] {
        control.rounds_since_probe_up = rounds;
        let (w, reno) = (window(200.0, 100.0), control.reno_rounds(&window(200.0, 100.0)));
        assert_eq!(control.is_time_to_probe(&w, at(1100), reno), due, "{rounds}");
    }
}

#[test]
fn probing_up_raises_no_bound_that_nobody_fills() {
    for (limited, rises) in [(false, false), (true, true)] {
        let mut control = Bbr3 { state: State::Up, inflight_longterm: BDP, ..control() };
        (control.cwnd_limited, control.probe_up_acked_per_inc) = ([limited; 2], SMSS);
        let sample = Sample { newly_acked: 10.0 * SMSS, ..Sample::default() };
        control.update_cycle(&window(200.0, 100.0), at(1000), &sample, false, 63.0);
        assert_eq!(control.inflight_longterm > BDP, rises);
    }
}
