//! Throughput where a formula gives it.

use crate::{one_flow, simulate};

fn assert_near(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let off = measured / expected - 1.0;
    assert!(
        off.abs() <= tolerance,
        "{what}: {measured:.0} bit/s, expected {expected:.0}, off by {:.2} %",
        off * 100.0
    );
}

#[test]
fn a_small_window_gives_window_over_round_trip() {
    for variant in ["tahoe", "reno", "newreno", "sack"] {
        let text = one_flow(
            "rate = \"100 Mbit/s\"\ndelay = \"250 ms\"",
            "receive_window = \"44 segments\"\ndelayed_ack = false",
            &format!("variant = \"{variant}\"\nduration = \"1200 s\""),
        );
        let text = text.replace("[links", "duration = \"1000 s\"\n[links");
        let flow = &simulate(&text, 1).flows[0];
        // Both propagation delays, and a segment and an ACK sent at 100 Mbit/s.
        let round_trip = 0.5 + (1500.0 + 40.0) * 8.0 / 100e6;
        assert_near(variant, flow.goodput_bps, 44.0 * 1460.0 * 8.0 / round_trip, 0.01);
        let rtt = flow.rtt_mean_s.unwrap_or_default();
        assert!((rtt - round_trip).abs() < 1e-3, "{rtt} s");
    }
}

#[test]
fn a_narrow_link_gives_its_rate_less_the_headers() {
    for (timestamps, headers) in [(false, 40.0), (true, 52.0)] {
        let text = one_flow(
            "rate = \"2 Mbit/s\"\nefficiency = 0.8\ndelay = \"20 ms\"",
            &format!("receive_window = \"200 kB\"\ntimestamps = {timestamps}"),
            "bytes = \"60 MB\"",
        );
        let result = simulate(&text, 1);
        let payload = 1500.0 - headers;
        assert_near("goodput", result.flows[0].goodput_bps, 1.6e6 * payload / 1500.0, 0.005);
        assert!(result.links[0].stats.utilization > 0.995);
        // 200 kB are under way, 40 ms of them on the way and the rest in the queue.
        let waiting = 200e3 * 8.0 / (1.6e6 * payload / 1500.0) - 0.04;
        let delay = result.links[0].stats.queueing_delay_mean_s;
        assert!((delay / waiting - 1.0).abs() < 0.03, "{delay} s, expected {waiting} s");
    }
}

#[test]
fn the_first_byte_comes_behind_the_handshake_and_90_percent_at_the_rate_of_the_link() {
    let link = "rate = \"1 Mbit/s\"\ndelay = \"1 ms\"";
    let of_size = one_flow(link, "receive_window = \"1 MB\"", "start = \"2 s\"\nbytes = \"1 MB\"");
    let flow = &simulate(&of_size, 1).flows[0];
    let [first, most] = [flow.first_byte_s, flow.bytes_90_s].map(Option::unwrap);
    // SYN, SYN-ACK and a segment; a byte takes 8 us.
    assert!((first - (0.003 + 1620.0 * 8e-6)).abs() < 2e-3, "{first} s");
    let behind = (0.9e6 - 1460.0) / 1460.0 * 1500.0 * 8e-6;
    assert!((most - first - behind).abs() <= 0.012, "{most} s");
    let endless = one_flow(link, "receive_window = \"1 MB\"", "duration = \"2 s\"");
    let flow = &simulate(&endless, 1).flows[0];
    assert!(flow.first_byte_s.is_some() && flow.bytes_90_s.is_none());
}

#[test]
fn the_round_trip_of_a_byte_is_propagation_and_the_wait_of_its_packet_whatever_the_samples() {
    // The quick rounds of the start give most of the samples where there is one a round trip, and few of the bytes.
    for (timestamps, headers) in [(false, 40.0), (true, 52.0)] {
        let text = one_flow(
            "rate = \"10 Mbit/s\"\ndelay = \"250 ms\"",
            &format!("receive_window = \"8 MB\"\ntimestamps = {timestamps}\ndelayed_ack = false"),
            "bytes = \"40 MB\"\nvariant = \"sack\"",
        );
        let result = simulate(&text, 1);
        let (flow, link) = (&result.flows[0], &result.links[0].stats);
        let found = flow.rtt_mean_s.unwrap_or_default();
        let expected = 0.5 + (1500.0 + headers) * 8.0 / 10e6 + link.queueing_delay_mean_s;
        assert!(link.queueing_delay_mean_s > 2.0, "{} s", link.queueing_delay_mean_s);
        assert!((found / expected - 1.0).abs() < 0.05, "{found} s, expected {expected} s");
        // 8 MB are under way from the end of the start on.
        let whole = 8e6 * 8.0 / (10e6 * (1500.0 - headers) / 1500.0);
        for rtt in [flow.rtt_p50_s, flow.rtt_p95_s, flow.rtt_p99_s].map(Option::unwrap_or_default) {
            assert!((rtt / whole - 1.0).abs() < 0.02, "{rtt} s, expected {whole} s");
        }
    }
}

/// Mathis, Semke, Mahdavi and Ott (1997): one loss for every 1/p packets, window W at the loss. From W/2 the window grows
/// by a segment a round trip back to W: W/2 round trips of 3/4 W segments on average are 3/8 W² = 1/p packets, so
/// W = sqrt(8/(3p)) and the rate is 3/4 W a round trip, MSS/RTT sqrt(3/2) / sqrt(p).
#[test]
fn random_loss_gives_what_mathis_gives() {
    for (variant, probability, tolerance) in
        [("sack", 1e-3, 0.15), ("sack", 2e-4, 0.15), ("newreno", 2e-4, 0.15)]
    {
        let text = one_flow(
            &format!(
                "rate = \"1 Gbit/s\"\ndelay = \"50 ms\"\nloss = {{ model = \"packet\", probability = {probability} }}"
            ),
            "receive_window = \"8 MB\"\ndelayed_ack = false\ngrowth = \"per-ack\"\ninitial_ssthresh = \"40 segments\"",
            &format!("variant = \"{variant}\""),
        );
        let text = text.replace("[links", "duration = \"2000 s\"\n[links");
        let goodput = (1..=3).map(|seed| simulate(&text, seed).flows[0].goodput_bps).sum::<f64>() / 3.0;
        let expected = 1460.0 * 8.0 / 0.1 * f64::sqrt(1.5 / probability);
        assert_near(&format!("{variant} at {probability}"), goodput, expected, tolerance);
    }
}

#[test]
fn a_buffer_of_one_bandwidth_delay_product_keeps_the_link_busy() {
    for variant in ["reno", "newreno", "sack"] {
        // 10 Mbit/s for 100 ms: 83 packets of 1500 bytes. Halved, a window of twice that still fills the link.
        let text = one_flow(
            "rate = \"10 Mbit/s\"\ndelay = \"50 ms\"\nqueue = \"84 packets\"",
            "receive_window = \"4 MB\"\ninitial_ssthresh = \"80 segments\"",
            &format!("variant = \"{variant}\""),
        );
        let text = text.replace("[links", "duration = \"600 s\"\n[links");
        let result = simulate(&text, 1);
        let link = &result.links[0].stats;
        assert!(link.dropped_packets > 5, "{variant}: {} drops", link.dropped_packets);
        assert!(link.utilization >= 0.99, "{variant}: {:.2} %", link.utilization * 100.0);
        assert_eq!(link.queue_max_packets, 84);
    }
}

#[test]
fn equal_flows_share_a_link_equally_over_time() {
    let text = "title = \"test\"\nduration = \"1000 s\"\n\
        [links.access]\nfrom = \"s{i}\"\nto = \"g\"\ncount = 4\nrate = \"100 Mbit/s\"\ndelay = \"10 ms\"\n\
        [links.narrow]\nfrom = \"g\"\nto = \"c\"\nrate = \"8 Mbit/s\"\ndelay = \"40 ms\"\nqueue = \"60 packets\"\n\
        [tcp]\nreceive_window = \"1 MB\"\n\
        [flows.f]\nfrom = \"s{i}\"\nto = \"c\"\ncount = 4\nstart_step = \"70 ms\"\nvariant = \"sack\"\n";
    let result = simulate(text, 3);
    assert!(result.jain > Some(0.98), "{:?}", result.jain);
    let total: f64 = result.flows.iter().map(|flow| flow.goodput_bps).sum();
    assert_near("total", total, 8e6 * 1460.0 / 1500.0, 0.02);
}

// xfwa, section IV-A: a steady stream over the round trip is a possible solution [19]
#[test]
fn what_is_paced_waits_nowhere_where_the_window_is_smaller_than_the_pipe() {
    // 96 segments a round trip of 0.5 s are 2.3 Mbit/s; a burst of slow start or of a window waits before the 5 Mbit/s.
    let queue = |pacing: &str| {
        let text = one_flow(
            "rate = \"5 Mbit/s\"\ndelay = \"250 ms\"",
            &format!("receive_window = \"96 segments\"\npacing = {pacing}"),
            "bytes = \"100 MB\"",
        );
        let result = simulate(&text, 1);
        let payload = 96.0 * 1460.0 * 8.0;
        assert_near(pacing, result.flows[0].goodput_bps, payload / 0.5025, 0.05);
        result.links[0].stats.queue_max_packets
    };
    let [unpaced, even, linux] = ["false", "\"even\"", "\"linux\""].map(queue);
    assert!(unpaced > 10 && even <= 1 && linux <= 2, "{unpaced}, {even} and {linux} packets");
}
