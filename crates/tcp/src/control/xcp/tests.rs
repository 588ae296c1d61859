use super::*;
use crate::slow_start::StandardStart;
use crate::{Growth, Record};

const SMSS: f64 = 1000.0;

fn window(cwnd: f64) -> Window {
    Window::new(cwnd, f64::INFINITY, SMSS, Growth::PerAck)
}

/// A control with an RTT of 500 ms, told of so many routers.
fn control(options: XcpOptions, routers: u8) -> Xcp {
    let mut control = Xcp::new(options);
    control.on_handshake(&mut window(SMSS), Time::ZERO, Span::from_millis(500));
    control.on_feedback(&mut window(SMSS), &feedback(0.0, routers));
    control
}

fn feedback(change: f64, routers: u8) -> Feedback {
    Feedback { change, routers, in_recovery: false }
}

const ENDLESS: Supply = Supply { rwnd: 1_000_000, unsent: u64::MAX };
const LOSS: Loss = Loss { now: Time::ZERO, distance: 0, flight: 20_000 };

#[test]
fn the_window_changes_by_feedback_times_rtt_and_keeps_a_segment() {
    let (mut control, mut w) = (control(XcpOptions::default(), 1), window(20_000.0));
    control.on_feedback(&mut w, &feedback(3000.0, 1));
    assert_eq!(w.cwnd, 20_000.0 + 3000.0 * 0.5);
    control.on_feedback(&mut w, &feedback(-10_000.0, 1));
    assert_eq!(w.cwnd, 21_500.0 - 5000.0);
    control.on_feedback(&mut w, &feedback(-1e6, 1));
    assert_eq!(w.cwnd, SMSS);
}

#[test]
fn the_round_trip_time_is_smoothed_by_an_eighth() {
    let (mut control, mut w) = (control(XcpOptions::default(), 1), window(20_000.0));
    control.on_rtt_sample(Time::ZERO, Span::from_millis(900));
    control.on_feedback(&mut w, &feedback(1000.0, 1));
    assert!((w.cwnd - 20_550.0).abs() < 1e-9, "{}", w.cwnd);
}

#[test]
fn a_header_tells_x_and_asks_for_a_share_of_what_the_receiver_has_room_for() {
    let control = control(XcpOptions::default(), 1);
    let header = control.asks_of_routers(&window(20_000.0), &ENDLESS);
    // 20 packets in 500 ms; 980,000 bytes more in a round trip, over 20 packets.
    assert_eq!((header.rtt, header.interval, header.delta), (0.5, 0.025, 98_000.0));
    // The receiver lets out ten segments: that is what goes, and ten segments less are asked for.
    let narrow = Supply { rwnd: 10_000, ..ENDLESS };
    let header = control.asks_of_routers(&window(20_000.0), &narrow);
    assert_eq!((header.interval, header.delta), (0.05, -2000.0));
    let little = Supply { unsent: 19_999, ..ENDLESS };
    assert_eq!(control.asks_of_routers(&window(20_000.0), &little).delta, 0.0);
    let all = self::control(XcpOptions { demand: XcpDemand::Unbounded, ..XcpOptions::default() }, 1);
    assert!(all.asks_of_routers(&window(20_000.0), &little).delta > 1e9);
    // Before the first sample there is nothing to tell.
    let fresh = Xcp::new(XcpOptions::default());
    assert_eq!(fresh.asks_of_routers(&window(20_000.0), &ENDLESS), CongestionHeader::default());
}

#[test]
fn without_a_router_it_is_a_standard_tcp() {
    let record = Record::default();
    let ack = Ack { acked: 1000, prior_flight: 20_000, ..Ack::new(&record) };
    for (routers, grown) in [(0, 1000.0), (1, 0.0)] {
        let (mut control, mut w) = (control(XcpOptions::default(), routers), window(20_000.0));
        control.on_feedback(&mut w, &feedback(3000.0, routers));
        let before = w.cwnd;
        control.on_ack(&mut w, &ack, &mut StandardStart);
        assert_eq!(w.cwnd - before, grown, "{routers} routers");
        assert_eq!(before, 20_000.0 + 1500.0 * f64::from(routers));
    }
}

#[test]
fn a_loss_halves_and_the_recovery_keeps_the_window() {
    let (mut control, mut w) = (control(XcpOptions::default(), 1), window(20_000.0));
    assert_eq!(control.on_loss(&mut w, &LOSS), Response::Reduced);
    assert_eq!((w.cwnd, w.ssthresh), (10_000.0, 10_000.0));
    control.on_feedback(&mut w, &Feedback { in_recovery: true, ..feedback(3000.0, 1) });
    assert_eq!(w.cwnd, 10_000.0);
    control.on_feedback(&mut w, &feedback(3000.0, 1));
    assert_eq!(w.cwnd, 11_500.0);
}

#[test]
fn the_draft_s_reading_is_a_standard_tcp_from_the_first_loss_on() {
    let options = XcpOptions { loss: XcpLoss::Standard, ..XcpOptions::default() };
    let (mut control, mut w) = (control(options, 1), window(20_000.0));
    control.on_loss(&mut w, &LOSS);
    control.on_feedback(&mut w, &feedback(3000.0, 1));
    let record = Record::default();
    let ack = Ack { acked: 1000, prior_flight: 20_000, ..Ack::new(&record) };
    control.on_ack(&mut w, &ack, &mut StandardStart);
    // SMSS²/cwnd in congestion avoidance.
    assert_eq!(w.cwnd, 10_000.0 + 100.0);
}

#[test]
fn p_xcp_keeps_its_window_at_a_loss_where_routers_allot_it() {
    let options = XcpOptions { loss: XcpLoss::Keep, ..XcpOptions::default() };
    let (mut kept, mut w) = (control(options, 1), window(20_000.0));
    assert_eq!(kept.on_loss(&mut w, &LOSS), Response::Keep);
    assert_eq!(w.cwnd, 20_000.0);
    kept.on_feedback(&mut w, &Feedback { in_recovery: true, ..feedback(-3000.0, 1) });
    assert_eq!(w.cwnd, 18_500.0);
    let timeout = Timeout { now: Time::ZERO, flight: 20_000, repeated: false };
    kept.on_timeout(&mut w, &timeout);
    assert_eq!((w.cwnd, w.ssthresh), (SMSS, 10_000.0));
    let (mut alone, mut w) = (control(options, 0), window(20_000.0));
    assert_eq!(alone.on_loss(&mut w, &LOSS), Response::Reduced);
    assert_eq!(w.cwnd, 10_000.0);
}

#[test]
fn a_window_that_is_not_used_goes_a_share_of_the_way_to_what_was_used() {
    let record = Record::default();
    let ack = |ms: u64, prior_flight: u32| {
        let now = Time::ZERO + Span::from_millis(ms);
        Ack { now, acked: 1000, prior_flight, ..Ack::new(&record) }
    };
    let (mut control, mut w) = (control(XcpOptions::default(), 1), window(20_000.0));
    control.on_ack(&mut w, &ack(500, 3000), &mut StandardStart);
    control.on_ack(&mut w, &ack(700, 8000), &mut StandardStart);
    assert_eq!(w.cwnd, 20_000.0);
    control.on_ack(&mut w, &ack(1000, 4000), &mut StandardStart);
    assert_eq!(w.cwnd, 14_000.0);
    // In the next round trip all was used once.
    control.on_ack(&mut w, &ack(1200, 13_500), &mut StandardStart);
    control.on_ack(&mut w, &ack(1500, 2000), &mut StandardStart);
    assert_eq!(w.cwnd, 14_000.0);
    // A quarter of 20 segments down to 8.
    let options = XcpOptions { aging: 0.25, ..XcpOptions::default() };
    let (mut control, mut w) = (self::control(options, 1), window(20_000.0));
    for ms in [500, 1000] {
        control.on_ack(&mut w, &ack(ms, 8000), &mut StandardStart);
    }
    assert_eq!(w.cwnd, 17_000.0);
}
