//! Pages: what they take by hand, how connections share them, and how they end.

use bentpipe_sim::RunResult;

use crate::{one_flow, simulate, watch};

/// So fast that only round trips count: an object of 10,000 bytes takes 80 µs.
const FAST: &str = "rate = \"1 Gbit/s\"\ndelay = \"250 ms\"";

fn pages(link: &str, tcp: &str, flow: &str) -> RunResult {
    simulate(&one_flow(link, &format!("profile = \"ns2\"\n{tcp}"), &format!("app = \"http\"\n{flow}")), 1)
}

fn responses(result: &RunResult) -> Vec<f64> {
    result.users.pages.iter().map(|page| page.response_s.unwrap_or(f64::NAN)).collect()
}

fn assert_round_trips(result: &RunResult, page: usize, expected: f64) {
    let round_trips = responses(result)[page] / 0.5;
    assert!((round_trips - expected).abs() < 0.01, "{round_trips} round trips, expected {expected}");
}

// adalr, section 5.1: the page has come whole before its response time is taken
#[test]
fn a_page_takes_the_handshake_and_the_rounds_of_slow_start() {
    // SYN and SYN-ACK; request and main object of one segment; request and embedded object of one segment.
    let small = pages(FAST, "", "main_object = \"1460 B\"\nobjects = 1\nobject = \"1460 B\"\npages = 1");
    assert_round_trips(&small, 0, 3.0);
    assert_eq!(small.flows[0].bytes_delivered, 2920);
    assert_eq!(small.flows[0].data_segments_sent, 2);
    assert_eq!(small.flows[0].finish_s, small.users.pages[0].response_s);

    // The main object's 6 segments go as 2 and 4 with an initial window of 2. Its six ACKs open the window to 8, so that 24
    // segments go as 8 and 16.
    let larger = pages(FAST, "", "main_object = \"8760 B\"\nobjects = 1\nobject = \"35040 B\"\npages = 1");
    assert_round_trips(&larger, 0, 1.0 + 2.0 + 2.0);
    let one_more = pages(FAST, "", "main_object = \"8760 B\"\nobjects = 1\nobject = \"35041 B\"\npages = 1");
    assert_round_trips(&one_more, 0, 1.0 + 2.0 + 3.0);
}

#[test]
fn the_request_is_sent_before_it_is_answered() {
    // 80 kbit/s up: a request of 1460 bytes takes 73 ms longer than one of 730, and there are two after each other.
    let text = "rate = \"1 Gbit/s\"\ndelay = \"250 ms\"\n[links.path.reverse]\nrate = \"80 kbit/s\"";
    let run = |request| {
        let flow = format!(
            "request = \"{request} B\"\nmain_object = \"10 B\"\nobjects = 1\nobject = \"10 B\"\npages = 1"
        );
        responses(&pages(text, "", &flow))[0]
    };
    assert!((run(1460) - run(730) - 2.0 * 0.073).abs() < 1e-3, "{} s, {} s", run(1460), run(730));
}

#[test]
fn later_pages_need_no_handshake_and_come_an_interval_after_each_other() {
    let flow = "main_object = \"1460 B\"\nobjects = 1\nobject = \"1460 B\"\npage_interval = \"7 s\"";
    let result = pages(FAST, "", &format!("{flow}\npages = 3\nstart = \"1 s\""));
    assert_eq!(result.users.pages.iter().map(|page| page.start_s).collect::<Vec<_>>(), [1.0, 8.0, 15.0]);
    assert_eq!(result.users.pages.iter().map(|page| page.page).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(result.users.pages.iter().all(|page| page.flow == "f"));
    assert_round_trips(&result, 0, 3.0);
    assert_round_trips(&result, 1, 2.0);
    assert_round_trips(&result, 2, 2.0);
    // The flow ends with its last byte; the run, when the client's FIN and the server's are answered.
    assert!((result.flows[0].duration_s - 15.0).abs() < 0.01, "{} s", result.flows[0].duration_s);
    assert!((result.duration_s - 16.5).abs() < 0.01, "{} s", result.duration_s);
    assert_eq!(result.flows[0].error, None);
}

#[test]
fn a_slow_page_delays_the_next() {
    let flow =
        "main_object = \"1460 B\"\nobjects = 1\nobject = \"1460 B\"\npage_interval = \"800 ms\"\npages = 3";
    let result = pages(FAST, "", flow);
    let starts: Vec<f64> = result.users.pages.iter().map(|page| page.start_s).collect();
    assert_eq!(starts[1], responses(&result)[0]);
    assert_eq!(starts[2], starts[1] + responses(&result)[1]);
}

#[test]
fn several_connections_share_the_objects() {
    // 8 objects of 4 segments, after a main object of 2: over one connection, whose window is 4 by then, 32 segments go as
    // 4, 8, 16 and 4. Over four connections, of which three are new, 8 segments each: a handshake, then 2, 4 and 2.
    let flow = |n: u32| {
        format!(
            "main_object = \"2920 B\"\nobjects = 8\nobject = \"5840 B\"\nconnections = {n}\npages = 2\npage_interval = \"20 s\""
        )
    };
    let (one, four) = (pages(FAST, "", &flow(1)), pages(FAST, "", &flow(4)));
    assert_round_trips(&one, 0, 2.0 + 4.0);
    assert_round_trips(&four, 0, 2.0 + 1.0 + 3.0);
    // The windows have stayed open: 36 of one connection, 10 at least of each of four.
    assert_round_trips(&one, 1, 1.0 + 1.0);
    assert_round_trips(&four, 1, 1.0 + 1.0);
    for result in [&one, &four] {
        assert_eq!(result.flows[0].bytes_delivered, 2 * (2920 + 8 * 5840));
        assert_eq!(result.flows[0].data_segments_sent, 2 * (2 + 8 * 4));
    }
    // More connections than objects: those that nobody needs are not opened.
    let many = pages(FAST, "", &flow(20));
    assert_eq!(many.flows[0].bytes_delivered, 2 * (2920 + 8 * 5840));
    assert!(many.flows[0].finish_s.is_some());
}

#[test]
fn objects_one_after_the_other_take_a_round_trip_each() {
    let flow = "main_object = \"1460 B\"\nobjects = 6\nobject = \"1460 B\"\npages = 1\npipelining = ";
    let together = pages(FAST, "", &format!("{flow}true"));
    let in_turn = pages(FAST, "", &format!("{flow}false"));
    let by_three = pages(FAST, "", &format!("{flow}false\nconnections = 3"));
    // Six segments after one ACK: 3 and 3.
    assert_round_trips(&together, 0, 2.0 + 2.0);
    assert_round_trips(&in_turn, 0, 2.0 + 6.0);
    // The first connection is open: it has brought an object while the others open, and then each brings one a round trip.
    assert_round_trips(&by_three, 0, 2.0 + 3.0);
}

#[test]
fn a_duration_breaks_off_the_page_under_way() {
    let flow = "duration = \"18 s\"\npage_interval = \"8 s\"\nobject = \"20 kB\"";
    let result = pages("rate = \"2 Mbit/s\"\ndelay = \"250 ms\"", "", flow);
    let responses: Vec<Option<f64>> = result.users.pages.iter().map(|page| page.response_s).collect();
    assert!(matches!(responses[..], [Some(_), Some(_), None]), "{responses:?}");
    // The user leaves at 18 s, the server learns of it 0.25 s later, and what it had sent is delivered.
    assert!(result.duration_s > 18.5 && result.duration_s < 20.0, "{} s", result.duration_s);
    let whole = 10_710 + 15 * 20_000;
    let delivered = result.flows[0].bytes_delivered;
    assert!(delivered > 2 * whole && delivered < 3 * whole, "{delivered} B");
    assert_eq!(result.flows[0].error, None);
}

#[test]
fn the_end_of_the_run_breaks_off_too() {
    let text = one_flow(FAST, "profile = \"ns2\"", "app = \"http\"\npage_interval = \"4 s\"");
    let result = simulate(&text.replace("[links", "duration = \"8.2 s\"\n[links"), 1);
    assert_eq!(result.users.pages.len(), 3);
    assert_eq!(result.users.pages[2].response_s, None);
    assert_eq!((result.flows[0].finish_s, result.duration_s), (None, 8.2));
}

#[test]
fn a_connection_that_fails_ends_the_flow() {
    // From its tenth packet on, the client's direction is dead: no request and no ACK arrives.
    let dead: Vec<String> = (10..4000).map(|number: u32| number.to_string()).collect();
    let link = format!("{FAST}\nloss = {{ model = \"drop\", packets = [{}] }}", dead.join(", "));
    let result = pages(&link, "max_retransmissions = 3", "pages = 5\nconnections = 2");
    assert_eq!(result.users.pages.len(), 1);
    assert_eq!(result.users.pages[0].response_s, None);
    assert_eq!(result.flows[0].finish_s, None);
    let error = result.flows[0].error.as_deref().unwrap_or_default();
    assert!(error.contains("retransmission limit"), "{error:?}");
}

#[test]
fn pages_over_a_lossy_link_are_the_same_each_time_and_whole() {
    let link = "rate = \"2 Mbit/s\"\ndelay = \"250 ms\"\nloss = { model = \"packet\", probability = 0.01 }\nqueue = \"30 packets\"\n\
        [links.path.reverse]\nloss = { model = \"packet\", probability = 0.01 }";
    for variant in ["tahoe", "reno", "newreno", "sack"] {
        let flow = format!("app = \"http\"\npages = 20\nconnections = 3\nvariant = \"{variant}\"");
        let text = one_flow(link, "receive_window = \"200 kB\"", &flow);
        let (first, (second, flows)) = (simulate(&text, 4), watch(&text, 4));
        assert_eq!(responses(&first), responses(&second));
        assert_eq!(first.users.pages.len(), 20);
        assert!(first.flows[0].retransmitted_segments > 10);
        assert_eq!(first.flows[0].bytes_delivered, 20 * (10_710 + 15 * 7758));
        assert!(first.flows[0].finish_s.is_some());
        let names: Vec<String> = flows.into_iter().map(|flow| flow.name).collect();
        assert_eq!(names, ["f/1", "f/2", "f/3"]);
        assert_ne!(responses(&first), responses(&simulate(&text, 5)));
    }
}

/// A look-up of the name, then the handshake of TCP, that of TLS, and the page of two objects: each round trip by itself.
#[test]
fn tls_and_the_look_up_of_a_name_take_their_round_trips_once_a_connection() {
    let flow = "main_object = \"1 kB\"\nobjects = 1\nobject = \"1 kB\"\npages = 2\npage_interval = \"20 s\"";
    // Two segments of certificates fit in the initial window.
    let flow = |more: &str| format!("{flow}\n{more}");
    let clear = pages(FAST, "", &flow(""));
    assert_round_trips(&clear, 0, 1.0 + 2.0);
    for (version, rounds, bytes) in [("1.3", 1.0, 2900), ("1.2", 2.0, 2900 + 51)] {
        let found = pages(FAST, "", &flow(&format!("tls = \"{version}\"\ncertificates = \"2900 B\"")));
        assert_round_trips(&found, 0, 1.0 + rounds + 2.0);
        assert_round_trips(&found, 1, 2.0);
        assert_eq!(found.flows[0].bytes_delivered, 4000 + bytes, "{version}");
    }
    let looked_up = pages(FAST, "", &flow("dns = \"500 ms\"\ntls = \"1.3\"\ncertificates = \"2900 B\""));
    assert_round_trips(&looked_up, 0, 1.0 + 1.0 + 1.0 + 2.0);
    assert_round_trips(&looked_up, 1, 2.0);
    // The second connection has a handshake of its own before its object.
    let two = flow("tls = \"1.3\"\ncertificates = \"2900 B\"\nconnections = 2")
        .replace("objects = 1\n", "objects = 2\n");
    assert_round_trips(&pages(FAST, "", &two), 0, 1.0 + 1.0 + 1.0 + 3.0);
}

#[test]
fn a_user_who_leaves_during_the_look_up_has_opened_nothing() {
    let result = pages(FAST, "", "dns = \"2 s\"\nduration = \"1 s\"");
    assert_eq!((result.users.pages.len(), result.users.pages[0].response_s), (1, None));
    assert_eq!((result.flows[0].bytes_delivered, result.flows[0].error.as_deref()), (0, None));
    assert!(result.duration_s < 1.5, "{}", result.duration_s);
}

#[test]
fn a_reader_thinks_from_the_last_byte_on() {
    let flow = |think: &str| {
        format!(
            "pages = 1001\nobjects = 1\nobject = \"1 kB\"\nmain_object = \"1 kB\"\nthink = \"1 s\"\n{think}"
        )
    };
    let thought = |result: &RunResult| -> Vec<f64> {
        let ends = result.users.pages.iter().map(|page| page.start_s + page.response_s.unwrap());
        result.users.pages[1..].iter().zip(ends).map(|(page, end)| page.start_s - end).collect()
    };
    let constant = thought(&pages(FAST, "", &flow("")));
    assert!(constant.iter().all(|think| (think - 1.0).abs() < 1e-6));
    let drawn = |variant: &str| {
        thought(&pages(
            FAST,
            "",
            &flow(&format!("think_distribution = \"exponential\"\nvariant = \"{variant}\"")),
        ))
    };
    let (sack, reno) = (drawn("sack"), drawn("reno"));
    assert!(sack.iter().zip(&reno).all(|(one, other)| (one - other).abs() < 1e-6));
    let mean = sack.iter().sum::<f64>() / 1000.0;
    // Five standard deviations: of the mean, and of P(X > 1) = 1/e.
    assert!((mean - 1.0).abs() < 5.0 / 1000_f64.sqrt(), "{mean}");
    let longer = sack.iter().filter(|think| **think > 1.0).count() as f64 / 1000.0;
    assert!((longer - 0.367_879).abs() < 5.0 * 0.0153, "{longer}");
}

/// Pages of 3GPP2 differ from each other, are the same for every variant, and are delivered whole over any number of connections.
#[test]
fn drawn_pages_are_the_same_for_every_variant_and_come_whole() {
    let run = |more: &str| {
        let flow = format!("pages = 200\nsize_distribution = \"3gpp2\"\nthink = \"0 s\"\n{more}");
        let result = pages("rate = \"20 Mbit/s\"\ndelay = \"10 ms\"", "", &flow);
        assert!(result.users.pages.iter().all(|page| page.response_s.is_some()));
        result.flows[0].bytes_delivered
    };
    let one = run("");
    assert!(one > 200 * 20_000, "{one}");
    for more in
        ["variant = \"reno\"", "connections = 6", "connections = 6\npipelining = false", "pipelining = false"]
    {
        assert_eq!(run(more), one, "{more}");
    }
}

/// Under Linux, where a server sends a part of a segment at once, each answer ends in one (`TCP_NODELAY`); the requests are one write.
#[test]
fn answers_to_requests_that_came_together_are_a_write_each() {
    let flow = "app = \"http\"\nmain_object = \"1000 B\"\nobjects = 4\nobject = \"2000 B\"\npages = 1";
    let run = |tcp: &str| {
        let result = simulate(&one_flow(FAST, &format!("profile = \"linux\"\n{tcp}"), flow), 1);
        assert_eq!(result.flows[0].bytes_delivered, 1000 + 4 * 2000);
        result.flows[0].data_segments_sent
    };
    assert_eq!(run(""), 1 + 4 * 2);
    // By Minshall's rule the first ends in a part too, as none is outstanding; behind it they fill segments.
    assert_eq!(run("no_delay = false"), 1 + 7);
}
