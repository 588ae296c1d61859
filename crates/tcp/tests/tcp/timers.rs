//! The retransmission timer, and what is learnt of the round trip.

use bentpipe_tcp::{Config, ConnectionError, RtoEstimator};
use bentpipe_units::Span;

use crate::harness::{CLIENT, Fate, Net, RECOVERIES, SERVER, by_timer_alone, config};

fn ms(span: Span) -> f64 {
    (span.as_secs() * 1e6).round() / 1e3
}

/// When the client's data segments that begin at byte `start` were sent, in milliseconds.
fn times(net: &Net, start: i64) -> Vec<f64> {
    let data = net.data_by(CLIENT);
    data.iter()
        .filter(|sent| net.relative(CLIENT, sent.passing.segment.seq) == start)
        .map(|sent| sent.ms())
        .collect()
}

#[test]
fn every_recovery_backs_off_and_keeps_the_back_off_until_a_sample() {
    for recovery in by_timer_alone() {
        // The only segment is lost four times; then there is another one.
        let mut net = Net::alike(config(recovery)).dropping(&[1, 2, 3, 4]);
        net.open();
        net.write(CLIENT, 1000);
        net.run_to(20_000);
        assert_eq!(times(&net, 0), [100.0, 1100.0, 3100.0, 7100.0, 15_100.0], "{}", net.trace());
        let sender = net.ends[CLIENT].sender();
        assert_eq!(sender.stats().timeouts, 4);
        // Karn: the ACK of a segment that was sent twice is no sample, so there is only the handshake's, and the RTO
        // stays backed off (RFC 6298 section 5).
        assert_eq!(sender.round_trips().mean_secs().map(|mean| (mean * 1e3).round()), Some(100.0));
        assert_eq!(ms(sender.rtt().rto()), 16_000.0);
        assert_eq!(sender.window().cwnd, 2000.0, "one segment, opened by the ACK");
        net.write(CLIENT, 1000);
        net.run_to(21_000);
        assert_eq!(ms(net.ends[CLIENT].sender().rtt().rto()), 1000.0);
    }
}

#[test]
fn timestamps_sample_what_was_sent_again() {
    // RFC 7323 section 4.1: the echo says which of the two was answered.
    let mut net = Net::alike(Config { timestamps: true, ..config("reno") }).dropping(&[1]);
    net.open();
    net.write(CLIENT, 900);
    net.run_to(5000);
    let rtt = net.ends[CLIENT].sender().rtt();
    assert_eq!(rtt.latest().map(ms), Some(100.0));
    assert_eq!(ms(rtt.rto()), 1000.0, "and so the back-off is over");
}

#[test]
fn the_timer_expires_on_a_tick_of_its_clock() {
    let mut config = config("reno");
    config.rto.granularity = Span::from_millis(500);
    let mut net = Net::alike(config).dropping(&[1, 2, 3]);
    net.open();
    net.write(CLIENT, 1000);
    net.run_to(30_000);
    // RTO = 100 ms + max(G, 4 * 50 ms) = 600 ms, at least 1 s: due at 1.1 s, on the tick of 1.5 s; then 2 s and 4 s on.
    assert_eq!(times(&net, 0), [100.0, 1500.0, 3500.0, 7500.0]);
}

#[test]
fn rto_is_the_smoothed_rtt_and_four_deviations() {
    let mut config = config("reno");
    config.rto.min = Span::from_millis(10);
    let mut net = Net::alike(config);
    net.open();
    net.run_to(150);
    // RFC 6298 (2.2): 100 + 4 * 50.
    assert_eq!(ms(net.ends[CLIENT].sender().rtt().rto()), 300.0);
    net.write(CLIENT, 1000);
    net.run_to(300);
    // (2.3): RTTVAR 3/4 * 50.
    assert_eq!(ms(net.ends[CLIENT].sender().rtt().rto()), 250.0);
}

#[test]
fn an_ack_of_new_data_restarts_the_timer() {
    // RFC 6298 (5.3). Segment 2 of 3 is lost, with no third duplicate to tell.
    let net = Net::alike(config("reno")).dropping(&[2]).transfer(3000);
    assert_eq!(times(&net, 1000), [100.0, 1200.0], "{}", net.trace());
}

#[test]
fn no_answer_ends_the_connection_at_the_limit() {
    for recovery in by_timer_alone() {
        let mut net = Net::alike(Config { max_retransmissions: 3, ..config(recovery) });
        net.open();
        net.run_to(100);
        net.set_network(|_| Fate::drop());
        net.write(CLIENT, 1000);
        net.run();
        assert_eq!(times(&net, 0), [100.0, 1100.0, 3100.0, 7100.0]);
        assert_eq!(net.errors()[CLIENT], Some(ConnectionError::TimedOut));
        assert_eq!((net.now.as_secs() * 1e3).round(), 15_100.0);
    }
}

#[test]
fn progress_starts_the_count_of_timeouts_anew() {
    // Each segment is lost twice, and two expiries in a row are allowed.
    for recovery in RECOVERIES {
        let mut config = Config { max_retransmissions: 2, initial_window: 1, ..config(recovery) };
        config.rto.max = Span::from_millis(4000);
        let mut seen = std::collections::HashMap::new();
        let net = Net::alike(config).through(move |p| {
            let times = seen.entry(p.segment.seq.0).or_insert(0);
            *times += 1;
            if p.from == CLIENT && p.segment.len > 0 && *times < 3 { Fate::drop() } else { Fate::pass() }
        });
        let net = net.transfer(10_000);
        assert!(net.ends[CLIENT].sender().stats().timeouts >= 10);
    }
}

#[test]
fn a_timeout_halves_flight_once_and_leaves_one_segment() {
    // RFC 5681 section 3.1: ssthresh is "held constant" when the timer expires again for the same segment.
    for recovery in by_timer_alone() {
        let mut net = Net::alike(Config { initial_window: 10, ..config(recovery) });
        net.open();
        net.run_to(100);
        net.set_network(|p| if p.from == CLIENT { Fate::drop() } else { Fate::pass() });
        net.write(CLIENT, 100_000);
        for until in [1200, 3200] {
            net.run_to(until);
            let window = net.ends[CLIENT].sender().window();
            assert_eq!((window.cwnd, window.ssthresh), (1000.0, 5000.0), "{recovery:?} at {until} ms");
        }
        net.set_network(|_| Fate::pass());
        net.run_to(60_000);
        assert_eq!(net.read[SERVER], 100_000);
    }
}

#[test]
fn a_fast_retransmit_spoils_the_sample_it_would_have_given() {
    // Karn: the segment being timed is lost and sent again; so is one behind which it waits.
    for recovery in RECOVERIES {
        for lost in [1, 2, 3] {
            let net = Net::alike(Config { initial_window: 10, ..config(recovery) }).dropping(&[lost]);
            let net = net.transfer(60_000);
            let mean = net.ends[CLIENT].sender().round_trips().mean_secs().unwrap_or_default();
            assert!((mean - 0.1).abs() < 1e-9, "{recovery:?} {lost}: {mean} s\n{}", net.trace());
        }
    }
}

#[test]
fn the_estimator_of_ns2_times_no_handshake_and_its_timer_waits_for_no_tick() {
    let mut config = config("tahoe");
    config.rto.estimator = RtoEstimator::Ns2;
    config.rto.granularity = Span::from_millis(70);
    config.rto.min = Span::ZERO;
    config.rto.initial = Span::from_millis(6000);
    // The first segment is lost: no round trip was timed before it, and 6.1 s are no multiple of the tick.
    let mut net = Net::alike(config).dropping(&[1]);
    net.open();
    assert_eq!(net.ends[CLIENT].sender().rtt().samples(), 0);
    net.write(CLIENT, 1000);
    net.run_to(7000);
    assert_eq!(times(&net, 0), [100.0, 6100.0], "{}", net.trace());
}
