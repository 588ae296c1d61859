use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::result::WarmUp;
use crate::{RunOptions, RunResult, run};
use bentpipe_scenario::parse_str;
use bentpipe_sky::SkyNode;

const SHELL: &str = r#"
    duration = "6 s"
    [constellation]
    preset = "starlink"
    uplink = { rate = "20 Mbit/s", queue = "40 packets" }
    downlink = { rate = "10 Mbit/s" }
    laser = { rate = "1 Gbit/s" }
    [stations.london]
    latitude = "51.5 deg"
    longitude = "-0.13 deg"
    [stations.new-york]
    latitude = "40.7 deg"
    longitude = "-74 deg"
    [stations.cape-town]
    latitude = "-33.9 deg"
    longitude = "18.4 deg"
"#;

const FLOWS: &str = r#"
    [flows.file]
    from = "london"
    to = "new-york"
    [flows.back]
    from = "new-york"
    to = "london"
    start = "1 s"
    [flows.south]
    from = "cape-town"
    to = "london"
    variant = "cubic"
    [flows.voice]
    app = "cbr"
    rate = "64 kbit/s"
    from = "london"
    to = "cape-town"
"#;

fn scenario(text: &str, settings: &[(&str, &str)]) -> Scenario {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    parse_str("test", text, &settings).unwrap()
}

fn outcome(scenario: &Scenario) -> Value {
    let result = run(scenario, RunOptions::default(), &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    serde_json::to_value(result).unwrap()
}

/// What a run over links has too.
fn common(mut result: Value) -> Value {
    for key in ["engine", "paths", "scenario"] {
        result.as_object_mut().unwrap().remove(key);
    }
    result
}

/// A run in which nothing moves is one over links that are written by hand, in every number: with losses, queues and gateways.
#[test]
fn a_sky_that_stands_still_is_a_network_of_links() {
    for (gateway, loss) in [
        ("", ""),
        ("gateway = { scheme = \"xfwa\", isl_delay = \"5 ms\" }", ""),
        (
            "gateway = { scheme = \"xfwa\", rtt = \"handshake\" }",
            "loss = { model = \"packet\", probability = 0.002 }",
        ),
    ] {
        let laser = format!("rate = \"1 Gbit/s\"\nqueue = \"60 packets\"\n{loss}");
        let text = SHELL
            .replace(
                "downlink = { rate = \"10 Mbit/s\" }",
                "downlink = { rate = \"10 Mbit/s\", queue = \"40 packets\" }",
            )
            .replace("laser = { rate = \"1 Gbit/s\" }\n", &format!("{gateway}\n"))
            .replace("[stations.london]", &format!("[constellation.laser]\n{laser}\n[stations.london]"))
            + FLOWS;
        let still = scenario(&text, &[("constellation.step", "1 h")]);
        let mut sky = still.constellation.as_ref().unwrap().sky.start();
        sky.set(Time::ZERO);
        let mut links = String::new();
        let mut named = Vec::new();
        for [one, other] in [[0, 1], [0, 2]] {
            for ends in sky.path(one, other).unwrap().windows(2) {
                let [from, to] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
                if named.contains(&[from, to]) {
                    continue;
                }
                named.push([from, to]);
                let delay = sky.hop(from, to).unwrap().as_nanos();
                let (from_name, to_name) = (sky.name(from), sky.name(to));
                let ends = format!("from = \"{from_name}\"\nto = \"{to_name}\"\ndelay = \"{delay} ns\"\n");
                let rates = if from < 3 {
                    let guard = gateway.replace("gateway", "reverse.gateway");
                    format!(
                        "rate = \"20 Mbit/s\"\nqueue = \"40 packets\"\nreverse.rate = \"10 Mbit/s\"\n{guard}\n"
                    )
                } else {
                    let guard = gateway.replace("gateway", "reverse.gateway");
                    format!("{laser}\n{gateway}\n{}\n{guard}\n", loss.replace("loss", "reverse.loss"))
                };
                links += &format!("[links.\"{from_name}.{to_name}\"]\n{ends}{rates}");
            }
        }
        assert!(named.len() > 8, "{named:?}");
        let written = scenario(&format!("duration = \"6 s\"\n{links}{FLOWS}"), &[]);
        // Addresses count nodes, which the links name in another order.
        assert_eq!(common(outcome(&still)), common(outcome(&written)), "{gateway} {loss}");
    }
}

/// Paths at steps of 100 ms: the nodes between two stations (none without a path), and the delay of each hop in ms.
#[derive(Clone, Debug)]
struct ListedPaths {
    paths: Vec<(Vec<SkyNode>, u64)>,
    now: usize,
}

impl Sky for ListedPaths {
    fn set(&mut self, at: Time) {
        self.now = (at.since(Time::ZERO).as_nanos() / 100_000_000) as usize % self.paths.len();
    }

    fn path(&mut self, from: SkyNode, to: SkyNode) -> Option<Vec<SkyNode>> {
        assert_eq!((from, to), (0, 1));
        let (between, _) = &self.paths[self.now];
        (!between.is_empty()).then(|| [&[0][..], between, &[1]].concat())
    }

    fn hop(&self, from: SkyNode, to: SkyNode) -> Option<Span> {
        let (between, ms) = &self.paths[self.now];
        let seen = |node| node < 3 || between.contains(&node);
        (seen(from) && seen(to)).then(|| Span::from_millis(*ms))
    }

    fn name(&self, node: SkyNode) -> String {
        format!("n{node}")
    }
}

/// Runs a stream of datagrams and a transfer over the paths of `listed`.
fn over(listed: &ListedPaths, settings: &[(&str, &str)]) -> RunResult {
    measured_over(listed, settings, None, true)
}

/// [`over`], from when on it is measured, and whether packets go ahead.
fn measured_over(
    listed: &ListedPaths,
    settings: &[(&str, &str)],
    from: Option<Time>,
    ahead: bool,
) -> RunResult {
    let text = SHELL.to_owned()
        + r#"
        [flows.stream]
        app = "cbr"
        rate = "2 Mbit/s"
        packet = "500 B"
        from = "london"
        to = "new-york"
        [flows.file]
        from = "new-york"
        to = "london"
        bytes = "200 MB"
    "#;
    let scenario = scenario(&text, settings);
    let mut engine = Engine::under(Some(Box::new(listed.clone())), &scenario, 1, None);
    if !ahead {
        engine.net.pass_nothing();
    }
    let go_on = &mut |_: &_| std::ops::ControlFlow::Continue(());
    let warm_up = from.map_or_else(WarmUp::none, |from| {
        assert_eq!(engine.run_until(from, go_on).unwrap(), None);
        WarmUp::end(&mut engine, from).unwrap()
    });
    let end = engine.run(go_on).unwrap();
    RunResult::new(&scenario, 1, end, &mut engine, &warm_up, 0.0).unwrap()
}

fn always_there() -> impl Strategy<Value = ListedPaths> {
    let between = prop::collection::vec(3_u32..7, 1..4).prop_map(|mut nodes| {
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    });
    prop::collection::vec((between, 1_u64..60), 1..30).prop_map(|paths| ListedPaths { paths, now: 0 })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// However paths change, what is under way arrives, once.
    #[test]
    fn nothing_is_lost_or_doubled_while_packets_are_delivered(listed in always_there()) {
        let settings = [("constellation.uplink.queue", "unlimited"), ("constellation.reconfigure", "100 ms")];
        let result = over(&listed, &settings);
        let [stream, file] = &result.flows[..] else { panic!("two flows") };
        prop_assert_eq!(stream.datagrams_lost, 0);
        prop_assert_eq!(file.losses.random + file.losses.congestion, 0);
        prop_assert_eq!(result.paths[0].no_path_s, 0.0);
        for path in &result.paths {
            prop_assert_eq!((path.left_packets, path.no_path_packets), (0, 0));
        }
        // All but what is still on its way at the end.
        let on_way = stream.datagrams_sent * 500 - stream.bytes_delivered;
        prop_assert!(on_way < 2_000_000 / 8 / 2, "{}", on_way);
    }

    /// Packets that go ahead over links change no number.
    #[test]
    fn going_ahead_changes_no_number(
        listed in always_there(),
        outage in 0_u64..250,
        lost in any::<bool>(),
        from in prop::option::of(1_u64..5_000_000_000),
    ) {
        let outage = format!("{outage} ms");
        let settings = [
            ("constellation.handover.in_flight", if lost { "lose" } else { "deliver" }),
            ("constellation.handover.outage", &*outage),
            ("constellation.reconfigure", "100 ms"),
            ("constellation.laser.loss", "{ model = \"packet\", probability = 0.001 }"),
        ];
        let [ahead, each] = [true, false].map(|ahead| measured_over(&listed, &settings, from.map(Time::from_nanos), ahead));
        prop_assert!(ahead.engine.events < each.engine.events);
        let [ahead, each] = [ahead, each].map(|result| common(serde_json::to_value(result).unwrap()));
        prop_assert_eq!(ahead, each);
    }

    /// Where packets under way are lost, each is lost or arrives.
    #[test]
    fn each_datagram_arrives_or_is_lost(listed in always_there(), outage in 0_u64..250) {
        let outage = format!("{outage} ms");
        let settings = [
            ("constellation.handover.in_flight", "lose"),
            ("constellation.handover.outage", &*outage),
            ("constellation.reconfigure", "100 ms"),
            ("constellation.uplink.queue", "unlimited"),
            ("flows.stream.duration", "5 s"),
        ];
        let result = over(&listed, &settings);
        let stream = &result.flows[0];
        let delivered = stream.bytes_delivered / 500;
        prop_assert_eq!(stream.datagrams_sent, delivered + stream.datagrams_lost);
        let path = &result.paths[0];
        prop_assert_eq!(stream.datagrams_lost, path.left_packets + path.no_path_packets);
    }
}

#[test]
fn paths_are_counted() {
    // 2 s over n5, 1 s without, 1 s over n5 and n3, 2 s over n5.
    let mut paths = vec![(vec![5], 10); 20];
    paths.extend(vec![(Vec::new(), 10); 10]);
    paths.extend(vec![(vec![3, 4], 20); 10]);
    paths.extend(vec![(vec![5], 11); 40]);
    let listed = ListedPaths { paths, now: 0 };
    let result = over(&listed, &[]);
    let path = &result.paths[0];
    assert_eq!((path.handovers, path.hops_min, path.hops_max), (2, Some(2), Some(3)));
    assert!((path.no_path_s - 1.0).abs() < 1e-9, "{}", path.no_path_s);
    assert_eq!([path.rtt_min_s, path.rtt_median_s, path.rtt_max_s], [Some(0.04), Some(0.044), Some(0.12)]);
    // What is sent in that second is lost.
    let lost = result.flows[0].datagrams_lost;
    assert!((490..=510).contains(&lost), "{lost}");
    assert_eq!((path.no_path_packets, path.left_packets), (lost, 0));
    let names: BTreeMap<&str, u64> =
        result.links.iter().map(|link| (&*link.name, link.stats.delivered_packets)).collect();
    assert!(names["n0.n5"] > 0 && names["n3.n4"] > 0 && names["n1.n4/reverse"] > 0, "{names:?}");
}

/// With an outage hosts lose what they send for that long after a change.
#[test]
fn an_outage_costs_what_is_sent_meanwhile() {
    let mut paths = vec![(vec![3], 10); 30];
    paths.extend(vec![(vec![4], 10); 90]);
    let listed = ListedPaths { paths, now: 0 };
    let result = over(&listed, &[("constellation.handover.outage", "80 ms")]);
    let path = &result.paths[0];
    assert_eq!(path.handovers, 1);
    assert!((path.no_path_s - 0.08).abs() < 1e-9, "{}", path.no_path_s);
    assert_eq!(result.flows[0].datagrams_lost, 40);
}

/// A path that becomes shorter lets packets overtake those on the old one; one link never does.
#[test]
fn packets_overtake_from_path_to_path_and_not_on_a_link() {
    for (second, overtakes) in [((vec![3], 5), false), ((vec![4], 5), true)] {
        let mut paths = vec![(vec![3], 50); 30];
        paths.extend(vec![second; 90]);
        let result = over(
            &ListedPaths { paths, now: 0 },
            &[
                ("constellation.uplink.queue", "unlimited"),
                // What waits spreads the packets over time.
                ("constellation.downlink.rate", "2 Mbit/s"),
            ],
        );
        let file = &result.flows[1];
        assert_eq!(file.losses.random + file.losses.congestion, 0);
        assert_eq!(file.retransmitted_segments > 0, overtakes, "{file:?}");
    }
}

/// Packets take as long as the hops do at their time, there and back.
#[test]
fn links_follow_the_delays_of_the_sky() {
    let mut paths = vec![(vec![5], 10); 30];
    paths.extend(vec![(vec![5], 40); 90]);
    let settings = [("flows.file.tcp.receive_window", "2 segments"), ("constellation.reconfigure", "loss")];
    let result = over(&ListedPaths { paths, now: 0 }, &settings);
    assert_eq!(result.paths[1].handovers, 0);
    // Two segments a round trip: about 70 of 42.5 ms, then 18 of 162.5 ms.
    let mean = result.flows[1].rtt_mean_s.unwrap();
    assert!((0.064..0.071).contains(&mean), "{mean}");
}

/// What is on links that the path leaves is lost, and what is on those that it keeps goes on.
#[test]
fn packets_under_way_are_lost_with_their_links() {
    for (first, second, expected) in [(vec![3], vec![4], 46..=51), (vec![3, 4], vec![3, 5], 46..=51)] {
        let mut paths = vec![(first, 50); 30];
        paths.extend(vec![(second, 50); 90]);
        let settings =
            [("constellation.handover.in_flight", "lose"), ("constellation.reconfigure", "100 ms")];
        let result = over(&ListedPaths { paths, now: 0 }, &settings);
        // 500 a second on two links of 50 ms.
        let lost = result.flows[0].datagrams_lost;
        assert!(expected.contains(&lost), "{lost}");
        assert_eq!((result.paths[0].left_packets, result.paths[0].no_path_packets), (lost, 0));
    }
}
