//! What the papers of controls for satellite and wireless links claim of them, in whole runs.

use bentpipe_sim::{FlowResult, RunResult};

use crate::{one_flow, simulate};

/// The GEO preset for 300 s with a window that fills it, and so much loss on the satellite.
fn geo(variant: &str, loss: f64, seed: u64, tcp: &str) -> RunResult {
    let text = format!(
        "extends = \"preset:geo\"\nduration = \"300 s\"\n[links.satellite]\n\
         loss = {{ model = \"packet\", probability = {loss} }}\n[tcp]\nreceive_window = \"512 KiB\"\n{tcp}\n\
         [flows.f]\nfrom = \"server\"\nto = \"client\"\nvariant = \"{variant}\"\n"
    );
    simulate(&text, seed)
}

/// Mean of three seeds, in bit/s.
fn goodput(variant: &str, loss: f64, tcp: &str) -> f64 {
    [1, 2, 3].map(|seed| geo(variant, loss, seed, tcp).flows[0].goodput_bps).iter().sum::<f64>() / 3.0
}

fn only(result: &RunResult) -> &FlowResult {
    &result.flows[0]
}

/// Xu 2004 figures 8 to 10 and Obata 2006: far more goodput than Reno's kind where the link loses, and no less where it does not.
#[test]
fn jersey_and_star_keep_their_goodput_where_the_link_loses() {
    let newreno = goodput("newreno", 1e-3, "");
    for variant in ["jersey", "star"] {
        let (lossy, clean) = (goodput(variant, 1e-3, ""), goodput(variant, 0.0, ""));
        assert!(lossy > 1.5 * newreno, "{variant}: {lossy}, newreno {newreno}");
        assert!(lossy > 0.85 * clean, "{variant}: {lossy} of {clean}");
        assert!(clean > 0.93 * goodput("newreno", 0.0, ""), "{variant}: {clean}");
    }
}

/// A queue that marks tells congestion from a loss of the link: with warnings alone the window goes down.
#[test]
fn jersey_with_marks_keeps_its_window_at_the_losses_of_the_link() {
    let queue = "{ scheme = \"red\", limit = \"200 packets\", min = \"20 packets\", max = \"60 packets\", ecn = true }";
    let run = |unmarked: &str| {
        let link = format!(
            "rate = \"4 Mbit/s\"\ndelay = \"100 ms\"\nqueue = {queue}\nloss = {{ model = \"packet\", probability = 1e-3 }}"
        );
        let tcp =
            format!("receive_window = \"1 MB\"\necn = true\njersey = {{ unmarked_loss = \"{unmarked}\" }}");
        simulate(&one_flow(&link, &tcp, "variant = \"jersey\"\nbytes = \"40 MB\""), 1)
    };
    let (keep, estimate) = (run("keep"), run("estimate"));
    for result in [&keep, &estimate] {
        let stats = &result.links[0].stats;
        assert!(only(result).ecn_reductions > 5 && stats.dropped_packets < 5, "{stats:?}");
        assert!(stats.utilization > 0.9, "{stats:?}");
    }
    let (keep, estimate) = (only(&keep), only(&estimate));
    assert!(keep.losses.cuts < estimate.losses.cuts, "{:?} {:?}", keep.losses, estimate.losses);
    assert!(
        keep.losses.random_cut * 3 < estimate.losses.random_cut,
        "{:?} {:?}",
        keep.losses,
        estimate.losses
    );
}

/// Sing 2005: a long round trip needs no long queue.
#[test]
fn new_vegas_fills_a_geo_link_with_an_empty_queue() {
    let (vegas, newreno) = (geo("new-vegas", 0.0, 1, ""), geo("newreno", 0.0, 1, ""));
    let queue = |result: &RunResult| {
        let link = result.links.iter().find(|link| link.name == "satellite").unwrap();
        (link.stats.queue_mean_packets, link.stats.dropped_packets)
    };
    assert_eq!(queue(&vegas).1, 0);
    assert!(queue(&vegas).0 < 0.2 * queue(&newreno).0, "{:?} {:?}", queue(&vegas), queue(&newreno));
    assert!(only(&vegas).goodput_bps > 0.95 * only(&newreno).goodput_bps);
    assert_eq!(only(&vegas).retransmitted_segments, 0);
}
