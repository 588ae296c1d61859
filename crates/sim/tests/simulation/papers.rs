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
        assert!(only(result).ecn_reductions > Some(5) && stats.dropped_packets < 5, "{stats:?}");
        assert!(stats.utilization > 0.9, "{stats:?}");
    }
    let (keep, estimate) = (only(&keep), only(&estimate));
    assert!(keep.losses.cuts < estimate.losses.cuts, "{:?} {:?}", keep.losses, estimate.losses);
    assert!(
        keep.losses.random_cut.map(|cuts| cuts * 3) < estimate.losses.random_cut,
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

/// A satellite of 2 Mbit/s and 500 ms there and back, which holds 83 packets.
fn satellite(queue: &str, tcp: &str, flows: &str) -> RunResult {
    let text = format!(
        "title = \"peach\"\n[links.s]\nfrom = \"a\"\nto = \"b\"\nrate = \"2 Mbit/s\"\ndelay = \"250 ms\"\nqueue = {queue}\n\
         [tcp]\nreceive_window = \"256 KiB\"\n{tcp}\n{flows}\n"
    );
    simulate(&text, 1)
}

fn bulk(variant: &str, bytes: &str) -> String {
    format!("[flows.f]\nfrom = \"a\"\nto = \"b\"\nvariant = \"{variant}\"\nbytes = \"{bytes}\"\n")
}

const PRIORITY: &str = "{ scheme = \"priority\", limit = \"20 packets\" }";

/// Akyildiz 2001 section III: a round trip behind the handshake the window is what the path has room for.
#[test]
fn a_sudden_start_fills_a_free_path_in_a_round_trip() {
    let seconds = |variant: &str, tcp: &str| {
        let result = satellite("\"1000 packets\"", tcp, &bulk(variant, "120 kB"));
        assert_eq!((only(&result).retransmitted_segments, only(&result).bytes_delivered), (0, 120_000));
        only(&result).finish_s.unwrap()
    };
    // Handshake, the first segment and its dummies, and a window of 83 segments, a little less than half a round trip to send: 1.75 s.
    let peach = seconds("peach", "peach = { sudden_start = 83 }");
    assert!((1.7..1.95).contains(&peach), "{peach}");
    // By doubling from three segments the same takes five round trips more.
    let sack = seconds("sack", "");
    assert!(sack > peach + 1.0, "{sack} {peach}");
}

/// Section II: what carries data suffers nothing from dummy segments where routers know of priorities.
#[test]
fn dummies_are_dropped_first_and_the_data_beside_them_is_not() {
    let flows = bulk("peach", "60 kB")
        + "[flows.voice]\nfrom = \"a\"\nto = \"b\"\napp = \"cbr\"\nrate = \"1.4 Mbit/s\"\npacket = \"1000 B\"\nduration = \"20 s\"\n";
    let asks = "peach = { sudden_start = 400 }";
    let lost = |result: &RunResult| {
        let [peach, voice] = &result.flows[..] else { panic!("two flows") };
        assert_eq!(peach.bytes_delivered, 60_000);
        (voice.datagrams_lost, peach.retransmitted_segments, result.links[0].stats.dropped_packets)
    };
    let (voice, again, dropped) = lost(&satellite(PRIORITY, asks, &flows));
    assert_eq!((voice, again), (0, 0));
    assert!(dropped > 200, "{dropped} of 399 dummies");
    let (voice, ..) = lost(&satellite("\"20 packets\"", asks, &flows));
    assert!(voice > 20, "without priorities: {voice}");
    let none = satellite(PRIORITY, asks, &flows.replace("peach", "sack"));
    assert_eq!(lost(&none), (0, 0, 0));
}

/// Sections III and IV: a rapid recovery gives back what a loss of the link took.
#[test]
fn peach_keeps_its_goodput_where_the_link_loses() {
    let (peach, newreno) = (goodput("peach", 1e-3, ""), goodput("newreno", 1e-3, ""));
    assert!(peach > 1.3 * newreno, "{peach} {newreno}");
}

#[test]
fn zz_table() {
    for variant in ["newreno", "sack", "cubic", "jersey", "star", "new-vegas", "peach"] {
        let cells: Vec<String> = [0.0, 1e-4, 1e-3]
            .iter()
            .map(|loss| {
                let mean = |f: fn(&FlowResult) -> f64| {
                    [1, 2182349314671704, 421894444869487, 7543933236421936, 5506075061760510, 6531030040617728, 5838394741473557, 8076392617387005, 484845793216548, 2869008490665597].into_iter()
                        .map(|seed| {
                            let text = format!(
                                "extends = \"preset:geo\"\n[links.satellite]\nloss = {{ model = \"packet\", probability = {loss} }}\n\
                                 [tcp]\nreceive_window = \"512 KiB\"\n\
                                 [flows.download]\nfrom = \"server\"\nto = \"client\"\nbytes = \"10 MB\"\nvariant = \"{variant}\"\n"
                            );
                            f(&simulate(&text, seed).flows[0])
                        })
                        .sum::<f64>()
                        / 10.0
                };
                format!("{:.0} kbit/s ({:.0} resent)", mean(|f| f.goodput_bps) / 1e3, mean(|f| f.retransmitted_segments as f64))
            })
            .collect();
        println!("TABLE {variant} | {}", cells.join(" | "));
    }
}
