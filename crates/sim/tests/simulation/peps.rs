//! Snoop, ACK spoofing and split connections before a link that loses packets, and what breaks them.

use bentpipe_path::gateway::GatewayStats;
use bentpipe_sim::{RunResult, scenario};
use bentpipe_tcp::Catalogue;
use proptest::prelude::*;

use crate::simulate;

const SNOOP: &str = r#"{ scheme = "snoop" }"#;
const SPOOF: &str = r#"{ scheme = "spoof" }"#;
const XFWA: &str = r#"{ scheme = "xfwa", rtt = "told", told = "520 ms" }"#;

fn guarded(gateway: &str) -> String {
    if gateway.is_empty() { String::new() } else { format!("gateway = {gateway}\n") }
}

/// A download over a GEO satellite, before which `gateway` stands.
fn geo(gateway: &str, per: f64, flow: &str) -> String {
    format!(
        "extends = \"preset:geo\"\n[links.satellite]\nloss = {{ model = \"packet\", probability = {per} }}\n{}\
         [tcp]\nreceive_window = \"256 KiB\"\n[flows.f]\nfrom = \"server\"\nto = \"client\"\nbytes = \"4 MB\"\n{flow}\n",
        guarded(gateway)
    )
}

/// A download over a GEO satellite without loss, then over a short link that loses, before which `gateway` stands.
fn access(gateway: &str, flow: &str) -> String {
    format!(
        "[links.satellite]\nfrom = \"server\"\nto = \"gateway\"\nrate = \"10 Mbit/s\"\ndelay = \"250 ms\"\n\
         [links.access]\nfrom = \"gateway\"\nto = \"client\"\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"200 packets\"\n\
         loss = {{ model = \"packet\", probability = 0.005 }}\n{}\
         [tcp]\nreceive_window = \"512 KiB\"\n[flows.f]\nfrom = \"server\"\nto = \"client\"\nbytes = \"4 MB\"\n{flow}\n",
        guarded(gateway)
    )
}

fn stats(result: &RunResult) -> GatewayStats {
    result.gateways[0].stats
}

/// Losses of a short link are repaired within its own round trip, and the sender hears of none.
#[test]
fn behind_an_agent_the_losses_of_a_short_link_cost_the_sender_nothing() {
    for variant in ["newreno", "cubic"] {
        let variant = format!("variant = \"{variant}\"");
        let bare = simulate(&access("", &variant), 1);
        for gateway in [SNOOP, SPOOF] {
            let result = simulate(&access(gateway, &variant), 1);
            let flow = &result.flows[0];
            assert_eq!((flow.bytes_delivered, flow.retransmitted_segments), (4_000_000, 0), "{gateway}");
            assert!(flow.goodput_bps > 2.5 * bare.flows[0].goodput_bps, "{gateway}: {flow:?}");
            let lost = result.links[2].stats.corrupted_packets;
            let again = stats(&result).local_retransmissions;
            assert!(again >= lost && again <= 2 * lost, "{gateway}: {again} for {lost}");
        }
    }
}

/// Over the long link itself, what counts is who acknowledges: the sender's round trip is that to the gateway.
#[test]
fn local_acknowledgments_hide_the_satellite_and_never_more_than_the_buffer() {
    let bare = simulate(&geo("", 1e-3, "variant = \"newreno\""), 1);
    let result = simulate(&geo(SPOOF, 1e-3, "variant = \"newreno\""), 1);
    let flow = &result.flows[0];
    assert!(flow.goodput_bps > 1.5 * bare.flows[0].goodput_bps, "{flow:?}");
    let stats = stats(&result);
    assert!(stats.cached_max_bytes <= 1 << 20 && stats.acknowledged_ahead_max_bytes <= 1 << 19, "{stats:?}");
    assert_eq!((stats.acknowledged_ahead_bytes, flow.bytes_delivered), (0, 4_000_000));
}

/// Nobody reads what is encrypted: the run is that without a gateway, to the last digit, whatever stands before the link.
#[test]
fn what_is_encrypted_passes_every_gateway_unread() {
    let bare = simulate(&geo("", 1e-3, ""), 1);
    for gateway in [SNOOP, SPOOF, XFWA] {
        let result = simulate(&geo(gateway, 1e-3, "ipsec = true"), 1);
        assert_eq!(result.gateways.len(), 1);
        let GatewayStats { segments_forward, segments_backward, acks_made, cached_max_bytes, .. } =
            stats(&result);
        assert_eq!((segments_forward, segments_backward, acks_made, cached_max_bytes), (0, 0, 0, 0));
        assert_eq!(result.flows[0].finish_s, bare.flows[0].finish_s, "{gateway}");
        // The same flow in clear is not left alone.
        let clear = simulate(&geo(gateway, 1e-3, ""), 1);
        assert!(stats(&clear).segments_forward > 2000);
    }
}

/// Data over the satellite, acknowledgments over a line on the ground.
fn asymmetric(gateway: &str) -> String {
    format!(
        "[links.satellite]\nfrom = \"server\"\nto = \"client\"\nrate = \"2 Mbit/s\"\ndelay = \"250 ms\"\nqueue = \"200 packets\"\n\
         loss = {{ model = \"packet\", probability = 0.001 }}\n{}reverse = {{ delay = \"400 ms\" }}\n\
         [links.line]\nfrom = \"client\"\nto = \"server\"\nrate = \"100 kbit/s\"\ndelay = \"20 ms\"\nreverse = {{ delay = \"900 ms\" }}\n\
         [tcp]\nreceive_window = \"256 KiB\"\n[flows.f]\nfrom = \"server\"\nto = \"client\"\nbytes = \"4 MB\"\n",
        guarded(gateway)
    )
}

/// Without acknowledgments nothing can be learnt of what came: no agent acts, and nothing is acknowledged that nobody would repair.
#[test]
fn where_acknowledgments_come_another_way_no_gateway_does_anything() {
    let bare = simulate(&asymmetric(""), 1);
    assert!(bare.links[1].stats.delivered_packets == 0 && bare.links[2].stats.delivered_packets > 1000);
    for gateway in [SNOOP, SPOOF, XFWA] {
        let result = simulate(&asymmetric(gateway), 1);
        let stats = stats(&result);
        assert!(stats.segments_forward > 2000 && stats.segments_backward == 0, "{stats:?}");
        assert_eq!((stats.acks_made, stats.local_retransmissions, stats.windows_lowered), (0, 0, 0));
        assert_eq!(result.flows[0].finish_s, bare.flows[0].finish_s, "{gateway}");
    }
}

/// The acknowledgments leave the agent in the middle of the transfer. Snoop's flow goes on by itself. What a spoofing agent has
/// acknowledged and the satellite lost has nobody else to bring it.
#[test]
fn a_handover_away_from_an_agent_loses_what_only_it_had() {
    let text = |gateway: &str, loss: &str| {
        format!(
            "duration = \"300 s\"\n[links.near]\nfrom = \"server\"\nto = \"hub\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
             [links.satellite]\nfrom = \"hub\"\nto = \"client\"\nrate = \"2 Mbit/s\"\ndelay = \"250 ms\"\nqueue = \"100 packets\"\n{}{loss}\n\
             [links.other]\nfrom = \"server\"\nto = \"client\"\nrate = \"2 Mbit/s\"\ndelay = \"280 ms\"\n\
             [tcp]\nreceive_window = \"128 KiB\"\n[flows.f]\nfrom = \"server\"\nto = \"client\"\nbytes = \"4 MB\"\nvia = [\"satellite\"]\n\
             [handovers.away]\nflows = [\"f\"]\nat = \"6 s\"\nvia = [\"other\"]\nin_flight = \"deliver\"\n",
            guarded(gateway)
        )
    };
    // What the satellite still has at the handover is lost.
    let outage = "schedule = [{ at = \"6 s\", outage = \"400 s\", waiting = \"lose\" }]";
    for gateway in ["", SNOOP] {
        assert_eq!(simulate(&text(gateway, outage), 1).flows[0].bytes_delivered, 4_000_000, "{gateway}");
    }
    let result = simulate(&text(SPOOF, outage), 1);
    let (flow, stats) = (&result.flows[0], stats(&result));
    assert!(flow.finish_s.is_none() && stats.acknowledged_ahead_bytes > 100_000, "{stats:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Whatever is lost, on both sides of the agent and in both directions: all bytes come, in order, and no more is kept than may be.
    #[test]
    fn an_agent_loses_nothing_and_is_bounded(
        (near, far, back, near_back) in (0.0..0.08, 0.0..0.15, 0.0..0.3, 0.0..0.2),
        bytes in 1_u64..400_000,
        (near_ms, far_ms) in (0_u64..200, 0_u64..300),
        (window, cache) in (4000_u64..400_000, 4000_u64..400_000),
        queue in 2_u32..60,
        spoofs in prop::bool::ANY,
        (timestamps, sack, scaling, ecn) in (prop::bool::ANY, prop::bool::ANY, prop::bool::ANY, prop::bool::ANY),
        variant in prop::sample::select(
            scenario::variants(&Catalogue::default()).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        ),
        overtakes in prop::bool::ANY,
        seed in 0_u64..1000,
    ) {
        let window = window.min(if scaling { u64::MAX } else { 65_535 });
        let (scheme, key) = if spoofs { ("spoof", "buffer") } else { ("snoop", "cache") };
        let random = |share: f64| format!("{{ model = \"packet\", probability = {share} }}");
        let overtake = if overtakes { "schedule = [{ at = \"2 s\", delay = \"10 ms\", overtake = true }]" } else { "" };
        let text = format!(
            "duration = \"20000 s\"\n[links.near]\nfrom = \"a\"\nto = \"r\"\nrate = \"5 Mbit/s\"\ndelay = \"{near_ms} ms\"\n\
             loss = {}\nreverse = {{ loss = {} }}\n{overtake}\n[links.far]\nfrom = \"r\"\nto = \"b\"\nrate = \"2 Mbit/s\"\ndelay = \"{far_ms} ms\"\n\
             queue = {{ scheme = \"red\", limit = \"{queue} packets\", min = \"1 packets\", max = \"{queue} packets\", ecn = true }}\n\
             loss = {}\nreverse = {{ loss = {}, queue = \"unlimited\" }}\n{overtake}\ngateway = {{ scheme = \"{scheme}\", {key} = \"{cache} B\" }}\n\
             [tcp]\nreceive_window = \"{window} B\"\nwindow_scaling = {scaling}\ntimestamps = {timestamps}\nsack = {sack}\necn = {ecn}\n\
             max_retransmissions = 255\nrto = {{ max = \"3 s\" }}\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\nbytes = \"{bytes} B\"\nvariant = \"{variant}\"\n",
            random(near), random(near_back), random(far), random(back)
        );
        let result = simulate(&text, seed);
        let (flow, stats) = (&result.flows[0], stats(&result));
        prop_assert_eq!((flow.bytes_delivered, &flow.error), (bytes, &None), "{}", text);
        prop_assert!(flow.finish_s.is_some(), "{}", text);
        prop_assert!(stats.cached_max_bytes <= cache, "{stats:?}\n{text}");
        prop_assert!(stats.acknowledged_ahead_max_bytes <= cache / 2, "{stats:?}\n{text}");
        prop_assert_eq!(stats.acknowledged_ahead_bytes, 0, "{:?}\n{}", stats, text);
    }
}
