//! Section 2 of the document: the flag, equation 1, and what the two extensions do alone.

use super::*;
use crate::Growth;
use crate::control::{Adalr, AdalrOptions, ReceiveWindow, SendView, Standard};

const SMSS: f64 = 1000.0;
const BOTH: AfcOptions =
    AfcOptions { delayed_recovery: true, rate_adjustment: true, growth_while_delayed: DelayedGrowth::Held };

fn window(segments: f64) -> Window {
    Window::new(segments * SMSS, f64::INFINITY, SMSS, Growth::Bytes { limit: 1 })
}

fn window_of(segments: u32) -> Window {
    window(f64::from(segments))
}

/// A loss so many segments behind the first of a window of 20 segments, all of them in flight.
fn loss(distance: u32) -> Loss {
    Loss { now: Time::ZERO, distance: 1000 * distance, flight: 20_000 }
}

fn exit(acked: u32) -> Exit {
    Exit { flight: 20_000, acked, cwnd: 20_000.0 }
}

/// cwnd and ssthresh in segments after a first loss in a window of 20 segments and a second so far behind it.
fn cut(options: AfcOptions, distance: u32) -> (f64, f64) {
    let mut control = Afc::new(Standard, options);
    let mut w = window(20.0);
    control.on_loss(&mut w, &loss(0));
    control.on_further_loss(&mut w, &loss(distance));
    (w.cwnd / SMSS, w.ssthresh / SMSS)
}

// afc, section 2: SACK_OK becomes true with the first loss
// afc, section 2: SACK_OK becomes false with a further loss in the same window
#[test]
fn the_first_loss_of_a_window_costs_nothing_and_the_second_costs_it() {
    // `afc`, section 2: "sets SACK_OK to true on detection of the first loss and resets to false on a subsequent loss within the same window".
    let mut control = Afc::new(Standard, BOTH);
    let mut w = window(20.0);
    assert!(!control.sack_ok());
    assert_eq!(control.on_loss(&mut w, &loss(0)), Response::Keep);
    assert_eq!((w.cwnd, w.ssthresh), (20.0 * SMSS, f64::INFINITY));
    assert!(control.sack_ok());
    assert_eq!(control.on_further_loss(&mut w, &loss(3)), Response::Reduced);
    assert_eq!((w.cwnd, w.ssthresh), (10.0 * SMSS, 10.0 * SMSS));
    assert!(!control.sack_ok());
    assert_eq!(control.on_further_loss(&mut w, &loss(19)), Response::Keep);
    assert_eq!(w.cwnd, 10.0 * SMSS);
}

// afc, section 2: R_adj lies between 0 and half of cwnd
#[test]
fn r_adj_is_zero_to_half_of_cwnd_then_jumps_to_a_thirty_second() {
    // `afc`, section 2: R_adj "can be anywhere between 0 to cwnd_n/2".
    assert_eq!(cut(BOTH, 1), (10.0, 10.0));
    assert_eq!(cut(BOTH, 10), (10.0, 10.0));
    // Cd⁴ / (2 · 20³): 11 gives 14641/16000.
    assert_eq!(cut(BOTH, 11), (10.9150625, 10.9150625));
    assert_eq!(cut(BOTH, 15), (13.1640625, 13.1640625));
    assert_eq!(cut(BOTH, 20), (20.0, 20.0));
    // Cd is not larger than cwnd.
    assert_eq!(cut(BOTH, 25), (20.0, 20.0));
}

#[test]
fn just_above_half_of_cwnd_r_adj_is_a_thirty_second_of_it() {
    let control = Afc::new(Standard, BOTH);
    assert_eq!(control.rate_adjustment(1_000_000, 2e6), 0.0);
    let above = control.rate_adjustment(1_000_001, 2e6);
    assert!((above / 2e6 - 1.0 / 32.0).abs() < 1e-6, "{above}");
}

#[test]
fn each_extension_works_alone() {
    let delayed = AfcOptions { rate_adjustment: false, ..BOTH };
    assert_eq!(cut(delayed, 20), (10.0, 10.0));
    let adjusted = AfcOptions { delayed_recovery: false, ..BOTH };
    let mut control = Afc::new(Standard, adjusted);
    let mut w = window(20.0);
    assert_eq!(control.on_loss(&mut w, &loss(0)), Response::Reduced);
    assert_eq!(w.cwnd, 10.0 * SMSS);
    assert!(!control.sack_ok());
    assert_eq!(control.on_further_loss(&mut w, &loss(20)), Response::Adjusted);
    assert_eq!((w.cwnd, w.ssthresh), (20.0 * SMSS, 20.0 * SMSS));
    // Once a window.
    assert_eq!(control.on_further_loss(&mut w, &loss(20)), Response::Keep);
    assert_eq!(w.cwnd, 20.0 * SMSS);
    let neither = AfcOptions { rate_adjustment: false, ..adjusted };
    assert_eq!(cut(neither, 20), (10.0, 10.0));
}

#[test]
fn a_window_limited_elsewhere_is_cut_from_what_was_in_flight() {
    let mut control = Afc::new(Standard, BOTH);
    let mut w = window(50.0);
    control.on_loss(&mut w, &loss(0));
    control.on_further_loss(&mut w, &loss(2));
    assert_eq!(w.cwnd, 10.0 * SMSS);
}

#[test]
fn a_small_window_is_cut_to_two_segments_at_the_least() {
    let mut control = Afc::new(Standard, BOTH);
    let mut w = window(3.0);
    control.on_loss(&mut w, &Loss { flight: 3000, ..loss(0) });
    control.on_further_loss(&mut w, &Loss { flight: 3000, ..loss(1) });
    assert_eq!(w.cwnd, 2.0 * SMSS);
}

#[test]
fn the_floor_of_two_segments_holds_for_the_sum_of_equation_1() {
    let cut = |delayed_recovery, window: u32, distance: u32| {
        let mut control = Afc::new(Standard, AfcOptions { delayed_recovery, ..BOTH });
        let mut w = window_of(window);
        control.on_loss(&mut w, &Loss { flight: 1000 * window, ..loss(0) });
        control.on_further_loss(&mut w, &loss(distance));
        assert_eq!(w.cwnd, w.ssthresh);
        w.cwnd / SMSS
    };
    // 3/2 + 2⁴/(2 · 3³) is below the floor; the others are cwnd itself.
    for (window, distance, expected) in [(2, 1, 2.0), (2, 2, 2.0), (3, 2, 2.0), (3, 3, 3.0), (4, 4, 4.0)] {
        for delayed in [true, false] {
            assert_eq!(cut(delayed, window, distance), expected, "window {window}, Cd {distance}");
        }
    }
}

#[test]
fn cwnd_n_of_equation_1_is_what_the_first_loss_met() {
    let mut control = Afc::new(Standard, BOTH);
    let mut w = window(20.0);
    control.on_loss(&mut w, &loss(0));
    // What was in flight when the second was found does not count.
    w.cwnd = 30.0 * SMSS;
    control.on_further_loss(&mut w, &Loss { flight: 12_000, ..loss(15) });
    assert_eq!((w.cwnd, w.ssthresh), (13.1640625 * SMSS, 13.1640625 * SMSS));
}

#[test]
fn the_loss_of_the_first_ones_retransmission_is_no_second_loss() {
    let mut control = Afc::new(Standard, BOTH);
    let mut w = window(20.0);
    control.on_loss(&mut w, &loss(0));
    assert_eq!(control.on_further_loss(&mut w, &loss(0)), Response::Keep);
    assert!(control.sack_ok() && w.cwnd == 20.0 * SMSS);
    assert_eq!(control.on_further_loss(&mut w, &loss(1)), Response::Reduced);
}

#[test]
fn everything_but_a_random_loss_goes_on_to_the_inner_control() {
    let mut inner = Adalr::new(AdalrOptions::default());
    let mut control = Afc::new(inner, BOTH);
    let mut windows = [window(20.0), window(20.0)];
    let partial = PartialAck { acked: 3000, flight: 9000, inflated: true };
    let mut both: [&mut dyn Control; 2] = [&mut inner, &mut control];
    let calls: [fn(&mut dyn Control, &mut Window, &PartialAck); 7] = [
        |c, w, _| c.inflate(w, 3),
        // ADaLR's own: two segments back, where RFC 6582 has one.
        |c, w, partial| c.on_partial_ack(w, partial),
        |c, w, _| c.deflate(w, 2000),
        |c, w, _| c.save(w),
        |c, w, _| c.restart_after_idle(w, 2000.0),
        |c, w, _| c.restore(w),
        |c, w, _| c.start_over(w),
    ];
    let expected = [23.0, 22.0, 20.0, 20.0, 2.0, 20.0, 1.0];
    for (number, (call, expected)) in calls.into_iter().zip(expected).enumerate() {
        for (control, w) in both.iter_mut().zip(&mut windows) {
            call(*control, w, &partial);
            assert_eq!(w.cwnd, expected * SMSS, "call {number}");
        }
    }
}

// afc, section 2: each window has a first loss of its own
#[test]
fn each_window_has_a_first_loss_of_its_own() {
    // `afc`, section 2: "assumes the first loss in a window as a random loss".
    let mut control = Afc::new(Standard, BOTH);
    let mut w = window(20.0);
    control.on_loss(&mut w, &loss(0));
    control.on_recovery_exit(&mut w, &exit(20_000));
    assert_eq!((w.cwnd, control.sack_ok()), (20.0 * SMSS, false));
    assert_eq!(control.on_loss(&mut w, &loss(0)), Response::Keep);
    let timeout = Timeout { now: Time::ZERO, flight: 20_000, repeated: false };
    control.on_timeout(&mut w, &timeout);
    assert_eq!((w.cwnd, w.ssthresh), (SMSS, 10.0 * SMSS));
    assert!(!control.sack_ok());
}

#[test]
fn growth_while_delayed_is_held_or_credited() {
    let credited = AfcOptions { growth_while_delayed: DelayedGrowth::Credited, ..BOTH };
    let through = |options, ssthresh: f64, second: bool| {
        let mut control = Afc::new(Standard, options);
        let mut w = Window { ssthresh, ..window(20.0) };
        control.on_loss(&mut w, &loss(0));
        if second {
            control.on_further_loss(&mut w, &loss(1));
        }
        let cwnd = w.cwnd;
        control.on_recovery_exit(&mut w, &Exit { cwnd, ..exit(20_000) });
        w.cwnd / SMSS
    };
    assert_eq!(through(BOTH, f64::INFINITY, false), 20.0);
    assert_eq!(through(AfcOptions::default(), f64::INFINITY, false), 20.0);
    assert_eq!(through(credited, f64::INFINITY, false), 40.0);
    assert_eq!(through(credited, 30.0 * SMSS, false), 30.0);
    assert_eq!(through(credited, 10.0 * SMSS, false), 21.0);
    assert_eq!(through(credited, f64::INFINITY, true), 10.0);
}

fn receive_window(control: &mut Afc<Adalr>) -> &mut dyn ReceiveWindow {
    control.extras().receive_window.expect("what ADaLR hands out")
}

#[test]
fn around_adalr_a_random_loss_leaves_its_lossless_branches_on() {
    let widened = |told: bool| {
        let mut control = Afc::new(Adalr::new(AdalrOptions::default()), BOTH);
        control.on_rtt_sample(Time::ZERO, Span::from_millis(500));
        receive_window(&mut control).on_advertised_window(40_000);
        let mut w = window(20.0);
        control.on_loss(&mut w, &loss(0));
        if told {
            control.on_further_loss(&mut w, &loss(1));
        }
        let view = SendView { flight: 10_000, rwnd: 40_000, in_recovery: false };
        receive_window(&mut control).receive_window(&w, &view)
    };
    // 0.25 · ρ · SMSS with ρ = 30, and nothing after a loss that counts.
    assert_eq!((widened(false), widened(true)), (47_500, 40_000));
    let mut control = Afc::new(Adalr::new(AdalrOptions::default()), BOTH);
    let Extras { timeout_slack, resend_limit, .. } = control.extras();
    assert_eq!((timeout_slack, resend_limit), (Span::from_millis(200), 3));
}
