use std::fs;
use std::path::{Path, PathBuf};

use bentpipe_path::QueueSpec;
use bentpipe_tcp::control::StandardOptions;
use bentpipe_tcp::recovery::SackOptions;
use bentpipe_tcp::{Catalogue, Growth, Profile};
use bentpipe_units::{Rate, Span};
use serde_json::{Value, json};

use super::set;
use crate::{Scenario, load, parse_str, presets, schema};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn preset(name: &str, from: &str, to: &str) -> Scenario {
    let flow = format!("[flows.download]\nfrom = \"{from}\"\nto = \"{to}\"\nbytes = \"1 MB\"");
    set(&format!("extends = \"preset:{name}\"\n{flow}"), &[]).unwrap()
}

#[test]
fn every_preset_has_a_title_and_a_flow_where_it_is_run_by_itself() {
    let presets = presets();
    let names: Vec<_> = presets.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["geo", "sack-geo", "sack-terrestrial", "adalr-geo", "leo-t1", "leo-groups"]);
    for (name, title) in presets {
        assert!(title.len() > 20, "{name}: {title:?}");
        let alone = |key: &str, value: &str| {
            load(Path::new(&format!("preset:{name}")), &[(key.to_owned(), value.to_owned())])
        };
        let flows = |scenario: Scenario| scenario.flows.into_iter().map(|flow| (flow.name, flow.variant));
        let one = |variant: &str| vec![("download".to_owned(), variant.to_owned())];
        for key in ["flows.*.variant", "flows.download.variant"] {
            assert_eq!(flows(alone(key, "bbr3").unwrap()).collect::<Vec<_>>(), one("bbr3"), "{name} {key}");
        }
        // A flow of somebody's own stands alone.
        let error = alone("flows.f", "{ from = 'nowhere', to = 'there', bytes = '1 B' }").unwrap_err();
        assert!(error.message().contains("nowhere"), "{error}");
        let (from, to) = match name {
            "geo" | "adalr-geo" => ("server", "client"),
            "leo-groups" => ("source2", "destination2"),
            _ => ("source", "destination"),
        };
        let own = format!("{{ from = '{from}', to = '{to}', bytes = '1 B' }}");
        let names = |scenario: Scenario| flows(scenario).map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(alone("flows.f", &own).unwrap()), ["f"]);
        assert_eq!(names(alone("flows", &format!("{{ f = {own} }}")).unwrap()), ["f"]);
        let text = format!("extends = \"preset:{name}\"\n[flows]\nf = {own}");
        assert_eq!(names(set(&text, &[]).unwrap()), ["f"]);
    }
    let files = fs::read_dir(repository().join("scenarios/presets")).unwrap().count();
    assert_eq!(files, names.len());
}

#[test]
fn the_satellite_of_the_sack_document_has_its_round_trip_time() {
    let scenario = preset("sack-geo", "source", "destination");
    let one_way: f64 = scenario.links.iter().map(|link| link.forward.link.delay.as_secs()).sum();
    let sending: f64 =
        scenario.links.iter().map(|link| link.forward.link.rate.time_to_send(512).as_secs()).sum();
    assert!((2.0 * one_way + sending - 0.2553).abs() < 0.00005, "{one_way} {sending}");
    let window = scenario.links[0].forward.link.rate.as_bps() as f64 * 0.2553 / 8.0 / 512.0;
    assert!((window - 95.737).abs() < 0.001, "{window}");
    let tcp = &scenario.flows[0].receiver;
    assert_eq!((tcp.mss + 40, tcp.receive_window), (512, 96 * 472));
    assert_eq!((tcp.growth, tcp.delayed_ack.segments), (Growth::PerAck, 1));
}

#[test]
fn the_presets_are_the_networks_of_their_papers() {
    let geo = preset("geo", "server", "client");
    assert_eq!(geo.nodes, ["server", "gateway", "client"]);
    assert_eq!(geo.links[1].forward.link.queue, QueueSpec::Packets(100));
    assert_eq!(geo.links[1].reverse.link.rate, Rate::from_bps(256_000));
    let terrestrial = preset("sack-terrestrial", "source", "destination");
    assert_eq!(terrestrial.links[0].forward.link.delay, Span::from_nanos(100_000));
    assert_eq!(terrestrial.flows[0].sender.mss, 960);
    assert_eq!(terrestrial.flows[0].sender.rto.granularity, Span::from_millis(100));
    let leo = preset("leo-t1", "source", "destination");
    let one_way: f64 = leo.links.iter().map(|link| link.forward.link.delay.as_secs()).sum();
    assert!((2.0 * one_way - 0.16).abs() < 1e-9, "{one_way}");
    assert_eq!(leo.links[1].forward.link.queue, QueueSpec::Packets((1.5e6 * 0.16 / 8.0 / 1000.0) as u32));
    let adalr = preset("adalr-geo", "server", "client");
    let serving =
        adalr.links[1].forward.link.rate.scaled(adalr.links[1].forward.link.efficiency).time_to_send(1500);
    assert!((serving.as_secs() - 0.00733).abs() < 0.00001, "{serving}");
    assert_eq!(adalr.flows[0].sender.receive_window, 65_535);
}

#[test]
fn examples_and_benchmarks_are_valid() {
    let mut seen = Vec::new();
    for folder in ["scenarios", "bench/scenarios"] {
        for entry in fs::read_dir(repository().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
                seen.push(path.file_stem().unwrap().to_owned());
            }
        }
    }
    for name in ["first", "geo-lossy", "two-flows", "geo", "geo-fast", "dumbbell-10", "dumbbell-1000"] {
        assert!(seen.contains(&name.into()), "{name}");
    }
}

#[test]
fn the_dumbbells_share_one_gigabit_over_fifty_milliseconds() {
    for n in [10, 1000] {
        let path = repository().join(format!("bench/scenarios/dumbbell-{n}.toml"));
        let scenario = load(&path, &[]).unwrap();
        assert_eq!((scenario.flows.len(), scenario.links.len()), (n, 2 * n + 1));
        let last = &scenario.flows[n - 1];
        assert_eq!(last.start, Span::from_millis(n as u64 - 1));
        assert_eq!(scenario.nodes[last.from], format!("s{}", n - 1));
        assert_eq!(scenario.nodes[last.to], format!("r{}", n - 1));
        let bottleneck = &scenario.links[n];
        assert_eq!(bottleneck.name, "bottleneck");
        assert_eq!(bottleneck.forward.link.queue, QueueSpec::Packets((1e9 * 0.05 / 8.0 / 1500.0) as u32));
        assert_eq!(
            scenario.links[0].forward.link.delay * 2 + bottleneck.forward.link.delay,
            Span::from_millis(25)
        );
    }
}

/// Every `properties` object of a JSON Schema, wherever it stands.
fn keys(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get("properties") {
                found.extend(properties.keys().cloned());
            }
            object.values().for_each(|value| keys(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn the_schema_describes_every_key_and_refuses_others() {
    let schema = schema(&Catalogue::default());
    assert_eq!(schema["additionalProperties"], false, "{schema:#}");
    for key in ["extends", "title", "duration", "seed", "links", "tcp", "flows"] {
        assert!(
            schema["properties"][key]["description"].is_string()
                || schema["properties"][key]["$ref"].is_string()
        );
    }
    let mut found = Vec::new();
    keys(&schema, &mut found);
    for key in ["receive_window", "start_step", "correctable_bits", "granularity", "reverse"] {
        assert!(found.contains(&key.to_owned()), "{key}");
    }
    let flow = &schema["$defs"]["FlowFile"]["properties"];
    assert_eq!(
        flow["variant"]["anyOf"][0]["enum"],
        json!([
            "tahoe",
            "reno",
            "newreno",
            "sack",
            "newreno-1999",
            "sack-1996",
            "sack-linux-2.4",
            "rack",
            "adalr-sack",
            "adalr-newreno",
            "afc",
            "adalr+afc",
            "cubic",
            "bbr1",
            "bbr3",
            "hybla",
            "westwood",
            "veno",
            "vegas",
            "illinois",
            "highspeed",
            "xcp",
            "jersey",
            "star",
            "new-vegas",
            "peach"
        ])
    );
    assert_eq!(flow["count"]["type"], "integer");
    assert_eq!(flow["duration"]["$ref"], "#/$defs/Span");
    assert!(!schema.to_string().contains("null"), "{schema:#}");
}

#[test]
fn the_whole_scenarios_of_the_pages_are_valid() {
    let page = |name: &str| fs::read_to_string(repository().join("docs/reference").join(name)).unwrap();
    let text = page("scenario.md") + &page("applications.md");
    let blocks: Vec<_> = text.split("```toml complete\n").skip(1).collect();
    assert!(blocks.len() >= 3, "{}", blocks.len());
    for block in blocks {
        let block = block.split("```").next().unwrap();
        parse_str("docs/reference/scenario.md", block, &[])
            .unwrap_or_else(|error| panic!("{error} in\n{block}"));
    }
}

/// Writing a default of a profile changes nothing.
#[test]
fn the_defaults_of_each_profile_are_its_own() {
    let base = "extends = \"preset:geo\"\n[flows.f]\nfrom = \"server\"\nto = \"client\"\nbytes = \"1 MB\"\nvariant = \"sack\"";
    for profile in Profile::ALL {
        let expected = profile.config(SackOptions, StandardOptions::default());
        let defaults = profile.defaults();
        assert!(defaults.len() > 27, "{}", defaults.len());
        for (key, value) in defaults {
            let key = format!("tcp.{key}");
            let scenario = set(base, &[("tcp.profile", profile.name()), (&key, &value)]).unwrap();
            let found = &scenario.flows[0].sender;
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{key} of {}", profile.name());
        }
    }
}
