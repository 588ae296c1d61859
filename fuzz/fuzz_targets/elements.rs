//! Any text as element sets: a constellation that moves, or one line that says why not.
#![no_main]

use bentpipe_sky::SkyView;
use bentpipe_scenario::{FileKind, parse_with};
use bentpipe_tcp::Catalogue;
use bentpipe_units::Time;
use libfuzzer_sys::fuzz_target;

const SCENARIO: &str = "duration = \"1 s\"\n[constellation]\nelements = \"t.tle\"\nuplink.rate = \"1 Mbit/s\"\n\
    [stations.london]\n[stations.paris]\n[flows.f]\nfrom = \"london\"\nto = \"paris\"\n";

fuzz_target!(|text: &str| {
    let files = |_: &std::path::Path, _: FileKind| Ok(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())) as Box<dyn std::io::Read>);
    match parse_with("fuzz.toml", SCENARIO, &[], &files, &Catalogue::default()) {
        Ok(scenario) => {
            let positions = scenario.constellation.as_ref().map(|spec| SkyView::of(&spec.sky)).map(|mut view| view.positions(Time::ZERO));
            assert!(positions.is_some_and(|positions| !positions.is_empty()));
        }
        Err(error) => {
            let line = error.to_string();
            assert!(line.contains("expected") && line.contains("found"), "{line}");
            assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }
});
