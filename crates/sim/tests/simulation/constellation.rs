//! Flows over satellites that move.

use std::ops::ControlFlow;

use bentpipe_sim::scenario::parse_str;
use bentpipe_sim::{RunOptions, RunResult, run};

const SHELL: &str = r#"
    duration = "60 s"
    [constellation]
    preset = "starlink"
    uplink = { rate = "10 Mbit/s", queue = "50 packets" }
    laser = { rate = "100 Mbit/s" }
    [stations.london]
    latitude = "51.507 deg"
    longitude = "-0.128 deg"
    [stations.new-york]
    latitude = "40.713 deg"
    longitude = "-74.006 deg"
    [stations.paris]
    latitude = "48.857 deg"
    longitude = "2.352 deg"
    [stations.pole]
    latitude = "89 deg"
    longitude = "0 deg"
"#;

const FILE: &str = r#"
    [flows.file]
    from = "london"
    to = "new-york"
"#;

fn result(text: &str, settings: &[(&str, &str)]) -> RunResult {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario = parse_str("test", text, &settings).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, RunOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap()
}

/// London and New York are 5,570 km apart: light takes 37 ms there and back along the ground, and satellites are no short cut.
#[test]
fn a_round_trip_is_longer_than_along_the_ground_and_not_much() {
    let result = result(&(SHELL.to_owned() + FILE), &[]);
    let path = &result.paths[0];
    let [least, median, most] = [path.rtt_min_s, path.rtt_median_s, path.rtt_max_s].map(Option::unwrap);
    assert!(0.0372 < least && least <= median && median <= most && most < 0.080, "{least} {median} {most}");
    // Chosen anew every 15 s, and when a satellite is out of sight.
    assert!((1..=12).contains(&path.handovers), "{}", path.handovers);
    assert_eq!(path.no_path_s, 0.0);
    assert!(path.hops_min.unwrap() >= 5 && path.hops_max.unwrap() <= 12, "{path:?}");
    // TCP sees the propagation and the queue at the uplink.
    assert!(result.flows[0].rtt_mean_s.unwrap() > least);
    assert!(result.flows[0].goodput_bps > 5e6, "{}", result.flows[0].goodput_bps);
    assert!(result.links.len() >= 16 && result.links[0].name.starts_with("london.sat"));
}

#[test]
fn a_path_that_is_kept_until_it_breaks_changes_less_often_and_is_longer() {
    let text = SHELL.to_owned() + FILE;
    let [kept, eager] = ["loss", "1 s"].map(|when| {
        let settings = [("constellation.reconfigure", when), ("duration", "300 s")];
        result(&text, &settings).paths.remove(0)
    });
    assert!(0 < kept.handovers && kept.handovers < eager.handovers, "{kept:?} {eager:?}");
    assert!(kept.rtt_median_s > eager.rtt_median_s, "{kept:?} {eager:?}");
}

/// No satellite of the shell comes within sight of the pole.
#[test]
fn a_station_without_a_satellite_in_sight_loses_what_it_sends() {
    let text = SHELL.to_owned()
        + "[flows.call]\napp = \"cbr\"\nrate = \"64 kbit/s\"\nfrom = \"pole\"\nto = \"paris\"\n";
    let result = result(&text, &[]);
    let flow = &result.flows[0];
    let path = &result.paths[0];
    assert_eq!((path.no_path_s, path.hops_min, path.rtt_max_s, path.handovers), (60.0, None, None, 0));
    assert!(flow.datagrams_sent > 0 && flow.datagrams_lost == flow.datagrams_sent);
    assert_eq!((path.no_path_packets, path.left_packets), (flow.datagrams_sent, 0));
    assert!(result.links.is_empty());
}

#[test]
fn without_lasers_neighbours_talk_over_one_satellite_and_an_ocean_is_too_wide() {
    let text = SHELL.to_owned() + FILE + "[flows.near]\nfrom = \"london\"\nto = \"paris\"\nstart = \"1 s\"\n";
    let result = result(&text, &[("constellation.lasers", "false")]);
    let ([far, path], near) = (&result.paths[..], &result.flows[1]) else { panic!("two flows") };
    assert_eq!(far.no_path_s, 60.0);
    assert_eq!((path.hops_min, path.hops_max), (Some(2), Some(2)));
    assert!(near.bytes_delivered > 30_000_000, "{}", near.bytes_delivered);
}

/// A warm-up leaves out what paths did before.
#[test]
fn paths_are_measured_from_the_warm_up_on() {
    let text = SHELL.to_owned() + FILE;
    let handovers = |setting: (&str, &str)| {
        let settings = [("duration", "300 s"), ("constellation.reconfigure", "1 s"), setting];
        result(&text, &settings).paths[0].handovers
    };
    let (early, all) = (handovers(("duration", "150 s")), handovers(("duration", "300 s")));
    let late = handovers(("warm_up", "150 s"));
    // The step at 150 s belongs to both.
    assert!(early > 0 && late > 0 && late + early - all <= 1, "{early} {late} {all}");
}

/// A gateway aboard lowers the windows of flows whose SYN it has seen, and leaves one alone that comes to it later, unless it
/// takes the scale that it does not know for zero.
#[test]
fn gateways_aboard_know_the_flows_that_began_over_them() {
    let text = SHELL.to_owned() + "[flows.file]\nfrom = \"london\"\nto = \"new-york\"\ncount = 8\n";
    let rate = ("constellation.laser", "{ rate = \"4 Mbit/s\", queue = \"40 packets\" }");
    let aboard =
        |rest: &str| format!("{{ scheme = \"xfwa\", isl_delay = \"5 ms\", delta_factor = 8{rest} }}");
    let with = |settings: &[(&str, &str)]| {
        let mut all = vec![rate, ("duration", "120 s"), ("constellation.reconfigure", "1 s")];
        all.extend(settings);
        result(&text, &all)
    };
    let dropped =
        |result: &RunResult| result.links.iter().map(|link| link.stats.dropped_packets).sum::<u64>();
    let lowered = |result: &RunResult, also: &dyn Fn(&str) -> bool| {
        let those = result.gateways.iter().filter(|gateway| also(&gateway.name));
        those.map(|gateway| gateway.stats.windows_lowered).sum::<u64>()
    };
    let still = ("constellation.step", "1 h");
    let (free, guarded) = (with(&[still]), with(&[still, ("constellation.gateway", &aboard(""))]));
    assert!(dropped(&guarded) * 2 < dropped(&free), "{} {}", dropped(&guarded), dropped(&free));
    assert!(lowered(&guarded, &|_| true) > 0);
    let first: Vec<&str> = guarded.gateways.iter().map(|gateway| &*gateway.name).collect();
    let leave = with(&[("constellation.gateway", &aboard(""))]);
    assert!(leave.gateways.len() > first.len());
    assert_eq!(lowered(&leave, &|name| !first.contains(&name)), 0);
    let zero = with(&[("constellation.gateway", &aboard(", unknown_scale = \"zero\""))]);
    assert!(lowered(&zero, &|name| !first.contains(&name)) > 0);
}

#[test]
fn a_seed_gives_the_same_bytes() {
    let text = SHELL.to_owned() + FILE;
    let settings = [
        ("constellation.laser.loss", "{ model = \"packet\", probability = 1e-3 }"),
        ("constellation.handover", "{ in_flight = \"lose\", outage = \"30 ms\" }"),
    ];
    let json = || {
        let mut result = serde_json::to_value(result(&text, &settings)).unwrap();
        result["engine"]["wall_s"] = 0.into();
        result
    };
    let first = json();
    assert!(first["paths"][0]["left_packets"].as_u64() > Some(0), "{:#}", first["paths"]);
    assert_eq!(first, json());
}

/// However soon its flows are over, a run has the same links.
#[test]
fn a_run_lasts_as_long_as_it_is_said_to() {
    let text = SHELL.to_owned() + FILE;
    let short = result(&text, &[("flows.file.bytes", "1 MB"), ("duration", "200 s")]);
    let long = result(&text, &[("duration", "200 s")]);
    assert!(short.flows[0].finish_s < Some(10.0));
    assert_eq!((short.duration_s, short.links.len()), (200.0, long.links.len()));
}

/// London and New York over gateways in Ireland, Newfoundland and Halifax, and a ship.
#[test]
fn without_lasers_gateways_carry_a_flow_over_an_ocean() {
    let gateway = |name: &str, latitude: f64, longitude: f64| {
        format!(
            "[stations.{name}]\nlatitude = \"{latitude} deg\"\nlongitude = \"{longitude} deg\"\nrelay = true\n"
        )
    };
    let text = SHELL.to_owned()
        + &gateway("ireland", 52.0, -10.0)
        + &gateway("ship", 51.0, -31.0)
        + &gateway("newfoundland", 47.6, -52.7)
        + &gateway("halifax", 44.6, -63.6)
        + FILE;
    let settings = [("constellation.lasers", "false"), ("duration", "20 s")];
    let run = result(&text, &settings);
    let path = &run.paths[0];
    assert_eq!(path.no_path_s, 0.0);
    assert!(path.hops_min.unwrap() >= 6 && path.hops_max.unwrap() <= 10, "{path:?}");
    let named = |part: &str| {
        run.links.iter().any(|link| link.name.starts_with(part) && link.stats.delivered_packets > 1000)
    };
    assert!(named("ship.sat") && named("newfoundland.sat"));
    assert!(run.flows[0].goodput_bps > 5e6, "{}", run.flows[0].goodput_bps);
    let none = text.replace("relay = true", "relay = false");
    assert_eq!(result(&none, &settings).paths[0].no_path_s, 20.0);
}
