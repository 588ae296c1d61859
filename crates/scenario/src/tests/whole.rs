//! The one text that a scenario comes to.

use std::fs;
use std::path::{Path, PathBuf};

use super::{BASE, good, set};
use crate::{Scenario, load, parse_str, presets};

/// Reads the text of `scenario` where no file is beside it.
fn again(scenario: &Scenario, seed: u64) -> Scenario {
    let text = scenario.toml(seed);
    parse_str("/nowhere/else", &text, &[]).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

fn same(scenario: &Scenario) {
    // Where it was read from is no part of it.
    let again = Scenario { files: scenario.files.clone(), ..again(scenario, scenario.seed) };
    assert_eq!(format!("{again:?}"), format!("{scenario:?}"));
}

pub(super) fn every_file(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            every_file(&path, extension, found);
        } else if path.extension().is_some_and(|other| other == extension) {
            found.push(path);
        }
    }
}

#[test]
fn every_scenario_of_the_repository_is_the_same_when_read_from_its_whole_text() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["scenarios", "bench/scenarios", "papers"] {
        every_file(&root.join(folder), "toml", &mut files);
    }
    let mut runnable = 0;
    for file in &files {
        // Presets, and the networks that papers extend, have no flows.
        if let Ok(scenario) = load(file, &[]) {
            same(&scenario);
            runnable += 1;
        }
    }
    assert!(runnable > 15, "{runnable} of {}", files.len());
}

#[test]
fn every_preset_is_the_same_with_a_flow_between_its_first_and_last_node() {
    for (name, _) in presets() {
        let bare = format!("extends = \"preset:{name}\"\n");
        let error = parse_str("s", &format!("{bare}[flows.f]\nfrom = \"?\"\nto = \"?\""), &[]).unwrap_err();
        assert_eq!(error.key, "flows.f.from", "{name}");
        let ends = [("server", "client"), ("source", "destination"), ("source1", "destination1")];
        let flow =
            |(from, to)| format!("{bare}[flows.f]\nfrom = \"{from}\"\nto = \"{to}\"\nbytes = \"1 MB\"");
        let scenario = ends.into_iter().find_map(|ends| parse_str("s", &flow(ends), &[]).ok());
        same(&scenario.unwrap_or_else(|| panic!("{name}")));
    }
}

#[test]
fn title_seed_and_settings_are_in_the_text() {
    let untitled = parse_str("folder/some name.toml", &BASE.replace("title = \"Base\"", ""), &[]).unwrap();
    assert_eq!(again(&untitled, 7).title, "some name");
    assert_eq!(again(&untitled, 8).seed, 8);
    let settings = [
        ("links.satellite.loss", "{ model = \"ber\", ber = 1.2345678901234567e-300 }"),
        ("links.satellite.rate", "3 Mbit/s"),
        ("title", "\"quotes\\\" and \\\\ and {i} and é\""),
        ("flows.*.variant", "afc"),
        ("seed", "9007199254740991"),
    ];
    let changed = set(BASE, &settings).unwrap();
    same(&changed);
    assert_eq!(changed.title, "quotes\" and \\ and {i} and é");
    assert!(!changed.toml(1).contains("2.048"));
}

#[test]
fn the_text_keeps_the_order_of_links_and_flows() {
    let scenario = set(BASE, &[("flows.aaa", "{ from = \"a\", to = \"b\", bytes = \"1 kB\" }")]).unwrap();
    let names = |scenario: &Scenario| -> Vec<String> {
        let links = scenario.links.iter().map(|link| link.name.clone());
        links.chain(scenario.flows.iter().map(|flow| flow.name.clone())).collect()
    };
    assert_eq!(names(&again(&scenario, 1)), names(&scenario));
    same(&good(BASE));
}
