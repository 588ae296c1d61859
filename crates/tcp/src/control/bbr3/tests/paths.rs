//! Cases of paths: aggregation, tiny products, rates that change, policers.

use super::*;

#[test]
fn achieving_expected_startup_bandwidth_on_a_link_with_aggregation() {
    let mut path = path();
    path.together = Some(ms(50.0));
    let (mut extra, mut window) = (0.0_f64, 0.0_f64);
    assert!(path.runs_until(10.0, |path| {
        if path.control().state == State::Startup {
            extra = path.control().extra.get();
            window = window.max(path.cwnd());
        }
        path.control().state != State::Startup
    }));
    // What comes together is 50 ms of the rate, less what was expected meanwhile.
    assert!((3e4..7e4).contains(&extra), "{extra}");
    assert!(window > 2.0 * BDP, "{window}");
    // What goes out in the middle of a batch has the rest of it in its sample of 150 ms or so, and no more.
    let rate = path.control().max_bw.get() / RATE;
    assert!((0.99..1.34).contains(&rate), "{rate}");
}

#[test]
fn achieving_expected_cruise_bandwidth_on_a_link_with_aggregation() {
    let mut path = path();
    until(&mut path, State::Cruise);
    path.together = Some(ms(250.0));
    path.run(3.0);
    let extra = path.control().extra.get();
    // Twice the product is 200 ms of the rate.
    let goodput = path.run(10.0) / RATE;
    assert!(goodput > 0.9, "{goodput}");
    let budget = 2.0 * path.control().bdp(1.0) + path.control().extra.get();
    assert!((path.cwnd() / budget - 1.0).abs() < 0.02, "{} and {budget}", path.cwnd());
    // The largest of ten rounds counts.
    path.together = None;
    let rounds = path.control().rounds;
    assert!(path.runs_until(10.0, |path| path.control().extra.get() < 0.1 * extra));
    let kept = path.control().rounds - rounds;
    assert!((9..40).contains(&kept), "{kept} rounds");
}

#[test]
fn correctly_managing_sub_packet_bdps() {
    // 10 kB/s and 20 ms: a fifth of a segment.
    let mut path: Path<Bbr3> = Path::new(Bbr3::new(), 1e4, 20.0);
    until(&mut path, State::Cruise);
    let goodput = path.run(20.0);
    assert!(path.cwnd() >= 4.0 * SMSS);
    assert!(goodput > 9.5e3, "{goodput}");
    let rate = path.sender.window().pacing_rate;
    assert!((0.8e4..1.4e4).contains(&rate), "{rate}");
}

#[test]
fn increasing_bandwidth_10x_and_ensuring_full_bandwidth_is_reached() {
    let mut path = path();
    // Losses tell what the path holds, and all of its volume is found anew.
    path.buffer = 5e4;
    assert!(path.runs_until(30.0, |path| {
        path.control().inflight_longterm.is_finite() && path.control().state == State::Cruise
    }));
    path.set_rate(10.0 * RATE);
    path.buffer = f64::INFINITY;
    let (mut steps, mut rounds, mut known): (Vec<f64>, u32, u64) = (Vec::new(), 0, 0);
    assert!(path.runs_until(20.0, |path| {
        let control = path.control();
        if control.state == State::Up && control.rounds != known {
            known = control.rounds;
            rounds += 1;
            steps.push((path.cwnd() / control.probe_up_acked_per_inc).round());
        }
        control.max_bw.get() > 9.0 * RATE
    }));
    // Segments by which the bound grows, from the first round that fills it.
    let doubled: Vec<f64> = steps.iter().copied().skip_while(|step| *step == 1.0).take(7).collect();
    assert_eq!(doubled, [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0], "{steps:?}");
    // 2 to the 10th segments are to be found.
    assert!(rounds <= 2 * 10, "{rounds} rounds of probing");
}

#[test]
fn decreasing_bandwidth_10x_and_ensuring_max_bandwidth_adapts_down() {
    let mut path: Path<Bbr3> = Path::new(Bbr3::new(), 10.0 * RATE, RTT);
    path.buffer = 2e5;
    // The cycle before is over too.
    assert!(path.runs_until(10.0, |path| {
        path.control().state == State::Cruise && path.control().ack_phase == AckPhase::Init
    }));
    path.set_rate(RATE);
    let cycles = path.control().cycles;
    assert!(path.runs_until(1.0, |path| path.control().bw_shortterm < 8.0 * RATE), "losses tell first");
    assert!(path.control().max_bw.get() > 9.0 * RATE);
    assert!(path.runs_until(30.0, |path| path.control().max_bw.get() < 1.1 * RATE));
    assert_eq!(path.control().cycles - cycles, 2, "MaxBwFilterLen");
}

#[test]
fn handling_token_bucket_policers() {
    let mut path = path();
    until(&mut path, State::Cruise);
    let (rate, burst) = (5e5, 1e5);
    path.policer = Some(Policer { rate, burst, tokens: burst, filled: path.now });
    assert!(path.runs_until(10.0, |path| {
        path.control().bw_shortterm.is_finite() && path.control().inflight_shortterm.is_finite()
    }));
    path.run(20.0);
    let (sent, dropped) = (path.sent, path.dropped);
    let goodput = path.run(30.0);
    let share = (path.dropped - dropped) as f64 / (path.sent - sent) as f64;
    assert!(goodput > 0.7 * rate && share < 0.1, "{goodput}, {share} lost");
}
