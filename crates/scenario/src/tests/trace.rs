use bentpipe_path::{Change, LossSpec};
use bentpipe_units::{Rate, Span, Within};
use proptest::prelude::*;

mod long;

use crate::{FileKind, Scenario, ScenarioError, parse_with};
use bentpipe_path::trace::{Lines, read_deliveries};
use bentpipe_tcp::Catalogue;

const BASE: &str = "[links.s]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"10 ms\"\n\
    [flows.f]\nfrom = \"a\"\nto = \"b\"\nbytes = \"1 MB\"\n";

/// The base scenario with `trace` as its trace, where the file x.csv says `text`.
fn read(trace: &str, text: &str) -> Result<Scenario, ScenarioError> {
    let files = |path: &std::path::Path, _: FileKind| match path.to_str() {
        Some("x.csv") => {
            Ok(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())) as Box<dyn std::io::Read>)
        }
        _ => Err("expected x.csv, found another file".into()),
    };
    let scenario = BASE.replace("delay = \"10 ms\"\n", &format!("delay = \"10 ms\"\ntrace = {trace}\n"));
    parse_with("s.toml", &scenario, &[], &files, &Catalogue::default())
}

fn changes(trace: &str, text: &str) -> Vec<Change> {
    read(trace, text).unwrap_or_else(|error| panic!("{error}")).links[0].forward.link.schedule.0.to_vec()
}

fn error(trace: &str, text: &str) -> String {
    read(trace, text).err().map_or_else(|| "none".to_owned(), |error| error.to_string())
}

/// The changes of a round of deliveries, and how long it is.
fn deliveries(text: &str) -> (Vec<Change>, Span) {
    read_deliveries(&mut Lines::of(text.as_bytes(), Within::Byte(0)), 1.0)
        .unwrap_or_else(|fault| panic!("{fault:?}"))
}

fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

#[test]
fn a_row_changes_what_it_says_otherwise_than_the_row_before() {
    let text = "# a comment\ntime_s, delay_s, rate_bps, loss\n\n0, 0.25, 2e6, 0\n1.5,0.25,1e6,0.01\n3,0.3,1e6,0\n4,0.3,1e6,0\n";
    let packet = LossSpec::Packet { probability: 0.01 };
    let expected = [
        Change {
            delay: Some(ms(250)),
            rate: Some(Rate::from_bps(2_000_000)),
            loss: Some(LossSpec::None),
            at: ms(0),
            ..Change::default()
        },
        Change {
            rate: Some(Rate::from_bps(1_000_000)),
            loss: Some(packet),
            at: ms(1500),
            ..Change::default()
        },
        Change { delay: Some(ms(300)), loss: Some(LossSpec::None), at: ms(3000), ..Change::default() },
    ];
    assert_eq!(changes("\"x.csv\"", text), expected);
    assert_eq!(changes("{ file = \"x.csv\", format = \"csv\", repeat = false }", text), expected);
}

#[test]
fn columns_come_in_any_order_and_quoted() {
    let text = "\u{feff}\"ber\",\"time_s\"\r\n\"1e-6\",\"2\"\r\n";
    let loss = Some(LossSpec::Ber { ber: 1e-6, correctable_bits: 0 });
    assert_eq!(changes("\"x.csv\"", text), [Change { loss, at: ms(2000), ..Change::default() }]);
}

#[test]
fn a_rate_of_zero_is_a_standstill_until_the_next_rate() {
    let text = "time_s,rate_bps,delay_s\n0,8,0\n1,0,0\n2,0,1\n3,8,1\n4,0,1\n";
    let changes = changes("\"x.csv\"", text);
    assert_eq!(changes[1], Change { outage: Some(ms(2000)), at: ms(1000), ..Change::default() });
    assert_eq!(changes[2], Change { delay: Some(ms(1000)), at: ms(2000), ..Change::default() });
    // The rate is the one that it had before.
    assert_eq!((changes.len(), changes[3].at), (4, ms(4000)));
    assert_eq!(ms(4000) + changes[3].outage.unwrap_or_default(), bentpipe_units::LATEST);
}

#[test]
fn a_trace_that_repeats_ends_at_its_last_time() {
    let text = "time_s,rate_bps\n0,0\n1,8\n3,0\n";
    let expected = [
        Change { outage: Some(ms(1000)), at: ms(0), ..Change::default() },
        Change { rate: Some(Rate::from_bps(8)), at: ms(1000), ..Change::default() },
        Change { repeat: Some(true), at: ms(3000), ..Change::default() },
    ];
    assert_eq!(changes("{ file = \"x.csv\", repeat = true }", text), expected);
}

#[test]
fn a_line_is_steps_with_its_value_in_their_middle() {
    let text = "time_s,rate_bps,loss\n0,1000,0\n0.25,2000,0.5\n";
    let found = changes("{ file = \"x.csv\", between = \"lines\" }", text);
    let rates: Vec<_> = found.iter().map(|change| (change.at, change.rate.map(Rate::as_bps))).collect();
    assert_eq!(
        rates,
        [(ms(0), Some(1200)), (ms(100), Some(1600)), (ms(200), Some(1900)), (ms(250), Some(2000))]
    );
    assert_eq!(found[2].loss, Some(LossSpec::Packet { probability: 0.45 }));
    let coarse = changes("{ file = \"x.csv\", between = \"lines\", step = \"1 s\", repeat = true }", text);
    assert_eq!(coarse[0].rate, Some(Rate::from_bps(1500)));
    assert_eq!((coarse.len(), coarse[1].repeat), (2, Some(true)));
}

#[test]
fn deliveries_are_spread_over_the_millisecond_that_ends_at_their_time() {
    let (found, end) = deliveries("1\n2\n2\n5\n6\n");
    let rate = |bps| Some(Rate::from_bps(bps));
    let expected = [
        Change { rate: rate(12_000_000), at: ms(0), ..Change::default() },
        Change { rate: rate(24_000_000), at: ms(1), ..Change::default() },
        Change { outage: Some(ms(2)), at: ms(2), ..Change::default() },
        Change { rate: rate(12_000_000), at: ms(4), ..Change::default() },
    ];
    assert_eq!((found.as_slice(), end), (&expected[..], ms(6)));
    // What comes at 0 comes at the end of each round.
    let (found, end) = deliveries("0\n0\n2\n");
    assert_eq!((found[1].rate, end), (rate(36_000_000), ms(2)));
    let trace = "{ file = \"x.csv\", format = \"mahimahi\" }";
    assert_eq!(
        changes(trace, "3\n").last().map(|change| (change.at, change.repeat)),
        Some((ms(3), Some(true)))
    );
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let header = "time_s, delay_s, rate_bps, loss, ber";
    for (text, expected) in [
        ("", "x.csv:1: links.s.trace: expected a header with time_s and any of delay_s, rate_bps, loss, ber, found none".to_owned()),
        ("delay_s,loss\n", "x.csv:1: links.s.trace: expected a header with time_s and any of delay_s, rate_bps, loss, ber, found \"delay_s,loss\"".to_owned()),
        ("1\n2\n", "x.csv:1: links.s.trace: expected a header with time_s and any of delay_s, rate_bps, loss, ber, found \"1\"; a trace of deliveries has format = \"mahimahi\"".to_owned()),
        ("# rates\ntime_s,rate_mbps\n0,1\n", format!("x.csv:2: links.s.trace: expected one of the columns ({header}), found \"rate_mbps\"; did you mean \"rate_bps\"?")),
        ("time_s;rate_bps\n0;1\n", format!("x.csv:1: links.s.trace: expected one of the columns ({header}), found \"time_s;rate_bps\"; columns are separated by commas")),
        ("time_s,loss,loss\n", "x.csv:1: links.s.trace: expected each column once, found \"loss\" again".to_owned()),
        ("time_s,loss,ber\n", "x.csv:1: links.s.trace: expected loss or ber, found both".to_owned()),
        ("time_s,rate_bps\n", "x.csv:1: links.s.trace: expected a row below the header, found none".to_owned()),
        ("time_s,rate_bps\n0,1000\n-1,1000\n", "x.csv:3: links.s.trace: expected time_s (seconds) from 0 to 9007199.254740993, found \"-1\"".to_owned()),
        ("time_s,rate_bps\n0,1000\n5,1\n5,2\n", "x.csv:4: links.s.trace: expected a time_s after that of the row before (5), found 5".to_owned()),
        ("time_s,rate_bps\n0,10 Mbit/s\n", "x.csv:2: links.s.trace: expected a number as rate_bps (bits a second, without a unit), found \"10 Mbit/s\"".to_owned()),
        ("time_s,rate_bps\n0,fast\n", "x.csv:2: links.s.trace: expected a number as rate_bps (bits a second), found \"fast\"".to_owned()),
        ("time_s,rate_bps,loss\n0,8,0\n\n1,,0\n", "x.csv:4: links.s.trace: expected a number as rate_bps (bits a second), found none".to_owned()),
        ("time_s,rate_bps\n0,8,0\n", "x.csv:2: links.s.trace: expected 2 columns, as the header has, found 3".to_owned()),
        ("time_s,rate_bps\n0,2e12\n", "x.csv:2: links.s.trace: expected rate_bps (bits a second) from 0 to 1000000000000, found \"2e12\"".to_owned()),
        ("time_s,rate_bps\n0,0.5\n", "x.csv:2: links.s.trace: expected 0 or a rate_bps that leaves at least 1 bit/s, found \"0.5\"".to_owned()),
        ("time_s,loss\n0,NaN\n", "x.csv:2: links.s.trace: expected loss (a share from 0 to 1) from 0 to 1, found \"NaN\"".to_owned()),
        ("time_s,ber\n0,1.1\n", "x.csv:2: links.s.trace: expected ber (a share from 0 to 1) from 0 to 1, found \"1.1\"".to_owned()),
    ] {
        assert_eq!(error("\"x.csv\"", text), expected);
    }
    let mahimahi = |text| error("{ file = \"x.csv\", format = \"mahimahi\" }", text);
    assert_eq!(
        mahimahi("1\n2 ms\n"),
        "x.csv:2: links.s.trace: expected a time in whole milliseconds, found \"2 ms\""
    );
    assert_eq!(
        mahimahi("-1\n"),
        "x.csv:1: links.s.trace: expected a time in whole milliseconds, found \"-1\""
    );
    assert_eq!(
        mahimahi("5\n4\n"),
        "x.csv:2: links.s.trace: expected a time of at least that of the line before (5 ms), found 4 ms"
    );
    assert_eq!(
        mahimahi("0\n"),
        "x.csv:1: links.s.trace: expected a time above 0 ms, after which the trace repeats, found none"
    );
}

#[test]
fn keys_that_do_not_go_together_are_named() {
    let rows = "time_s,rate_bps\n0,8\n";
    for (trace, expected) in [
        ("\"y.csv\"", "s.toml:6: links.s.trace: expected x.csv, found another file at \"y.csv\""),
        (
            "{ repeat = true }",
            "s.toml:6: links.s.trace.file: expected a file, or text in its place, found neither",
        ),
        (
            "{ file = \"y.csv\", text = \"time_s,rate_bps\\n0,8\\n\" }",
            "s.toml:6: links.s.trace.text: expected either text or file, found both",
        ),
        (
            "{ file = \"x.csv\", step = \"1 s\" }",
            "s.toml:6: links.s.trace.step: expected between = \"lines\" beside it, found none",
        ),
        (
            "{ file = \"x.csv\", format = \"mahimahi\", between = \"lines\" }",
            "s.toml:6: links.s.trace.between: expected none beside format \"mahimahi\", found one",
        ),
        (
            "{ file = \"x.csv\", format = \"mahimahi\", repeat = false }",
            "s.toml:6: links.s.trace.repeat: expected true beside format \"mahimahi\", whose traces repeat, found false",
        ),
        (
            "{ file = \"x.csv\", repeat = true }",
            "x.csv:2: links.s.trace: expected two rows or more in a trace that repeats, whose last time is its end, found one",
        ),
        (
            "{ file = \"x.csv\", format = \"pcap\" }",
            "s.toml:6: links.s.trace.format: expected one of the known names (csv, mahimahi), found \"pcap\"",
        ),
        (
            "\"x.csv\"\nschedule = [{ at = \"1 s\", rate = \"1 Mbit/s\" }]",
            "s.toml:6: links.s.trace: cannot be combined with schedule",
        ),
        (
            "{ file = \"x.csv\" }\ncount = 1000000",
            "s.toml:7: links.s.count: needs {i} in from or to, so that each copy joins other nodes",
        ),
    ] {
        assert_eq!(error(trace, rows), expected);
    }
    let far = "time_s,rate_bps\n0,8\n9000000,9\n";
    assert_eq!(
        error("{ file = \"x.csv\", between = \"lines\", step = \"1 us\" }", far),
        "x.csv:3: links.s.trace: expected lines of at most 10000000 steps of 1 us, found more"
    );
    let dynamic = BASE.replace("[links.s]", "routing = \"dynamic\"\n[links.s]").replace(
        "delay = \"10 ms\"\n",
        "delay = \"10 ms\"\ntrace = { text = \"time_s,delay_s\\n0,1\\n1,2\\n\", repeat = true }\n",
    );
    let found = parse_with("s.toml", &dynamic, &[], &|_, _| Err("".into()), &Catalogue::default());
    assert_eq!(
        found.err().map(|error| error.to_string()).unwrap_or_default(),
        "s.toml: duration: routing = \"dynamic\" needs a duration where a schedule repeats, as that of link \"s\""
    );
}

#[test]
fn the_whole_text_of_a_scenario_needs_no_file() {
    let text = "time_s,rate_bps\n0,1e6\n10,2e6\n";
    let first = read("{ file = \"x.csv\", between = \"lines\", step = \"2 s\" }", text);
    let first = first.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(first.files, [std::path::PathBuf::from("x.csv")]);
    let none = |_: &std::path::Path, _: FileKind| Err("expected no file, found one".into());
    let again = parse_with("again.toml", &first.toml(1), &[], &none, &Catalogue::default());
    let again = again.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.links[0].forward.link.schedule, first.links[0].forward.link.schedule);
    assert_eq!((again.toml(1), again.files.len()), (first.toml(1), 0));
    // A setting names a file of the current folder.
    let files = |path: &std::path::Path, _: FileKind| match path.to_str() {
        Some("y.csv") => Ok(Box::new(&b"time_s,rate_bps\n0,5e6\n"[..]) as Box<dyn std::io::Read>),
        _ => Err("expected y.csv, found another file".into()),
    };
    let setting = [("links.s.trace".to_owned(), "y.csv".to_owned())];
    let other = parse_with("a/s.toml", &first.toml(1), &setting, &files, &Catalogue::default());
    let other = other.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(other.links[0].forward.link.schedule.0[0].rate, Some(Rate::from_bps(5_000_000)));
}

#[test]
fn a_link_is_written_as_the_trace_that_it_follows() {
    let text = "time_s,delay_s,rate_bps,loss\n0,0.25,2000000,0\n1,0.25,0,0\n1.5,0.25,2000000,0.5\n4,0.25,2000000,0\n";
    let scenario = read("\"x.csv\"", text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.trace("s", "csv").as_deref(), Ok(text));
    let repeated =
        read("{ file = \"x.csv\", repeat = true }", text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(repeated.trace("s", "csv").as_deref(), Ok(text));
    let plain = "time_s,delay_s,rate_bps,loss\n0,0.01,1000000,0\n";
    assert_eq!(scenario.trace("s/reverse", "csv").as_deref(), Ok(plain));
    // A megabit a second is a packet in 12 ms.
    let timed = BASE.replace("[links.s]", "duration = \"30 ms\"\n[links.s]");
    let none = |_: &std::path::Path, _: FileKind| Err("".into());
    let timed = parse_with("s.toml", &timed, &[], &none, &Catalogue::default());
    let timed = timed.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(timed.trace("s", "mahimahi").as_deref(), Ok("12\n24\n"));
    let refused = |scenario: &Scenario, link: &str, format: &str| {
        scenario.trace(link, format).map_or_else(|fault| fault.to_string(), |text| panic!("{text}"))
    };
    assert_eq!(
        refused(&scenario, "t", "csv"),
        "expected a link, or its name with /reverse (s), found \"t\"; did you mean \"s\"?"
    );
    assert_eq!(
        refused(&scenario, "s", "pcap"),
        "expected a format of traces (csv, mahimahi), found \"pcap\""
    );
    let fast = BASE.replace("1 Mbit/s", "1000 Gbit/s").replace("[links.s]", "duration = \"60 s\"\n[links.s]");
    let fast = parse_with("s.toml", &fast, &[], &none, &Catalogue::default());
    assert_eq!(
        refused(&fast.unwrap_or_else(|error| panic!("{error}")), "s", "mahimahi"),
        "expected at most 10000000 deliveries, found 5000000000 within 60 s"
    );
    assert!(refused(&scenario, "s", "mahimahi").starts_with("expected a duration"));
}

/// Texts that look like traces.
fn texts() -> impl Strategy<Value = String> {
    let cell = prop_oneof![
        4 => "[0-9]{1,4}",
        2 => "0?\\.[0-9]{1,3}",
        1 => "[0-9]e-?[0-9]{1,3}",
        1 => Just(String::new()),
        1 => "-[0-9]|NaN|inf|[ -~]{0,8}",
    ];
    let line = prop::collection::vec(cell, 1..5).prop_map(|cells| cells.join(","));
    let name = prop::sample::select(vec!["time_s", "delay_s", "rate_bps", "loss", "ber", "rate", ""]);
    let header = prop::collection::vec(name, 1..4).prop_map(|names| names.join(","));
    let lines = prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"));
    prop_oneof![
        (header, lines.clone()).prop_map(|(header, lines)| format!("{header}\n{lines}")),
        Just("time_s,rate_bps".to_owned()).prop_flat_map(move |header| {
            prop::collection::vec((1_u32..5000, 0_u32..3), 1..20).prop_map(move |rows| {
                let mut at = 0;
                let row = |(gap, rate): &(u32, u32)| {
                    at += gap;
                    format!("\n{},{}", f64::from(at) / 1e3, f64::from(*rate) * 1e6)
                };
                format!("{header}{}", rows.iter().map(row).collect::<String>())
            })
        }),
        lines,
        ".{0,60}",
    ]
}

proptest! {
    /// Any text is a trace that a link can follow, or one line says why not.
    #[test]
    fn any_text_is_a_trace_or_an_error_of_one_line(
        text in texts(),
        repeat: bool,
        lines: bool,
        mahimahi: bool,
    ) {
        let between = if lines { "lines" } else { "steps" };
        let trace = match mahimahi {
            true => "{ file = \"x.csv\", format = \"mahimahi\" }".to_owned(),
            false => format!("{{ file = \"x.csv\", between = \"{between}\", repeat = {repeat} }}"),
        };
        match read(&trace, &text) {
            Ok(scenario) => prop_assert_eq!(scenario.links[0].forward.link.schedule.validate(), Ok(())),
            Err(error) => {
                let line = error.to_string();
                prop_assert!(line.contains("expected") && line.contains("found"), "{}", line);
                prop_assert!(line.starts_with("x.csv:") && !line.contains('\n'), "{}", line);
            }
        }
    }

    /// What is written of a link is a trace that comes to the same.
    #[test]
    fn what_is_written_is_read_as_the_same(
        rows in prop::collection::vec((1_u64..5000, 0_u64..4, 0_u64..4, 0_u32..4), 2..20),
        repeat: bool,
    ) {
        let mut at = 0;
        let text = rows.iter().map(|(gap, rate, delay, loss)| {
            let row = format!("{at}e-3,{delay},{}e6,{}\n", rate, f64::from(*loss) / 4.0);
            at += gap;
            row
        });
        let text: String = ["time_s,delay_s,rate_bps,loss\n".to_owned()].into_iter().chain(text).collect();
        let trace = format!("{{ file = \"x.csv\", repeat = {repeat} }}");
        let first = read(&trace, &text).unwrap_or_else(|error| panic!("{error}"));
        let written = first.trace("s", "csv").unwrap_or_else(|error| panic!("{error}"));
        let again = read(&trace, &written).unwrap_or_else(|error| panic!("{error}"));
        prop_assert_eq!(again.trace("s", "csv"), Ok(written));
        let [one, other] = [&first, &again].map(|scenario| {
            let changes = scenario.links[0].forward.link.schedule.0.iter();
            changes.map(|change| (change.at, change.outage)).filter(|(_, outage)| outage.is_some()).collect::<Vec<_>>()
        });
        prop_assert_eq!(one, other);
    }

    /// As many bytes as the opportunities say, whenever one looks on a whole millisecond.
    #[test]
    fn deliveries_come_to_their_number(gaps in prop::collection::vec(0_u64..6, 1..80)) {
        let mut now = 0;
        let times: Vec<u64> = gaps.iter().map(|gap| { now += gap; now }).collect();
        prop_assume!(now > 0);
        let text: String = times.iter().map(|time| format!("{time}\n")).collect();
        let (changes, end) = deliveries(&text);
        prop_assert_eq!(end, ms(now));
        let (mut bits, mut rate, mut up) = (0, 0, Span::ZERO);
        for time in 1..=now {
            for change in changes.iter().filter(|change| change.at == ms(time - 1)) {
                rate = change.rate.map_or(rate, Rate::as_bps);
                up = change.outage.map_or(up, |outage| change.at + outage);
            }
            if ms(time) > up {
                bits += rate / 1000;
            }
            let zero = if time == now { 0 } else { times.iter().filter(|at| **at == 0).count() };
            let sent = times.iter().filter(|at| **at <= time).count() - zero;
            prop_assert_eq!(bits, sent as u64 * 12_000, "by {} ms", time);
        }
    }
}
