//! ρ, growth and the initial window by the equations, and the growth of a whole connection.

use super::super::test_acks::{ack, at, growth, window};
use super::super::{Standard, test_path::SMSS};
use super::*;
use crate::slow_start::StandardStart;
use crate::{Growth, Record};

const LINUX: HyblaOptions = HyblaOptions { reading: HyblaReading::Linux, ..PAPER };
const PAPER: HyblaOptions = HyblaOptions {
    rtt0: Span::from_millis(25),
    rtt: HyblaRtt::Least,
    initial_window: HyblaWindow::Rho,
    scale_ssthresh: true,
    pacing: false,
    max_window: 65_535,
    reading: HyblaReading::Paper,
};

/// A control after a sample of so many ms.
fn after(options: HyblaOptions, ms: u64) -> Hybla {
    let mut control = Hybla::new(options);
    control.on_rtt_sample(at(0), Span::from_millis(ms));
    control
}

/// Segments that an ACK of one adds.
fn opened(mut control: Hybla, cwnd: f64, ssthresh: f64) -> f64 {
    let mut w = window(cwnd, ssthresh);
    ack(&mut control, &mut w, 1000, 100, 1);
    w.cwnd / SMSS - cwnd
}

fn loss(segments: u32) -> Loss {
    Loss { now: at(5000), distance: 0, flight: segments * SMSS as u32 }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found}, not {expected}");
}

#[test]
fn an_ack_adds_two_to_the_rho_less_one_and_then_rho_squared_over_cwnd() {
    assert_eq!(HyblaOptions::default(), PAPER);
    close(opened(after(PAPER, 100), 10.0, 1000.0), 15.0);
    close(opened(after(PAPER, 110), 10.0, 1000.0), libm::exp2(4.4) - 1.0);
    close(opened(after(PAPER, 100), 100.0, 50.0), 16.0 / 100.0);
    close(opened(after(PAPER, 600), 1000.0, 50.0), 576.0 / 1000.0);
    // At 25 ms and below it is RFC 5681.
    for rtt in [1, 25] {
        close(opened(after(PAPER, rtt), 10.0, 1000.0), 1.0);
        close(opened(after(PAPER, rtt), 100.0, 50.0), 0.01);
    }
    let rtt0 = Span::from_millis(50);
    close(opened(after(HyblaOptions { rtt0, ..PAPER }, 100), 10.0, 1000.0), 3.0);
}

#[test]
fn growth_ends_at_ssthresh_and_at_the_largest_window() {
    close(opened(after(PAPER, 600), 24.0, 300.0), 276.0);
    close(opened(after(PAPER, 600), 24.0, f64::INFINITY), 65_511.0);
    let max_window = 500;
    close(opened(after(HyblaOptions { max_window, ..PAPER }, 600), 24.0, f64::INFINITY), 476.0);
    close(opened(after(HyblaOptions { max_window, ..PAPER }, 600), 499.9, 10.0), 0.1);
}

#[test]
fn rho_is_of_the_least_rtt_or_of_the_smoothed_one() {
    let mut control = after(PAPER, 100);
    control.on_rtt_sample(at(1), Span::from_millis(180));
    close(control.rho, 4.0);
    control.on_rtt_sample(at(2), Span::from_millis(50));
    close(control.rho, 2.0);
    let mut control = after(HyblaOptions { rtt: HyblaRtt::Smoothed, ..PAPER }, 100);
    control.on_rtt_sample(at(1), Span::from_millis(180));
    // 100 + 80/8 ms.
    close(control.rho, 4.4);
}

#[test]
fn the_handshake_scales_the_first_window_and_ssthresh() {
    let first = |options: HyblaOptions, cwnd: f64, ms: u64| {
        let (mut control, mut w) = (after(options, ms), window(cwnd, 20.0));
        control.on_handshake(&mut w, at(ms), Span::from_millis(ms));
        (w.cwnd / SMSS, w.ssthresh / SMSS)
    };
    assert_eq!(first(PAPER, 3.0, 100), (4.0, 80.0));
    assert_eq!(first(PAPER, 10.0, 100), (10.0, 80.0));
    assert_eq!(first(HyblaOptions { initial_window: HyblaWindow::Scaled, ..PAPER }, 3.0, 100), (12.0, 80.0));
    assert_eq!(first(HyblaOptions { initial_window: HyblaWindow::Profile, ..PAPER }, 3.0, 100), (3.0, 80.0));
    assert_eq!(first(HyblaOptions { scale_ssthresh: false, ..PAPER }, 3.0, 100), (4.0, 20.0));
    // hybla_init: "snd_cwnd = rho", whatever the initial window is.
    assert_eq!(first(LINUX, 10.0, 110), (4.0, 20.0));
    assert_eq!(first(LINUX, 10.0, 5), (1.0, 20.0));
}

#[test]
fn linux_counts_in_eighths_and_in_128ths() {
    // 8 × 110/25 = 35.2, and 128 × 2^(3/8) = 165.99.
    let control = after(LINUX, 110);
    close(control.rho, 4.375);
    close(opened(control, 10.0, 1000.0), 16.0 * 165.0 / 128.0 - 1.0);
    // 128 × 4.375² / 100 = 24.5.
    close(opened(control, 100.7, 50.0), 24.0 / 128.0);
    close(opened(control, 5000.0, 50.0), 1.0 / 5000.0);
    // An ACK of two segments counts once, in a profile by bytes too.
    let mut w = Window::new(10.0 * SMSS, 1000.0 * SMSS, SMSS, Growth::Bytes { limit: 8 });
    let record = Record::default();
    let told = Ack { acked: 2000, ..Ack::new(&record) };
    let mut linux = after(LINUX, 100);
    linux.on_ack(&mut w, &told, &mut StandardStart);
    close(w.cwnd / SMSS, 25.0);
    let mut paper = after(PAPER, 100);
    paper.on_ack(&mut w, &told, &mut StandardStart);
    close(w.cwnd / SMSS, 55.0);
}

#[test]
fn pacing_spreads_cwnd_over_an_rtt() {
    let options = HyblaOptions { pacing: true, ..PAPER };
    let (mut control, mut w) = (after(options, 100), window(3.0, 20.0));
    assert!(control.extras().paces && !Hybla::new(PAPER).extras().paces);
    control.on_handshake(&mut w, at(100), Span::from_millis(100));
    close(w.pacing_rate, 4.0 * SMSS / 0.1);
    ack(&mut control, &mut w, 1000, 100, 1);
    close(w.pacing_rate, 19.0 * SMSS / 0.1);
}

/// The rate, in segments a second, grows by 1/RTT0² a second whatever the RTT is. While cwnd is not far above ρ² it is less: the ACKs of a
/// round trip are those of the window before. Ten to twenty ρ² it is at 600 ms.
#[test]
fn over_any_round_trip_the_rate_grows_as_that_of_rfc_5681_over_25_ms() {
    let reference = growth(Standard, 25.0, 6.0, 12.0) / 0.025 / 6.0;
    assert!((reference / 1600.0 - 1.0).abs() < 0.02, "{reference}");
    for (rtt, within) in [(50.0, 0.02), (150.0, 0.04), (600.0, 0.12)] {
        let found = growth(Hybla::new(PAPER), rtt, 6.0, 12.0) / (rtt / 1e3) / 6.0;
        assert!((found / reference - 1.0).abs() < within, "{rtt} ms: {found} of {reference} segments/s²");
    }
}

#[test]
fn a_loss_takes_half_of_the_flight_and_in_linux_half_of_cwnd() {
    for (options, left) in [(PAPER, 200.0), (LINUX, 500.0)] {
        let mut w = window(1000.0, 2000.0);
        let flight = (400.0 * SMSS) as u32;
        after(options, 520).on_loss(&mut w, &loss(400));
        assert_eq!((w.cwnd, w.ssthresh), (left * SMSS, left * SMSS));
        let mut w = window(1000.0, 2000.0);
        after(options, 520).on_timeout(&mut w, &Timeout { now: at(0), flight, repeated: false });
        assert_eq!((w.cwnd, w.ssthresh), (SMSS, left * SMSS));
        let mut w = window(1000.0, 2000.0);
        after(options, 520).on_congestion_mark(&mut w, &Mark { now: at(0), flight });
        assert_eq!((w.cwnd, w.ssthresh), (left * SMSS, left * SMSS));
    }
}
