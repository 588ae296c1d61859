//! What a run counts agrees with itself, and a seed decides everything.

use bentpipe_sim::RunResult;
use proptest::prelude::*;
use serde_json::Value;

use crate::{Row, Watched, one_flow, simulate, watch};

/// The JSON of a run, but for how long it took and what was recorded.
fn json(result: &RunResult) -> Value {
    let mut json = serde_json::to_value(result).unwrap_or_default();
    let wall = json["engine"].as_object_mut().and_then(|engine| engine.remove("wall_s"));
    assert!(wall.is_some_and(|wall| wall.is_number()));
    json.as_object_mut().and_then(|run| run.remove("recording"));
    json
}

fn lossy(probability: f64, variant: &str, bytes: &str) -> String {
    one_flow(
        &format!(
            "rate = \"50 Mbit/s\"\ndelay = \"40 ms\"\nloss = {{ model = \"packet\", probability = {probability} }}"
        ),
        "receive_window = \"400 kB\"",
        &format!("variant = \"{variant}\"\nbytes = \"{bytes}\""),
    )
}

#[test]
fn a_seed_decides_everything() {
    let text = lossy(0.01, "sack", "5 MB");
    let first = simulate(&text, 7);
    assert_eq!(json(&first), json(&simulate(&text, 7)));
    assert_eq!(json(&first), json(&watch(&text, 7).0), "watching changes nothing");
    let other = simulate(&text, 8);
    assert_ne!(first.flows[0].finish_s, other.flows[0].finish_s);
}

/// Which of the data segments sent, counted from 0, were lost.
fn lost_numbers(flow: &Watched) -> Vec<usize> {
    let newest = |lost: &Row| {
        // The newest copy that had time to get there; another would have been sent a round trip later.
        flow.sent
            .iter()
            .rposition(|sent| sent.sequence == lost.sequence && sent.time_s + 0.0399 < lost.time_s)
    };
    flow.lost.iter().filter_map(newest).collect()
}

#[test]
fn variants_meet_the_same_losses() {
    let runs: Vec<(RunResult, Vec<Watched>)> = ["tahoe", "reno", "newreno", "sack"]
        .map(|variant| watch(&lossy(0.01, variant, "3 MB"), 5))
        .into_iter()
        .collect();
    let fewest = runs.iter().map(|(run, _)| run.flows[0].data_segments_sent).min().unwrap_or(0) as usize;
    assert!(fewest >= 3_000_000 / 1460);
    let lost: Vec<Vec<usize>> = runs
        .iter()
        .map(|(_, flows)| lost_numbers(&flows[0]).into_iter().filter(|number| *number < fewest).collect())
        .collect();
    assert!(lost[0].len() > 10);
    assert!(lost.iter().all(|numbers| *numbers == lost[0]), "{lost:?}");
}

#[test]
fn sack_without_timeouts_sends_again_what_was_lost_and_nothing_else() {
    let (mut runs, mut apart) = (0, 0);
    for seed in 0..30 {
        let text = one_flow(
            "rate = \"20 Mbit/s\"\ndelay = \"40 ms\"\nloss = { model = \"packet\", probability = 0.0005 }",
            // A window that recovery could fill would call for a rescue retransmission (RFC 6675, NextSeg rule 4).
            "receive_window = \"2 MB\"\ninitial_ssthresh = \"60 segments\"",
            "variant = \"sack\"",
        );
        let (result, flows) = watch(&text.replace("[links", "duration = \"30 s\"\n[links"), seed);
        let flow = &flows[0];
        assert_eq!(flow.lost.len() as u64, result.links[0].stats.corrupted_packets);
        if result.flows[0].timeouts > Some(0) {
            continue;
        }
        runs += 1;
        let again: Vec<u64> = flow.sent.iter().filter(|row| row.which).map(|row| row.sequence).collect();
        assert_eq!(again.len() as u64, result.flows[0].retransmitted_segments);
        let lost: Vec<u64> = flow.lost.iter().map(|row| row.sequence).collect();
        assert!(again.iter().all(|sequence| lost.contains(sequence)), "seed {seed}");
        let repaired = |row: &usize| flow.lost[*row].time_s < 29.8;
        assert!((0..lost.len()).filter(repaired).all(|row| again.contains(&lost[row])), "seed {seed}");
        // What is sent after a recovery began, is lost and is repaired in it, goes once more when the next recovery
        // begins with it: RFC 6675 keeps no marks of what was sent again. Losses far apart are repaired once each.
        if flow.lost.windows(2).all(|pair| pair[1].time_s - pair[0].time_s > 0.25) {
            apart += 1;
            assert_eq!(again, lost[..again.len()], "seed {seed}");
        }
    }
    assert!(runs >= 20 && apart >= 5, "{runs} runs without a timeout, {apart} with losses far apart");
}

#[test]
fn every_packet_is_accounted_for() {
    let text = "title = \"test\"\n\
        [links.first]\nfrom = \"a\"\nto = \"b\"\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"500 packets\"\n\
        loss = { model = \"packet\", probability = 0.002 }\n\
        [links.second]\nfrom = \"b\"\nto = \"c\"\nrate = \"5 Mbit/s\"\ndelay = \"15 ms\"\nqueue = \"5 packets\"\n\
        loss = { model = \"packet\", probability = 0.002 }\n\
        [tcp]\nreceive_window = \"300 kB\"\n\
        [flows.f]\nfrom = \"a\"\nto = \"c\"\nvariant = \"newreno\"\nbytes = \"12 MB\"\n";
    for seed in 1..6 {
        let (result, flows) = watch(text, seed);
        let [first, first_back, second, second_back] = [0, 1, 2, 3].map(|index| &result.links[index].stats);
        let taken = |link: &bentpipe_path::LinkStats| {
            link.delivered_packets + link.dropped_packets + link.corrupted_packets
        };
        assert!(first.corrupted_packets > 0 && second.dropped_packets > 0 && second.corrupted_packets > 0);
        // The run ends with the ACK of the server's FIN on the first link.
        let flow = &result.flows[0];
        assert_eq!(taken(first), 1 + flow.data_segments_sent, "SYN and data, seed {seed}");
        assert_eq!(taken(second), first.delivered_packets);
        assert_eq!(taken(first_back), second_back.delivered_packets);
        assert_eq!(taken(second_back), second_back.delivered_packets);
        let lost = second.dropped_packets + second.corrupted_packets + first.corrupted_packets;
        assert_eq!(flows[0].lost.len() as u64, lost);
        let by_queue = flows[0].lost.iter().filter(|row| row.which).count() as u64;
        assert_eq!(by_queue, first.dropped_packets + second.dropped_packets);
        assert_eq!(flow.bytes_delivered, 12_000_000);
        assert_eq!(flow.data_segments_sent - flow.retransmitted_segments, 12_000_000_u64.div_ceil(1460));
    }
}

#[test]
fn a_flow_by_duration_ends_with_what_it_had_sent() {
    let text = one_flow(
        "rate = \"5 Mbit/s\"\ndelay = \"100 ms\"\nloss = { model = \"packet\", probability = 0.003 }",
        "receive_window = \"100 kB\"",
        "variant = \"sack\"\nduration = \"20 s\"",
    );
    let (result, flows) = watch(&text, 2);
    let sent = &flows[0].sent;
    let flow = &result.flows[0];
    assert!(flow.finish_s.is_some_and(|finish| (20.0..25.0).contains(&finish)), "{:?}", flow.finish_s);
    let last = sent.iter().map(|row| row.sequence).max().unwrap_or(0);
    assert_eq!(flow.bytes_delivered, last + 1460);
    assert!(sent.iter().filter(|row| !row.which).all(|row| row.time_s <= 20.0));
}

prop_compose! {
    fn scenarios()(
        rate_kbps in 50_u32..20_000,
        delay_ms in 0_u32..400,
        queue in prop_oneof![Just("\"unlimited\"".to_owned()), (1_u32..60).prop_map(|n| format!("\"{n} packets\""))],
        loss in 0.0..0.05,
        acks_lost in 0.0..0.05,
        variant in prop::sample::select(vec!["tahoe", "reno", "newreno", "sack", "newreno-1999", "sack-1996", "sack-linux-2.4", "rack"]),
        profile in prop::sample::select(vec!["rfc", "ns2", "opnet", "linux-2.4", "linux"]),
        mss in 200_u32..1461,
        window in 3000_u32..400_000,
        timestamps in any::<bool>(),
        flows in 1_u32..4,
        bytes in 1_u32..400_000,
    ) -> (String, u64) {
        let window = if profile == "opnet" { window.min(65_535) } else { window };
        let text = format!(
            "title = \"test\"\n[links.path]\nfrom = \"a\"\nto = \"b\"\nrate = \"{rate_kbps} kbit/s\"\ndelay = \"{delay_ms} ms\"\n\
             queue = {queue}\nloss = {{ model = \"packet\", probability = {loss} }}\n\
             [links.path.reverse]\nloss = {{ model = \"packet\", probability = {acks_lost} }}\n\
             [tcp]\nprofile = \"{profile}\"\nmss = \"{mss} B\"\nreceive_window = \"{window} B\"\ntimestamps = {timestamps}\n\
             max_retransmissions = 30\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\ncount = {flows}\nstart_step = \"300 ms\"\nvariant = \"{variant}\"\nbytes = \"{bytes} B\"\n"
        );
        (text, u64::from(bytes))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_file_arrives_whole((text, bytes) in scenarios(), seed in any::<u64>()) {
        let result = simulate(&text, seed);
        for flow in &result.flows {
            prop_assert_eq!(flow.bytes_delivered, bytes);
            prop_assert_eq!(&flow.error, &None);
            let finish = flow.finish_s.unwrap_or(f64::NAN);
            prop_assert!((finish - flow.start_s - flow.duration_s).abs() < 1e-9);
            prop_assert!((flow.goodput_bps * flow.duration_s / 8.0 - bytes as f64).abs() < 1e-3);
            prop_assert!(flow.throughput_bps >= flow.goodput_bps * (1.0 - 1e-12));
            prop_assert!(flow.data_segments_sent >= flow.retransmitted_segments);
        }
        prop_assert!(result.links.iter().all(|link| (0.0..=1.0).contains(&link.stats.utilization)));
    }
}
