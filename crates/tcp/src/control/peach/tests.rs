use super::*;
use crate::control::test_path::{SMSS, ms};
use crate::slow_start::StandardStart;
use crate::{Growth, Record};

fn at(s: f64) -> Time {
    Time::ZERO + ms(s * 1e3)
}

fn window(segments: f64) -> Window {
    Window::new(segments * SMSS, f64::INFINITY, SMSS, Growth::PerAck)
}

/// A connection that has opened at 1 s with an RTT of 500 ms and a receive window of 50 segments.
fn opened(sudden_start: u32) -> (Peach, Window) {
    let (mut peach, mut w) = (Peach::new(PeachOptions { sudden_start }), window(10.0));
    peach.on_first_window(50_000);
    peach.on_handshake(&mut w, at(1.0), ms(500.0));
    (peach, w)
}

/// When the dummy segments go out that nothing else lets go, each as soon as it may.
fn dummies(peach: &mut Peach) -> Vec<f64> {
    let mut times = Vec::new();
    while peach.next_dummy() != Time::NEVER {
        let due = peach.next_dummy();
        times.push(due.since(Time::ZERO).as_secs());
        peach.on_dummy_sent(due);
    }
    times
}

#[test]
fn a_sudden_start_spreads_the_rest_of_the_receivers_window_over_a_round_trip() {
    for (sudden_start, segments) in [(0, 50), (20, 20)] {
        let (mut peach, w) = opened(sudden_start);
        assert!(peach.extras().dummies.is_some() && w.cwnd == SMSS && !w.in_slow_start());
        let times = dummies(&mut peach);
        assert_eq!(times.len(), segments - 1);
        let gap = 0.5 / segments as f64;
        for (number, time) in times.iter().enumerate() {
            assert!((time - 1.0 - (number + 1) as f64 * gap).abs() < 1e-6, "{number}: {time}");
        }
    }
    assert_eq!(dummies(&mut opened(1).0), [0.0; 0], "one segment is the data itself");
}

#[test]
fn without_an_rtt_there_is_slow_start() {
    let (mut peach, mut w) = (Peach::new(PeachOptions::default()), window(10.0));
    peach.on_first_window(50_000);
    peach.on_timeout(&mut w, &Timeout { now: at(3.0), flight: 10_000, repeated: false });
    assert!(w.cwnd == SMSS && w.in_slow_start() && peach.next_dummy() == Time::NEVER);
}

#[test]
fn each_ack_of_a_sudden_starts_dummy_opens_the_window_by_a_segment() {
    let (mut peach, mut w) = opened(0);
    (0..49).for_each(|_| peach.on_dummy_acked(&mut w, at(2.0)));
    assert_eq!((w.cwnd, w.in_slow_start()), (50.0 * SMSS, false));
}

#[test]
fn a_rapid_recovery_sends_a_dummy_an_ack_and_counts_the_second_half_of_their_acks() {
    let (mut peach, mut w) = opened(0);
    dummies(&mut peach);
    w.cwnd = 21.0 * SMSS;
    assert_eq!(peach.on_loss(&mut w, &Loss { now: at(5.0), distance: 0, flight: 21_000 }), Response::Reduced);
    assert_eq!((w.cwnd, w.ssthresh), (10.5 * SMSS, 10.5 * SMSS));
    assert_eq!(peach.next_dummy(), Time::NEVER, "no ACK has come");
    let record = Record::default();
    let ack = Ack { now: at(5.0), in_recovery: true, rwnd: 50_000, ..Ack::new(&record) };
    let mut sent = 0;
    for _ in 0..30 {
        peach.on_ack(&mut w, &ack, &mut StandardStart);
        let now = dummies(&mut peach);
        assert!(now.len() <= 1, "{now:?}");
        sent += now.len();
    }
    assert_eq!(sent, 21, "as many as were in flight");
    let grown: Vec<f64> = (0..21)
        .map(|_| {
            peach.on_dummy_acked(&mut w, at(5.5));
            w.cwnd / SMSS
        })
        .collect();
    assert!(grown[..10].iter().all(|cwnd| *cwnd == 10.5), "{grown:?}");
    assert_eq!((grown[10], grown[20]), (11.5, 21.5), "the window is what it was");
}

#[test]
fn a_timeout_starts_suddenly_and_a_mark_ends_all_asking() {
    let (mut peach, mut w) = opened(0);
    peach.on_loss(&mut w, &Loss { now: at(5.0), distance: 0, flight: 20_000 });
    peach.on_rtt_sample(at(5.0), ms(1000.0));
    peach.on_timeout(&mut w, &Timeout { now: at(6.0), flight: 20_000, repeated: false });
    assert_eq!((w.cwnd, peach.ignored, peach.to_send), (SMSS, 0, 0));
    assert!((peach.next_dummy().since(Time::ZERO).as_secs() - 6.02).abs() < 1e-6);
    w.cwnd = 20.0 * SMSS;
    peach.on_congestion_mark(&mut w, &Mark { now: at(6.5), flight: 20_000 });
    assert_eq!((w.cwnd, peach.next_dummy()), (10.0 * SMSS, Time::NEVER));
}

#[test]
fn a_loss_ends_a_sudden_start() {
    let (mut peach, mut w) = opened(0);
    assert_ne!(peach.next_dummy(), Time::NEVER);
    peach.on_loss(&mut w, &Loss { now: at(1.1), distance: 0, flight: 1000 });
    assert_eq!(peach.next_dummy(), Time::NEVER);
}
