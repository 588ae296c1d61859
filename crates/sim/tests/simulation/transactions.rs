//! Transactions and short flows: what they take by hand, how they are listed, and how they end.

use bentpipe_sim::RunResult;

use crate::{one_flow, simulate};

/// So fast that only round trips count, of half a second.
const FAST: &str = "rate = \"1 Gbit/s\"\ndelay = \"250 ms\"";

const SHORT: &str = "app = \"short-flows\"\nmean_interval = \"200 ms\"\nbytes = \"20 kB\"";

fn ask(link: &str, tcp: &str, flow: &str) -> RunResult {
    let flow = format!("app = \"transactions\"\nresponse = \"1000 B\"\n{flow}");
    simulate(&one_flow(link, &format!("profile = \"ns2\"\n{tcp}"), &flow), 1)
}

fn short(link: &str, tcp: &str, flow: &str, seed: u64) -> RunResult {
    simulate(&one_flow(link, &format!("profile = \"ns2\"\n{tcp}"), &format!("{SHORT}\n{flow}")), seed)
}

fn responses(result: &RunResult) -> Vec<Option<f64>> {
    result.users.transactions.iter().map(|it| it.response_s).collect()
}

fn starts(result: &RunResult) -> Vec<f64> {
    result.users.transactions.iter().map(|it| it.start_s).collect()
}

fn assert_near(found: Option<f64>, expected: f64) {
    assert!(found.is_some_and(|found| (found - expected).abs() < 5e-3), "{found:?}, expected {expected}");
}

#[test]
fn a_transaction_takes_a_round_trip_and_the_first_one_two() {
    let result = ask(FAST, "", "transactions = 3\nthink = \"2 s\"\nstart = \"1 s\"");
    for (found, expected) in responses(&result).into_iter().zip([1.0, 0.5, 0.5]) {
        assert_near(found, expected);
    }
    for (start, expected) in starts(&result).into_iter().zip([1.0, 4.0, 6.5]) {
        assert_near(Some(start), expected);
    }
    assert_eq!(result.users.transactions.iter().map(|it| it.transaction).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(result.users.transactions.iter().all(|it| it.flow == "f" && it.size_bytes == 1000));
    assert_eq!((result.flows[0].bytes_delivered, result.flows[0].error.as_deref()), (3000, None));
    assert_near(result.flows[0].finish_s, 7.0);
    assert!(result.users.pages.is_empty());
}

#[test]
fn a_large_answer_takes_the_rounds_of_slow_start() {
    // 8 segments go as 2, 4 and 2 with an initial window of 2.
    let flow = "app = \"transactions\"\nresponse = \"11680 B\"\ntransactions = 1";
    let result = simulate(&one_flow(FAST, "profile = \"ns2\"", flow), 1);
    assert_near(responses(&result)[0], 0.5 + 3.0 * 0.5);
}

#[test]
fn times_to_think_have_their_mean_and_are_the_same_for_every_variant() {
    let flow = |variant: &str| {
        let think = "think = \"1 s\"\nthink_distribution = \"exponential\"";
        format!("transactions = 1001\nvariant = \"{variant}\"\n{think}")
    };
    let (reno, sack) = (ask(FAST, "", &flow("reno")), ask(FAST, "", &flow("sack")));
    // But for the length of the options on a segment.
    assert!(starts(&reno).iter().zip(starts(&sack)).all(|(one, other)| (one - other).abs() < 1e-6));
    let begun = starts(&reno);
    let thought = |pair: &[f64]| pair[1] - pair[0] - 0.5;
    let longer = begun[1..].windows(2).filter(|pair| thought(pair) > 1.0).count();
    let mean = begun[1..].windows(2).map(thought).sum::<f64>() / 999.0;
    // Five standard deviations: of the mean, and of P(X > 1) = 1/e.
    assert!((mean - 1.0).abs() < 5.0 / 999_f64.sqrt(), "{mean}");
    assert!((longer as f64 / 999.0 - 0.367_879).abs() < 5.0 * 0.0153, "{longer}");
}

#[test]
fn a_duration_breaks_off_the_transaction_under_way() {
    let result = ask(FAST, "", "duration = \"1.2 s\"");
    let found = responses(&result);
    assert!(matches!(found[..], [Some(_), None]), "{found:?}");
    assert_eq!(result.flows[0].error, None);
    // The client leaves at 1.2 s, and the server's FIN comes half a second later.
    assert!((result.duration_s - 1.95).abs() < 0.3, "{} s", result.duration_s);
}

#[test]
fn a_connection_that_fails_ends_the_transactions() {
    let dead: Vec<String> = (6..400).map(|number: u32| number.to_string()).collect();
    let link = format!("{FAST}\nloss = {{ model = \"drop\", packets = [{}] }}", dead.join(", "));
    let result = ask(&link, "max_retransmissions = 3", "transactions = 50\nthink = \"1 s\"");
    assert_eq!(responses(&result).last(), Some(&None));
    assert!(result.users.transactions.len() < 10);
    let error = result.flows[0].error.as_deref().unwrap_or_default();
    assert!(error.contains("retransmission limit"), "{error:?}");
}

#[test]
fn short_flows_each_take_a_handshake_and_slow_start() {
    // 14 segments go as 2, 4 and 8; the handshake takes a round trip, and the last byte half a one.
    let result = short(FAST, "", "transfers = 50", 1);
    assert_eq!(result.users.transactions.len(), 50);
    for response in responses(&result) {
        assert_near(response, 0.5 + 0.5 + 0.5 + 0.25);
    }
    let begun = starts(&result);
    assert!(begun.is_sorted() && begun[0] > 0.0);
    let flow = &result.flows[0];
    assert_eq!((flow.bytes_delivered, flow.data_segments_sent), (50 * 20_000, 50 * 14));
    assert_near(flow.finish_s, begun[49] + 1.75);
    // They overlap.
    assert!(begun[49] < 25.0, "{} s", begun[49]);
}

#[test]
fn variants_meet_the_same_arrivals_and_sizes() {
    let run = |variant: &str, seed| {
        let flow = format!("transfers = 100\nsize_distribution = \"pareto\"\nvariant = \"{variant}\"");
        let link =
            "rate = \"2 Mbit/s\"\ndelay = \"250 ms\"\nloss = { model = \"packet\", probability = 0.01 }";
        let result = short(link, "", &flow, seed);
        assert!(responses(&result).iter().all(Option::is_some));
        let sizes: Vec<u64> = result.users.transactions.iter().map(|it| it.size_bytes).collect();
        assert_eq!(result.flows[0].bytes_delivered, sizes.iter().sum::<u64>());
        (starts(&result), sizes, responses(&result))
    };
    let (reno, sack, other) = (run("reno", 1), run("sack", 1), run("sack", 2));
    assert_eq!((&reno.0, &reno.1), (&sack.0, &sack.1));
    assert_ne!(reno.2, sack.2);
    assert!(sack.0 != other.0 && sack.1 != other.1);
    assert_eq!(run("sack", 2), other);
}

#[test]
fn what_has_begun_by_the_duration_is_delivered() {
    let result = short(FAST, "", "transfers = 1000\nduration = \"4 s\"", 1);
    let begun = starts(&result);
    assert!((8..40).contains(&begun.len()), "{}", begun.len());
    assert!(begun.iter().all(|start| *start < 4.0));
    assert!(responses(&result).iter().all(Option::is_some));
    assert!(result.flows[0].finish_s.is_some());
    // So is nothing at all, and the run ends.
    let none = short(FAST, "", "transfers = 1000\nduration = \"1 us\"", 1);
    assert_eq!((none.users.transactions.len(), none.flows[0].bytes_delivered), (0, 0));
    assert!(none.duration_s < 1.0, "{} s", none.duration_s);
}

#[test]
fn a_trace_is_replayed_at_its_times() {
    let trace = r#"trace = [
        { at = "0 s", bytes = "20 kB" }, { at = "300 ms", bytes = "100 B" }, { at = "300 ms", bytes = "1 kB" },
        { at = "4 s", bytes = "20 kB" },
    ]"#;
    let flow = format!("app = \"trace\"\nstart = \"1 s\"\n{trace}");
    let result = simulate(&one_flow(FAST, "profile = \"ns2\"", &flow), 1);
    assert_eq!(starts(&result), [1.0, 1.3, 1.3, 5.0]);
    assert_eq!(
        result.users.transactions.iter().map(|it| it.size_bytes).collect::<Vec<_>>(),
        [20_000, 100, 1000, 20_000]
    );
    for (found, expected) in responses(&result).into_iter().zip([1.75, 0.75, 0.75, 1.75]) {
        assert_near(found, expected);
    }
    assert_near(result.flows[0].finish_s, 6.75);
}

#[test]
fn the_end_of_the_run_leaves_short_flows_without_a_response() {
    let text = one_flow(FAST, "profile = \"ns2\"", &format!("{SHORT}\ntransfers = 100"));
    let result = simulate(&text.replace("[links", "duration = \"6 s\"\n[links"), 1);
    let (begun, found) = (starts(&result), responses(&result));
    assert!(begun.len() < 100 && begun.iter().all(|start| *start <= 6.0));
    for (start, response) in begun.into_iter().zip(found) {
        assert_eq!(response.is_some(), start < 6.0 - 1.75, "{start}");
    }
    assert_eq!(result.flows[0].finish_s, None);
}

#[test]
fn a_short_flow_that_fails_leaves_the_others_alone() {
    // The link is dead for ten seconds.
    let link = format!("{FAST}\nschedule = [{{ at = \"2 s\", outage = \"10 s\", waiting = \"lose\" }}]");
    let result = short(&link, "max_retransmissions = 1", "transfers = 100", 1);
    let found = responses(&result);
    assert!(found.iter().any(Option::is_none) && found.last().is_some_and(Option::is_some), "{found:?}");
    let flow = &result.flows[0];
    assert_eq!(flow.finish_s, None);
    assert!(flow.error.is_some());
}

#[test]
fn short_flows_that_share_begin_with_what_those_before_them_had() {
    let lone = "bytes = \"60 kB\"\nmean_interval = \"20 s\"";
    let times = |tcp: &str| -> Vec<f64> {
        let flow = format!("app = \"short-flows\"\ntransfers = 20\n{lone}");
        let result = simulate(&one_flow(FAST, &format!("profile = \"ns2\"\n{tcp}"), &flow), 1);
        responses(&result).into_iter().flatten().collect()
    };
    let (alone, shared) = (times(""), times("slow_start = \"shared\""));
    assert!(alone.len() > 10 && alone.len() == shared.len());
    // The first knows nothing; 42 segments go as 2, 4, 8, 16 and 12: a handshake, four round trips and half a one.
    assert_near(Some(shared[0]), alone[0]);
    assert_near(Some(alone[0]), 2.75);
    // Each later one has the window at once: the handshake, half a round trip, and a round trip of pacing at most.
    assert!(shared[1..].iter().all(|time| *time < 1.6), "{shared:?}");
}

/// A GET: the request is at the server after a round trip and a half, and the first byte comes half a round trip later.
#[test]
fn a_transfer_that_the_receiver_opens_takes_half_a_round_trip_more() {
    let apps = [
        "app = \"ftp\"\nbytes = \"1000 B\"",
        "app = \"short-flows\"\nmean_interval = \"1 ms\"\nbytes = \"1000 B\"\ntransfers = 1",
        "app = \"trace\"\ntrace = [{ at = \"0 s\", bytes = \"1000 B\" }]",
    ];
    for app in apps {
        let run = |opener: &str| {
            let flow = format!("{app}\nopened_by = \"{opener}\"");
            simulate(&one_flow(FAST, "profile = \"ns2\"", &flow), 1)
        };
        for (opener, expected) in [("sender", 0.75), ("receiver", 1.0)] {
            let result = run(opener);
            let flow = &result.flows[0];
            assert_eq!((flow.bytes_delivered, flow.error.as_deref()), (1000, None), "{app}");
            let began = result.users.transactions.first().map_or(0.0, |it| it.start_s);
            assert_near(flow.finish_s.map(|finish| finish - began), expected);
        }
    }
}

#[test]
fn whoever_opens_a_transfer_may_give_up_or_leave() {
    let lost = format!("{FAST}\nloss = {{ model = \"packet\", probability = 1.0 }}");
    for app in
        ["app = \"ftp\"\nbytes = \"1 kB\"", "app = \"trace\"\ntrace = [{ at = \"0 s\", bytes = \"1 kB\" }]"]
    {
        let flow = format!("{app}\nopened_by = \"receiver\"");
        let result = simulate(&one_flow(&lost, "profile = \"ns2\"\nmax_retransmissions = 2", &flow), 1);
        assert!(result.flows[0].error.is_some() && result.flows[0].finish_s.is_none(), "{app}");
    }
    // Before the request has come, and behind it: the run ends, and what was sent has come.
    for (duration, delivered) in [("100 ms", 0..1), ("600 ms", 0..1), ("3 s", 1000..u64::MAX)] {
        let flow = format!("app = \"ftp\"\nopened_by = \"receiver\"\nduration = \"{duration}\"");
        let result = simulate(&one_flow("rate = \"2 Mbit/s\"\ndelay = \"250 ms\"", "", &flow), 1);
        assert!(delivered.contains(&result.flows[0].bytes_delivered), "{duration}: {:?}", result.flows[0]);
        assert!(result.flows[0].finish_s.is_some() == (delivered.start > 0), "{duration}");
    }
}

/// Users of one `count` do not ask in step: their starts are evenly spread, from a stream of each.
#[test]
fn copies_start_at_random_within_the_spread() {
    let text = |variant: &str| {
        let flow = format!(
            "app = \"transactions\"\nresponse = \"1 kB\"\ntransactions = 1\ncount = 400\nstart = \"5 s\"\n\
             start_spread = \"10 s\"\nvariant = \"{variant}\""
        );
        one_flow(FAST, "profile = \"ns2\"", &flow).replace("[flows.f]", "[flows.\"f{i}\"]")
    };
    let found = starts(&simulate(&text("sack"), 1));
    assert_eq!(found, starts(&simulate(&text("reno"), 1)));
    assert_ne!(found, starts(&simulate(&text("sack"), 2)));
    assert!(found.iter().all(|start| (5.0..15.0).contains(start)));
    let early = found.iter().filter(|start| **start < 7.5).count();
    // Five standard deviations of a binomial with n = 400 and p = 1/4.
    assert!(early.abs_diff(100) < 44, "{early}");
}
