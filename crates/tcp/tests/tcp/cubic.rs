//! CUBIC: its curve, its three regions, what reduces it, and its response to regular losses (RFC 9438).

use bentpipe_tcp::control::{Ack, Control, Loss, Mark, Resume, Timeout, Window};
use bentpipe_tcp::control::{Cubic, CubicOptions};
use bentpipe_tcp::slow_start::StandardStart;
use bentpipe_tcp::{Growth, Record};
use bentpipe_units::{Span, Time};

const SMSS: f64 = 1000.0;

fn at(s: f64) -> Time {
    Time::ZERO + Span::from_secs(s)
}

/// A control with its window, driven by hand.
struct Driven {
    cubic: Cubic,
    w: Window,
    now: f64,
    rtt: f64,
    record: Record,
}

impl Driven {
    fn new(options: CubicOptions, segments: f64, rtt: f64) -> Driven {
        let w = Window::new(segments * SMSS, segments * SMSS, SMSS, Growth::Bytes { limit: 2 });
        let mut cubic = Cubic::new(options);
        cubic.on_rtt_sample(Time::ZERO, Span::from_secs(rtt));
        Driven { cubic, w, now: 0.0, rtt, record: Record::default() }
    }

    fn segments(&self) -> f64 {
        self.w.cwnd / SMSS
    }

    fn ack(&mut self, bytes: f64, cwnd_limited: bool) {
        let ack = Ack { now: at(self.now), acked: bytes as u32, cwnd_limited, ..Ack::new(&self.record) };
        self.cubic.on_ack(&mut self.w, &ack, &mut StandardStart);
    }

    /// A round trip in which every segment of the window is acknowledged, two by two.
    fn round(&mut self) {
        let pairs = (self.segments() / 2.0).round().max(1.0);
        for _ in 0..pairs as u32 {
            self.now += self.rtt / pairs;
            self.ack(2.0 * SMSS, true);
        }
    }

    fn lose(&mut self) {
        let loss = Loss { now: at(self.now), distance: 0, flight: self.w.cwnd as u32 };
        self.cubic.save(&mut self.w);
        self.cubic.on_loss(&mut self.w, &loss);
    }
}

fn pure() -> CubicOptions {
    CubicOptions { reno_friendly: false, ..CubicOptions::default() }
}

#[test]
fn the_window_is_flat_at_its_last_maximum_after_k_seconds_and_leaves_it_behind() {
    let mut run = Driven::new(pure(), 1000.0, 0.05);
    run.lose();
    assert_eq!((run.segments(), run.w.ssthresh), (700.0, 700_000.0));
    // RFC 9438 equation 2: the cube root of (1000 - 700) / 0.4.
    let k = 9.085_6;
    let (mut before, mut at_k) = (0.0, 0.0);
    while run.now < 2.0 * k {
        run.round();
        if run.now < k / 2.0 {
            before = run.segments();
        }
        if run.now < k {
            at_k = run.segments();
        }
    }
    // Equation 1 at K/2 is 1000 - 300/8, at K it is 1000, at 2K 1300; the window is a round trip behind at most.
    assert!((before - 962.5).abs() < 3.0, "{before}");
    assert!((at_k - 1000.0).abs() < 0.5, "{at_k}");
    assert!((run.segments() - 1300.0).abs() < 8.0, "{}", run.segments());
}

#[test]
fn a_round_trip_opens_the_window_by_half_at_most() {
    let mut run = Driven::new(CubicOptions { c: 100.0, ..pure() }, 1000.0, 3.0);
    run.lose();
    // RFC 9438 section 4.2: the target is 1.5 cwnd at most, of which each ACK adds its share: half a segment for each acknowledged.
    for _ in 0..3 {
        let before = run.segments();
        run.round();
        // A pair is never acknowledged in parts.
        assert!((run.segments() - 1.5 * before).abs() <= 1.0, "{} after {before}", run.segments());
    }
}

#[test]
fn over_a_short_round_trip_it_is_as_fast_as_reno_would_be() {
    // At 10 ms the cubic function is far below Reno's line.
    let mut run = Driven::new(CubicOptions::default(), 20.0, 0.01);
    run.lose();
    let start = run.segments();
    for _ in 0..5 {
        run.round();
    }
    // RFC 9438 section 4.3: 3 (1 - 0.7) / (1 + 0.7) segments a round trip.
    let alpha = 3.0 * 0.3 / 1.7;
    assert!((run.segments() - start - 5.0 * alpha).abs() < 0.1, "{}", run.segments());
    while run.segments() < 20.0 {
        run.round();
    }
    let again = run.segments();
    for _ in 0..5 {
        run.round();
    }
    // From the last maximum on, a segment a round trip.
    assert!((run.segments() - again - 5.0).abs() < 0.2, "{}", run.segments());
    let mut pure = Driven::new(pure(), 20.0, 0.01);
    pure.lose();
    pure.round();
    assert!(pure.segments() < start + 0.1, "{}", pure.segments());
}

#[test]
fn a_window_that_did_not_come_back_makes_room() {
    let maximum = |options: CubicOptions| {
        let mut run = Driven::new(options, 1000.0, 0.05);
        run.lose();
        run.lose();
        while run.now < 30.0 {
            run.round();
            let flat = run.segments();
            run.round();
            if run.segments() - flat < 0.05 {
                return flat;
            }
        }
        0.0
    };
    // The second loss came at 700: the maximum is 700, or 700 (1 + 0.7) / 2.
    assert!((maximum(CubicOptions { fast_convergence: false, ..pure() }) - 700.0).abs() < 10.0);
    assert!((maximum(pure()) - 595.0).abs() < 10.0);
}

#[test]
fn marks_reduce_by_their_own_share() {
    for (beta_mark, left) in [(0.7, 70.0), (0.85, 85.0)] {
        let mut run = Driven::new(CubicOptions { beta_mark, ..CubicOptions::default() }, 100.0, 0.1);
        run.cubic.on_congestion_mark(&mut run.w, &Mark { now: at(1.0), flight: 100_000 });
        assert_eq!(run.segments(), left);
        // What was in flight is what counts, and cwnd never grows by a mark.
        run.cubic.on_congestion_mark(&mut run.w, &Mark { now: at(2.0), flight: 400_000 });
        assert_eq!(run.segments(), left);
    }
}

#[test]
fn after_a_timeout_the_curve_begins_at_the_window_that_slow_start_left() {
    let mut run = Driven::new(pure(), 1000.0, 0.05);
    let timeout = Timeout { now: at(0.0), flight: 1_000_000, repeated: false };
    run.cubic.on_timeout(&mut run.w, &timeout);
    assert_eq!((run.segments(), run.w.ssthresh), (1.0, 700_000.0));
    run.cubic.on_timeout(&mut run.w, &Timeout { repeated: true, flight: 1000, ..timeout });
    assert_eq!(run.w.ssthresh, 700_000.0);
    while run.w.in_slow_start() {
        run.round();
    }
    let (began, start) = (run.now, run.segments());
    while run.now < began + 5.0 {
        run.round();
    }
    // K is 0: C t³ above where it began, a round trip ahead at most.
    let expected = start + 0.4 * 125.0;
    assert!((run.segments() - expected).abs() < 4.0, "{} for {expected}", run.segments());
}

#[test]
fn after_a_pause_the_curve_begins_anew() {
    let mut run = Driven::new(pure(), 1000.0, 0.05);
    run.lose();
    for _ in 0..20 {
        run.round();
    }
    run.cubic.restart_after_idle(&mut run.w, 10.0 * SMSS);
    assert_eq!(run.segments(), 10.0);
    while run.w.in_slow_start() {
        run.round();
    }
    let (began, start) = (run.now, run.segments());
    while run.now < began + 5.0 {
        run.round();
    }
    // As after a timeout: K is 0.
    let expected = start + 0.4 * 125.0;
    assert!((run.segments() - expected).abs() < 4.0, "{} for {expected}", run.segments());
}

#[test]
fn the_last_maximum_of_before_a_timeout_is_forgotten() {
    let plateau = |timeout: bool| {
        let mut run = Driven::new(pure(), 1300.0, 0.05);
        run.lose();
        if timeout {
            let timeout = Timeout { now: at(0.0), flight: 700_000, repeated: false };
            run.cubic.on_timeout(&mut run.w, &timeout);
            while run.w.in_slow_start() {
                run.round();
            }
        }
        run.w.cwnd = 1190.0 * SMSS;
        run.lose();
        // Until the curve is flat, after K.
        let end = run.now + libm::cbrt(0.3 * 1190.0 / 0.4);
        while run.now < end {
            run.round();
        }
        run.segments()
    };
    // RFC 9438 section 4.8: the stage after a timeout has a maximum of its own, the window that it began with.
    assert!((plateau(true) - 1190.0).abs() < 5.0, "{}", plateau(true));
    // Section 4.7, else: 1190 (1 + 0.7) / 2.
    assert!((plateau(false) - 1011.5).abs() < 15.0, "{}", plateau(false));
}

#[test]
fn a_pause_is_no_time_of_the_curve() {
    let after = |idle: f64| {
        let mut run = Driven::new(pure(), 1000.0, 0.05);
        run.lose();
        for _ in 0..20 {
            run.round();
        }
        run.now += idle;
        let resume = Resume { now: at(run.now), idle: Span::from_secs(idle), by_application: true };
        run.cubic.on_resume(&mut run.w, &resume);
        run.round();
        run.segments()
    };
    assert!((after(60.0) - after(0.0)).abs() < 0.01, "{} and {}", after(60.0), after(0.0));
}

#[test]
fn time_in_which_the_application_limits_the_flow_does_not_count() {
    let after = |idle: f64| {
        let mut run = Driven::new(pure(), 1000.0, 0.05);
        run.lose();
        run.round();
        // The application stops for a while; the ACK that comes then tells that cwnd was not full.
        run.now += idle;
        run.ack(SMSS, false);
        run.round();
        run.segments()
    };
    assert!((after(60.0) - after(0.0)).abs() < 0.5, "{} and {}", after(60.0), after(0.0));
}

#[test]
fn a_needless_reduction_is_taken_back_with_its_curve() {
    let mut run = Driven::new(pure(), 1000.0, 0.05);
    run.lose();
    for _ in 0..20 {
        run.round();
    }
    let mut undisturbed = Driven { record: Record::default(), ..run };
    run = Driven { record: Record::default(), ..undisturbed };
    run.lose();
    assert!(run.segments() < 0.71 * undisturbed.segments());
    run.cubic.restore(&mut run.w);
    assert_eq!(run.segments(), undisturbed.segments());
    for _ in 0..20 {
        run.round();
        undisturbed.round();
    }
    assert_eq!(run.segments(), undisturbed.segments());
    // Nothing is left to take back.
    run.cubic.restore(&mut run.w);
    assert_eq!(run.segments(), undisturbed.segments());
}

#[test]
fn regular_losses_give_the_window_of_the_response_function() {
    // RFC 9438 section 5.1, equation 6, for one loss in so many segments. Losses come at the end of a round trip, so that
    // the maxima differ a little, which fast convergence would answer to.
    let options = CubicOptions { fast_convergence: false, ..pure() };
    for (segments, rtt) in [(10_000.0, 0.1), (10_000.0, 0.5), (100_000.0, 0.1)] {
        let beta = 0.7;
        let share: f64 = 0.4 * (3.0 + beta) / (4.0 * (1.0 - beta));
        let fourth_root = |value: f64| value.sqrt().sqrt();
        let k = fourth_root(segments * rtt / share);
        let expected = share * k * k * k;
        // From its fixed point: a maximum that is another one moves by the third power of what it is off.
        let mut run = Driven::new(options, 0.4 * k * k * k / (1.0 - beta), rtt);
        run.lose();
        let (mut sent, mut area, mut rounds) = (0.0, 0.0, 0.0);
        while run.now < 40.0 * k {
            let cwnd = run.segments();
            run.round();
            sent += cwnd;
            area += cwnd;
            rounds += 1.0;
            if sent >= segments {
                sent -= segments;
                run.lose();
            }
        }
        let mean = area / rounds;
        assert!((mean / expected - 1.0).abs() < 0.05, "{mean:.1} for {expected:.1} segments");
    }
}
