//! The defaults of a control, by the equations of RFC 5681 and RFC 6582.

use bentpipe_tcp::control::{Ack, Control, Exit, Loss, PartialAck, Response, Standard, Timeout, Window};
use bentpipe_tcp::slow_start::StandardStart;
use bentpipe_tcp::{Growth, Record};
use bentpipe_units::Time;

fn window(cwnd: f64, ssthresh: f64, growth: Growth) -> Window {
    Window::new(cwnd, ssthresh, 1000.0, growth)
}

/// cwnd after an ACK of so many bytes, of what the sender had filled cwnd with or not.
fn after_ack(mut window: Window, (acked, cwnd_limited): (u32, bool)) -> f64 {
    let record = Record::default();
    let ack = Ack { acked, flight: 5000, prior_flight: 5000 + acked, cwnd_limited, ..Ack::new(&record) };
    Standard.on_ack(&mut window, &ack, &mut StandardStart);
    window.cwnd
}

#[test]
fn growth_follows_ssthresh() {
    let bytes = Growth::Bytes { limit: 2 };
    assert_eq!(after_ack(window(4000.0, 4001.0, bytes), (500, true)), 4500.0);
    assert_eq!(after_ack(window(4000.0, 4001.0, bytes), (5000, true)), 6000.0);
    // RFC 5681: at ssthresh either may be used; here it is congestion avoidance.
    assert_eq!(after_ack(window(4000.0, 4000.0, bytes), (2000, true)), 4500.0);
    assert_eq!(after_ack(window(4000.0, 4000.0, Growth::PerAck), (2000, true)), 4250.0);
    assert_eq!(after_ack(window(4000.0, 9000.0, Growth::PerAck), (1, true)), 5000.0);
    assert_eq!(after_ack(window(4000.0, 9000.0, Growth::PerAck), (1000, false)), 4000.0);
}

#[test]
fn a_loss_halves_flight_but_leaves_two_segments() {
    for (flight, ssthresh) in [(20_000, 10_000.0), (5000, 2500.0), (3000, 2000.0), (1000, 2000.0)] {
        let mut w = window(50_000.0, f64::INFINITY, Growth::PerAck);
        let loss = Loss { now: Time::ZERO, distance: 0, flight };
        assert_eq!(Standard.on_loss(&mut w, &loss), Response::Reduced);
        assert_eq!((w.cwnd, w.ssthresh), (ssthresh, ssthresh), "FlightSize {flight}");
        assert_eq!(Standard.on_further_loss(&mut w, &loss), Response::Keep);
        assert_eq!(w.ssthresh, ssthresh);
    }
}

#[test]
fn a_repeated_timeout_holds_ssthresh() {
    let mut w = window(12_000.0, 8000.0, Growth::PerAck);
    let timeout = Timeout { now: Time::ZERO, flight: 10_000, repeated: true };
    Standard.on_timeout(&mut w, &timeout);
    assert_eq!((w.cwnd, w.ssthresh), (1000.0, 8000.0));
    Standard.on_timeout(&mut w, &Timeout { repeated: false, ..timeout });
    assert_eq!((w.cwnd, w.ssthresh), (1000.0, 5000.0));
}

#[test]
fn a_partial_ack_deflates_by_what_it_covers_and_adds_a_segment_back() {
    let partial = |cwnd, acked, inflated| {
        let mut w = window(cwnd, 6000.0, Growth::PerAck);
        Standard.on_partial_ack(&mut w, &PartialAck { acked, flight: 9000, inflated });
        w.cwnd
    };
    assert_eq!(partial(12_000.0, 3000, true), 10_000.0);
    // Less than a segment adds nothing back.
    assert_eq!(partial(12_000.0, 999, true), 11_001.0);
    assert_eq!(partial(3000.0, 9000, true), 1000.0);
    assert_eq!(partial(12_000.0, 3000, false), 12_000.0);
    let mut w = window(12_000.0, 6000.0, Growth::PerAck);
    Standard.on_recovery_exit(&mut w, &Exit { flight: 0, acked: 1000, cwnd: 2000.0 });
    assert_eq!(w.cwnd, 2000.0);
}
