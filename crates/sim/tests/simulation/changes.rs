//! Links that change while a run goes on.

use crate::{one_flow, simulate, watch};

/// A 4 Mbit/s link, 30 ms long, that changes so.
fn link(schedule: &str) -> String {
    format!("rate = \"4 Mbit/s\"\ndelay = \"30 ms\"\nqueue = \"60 packets\"\nschedule = {schedule}")
}

/// A stream of 1 Mbit/s over it for 10 s.
fn stream(schedule: &str) -> String {
    let app = "app = \"cbr\"\nrate = \"1 Mbit/s\"\npacket = \"1000 B\"\nduration = \"10 s\"";
    one_flow(&link(schedule), "", app)
}

#[test]
fn a_transfer_takes_what_the_rate_lets_through() {
    let flow = "bytes = \"5 MB\"";
    let finish = |schedule: &str| {
        let result = simulate(&one_flow(&link(schedule), "receive_window = \"60 kB\"", flow), 1);
        assert_eq!(result.flows[0].bytes_delivered, 5_000_000);
        result.flows[0].finish_s.unwrap()
    };
    let steady = finish("[]");
    let slower = finish("[{ at = \"2 s\", rate = \"2 Mbit/s\" }]");
    // What is left at 2 s takes twice as long; a queue of 60 kB stands before the link.
    assert!((slower - (2.0 + 2.0 * (steady - 2.0))).abs() < 0.3, "{slower} and {steady}");
    let held = finish("[{ at = \"2 s\", outage = \"100 ms\" }]");
    assert!((held - steady - 0.1).abs() < 0.01, "{held} and {steady}");
    let same = finish("[{ at = \"2 s\", rate = \"4 Mbit/s\" }, { at = \"3 s\", delay = \"30 ms\" }]");
    assert_eq!(same, steady);
}

#[test]
fn an_outage_holds_datagrams_or_loses_those_of_its_time() {
    let run = |schedule: &str| simulate(&stream(schedule), 1);
    let held = run("[{ at = \"4 s\", outage = \"200 ms\" }]");
    assert_eq!((held.flows[0].datagrams_sent, held.flows[0].datagrams_lost), (1250, 0));
    assert!(held.links[0].stats.queue_max_packets >= 24, "{:?}", held.links[0].stats);
    // 125 datagrams a second; a queue that has no room for them all loses the rest.
    let long = run("[{ at = \"4 s\", outage = \"2 s\" }]");
    let lost = long.flows[0].datagrams_lost;
    assert!((188..=191).contains(&lost) && lost == long.links[0].stats.dropped_packets, "{lost}");
    let losing = run("[{ at = \"4 s\", outage = \"2 s\", waiting = \"lose\" }]");
    let lost = losing.flows[0].datagrams_lost;
    assert!((249..=251).contains(&lost) && lost == losing.links[0].stats.corrupted_packets, "{lost}");
}

#[test]
fn losses_come_and_go() {
    let schedule = "[{ at = \"2 s\", loss = { model = \"packet\", probability = 0.5 } }, \
                     { at = \"4 s\", loss = { model = \"none\" } }]";
    let (result, watched) = watch(&stream(schedule), 1);
    let lost: Vec<f64> = watched[0].lost.iter().map(|row| row.time_s).collect();
    assert_eq!(lost.len() as u64, result.flows[0].datagrams_lost);
    // Half of 250, and five standard deviations.
    assert!((85..165).contains(&lost.len()), "{}", lost.len());
    assert!(lost.iter().all(|time| (2.0..4.1).contains(time)), "{lost:?}");
}

/// A TCP over a path that grows shorter: packets stay in order, or do not, and then the receiver tells so.
#[test]
fn a_shorter_path_reorders_only_where_it_says_so() {
    let run = |overtake: &str| {
        let schedule = format!("[{{ at = \"2 s\", delay = \"2 ms\"{overtake} }}]");
        let text = one_flow(&link(&schedule), "receive_window = \"60 kB\"", "bytes = \"3 MB\"");
        let result = simulate(&text, 1);
        assert_eq!(result.flows[0].bytes_delivered, 3_000_000);
        result.flows[0].retransmitted_segments
    };
    assert_eq!(run(""), 0);
    assert!(run(", overtake = true") > 0);
}

#[test]
fn a_schedule_of_one_direction_leaves_the_other() {
    let text = |table: &str| {
        one_flow(
            &format!("rate = \"4 Mbit/s\"\ndelay = \"30 ms\"\n[links.path.{table}"),
            "receive_window = \"60 kB\"",
            "bytes = \"1 MB\"",
        )
    };
    let of_acks = simulate(
        &text("reverse]\nschedule = [{ at = \"1 s\", outage = \"500 ms\", waiting = \"lose\" }]"),
        1,
    );
    assert_eq!(of_acks.links[0].stats.corrupted_packets, 0);
    assert!(of_acks.links[1].stats.corrupted_packets > 0);
}
