//! Traces of any length, in one file or two.

use super::*;

/// A scenario whose files are these.
fn with_files(trace: &str, known: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let files = |path: &std::path::Path, _: FileKind| {
        let found = known.iter().find(|(name, _)| path == std::path::Path::new(name));
        let text = found.ok_or_else(|| "expected a known file, found another".to_owned())?.1;
        Ok(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())) as Box<dyn std::io::Read>)
    };
    let scenario = BASE.replace("delay = \"10 ms\"\n", &format!("delay = \"10 ms\"\ntrace = {trace}\n"));
    parse_with("s.toml", &scenario, &[], &files, &Catalogue::default())
}

#[test]
fn a_link_takes_a_trace_of_deliveries_and_one_of_delays() {
    let known = [("rate.trace", "10\n20\n"), ("delay.txt", "5\n5\n7.5\n")];
    let trace = "{ file = \"rate.trace\", format = \"mahimahi\", delays = { file = \"delay.txt\", step = \"5 ms\" } }";
    let scenario = with_files(trace, &known).unwrap_or_else(|error| panic!("{error}"));
    let rate = Some(Rate::from_bps(12_000_000));
    let still =
        |at: u64, ms: u64| Change { at: self::ms(at), outage: Some(self::ms(ms)), ..Change::default() };
    let delay = |us: u64| Some(Span::from_nanos(us * 1000));
    let expected = [
        Change { delay: delay(5000), ..still(0, 9) },
        Change { rate, at: ms(9), ..Change::default() },
        Change { delay: delay(7500), ..still(10, 9) },
        Change { at: ms(20), repeat: Some(true), ..Change::default() },
    ];
    assert_eq!(scenario.links[0].forward.link.schedule.0.as_slice(), expected);
    assert_eq!(
        scenario.notes,
        [
            "links.s.trace: delays of 15 ms beside rates of 20 ms: both begin anew together, and the last delay holds for 5 ms more"
        ]
    );
    // Twice as long a round has them twice; a file that is as long says nothing.
    let twice = with_files(&trace.replace("\"5 ms\"", "\"3333333 ns\""), &known);
    let twice = twice.unwrap_or_else(|error| panic!("{error}"));
    let delays: Vec<_> =
        twice.links[0].forward.link.schedule.0.iter().filter_map(|change| change.delay).collect();
    assert_eq!(delays.len(), 4);
    let whole =
        with_files(&trace.replace("delay.txt", "even.txt"), &[known[0], ("even.txt", "1\n2\n3\n4\n")]);
    assert_eq!(whole.unwrap_or_else(|error| panic!("{error}")).notes, <[String; 0]>::default());
    let long = with_files(&trace.replace("5 ms", "10 ms"), &known).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        long.notes,
        [
            "links.s.trace: delays of 30 ms beside rates of 20 ms: both begin anew together, and the last 10 ms of the delays never come"
        ]
    );
    // Whole text, and no file is needed any more.
    let again = with_files("\"x\"", &[("x", "time_s,loss\n0,0\n")]);
    assert!(again.is_ok());
    let none = |_: &std::path::Path, _: FileKind| Err("expected no file, found one".into());
    let again = parse_with("again.toml", &scenario.toml(1), &[], &none, &Catalogue::default());
    let again = again.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.links[0].forward.link.schedule, scenario.links[0].forward.link.schedule);
}

#[test]
fn delays_stand_alone_or_beside_rows() {
    let known = [
        ("d", "# ms\n5\n5\n7\n"),
        ("r", "time_s,rate_bps\n0,8\n0.02,9\n0.04,8\n"),
        ("both", "time_s,delay_s\n0,1\n"),
    ];
    let found = |trace: &str| {
        let scenario = with_files(trace, &known).unwrap_or_else(|error| panic!("{error}"));
        let changes = scenario.links[0].forward.link.schedule.0.to_vec();
        changes
            .iter()
            .map(|change| (change.at, change.delay, change.rate.map(Rate::as_bps)))
            .collect::<Vec<_>>()
    };
    assert_eq!(found("{ delays = \"d\" }"), [(ms(0), Some(ms(5)), None), (ms(20), Some(ms(7)), None)]);
    assert_eq!(found("{ delays = \"d\", repeat = true }")[2], (ms(30), None, None));
    let rows = [(ms(0), Some(ms(5)), Some(8)), (ms(20), Some(ms(7)), Some(9)), (ms(40), None, Some(8))];
    assert_eq!(found("{ file = \"r\", delays = \"d\" }"), rows);
    for (trace, expected) in [
        (
            "{ file = \"both\", delays = \"d\" }",
            "s.toml:6: links.s.trace.delays: expected a trace without delay_s beside it, found one with it",
        ),
        (
            "{ delays = \"none\" }",
            "s.toml:6: links.s.trace.delays: expected a known file, found another at \"none\"",
        ),
        (
            "{ delays = \"r\" }",
            "r:1: links.s.trace.delays: expected a delay in milliseconds, found \"time_s,rate_bps\"",
        ),
        (
            "{ delays = { text = \"\" } }",
            "s.toml:6: links.s.trace.delays: expected a delay in milliseconds a line, found none",
        ),
        (
            "{ delays = {} }",
            "s.toml:6: links.s.trace.delays.file: expected a file, or text in its place, found neither",
        ),
    ] {
        assert_eq!(
            with_files(trace, &known).err().map_or_else(|| "none".to_owned(), |error| error.to_string()),
            expected
        );
    }
}

#[test]
fn a_long_trace_is_known_by_its_file_and_its_digest() {
    let times: String = (0..20_000).map(|line| format!("{}\n", 1 + line / 4)).collect();
    let trace = "{ file = \"long.up\", format = \"mahimahi\" }";
    let first = with_files(trace, &[("long.up", &times)]).unwrap_or_else(|error| panic!("{error}"));
    let text = first.toml(1);
    assert!(text.len() < 2000, "{} bytes", text.len());
    let (file, digest) = (std::path::absolute("long.up").unwrap_or_default(), "sha256 = \"");
    assert!(text.contains(&format!("file = {:?}", file.display().to_string())), "{text}");
    let digest = &text[text.find(digest).unwrap_or(0) + digest.len()..][..64];
    // Its whole scenario is run again from the file, as long as that is the one.
    let again = |times: &'static str| {
        let files =
            move |_: &std::path::Path, _: FileKind| Ok(Box::new(times.as_bytes()) as Box<dyn std::io::Read>);
        parse_with("out/again.toml", &text, &[], &files, &Catalogue::default())
    };
    let times: &'static str = Box::leak(times.into_boxed_str());
    let same = again(times).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        (&same.links[0].forward.link.schedule, same.toml(1)),
        (&first.links[0].forward.link.schedule, text.clone())
    );
    let other = again(&times[..times.len() - 5]).err().map_or_else(String::new, |error| error.to_string());
    assert!(
        other.contains(&format!("links.s.trace: expected the trace with the SHA-256 {digest}, found ")),
        "{other}"
    );
    // A fault is told with its line, as that of a short one is.
    let wrong = Box::leak(format!("{times}5001 ms\n").into_boxed_str());
    let error =
        with_files(trace, &[("long.up", wrong)]).err().map_or_else(String::new, |error| error.to_string());
    assert_eq!(
        error,
        "long.up:20001: links.s.trace: expected a time in whole milliseconds, found \"5001 ms\""
    );
    assert_eq!(
        with_files("{ text = \"1\", format = \"mahimahi\", sha256 = \"00\" }", &[])
            .err()
            .map(|error| error.to_string()),
        Some("s.toml:6: links.s.trace.sha256: expected a file beside it, found none".to_owned())
    );
}

#[test]
fn rows_cost_what_they_change() {
    let rows: String =
        (0..1_500_000).map(|row| format!("{row},{}\n", 8 + u8::from(row > 1_000_000))).collect();
    let found = changes("\"x.csv\"", &format!("time_s,rate_bps\n{rows}"));
    let times: Vec<_> = found.iter().map(|change| change.at).collect();
    assert_eq!(times, [ms(0), ms(1_000_001_000)]);
}

/// An endless trace: only what a schedule costs ends it.
struct Endless(u64);

impl std::io::Read for Endless {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        self.0 += 2;
        let line = format!("{}\n", self.0);
        to[..line.len()].copy_from_slice(line.as_bytes());
        Ok(line.len())
    }
}

#[test]
fn a_trace_that_costs_too_much_is_refused_in_one_line() {
    fn fault(text: impl std::io::BufRead) -> (Option<Within>, String) {
        let read = read_deliveries(&mut Lines::of(text, Within::Line(1)), 1.0);
        read.map_or_else(|fault| (fault.at, fault.problem.to_string()), |_| panic!("it was read"))
    }
    let megabytes = size_of::<Change>() * 10;
    let changes = format!("expected at most 10000000 changes, which take {megabytes} MB, found more");
    assert_eq!(fault(std::io::BufReader::new(Endless(0))), (Some(Within::Line(10_000_000)), changes));
    let long = fault(std::io::BufReader::new(std::io::repeat(b'1')));
    assert_eq!(long.1, "expected lines of at most 65536 bytes, found a longer one");
    let bytes = fault(&b"1\n\xff\n"[..]);
    let message = "expected text in UTF-8, found bytes that are not".to_owned();
    assert_eq!(bytes, (Some(Within::Line(2)), message));
}
