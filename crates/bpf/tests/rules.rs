//! The whole numbers of the BPF controls and the simulator's controls, driven with the same ACKs and losses, step by step.
//!
//! The C has windows in whole segments and fractions in 1/1024, the simulator bytes in floating point. What a step adds may
//! differ by the roundings of ρ, of its root and of the share of a segment: each is below 1/1024 of the step, and the state in the
//! C is set to the simulator's before each step, so that roundings do not add up.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "the rules are C")]

use bentpipe_bpf as _;
use bentpipe_tcp::control::{
    Ack, Adalr, AdalrOptions, Afc, AfcOptions, Control, Exit, Loss, ReceiveWindow, Response, Standard,
    Timeout, Window,
};
use bentpipe_tcp::slow_start::StandardStart;
use bentpipe_tcp::{Growth, Record};
use bentpipe_units::{Span, Time};
use proptest::prelude::*;

const SMSS: u32 = 1448;
const ONE: f64 = 1024.0;

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct State {
    rho: u32,
    root: u32,
    grown: u32,
    lossy: u32,
    recovering: u32,
    linear: u32,
}

unsafe extern "C" {
    fn host_whole_root(n: u32) -> u32;
    fn host_reno_opens(cwnd: u32, ssthresh: u32, acked: u32, grown: *mut u32) -> u32;
    fn host_adalr_rtt(state: *mut State, rtt_us: u32);
    fn host_adalr_opens(
        state: *mut State,
        cwnd: u32,
        ssthresh: u32,
        acked: u32,
        flight: u32,
        rwnd: u32,
    ) -> u32;
    fn host_adalr_recovered(state: *mut State, cwnd: u32);
    fn host_halved(segments: u32) -> u32;
    fn host_afc_reduced(distance: u32, window: u32) -> u32;
    fn host_afc_second(first: u32, una: u32, mss: u32, blocks: *const u32) -> u32;
}

/// A window in segments and the fraction that is not opened yet.
fn written(cwnd: u32, grown: u32) -> f64 {
    f64::from(cwnd) + f64::from(grown) / (ONE * ONE)
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Rtt(u32),
    /// So many segments in one ACK; what is then outstanding, as a share of cwnd in 1/256.
    Ack(u32, u32),
    Loss,
    Recovered,
    Timeout,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (1_000_u32..1_500_000).prop_map(Step::Rtt),
        12 => (1_u32..4, 0_u32..=256).prop_map(|(acked, share)| Step::Ack(acked, share)),
        1 => Just(Step::Loss),
        1 => Just(Step::Recovered),
        1 => Just(Step::Timeout),
    ];
    proptest::collection::vec(step, 1..200)
}

/// Segments from the first loss to the next, where segments were sent from `first` on and these ranges of them are reported.
fn second(first: u32, una: u32, reported: &[(u32, u32)]) -> u32 {
    let at = |segment: u32| first.wrapping_add(segment * SMSS);
    let empty = std::iter::repeat_n(0, 8 - 2 * reported.len());
    let blocks: Vec<u32> =
        empty.chain(reported.iter().flat_map(|&(start, end)| [at(start), at(end)])).collect();
    unsafe { host_afc_second(first, at(una), SMSS, blocks.as_ptr()) / SMSS }
}

#[test]
fn the_second_loss_is_at_the_next_hole_that_an_ack_shows() {
    for first in [1, u32::MAX - 20 * SMSS] {
        assert_eq!(second(first, 0, &[]), 0, "nothing is reported");
        assert_eq!(second(first, 0, &[(1, 15)]), 0, "one hole");
        assert_eq!(second(first, 0, &[(1, 15), (16, 40)]), 15, "both losses known at once");
        assert_eq!(second(first, 0, &[(1, 15), (16, 40), (42, 43)]), 15);
        assert_eq!(
            second(first, 0, &[(1, 15), (3, 4), (16, 40)]),
            15,
            "what arrived twice is reported within"
        );
        assert_eq!(second(first, 0, &[(2, 15), (16, 40)]), 1, "side by side");
        assert_eq!(second(first, 15, &[(16, 40)]), 15, "the first is through");
    }
}

proptest! {
    #[test]
    fn the_root_is_the_largest_whole_number_whose_square_is_not_above(n: u32) {
        let root = u64::from(unsafe { host_whole_root(n) });
        prop_assert!(root * root <= u64::from(n) && (root + 1) * (root + 1) > u64::from(n), "{n}: {root}");
    }

    #[test]
    fn adalr_opens_its_window_as_the_simulators_does(
        steps in steps(),
        first in 2_u32..200,
        ssthresh in prop_oneof![Just(0x7fff_ffff_u32), 4_u32..2000],
        rwnd in 20_000_u32..3_000_000,
    ) {
        let mut control = Adalr::new(AdalrOptions::default());
        let smss = f64::from(SMSS);
        let mut window = Window::new(f64::from(first) * smss, f64::from(ssthresh) * smss, smss, Growth::PerAck);
        let mut c = State { rho: 1024, root: 1024, ..State::default() };
        control.on_advertised_window(rwnd);
        let record = Record::default();
        for step in steps {
            match step {
                Step::Rtt(us) => {
                    control.on_rtt_sample(Time::ZERO, Span::from_nanos(u64::from(us) * 1000));
                    unsafe { host_adalr_rtt(&mut c, us) };
                    prop_assert!((f64::from(c.rho) / ONE - control.rho()).abs() < 1.0 / ONE);
                    prop_assert!((f64::from(c.root) / ONE - control.rho().sqrt()).abs() < 2.0 / ONE);
                }
                Step::Ack(acked, share) => {
                    // Whole segments, as the kernel has them.
                    let cwnd = (window.cwnd / smss).floor().max(1.0);
                    window.cwnd = cwnd * smss;
                    let limit = (window.ssthresh / smss).floor().min(2_147_483_647.0);
                    window.ssthresh = limit * smss;
                    let flight = (cwnd * smss * f64::from(share) / 256.0) as u32;
                    // Where ρ is at the breakpoint, and so on, a rounding decides; both decide alike by the rounded one.
                    prop_assume!((control.rho() - 15.0).abs() > 2.0 / ONE);
                    c.grown = 0;
                    let opened = unsafe {
                        host_adalr_opens(&mut c, cwnd as u32, limit as u32, acked, flight, rwnd)
                    };
                    let found = written(opened, c.grown) - cwnd;
                    // The simulator counts ACKs here, and the kernel the segments that they acknowledge.
                    let ack = Ack { acked: acked * SMSS, flight, prior_flight: flight + SMSS, rwnd, ..Ack::new(&record) };
                    let before = window.cwnd;
                    control.on_ack(&mut window, &ack, &mut StandardStart);
                    let expected = f64::from(acked) * (window.cwnd - before) / smss;
                    prop_assert!(
                        (found - expected).abs() <= expected * 3.0 / ONE + 2.0 / (ONE * ONE),
                        "{step:?}: {found} segments, {expected} expected, cwnd {cwnd}, ssthresh {limit}"
                    );
                }
                Step::Recovered => {
                    let cwnd = (window.cwnd / smss).floor().max(1.0);
                    let exit = Exit { flight: cwnd as u32 * SMSS, acked: SMSS, cwnd: cwnd * smss };
                    control.on_recovery_exit(&mut window, &exit);
                    unsafe { host_adalr_recovered(&mut c, cwnd as u32) };
                }
                Step::Loss | Step::Timeout => {
                    let outstanding = (window.cwnd / smss).floor() as u32;
                    let flight = outstanding * SMSS;
                    match step {
                        Step::Loss => {
                            let loss = Loss { now: Time::ZERO, distance: 0, flight };
                            prop_assert_eq!(control.on_loss(&mut window, &loss), Response::Reduced);
                            c.recovering = 1;
                        }
                        _ => {
                            control.on_timeout(&mut window, &Timeout { now: Time::ZERO, flight, repeated: false });
                            (c.recovering, c.linear) = (0, 0);
                        }
                    }
                    c.lossy = 1;
                    // Half of an odd number of segments has half a segment more.
                    let halved = f64::from(unsafe { host_halved(outstanding) });
                    prop_assert!((0.0..=0.5).contains(&(window.ssthresh / smss - halved)));
                    window.cwnd = window.cwnd.max(2.0 * smss);
                }
            }
        }
    }

    #[test]
    fn the_second_loss_costs_what_it_costs_in_the_simulator(window in 2_u32..5000, share in 0_u32..=1000) {
        let distance = window * share / 1000;
        let mut control = Afc::new(Standard, AfcOptions::default());
        let smss = f64::from(SMSS);
        let mut w = Window::new(f64::from(window) * smss, f64::INFINITY, smss, Growth::PerAck);
        let loss = |distance: u32| Loss { now: Time::ZERO, distance: distance * SMSS, flight: window * SMSS };
        prop_assert_eq!(control.on_loss(&mut w, &loss(0)), Response::Keep);
        prop_assert_eq!(w.cwnd, f64::from(window) * smss);
        prop_assert_eq!(control.on_further_loss(&mut w, &loss(distance)), Response::Reduced);
        let found = unsafe { host_afc_reduced(distance, window) };
        let expected = w.ssthresh / smss;
        // Half a segment of the halving, and the roundings of the fourth power.
        let within = 1.5 + expected * 4.0 / ONE;
        prop_assert!(f64::from(found) <= expected + 1e-9 && expected - f64::from(found) <= within, "{found} {expected}");
    }

    #[test]
    fn reno_opens_by_a_segment_a_window_from_ssthresh_on(cwnd in 2_u32..10_000, ssthresh in 2_u32..10_000, acked in 1_u32..100) {
        let mut grown = 0;
        let opened = unsafe { host_reno_opens(cwnd, ssthresh, acked, &mut grown) };
        let below = ssthresh.saturating_sub(cwnd).min(acked);
        let start = cwnd + below;
        let expected = f64::from(start) + f64::from(acked - below) / f64::from(start);
        prop_assert!((written(opened, grown) - expected).abs() < 1e-3, "{opened} {grown} {expected}");
    }
}
