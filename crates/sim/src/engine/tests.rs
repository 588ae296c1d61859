use serde_json::Value;

use bentpipe_net::LinkId;

use super::*;
use crate::RunResult;
use crate::result::WarmUp;
use bentpipe_scenario::parse_str;

/// A run's JSON without what it cost.
fn outcome(text: &str, passing: bool) -> Value {
    let scenario = parse_str("test", text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut engine = Engine::new(&scenario, 5, None);
    if !passing {
        assert!(engine.net.pass_nothing(), "nothing passes in {text}");
    }
    let end = engine.run(&mut |_| ControlFlow::Continue(())).unwrap();
    let warm_up = WarmUp::none();
    let result = RunResult::new(&scenario, 5, end, &mut engine, &warm_up, 0.0).unwrap();
    let mut json = serde_json::to_value(result).unwrap();
    json["engine"] = Value::Null;
    json
}

#[test]
fn passing_links_change_no_number() {
    let chain = r#"
        [links.terrestrial]
        from = "server"
        to = "gateway"
        rate = "4 Mbit/s"
        delay = "10 ms"
        loss = { model = "packet", probability = 0.003 }
        [links.satellite]
        from = "gateway"
        to = "client"
        rate = "2 Mbit/s"
        delay = "250 ms"
        queue = "30 packets"
        [flows.f]
        from = "server"
        to = "client"
        bytes = "5 MB"
        tcp = { receive_window = "400 kB" }
    "#;
    let dumbbell = r#"
        duration = "20 s"
        [links.left]
        from = "s{i}"
        to = "west"
        count = 5
        rate = "10 Mbit/s"
        delay = "3 ms"
        [links.middle]
        from = "west"
        to = "east"
        rate = "8 Mbit/s"
        delay = "20 ms"
        queue = "40 packets"
        [links.right]
        from = "east"
        to = "r{i}"
        count = 5
        rate = "3 Mbit/s"
        delay = "7 ms"
        queue = "20 packets"
        loss = { model = "ber", ber = 1e-7 }
        [flows.f]
        from = "s{i}"
        to = "r{i}"
        count = 5
        start_step = "100 ms"
    "#;
    let (mut costly, mut dropped) = (0, 0);
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        for text in [chain, dumbbell] {
            let text = format!("{text}\nrecovery = \"{recovery}\"\n");
            let outcome = [true, false].map(|passing| outcome(&text, passing));
            assert_eq!(outcome[0], outcome[1], "{recovery}");
            for flow in outcome[0]["flows"].as_array().map_or(&[][..], |flows| flows) {
                let count = |column: &str| flow[column].as_u64().unwrap_or(0);
                costly += count("loss_cause_random_cut");
                dropped += count("loss_cause_congestion");
            }
        }
    }
    assert!(costly > 0 && dropped > 0, "{costly} random losses that cost, {dropped} dropped");
}

#[test]
fn passing_links_change_no_number_of_datagrams() {
    let chain = r#"
        [links.first]
        from = "server"
        to = "gateway"
        rate = "4 Mbit/s"
        delay = "10 ms"
        queue = "5 packets"
        loss = { model = "packet", probability = 0.03 }
        [links.second]
        from = "gateway"
        to = "satellite"
        rate = "3 Mbit/s"
        delay = "30 ms"
        queue = "5 packets"
        loss = { model = "packet", probability = 0.03 }
        [links.third]
        from = "satellite"
        to = "client"
        rate = "2 Mbit/s"
        delay = "250 ms"
        queue = "5 packets"
        loss = { model = "packet", probability = 0.03 }
        [flows.video]
        from = "server"
        to = "client"
        app = "multimedia"
        video = "2 Mbit/s"
    "#;
    let ended = |time: &str| format!("{chain}\nduration = \"{time}\"\n");
    // What is lost on its way when the run ends is not counted, though a passing link has found it in advance.
    let cut_off = |time: &str| format!("duration = \"{time}\"\n{chain}\n");
    let beside = |app: &str| {
        format!("{chain}\n[flows.other]\nfrom = \"gateway\"\nto = \"client\"\nstart = \"1 s\"\n{app}\n")
    };
    let mut texts: Vec<String> = (0..40).map(|i| ended(&format!("{} ms", 2000 + 7 * i))).collect();
    texts.extend((0..40).map(|i| cut_off(&format!("{} ms", 2000 + 7 * i))));
    texts.push(beside("bytes = \"400 kB\""));
    texts.push(beside("app = \"cbr\"\nrate = \"300 kbit/s\"\nbytes = \"200 kB\""));
    for text in texts {
        let passed = outcome(&text, true);
        assert!(passed["flows"][0]["datagrams_lost"].as_u64() > Some(20), "{text}");
        assert_eq!(passed, outcome(&text, false), "{text}");
    }
}

/// A link that two flows feed by different ways is no part of what may be found in advance.
#[test]
fn a_link_of_two_flows_takes_their_packets_in_the_order_of_their_times() {
    let text = r#"
        duration = "20 s"
        [links.near]
        from = "a"
        to = "middle"
        rate = "1 Mbit/s"
        delay = "1 ms"
        [links.far]
        from = "b"
        to = "middle"
        rate = "1 Mbit/s"
        delay = "300 ms"
        [links.shared]
        from = "middle"
        to = "c"
        rate = "1 Mbit/s"
        delay = "10 ms"
        queue = "8 packets"
        [flows.tcp]
        from = "b"
        to = "c"
        [flows.stream]
        from = "a"
        to = "c"
        app = "multimedia"
    "#;
    let scenario = parse_str("test", text, &[]).unwrap();
    let mut engine = Engine::new(&scenario, 5, None);
    let [near, _, shared] = [0, 1, 2].map(LinkId::forward);
    assert!(!engine.net.passes(near) && !engine.net.passes(shared));
    engine.run(&mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(outcome(text, true), outcome(text, false));
}

/// Gateways and handovers see packets at their times, whether the links around them pass or not.
#[test]
fn passing_links_change_no_number_beside_gateways_and_handovers() {
    let gateway = r#"gateway = { scheme = "xfwa", isl_delay = "20 ms" }"#;
    let text = |in_flight: &str| {
        format!(
            r#"
            duration = "12 s"
            [links.aside]
            from = "s9"
            to = "middle"
            rate = "3 Mbit/s"
            delay = "5 ms"
            [links.beyond]
            from = "middle"
            to = "r9"
            rate = "2 Mbit/s"
            delay = "5 ms"
            queue = "10 packets"
            [flows.aside]
            from = "s9"
            to = "r9"
            [links.up]
            from = "s{{i}}"
            to = "one"
            count = 4
            rate = "10 Mbit/s"
            delay = "5 ms"
            [links.north]
            from = "one"
            to = "two"
            rate = "2 Mbit/s"
            delay = "30 ms"
            queue = "20 packets"
            {gateway}
            [links.south]
            from = "one"
            to = "three"
            rate = "2 Mbit/s"
            delay = "20 ms"
            queue = "20 packets"
            loss = {{ model = "packet", probability = 0.01 }}
            [links.east]
            from = "two"
            to = "last"
            rate = "3 Mbit/s"
            delay = "20 ms"
            queue = "10 packets"
            [links.west]
            from = "three"
            to = "last"
            rate = "1 Mbit/s"
            delay = "20 ms"
            queue = "10 packets"
            [links.west.reverse]
            {gateway}
            [links.down]
            from = "last"
            to = "r{{i}}"
            count = 4
            rate = "5 Mbit/s"
            delay = "3 ms"
            [flows.f]
            from = "s{{i}}"
            to = "r{{i}}"
            count = 3
            start_step = "100 ms"
            variant = "newreno"
            via = ["north"]
            [flows.web]
            from = "s3"
            to = "r3"
            app = "onoff"
            rate = "1 Mbit/s"
            [flows.ask]
            from = "s3"
            to = "r3"
            app = "transactions"
            response = "20 kB"
            think = "50 ms"
            think_distribution = "exponential"
            [flows.short]
            from = "s3"
            to = "r3"
            app = "short-flows"
            bytes = "15 kB"
            mean_interval = "200 ms"
            transfers = 40
            [flows.udp]
            from = "s3"
            to = "r3"
            app = "cbr"
            rate = "300 kbit/s"
            [handovers.first]
            at = "3 s"
            flows = ["f0", "ask", "short", "udp"]
            via = ["south"]
            in_flight = "{in_flight}"
            [handovers.second]
            at = "3.05 s"
            flows = ["f*", "udp"]
            via = ["north"]
            in_flight = "{in_flight}"
            [handovers.third]
            at = "6 s"
            flows = ["f*", "web", "udp"]
            via = ["west"]
        "#
        )
    };
    for in_flight in ["deliver", "lose"] {
        let text = text(in_flight);
        let passed = outcome(&text, true);
        assert_eq!(passed, outcome(&text, false), "{in_flight}");
        let lost = passed["handovers"][0]["lost_packets"].as_u64();
        assert_eq!(lost > Some(0), in_flight == "lose", "{lost:?}");
        assert!(passed["gateways"][0]["windows_lowered"].as_u64() > Some(0));
    }
}
