use std::collections::BTreeMap;

use bentpipe_scenario::parse_str;
use bentpipe_units::fault;

use super::*;

const PLAIN: &str = r#"{"recovery": "sack", "control": "standard", "bytes": "1 MB",
    "forward": {"rate": "10 Mbit/s", "delay": "20 ms"}, "backward": {"rate": "1 Mbit/s", "delay": "20 ms"}}"#;

/// Without what a scenario says; with these keys.
fn over_a_flow(keys: &str) -> Settings {
    Settings::from_json(&format!("{{{keys}, \"bytes\": \"1 MB\"}}")).unwrap()
}

const SCENARIO: &str = r#"
[links.one]
from = "server"
to = "client"
rate = "2 Mbit/s"
delay = "100 ms"
[tcp]
mss = "1000 B"
receive_window = "100 kB"
timestamps = true
[flows.voice]
app = "cbr"
from = "client"
to = "server"
rate = "64 kbit/s"
bytes = "1 kB"
[flows.file]
from = "client"
to = "server"
bytes = "2 MB"
recovery = "newreno"
control = "afc"
[flows.file.receiver_tcp]
delayed_ack = false
receive_window = "50 kB"
"#;

fn pairs(map: &BTreeMap<String, String>) -> String {
    map.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_left_out_has_a_default() {
    let settings = Settings::from_json(PLAIN).unwrap();
    let kernel = settings.kernel(None);
    assert_eq!(
        (kernel.network.mtu, kernel.buffer, pairs(&kernel.network.sysctl)),
        (1500, None, String::new())
    );
    let Own::Ours(config) = settings.own(None).unwrap() else { panic!("a kernel at our end") };
    assert_eq!((config.sack, config.mss, config.receive_window), (true, 1460, 1 << 20));
}

#[test]
fn a_kernel_in_our_place_offers_what_our_end_would() {
    let recovery = r#""recovery": "linux", "timestamps": true, "scaling": false, "acknowledge_each": true,
        "initial_window": 4, "sysctl": {"tcp_sack": "0", "tcp_timestamps": "0"}, "control": "reno", "bytes""#;
    let with = |to: &str| {
        let text = PLAIN.replacen(r#""recovery": "sack", "control": "standard", "bytes""#, to, 1);
        assert_ne!(text, PLAIN);
        Settings::from_json(&text)
    };
    let Own::Linux(kernel) = with(recovery).unwrap().own(None).unwrap() else { panic!("our endpoint") };
    let network = kernel.network;
    assert_eq!(pairs(&network.sysctl), "tcp_sack=0 tcp_timestamps=1 tcp_window_scaling=0");
    assert_eq!((pairs(&network.route), network.quickack), ("initcwnd=4".to_owned(), true));
    assert_eq!((kernel.buffer, kernel.control), (Some(2 << 20), Some("reno".to_owned())));
    let said = with(r#""recovery": "linux", "control": "standard", "bytes""#).unwrap_err().to_string();
    assert!(
        said.starts_with("control: expected one of ") && said.ends_with(r#", found "standard""#),
        "{said}"
    );
}

#[test]
fn both_ends_are_those_of_the_flow() {
    let scenario = parse_str("test", SCENARIO, &[]).unwrap();
    let flow = ScenarioFlow::choose(&scenario, None).unwrap();
    let facts = flow.facts();
    assert_eq!((facts.flow.as_str(), facts.bytes), ("file", Some(2_000_000)));
    assert_eq!((facts.recovery.as_str(), facts.control.as_str()), ("newreno", "afc"));
    assert_eq!((facts.from.as_str(), facts.to.as_str()), ("client", "server"));
    assert_eq!((facts.way, facts.way_back), (vec!["one/reverse".to_owned()], vec!["one".to_owned()]));
    assert_eq!(facts.left_out, ["voice"]);

    let settings = over_a_flow(r#""recovery": "newreno", "control": "afc""#);
    let Own::Ours(config) = settings.own(Some(&flow)).unwrap() else { panic!("a kernel at our end") };
    assert_eq!(format!("{config:?}"), format!("{:?}", scenario.flows[1].sender));
    let kernel = settings.kernel(Some(&flow));
    assert_eq!((kernel.network.mtu, kernel.network.quickack, kernel.buffer), (1040, true, Some(100_000)));
    assert_eq!(pairs(&kernel.network.sysctl), "tcp_ecn=0 tcp_timestamps=1 tcp_window_scaling=1");
    assert_eq!(pairs(&kernel.network.route), "initcwnd=4");

    let chosen = r#""recovery": "sack", "control": "standard", "direction": "receive", "kernel_mss": 536,
        "kernel_buffer": "1 MB", "sysctl": {"tcp_timestamps": "0"}"#;
    let settings = over_a_flow(chosen);
    let Own::Ours(config) = settings.own(Some(&flow)).unwrap() else { panic!("a kernel at our end") };
    assert_eq!((config.receive_window, config.sack, config.delayed_ack.segments), (50_000, true, 1));
    let kernel = settings.kernel(Some(&flow));
    assert_eq!((kernel.network.mtu, kernel.network.quickack, kernel.buffer), (576, false, Some(1_000_000)));
    assert_eq!(pairs(&kernel.network.sysctl), "tcp_ecn=0 tcp_timestamps=0 tcp_window_scaling=1");

    let Own::Linux(own) = over_a_flow(r#""recovery": "linux", "control": "reno""#).own(Some(&flow)).unwrap()
    else {
        panic!("our endpoint")
    };
    assert_eq!((own.network.mtu, own.network.quickack, own.buffer), (1040, false, Some(200_000)));
}

#[test]
fn what_a_flow_cannot_do_is_named() {
    let scenario = parse_str("test", SCENARIO, &[]).unwrap();
    let said = ScenarioFlow::choose(&scenario, Some("voice")).unwrap_err();
    assert_eq!(
        said,
        LiveError::Setting("flow: expected a flow with app = \"ftp\" (file), found \"voice\"".to_owned())
    );
    let only_voice = SCENARIO.split("[flows.file]").next().unwrap();
    let scenario = parse_str("test", only_voice, &[]).unwrap();
    let said = ScenarioFlow::choose(&scenario, Some("voice")).unwrap_err();
    assert_eq!(said, fault!("one with app = \"ftp\"", "none").under("flows").into());

    let scenario = parse_str("test", SCENARIO, &[]).unwrap();
    let flow = ScenarioFlow::choose(&scenario, None).unwrap();
    let said = Settings::from_json(PLAIN).unwrap().path_setup(Some(&flow)).unwrap_err().to_string();
    assert_eq!(said, "forward: expected none beside a scenario, found one");
}
