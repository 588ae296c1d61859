//! Which lost segments cost a reduction of the window: hand-made losses, with the numbers that each recovery must show.

use bentpipe_sim::{LossCauses, RunResult};

use crate::{Watched, one_flow, simulate, watch};

const VARIANTS: [&str; 6] = ["tahoe", "reno", "newreno", "sack", "newreno-1999", "sack-1996"];

/// 100 segments over a long link with a window of 20; `loss` says what happens to data.
fn transfer(loss: &str, variant: &str) -> RunResult {
    watched(loss, variant).0
}

fn watched(loss: &str, variant: &str) -> (RunResult, Vec<Watched>) {
    let link = format!("rate = \"2 Mbit/s\"\ndelay = \"100 ms\"\n{loss}");
    let tcp = "mss = \"1000 B\"\nreceive_window = \"20 kB\"\nlimited_transmit = false";
    watch(&one_flow(&link, tcp, &format!("variant = \"{variant}\"\nbytes = \"100 kB\"")), 1)
}

fn damaged(packets: &[u64], variant: &str) -> RunResult {
    transfer(&damage(packets), variant)
}

fn damage(packets: &[u64]) -> String {
    format!("loss = {{ model = \"drop\", packets = {packets:?}, at_least = \"100 B\" }}")
}

/// Losses by damage only, each of which cost a reduction.
fn random(losses: u64, cuts: u64) -> LossCauses {
    LossCauses { random: losses, random_cut: Some(losses), cuts: Some(cuts), ..LossCauses::default() }
}

#[test]
fn one_damaged_segment_costs_one_reduction() {
    for variant in VARIANTS {
        assert_eq!(damaged(&[50], variant).flows[0].losses, random(1, 1), "{variant}");
    }
}

#[test]
fn two_damaged_segments_of_a_window_cost_what_the_recovery_makes_of_them() {
    for (variant, cuts) in VARIANTS.into_iter().zip([1, 2, 1, 1, 1, 1]) {
        assert_eq!(damaged(&[50, 53], variant).flows[0].losses, random(2, cuts), "{variant}");
    }
}

#[test]
fn a_damaged_retransmission_costs_a_reduction_of_its_own() {
    for variant in VARIANTS {
        let (_, flows) = watched(&damage(&[50]), variant);
        let again = flows[0].sent.iter().position(|row| row.which);
        let second = again.map_or(0, |index| index as u64 + 1);
        let flow = &damaged(&[50, second], variant).flows[0];
        assert_eq!((flow.losses, flow.timeouts), (random(2, 2), Some(1)), "{variant}, packet {second}");
    }
}

#[test]
fn the_last_segment_is_repaired_by_the_timer() {
    for variant in VARIANTS {
        let flow = &damaged(&[100], variant).flows[0];
        assert_eq!((flow.losses, flow.timeouts), (random(1, 1), Some(1)), "{variant}");
    }
}

#[test]
fn a_full_queue_is_congestion() {
    for variant in VARIANTS {
        let result = transfer("queue = \"3 packets\"", variant);
        let (losses, link) = (result.flows[0].losses, &result.links[0].stats);
        assert!(link.dropped_packets > 0);
        assert_eq!((losses.random, losses.congestion), (0, link.dropped_packets), "{variant}");
        assert!(losses.cuts > Some(0) && losses.congestion_kept == Some(0), "{variant}: {losses:?}");
    }
}

#[test]
fn a_timeout_because_an_ack_was_lost_is_needless() {
    for variant in VARIANTS {
        // SYN-ACK, then the one ACK of the one segment.
        let link = "rate = \"2 Mbit/s\"\ndelay = \"100 ms\"\n[links.path.reverse]\nloss = { model = \"drop\", packets = [2] }";
        let flow = format!("variant = \"{variant}\"\nbytes = \"1000 B\"");
        let flow = &simulate(&one_flow(link, "mss = \"1000 B\"", &flow), 1).flows[0];
        let needless = LossCauses { cuts: Some(1), needless_cuts: Some(1), ..LossCauses::default() };
        assert_eq!((flow.losses, flow.timeouts), (needless, Some(1)), "{variant}");
    }
}

#[test]
fn every_random_loss_costs_the_standard_control_a_reduction() {
    for seed in 1..9 {
        let link =
            "rate = \"20 Mbit/s\"\ndelay = \"40 ms\"\nloss = { model = \"packet\", probability = 0.003 }";
        let tcp = "receive_window = \"2 MB\"\ninitial_ssthresh = \"60 segments\"";
        let text = format!("duration = \"30 s\"\n{}", one_flow(link, tcp, "variant = \"sack\""));
        let result = simulate(&text, seed);
        let losses = result.flows[0].losses;
        // SYN is small and early: what is damaged is data. At the end some of it may be open.
        let open = result.links[0].stats.corrupted_packets - losses.random;
        assert!(losses.random > 20 && open <= 3, "seed {seed}: {losses:?}, {open} open");
        assert_eq!(losses.random_cut, Some(losses.random), "seed {seed}");
        assert_eq!((losses.congestion, losses.needless_cuts), (0, Some(0)), "seed {seed}");
        let reasons = result.flows[0].recoveries.zip(result.flows[0].timeouts);
        assert_eq!(losses.cuts, reasons.map(|(recoveries, timeouts)| recoveries + timeouts), "seed {seed}");
    }
}

#[test]
fn an_echo_of_what_went_again_in_an_earlier_recovery_takes_no_reduction_back() {
    // The startup of bbr1 overflows a queue of a tenth of the pipe again and again, so that retransmissions of one recovery are under way in the
    // next. Taken back by their echoes, a reduction would come back with the next ACK.
    let link = "rate = \"20 Mbit/s\"\ndelay = \"50 ms\"\nqueue = \"17 packets\"";
    let flow = "recovery = \"rack\"\ncontrol = \"bbr1\"\nbytes = \"30 MB\"";
    let (run, _) = watch(&one_flow(link, "profile = \"linux\"\nreceive_window = \"16 MB\"", flow), 1);
    let round_trips = (run.flows[0].finish_s.unwrap() / 0.1) as u64;
    assert!(run.flows[0].losses.cuts < Some(round_trips / 2), "{:?}", run.flows[0].losses);
}
