//! The parts of an error's one line.

use bentpipe_units::{Fault, closest, listed};

use super::set;
use crate::ScenarioError;
use crate::keys::aliases;
use crate::keys::no_such_scheme;
use bentpipe_units::quoted;

#[test]
fn no_name_of_the_field_that_is_answered_with_ours_is_one_that_runs() {
    let all = aliases::all();
    let runs: Vec<&str> = all.iter().map(|(_, name, _)| *name).collect();
    assert!(
        ["rack", "bbr3", "relay", "spoof", "drr", "gilbert-elliott"].iter().all(|name| runs.contains(name))
    );
    for (key, ours, also) in &all {
        for name in *also {
            assert!(!runs.contains(name), "{name}, which {key} = {ours:?} answers, runs");
            assert_eq!(name.to_lowercase(), **name);
            let hint = aliases::here(&name.to_uppercase()).unwrap();
            assert!(hint.contains(&format!("{ours:?}")), "{name}: {hint}");
        }
    }
}

#[test]
fn names_of_the_field_are_answered_with_ours() {
    for (name, ours) in [
        ("bbr", "control = \"bbr1\" or \"bbr3\""),
        ("prr", "recovery = \"rack\""),
        ("rack-tlp", "recovery = \"rack\""),
        ("split", "app = \"relay\""),
        ("pep", "app = \"relay\" or gateway.scheme = \"snoop\" or \"spoof\""),
    ] {
        let found = set("", &[("flows.f", &format!("{{ from = 'a', to = 'b', variant = '{name}' }}"))]);
        assert!(found.is_err());
        assert_eq!(aliases::here(name).as_deref(), Some(ours));
        let fault = no_such_scheme("a variant", name, &["sack"]);
        assert_eq!(fault.hint, Some(format!("here it is {ours}")));
    }
    assert_eq!(aliases::here("sack"), None);
}

#[test]
fn close_names_are_found_and_far_ones_are_not() {
    let names = ["receive_window", "mss", "initial_window"];
    assert_eq!(closest("recieve_window", names), Some("receive_window"));
    assert_eq!(closest("MSS", names), Some("mss"));
    assert_eq!(closest("colour", names), None);
    assert_eq!(closest("msss", names), Some("mss"));
    assert_eq!(closest("smsx", names), None);
}

#[test]
fn whatever_is_named_the_error_is_one_short_line() {
    let nasty = "a\nb\r\u{2028}\u{202e}\u{85}\0".repeat(1000);
    let error = ScenarioError::new(&nasty, Some(3), nasty.clone(), nasty.as_str().into()).to_string();
    assert!(!error.chars().any(|c| c.is_control() || c == '\u{2028}' || c == '\u{202e}'), "{error}");
    assert!(error.len() < 20_000, "{}", error.len());
    assert_eq!(
        ScenarioError::new("a.toml", None, String::new(), Fault::value("b", "c")).to_string(),
        "a.toml: expected b, found c"
    );
}

#[test]
fn long_lists_and_texts_are_cut() {
    let names: Vec<String> = (0..100).map(|i| format!("n{i}")).collect();
    assert!(listed(names.iter().map(String::as_str)).ends_with("n39 and 60 more"));
    assert_eq!(listed([]), "none");
    assert_eq!(quoted(&"é".repeat(100)), format!("\"{}\"…", "é".repeat(60)));
}
