//! A warm-up is left out of the numbers: what is measured and what came before add up to the whole.

use bentpipe_sim::{RunError, RunOptions, RunResult, run};

use crate::{run_of, scenario};

/// Two downloads, a call, queries and a link with losses and a queue that decides, for half a minute.
const BUSY: &str = r#"
title = "busy"
[links.far]
from = "a"
to = "b"
rate = "2 Mbit/s"
delay = "250 ms"
queue = "30 packets"
loss = { model = "packet", probability = 0.005 }
[links.near]
from = "b"
to = "c"
rate = "1.8 Mbit/s"
delay = "5 ms"
queue = { scheme = "codel", limit = "40 packets" }
schedule = [{ at = "12 s", rate = "1.2 Mbit/s" }]
[flows."download{i}"]
from = "a"
to = "c"
count = 2
start_step = "700 ms"
[flows.call]
from = "a"
to = "b"
app = "cbr"
rate = "200 kbit/s"
[flows.queries]
from = "c"
to = "a"
app = "transactions"
response = "3 kB"
think = "300 ms"
"#;

fn busy(head: &str) -> RunResult {
    run_of(&scenario(&format!("{head}\n{BUSY}")), 3)
}

#[test]
fn what_came_before_and_what_is_measured_are_the_whole() {
    let whole = busy("duration = \"30 s\"");
    for until_s in [0.9_f64, 5.0, 11.9, 20.0] {
        let before = busy(&format!("duration = \"{until_s} s\""));
        let measured = busy(&format!("duration = \"30 s\"\nwarm_up = \"{until_s} s\""));
        assert_eq!((measured.duration_s, measured.warm_up_s, whole.warm_up_s), (30.0, until_s, 0.0));
        for ((whole, before), measured) in whole.flows.iter().zip(&before.flows).zip(&measured.flows) {
            let sum = |of: fn(&bentpipe_sim::FlowResult) -> u64| {
                assert_eq!(of(whole), of(before) + of(measured), "{} {until_s}", whole.name);
            };
            sum(|flow| flow.bytes_delivered);
            sum(|flow| flow.retransmitted_segments);
            sum(|flow| flow.timeouts.unwrap());
            sum(|flow| flow.data_segments_sent);
            sum(|flow| flow.recoveries.unwrap());
            sum(|flow| flow.duplicate_bytes);
            sum(|flow| flow.datagrams_sent);
            sum(|flow| flow.datagrams_lost);
            sum(|flow| flow.losses.random);
            sum(|flow| flow.losses.cuts.unwrap());
            assert_eq!(measured.start_s, whole.start_s);
            let from = measured.start_s.max(until_s);
            assert!((measured.duration_s - (30.0 - from)).abs() < 1e-9);
            let goodput = measured.bytes_delivered as f64 * 8.0 / measured.duration_s;
            assert!((measured.goodput_bps - goodput).abs() < 1e-6);
        }
        let left = 30.0 - until_s;
        for ((whole, before), measured) in whole.links.iter().zip(&before.links).zip(&measured.links) {
            let (all, first, rest) = (&whole.stats, &before.stats, &measured.stats);
            assert_eq!(all.delivered_packets, first.delivered_packets + rest.delivered_packets);
            assert_eq!(all.dropped_packets, first.dropped_packets + rest.dropped_packets);
            assert_eq!(all.corrupted_packets, first.corrupted_packets + rest.corrupted_packets);
            let near = |all: f64, first: f64, rest: f64| {
                let sum = first * until_s + rest * left;
                assert!((all * 30.0 - sum).abs() < 1e-6, "{} {until_s}: {all} {first} {rest}", whole.name);
            };
            near(all.utilization, first.utilization, rest.utilization);
            near(all.queue_mean_packets, first.queue_mean_packets, rest.queue_mean_packets);
            assert_eq!(all.queue_max_packets, first.queue_max_packets.max(rest.queue_max_packets));
        }
        // What was asked for before is not listed.
        let listed = |result: &RunResult| {
            result.users.transactions.iter().map(|one| one.transaction).collect::<Vec<_>>()
        };
        assert!(measured.users.transactions.iter().all(|one| one.start_s >= until_s));
        assert_eq!([listed(&before), listed(&measured)].concat(), listed(&whole));
        let came: Vec<f64> = measured.users.transactions.iter().filter_map(|one| one.response_s).collect();
        assert_eq!(measured.flows[3].responses.response_p50_s.is_some(), !came.is_empty());
    }
}

#[test]
fn the_start_of_a_transfer_is_not_in_its_goodput() {
    let text = "[links.path]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\ndelay = \"250 ms\"\n\
        [tcp]\nreceive_window = \"4 MiB\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n";
    let goodput =
        |head: &str| run_of(&scenario(&format!("title = \"t\"\n{head}\n{text}")), 1).flows[0].goodput_bps;
    let whole = goodput("duration = \"20 s\"");
    let steady = goodput("duration = \"20 s\"\nwarm_up = \"10 s\"");
    // The link is full: headers of 40 bytes on 1460.
    assert!((steady / (10e6 * 1460.0 / 1500.0) - 1.0).abs() < 1e-3, "{steady}");
    assert!(whole < 0.9 * steady, "{whole} {steady}");
}

#[test]
fn the_queueing_delay_has_quantiles_where_they_are_asked_for() {
    let asked = busy("duration = \"30 s\"\nqueueing_quantiles = true");
    let plain = busy("duration = \"30 s\"");
    for (asked, plain) in asked.links.iter().zip(&plain.links) {
        let waits = asked.stats.waits;
        assert_eq!(plain.stats.waits, Default::default());
        assert_eq!(bentpipe_path::LinkStats { waits: Default::default(), ..asked.stats }, plain.stats);
        let found = [waits.queueing_delay_p50_s, waits.queueing_delay_p95_s, waits.queueing_delay_p99_s];
        assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{found:?}");
    }
    // At the narrow link with CoDel nobody waits for long, and most wait.
    let codel = asked.links[2].stats;
    assert!(codel.waits.queueing_delay_p50_s.is_some_and(|wait| wait > 0.0));
    let most = 40.0 * 1500.0 * 8.0 / 1.2e6;
    assert!(codel.waits.queueing_delay_p99_s.is_some_and(|wait| wait < most));
}

#[test]
fn a_warm_up_that_leaves_nothing_is_an_error() {
    let text = "title = \"t\"\nwarm_up = \"10 s\"\n[links.path]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
        delay = \"10 ms\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\nbytes = \"10 kB\"\n";
    let mut on = |_: &_| std::ops::ControlFlow::Continue(());
    let error = run(&scenario(text), RunOptions::default(), &mut on).unwrap_err();
    assert!(matches!(error, RunError::WarmUp { warm_up_s: 10.0, .. }), "{error}");
    let told = error.to_string();
    assert!(
        told.starts_with("warm_up: expected a time before the last flow is over (0.")
            && told.ends_with("10 s")
    );
}
