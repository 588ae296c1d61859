//! Every variant and every slow start through every queue, gateway, change, model of loss and repair of it: nobody stalls, nobody is above a bound, and
//! every byte comes once. Schemes of the catalogue enter by themselves; a queue, a gateway, a model, a
//! repair or a change without a case fails.

use std::collections::BTreeSet;

use bentpipe_path::gateway::GatewayFactory;
use bentpipe_path::{ArqSpec, Attempts, Change, FecSpec, InOutage, LossFactory, QueueFactory, Repair};
use bentpipe_sim::{RunResult, scenario};
use bentpipe_tcp::control::Composition;
use bentpipe_tcp::recovery::RecoveryFactory;
use bentpipe_tcp::slow_start::SlowStartFactory;
use bentpipe_tcp::{Catalogue, Profile};
use bentpipe_units::registry::Kind;

use crate::bounds::Transfer;
use crate::{run_of, scenario as read};

/// Bytes of each transfer.
const BYTES: u64 = 300_000;

const XFWA: &str = r#"{ scheme = "xfwa", isl_delay = "20 ms", packet = "1000 B" }"#;

const GATEWAYS: [&str; 10] = [
    XFWA,
    r#"{ scheme = "xfwa", rtt = "handshake", redistribute = true }"#,
    r#"{ scheme = "xfwa", rtt = "told", told = "160 ms", unknown_scale = "zero" }"#,
    r#"{ scheme = "ewa" }"#,
    r#"{ scheme = "wintrac" }"#,
    r#"{ scheme = "xcp" }"#,
    r#"{ scheme = "xcp", limited = "scale", longest_interval = "100 ms" }"#,
    r#"{ scheme = "snoop" }"#,
    r#"{ scheme = "spoof" }"#,
    r#"{ scheme = "spoof", buffer = "32 KiB" }"#,
];

const QUEUES: [&str; 15] = [
    r#""3 packets""#,
    r#""30 packets""#,
    r#""20 kB""#,
    r#"{ scheme = "red", limit = "30 packets", min = "5 packets", max = "15 packets" }"#,
    r#"{ scheme = "red", limit = "30 packets", min = "5 packets", max = "15 packets", ecn = true }"#,
    r#"{ scheme = "rem", limit = "30 packets" }"#,
    r#"{ scheme = "rem", limit = "30 packets", ecn = true }"#,
    r#"{ scheme = "codel", limit = "30 packets" }"#,
    r#"{ scheme = "codel", limit = "30 packets", ecn = true }"#,
    r#"{ scheme = "fq-codel", limit = "30 packets", ecn = false }"#,
    r#"{ scheme = "fq-codel", limit = "30 packets" }"#,
    r#"{ scheme = "drr", limit = "30 packets" }"#,
    r#"{ scheme = "drr", limit = "30 packets", quantum = "300 B", queues = 4, drop = "oldest" }"#,
    r#"{ scheme = "drr", limit = "30 packets", alpha = 1 }"#,
    r#"{ scheme = "priority", limit = "30 packets" }"#,
];

const LOSSES: [&str; 9] = [
    r#"{ model = "none" }"#,
    r#"{ model = "packet", probability = 0.001 }"#,
    r#"{ model = "packet", probability = 0.05 }"#,
    r#"{ model = "ber", ber = 1e-6 }"#,
    r#"{ model = "ber", ber = 1e-4, correctable_bits = 3 }"#,
    r#"{ model = "drop", packets = [1, 2, 3, 20, 40, 60] }"#,
    r#"{ model = "drop", packets = [12, 14, 16, 30, 31, 32, 33, 34, 35, 36], at_least = "200 B" }"#,
    r#"{ model = "gilbert-elliott", good_to_bad = 0.01, bad_to_good = 0.5 }"#,
    r#"{ model = "gilbert-elliott", good_to_bad = 0.002, bad_to_good = 0.1, loss_in_bad = 0.5, loss_in_good = 0.001 }"#,
];

const REPAIRS: [&str; 6] = [
    "arq = { attempts = 1 }",
    "arq = { attempts = 3, turnaround = \"10 ms\" }",
    "arq = { attempts = \"unlimited\" }",
    "arq = { attempts = \"unlimited\", in_order = false }",
    r#"fec = { model = "packets", data = 20, parity = 4 }"#,
    r#"fec = { model = "packets", data = 4, parity = 2, wait = "5 ms", in_order = false }"#,
];

/// Changes of the satellite link, with the least delay in seconds and the highest rate in bits a second that it ever has.
const SCHEDULES: [(&str, f64, f64); 10] = [
    ("[]", 0.25, 2e6),
    (r#"[{ at = "1500 ms", rate = "500 kbit/s" }, { at = "3 s", rate = "4 Mbit/s" }]"#, 0.25, 4e6),
    (r#"[{ at = "1500 ms", delay = "400 ms" }, { at = "3 s", delay = "100 ms" }]"#, 0.1, 2e6),
    (
        r#"[{ at = "1500 ms", delay = "20 ms", overtake = true }, { at = "2 s", delay = "250 ms" }]"#,
        0.02,
        2e6,
    ),
    (r#"[{ at = "1500 ms", outage = "300 ms" }]"#, 0.25, 2e6),
    (r#"[{ at = "1500 ms", outage = "5 s", waiting = "hold" }]"#, 0.25, 2e6),
    (r#"[{ at = "1500 ms", outage = "300 ms", waiting = "lose" }]"#, 0.25, 2e6),
    (r#"[{ at = "1200 ms", outage = "5 s", waiting = "lose" }]"#, 0.25, 2e6),
    (
        r#"[{ at = "1 s", loss = { model = "packet", probability = 0.3 } }, { at = "2 s", loss = { model = "none" } }]"#,
        0.25,
        2e6,
    ),
    (
        r#"[{ at = "0 s", rate = "2 Mbit/s" }, { at = "300 ms", rate = "500 kbit/s" }, { at = "500 ms", repeat = true }]"#,
        0.25,
        2e6,
    ),
];

/// Two flows from `a` to `b` over a satellite.
fn satellite(schedule: &str, loss: &str, tcp: &str, flow: &str) -> String {
    format!(
        "title = \"satellite\"\n[links.s]\nfrom = \"a\"\nto = \"b\"\nrate = \"2 Mbit/s\"\ndelay = \"250 ms\"\nqueue = \"30 packets\"\n\
         loss = {loss}\nschedule = {schedule}\n[links.s.reverse]\nrate = \"200 kbit/s\"\n[tcp]\n{tcp}\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\ncount = 2\nstart_step = \"130 ms\"\nbytes = \"{BYTES} B\"\nduration = \"1000 s\"\n{flow}\n"
    )
}

/// Flows over the LEO chain, whose middle link is guarded. Over 160 ms Hybla as it comes adds up to 83 segments an ACK, and Peach
/// sends a window of dummy segments: where three packets may wait and have no priorities, both lose their retransmissions for minutes.
fn chain(gateway: &str, queue: &str, tcp: &str, flow: &str) -> String {
    format!(
        "extends = \"preset:leo-t1\"\ntitle = \"chain\"\n[links.isl1]\nqueue = {queue}\n{gateway}\n[tcp]\necn = true\nhybla = {{ rtt0 = \"100 ms\" }}\npeach = {{ sudden_start = 10 }}\n{tcp}\n\
         [flows.f]\nfrom = \"source\"\nto = \"destination\"\ncount = 3\nbytes = \"{BYTES} B\"\nduration = \"1000 s\"\n{flow}\n"
    )
}

/// Each variant with the first slow start, and each with the others: lines for `[tcp]` and for the flow.
fn variants() -> Vec<(String, String)> {
    let catalogue = Catalogue::default();
    let mut all = Vec::new();
    for start in catalogue.all::<dyn SlowStartFactory>() {
        for (variant, _) in scenario::variants(&catalogue) {
            all.push((format!("slow_start = \"{}\"", start.name()), format!("variant = \"{variant}\"")));
        }
    }
    all
}

/// Each recovery with each control.
fn pairs() -> Vec<String> {
    let catalogue = Catalogue::default();
    let all = catalogue.all::<dyn RecoveryFactory>().flat_map(|recovery| {
        let controls = Composition::all(&catalogue);
        let names = controls.into_iter().map(|control| control.name());
        names.map(|control| format!("recovery = \"{}\"\ncontrol = \"{control}\"", recovery.name()))
    });
    all.collect()
}

/// Least delay there and round trip in seconds, and rate in bits a second, of the LEO chain.
const LEO: [f64; 3] = [0.08, 0.16, 1.5e6];
/// The same where the node before the middle link acknowledges, one link from the sender.
const ANSWERED: [f64; 3] = [0.08, 0.04, 1.5e6];

/// Runs the scenario in `text`, and holds every flow against what must be true of it: who is not through after `within_s` stands still.
fn run(text: &str, path: [f64; 3], within_s: f64) -> RunResult {
    let scenario = read(text);
    let result = run_of(&scenario, 1);
    let [delay_s, rtt_s, rate_bps] = path;
    let mut together = 0.0;
    for (flow, spec) in result.flows.iter().zip(&scenario.flows) {
        let transfer = Transfer { spec, flow, delay_s, rtt_s, rate_bps, loss: 0.0 };
        arrived(&transfer, within_s, text);
        transfer.hold(text);
        together += flow.bytes_delivered as f64;
    }
    // All of them together, from the first SYN to the last byte: 40 bytes of header on 1460 or less of payload.
    let begin = result.flows.iter().map(|flow| flow.start_s).fold(f64::INFINITY, f64::min);
    let end = result.flows.iter().filter_map(|flow| flow.finish_s).fold(0.0, f64::max);
    assert!(together * 8.0 / (end - begin) <= rate_bps * 1460.0 / 1500.0, "{text}");
    result
}

/// Every byte came, in time, and none that the receiver had no room for.
fn arrived(transfer: &Transfer<'_>, within_s: f64, text: &str) {
    let flow = transfer.flow;
    assert_eq!((flow.bytes_delivered, &flow.error), (BYTES, &None), "{}\n{text}", flow.name);
    let finish = flow.finish_s.unwrap_or_else(|| panic!("{} did not finish\n{text}", flow.name));
    assert!(finish < within_s, "{} took {finish} s\n{text}", flow.name);
    assert!(transfer.widens() || flow.beyond_window_bytes == Some(0), "{}\n{text}", flow.name);
}

#[test]
fn every_variant_passes_every_gateway_and_queue() {
    let mut acted = [0; GATEWAYS.len()];
    for (tcp, flow) in variants() {
        for queue in QUEUES {
            run(&chain("", queue, &tcp, &flow), LEO, 30.0);
            for (number, gateway) in GATEWAYS.iter().enumerate() {
                let path = if value(gateway, "scheme") == "spoof" { ANSWERED } else { LEO };
                // Snoop hides what the queue drops as well: the sender goes on, and each drop costs a round trip.
                let within_s = if value(gateway, "scheme") == "snoop" { 120.0 } else { 30.0 };
                let result = run(&chain(&format!("gateway = {gateway}"), queue, &tcp, &flow), path, within_s);
                assert_eq!(result.gateways.len(), 1);
                let stats = &result.gateways[0].stats;
                acted[number] += stats.windows_lowered + stats.acks_swallowed + stats.acks_made;
            }
        }
    }
    // A router of XCP lowers no window.
    assert!(
        acted.iter().zip(GATEWAYS).all(|(often, gateway)| (*often == 0) == gateway.contains("xcp")),
        "{acted:?}"
    );
}

#[test]
fn every_variant_comes_through_every_change_and_loss() {
    for (tcp, flow) in variants() {
        for (schedule, delay_s, rate_bps) in SCHEDULES {
            for loss in LOSSES {
                run(&satellite(schedule, loss, &tcp, &flow), [delay_s, delay_s + 0.25, rate_bps], 150.0);
            }
        }
    }
}

#[test]
fn every_variant_comes_through_every_repair() {
    let mut recovered = [0; REPAIRS.len()];
    for (tcp, flow) in variants() {
        for (number, repair) in REPAIRS.iter().enumerate() {
            for loss in LOSSES {
                let text = satellite("[]", &format!("{loss}\n{repair}"), &tcp, &flow);
                let result = run(&text, [0.25, 0.5, 2e6], 150.0);
                let stats = result.links[0].stats.repair.unwrap_or_else(|| panic!("{text}"));
                recovered[number] += stats.recovered_packets;
            }
            run(
                &satellite(SCHEDULES[7].0, &format!("{}\n{repair}", LOSSES[2]), &tcp, &flow),
                [0.25, 0.5, 2e6],
                150.0,
            );
        }
    }
    assert!(recovered[0] == 0 && recovered[1..].iter().all(|packets| *packets > 0), "{recovered:?}");
}

#[test]
fn every_recovery_serves_every_control_under_every_profile() {
    for profile in Profile::ALL {
        for pair in pairs() {
            for loss in LOSSES {
                let tcp = format!("profile = \"{}\"", profile.name());
                run(&satellite("[]", loss, &tcp, &pair), [0.25, 0.5, 2e6], 90.0);
            }
        }
    }
}

/// The value of `key` in a table of a scenario.
fn value<'a>(table: &'a str, key: &str) -> &'a str {
    let rest = table.split(&format!("{key} = \"")).nth(1);
    rest.and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

#[test]
fn no_queue_gateway_model_or_change_is_left_out() {
    let named = |tables: &[&str], key: &str| -> BTreeSet<String> {
        tables.iter().map(|table| value(table, key).to_owned()).filter(|name| !name.is_empty()).collect()
    };
    fn all<K: Kind + ?Sized>() -> BTreeSet<String> {
        K::ours().names().iter().map(|name| (*name).to_owned()).collect()
    }
    assert_eq!(named(&QUEUES, "scheme"), all::<dyn QueueFactory>());
    assert_eq!(named(&GATEWAYS, "scheme"), all::<dyn GatewayFactory>());
    assert_eq!(named(&LOSSES, "model"), all::<dyn LossFactory>());
    let mut repaired = [false; 4];
    for repair in REPAIRS {
        let scenario = read(&satellite("[]", &format!("{}\n{repair}", LOSSES[0]), "", ""));
        // A kind that is new does not compile.
        match scenario.links[0].forward.link.repair {
            Repair::None => {}
            Repair::Arq(ArqSpec { attempts: Attempts::AtMost(_), .. }) => repaired[0] = true,
            Repair::Arq(ArqSpec { attempts: Attempts::Unlimited, in_order, .. }) => {
                repaired[if in_order { 1 } else { 2 }] = true;
            }
            Repair::Fec(FecSpec::Packets { .. }) => repaired[3] = true,
        }
    }
    assert_eq!(repaired, [true; 4]);
    let mut seen = [false; 8];
    for (schedule, ..) in SCHEDULES {
        let scenario = read(&satellite(schedule, LOSSES[0], "", ""));
        for change in scenario.links[0].forward.link.schedule.0.iter() {
            // A key that is new does not compile.
            let Change { at: _, rate, delay, overtake, loss, outage, waiting, repeat } = change;
            let kinds = [
                rate.is_some(),
                delay.is_some(),
                *overtake == Some(true),
                loss.is_some(),
                outage.is_some(),
                *waiting == Some(InOutage::Hold),
                *waiting == Some(InOutage::Lose),
                *repeat == Some(true),
            ];
            seen.iter_mut().zip(kinds).for_each(|(seen, kind)| *seen |= kind);
        }
    }
    assert_eq!(seen, [true; 8]);
}
