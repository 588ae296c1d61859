use std::path::Path;

use bentpipe_apps::{AppSpec, FtpSpec};
use bentpipe_path::{LossSpec, QueueSpec};
use bentpipe_tcp::control::StandardOptions;
use bentpipe_tcp::recovery::RecoveryFactory;
use bentpipe_tcp::{Catalogue, DelayedAck, Growth, Profile};
use bentpipe_units::registry::Kind;
use bentpipe_units::{Bytes, Rate, Span};

use super::{BASE, good, set};
use crate::{load, parse_str};

#[test]
fn every_key_arrives() {
    let scenario = good(BASE);
    assert_eq!((scenario.title.as_str(), scenario.seed), ("Base", 7));
    assert_eq!(scenario.duration, Some(Span::from_millis(60_000)));
    assert_eq!(scenario.nodes, ["gateway", "client", "server0", "server1", "server2", "a", "b"]);
    let names: Vec<_> = scenario.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["satellite", "access0", "access1", "access2", "island"]);
    let satellite = &scenario.links[0];
    assert_eq!((satellite.from.0, satellite.to.0), (0, 1));
    assert_eq!(satellite.forward.link.rate, Rate::from_bps(2_048_000));
    assert_eq!(satellite.forward.link.loss, LossSpec::Ber { ber: 1e-6, correctable_bits: 0 });
    let reverse = &satellite.reverse.link;
    assert_eq!((reverse.rate, reverse.delay), (Rate::from_bps(256_000), Span::from_millis(250)));
    assert_eq!((reverse.efficiency, &reverse.queue), (0.8, &QueueSpec::Packets(100)));
    assert_eq!(reverse.loss, LossSpec::None);

    let starts: Vec<_> = scenario.flows.iter().map(|flow| (flow.name.as_str(), flow.start)).collect();
    let second = |n: u64| Span::from_millis(n * 1000);
    assert_eq!(
        starts,
        [
            ("download0", second(1)),
            ("download1", second(3)),
            ("download2", second(5)),
            ("upload", Span::ZERO)
        ]
    );
    let download = &scenario.flows[1];
    assert_eq!((download.from, download.to, download.variant.as_str()), (3, 1, "reno"));
    assert_eq!(*download.app, AppSpec::Ftp(FtpSpec { bytes: Some(50_000_000), ..FtpSpec::default() }));
    let (sender, receiver) = (&download.sender, &download.receiver);
    assert_eq!((sender.recovery.name(), sender.sack), ("reno", false));
    assert_eq!((sender.receive_window, receiver.receive_window), (58_400, 58_400));
    assert_eq!((sender.initial_window, sender.initial_ssthresh), (2, Some(65_536)));
    assert_eq!((sender.growth, sender.max_retransmissions), (Growth::Bytes { limit: 2 }, 6));
    assert_eq!(sender.delayed_ack, DelayedAck::fixed(2, Span::from_millis(200)));
    assert_eq!(receiver.delayed_ack.segments, 1);
    assert_eq!((sender.rto.max, sender.rto.granularity), (second(64), Span::from_millis(500)));
    let upload = &scenario.flows[3];
    assert_eq!((upload.variant.as_str(), upload.sender.receive_window), ("newreno", 65_535));
    assert_eq!(*upload.app, AppSpec::Ftp(FtpSpec { duration: Some(second(30)), ..FtpSpec::default() }));
}

#[test]
fn the_initial_window_of_the_rfcs_is_by_the_size_of_a_segment() {
    let found = |mss: u32, others: &[(&str, &str)]| {
        let mss = format!("{mss} B");
        let all: Vec<(&str, &str)> =
            [("tcp.mss", mss.as_str())].into_iter().chain(others.iter().copied()).collect();
        set(SMALL, &all).unwrap().flows[0].sender.initial_window
    };
    // RFC 5681 section 3.1.
    for (mss, segments) in [(1095, 4), (1096, 3), (2190, 3), (2191, 2), (8960, 2)] {
        assert_eq!(found(mss, &[]), segments, "{mss} B");
    }
    // RFC 6928 section 2: min (10*MSS, max (2*MSS, 14600)).
    for (mss, segments) in [(536, 10), (1460, 10), (1461, 9), (8960, 2)] {
        assert_eq!(found(mss, &[("tcp.initial_window", "rfc6928")]), segments, "{mss} B");
    }
    assert_eq!(found(8960, &[("tcp.initial_window", "3 segments")]), 3);
    assert_eq!(found(8960, &[("tcp.profile", "linux")]), 10);
    assert_eq!(found(8960, &[("tcp.profile", "ns2"), ("tcp.initial_window", "rfc5681")]), 2);
}

const SMALL: &str = "
[links.l]
from = 'a'
to = 'b'
rate = '1 Mbit/s'
delay = '1 ms'
[flows.f]
from = 'a'
to = 'b'
bytes = '1 MB'
";

#[test]
fn what_is_not_written_is_as_the_profile_has_it() {
    for profile in Profile::ALL {
        for name in <dyn RecoveryFactory>::ours().names() {
            let overrides = [("tcp.profile", profile.name()), ("flows.f.variant", name)];
            let scenario = set(SMALL, &overrides).unwrap();
            let recovery = Catalogue::default().usual::<dyn RecoveryFactory>(name).unwrap();
            let config = format!("{:?}", profile.config(recovery, StandardOptions::default()));
            let flow = &scenario.flows[0];
            assert_eq!(
                [format!("{:?}", flow.sender), format!("{:?}", flow.receiver)],
                [config.clone(), config]
            );
        }
    }
    let scenario = good(SMALL);
    assert_eq!((scenario.title.as_str(), scenario.seed, scenario.duration), ("s", 1, None));
    assert_eq!(scenario.flows[0].variant, "sack");
    let link = &scenario.links[0];
    assert_eq!((link.forward.link.efficiency, &link.forward.link.queue), (1.0, &QueueSpec::Unlimited));
}

#[test]
fn what_a_flow_does_not_name_is_as_its_profile_has_it() {
    let chosen = |overrides: &[(&str, &str)]| {
        let flow = &set(SMALL, overrides).unwrap().flows[0];
        [&flow.sender, &flow.receiver]
            .map(|end| (end.recovery.name().to_owned(), end.control.name().to_owned()))
    };
    let both = |recovery: &str, control: &str| [(); 2].map(|()| (recovery.to_owned(), control.to_owned()));
    for profile in Profile::ALL {
        let (recovery, control) = (profile.recovery(), profile.control());
        assert_eq!(chosen(&[("tcp.profile", profile.name())]), both(recovery, control));
        let named = [("tcp.profile", profile.name()), ("flows.f.control", "adalr")];
        assert_eq!(chosen(&named), both(recovery, "adalr"));
        let named = [("tcp.profile", profile.name()), ("flows.f.recovery", "reno")];
        assert_eq!(chosen(&named), both("reno", control));
    }
    // The flow's own profile goes before that of all, and the receiver's chooses nothing.
    let linux = both(Profile::Linux.recovery(), "cubic");
    assert_eq!(chosen(&[("tcp.profile", "ns2"), ("flows.f.tcp.profile", "linux")]), linux);
    assert_eq!(chosen(&[("tcp.profile", "linux"), ("flows.f.receiver_tcp.profile", "rfc")]), linux);
}

#[test]
fn cubic_is_linuxs_own_with_its_profile() {
    let found = |overrides: &[(&str, &str)]| {
        let sender = &set(SMALL, overrides).unwrap().flows[0].sender;
        (format!("{:?}", sender.control).contains("reading: Linux"), sender.slow_start.name().to_owned())
    };
    let linux = ("tcp.profile", "linux");
    assert_eq!(found(&[linux]), (true, "hystart".to_owned()));
    assert_eq!(found(&[linux, ("tcp.cubic.c", "0.5")]), (true, "hystart".to_owned()));
    assert_eq!(found(&[linux, ("tcp.cubic.reading", "rfc")]), (false, "hystart".to_owned()));
    assert_eq!(found(&[linux, ("tcp.slow_start", "limited")]), (true, "limited".to_owned()));
    assert_eq!(found(&[linux, ("flows.f.control", "standard")]), (false, "standard".to_owned()));
    let cubic = ("flows.f.variant", "cubic");
    assert_eq!(found(&[cubic]), (false, "hystart".to_owned()));
    assert_eq!(found(&[cubic, ("tcp.slow_start", "standard")]), (false, "standard".to_owned()));
    assert_eq!(found(&[("flows.f.control", "cubic")]), (false, "standard".to_owned()));
    let scenario = set(SMALL, &[cubic]).unwrap();
    assert_eq!((scenario.flows[0].sender.recovery.name(), &*scenario.flows[0].variant), ("rack", "cubic"));
}

#[test]
fn a_variant_that_linux_has_goes_over_its_recovery_in_that_profile() {
    let found = |variant: &str, profile: &str| {
        let scenario = set(SMALL, &[("flows.f.variant", variant), ("tcp.profile", profile)]).unwrap();
        let flow = &scenario.flows[0];
        (flow.sender.recovery.name().to_owned(), flow.variant.to_string())
    };
    for variant in ["hybla", "westwood", "veno", "vegas", "illinois", "highspeed"] {
        assert_eq!(found(variant, "linux"), ("rack".to_owned(), variant.to_owned()));
        assert_eq!(found(variant, "rfc"), ("sack".to_owned(), variant.to_owned()));
    }
    assert_eq!(found("adalr-sack", "linux").0, "sack");
}

#[test]
fn a_window_that_is_written_alone_stays_as_it_is() {
    let found = |overrides: &[(&str, &str)]| {
        let receiver = &set(SMALL, overrides).unwrap().flows[0].receiver;
        (receiver.receive_window, receiver.receive_buffer.map(|buffer| (buffer.initial, buffer.max)))
    };
    let linux = ("tcp.profile", "linux");
    let kernel = Some((131_072, 33_554_432));
    assert_eq!(found(&[linux]), (20 << 20, kernel));
    assert_eq!(found(&[linux, ("tcp.receive_window", "1 MiB")]), (1 << 20, None));
    assert_eq!(found(&[linux, ("tcp.receive_buffer", "false")]), (65_535, None));
    assert_eq!(found(&[("tcp.receive_buffer", "true")]), (20 << 20, kernel));
    let both = [("tcp.receive_window", "1 MiB"), ("tcp.receive_buffer", "true")];
    assert_eq!(found(&both), (1 << 20, kernel));
    // A buffer that is smaller than the first one of the profile begins as large as it may get.
    assert_eq!(found(&[("tcp.receive_buffer.max", "64 KiB")]), (40_960, Some((65_536, 65_536))));
    assert_eq!(found(&[linux, ("tcp.window_scaling", "false")]), (65_535, kernel));
    let wrong = [("tcp.receive_buffer", "{ initial = '2 MiB', max = '1 MiB' }")];
    let said = set(SMALL, &wrong).unwrap_err().to_string();
    assert!(said.ends_with("expected at most the buffer's max (1048576 B), found 2097152 B"), "{said}");
}

#[test]
fn something_must_end_the_run() {
    let endless = SMALL.replace("bytes = '1 MB'", "");
    assert_eq!(
        parse_str("s.toml", &endless, &[]).unwrap_err().to_string(),
        "s.toml:7: flows.f: nothing ends the run: it needs bytes or duration, here or as its duration"
    );
    for key in ["duration", "flows.f.duration"] {
        assert!(set(&endless, &[(key, "1 s")]).is_ok());
    }
    let both = set(SMALL, &[("flows.f.duration", "1 s")]).unwrap();
    let duration = Some(Span::from_millis(1000));
    assert_eq!(
        *both.flows[0].app,
        AppSpec::Ftp(FtpSpec { bytes: Some(1_000_000), duration, ..FtpSpec::default() })
    );
}

#[test]
fn a_stream_lasts_as_long_as_what_has_an_end() {
    let app = |keys: &str| SMALL.replace("bytes = '1 MB'", keys);
    for (keys, expected) in
        [("app = 'cbr'\nrate = '1 Mbit/s'", "bytes or duration"), ("app = 'multimedia'", "duration")]
    {
        let stream = app(keys);
        assert_eq!(
            parse_str("s.toml", &stream, &[]).unwrap_err().to_string(),
            format!("s.toml:7: flows.f: nothing ends the run: it needs {expected}, here or as its duration")
        );
        for key in ["duration", "flows.f.duration"] {
            assert!(set(&stream, &[(key, "1 s")]).is_ok());
        }
        let download = SMALL.split("[flows.f]").nth(1).unwrap();
        let beside = format!("{stream}\n[flows.g]{download}");
        assert_eq!(set(&beside, &[]).unwrap().flows[0].variant, "udp");
    }
}

#[test]
fn links_and_flows_are_needed() {
    for (text, expected) in [
        ("seed = 1", "s: links: expected at least one link, such as [links.satellite], found none"),
        (
            SMALL.split("[flows").next().unwrap(),
            "s: flows: expected at least one flow, such as [flows.download] with from and to, found none",
        ),
    ] {
        assert_eq!(parse_str("s", text, &[]).unwrap_err().to_string(), expected);
    }
}

#[test]
fn overrides_are_toml_or_else_bare_text() {
    let scenario = set(
        BASE,
        &[
            ("links.satellite.rate", "1 Mbit/s"),
            ("links.satellite.delay", "\"5 ms\""),
            ("links.*.efficiency", "0.5"),
            ("links.satellite.loss.ber", "1e-5"),
            ("flows.*.variant", "sack"),
            ("tcp.delayed_ack", "false"),
            ("tcp.rto.min", "200 ms"),
            ("title", "2026-01-01"),
            ("flows.\"download\".count", " 2 "),
        ],
    )
    .unwrap();
    assert_eq!(scenario.links[0].forward.link.rate, Rate::from_bps(1_000_000));
    assert_eq!(scenario.links[0].reverse.link.delay, Span::from_millis(5));
    assert!(scenario.links.iter().all(|link| link.forward.link.efficiency == 0.5));
    assert_eq!(scenario.links[0].forward.link.loss, LossSpec::Ber { ber: 1e-5, correctable_bits: 0 });
    // The upload chose its recovery and control, which a variant chosen above takes back.
    assert!(scenario.flows.iter().all(|flow| flow.variant == "sack"));
    assert_eq!(scenario.flows[0].sender.delayed_ack.segments, 1);
    assert_eq!(scenario.flows[0].sender.rto.min, Span::from_millis(200));
    assert_eq!(scenario.flows[0].sender.rto.max, Span::from_millis(64_000));
    assert_eq!((scenario.title.as_str(), scenario.flows.len()), ("2026-01-01", 3));
}

#[test]
fn what_every_tcp_is_set_to_passes_over_udp() {
    let stream = r#"{ from = "server0", to = "client", app = "cbr", rate = "100 kbit/s" }"#;
    let all = [("flows.stream", stream), ("flows.*.variant", "afc"), ("flows.*.start", "2 s")];
    let scenario = set(BASE, &all).unwrap();
    let variants: Vec<_> = scenario.flows.iter().map(|flow| flow.variant.as_str()).collect();
    assert_eq!(variants, ["afc", "afc", "afc", "afc", "udp"]);
    assert!(scenario.flows.iter().all(|flow| flow.start >= Span::from_millis(2000)));
    let named = set(BASE, &[("flows.stream", stream), ("flows.stream.variant", "afc")]);
    assert!(named.unwrap_err().to_string().contains("flows.stream.variant"));
}

#[test]
fn a_later_override_wins_and_a_model_replaces_the_whole_loss() {
    let packet = r#"{ model = "packet", probability = 0.01 }"#;
    let scenario = set(BASE, &[("links.satellite.loss", packet), ("seed", "1"), ("seed", "2")]).unwrap();
    assert_eq!(scenario.links[0].forward.link.loss, LossSpec::Packet { probability: 0.01 });
    assert_eq!(scenario.seed, 2);
    let drop = [
        ("links.satellite.loss.model", "drop"),
        ("links.satellite.loss.packets", "[14, 26]"),
        ("links.satellite.loss.at_least", "100 B"),
    ];
    let loss = set(BASE, &drop).unwrap().links[0].forward.link.loss.clone();
    assert_eq!(loss, LossSpec::Drop { packets: vec![14, 26], at_least: Bytes::new(100) });
}

#[test]
fn a_whole_flow_or_link_can_be_added() {
    let flow = r#"{ from = "server1", to = "client" }"#;
    let scenario = set(BASE, &[("flows.extra", flow), ("flows.extra.start", "3 s")]).unwrap();
    assert_eq!((scenario.flows.len(), scenario.flows[4].start), (5, Span::from_millis(3000)));
    let link = r#"{ from = "a", to = "client", rate = "1 Mbit/s", delay = "1 ms" }"#;
    let scenario = set(BASE, &[("links.bridge", link), ("flows.upload.to", "b")]).unwrap();
    assert_eq!(scenario.links.len(), 6);
}

#[test]
fn a_wrong_override_fails_as_it_would_in_the_file() {
    for (key, value, error) in [
        (
            "links.satelite.rate",
            "1 Mbit/s",
            "links.satelite.rate: expected one of the links (satellite, access, island), found \"satelite\"; \
             did you mean \"satellite\"?",
        ),
        (
            "tcp.recieve_window",
            "64 KiB",
            "tcp.recieve_window: expected one of the known keys, found \"recieve_window\"; did you mean \
             \"receive_window\"?",
        ),
        (
            "flows.*.variant",
            "bic",
            "flows.download.variant: expected a variant (tahoe, reno, newreno, sack, newreno-1999, sack-1996, sack-linux-2.4, rack, adalr-sack, adalr-newreno, afc, adalr+afc, cubic, bbr1, bbr3, hybla, westwood, veno, vegas, illinois, highspeed, xcp, jersey, star, new-vegas, peach), found \"bic\"",
        ),
        (
            "links.*.rate",
            "-1 Mbit/s",
            "links.satellite.rate: expected a rate such as \"2.048 Mbit/s\" that is not negative, found \
             \"-1 Mbit/s\"",
        ),
        (
            "links.satellite.loss.ber",
            "1.5",
            "links.satellite.loss.ber: expected a probability from 0 to 1, found 1.5",
        ),
        (
            "flow.*.variant",
            "reno",
            "flow.*.variant: expected * behind a table of names (links, flows, handovers, stations), found \"flow\"; did \
             you mean \"flows\"?",
        ),
        ("handovers.*.at", "1 s", "handovers.*.at: * stands for no name: there is none in handovers"),
        ("handovers.h.at", "1 s", "handovers.h.at: expected one of the handovers (none), found \"h\""),
        ("seed.x", "1", "seed: expected a whole number from 0 to 9007199254740991, found a table"),
        ("extends", "preset:geo", "extends: can stand in a file only"),
        ("", "1", "expected a dotted key such as links.satellite.rate, found \"\""),
        ("a..b", "1", "a..b: expected a dotted key such as links.satellite.rate, found \"a..b\""),
        ("\"a", "1", "\"a: expected a dotted key such as links.satellite.rate, found \"\\\"a\""),
        ("seed", "[1", "seed: expected a TOML value, found what is not: \"[1\""),
        (
            "seed",
            "1\nseed = 2",
            "seed: expected a whole number from 0 to 9007199254740991, found \"1\\nseed = 2\"",
        ),
        (
            "seed",
            "99999999999999999999",
            "seed: expected a whole number of at most 64 bits, found \"99999999999999999999\"",
        ),
        ("seed", "1e300", "seed: expected a whole number from 0 to 9007199254740991, found 1e300"),
        (
            "links.satellite.loss.ber",
            "1e-400",
            "links.satellite.loss.ber: expected a number of at least 5e-324, or 0, found \"1e-400\"",
        ),
        ("flows.upload", "5", "flows.upload: expected one of the flows (download, upload), found \"upload\""),
    ] {
        let found = set(BASE, &[(key, value)]).unwrap_err();
        if key == "flows.upload" {
            assert!(found.starts_with("--set: flows.upload: expected a table"), "{found}");
            continue;
        }
        assert_eq!(found, format!("--set: {error}"));
    }
}

#[test]
fn a_handover_leads_each_copy_of_a_flow_over_links_of_its_own_number() {
    let text = "
        duration = '10 s'
        links.old = { from = 'a', to = 'b', rate = '1 Mbit/s', delay = '1 ms' }
        links.sat = { count = 3, from = 'a', to = 's{i}', rate = '1 Mbit/s', delay = '9 ms' }
        links.down = { count = 3, from = 's{i}', to = 'b', rate = '1 Mbit/s', delay = '9 ms' }
        flows.f = { from = 'a', to = 'b', count = 3 }
        handovers.h = { at = '5 s', flows = ['f*'], via = ['sat{i}', 'down{i}'] }
        handovers.back = { at = '6 s', flows = ['f1', 'f2'], via = ['old'] }
    ";
    let routes = |number: usize| -> Vec<Vec<usize>> {
        good(text).handovers[number].via.iter().map(|way| way.to_vec()).collect()
    };
    assert_eq!(routes(0), [[1, 4], [2, 5], [3, 6]]);
    assert_eq!(routes(1), [[0], [0]]);
    let error =
        parse_str("s", &text.replace("count = 3, from = 'a'", "count = 2, from = 'a'"), &[]).unwrap_err();
    assert!(error.to_string().contains("handovers.h.via: expected a link"), "{error}");
    assert!(error.to_string().contains("found \"sat2\""), "{error}");
}

#[test]
fn an_empty_name_is_said_to_be_one() {
    let error = load(Path::new(""), &[]).unwrap_err().to_string();
    assert_eq!(
        error,
        "SCENARIO: expected a file, preset:NAME or the folder of a result, found an empty name"
    );
}

#[test]
fn more_numbers_than_memory_are_refused() {
    let drops = format!("{{ model = 'drop', packets = [{}] }}", "1,".repeat(1000));
    let text = SMALL.replace("from = 'a'\nto = 'b'\nrate", "from = 'a'\nto = 'b{i}'\ncount = 20000\nrate");
    let text = text.replace("to = 'b'\nbytes", "to = 'b0'\nbytes");
    assert_eq!(good(&text).links.len(), 20_000);
    assert_eq!(
        set(&text, &[("links.l.loss", &drops)]).unwrap_err(),
        "--set: links.l.loss.packets: expected at most 10000000 packets over all copies of the link, found more"
    );
}

/// A sweep compares gateways with none.
#[test]
fn none_takes_a_gateway_away() {
    let guarded =
        |overrides: &[(&str, &str)]| set(BASE, overrides).unwrap().links[0].forward.gateway.is_some();
    let gateway = ("links.satellite.gateway", "{ scheme = \"ewa\" }");
    assert!(guarded(&[gateway]));
    assert!(!guarded(&[gateway, ("links.satellite.gateway", "none")]));
}
