//! What a scenario with satellites must say, and what it is told when it does not.

use bentpipe_units::Span;

use super::{Scenario, parse_str};
use crate::ConstellationSpec;
use bentpipe_sky::{Satellites, Shell};

const SHELL: &str = r#"duration = "60 s"
[constellation]
preset = "starlink"
step = "50 ms"
uplink = { rate = "20 Mbit/s", queue = "60 packets" }
laser = { rate = "1 Gbit/s" }
[stations.london]
latitude = "51.5 deg"
longitude = "-0.1 deg"
[stations.sydney]
latitude = "-33.9 deg"
longitude = "151.2 deg"
altitude = "35 m"
[flows.f]
from = "london"
to = "sydney"
"#;

const SETS_WITH_LASERS: &str = concat!(
    r#"elements = { text = "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753\n"#,
    r#"2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667" }"#,
    "\nlasers = true"
);
const SETS_OF_YESTERDAY: &str = concat!(
    r#"elements = { text = "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753\n"#,
    r#"2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667" }"#,
    "\nepoch = \"yesterday\""
);

fn good(text: &str) -> Scenario {
    parse_str("s.toml", text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn shell_of(spec: &ConstellationSpec) -> Shell {
    match spec.sky.satellites {
        Satellites::Shell(shell) => shell,
        Satellites::Elements(_) => panic!("element sets"),
    }
}

#[test]
fn a_station_may_be_a_city() {
    let coordinates = "latitude = \"51.5 deg\"\nlongitude = \"-0.1 deg\"\n";
    let place = |text: &str| good(text).constellation.unwrap().sky.stations[0].1;
    let there = place(&SHELL.replace(coordinates, "latitude = \"51.51 deg\"\nlongitude = \"-0.13 deg\"\n"));
    assert_eq!(place(&SHELL.replace(coordinates, "")), there);
    let elsewhere = SHELL.replace("london", "office").replace(coordinates, "city = \"London\"\n");
    assert_eq!(place(&elsewhere), there);
}

#[test]
fn what_is_left_out_is_the_presets_or_the_uplinks() {
    let spec = good(SHELL).constellation.unwrap();
    assert_eq!(
        (spec.sky.step, spec.sky.reconfigure),
        (Span::from_millis(50), Some(Span::from_millis(15_000)))
    );
    assert_eq!((spec.sky.outage, spec.sky.lasers, spec.sky.elevation_deg), (Span::ZERO, true, 25.0));
    assert_eq!(
        (spec.downlink.link.rate, &spec.downlink.link.queue),
        (spec.uplink.link.rate, &spec.uplink.link.queue)
    );
    assert_eq!(
        (spec.laser.link.rate.as_bps(), &spec.laser.link.queue),
        (1_000_000_000, &spec.uplink.link.queue)
    );
    let shell = SHELL.replace("preset = \"starlink\"", "shell = \"delta:1584/72/36:53:550\"");
    let other = good(&shell).constellation.unwrap();
    assert_eq!((shell_of(&other), other.sky.reconfigure), (shell_of(&spec), None));
    let pipe = good(&SHELL.replace("starlink", "oneweb")).constellation.unwrap();
    assert_eq!((pipe.sky.lasers, pipe.sky.elevation_deg), (false, 55.0));
}

/// A cone stands in place of the preset's elevation; beside one of the scenario's own, the narrower counts.
#[test]
fn a_cone_limits_what_a_station_sees() {
    let elevation = |keys: &str| {
        let text = SHELL.replace("step = \"50 ms\"", &format!("step = \"50 ms\"\n{keys}"));
        good(&text).constellation.unwrap().sky.elevation_deg
    };
    let alone = elevation("cone = \"56.55 deg\"");
    assert!((alone - 25.0).abs() < 0.1, "{alone}");
    assert_eq!(elevation("cone = \"80 deg\""), 0.0);
    assert_eq!(elevation("cone = \"80 deg\"\nelevation = \"30 deg\""), 30.0);
    assert_eq!(elevation("cone = \"56.55 deg\"\nelevation = \"20 deg\""), alone);
}

/// The scenario's own text runs again.
#[test]
fn the_whole_text_is_the_same_scenario() {
    let first = good(SHELL);
    assert_eq!(format!("{:?}", good(&first.toml(1)).constellation), format!("{:?}", first.constellation));
}

#[test]
fn each_wrong_value_is_told_in_one_line() {
    let cases = [
        (
            "starlink",
            "starlnk",
            "s.toml:3: constellation.preset: expected a constellation (starlink, kuiper, oneweb, iridium), found \"starlnk\"; did you mean \"starlink\"?",
        ),
        (
            "preset = \"starlink\"\n",
            "",
            "s.toml:2: constellation.preset: [constellation] needs one of preset, shell and elements, and no more",
        ),
        (
            "step = \"50 ms\"",
            "shell = \"delta:66/6/3:86:780\"",
            "s.toml:3: constellation.preset: [constellation] needs one of preset, shell and elements, and no more",
        ),
        (
            "preset = \"starlink\"",
            "shell = \"delta:66/7/3:86:780\"",
            "s.toml:3: constellation.shell: expected a shell of up to 20,000 satellites as delta:T/P/F:INCLINATION:ALTITUDE, or star:..., such as \"delta:1584/72/36:53:550\", found \"delta:66/7/3:86:780\"",
        ),
        (
            "step = \"50 ms\"",
            "epoch = \"2026-11-23T00:00:00Z\"",
            "s.toml:4: constellation.epoch: needs elements",
        ),
        (
            "preset = \"starlink\"",
            "elements = { text = \"one\\n1 00005U\" }",
            "s.toml:3: constellation.elements: expected a second line of the element set, found the end",
        ),
        (
            "preset = \"starlink\"",
            SETS_WITH_LASERS,
            "s.toml:4: constellation.lasers: cannot be combined with elements, which do not say which satellites are neighbours",
        ),
        (
            "preset = \"starlink\"",
            SETS_OF_YESTERDAY,
            "s.toml:4: constellation.epoch: expected a time such as \"2026-11-23T00:00:00Z\", found \"yesterday\"",
        ),
        ("latitude = \"51.5 deg\"\n", "", "s.toml:7: stations.london.latitude: longitude needs a latitude"),
        (
            "latitude = \"51.5 deg\"\nlongitude = \"-0.1 deg\"",
            "city = \"Lomdon\"",
            "s.toml:8: stations.london.city: expected a latitude and a longitude, or a city, found \"Lomdon\"; did you mean \"London\"?",
        ),
        (
            "step = \"50 ms\"",
            "step = \"0 s\"",
            "s.toml:4: constellation.step: expected a time above zero, found 0 s",
        ),
        (
            "step = \"50 ms\"",
            "step = \"1 ns\"",
            "s.toml:4: constellation.step: expected a time of at least 1 ms, found 1 ns",
        ),
        (
            "step = \"50 ms\"",
            "reconfigure = \"0 s\"",
            "s.toml:4: constellation.reconfigure: expected \"loss\", or a time above zero such as \"15 s\", found \"0 s\"",
        ),
        (
            "step = \"50 ms\"",
            "handover = { in_flight = \"keep\" }",
            "s.toml:4: constellation.handover.in_flight: expected one of the known names (deliver, lose), found \"keep\"",
        ),
        (
            "step = \"50 ms\"",
            "polar = \"91 deg\"",
            "s.toml:4: constellation.polar: expected from 0 deg to 90 deg, found 91 deg",
        ),
        (
            "step = \"50 ms\"",
            "lasers = false\npolar = \"70 deg\"",
            "s.toml:5: constellation.polar: needs lasers",
        ),
        (
            "step = \"50 ms\"",
            "cone = \"0 deg\"",
            "s.toml:4: constellation.cone: expected above 0 deg, found 0 deg",
        ),
        (
            "step = \"50 ms\"",
            "cone = \"91 deg\"",
            "s.toml:4: constellation.cone: expected from 0 deg to 90 deg, found 91 deg",
        ),
        (
            "step = \"50 ms\"",
            "elevation = 25",
            "s.toml:4: constellation.elevation: expected an angle such as \"51.5 deg\", found 25",
        ),
        (
            "step = \"50 ms\"",
            "elevation = \"91 deg\"",
            "s.toml:4: constellation.elevation: expected from 0 deg to 90 deg, found 91 deg",
        ),
        (
            "step = \"50 ms\"",
            "gateway = { scheme = \"snoop\" }",
            "s.toml:4: constellation.gateway: expected a scheme that lowers windows or tells senders, which is all that satellites have aboard, found \"snoop\"",
        ),
        (
            "to = \"sydney\"",
            "to = \"sydney\"\nipsec = true",
            "s.toml:17: flows.f.ipsec: cannot be combined with [constellation], whose paths serve all flows between two stations",
        ),
        (
            "step = \"50 ms\"",
            "gateway = { scheme = \"xfwa\", isl_delay = \"5 ms\", rtt_factor = 0 }",
            "s.toml:4: constellation.gateway.rtt_factor: expected a number above 0, at most 1000000, found 0",
        ),
        (
            "{ rate = \"20 Mbit/s\", queue = \"60 packets\" }",
            "{ rate = \"20 Mbit/s\" }\ngateway = { scheme = \"wintrac\" }",
            "s.toml:6: constellation.gateway: needs a queue with a limit, which is \"unlimited\"",
        ),
        (
            "rate = \"20 Mbit/s\", ",
            "",
            "s.toml:5: constellation.uplink.rate: missing, and there is no default",
        ),
        (
            "1 Gbit/s",
            "5 Tbit/s",
            "s.toml:6: constellation.laser.rate: expected a rate of at most 1000 Gbit/s, found 5000 Gbit/s",
        ),
        (
            "\"51.5 deg\"",
            "\"91 deg\"",
            "s.toml:8: stations.london.latitude: expected from -90 deg to 90 deg, found 91 deg",
        ),
        (
            "\"51.5 deg\"",
            "\"51.5\"",
            "s.toml:8: stations.london.latitude: expected an angle such as \"51.5 deg\", found \"51.5\"",
        ),
        (
            "\"51.5 deg\"",
            "\"NaN deg\"",
            "s.toml:8: stations.london.latitude: expected an angle such as \"51.5 deg\", found \"NaN deg\"",
        ),
        (
            "\"151.2 deg\"",
            "\"361 deg\"",
            "s.toml:12: stations.sydney.longitude: expected from -180 deg to 360 deg, found 361 deg",
        ),
        (
            "35 m",
            "200 km",
            "s.toml:13: stations.sydney.altitude: expected from -1000 m to 100000 m, found 200000 m",
        ),
        (
            "longitude = \"151.2 deg\"\n",
            "",
            "s.toml:10: stations.sydney.longitude: latitude needs a longitude",
        ),
        (
            "[stations.sydney]\nlatitude = \"-33.9 deg\"\nlongitude = \"151.2 deg\"\naltitude = \"35 m\"\n",
            "",
            "s.toml:7: stations: expected from 2 to 100000 stations, such as [stations.london], found 1",
        ),
        (
            "to = \"sydney\"",
            "to = \"sidney\"",
            "s.toml:16: flows.f.to: expected a station (london, sydney), found \"sidney\"; did you mean \"sydney\"?",
        ),
        ("to = \"sydney\"", "to = \"london\"", "s.toml:16: flows.f.to: \"london\" is the sender's host"),
        (
            "to = \"sydney\"",
            "to = \"sydney\"\nvia = [\"sat1\"]",
            "s.toml:17: flows.f.via: expected a link (none), found \"sat1\"",
        ),
        (
            "duration = \"60 s\"",
            "duration = \"60 s\"\nrouting = \"static\"",
            "s.toml:2: routing: cannot be combined with [constellation], which chooses its own paths",
        ),
        (
            "[flows.f]",
            "[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[flows.f]",
            "s.toml:14: links: [links] cannot be combined with [constellation]",
        ),
        (
            "[flows.f]",
            "[handovers.h]\nat = \"1 s\"\nflows = [\"f\"]\n[flows.f]",
            "s.toml:14: handovers: [handovers] cannot be combined with [constellation]",
        ),
    ];
    let mut others = Vec::new();
    for (old, new, expected) in cases {
        assert!(SHELL.contains(old), "{old}");
        let found = match parse_str("s.toml", &SHELL.replacen(old, new, 1), &[]) {
            Ok(_) => "nothing".to_owned(),
            Err(error) => error.to_string(),
        };
        if found != expected {
            others.push(format!("{found}\nand not\n{expected}\n"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

#[test]
fn a_run_over_satellites_has_a_duration() {
    let text = SHELL.replace("duration = \"60 s\"\n", "") + "bytes = \"1 MB\"\n";
    let error = parse_str("s.toml", &text, &[]).unwrap_err().to_string();
    assert_eq!(error, "s.toml: duration: [constellation] needs a duration");
}

#[test]
fn stations_need_a_constellation() {
    let text =
        "[stations.a]\nlatitude = \"1 deg\"\nlongitude = \"1 deg\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n";
    let error = parse_str("s.toml", text, &[]).unwrap_err().to_string();
    assert_eq!(error, "s.toml:1: stations: [stations] needs [constellation]");
}
