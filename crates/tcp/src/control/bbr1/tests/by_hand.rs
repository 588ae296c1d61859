//! Rules of a single ACK, told by hand.

use super::*;
use crate::control::test_acks::{at, reported, window};
use crate::{Record, Seq};

fn sample(rate: f64, app_limited: bool) -> RateSample {
    let interval = Span::from_millis(100);
    RateSample {
        bytes: (rate / 10.0) as u64,
        interval,
        prior_delivered: 0,
        app_limited,
        in_flight: 0,
        lost: 0,
    }
}

fn control() -> Bbr1 {
    Bbr1::new(Bbr1Options::default())
}

/// Each of these samples ends a round.
fn rounds(control: &mut Bbr1, samples: &[RateSample]) {
    let record = Record::default();
    for sample in samples {
        control.round_start = false;
        control.update_bandwidth(&window(100.0, 100.0), &Ack::new(&record), sample);
        control.check_filled(sample);
    }
}

#[test]
fn what_the_application_limits_shows_no_slower_link_but_a_faster_one() {
    let mut control = control();
    rounds(&mut control, &[sample(1e6, false)]);
    rounds(&mut control, &[sample(5e5, true); 20]);
    let near = |rate: f64, found: f64| found <= rate && rate - found < UNIT * SMSS;
    assert!(near(1e6, control.bandwidth.get()));
    rounds(&mut control, &[sample(2e6, true)]);
    assert!(near(2e6, control.bandwidth.get()));
}

#[test]
fn the_rate_stays_a_hundredth_below_the_estimate() {
    // bbr_pacing_margin_percent is 1.
    let mut control = Bbr1 { filled: true, has_paced: true, ..control() };
    rounds(&mut control, &[sample(1e6, false)]);
    let mut w = window(100.0, 100.0);
    control.set_pacing_rate(&mut w, 1.25);
    assert_eq!(w.pacing_rate, 0.99 * 1.25 * control.bandwidth.get());
}

#[test]
fn growth_by_less_than_a_quarter_in_three_rounds_is_a_full_pipe() {
    let mut slow = control();
    rounds(&mut slow, &[1e6, 1.1e6, 1.2e6, 1.24e6].map(|rate| sample(rate, false)));
    assert!(slow.filled);
    let mut fast = control();
    rounds(&mut fast, &[1e6, 1.1e6, 1.2e6, 1.26e6].map(|rate| sample(rate, false)));
    assert!(!fast.filled);
}

#[test]
fn cwnd_is_four_segments_at_least_and_its_target_at_most() {
    let mut record = Record::default();
    record.push(at(0), Seq(1000));
    record.acknowledge_alone(at(100), Seq(1000), 1000);
    let ack = Ack { now: at(100), acked: 1000, ..Ack::new(&record) };
    let mut control = Bbr1 { filled: true, min_rtt: Some(Span::from_millis(100)), ..control() };
    control.cwnd_gain = 2.0;
    let mut w = window(1.0, 100.0);
    control.set_cwnd(&mut w, &ack);
    assert_eq!(w.cwnd, 4.0 * SMSS);
    rounds(&mut control, &[sample(RATE, false)]);
    let mut w = window(500.0, 100.0);
    control.set_cwnd(&mut w, &ack);
    assert_eq!(w.cwnd, control.target(&w));
    assert!((2.0 * BDP..2.0 * BDP + 10.0).contains(&(w.cwnd / SMSS)), "{}", w.cwnd);
}

#[test]
fn the_draining_phase_is_over_once_no_more_than_the_product_is_in_flight() {
    let mut control = Bbr1 { min_rtt: Some(Span::from_millis(100)), pacing_gain: 0.75, ..control() };
    control.cycle_began = at(1000);
    rounds(&mut control, &[sample(RATE, false)]);
    let record = Record::default();
    for (flight, over) in [(90_000, true), (150_000, false)] {
        let end = control.end_of_phase(&window(200.0, 100.0));
        assert_eq!(control.is_phase_over(at(1010), &record, flight, end), over, "{flight}");
    }
}

#[test]
fn probe_rtt_goes_on_until_a_round_is_over_too() {
    let record = Record::default();
    let ack = Ack { now: at(1000), ..Ack::new(&record) };
    for (round_start, mode) in [(false, Mode::ProbeRtt), (true, Mode::ProbeBw)] {
        let mut control = Bbr1 { mode: Mode::ProbeRtt, filled: true, round_start, ..control() };
        control.probe_rtt_until = Some(at(900));
        control.update_min_rtt(&mut window(4.0, 100.0), &ack, None);
        assert_eq!(control.mode, mode);
    }
}

#[test]
fn what_a_timestamp_tells_of_a_retransmission_may_be_the_smallest_rtt() {
    // tcp_ack_update_rtt: ca_rtt_us is that of the timestamp, in ms, where all that is acknowledged went again.
    let mut control = Bbr1 { min_rtt: Some(Span::from_nanos(100_400_000)), filled: true, ..control() };
    let record = Record::default();
    let by_timestamp = Ack { now: at(9000), rtt_sample: Some(Span::from_millis(100)), ..Ack::new(&record) };
    control.update_min_rtt(&mut window(100.0, 100.0), &by_timestamp, None);
    assert_eq!(control.min_rtt, Some(Span::from_millis(100)));
    // Ten seconds after the first it is none of ProbeRTT.
    let later = Ack { now: at(11_000), ..Ack::new(&record) };
    control.update_min_rtt(&mut window(100.0, 100.0), &later, None);
    assert_ne!(control.mode, Mode::ProbeRtt);
}

#[test]
fn an_rtt_as_small_as_the_smallest_does_not_put_probe_rtt_off() {
    // tcp_bbr.c since 5.10, "only postpone PROBE_RTT if RTT is < current min_rtt estimate".
    let mut control = Bbr1 { min_rtt: Some(Span::from_millis(100)), filled: true, ..control() };
    for (now, mode) in [(9000, Mode::Startup), (10_001, Mode::ProbeRtt)] {
        let record = reported(now, 100, 1000);
        let ack = Ack { now: at(now), acked: 1000, ..Ack::new(&record) };
        control.update_min_rtt(&mut window(100.0, 100.0), &ack, None);
        assert_eq!(control.mode, mode);
    }
}
