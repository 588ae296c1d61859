//! Active queues and ECN in whole runs.

use bentpipe_sim::{FlowResult, RunResult, scenario};

use crate::{one_flow, simulate};

/// A 4 Mbit/s link whose bandwidth-delay product is 21 full packets, for a window that fills it three times.
fn run(queue: &str, ecn: bool, flow: &str) -> RunResult {
    let link = format!("rate = \"4 Mbit/s\"\ndelay = \"30 ms\"\nqueue = {queue}");
    simulate(&one_flow(&link, &format!("receive_window = \"90 kB\"\necn = {ecn}"), flow), 1)
}

fn red(ecn: bool) -> String {
    format!(
        "{{ scheme = \"red\", limit = \"100 packets\", min = \"5 packets\", max = \"15 packets\", ecn = {ecn} }}"
    )
}

fn only(result: &RunResult) -> &FlowResult {
    &result.flows[0]
}

#[test]
fn with_ecn_nothing_is_lost_where_red_loses_without() {
    for variant in ["tahoe", "reno", "newreno", "sack", "adalr-sack", "adalr+afc", "cubic"] {
        let flow = format!("variant = \"{variant}\"\nbytes = \"12 MB\"");
        let dropping = run(&red(true), false, &flow);
        let queue = &dropping.links[0].stats;
        assert!(queue.early_dropped_packets > 5 && queue.marked_packets == 0, "{variant} {queue:?}");
        assert!(
            only(&dropping).retransmitted_segments > 5 && only(&dropping).ecn_reductions == Some(0),
            "{variant}"
        );

        let marking = run(&red(true), true, &flow);
        let queue = &marking.links[0].stats;
        assert!(queue.dropped_packets == 0 && queue.marked_packets > 5, "{variant} {queue:?}");
        let flow = only(&marking);
        assert_eq!(
            (flow.retransmitted_segments, flow.timeouts, flow.recoveries),
            (0, Some(0), Some(0)),
            "{variant}"
        );
        assert!(
            flow.ecn_reductions > Some(5) && flow.ecn_reductions <= Some(queue.marked_packets),
            "{variant}"
        );
        assert_eq!(
            (flow.losses.cuts, flow.losses.needless_cuts),
            (flow.ecn_reductions, Some(0)),
            "{variant}"
        );
        assert_eq!(flow.bytes_delivered, 12_000_000);
    }
}

#[test]
fn a_queue_that_may_not_mark_drops_and_one_end_alone_has_no_ecn() {
    let flow = "bytes = \"5 MB\"";
    assert_eq!(only(&run(&red(false), true, flow)).ecn_reductions, Some(0));
    let alone = run(&red(true), true, "bytes = \"5 MB\"\nreceiver_tcp = { ecn = false }");
    let neither = run(&red(true), false, flow);
    let numbers = |result: &RunResult| {
        let flow = only(result);
        (flow.finish_s, flow.retransmitted_segments, flow.ecn_reductions, result.links[0].stats)
    };
    assert_eq!(numbers(&alone), numbers(&neither));
}

#[test]
fn rem_holds_the_queue_at_its_target_and_the_link_full() {
    let rem =
        "{ scheme = \"rem\", limit = \"200 packets\", target = \"20 packets\", gamma = 0.005, ecn = true }";
    // Twenty flows that stay.
    let text = format!(
        "title = \"test\"\nduration = \"200 s\"\n[links.path]\nfrom = \"a\"\nto = \"b\"\nrate = \"20 Mbit/s\"\n\
         delay = \"20 ms\"\nqueue = {rem}\n[tcp]\necn = true\nreceive_window = \"500 kB\"\n\
         [flows.f]\ncount = 20\nfrom = \"a\"\nto = \"b\"\n"
    );
    let result = simulate(&text, 1);
    let queue = &result.links[0].stats;
    assert!((queue.queue_mean_packets - 20.0).abs() < 4.0, "{queue:?}");
    assert!(queue.utilization > 0.97, "{queue:?}");
    assert!(queue.marked_packets > 1000 && queue.dropped_packets * 100 < queue.marked_packets, "{queue:?}");
}

#[test]
fn a_scheme_replaces_the_whole_queue_below_it() {
    let base = one_flow(
        &format!("rate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nqueue = {}", red(true)),
        "",
        "bytes = \"1 MB\"",
    );
    let set = |value: &str| {
        let overrides = [("links.path.queue".to_owned(), value.to_owned())];
        scenario::parse_str("test.toml", &base, &overrides)
            .map(|scenario| scenario.links[0].forward.link.queue.room().0)
    };
    assert_eq!(set("{ scheme = \"rem\", limit = \"70 packets\" }"), Ok(70));
    assert_eq!(set("{ limit = \"80 packets\" }"), Ok(80));
    assert_eq!(set("9 packets"), Ok(9));
    let error = set("{ scheme = \"red\", limit = \"70 packets\" }").unwrap_err().to_string();
    assert!(error.contains("links.path.queue.min"), "{error}");
}

/// Four downloads that fill a queue far too long, and what a gamer beside them sends.
fn bloated(queue: &str, tcp: &str, class: u8) -> RunResult {
    let text = format!(
        "title = \"test\"\nduration = \"60 s\"\n[links.path]\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mbit/s\"\n\
         delay = \"20 ms\"\nqueue = {queue}\n[tcp]\nreceive_window = \"1 MB\"\n{tcp}\n\
         [flows.bulk]\ncount = 4\nfrom = \"a\"\nto = \"b\"\n\
         [flows.game]\nfrom = \"a\"\nto = \"b\"\napp = \"cbr\"\nrate = \"64 kbit/s\"\npacket = \"160 B\"\nclass = {class}\n"
    );
    simulate(&text, 1)
}

#[test]
fn codel_keeps_a_bloated_queue_short_and_the_link_full() {
    let bloat = bloated("\"1000 packets\"", "", 0).links[0].stats;
    assert!(bloat.queueing_delay_mean_s > 0.3, "{bloat:?}");
    let codel = "{ scheme = \"codel\", limit = \"1000 packets\", ecn = true }";
    for (tcp, marks) in [("", false), ("ecn = true", true)] {
        let stats = bloated(codel, tcp, 0).links[0].stats;
        assert!(stats.queueing_delay_mean_s < 0.03 && stats.utilization > 0.9, "{stats:?}");
        assert!(
            stats.early_dropped_packets > 10 && stats.early_dropped_packets == stats.dropped_packets,
            "{stats:?}"
        );
        assert_eq!(stats.marked_packets > 10, marks, "{stats:?}");
    }
}

#[test]
fn fair_queues_give_each_flow_its_share_and_lose_nothing_of_a_thin_one() {
    let result = bloated("{ scheme = \"fq-codel\" }", "", 0);
    assert!(result.flows[4].datagrams_sent > 2900 && result.flows[4].datagrams_lost == 0);
    assert!(result.links[0].stats.utilization > 0.9, "{:?}", result.links[0].stats);
    let bytes: Vec<u64> = result.flows[..4].iter().map(|flow| flow.bytes_delivered).collect();
    let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
    assert!(*most as f64 / (*least as f64) < 1.05, "{bytes:?}");
}

#[test]
fn round_robin_gives_each_flow_its_share_whoever_has_the_larger_packets() {
    for more in ["", ", alpha = 1", ", quantum = \"300 B\", drop = \"oldest\""] {
        let result = bloated(&format!("{{ scheme = \"drr\", limit = \"100 packets\"{more} }}"), "", 0);
        assert!(result.flows[4].datagrams_sent > 2900 && result.flows[4].datagrams_lost == 0, "{more}");
        let queue = &result.links[0].stats;
        assert!(queue.utilization > 0.95, "{more} {queue:?}");
        // Thresholds drop while there is room, and the longest queue loses when there is none.
        let thresholds = more.contains("alpha");
        assert_eq!(queue.early_dropped_packets, if thresholds { queue.dropped_packets } else { 0 });
        assert_eq!(queue.queue_max_packets < 100, thresholds, "{queue:?}");
        let bytes: Vec<u64> = result.flows[..4].iter().map(|flow| flow.bytes_delivered).collect();
        let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
        assert!(*most as f64 / (*least as f64) < 1.05, "{more} {bytes:?}");
    }
    // A flood of 8 Mbit/s beside a TCP, which has half of the link all the same, and nearly nothing without turns.
    let flooded = |queue: &str| {
        let link = format!("rate = \"8 Mbit/s\"\ndelay = \"20 ms\"\nqueue = {queue}");
        let flood =
            "[flows.flood]\nfrom = \"a\"\nto = \"b\"\napp = \"cbr\"\nrate = \"8 Mbit/s\"\npacket = \"500 B\"";
        let text =
            format!("duration = \"60 s\"\n{}{flood}\n", one_flow(&link, "receive_window = \"1 MB\"", ""));
        simulate(&text, 1).flows[0].goodput_bps
    };
    let (fair, fifo) = (flooded("{ scheme = \"drr\", limit = \"100 packets\" }"), flooded("\"100 packets\""));
    assert!((3.7e6..4e6).contains(&fair) && fifo < 1e6, "{fair} and {fifo}");
}

#[test]
fn a_higher_class_goes_first() {
    let priority = "{ scheme = \"priority\", limit = \"100 packets\" }";
    let (urgent, equal) = (bloated(priority, "", 5), bloated(priority, "", 0));
    assert_eq!(urgent.flows[4].datagrams_lost, 0);
    assert!(equal.flows[4].datagrams_lost > 0);
    assert!(urgent.links[0].stats.utilization > 0.95);
}

#[test]
fn marks_and_drops_on_leaving_reach_the_flows_that_they_are_about() {
    let codel = "{ scheme = \"codel\", limit = \"200 packets\", ecn = true }";
    let marking = run(codel, true, "bytes = \"12 MB\"");
    let (queue, flow) = (&marking.links[0].stats, only(&marking));
    assert!(queue.marked_packets > 3 && queue.early_dropped_packets == 0, "{queue:?}");
    assert!(flow.ecn_reductions > Some(3) && flow.retransmitted_segments == 0, "{flow:?}");
    let dropping = run(codel, false, "bytes = \"12 MB\"");
    let (queue, flow) = (&dropping.links[0].stats, only(&dropping));
    assert!(queue.early_dropped_packets > 3 && queue.marked_packets == 0, "{queue:?}");
    assert_eq!(flow.losses.congestion, queue.dropped_packets);
    assert_eq!(flow.bytes_delivered, 12_000_000);
}
