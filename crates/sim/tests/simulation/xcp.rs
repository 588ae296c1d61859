//! XCP: hosts and routers together.

use bentpipe_sim::RunResult;

use crate::{run_of, scenario};

const ROUTER: &str = r#"gateway = { scheme = "xcp" }"#;

/// 10 Mbit/s over a GEO satellite, both directions with room for a pipe full.
fn geo(gateway: &str, loss: f64, rest: &str) -> String {
    format!(
        r#"
        [links.satellite]
        from = "gateway"
        to = "client"
        rate = "10 Mbit/s"
        delay = "250 ms"
        queue = "500 packets"
        loss = {{ model = "packet", probability = {loss} }}
        {gateway}
        [tcp]
        receive_window = "4 MiB"
        {rest}
        "#
    )
}

/// Flows whose round trips are longer by so many ms than the satellite's 500.
fn flows(extra: &[u32], variant: &str, what: &str) -> String {
    let each = extra.iter().enumerate().map(|(n, ms)| {
        let delay = f64::from(*ms) / 2.0;
        format!(
            r#"
            [links.terrestrial{n}]
            from = "server{n}"
            to = "gateway"
            rate = "100 Mbit/s"
            delay = "{delay} ms"
            queue = "2000 packets"
            [flows.f{n}]
            from = "server{n}"
            to = "client"
            variant = "{variant}"
            {what}
            "#
        )
    });
    each.collect()
}

fn run(text: &str) -> RunResult {
    run_of(&scenario(text), 1)
}

/// Bytes a second that the flows had together, and Jain's index of them.
fn shares(result: &RunResult) -> (f64, f64) {
    let rates: Vec<f64> = result.flows.iter().map(|flow| flow.goodput_bps).collect();
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (sum, sum * sum / (rates.len() as f64 * squares))
}

/// Steady state: a minute after the first minute.
fn steady(text: &str) -> String {
    format!("duration = \"120 s\"\nwarm_up = \"60 s\"\n{text}")
}

#[test]
fn a_lone_flow_fills_the_link_and_no_queue() {
    let result = run(&steady(&geo(ROUTER, 0.0, &flows(&[60], "xcp", ""))));
    let link = &result.links[0];
    assert_eq!((result.flows[0].retransmitted_segments, link.stats.dropped_packets), (0, 0));
    assert!(link.stats.utilization > 0.99, "{}", link.stats.utilization);
    assert!(link.stats.queue_mean_packets < 5.0, "{}", link.stats.queue_mean_packets);
    // It needs no slow start: a few round trips.
    let text = geo(ROUTER, 0.0, &flows(&[60], "xcp", ""));
    let early = run(&format!("duration = \"10 s\"\nwarm_up = \"5 s\"\n{text}"));
    assert!(early.links[0].stats.utilization > 0.9, "{}", early.links[0].stats.utilization);
    assert_eq!(early.links[0].stats.dropped_packets, 0);
}

#[test]
fn flows_of_different_round_trip_times_share_alike_without_a_drop() {
    for extra in [&[20, 60, 120, 200][..], &[0, 40, 80, 160, 240, 320, 400, 460]] {
        let result = run(&steady(&geo(ROUTER, 0.0, &flows(extra, "xcp", ""))));
        let (rate, jain) = shares(&result);
        let link = &result.links[0];
        assert_eq!(link.stats.dropped_packets, 0);
        assert!(jain > 0.99, "{jain}");
        assert!(link.stats.utilization > 0.98 && rate > 9e6, "{} {rate}", link.stats.utilization);
        assert!(link.stats.queue_mean_packets < 20.0, "{}", link.stats.queue_mean_packets);
    }
}

#[test]
fn without_routers_it_is_sack_with_a_header_of_twenty_bytes() {
    let what = "bytes = \"5 MB\"";
    for loss in [0.0, 0.001] {
        let [xcp, sack] = ["xcp", "sack"].map(|variant| run(&geo("", loss, &flows(&[60], variant, what))));
        let ratio = xcp.flows[0].goodput_bps / sack.flows[0].goodput_bps;
        let expected = if loss == 0.0 { 0.97..1.0 } else { 0.8..1.25 };
        assert!(expected.contains(&ratio), "{ratio}");
    }
}

#[test]
fn routers_without_hosts_of_xcp_change_nothing() {
    let what = "bytes = \"5 MB\"";
    let [with, without] = [ROUTER, ""].map(|gateway| run(&geo(gateway, 0.0, &flows(&[60], "sack", what))));
    assert_eq!(with.flows[0].finish_s, without.flows[0].finish_s);
    assert_eq!(with.gateways[0].stats.windows_lowered, 0);
}

#[test]
fn a_header_takes_its_bytes_of_the_link() {
    let busy = |header: u32| {
        let more = format!("{}\n[tcp.xcp]\nheader = \"{header} B\"", flows(&[60], "xcp", "bytes = \"2 MB\""));
        let result = run(&geo(ROUTER, 0.0, &more));
        let flow = &result.flows[0];
        assert_eq!(flow.bytes_delivered, 2_000_000);
        flow.data_segments_sent
    };
    // 2 MB in segments of 1440 and of 1420 bytes.
    assert_eq!([20, 40].map(busy), [2_000_000_u64.div_ceil(1440), 2_000_000_u64.div_ceil(1420)]);
}

#[test]
fn p_xcp_carries_more_where_the_link_loses_packets() {
    let rate = |loss: &str| {
        let more = format!("{}\n[tcp.xcp]\nloss = \"{loss}\"", flows(&[60], "xcp", "bytes = \"50 MB\""));
        run(&geo(ROUTER, 0.001, &more)).flows[0].goodput_bps
    };
    let [keep, halve, standard] = ["keep", "halve", "standard"].map(rate);
    assert!(keep > 1.2 * halve, "{keep} {halve}");
    assert!(halve > 1.5 * standard, "{halve} {standard}");
}

#[test]
fn p_xcp_gives_the_others_what_limited_flows_leave() {
    // Six flows of which the receivers of three let 30 kB out in a round trip: 430 kbit/s at most.
    let text = |limited: &str| {
        let gateway = format!("gateway = {{ scheme = \"xcp\", limited = \"{limited}\" }}");
        let mut all = flows(&[60; 6], "xcp", "");
        for n in 0..3 {
            all += &format!("\n[flows.f{n}.tcp]\nreceive_window = \"30 kB\"\n");
        }
        steady(&geo(&gateway, 0.0, &all))
    };
    let utilization = |limited: &str| run(&text(limited)).links[0].stats.utilization;
    let [xcp, p_xcp] = ["ignore", "scale"].map(utilization);
    // Where the three take nothing back, φ + h over six equals h in proportion to the rates at 0.905 of the link.
    assert!(p_xcp > xcp + 0.005 && xcp > 0.905, "{xcp} {p_xcp}");
}
