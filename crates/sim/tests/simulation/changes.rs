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

/// Two ways from a to b, over x and over y, and one flow of datagrams, ten a second.
fn two_ways(routing: &str, x: &str, y: &str) -> (f64, f64, u64, Vec<u64>) {
    let text = format!(
        r#"
        title = "test"
        duration = "30 s"
        {routing}
        [links.in]
        from = "s"
        to = "a"
        rate = "10 Mbit/s"
        delay = "1 ms"
        [links.ax]
        from = "a"
        to = "x"
        rate = "10 Mbit/s"
        delay = "10 ms"
        {x}
        [links.xb]
        from = "x"
        to = "b"
        rate = "10 Mbit/s"
        delay = "10 ms"
        [links.ay]
        from = "a"
        to = "y"
        rate = "10 Mbit/s"
        delay = "15 ms"
        {y}
        [links.yb]
        from = "y"
        to = "b"
        rate = "10 Mbit/s"
        delay = "15 ms"
        [flows.f]
        from = "s"
        to = "b"
        app = "cbr"
        rate = "80 kbit/s"
        [flows.g]
        from = "s"
        to = "b"
        start = "1 ms"
        duration = "29 s"
        "#
    );
    let result = simulate(&text, 1);
    let [datagrams, transfer] = &result.flows[..] else { panic!("two flows") };
    let delivered = result.links.iter().filter(|link| !link.name.ends_with("/reverse"));
    let lost = datagrams.datagrams_lost;
    let carried = delivered.map(|link| link.stats.delivered_packets).collect();
    (transfer.goodput_bps, transfer.rtt_mean_s.unwrap_or_default(), lost, carried)
}

#[test]
fn dynamic_routing_follows_the_delays() {
    // From 10 s to 20 s the way over x is the longer one, there and back.
    let swap = "schedule = [{ at = \"10 s\", delay = \"50 ms\" }, { at = \"20 s\", delay = \"10 ms\" }]";
    let x = format!("{swap}\nreverse = {{ {swap} }}");
    let (_, _, lost, carried) = two_ways("", &x, "");
    assert_eq!((lost, carried[3], carried[4]), (0, 0, 0));
    let (_, _, lost, carried) = two_ways("routing = \"dynamic\"", &x, "");
    // Nothing is lost, and what goes over y is what went in during those 10 s.
    assert_eq!(lost, 0);
    assert_eq!(carried[1] + carried[3], carried[0]);
    // At most a datagram is under way at the end.
    assert!(carried[3] == carried[4] && carried[1] - carried[2] <= 1, "{carried:?}");
    let share = carried[3] as f64 / carried[0] as f64;
    assert!((0.2..0.45).contains(&share), "{carried:?}");
}

#[test]
fn dynamic_routing_goes_around_an_outage_and_back() {
    let outage = "schedule = [{ at = \"5 s\", outage = \"20 s\", waiting = \"lose\" }]";
    let x = format!("{outage}\nreverse = {{ {outage} }}");
    let (straight, _, lost, carried) = two_ways("routing = \"static\"", &x, "");
    assert!(lost >= 199 && carried[3] == 0, "{lost} {carried:?}");
    let (around, _, lost, carried) = two_ways("routing = \"dynamic\"", &x, "");
    // Of the datagrams at most the one that was on the link.
    assert!(lost <= 1 && carried[3] > 200, "{lost} {carried:?}");
    assert!(around > 2.0 * straight, "{around} against {straight}");
    // No other way: packets wait for the link's end of the outage as with fixed ways.
    let both = |routing| two_ways(routing, &x, &x);
    assert_eq!(both("routing = \"dynamic\""), both(""));
}
