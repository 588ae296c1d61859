//! ACK spoofing where it must not harm: windows that close, outages, queues that are managed, many users.

use bentpipe_path::gateway::GatewayStats;
use bentpipe_sim::RunResult;

use crate::simulate;

/// Flows over a short link and then a GEO satellite, before which a spoofing agent stands or none.
fn geo(spoofs: bool, satellite: &str, flows: &str) -> RunResult {
    let gateway = if spoofs { "gateway = { scheme = \"spoof\" }" } else { "" };
    simulate(
        &format!(
            "duration = \"300 s\"\n[links.near]\nfrom = \"server\"\nto = \"hub\"\nrate = \"100 Mbit/s\"\ndelay = \"5 ms\"\n\
             [links.satellite]\nfrom = \"hub\"\nto = \"client\"\nrate = \"10 Mbit/s\"\ndelay = \"250 ms\"\n{satellite}\n{gateway}\n{flows}"
        ),
        1,
    )
}

fn download(window: &str) -> String {
    format!(
        "[tcp]\nreceive_window = \"{window}\"\n[flows.f]\nfrom = \"server\"\nto = \"client\"\nbytes = \"10 MB\"\n"
    )
}

fn stats(result: &RunResult) -> GatewayStats {
    result.gateways[0].stats
}

/// With the agent the last transfer ends no later than without it, and what it has acknowledged has come.
fn no_slower(bare: &RunResult, spoofed: &RunResult) {
    let last = |result: &RunResult| {
        result.flows.iter().map(|flow| flow.finish_s.unwrap_or(f64::INFINITY)).fold(0.0, f64::max)
    };
    let (bare, with) = (last(bare), last(spoofed));
    assert!(with <= bare, "{with} s with, {bare} s without: {:?}", stats(spoofed));
    let stats = stats(spoofed);
    assert_eq!(stats.acknowledged_ahead_bytes, 0);
    assert!(stats.acknowledged_ahead_max_bytes <= 1 << 19, "{stats:?}");
}

/// The client of a relay is away for 20 s: the relay fills up, and its window closes.
#[test]
fn a_window_that_stays_closed_costs_nothing() {
    let flows = "[links.access]\nfrom = \"client\"\nto = \"user\"\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\n\
                 schedule = [{ at = \"5 s\", outage = \"20 s\" }]\n\
                 [tcp]\nreceive_window = \"512 KiB\"\n[flows.ground]\nfrom = \"server\"\nto = \"client\"\nbytes = \"10 MB\"\n\
                 [flows.relayed]\nfrom = \"client\"\nto = \"user\"\napp = \"relay\"\nupstream = \"ground\"\nbuffer = \"256 KiB\"\n";
    let [bare, spoofed] = [false, true].map(|spoofs| geo(spoofs, "queue = \"500 packets\"", flows));
    no_slower(&bare, &spoofed);
    assert_eq!(stats(&spoofed).local_retransmissions, 0);
}

/// An outage that only delays: the timer expires, for nothing.
#[test]
fn an_outage_that_loses_nothing_brings_one_packet_again() {
    let satellite = "queue = \"500 packets\"\nschedule = [{ at = \"4 s\", outage = \"1 s\" }]";
    let [bare, spoofed] = [false, true].map(|spoofs| geo(spoofs, satellite, &download("512 KiB")));
    no_slower(&bare, &spoofed);
    assert!(stats(&spoofed).local_retransmissions <= 1, "{:?}", stats(&spoofed));
}

/// All that is sent in 500 ms is lost: each packet goes again once, and one more time what the timer sent into the outage.
#[test]
fn a_burst_of_losses_is_repaired_in_few_round_trips() {
    let loss = |share: &str| format!("loss = {{ model = \"packet\", probability = {share} }}");
    let satellite = format!(
        "queue = \"500 packets\"\n{}\nschedule = [{{ at = \"4 s\", {} }}, {{ at = \"4.5 s\", {} }}]",
        loss("0.0"),
        loss("1.0"),
        loss("0.0")
    );
    for variant in ["cubic", "newreno"] {
        let flow = format!("{}variant = \"{variant}\"\n", download("512 KiB"));
        let [bare, spoofed] = [false, true].map(|spoofs| geo(spoofs, &satellite, &flow));
        no_slower(&bare, &spoofed);
        let lost = spoofed.links[2].stats.corrupted_packets;
        assert!(
            lost > 100 && stats(&spoofed).local_retransmissions <= lost + 10,
            "{lost}: {:?}",
            stats(&spoofed)
        );
    }
}

/// Before a queue that is managed the agent gives no cause for a drop.
#[test]
fn a_managed_queue_is_not_flooded() {
    for queue in [
        "{ scheme = \"red\", limit = \"500 packets\", min = \"50 packets\", max = \"200 packets\" }",
        "{ scheme = \"codel\", limit = \"500 packets\" }",
        "{ scheme = \"fq-codel\", limit = \"500 packets\" }",
    ] {
        let satellite = format!("queue = {queue}");
        let [bare, spoofed] = [false, true].map(|spoofs| geo(spoofs, &satellite, &download("2 MiB")));
        no_slower(&bare, &spoofed);
        assert_eq!(stats(&spoofed).local_retransmissions, 0, "{queue}");
    }
}

/// Ten users over a queue in packets, in bytes, or a round robin: nothing is dropped, nothing is sent again, and they share.
#[test]
fn many_users_share_a_link_behind_an_agent() {
    let flows: String = (0..10)
        .map(|n| {
            let start = f64::from(n) * 0.1;
            format!(
                "[flows.f{n}]\nfrom = \"server\"\nto = \"client\"\nbytes = \"1 MB\"\nstart = \"{start} s\"\n"
            )
        })
        .collect();
    let flows = format!("[tcp]\nreceive_window = \"4 MiB\"\n{flows}");
    for queue in ["\"100 packets\"", "\"150 kB\"", "{ scheme = \"drr\", limit = \"100 packets\" }"] {
        let satellite = format!("queue = {queue}");
        let [bare, spoofed] = [false, true].map(|spoofs| geo(spoofs, &satellite, &flows));
        no_slower(&bare, &spoofed);
        assert_eq!((stats(&spoofed).local_retransmissions, spoofed.links[2].stats.dropped_packets), (0, 0));
        let rates = spoofed.flows.iter().map(|flow| flow.goodput_bps);
        let (least, most) =
            rates.fold((f64::INFINITY, 0.0_f64), |(least, most), rate| (least.min(rate), most.max(rate)));
        assert!(most < 2.0 * least, "{queue}: {least} to {most}");
    }
}

/// Readers of web pages beside downloads: as many pages as without the agent, and the downloads share.
#[test]
fn readers_of_pages_beside_downloads_are_served() {
    let mut flows: String = (0..30)
        .map(|n| {
            let start = f64::from(n) * 0.2;
            format!(
                "[flows.w{n}]\nfrom = \"server\"\nto = \"client\"\napp = \"http\"\nstart = \"{start} s\"\n"
            )
        })
        .collect();
    flows.push_str("[tcp]\nreceive_window = \"256 KiB\"\n[flows.one]\nfrom = \"server\"\nto = \"client\"\n[flows.two]\nfrom = \"server\"\nto = \"client\"\nstart = \"3 s\"\n");
    let [bare, spoofed] = [false, true].map(|spoofs| geo(spoofs, "queue = \"100 packets\"", &flows));
    let pages =
        |result: &RunResult| result.users.pages.iter().filter(|page| page.response_s.is_some()).count();
    assert!(pages(&spoofed) >= pages(&bare) && pages(&bare) > 30, "{} of {}", pages(&spoofed), pages(&bare));
    assert_eq!((stats(&spoofed).local_retransmissions, spoofed.links[2].stats.dropped_packets), (0, 0));
    let rate = |name: &str| {
        let flow = spoofed.flows.iter().find(|flow| flow.name == name);
        flow.map_or(0.0, |flow| flow.goodput_bps)
    };
    let (one, two) = (rate("one"), rate("two"));
    assert!(one < 2.0 * two && two < 2.0 * one && two > 1e6, "{one} {two}");
}
