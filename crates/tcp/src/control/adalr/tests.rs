//! Each mechanism by the equations and algorithms of section 4 of the paper, and by the slides where they say more.

use super::*;
use crate::slow_start::StandardStart;
use crate::{Growth, Record};

const SMSS: f64 = 1000.0;
/// The window advertised; its quarter and half are 10,000 and 20,000.
const RWND: u32 = 40_000;
/// Its quarter and half are 16,000 and 32,000.
const SSTHRESH: f64 = 64_000.0;

const ON: AdalrOptions = AdalrOptions {
    scaling: true,
    cwnd_increase: true,
    rwnd_increase: true,
    loss_recovery: true,
    rwnd_reading: RwndReading::PerSegment,
    recovery_reading: RecoveryReading::PerAck,
    rwnd_below_breakpoint: false,
    avoidance_reading: AvoidanceReading::Paper,
    linear_after_recovery: 1.0,
    deflation_reading: DeflationReading::Inflated,
    rtt_dev_gain: 0.25,
};

/// A control after an RTT sample and an ACK that advertised `RWND`.
fn after(ms: u64, options: AdalrOptions) -> Adalr {
    let mut control = Adalr::new(options);
    control.on_rtt_sample(Time::ZERO, Span::from_millis(ms));
    control.on_advertised_window(RWND);
    control
}

fn window(cwnd: f64, ssthresh: f64) -> Window {
    Window::new(cwnd, ssthresh, SMSS, Growth::PerAck)
}

fn lost(mut control: Adalr) -> Adalr {
    let loss = Loss { now: Time::ZERO, distance: 0, flight: 9000 };
    assert_eq!(control.on_loss(&mut window(9000.0, SSTHRESH), &loss), Response::Reduced);
    control
}

fn expired(mut control: Adalr) -> Adalr {
    let timeout = Timeout { now: Time::ZERO, flight: 9000, repeated: false };
    control.on_timeout(&mut window(9000.0, SSTHRESH), &timeout);
    control
}

/// What an ACK that leaves `flight` bytes outstanding adds to cwnd, in segments.
fn opened(control: &Adalr, cwnd: f64, ssthresh: f64, flight: u32) -> f64 {
    let mut w = window(cwnd, ssthresh);
    let record = Record::default();
    let prior_flight = flight + 1000;
    let ack = Ack { acked: 1000, flight, prior_flight, rwnd: RWND, ..Ack::new(&record) };
    let mut control = *control;
    control.on_ack(&mut w, &ack, &mut StandardStart);
    (w.cwnd - cwnd) / SMSS
}

fn view(flight: u32, rwnd: u32, in_recovery: bool) -> SendView {
    SendView { flight, rwnd, in_recovery }
}

/// The receive window before each of three segments.
fn three(control: &mut Adalr, in_recovery: bool) -> [u32; 3] {
    let w = window(9000.0, SSTHRESH);
    [0, 1000, 2000].map(|flight| control.receive_window(&w, &view(flight, RWND, in_recovery)))
}

// adalr, section 4: suits NewReno
#[test]
fn defaults_are_the_paper_with_everything_on() {
    assert_eq!(AdalrOptions::default(), ON);
}

// adalr, section 4: sampleRTT normalized by 1 s
// adalr, section 4: lower bound 1
// adalr, section 4: upper bound 60
// adalr, equation 1: rho = 60 sampleRTT / 1 s
// adalr, slides, scaling component: 1 to 60
#[test]
fn rho_is_sixty_a_second_and_stays_between_one_and_sixty() {
    let samples = [(0, 1.0), (16, 1.0), (17, 1.02), (25, 1.5), (100, 6.0), (250, 15.0), (500, 30.0)];
    let above = [(580, 34.8), (999, 59.94), (1000, 60.0), (1001, 60.0), (64_000, 60.0)];
    for (ms, rho) in samples.into_iter().chain(above) {
        assert!((after(ms, ON).rho() - rho).abs() < 1e-12, "{ms} ms: {}", after(ms, ON).rho());
        assert_eq!(after(ms, AdalrOptions { scaling: false, ..ON }).rho(), 15.0, "switched off, {ms} ms");
    }
    assert_eq!(Adalr::new(ON).rho(), 1.0, "without a sample");
    // The last sample alone counts.
    let mut control = after(800, ON);
    control.on_rtt_sample(Time::ZERO, Span::from_millis(100));
    assert_eq!(control.rho(), 6.0);
}

// adalr, section 4.1: the breakpoint is a sampleRTT of 250 ms
// adalr, slides, heuristics: rho 15 is an RTT of 250 ms
#[test]
fn a_sample_of_250_ms_is_the_breakpoint() {
    let mut control = after(0, ON);
    for (ns, adaptive) in [(249_999_999, false), (250_000_000, true), (250_000_001, true)] {
        control.on_rtt_sample(Time::ZERO, Span::from_nanos(ns));
        assert_eq!(control.adaptive(), adaptive, "{ns} ns, {}", control.rho());
        let expected = if adaptive { control.rho().sqrt() / 4.0 } else { 1.0 };
        assert!((opened(&control, 5000.0, SSTHRESH, 1000) - expected).abs() < 1e-9, "{ns} ns");
        let mut grows = control;
        assert_eq!(grows.receive_window(&window(5000.0, SSTHRESH), &view(0, RWND, false)) > RWND, adaptive);
    }
    assert!(after(1, AdalrOptions { scaling: false, ..ON }).adaptive());
}

// adalr, section 4.1: sqrt(rho)/4 SMSS while no losses have occurred
// adalr, algorithm 1: if cwnd <= ssthresh/4 and flightsize < rwnd/4
// adalr, algorithm 1: sub-phase 1
// adalr, algorithm 1: if ssthresh/4 < cwnd <= ssthresh/2 and flightsize < rwnd/4
// adalr, algorithm 1: sub-phase 2
// adalr, algorithm 1: if cwnd > ssthresh/4 and rwnd/4 <= flightsize < rwnd/2
// adalr, algorithm 1: sub-phase 3
// adalr, algorithm 1: if cwnd > ssthresh/2 and rwnd/4 <= flightsize < rwnd/2
// adalr, algorithm 1: sub-phase 4
// adalr, slides, scaling component: for slow start and congestion avoidance
// adalr, slides, adaptive cwnd increase mechanism: sqrt(rho)/4 SMSS without losses from rho 15 on
// adalr, slides, slow start sub-phases: sub-phase 1, condition and phase
// adalr, slides, slow start sub-phases: sub-phase 2, condition and phase
// adalr, slides, slow start sub-phases: sub-phase 3, condition and phase
// adalr, slides, slow start sub-phases: sub-phase 4, condition and phase
#[test]
fn slow_start_is_fast_in_its_four_sub_phases() {
    // cwnd up to ssthresh/4, up to ssthresh/2, above; flight below rwnd/4, below rwnd/2, from there on.
    let cwnds = [&[1000.0, 16_000.0][..], &[16_000.1, 32_000.0], &[32_000.1, 63_999.0]];
    let flights = [&[0, 9999][..], &[10_000, 19_999], &[20_000, 40_000, 90_000]];
    let fast = [
        // Sub-phase 1; then neither 3 nor 4, which ask for more than ssthresh/4.
        [true, false, false],
        // 2; 3.
        [true, true, false],
        // Nothing below rwnd/4; 3 and 4.
        [false, true, false],
    ];
    for (row, cwnds) in cwnds.iter().enumerate() {
        for (column, flights) in flights.iter().enumerate() {
            for cwnd in *cwnds {
                for flight in *flights {
                    for (ms, rho) in [(250, 15.0_f64), (500, 30.0), (2000, 60.0)] {
                        let expected = if fast[row][column] { rho.sqrt() / 4.0 } else { 1.0 };
                        let opened = opened(&after(ms, ON), *cwnd, SSTHRESH, *flight);
                        assert!(
                            (opened - expected).abs() < 1e-9,
                            "{ms} ms, cwnd {cwnd}, flight {flight}: {opened}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn the_sub_phases_are_those_of_algorithm_1_with_an_infinite_ssthresh_too() {
    // Every cwnd is below a quarter of it: sub-phase 1 and no other.
    let control = after(1000, ON);
    let fast = 60.0_f64.sqrt() / 4.0;
    for (flight, expected) in [(0, fast), (9999, fast), (10_000, 1.0), (19_999, 1.0), (20_000, 1.0)] {
        let opened = opened(&control, 30_000.0, f64::INFINITY, flight);
        assert!((opened - expected).abs() < 1e-9, "flight {flight}: {opened}");
    }
}

// adalr, algorithm 1: flightsize = snd_max - snd_una
#[test]
fn flight_is_compared_with_the_adjusted_window() {
    let mut control = after(500, ON);
    // Above ssthresh/4: the bounds are rwnd/4 (between sub-phases) and rwnd/2.
    assert_eq!(opened(&control, 20_000.0, SSTHRESH, 25_000), 1.0);
    // Two segments at 30 · 0.25 · SMSS: 55,000, half of it 27,500.
    three(&mut control, false);
    assert_eq!(control.adjusted, f64::from(RWND) + 22_500.0);
    let fast = 30.0_f64.sqrt() / 4.0;
    assert!((opened(&control, 20_000.0, SSTHRESH, 31_249) - fast).abs() < 1e-9);
    assert_eq!(opened(&control, 20_000.0, SSTHRESH, 31_250), 1.0);
}

// adalr, section 4.1: below 15 slow start is the default one
// adalr, section 4.1: after losses, or outside the sub-phases, conventional slow start
// adalr, algorithm 1: snd_recover, 0 at the beginning
// adalr, slides, adaptive cwnd increase mechanism: SMSS after losses
#[test]
fn slow_start_is_that_of_rfc_5681_after_a_loss_below_the_breakpoint_and_when_switched_off() {
    let off = AdalrOptions { cwnd_increase: false, ..ON };
    for control in [lost(after(500, ON)), expired(after(500, ON)), after(249, ON), after(500, off)] {
        for cwnd in [1000.0, 16_000.0, 20_000.0, 32_000.0, 40_000.0] {
            for flight in [0, 9000, 10_000, 15_000, 20_000] {
                assert_eq!(opened(&control, cwnd, SSTHRESH, flight), 1.0, "{control:?}");
            }
        }
    }
    // By bytes, what the ACK covers, at most a segment.
    let mut w = Window { growth: Growth::Bytes { limit: 1 }, ..window(5000.0, SSTHRESH) };
    let record = Record::default();
    let ack = Ack { acked: 400, prior_flight: 400, rwnd: RWND, ..Ack::new(&record) };
    after(100, ON).on_ack(&mut w, &ack, &mut StandardStart);
    assert_eq!(w.cwnd, 5400.0);
    // And nothing where cwnd does not limit.
    after(500, ON).on_ack(&mut w, &Ack { cwnd_limited: false, ..ack }, &mut StandardStart);
    assert_eq!(w.cwnd, 5400.0);
}

#[test]
fn by_bytes_slow_start_is_fast_in_what_the_ack_covers() {
    let mut w = Window { growth: Growth::Bytes { limit: 1000 }, ..window(4000.0, SSTHRESH) };
    let record = Record::default();
    let ack = Ack { acked: 2000, prior_flight: 4000, rwnd: RWND, ..Ack::new(&record) };
    after(500, ON).on_ack(&mut w, &ack, &mut StandardStart);
    assert_eq!(w.cwnd, 4000.0 + 30.0_f64.sqrt() / 4.0 * 2000.0);
}

// adalr, section 4.1: sqrt(rho)/2 SMSS with less than rwnd/2 in flight; the division by cwnd is in the slides
// adalr, slides, adaptive cwnd increase mechanism: sqrt(rho)/2 SMSS SMSS / cwnd in congestion avoidance
// adalr, slides, adaptive cwnd increase mechanism: only after losses, out of fast recovery
// adalr, slides, adaptive cwnd increase mechanism: only with less than rwnd/2 in flight
#[test]
fn congestion_avoidance_is_fast_below_half_of_the_window() {
    let slides = AdalrOptions { avoidance_reading: AvoidanceReading::Slides, ..ON };
    let either = AdalrOptions { avoidance_reading: AvoidanceReading::SlidesEither, ..ON };
    for flight in [0, 20_000, 60_000] {
        let fast = |control| opened(&control, 10_000.0, 10_000.0, flight) > 0.1 + 1e-9;
        assert!(fast(lost(after(500, either))) && fast(after(500, either)) == (flight == 0), "{flight}");
    }
    let off = AdalrOptions { cwnd_increase: false, ..ON };
    let factor = 30.0_f64.sqrt() / 2.0;
    // Ten segments at an ssthresh of ten: a tenth of a segment an ACK, SMSS²/cwnd.
    for (control, fast) in [
        (after(500, ON), true),
        (lost(after(500, ON)), true),
        (expired(after(500, ON)), true),
        (after(500, slides), false),
        (lost(after(500, slides)), true),
        (expired(after(500, slides)), true),
        (after(500, off), false),
        (after(249, ON), false),
        (lost(after(249, slides)), false),
    ] {
        for (flight, below) in [(0, true), (10_000, true), (19_999, true), (20_000, false), (60_000, false)] {
            let expected = if fast && below { factor / 10.0 } else { 0.1 };
            let opened = opened(&control, 10_000.0, 10_000.0, flight);
            assert!((opened - expected).abs() < 1e-9, "{control:?}, flight {flight}: {opened}");
        }
    }
}

/// A control whose recovery has ended with a cwnd of ten segments.
fn recovered(options: AdalrOptions) -> Adalr {
    let mut control = lost(after(500, options));
    control
        .on_recovery_exit(&mut window(9000.0, 10_000.0), &Exit { flight: 9000, acked: 9000, cwnd: 10_000.0 });
    control
}

/// What each of so many ACKs of a segment adds to a cwnd of ten segments, in hundredths of a segment.
fn a_window_later(mut control: Adalr, acks: usize) -> Vec<u32> {
    let record = Record::default();
    let ack = Ack { acked: 1000, flight: 9000, prior_flight: 10_000, rwnd: RWND, ..Ack::new(&record) };
    let opened = |_| {
        let mut w = window(10_000.0, 10_000.0);
        control.on_ack(&mut w, &ack, &mut StandardStart);
        ((w.cwnd - 10_000.0) / 10.0).round() as u32
    };
    (0..acks).map(opened).collect()
}

// adalr, section 4.1: congestion avoidance is linear after fast recovery, or with more than rwnd/2 in flight
#[test]
fn cwnd_is_linearly_incremented_immediately_after_fast_recovery_for_a_window_of_data() {
    // Section 4.1. A tenth of a segment an ACK is RFC 5681; the square root of 30 by 2 is 2.74 times as much.
    let (linear, fast) = ([10].repeat(10), [27].repeat(4));
    assert_eq!(a_window_later(recovered(ON), 14), [linear.clone(), fast.clone()].concat());
    let half = AdalrOptions { linear_after_recovery: 0.5, ..ON };
    assert_eq!(a_window_later(recovered(half), 9), [[10].repeat(5), fast.clone()].concat());
    // The reading without it.
    let never = AdalrOptions { linear_after_recovery: 0.0, ..ON };
    assert_eq!(a_window_later(recovered(never), 4), fast);
    // Neither a recovery in which the control was told of no loss nor a timeout is one to be careful after.
    let mut told_nothing = after(500, ON);
    let exit = Exit { flight: 9000, acked: 9000, cwnd: 10_000.0 };
    told_nothing.on_recovery_exit(&mut window(9000.0, 10_000.0), &exit);
    assert_eq!(a_window_later(told_nothing, 4), fast);
    let mut expired_in_it = expired(lost(after(500, ON)));
    assert_eq!(a_window_later(expired(recovered(ON)), 4), fast);
    expired_in_it.on_recovery_exit(&mut window(9000.0, 10_000.0), &exit);
    assert_eq!(a_window_later(expired_in_it, 4), fast);
}

// adalr, section 2: after a timeout ssthresh is set and slow start begins again
// adalr, section 3.2: loss is taken for congestion and deflates cwnd
// adalr, slides, TCP and GEO satellite links: losses are taken for congestion, and cwnd is reduced
#[test]
fn a_loss_and_a_timeout_reduce_as_rfc_5681_says() {
    for flight in [1000, 5000, 30_000] {
        let (mut ours, mut theirs) = (window(50_000.0, SSTHRESH), window(50_000.0, SSTHRESH));
        let loss = Loss { now: Time::ZERO, distance: 0, flight };
        after(500, ON).on_loss(&mut ours, &loss);
        Standard.on_loss(&mut theirs, &loss);
        assert_eq!(ours, theirs);
        for repeated in [true, false] {
            let timeout = Timeout { now: Time::ZERO, flight, repeated };
            after(500, ON).on_timeout(&mut ours, &timeout);
            Standard.on_timeout(&mut theirs, &timeout);
            assert_eq!(ours, theirs);
        }
    }
}

// adalr, algorithm 1: acked_bytes, what an ACK acknowledges
// adalr, section 4.3: cwnd is 2 SMSS at least where more is acknowledged than cwnd
// adalr, section 4.3: so that two segments go back to back
// adalr, algorithm 3: if snd_una > snd_recover: a misprint for <, a partial ACK
// adalr, algorithm 3: if cwnd <= acked_bytes
// adalr, algorithm 3: cwnd = 2 SMSS
// adalr, algorithm 3: else
// adalr, algorithm 3: cwnd = cwnd - acked_bytes + 2 SMSS
// adalr, slides, loss recovery mechanism: cwnd by cwnd and what was acknowledged
// adalr, slides, loss recovery pseudocode: if snd_una > snd_recover: a misprint for <
// adalr, slides, loss recovery pseudocode: cwnd - acked_bytes + 2 SMSS
#[test]
fn a_partial_ack_adds_two_segments_back() {
    let deflated = |options, cwnd, acked, inflated| {
        let mut w = window(cwnd, 6000.0);
        // Algorithm 3 does not ask for ρ.
        let mut controls = [after(500, options), lost(after(500, options)), lost(after(20, options))];
        let cwnds = controls.each_mut().map(|control| {
            w.cwnd = cwnd;
            control.on_partial_ack(&mut w, &PartialAck { acked, flight: 9000, inflated });
            w.cwnd
        });
        assert!(cwnds.iter().all(|cwnd| *cwnd == cwnds[0]));
        cwnds[0]
    };
    for (cwnd, acked, expected) in [
        // cwnd <= acked.
        (3000.0, 9000, 2000.0),
        (3000.0, 3001, 2000.0),
        (3000.0, 3000, 2000.0),
        // And else.
        (3000.0, 2999, 2001.0),
        (12_000.0, 3000, 11_000.0),
        (12_000.0, 1000, 13_000.0),
        (12_000.0, 400, 13_600.0),
    ] {
        assert_eq!(deflated(ON, cwnd, acked, true), expected, "cwnd {cwnd}, acked {acked}");
        // SACK has nothing to deflate.
        assert_eq!(deflated(ON, cwnd, acked, false), cwnd);
        let every = AdalrOptions { deflation_reading: DeflationReading::Every, ..ON };
        assert_eq!(deflated(every, cwnd, acked, false), expected);
        // Switched off: RFC 6582, one segment, and none for less than a segment.
        let off = AdalrOptions { loss_recovery: false, ..ON };
        let mut w = window(cwnd, 6000.0);
        Standard.on_partial_ack(&mut w, &PartialAck { acked, flight: 9000, inflated: true });
        assert_eq!(deflated(off, cwnd, acked, true), w.cwnd, "cwnd {cwnd}, acked {acked}");
        assert_eq!(deflated(off, cwnd, acked, false), cwnd);
    }
    assert_eq!(deflated(AdalrOptions { loss_recovery: false, ..ON }, 12_000.0, 3000, true), 10_000.0);
}

#[test]
fn slack_and_resend_limit_come_with_loss_recovery_alone() {
    for ms in [20, 500] {
        let asked = |mut control: Adalr| {
            let Extras { timeout_slack, resend_limit, .. } = control.extras();
            (timeout_slack, resend_limit)
        };
        assert_eq!(asked(after(ms, ON)), (Span::from_millis(200), 3));
        let off = after(ms, AdalrOptions { loss_recovery: false, ..ON });
        assert_eq!(asked(off), (Span::ZERO, u32::MAX));
    }
}

// adalr, section 4.2: rwnd is widened while no losses occur
// adalr, algorithm 2: rtt_dev_gain = RTT deviation gain
// adalr, algorithm 2: if rho >= 15
// adalr, algorithm 2: if snd_recover == 0
// adalr, algorithm 2: rwnd + rtt_dev_gain rho SMSS
// adalr, slides, adaptive rwnd increase mechanism: by rho, flightsize, phase and losses
// adalr, slides, adaptive rwnd increase mechanism: more while no losses have occurred
#[test]
fn before_a_loss_the_window_grows_by_gain_and_rho() {
    let reading = |rwnd_reading| AdalrOptions { rwnd_reading, ..ON };
    // 0.25 · 30 · SMSS.
    for (rwnd_reading, first, second) in [
        (RwndReading::PerSegment, [47_500, 55_000, 62_500], [47_500, 55_000, 62_500]),
        (RwndReading::FromAdvertised, [47_500; 3], [47_500; 3]),
        (RwndReading::PerAck, [47_500; 3], [47_500; 3]),
        (RwndReading::Accumulating, [47_500, 55_000, 62_500], [70_000, 77_500, 85_000]),
    ] {
        let mut control = after(500, reading(rwnd_reading));
        assert_eq!(three(&mut control, false), first, "{rwnd_reading:?}");
        control.on_advertised_window(RWND);
        assert_eq!(three(&mut control, false), second, "{rwnd_reading:?}, after an ACK");
    }
    // The slides' pseudocode does not ask for the breakpoint.
    let anywhere = AdalrOptions { rwnd_below_breakpoint: true, ..ON };
    assert_eq!(three(&mut after(100, anywhere), false)[0], RWND + 1500);
    assert_eq!(three(&mut after(100, ON), false)[0], RWND);
    for (ms, gain, grown) in
        [(250, 0.25, 43_750), (1000, 0.25, 55_000), (3000, 0.25, 55_000), (500, 0.125, 43_750)]
    {
        let mut control = after(ms, AdalrOptions { rtt_dev_gain: gain, ..ON });
        assert_eq!(three(&mut control, false)[0], grown, "{ms} ms, gain {gain}");
    }
}

// adalr, section 4.2: at least one more segment when losses occur and a partial ACK comes
// adalr, algorithm 2: else if snd_una <= snd_recover and snd_recover != 0
// adalr, algorithm 2: rwnd + SMSS
// adalr, algorithm 2: else
// adalr, algorithm 2: do nothing, after fast recovery
// adalr, slides, adaptive rwnd increase mechanism: one more segment in fast recovery
// adalr, slides, adaptive rwnd increase mechanism: rwnd as it is after fast recovery
// adalr, slides, rwnd pseudocode: else if snd_una + SMSS <= snd_recover; the paper has no SMSS, which is read
// adalr, slides, rwnd pseudocode: do nothing
#[test]
fn after_a_loss_the_window_grows_by_a_segment_in_fast_recovery_and_not_at_all_outside() {
    for (rwnd_reading, grown) in [
        (RwndReading::PerSegment, [41_000, 42_000, 43_000]),
        (RwndReading::FromAdvertised, [41_000; 3]),
        (RwndReading::PerAck, [41_000; 3]),
        (RwndReading::Accumulating, [41_000, 42_000, 43_000]),
    ] {
        let options = AdalrOptions { rwnd_reading, recovery_reading: RecoveryReading::PerSegment, ..ON };
        for control in [lost(after(500, options)), expired(after(500, options))] {
            assert_eq!(three(&mut control.clone(), true), grown, "{rwnd_reading:?}");
            assert_eq!(three(&mut control.clone(), false), [RWND; 3], "{rwnd_reading:?}");
        }
    }
    // "One additional segment": one for each ACK, whatever goes out.
    for (rwnd_reading, grown) in [
        (RwndReading::PerSegment, [41_000; 3]),
        (RwndReading::FromAdvertised, [41_000; 3]),
        (RwndReading::Accumulating, [41_000; 3]),
    ] {
        let options = AdalrOptions { rwnd_reading, recovery_reading: RecoveryReading::PerAck, ..ON };
        let mut control = lost(after(500, options));
        assert_eq!(three(&mut control, true), grown, "{rwnd_reading:?}");
        // Before a loss there is no such bound.
        let before = after(500, AdalrOptions { rwnd_reading, ..ON });
        assert_eq!(three(&mut after(500, options), true), three(&mut before.clone(), true));
    }
    // What a phase added goes with the next ACK.
    let mut control = lost(after(500, ON));
    three(&mut control, true);
    control.on_advertised_window(RWND);
    assert_eq!(three(&mut control, false), [RWND; 3]);
}

// adalr, algorithm 2: if flightsize > rwnd
// adalr, algorithm 2: do nothing
// adalr, slides, rwnd pseudocode: if flightsize < rwnd; the paper has <=, which is read
#[test]
fn the_window_grows_while_flight_is_within_it() {
    let w = window(90_000.0, SSTHRESH);
    for (flight, expected) in [(0, 47_500), (RWND, 47_500), (RWND + 1, RWND)] {
        let mut control = after(500, ON);
        assert_eq!(control.receive_window(&w, &view(flight, RWND, false)), expected, "flight {flight}");
    }
    // A flight between the advertised and the adjusted window is within it.
    let mut control = after(500, ON);
    assert_eq!(control.receive_window(&w, &view(0, RWND, false)), 47_500);
    assert_eq!(control.receive_window(&w, &view(47_500, RWND, false)), 55_000);
    assert_eq!(control.receive_window(&w, &view(55_001, RWND, false)), 55_000);
}

#[test]
fn an_ack_sets_the_window_back_to_what_it_advertises() {
    for rwnd_reading in [RwndReading::PerSegment, RwndReading::FromAdvertised, RwndReading::PerAck] {
        let mut control = after(500, AdalrOptions { rwnd_reading, ..ON });
        three(&mut control, false);
        control.on_advertised_window(5000);
        assert_eq!(control.adjusted, 5000.0, "{rwnd_reading:?}");
        let w = window(9000.0, SSTHRESH);
        assert_eq!(control.receive_window(&w, &view(0, 5000, false)), 12_500, "{rwnd_reading:?}");
    }
    // But for the reading in which none does; a larger one counts there too.
    let mut control = after(500, AdalrOptions { rwnd_reading: RwndReading::Accumulating, ..ON });
    three(&mut control, false);
    control.on_advertised_window(5000);
    assert_eq!(control.adjusted, 62_500.0);
    control.on_advertised_window(65_535);
    assert_eq!(control.adjusted, 65_535.0);
}

// adalr, section 4.2: min(cwnd, rwnd) is what is sent by
#[test]
fn where_nothing_may_grow_the_advertised_window_holds() {
    let readings = [
        RwndReading::PerSegment,
        RwndReading::FromAdvertised,
        RwndReading::PerAck,
        RwndReading::Accumulating,
    ];
    for rwnd_reading in readings {
        let on = AdalrOptions { rwnd_reading, ..ON };
        let off = AdalrOptions { rwnd_increase: false, ..on };
        let w = window(9000.0, SSTHRESH);
        for in_recovery in [false, true] {
            for control in [after(500, off), lost(after(500, off)), after(249, on), lost(after(249, on))] {
                let mut control = control;
                assert_eq!(three(&mut control, in_recovery), [RWND; 3], "{control:?}");
                // Also when the receiver's window shrinks.
                control.on_advertised_window(700);
                assert_eq!(control.receive_window(&w, &view(0, 700, in_recovery)), 700, "{control:?}");
            }
            // Zero stays zero, with everything on and the window grown before.
            for control in [after(500, on), lost(after(500, on))] {
                let mut control = control;
                three(&mut control, in_recovery);
                control.on_advertised_window(0);
                assert_eq!(control.receive_window(&w, &view(0, 0, in_recovery)), 0, "{control:?}");
                assert_eq!(control.receive_window(&w, &view(0, 0, in_recovery)), 0, "{control:?}");
            }
        }
    }
}

#[test]
fn the_adjusted_window_is_no_larger_than_one_that_can_be_told() {
    let mut control = Adalr::new(ON);
    control.on_rtt_sample(Time::ZERO, Span::from_millis(1000));
    let most = 65_535 << 14;
    control.on_advertised_window(most - 1);
    assert_eq!(control.receive_window(&window(9000.0, SSTHRESH), &view(0, most - 1, false)), most);
}
