//! Any text as the trace of a link: it is one that the link can follow, or one line says why not.
#![no_main]

use bentpipe_scenario::{FileKind, parse_with};
use bentpipe_tcp::Catalogue;
use libfuzzer_sys::fuzz_target;

const TRACES: [&str; 4] = [
    "\"t.csv\"",
    "{ file = \"t.csv\", repeat = true }",
    "{ file = \"t.csv\", between = \"lines\", step = \"10 s\" }",
    "{ file = \"t.csv\", format = \"mahimahi\" }",
];

// The first byte chooses how the text is read.
fuzz_target!(|input: (u8, &str)| {
    let (how, text) = input;
    let trace = TRACES[usize::from(how) % TRACES.len()];
    let scenario = format!(
        "[links.s]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\ntrace = {trace}\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\nbytes = \"1 kB\"\n"
    );
    let files = |_: &std::path::Path, _: FileKind| Ok(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())) as Box<dyn std::io::Read>);
    match parse_with("fuzz.toml", &scenario, &[], &files, &Catalogue::default()) {
        Ok(scenario) => {
            assert!(scenario.links[0].forward.link.schedule.validate().is_ok());
            assert!(scenario.trace("s", "csv").is_ok());
        }
        Err(error) => {
            let line = error.to_string();
            assert!(line.contains("expected") && line.contains("found"), "{line}");
            assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }
});
