//! Every application under every variant and through every kind of loss: it comes to its end, and what it says that it delivered is
//! what its users got. Variants of the catalogue enter by themselves; an application without a case fails.

use std::collections::BTreeSet;

use bentpipe_apps::ApplicationFactory;
use bentpipe_sim::{RunResult, scenario};
use bentpipe_tcp::Catalogue;
use bentpipe_units::registry::Kind;

use crate::simulate;

/// The lines of a flow, and the bytes that it carries; none where these are drawn or chosen.
const APPS: [(&str, &str, Option<u64>); 14] = [
    ("ftp", "bytes = \"100 kB\"", Some(100_000)),
    ("ftp", "bytes = \"100 kB\"\nopened_by = \"receiver\"\nstart_spread = \"2 s\"", Some(100_000)),
    (
        "http",
        "pages = 2\nobjects = 4\nobject = \"10 kB\"\nmain_object = \"5 kB\"\nconnections = 2",
        Some(90_000),
    ),
    (
        "http",
        "pages = 3\nsize_distribution = \"3gpp2\"\nthink = \"1 s\"\nthink_distribution = \"exponential\"\nconnections = 2\n\
         tls = \"1.2\"\ndns = \"300 ms\"",
        None,
    ),
    ("onoff", "rate = \"200 kbit/s\"\nduration = \"5 s\"", None),
    ("relay", "upstream = \"first\"", Some(100_000)),
    ("transactions", "response = \"10 kB\"\ntransactions = 8\nthink = \"100 ms\"", Some(80_000)),
    ("video", "ladder = [\"100 kbit/s\", \"300 kbit/s\"]\nlength = \"19 s\"\nplayer_buffer = \"12 s\"", None),
    ("short-flows", "mean_interval = \"300 ms\"\nbytes = \"8 kB\"\ntransfers = 10", Some(80_000)),
    (
        "short-flows",
        "mean_interval = \"300 ms\"\nbytes = \"8 kB\"\ntransfers = 10\nopened_by = \"receiver\"",
        Some(80_000),
    ),
    (
        "trace",
        "trace = [{ at = \"0 s\", bytes = \"30 kB\" }, { at = \"1 s\", bytes = \"1 B\" }]",
        Some(30_001),
    ),
    ("cbr", "rate = \"200 kbit/s\"\nbytes = \"50 kB\"", None),
    ("multimedia", "duration = \"2 s\"", None),
    ("voip", "duration = \"2 s\"", None),
];

const LOSSES: [&str; 4] = [
    r#"{ model = "none" }"#,
    r#"{ model = "packet", probability = 0.02 }"#,
    r#"{ model = "drop", packets = [2, 3, 5, 8, 13, 21, 22, 23, 40], at_least = "200 B" }"#,
    r#"{ model = "gilbert-elliott", good_to_bad = 0.01, bad_to_good = 0.5 }"#,
];

fn network(loss: &str, flow: &str) -> String {
    let link = |name: &str, from: &str, to: &str| {
        format!(
            "[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"2 Mbit/s\"\ndelay = \"100 ms\"\nqueue = \"20 packets\"\n\
             loss = {loss}\n[links.{name}.reverse]\nrate = \"300 kbit/s\"\nloss = {loss}\n"
        )
    };
    let links = [link("near", "a", "b"), link("far", "b", "c")].concat();
    format!("title = \"applications\"\nduration = \"600 s\"\n{links}{flow}")
}

fn flow(app: &str, lines: &str, variant: &str) -> String {
    let told = format!("[flows.f]\nto = \"c\"\napp = \"{app}\"\n{lines}\n{variant}\n");
    match app {
        "relay" => {
            let first = "[flows.first]\nfrom = \"a\"\nto = \"b\"\nbytes = \"100 kB\"\n";
            format!("{first}{told}from = \"b\"\n")
        }
        _ => format!("{told}from = \"a\"\n"),
    }
}

/// Holds what a run says of its last flow against what its users got.
fn hold(result: &RunResult, bytes: Option<u64>, text: &str) {
    let Some(flow) = result.flows.last() else { panic!("no flow\n{text}") };
    assert_eq!(flow.error, None, "{text}");
    assert!(flow.finish_s.is_some(), "it did not finish\n{text}");
    if let Some(bytes) = bytes {
        assert_eq!(flow.bytes_delivered, bytes, "{text}");
    }
    assert!(result.users.pages.iter().all(|page| page.response_s.is_some()), "{text}");
    assert!(result.users.transactions.iter().all(|one| one.response_s.is_some()), "{text}");
    if !result.users.transactions.is_empty() {
        let sizes: u64 = result.users.transactions.iter().map(|one| one.size_bytes).sum();
        assert_eq!(sizes, flow.bytes_delivered, "{text}");
    }
    for film in &result.users.videos {
        let waited = film.startup_s.unwrap_or(f64::INFINITY) + film.stalled_s;
        assert!(film.segments == 5 && waited < flow.duration_s, "{film:?}\n{text}");
    }
    if flow.variant == "udp" {
        assert!(flow.datagrams_sent > flow.datagrams_lost && flow.bytes_delivered > 0, "{text}");
    }
}

#[test]
fn every_application_comes_to_its_end_under_every_variant_and_loss() {
    let catalogue = Catalogue::default();
    for (app, lines, bytes) in APPS {
        let over_udp = matches!(app, "cbr" | "multimedia" | "voip");
        let variants =
            scenario::variants(&catalogue).into_iter().map(|(name, _)| format!("variant = \"{name}\""));
        let variants: Vec<_> = if over_udp { vec![String::new()] } else { variants.collect() };
        for variant in variants {
            for loss in LOSSES {
                for seed in 1..6 {
                    let text = network(loss, &flow(app, lines, &variant));
                    hold(&simulate(&text, seed), bytes, &text);
                }
            }
        }
    }
}

#[test]
fn no_application_is_left_out() {
    let named: BTreeSet<&str> = APPS.iter().map(|(name, ..)| *name).collect();
    assert_eq!(named, <dyn ApplicationFactory>::ours().names().iter().copied().collect());
}
