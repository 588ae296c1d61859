//! Connections joined by relays.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::rc::Rc;

use bentpipe_sim::{FLOW_KINDS, Points, RunOptions, RunResult, SeriesOptions, run};
use expect_test::expect_file;
use proptest::prelude::*;

use crate::{scenario, simulate};

/// Three nodes in a row, with a relay in the middle.
struct Split<'a> {
    up: &'a str,
    down: &'a str,
    tcp: &'a str,
    first: &'a str,
    second: &'a str,
}

impl Split<'_> {
    fn links(&self) -> String {
        let Split { up, down, tcp, .. } = self;
        format!(
            "title = \"test\"\n[links.up]\nfrom = \"a\"\nto = \"r\"\n{up}\n\
             [links.down]\nfrom = \"r\"\nto = \"b\"\n{down}\n[tcp]\n{tcp}\n"
        )
    }

    fn text(&self) -> String {
        let (links, first, second) = (self.links(), self.first, self.second);
        format!(
            "{links}[flows.f]\nfrom = \"a\"\nto = \"r\"\n{first}\n\
             [flows.g]\nfrom = \"r\"\nto = \"b\"\napp = \"relay\"\nupstream = \"f\"\n{second}\n"
        )
    }

    /// The same transfer over one connection.
    fn whole(&self) -> String {
        format!("{}[flows.f]\nfrom = \"a\"\nto = \"b\"\n{}\n", self.links(), self.first)
    }
}

/// A point of a curve: kind, number of the flow, time in seconds, value.
pub(crate) type Point = (&'static str, usize, f64, f64);

/// Every point of the curves of a run.
pub(crate) fn curves(text: &str, seed: u64) -> (RunResult, Vec<Point>) {
    let points: Rc<RefCell<Vec<Point>>> = Rc::default();
    let kept = points.clone();
    let sink = Box::new(move |points: &Points| {
        for ((curve, time), value) in points.curves.iter().zip(&points.times_s).zip(&points.values) {
            let (flow, kind) = (*curve as usize / FLOW_KINDS.len(), *curve as usize % FLOW_KINDS.len());
            kept.borrow_mut().push((FLOW_KINDS[kind].0, flow, *time, *value));
        }
        ControlFlow::Continue(())
    });
    let series = Some(SeriesOptions { wanted: None, limit: u64::MAX, sink });
    let options = RunOptions { seed: Some(seed), series, ..RunOptions::default() };
    let result = run(&scenario(text), options, &mut |_| ControlFlow::Continue(()));
    (result.unwrap_or_else(|error| panic!("{error}")), points.take())
}

/// Behind a short link that is no limit, a relay sends a buffer a round trip: each ACK makes room for a segment that has been
/// waiting upstream for a long time.
#[test]
fn a_buffer_smaller_than_the_pipe_gives_buffer_over_round_trip() {
    for segments in [20_u64, 45, 60] {
        let rounds = 40;
        let bytes = segments * rounds * 1000;
        let split = Split {
            up: "rate = \"1 Gbit/s\"\ndelay = \"1 ms\"",
            down: "rate = \"1 Gbit/s\"\ndelay = \"250 ms\"",
            tcp: "mss = \"1000 B\"\nreceive_window = \"1 MiB\"\ndelayed_ack = false",
            first: &format!("bytes = \"{bytes} B\"\ntcp = {{ initial_window = \"100 segments\" }}"),
            second: &format!(
                "buffer = \"{} B\"\ntcp = {{ initial_window = \"{segments} segments\" }}",
                segments * 1000
            ),
        };
        let result = simulate(&split.text(), 1);
        let (flow, relay) = (&result.flows[1], &result.relays[0]);
        assert_eq!((flow.bytes_delivered, relay.undelivered_bytes), (bytes, 0));
        assert_eq!((relay.buffer_bytes, relay.buffer_max_bytes), (segments * 1000, segments * 1000));
        // Two handshakes, of which the first takes a round trip and a half until the relay has its connection; then a round
        // trip for each buffer but the last, which takes half of one. A segment and its ACK take 8.64 µs to send, and all of
        // a buffer's segments follow each other.
        let (up, down) = (0.002, 0.5);
        let round = down + 8.64e-6;
        let expected = 1.5 * up + down + (rounds as f64 - 0.5) * round + segments as f64 * 8.32e-6;
        assert!((flow.duration_s - expected).abs() < 2e-3, "{} s, expected {expected} s", flow.duration_s);
        // What is acknowledged makes room for what waits upstream at the same moment.
        let share = relay.buffer_mean_bytes / relay.buffer_bytes as f64;
        assert!((0.99..=1.0).contains(&share), "full for {share}");
        // The last byte has been read upstream half a round trip before it is delivered: until then the sender had to wait.
        let ahead = flow.duration_s - result.flows[0].duration_s;
        assert!((ahead - down / 2.0).abs() < 2e-3, "{ahead} s");
    }
}

// xfwa, section II: TCP spoofing [4] [5]
// xfwa, section II: TCP splitting [6]
/// A loss on the short link is repaired within its own round trip, and costs the long one nothing.
#[test]
fn a_split_way_beats_the_whole_one_where_the_short_link_loses() {
    // `xfwa`, section II: "split into multiple connections with shorter propagation delays".
    let split = Split {
        up: "rate = \"10 Mbit/s\"\ndelay = \"250 ms\"",
        down: "rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nloss = { model = \"packet\", probability = 0.005 }",
        tcp: "receive_window = \"1 MiB\"",
        first: "bytes = \"20 MB\"",
        second: "",
    };
    let (mut whole, mut parts) = (0.0, 0.0);
    for seed in 1..=5 {
        whole += simulate(&split.whole(), seed).flows[0].goodput_bps;
        parts += simulate(&split.text(), seed).flows[1].goodput_bps;
    }
    // By Mathis et al., MSS/RTT sqrt(3/2p): 0.4 Mbit/s over 510 ms, and over 10 ms more than the link takes.
    assert!(whole / 5.0 < 0.8e6, "{}", whole / 5.0);
    assert!(parts > 10.0 * whole, "{} against {}", parts / 5.0, whole / 5.0);
}

#[test]
fn a_chain_of_relays_is_one_way() {
    let chain = r#"
        title = "chain"
        [links.l]
        from = "n{i}"
        to = "m{i}"
        count = 1
        rate = "1 Gbit/s"
        delay = "1 ms"
        [links.a]
        from = "m0"
        to = "x"
        rate = "4 Mbit/s"
        delay = "100 ms"
        [links.b]
        from = "x"
        to = "y"
        rate = "2 Mbit/s"
        delay = "250 ms"
        queue = "50 packets"
        [tcp]
        receive_window = "128 KiB"
        [flows.last]
        from = "x"
        to = "y"
        app = "relay"
        upstream = "middle"
        variant = "reno"
        [flows.middle]
        from = "m0"
        to = "x"
        app = "relay"
        upstream = "first"
        buffer = "64 KiB"
        variant = "newreno"
        [flows.first]
        from = "n0"
        to = "m0"
        start = "1.5 s"
        bytes = "3 MB"
    "#;
    let (result, points) = curves(chain, 1);
    for flow in &result.flows {
        assert_eq!((flow.bytes_delivered, flow.start_s, flow.error.as_deref()), (3_000_000, 1.5, None));
    }
    let names: Vec<_> =
        result.relays.iter().map(|relay| [&relay.name, &relay.upstream, &relay.node]).collect();
    assert_eq!(names, [["last", "middle", "x"], ["middle", "first", "m0"]]);
    // The narrow last link holds all of them back, through both buffers.
    let most: Vec<u64> = result.relays.iter().map(|relay| relay.buffer_max_bytes).collect();
    assert_eq!(most, [256 << 10, 64 << 10]);
    assert!(result.flows[2].duration_s > 8.0, "{} s", result.flows[2].duration_s);
    for (flow, size) in [(0, 256 << 10), (1, 64 << 10)] {
        let fill = points.iter().filter(|point| point.0 == "buffer" && point.1 == flow);
        let fill: Vec<f64> = fill.map(|point| point.3).collect();
        assert_eq!(fill.iter().copied().fold(0.0, f64::max), f64::from(size));
        assert_eq!(fill.last(), Some(&0.0));
    }
    // One transfer, whichever connections it takes.
    assert_eq!((result.jain, result.jain_flows), (Some(1.0), 1));
}

/// What lies behind the relay is gone: it gives up, resets the connection upstream, and tells what it had acknowledged.
#[test]
fn a_connection_that_breaks_takes_the_other_with_it() {
    let split = Split {
        up: "rate = \"10 Mbit/s\"\ndelay = \"10 ms\"",
        down: "rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nschedule = [{ at = \"1 s\", outage = \"1000 s\", waiting = \"lose\" }]",
        tcp: "max_retransmissions = 3",
        first: "bytes = \"20 MB\"",
        second: "buffer = \"100 kB\"",
    };
    let result = simulate(&split.text(), 1);
    let errors: Vec<_> = result.flows.iter().map(|flow| flow.error.as_deref().unwrap_or_default()).collect();
    assert_eq!(
        errors,
        ["the peer reset the connection", "the retransmission limit was reached without an answer"]
    );
    assert_eq!(result.flows.iter().filter_map(|flow| flow.finish_s).count(), 0);
    // Its buffer, and the window that nobody read, but for what is less than a segment.
    assert_eq!(result.relays[0].buffer_max_bytes, 100_000);
    let undelivered = result.relays[0].undelivered_bytes;
    assert!((165_535 - 2 * 1460..=165_535).contains(&undelivered), "{undelivered}");
    assert!(result.duration_s < 60.0, "{} s", result.duration_s);
}

#[test]
fn a_broken_connection_upstream_breaks_what_is_behind_it() {
    // The second relay cannot reach anybody, resets the connection to the first, and that one the sender's.
    let text = r#"
        title = "chain"
        [links.a]
        from = "n0"
        to = "n1"
        rate = "10 Mbit/s"
        delay = "10 ms"
        [links.b]
        from = "n1"
        to = "n2"
        rate = "10 Mbit/s"
        delay = "10 ms"
        [links.c]
        from = "n2"
        to = "n3"
        rate = "10 Mbit/s"
        delay = "10 ms"
        loss = { model = "packet", probability = 1.0 }
        [tcp]
        max_retransmissions = 2
        [flows.f]
        from = "n0"
        to = "n1"
        bytes = "20 MB"
        [flows.g]
        from = "n1"
        to = "n2"
        app = "relay"
        upstream = "f"
        [flows.h]
        from = "n2"
        to = "n3"
        app = "relay"
        upstream = "g"
    "#;
    let result = simulate(text, 1);
    assert!(result.flows.iter().all(|flow| flow.error.is_some()), "{:?}", result.flows);
    assert_eq!(result.relays[1].buffer_max_bytes, 256 << 10);
}

/// The sender hears of nothing from 40 ms on, gives up and resets its connection; by then all has come to the relay.
#[test]
fn a_connection_upstream_that_breaks_behind_the_last_byte_breaks_nothing() {
    let split = Split {
        up: "rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
             reverse.schedule = [{ at = \"40 ms\", outage = \"1000 s\", waiting = \"lose\" }]",
        down: "rate = \"20 kbit/s\"\ndelay = \"10 ms\"",
        tcp: "max_retransmissions = 3\ninitial_window = \"64 segments\"",
        first: "bytes = \"60 kB\"",
        second: "",
    };
    let result = simulate(&split.text(), 1);
    let [upstream, downstream] = &result.flows[..] else { panic!("{:?}", result.flows) };
    assert!(upstream.error.is_some());
    assert_eq!((downstream.bytes_delivered, downstream.error.as_deref()), (60_000, None));
    assert!(downstream.finish_s.is_some_and(|finish_s| finish_s > 20.0), "{downstream:?}");
}

/// RFC 9293 section 3.7.4: what comes in small pieces goes on in whole segments while something is unacknowledged.
#[test]
fn a_relay_sends_whole_segments_on() {
    let split = Split {
        up: "rate = \"10 Mbit/s\"\ndelay = \"10 ms\"",
        down: "rate = \"10 Mbit/s\"\ndelay = \"100 ms\"",
        tcp: "no_delay = true",
        first: "app = \"onoff\"\nrate = \"400 kbit/s\"\npacket = \"100 B\"\nmean_on = \"1000 s\"\n\
                begins = \"on\"\nduration = \"4 s\"",
        second: "",
    };
    let result = simulate(&split.text(), 1);
    let packets = |name| result.links.iter().find(|link| link.name == name).unwrap().stats.delivered_packets;
    assert_eq!(result.flows[1].bytes_delivered, result.flows[0].bytes_delivered);
    // 2000 writes, and 137 segments.
    assert!(packets("up") > 1000 && packets("down") < 170, "{} {}", packets("up"), packets("down"));
}

/// A short transfer over a relay, segment by segment: its first data waits for the second handshake, the buffer fills, FIN
/// follows the last byte.
#[test]
fn a_short_trace() {
    let split = Split {
        up: "rate = \"2 Mbit/s\"\ndelay = \"10 ms\"",
        down: "rate = \"1 Mbit/s\"\ndelay = \"50 ms\"\nloss = { model = \"drop\", packets = [5] }",
        tcp: "mss = \"1000 B\"\ninitial_window = \"3 segments\"",
        first: "bytes = \"9500 B\"",
        second: "buffer = \"4000 B\"\nvariant = \"newreno\"",
    };
    let (result, points) = curves(&split.text(), 1);
    let mut trace = String::new();
    for (kind, flow, time, value) in points {
        if ["sent", "resent", "acked", "buffer"].contains(&kind) {
            writeln!(trace, "{:>9.3} ms  {} {kind} {value}", time * 1e3, ["f", "g"][flow]).unwrap();
        }
    }
    writeln!(trace, "{:#?}", result.relays[0]).unwrap();
    expect_file!["relays.txt"].assert_eq(&trace);
}

/// What a user asks for over a relay, and the same over the whole way.
fn asked(app: &str, far: &str) -> [RunResult; 2] {
    let split = Split {
        up: "rate = \"10 Mbit/s\"\ndelay = \"250 ms\"",
        down: &format!("rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n{far}"),
        tcp: "profile = \"ns2\"\nreceive_window = \"1 MiB\"",
        first: app,
        second: "",
    };
    [simulate(&split.text(), 1), simulate(&split.whole(), 1)]
}

/// Each page, answer and segment takes what it takes over the whole way, but for the second handshake, which is over when the first
/// request has come: the relay opens its connection when the user's is open.
#[test]
fn a_relay_carries_pages_answers_and_films() {
    let apps = [
        "app = \"http\"\npages = 3\npage_interval = \"20 s\"",
        "app = \"http\"\npages = 3\npage_interval = \"20 s\"\nconnections = 4\npipelining = false\ntls = \"1.3\"",
        "app = \"transactions\"\nresponse = \"20 kB\"\ntransactions = 3\nthink = \"100 ms\"",
        "app = \"video\"\nladder = [\"250 kbit/s\", \"1 Mbit/s\"]\nlength = \"60 s\"",
    ];
    for app in apps {
        let [split, whole] = asked(app, "");
        let [first, second] = [&split.flows[0], &split.flows[1]];
        assert_eq!(first.bytes_delivered, second.bytes_delivered, "{app}");
        assert!(first.finish_s.is_some() && second.finish_s.is_some(), "{app}: {second:?}");
        assert!(first.error.is_none() && second.error.is_none(), "{app}");
        assert_eq!((split.relays[0].undelivered_bytes, split.relays[0].lost_bytes), (0, 0), "{app}");
        let times = |result: &RunResult| -> Vec<f64> {
            let pages = result.users.pages.iter().map(|page| page.response_s);
            pages
                .chain(result.users.transactions.iter().map(|one| one.response_s))
                .map(Option::unwrap)
                .collect()
        };
        let (with, without) = (times(&split), times(&whole));
        assert!(with.len() == without.len() && !with.is_empty(), "{app}");
        // No bound of the whole way's is far: the relay takes 10 ms off the loop and adds as much for itself.
        assert!(
            with.iter().zip(&without).all(|(with, without)| (with - without).abs() < 0.15 * without),
            "{with:?} {without:?}"
        );
    }
}

/// What the short link loses the relay repairs there.
#[test]
fn pages_over_a_relay_come_sooner_where_the_short_link_loses() {
    let app = "app = \"http\"\npages = 30\npage_interval = \"5 s\"";
    let [split, whole] = asked(app, "loss = { model = \"packet\", probability = 0.05 }");
    let mean =
        |result: &RunResult| result.users.pages.iter().filter_map(|page| page.response_s).sum::<f64>() / 30.0;
    assert!(mean(&split) < 0.8 * mean(&whole), "{} {}", mean(&split), mean(&whole));
}

#[test]
fn what_was_asked_for_over_relays_comes_whole_whatever_is_lost() {
    let lossy = "loss = { model = \"packet\", probability = 0.03 }";
    let link = format!("rate = \"2 Mbit/s\"\ndelay = \"50 ms\"\n{lossy}\nreverse = {{ {lossy} }}");
    let third = format!(
        "[links.last]\nfrom = \"b\"\nto = \"c\"\n{link}\n[flows.h]\nfrom = \"b\"\nto = \"c\"\napp = \"relay\"\nupstream = \"g\"\n"
    );
    let apps = [
        "app = \"http\"\npages = 3\npage_interval = \"1 s\"\nconnections = 3\ntls = \"1.2\"",
        "app = \"video\"\nladder = [\"300 kbit/s\"]\nlength = \"20 s\"",
    ];
    for app in apps {
        for seed in 1..=10 {
            let split = Split { up: &link, down: &link, tcp: "", first: app, second: "buffer = \"8 KiB\"" };
            let result = simulate(&format!("{}{third}", split.text()), seed);
            assert!(
                result.flows.iter().all(|flow| flow.finish_s.is_some() && flow.error.is_none()),
                "{app} {seed}"
            );
            assert!(result.users.pages.iter().all(|page| page.response_s.is_some()), "{app} {seed}");
            assert!(result.users.transactions.iter().all(|one| one.response_s.is_some()), "{app} {seed}");
            let delivered: Vec<u64> = result.flows.iter().map(|flow| flow.bytes_delivered).collect();
            assert!(
                delivered[0] > 0 && delivered.iter().all(|bytes| *bytes == delivered[0]),
                "{delivered:?}"
            );
            for relay in &result.relays {
                assert_eq!(relay.lost_bytes, 0, "{app} {seed}");
                assert!(relay.buffer_max_bytes <= 3 * relay.buffer_bytes);
            }
        }
    }
}

#[test]
fn a_crash_or_a_dead_link_ends_what_was_asked_for() {
    for far in ["loss = { model = \"packet\", probability = 1.0 }", ""] {
        let split = Split {
            up: "rate = \"10 Mbit/s\"\ndelay = \"250 ms\"",
            down: &format!("rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n{far}"),
            tcp: "profile = \"ns2\"\nmax_retransmissions = 3",
            first: "app = \"http\"\npages = 30\nconnections = 2",
            second: if far.is_empty() { "crash = \"2 s\"" } else { "" },
        };
        let result = simulate(&split.text(), 1);
        assert!(result.flows.iter().all(|flow| flow.finish_s.is_none()), "{far}");
        assert!(result.flows[1].error.is_some(), "{far}");
        assert!(result.users.pages.len() == 1 && result.users.pages[0].response_s.is_none(), "{far}");
    }
}

/// Sends a buffer of 20 segments a round trip of half a second; 30 more wait in the window of its upstream connection.
fn crashing(crash: &str, down: &str) -> String {
    let split = Split {
        up: "rate = \"1 Gbit/s\"\ndelay = \"1 ms\"",
        down: &format!("rate = \"1 Gbit/s\"\ndelay = \"250 ms\"\n{down}"),
        tcp: "mss = \"1000 B\"\nreceive_window = \"30000 B\"\ndelayed_ack = false\nmax_retransmissions = 3",
        first: "bytes = \"1 MB\"",
        second: &format!("buffer = \"20000 B\"\ntcp = {{ initial_window = \"20 segments\" }}\n{crash}"),
    };
    split.text()
}

/// At 3.7 s the seventh buffer is on its way, and still arrives; what waits in the window was acknowledged and is gone.
#[test]
fn a_crash_loses_what_was_acknowledged_and_not_yet_sent_on() {
    let result = simulate(&crashing("crash = \"3.7 s\"", ""), 1);
    let relay = &result.relays[0];
    assert_eq!((relay.crashed_s, relay.acknowledged_bytes), (Some(3.7), 170_000));
    assert_eq!(result.flows[1].bytes_delivered, 140_000);
    assert_eq!(relay.lost_bytes, 30_000);
    // By its own count the buffer was not delivered either: no acknowledgment of it had come.
    assert_eq!((relay.undelivered_bytes, relay.undelivered_max_bytes), (50_000, 50_000));
    let errors: Vec<_> = result.flows.iter().map(|flow| flow.error.as_deref().unwrap_or_default()).collect();
    assert_eq!(
        errors,
        ["the retransmission limit was reached without an answer", "the relay crashed at 3.7 s"]
    );
    assert!(result.flows.iter().all(|flow| flow.finish_s.is_none()));
    // The sixth segment of that buffer, behind the SYN and 125 segments, is lost, and nobody resends it.
    let lossy = crashing("crash = \"3.7 s\"", "loss = { model = \"drop\", packets = [127] }");
    let result = simulate(&lossy, 1);
    assert_eq!((result.flows[1].bytes_delivered, result.relays[0].lost_bytes), (125_000, 45_000));
}

#[test]
fn a_relay_that_is_back_resets_what_it_has_forgotten() {
    let down = simulate(&crashing("crash = \"3.7 s\"", ""), 1);
    let result = simulate(&crashing("crash = \"3.7 s\"\nback = \"1 s\"", ""), 1);
    assert_eq!(result.flows[0].error.as_deref(), Some("the peer reset the connection"));
    assert_eq!(result.relays[0].lost_bytes, down.relays[0].lost_bytes);
    assert!((4.7..down.duration_s).contains(&result.duration_s), "{} s", result.duration_s);
    // After the end of the transfer there is nothing to lose.
    let late = simulate(&crashing("crash = \"1000 s\"", ""), 1);
    let relay = &late.relays[0];
    assert_eq!((relay.lost_bytes, relay.crashed_s, relay.acknowledged_bytes), (0, None, 1_000_000));
    assert!(late.flows.iter().all(|flow| flow.error.is_none() && flow.bytes_delivered == 1_000_000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever is lost, also of the acknowledgments: what the sender believes delivered and what was, by the curves of both.
    #[test]
    fn a_crash_is_counted_by_what_the_sender_has_heard(
        (crash_ms, back_ms) in (10_u64..6000, prop::option::of(0_u64..4000)),
        (buffer, loss, back_loss) in (1460_u64..60_000, 0.0..0.05, 0.0..0.3),
        seed in 0_u64..1000,
    ) {
        let back = back_ms.map_or(String::new(), |ms| format!("back = \"{ms} ms\""));
        let random = |probability: f64| format!("loss = {{ model = \"packet\", probability = {probability} }}");
        let split = Split {
            up: &format!("rate = \"5 Mbit/s\"\ndelay = \"20 ms\"\nreverse = {{ {} }}", random(back_loss)),
            down: &format!("rate = \"2 Mbit/s\"\ndelay = \"100 ms\"\n{}", random(loss)),
            tcp: "max_retransmissions = 4",
            first: "bytes = \"600 kB\"",
            second: &format!("buffer = \"{buffer} B\"\ncrash = \"{crash_ms} ms\"\n{back}"),
        };
        let (result, points) = curves(&split.text(), seed);
        let relay = &result.relays[0];
        let heard = points.iter().filter(|point| point.0 == "acked" && point.1 == 0).map(|point| point.3);
        let heard = heard.fold(0.0, f64::max) as u64;
        // Behind the last byte the FIN counts one.
        prop_assert_eq!(relay.acknowledged_bytes, heard.min(600_000));
        let delivered = result.flows[1].bytes_delivered;
        let lost = relay.acknowledged_bytes.saturating_sub(delivered);
        prop_assert_eq!(relay.lost_bytes, if relay.crashed_s.is_some() { lost } else { 0 });
        prop_assert!(relay.lost_bytes <= relay.undelivered_bytes);
        prop_assert!(delivered == 600_000 || result.flows[1].finish_s.is_none());
    }

    /// Whatever is lost: all bytes arrive once and in order (the relay's own counts are asserted at each of its steps), never
    /// more than the buffer holds is at the relay, and nothing is sent on before it came.
    #[test]
    fn nothing_is_lost_made_up_or_held_beyond_the_buffer(
        (bytes, buffer) in (1_u64..400_000, 1000_u64..100_000),
        (up, down) in (prop::collection::btree_set(1_u64..150, 0..12), prop::collection::btree_set(1_u64..150, 0..12)),
        (back, random) in (prop::collection::btree_set(1_u64..100, 0..8), prop::bool::ANY),
        (up_mss, down_mss) in (prop::sample::select(vec![536, 1000, 1460]), prop::sample::select(vec![300, 1000])),
        (up_ms, down_ms) in (0_u64..300, 0_u64..300),
        variant in prop::sample::select(vec!["tahoe", "reno", "newreno", "sack", "sack-linux-2.4", "rack"]),
        timestamps in prop::bool::ANY,
        seed in 0_u64..1000,
    ) {
        let drop = |packets: BTreeSet<u64>| {
            let packets: Vec<u64> = packets.into_iter().collect();
            format!("loss = {{ model = \"drop\", packets = {packets:?} }}")
        };
        // Sixteen losses in a row would break the connection.
        let burst = "loss = { model = \"gilbert-elliott\", good_to_bad = 0.03, bad_to_good = 0.7 }";
        let split = Split {
            up: &format!("rate = \"5 Mbit/s\"\ndelay = \"{up_ms} ms\"\n{}\nreverse = {{ {} }}", drop(up), drop(back)),
            down: &format!(
                "rate = \"2 Mbit/s\"\nqueue = \"20 packets\"\ndelay = \"{down_ms} ms\"\n{}",
                if random { burst.to_owned() } else { drop(down) }
            ),
            tcp: &format!("timestamps = {timestamps}"),
            first: &format!("bytes = \"{bytes} B\"\ntcp = {{ mss = \"{up_mss} B\" }}"),
            second: &format!("buffer = \"{buffer} B\"\nvariant = \"{variant}\"\ntcp = {{ mss = \"{down_mss} B\" }}"),
        };
        let (result, points) = curves(&split.text(), seed);
        prop_assert_eq!(result.flows[0].bytes_delivered, bytes);
        prop_assert_eq!(result.flows[1].bytes_delivered, bytes);
        prop_assert!(result.flows[1].finish_s.is_some());
        let relay = &result.relays[0];
        prop_assert_eq!(relay.undelivered_bytes, 0);
        prop_assert!(relay.buffer_max_bytes <= buffer && relay.buffer_mean_bytes <= relay.buffer_max_bytes as f64);
        // What is sent on lies between what was acknowledged and that and the buffer.
        let (mut held, mut acked) = (0.0, 0.0);
        for (kind, flow, _, value) in points {
            match (kind, flow) {
                ("buffer", 1) => held = value,
                ("acked", 1) => acked = f64::max(acked, value),
                ("sent", 1) => {
                    prop_assert!(value < acked + buffer as f64, "sent {} with {} acknowledged", value, acked);
                    prop_assert!(value < acked + held, "sent {} with {} acknowledged, {} held", value, acked, held);
                }
                _ => {}
            }
            prop_assert!(held <= buffer as f64);
        }
    }
}
