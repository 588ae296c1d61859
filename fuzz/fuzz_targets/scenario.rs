//! Any text as a scenario, with overrides behind NUL bytes: it is one that can run, or one line says why not.
#![no_main]

use bentpipe_scenario::{FileKind, parse_with};
use bentpipe_tcp::Catalogue;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let mut parts = input.split('\0');
    let text = parts.next().unwrap_or_default();
    let overrides: Vec<_> = parts
        .filter_map(|part| part.split_once('='))
        .map(|(key, value)| (key.into(), value.into()))
        .collect();
    // What it extends is the text itself, a few times, or no scenario; no file is read.
    let files = |path: &std::path::Path, _: FileKind| match path.as_os_str().len() {
        length if length < 8 => Ok(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())) as Box<dyn std::io::Read>),
        _ => Err("expected a short name of a file, found a long one".into()),
    };
    match parse_with("fuzz.toml", text, &overrides, &files, &Catalogue::default()) {
        Ok(scenario) => {
            let nodes = scenario.nodes.len();
            assert!(scenario.links.iter().all(|link| (link.from.0.max(link.to.0) as usize) < nodes));
            assert!(scenario.flows.iter().all(|flow| flow.from < nodes && flow.to < nodes));
        }
        Err(error) => {
            let line = error.to_string();
            assert!(!error.message().is_empty(), "{line}");
            assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }
});
