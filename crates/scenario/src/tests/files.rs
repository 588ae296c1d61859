use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::super::load;
use super::{BASE, good, wrong};
use crate::{FileKind, Scenario, ScenarioError, parse_bytes, parse_str, parse_with};
use bentpipe_tcp::Catalogue;

/// A folder of its own for one test, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("bentpipe-{}-{test}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// The error of `path`, with this folder's name left out.
    fn error(&self, path: &Path) -> String {
        let error = load(path, &[]).unwrap_err().to_string();
        assert!(!error.contains('\n'), "{error}");
        error.replace(&format!("{}/", self.0.display()), "")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn what_is_no_file_of_text_is_refused() {
    let folder = Folder::new("no-text");
    assert_eq!(
        folder.error(&folder.0.join("none.toml")),
        "none.toml: expected a scenario file, found none that can be read (No such file or directory (os error 2))"
    );
    fs::create_dir(folder.0.join("folder")).unwrap();
    assert_eq!(folder.error(&folder.0.join("folder")), "folder: expected a scenario file, found a directory");
    for (name, content) in
        [("empty", ""), ("blank", " \n\n"), ("comment", "# nothing\n"), ("bom", "\u{feff}")]
    {
        assert_eq!(
            folder.error(&folder.write(name, content)),
            format!("{name}: expected a scenario with [links] and [flows], found an empty file")
        );
    }
    assert_eq!(
        folder.error(&folder.write("binary", b"title = 'a'\nseed = 1\n\x7fELF\xff\xfe\0")),
        "binary: expected text in UTF-8, found bytes that are not (line 3)"
    );
    assert_eq!(
        folder.error(&folder.write("nul", "title = 'a'\nseed = \"\0\"")),
        "nul:2: seed: not TOML: invalid basic string, expected non-double-quote visible characters, `\\`"
    );
}

/// Reading even a part of either would take longer than all other tests together.
#[test]
#[cfg(unix)]
fn endless_files_fail_without_being_read() {
    let folder = Folder::new("endless");
    let sparse = folder.0.join("sparse.toml");
    File::create(&sparse).unwrap().set_len(10 << 30).unwrap();
    let too_large = "expected a scenario file of at most 4 MiB, found a larger one";
    assert_eq!(folder.error(&sparse), format!("sparse.toml: {too_large}"));
    let device = "expected a scenario file, found a device or a pipe";
    assert_eq!(folder.error(Path::new("/dev/zero")), format!("/dev/zero: {device}"));
    assert_eq!(
        folder.error(&folder.write("a.toml", "\nextends = \"/dev/zero\"")),
        format!("a.toml:2: extends: {device} at \"/dev/zero\"")
    );
    assert_eq!(
        folder.error(&folder.write("b.toml", "extends = \"sparse.toml\"")),
        format!("b.toml:1: extends: {too_large} at \"sparse.toml\"")
    );
    let long = " ".repeat((4 << 20) + 1);
    assert_eq!(folder.error(&folder.write("long.toml", &long)), format!("long.toml: {too_large}"));
    let error = parse_str("s", &" ".repeat((80 << 20) + 1), &[]).unwrap_err();
    assert_eq!(error.to_string(), format!("s: {}", too_large.replace("4 MiB", "80 MiB")));
    assert!(parse_str("s", &format!("{BASE}{}", &long[BASE.len() + 1..]), &[]).is_ok());
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_beside_a_scenario_is_called_by_what_it_is() {
    let folder = Folder::new("beside");
    let with = |keys: &str| folder.write("s.toml", BASE.replace("[flows.download]", keys));
    let none = "found none that can be read (No such file or directory (os error 2)) at \"none\"";
    let trace = "[links.access.reverse]\ntrace = \"none\"\n[flows.download]";
    let error = folder.error(&with(trace));
    assert!(error.ends_with(&format!("links.access.reverse.trace: expected a trace, {none}")), "{error}");
    let error = folder.error(&with("[constellation]\nelements = \"none\"\n[flows.download]"));
    assert!(
        error.ends_with(&format!("constellation.elements: expected a file of element sets, {none}")),
        "{error}"
    );
    // What a kernel's file gives has no end, and asking for more would wait.
    let error = folder.error(&with(&trace.replace("none", "/proc/kmsg")));
    assert!(error.contains("reverse.trace: expected "), "{error}");
    // Windows' editors begin a text with a mark.
    let lines = "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753\n\
        2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667\n";
    folder.write("tle", format!("\u{feff}{lines}"));
    let sky = "[constellation]\nelements = \"tle\"\n[stations.oslo]\n[flows.download]";
    let error = folder.error(&with(sky));
    assert!(!error.contains("elements"), "{error}");
    // Twenty seconds of deliveries at 200 Mbit/s come to more than 4 MiB.
    let lines: String = (0..800_000).map(|line| format!("{}\n", 1 + line * 12 / 200)).collect();
    assert!(lines.len() > 4 << 20);
    folder.write("big", lines);
    let big = trace.replace("\"none\"", "{ file = \"big\", format = \"mahimahi\" }");
    let scenario = load(&with(&big), &[]).unwrap_or_else(|error| panic!("{error}"));
    assert!(parse_bytes("again", scenario.toml(1).into_bytes(), &[], &Catalogue::default()).is_ok());
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_change_nothing() {
    let scenario = good(&format!("\u{feff}{}", BASE.replace('\n', "\r\n")));
    assert_eq!(format!("{scenario:?}"), format!("{:?}", good(BASE)));
    let error = parse_str("s", "\u{feff}\r\nseed = -1\r\n", &[]).unwrap_err();
    assert_eq!(error.line, Some(2));
}

/// Parses in a thread with a stack of `stack` bytes.
fn parse_in(stack: usize, text: String) -> Result<Scenario, ScenarioError> {
    let parse = move || parse_str("s", &text, &[]);
    std::thread::Builder::new().stack_size(stack).spawn(parse).unwrap().join().unwrap()
}

#[test]
fn deep_and_huge_documents_are_refused_on_a_small_stack() {
    let deep = |n: usize, open: &str, inner: &str, close: &str| {
        let text = format!("title = {}{inner}{}", open.repeat(n), close.repeat(n));
        parse_in(64 << 10, text).unwrap_err().to_string()
    };
    let too_deep = "expected at most 16 tables within each other, found more";
    for n in [20, 79, 100, 10_000, 1_000_000] {
        for error in [deep(n, "[", "", "]"), deep(n, "{a=", "1", "}"), deep(n, "[", "", "")] {
            assert!(error.starts_with("s:1: ") && error.len() < 400, "{n}: {error}");
            assert!(error.contains(too_deep), "{n}: {error}");
        }
        let dotted = parse_in(64 << 10, format!("{}a = 1", "a.".repeat(n))).unwrap_err();
        assert_eq!(dotted.message(), too_deep, "{n}");
    }
    // As deep as the parser is let, and then broken, so that it clears away what it has read.
    let level = format!("{{{}a=", "b.".repeat(16));
    let text = format!("a={}1{}\n]", level.repeat(16), "}".repeat(16));
    assert!(!parse_in(512 << 10, text).unwrap_err().message().contains(too_deep));
    let key = "k".repeat(3 << 20);
    let error = parse_str("s", &format!("{key} = 1"), &[]).unwrap_err().to_string();
    assert!(error.len() < 1000 && error.starts_with("s:1: kkk"), "{error}");
    assert!(wrong("[flows.upload]", &format!("[flows.{}]", "k".repeat(100_000))).len() < 1000);
}

#[test]
fn extends_leads_to_files_beside_it_and_not_in_circles() {
    let folder = Folder::new("extends");
    fs::create_dir(folder.0.join("sub")).unwrap();
    folder.write("base.toml", BASE);
    folder.write("sub/middle.toml", "extends = \"../base.toml\"\nseed = 8\n[tcp]\nmss = \"1000 B\"");
    let top = folder.write("top.toml", "extends = \"sub/middle.toml\"\n[flows.upload]\nstart = \"5 s\"");
    let scenario = load(&top, &[]).unwrap();
    assert_eq!((scenario.seed, scenario.flows.len(), scenario.title.as_str()), (8, 4, "top"));
    assert_eq!(scenario.flows[3].sender.mss, 1000);

    let itself = folder.write("itself.toml", "extends = \"./sub/../itself.toml\"");
    assert_eq!(
        folder.error(&itself),
        "itself.toml:1: extends: expected a scenario that does not extend this one, found \
         \"./sub/../itself.toml\""
    );
    folder.write("ping.toml", "extends = \"pong.toml\"");
    let pong = folder.write("pong.toml", "# ours\nextends = \"ping.toml\"");
    assert_eq!(
        folder.error(&pong),
        "ping.toml:1: extends: expected a scenario that does not extend this one, found \"pong.toml\""
    );
    for (target, expected) in [
        ("none.toml", "expected a scenario file, found none that can be read"),
        ("sub", "expected a scenario file, found a directory at \"sub\""),
        ("preset:goe", "did you mean \"geo\"?"),
        ("", "expected a scenario file, found a directory"),
    ] {
        let error = folder.error(&folder.write("x.toml", format!("\n\nextends = \"{target}\"")));
        assert!(error.starts_with("x.toml:3: extends: ") && error.contains(expected), "{error}");
    }
    let error = folder.error(&folder.write("x.toml", "extends = 5"));
    assert_eq!(error, "x.toml:1: extends: expected a path or \"preset:NAME\", found no text");
    for i in 0..20 {
        folder.write(&format!("chain{i}.toml"), format!("extends = \"chain{}.toml\"", i + 1));
    }
    let error = folder.error(&folder.0.join("chain0.toml"));
    assert_eq!(
        error,
        "chain16.toml:1: extends: expected at most 16 scenarios that extend each other, found more"
    );
}

#[test]
fn an_error_names_the_file_of_the_chain_that_holds_the_value() {
    let folder = Folder::new("chain-errors");
    folder.write("base.toml", BASE.replace("mss = \"1460 B\"", "mss = \"9 B\""));
    let top = folder.write("top.toml", "extends = \"base.toml\"\n[flows.upload]\nbytes = \"0 B\"");
    assert_eq!(folder.error(&top), "base.toml:32: tcp.mss: expected a size from 88 B to 65495 B, found 9 B");
    folder.write("base.toml", BASE);
    assert_eq!(folder.error(&top), "top.toml:3: flows.upload.bytes: expected a size above zero, found 0 B");
    folder.write("base.toml", "[links\n");
    assert_eq!(folder.error(&top), "base.toml:1: links: not TOML: unclosed table, expected `]`");
}

#[test]
fn a_scenario_knows_every_file_that_it_was_read_from() {
    let folder = Folder::new("read");
    let base = folder.write("base.toml", format!("extends = \"preset:geo\"\n{BASE}"));
    let middle = folder.write("middle.toml", "extends = \"base.toml\"");
    let top = folder.write("top.toml", "extends = \"middle.toml\"");
    let files = load(&top, &[]).unwrap().files;
    assert_eq!(files, [top, middle, base.clone()]);
    assert_eq!(good(BASE).files, <[PathBuf; 0]>::default());
    let text = format!("extends = {base:?}").into_bytes();
    assert_eq!(parse_bytes("standard input", text, &[], &Catalogue::default()).unwrap().files, [base]);
}

#[test]
fn no_file_system_is_needed() {
    let files = |path: &Path, _: FileKind| match path.to_str() {
        Some("shelf/base.toml") => Ok(Box::new(BASE.as_bytes()) as Box<dyn std::io::Read>),
        _ => Err(format!("expected base.toml, found none for {path:?}").into()),
    };
    let ours = Catalogue::default();
    let read =
        |text: &str| parse_with("shelf/s.toml", text, &[], &files, &ours).map_err(|error| error.to_string());
    let scenario = read("extends = 'base.toml'\n[tcp]\nmss = '1000 B'").unwrap();
    assert_eq!((scenario.flows[0].sender.mss, scenario.title.as_str()), (1000, "s"));
    assert_eq!(scenario.files, [Path::new("shelf/base.toml")]);
    assert_eq!(
        read("extends = 'other.toml'").unwrap_err(),
        "shelf/s.toml:1: extends: expected base.toml, found none for \"shelf/other.toml\" at \"other.toml\""
    );
    let itself =
        parse_with("s", "extends = 'x/../s'", &[], &|_, _| Ok(Box::new(&b"extends = 'x/../s'"[..])), &ours);
    assert_eq!(
        itself.unwrap_err().message(),
        "expected a scenario that does not extend this one, found \"x/../s\""
    );
}

#[test]
fn a_pipe_is_refused_without_waiting_for_a_writer() {
    let folder = Folder::new("pipe");
    let path = folder.0.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert_eq!(folder.error(&path), "pipe: expected a scenario file, found a device or a pipe");
}

const RECORDED: &str = r#"
title = "recorded"
[links.path]
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "1 ms"
[flows.web]
from = "a"
to = "b"
app = "trace"
trace = "rows.csv"
"#;

#[test]
fn a_trace_is_read_from_a_csv_file_and_travels_with_the_scenario() {
    let folder = Folder::new("trace");
    let path = folder.write("s.toml", RECORDED);
    let rows =
        folder.write("rows.csv", "# a comment\nname, bytes ,start_s\nfirst, 12000, 0\nsecond,3000,1.25\n");
    let scenario = load(&path, &[]).unwrap();
    assert_eq!(scenario.files, [path.clone(), rows.clone()]);
    assert_eq!(scenario.flows[0].app.connections(), 2);
    let text = scenario.toml(1);
    assert!(text.contains("1.25 s") && text.contains("3000 B") && !text.contains("rows.csv"), "{text}");
    // Without the file, and as one that another scenario extends.
    fs::remove_file(&rows).unwrap();
    assert_eq!(parse_str("again", &text, &[]).unwrap().flows[0].app, scenario.flows[0].app);
    fs::create_dir(folder.0.join("sub")).unwrap();
    folder.write("sub/base.toml", RECORDED);
    folder.write("sub/rows.csv", "start_s,bytes\n0,1\n");
    let upper = folder.write("upper.toml", "extends = \"sub/base.toml\"\n");
    assert_eq!(load(&upper, &[]).unwrap().flows[0].app.connections(), 1);
}

#[test]
fn what_is_wrong_in_a_trace_is_told_with_its_line() {
    let folder = Folder::new("trace-errors");
    let path = folder.write("s.toml", RECORDED);
    assert_eq!(
        folder.error(&path),
        "s.toml:12: flows.web.trace: expected a file of transfers, found none that can be read (No such file or directory (os error 2)) at \"rows.csv\""
    );
    for (rows, expected) in [
        ("", "rows.csv:1: flows.web.trace: expected a header with start_s and bytes, found \"\""),
        (
            "start,bytes\n0,1\n",
            "rows.csv:1: flows.web.trace: expected a header with start_s and bytes, found \"start,bytes\"",
        ),
        ("start_s,bytes\n", "rows.csv:1: flows.web.trace: expected 1 to 100000 transfers, found 0"),
        (
            "start_s,bytes\n0,1\n1\n",
            "rows.csv:3: flows.web.trace: expected rows of a CSV file, found one that is none",
        ),
        ("start_s,bytes\n0,1\nsoon,1\n", "rows.csv:3: flows.web.trace[1].at: expected a time such as"),
        ("start_s,bytes\n0,1\n-1,1\n", "rows.csv:3: flows.web.trace[1].at: expected a time such as"),
        ("start_s,bytes\n0,0\n", "rows.csv:2: flows.web.trace[0].bytes: expected a size from 1 B"),
        (
            "start_s,bytes\n0,1\n3,1\n2,1\n",
            "rows.csv:4: flows.web.trace[2].at: expected a time that is not before the last transfer's (3 s), found 2 s",
        ),
    ] {
        folder.write("rows.csv", rows);
        let error = folder.error(&path);
        assert!(error.starts_with(expected), "{rows:?}: {error}");
    }
}
