//! The parts of an error's one line.

use bentpipe_path::gateway::GatewaySpec;
use bentpipe_path::{ActiveSpec, LossSpec};
use bentpipe_tcp::{Catalogue, Profile};

use super::set;
use crate::scenario::error::{NEAR, ScenarioError, closest, expected_one_of, listed, quoted};
use crate::scenario::{apps, variants};

/// What each key with a choice takes: the key's words in an error, and the names.
fn choices() -> Vec<(&'static str, Vec<String>)> {
    let catalogue = Catalogue::default();
    let of = |schemes: &[(&str, &str)]| schemes.iter().map(|(name, _)| (*name).to_owned()).collect();
    let losses = schemars::schema_for!(LossSpec).to_value();
    let losses = losses["oneOf"].as_array().unwrap().iter();
    vec![
        ("a variant", variants(&catalogue).into_iter().map(|(name, _)| name).collect()),
        ("a recovery", catalogue.recoveries().iter().map(|scheme| scheme.name().to_owned()).collect()),
        ("a control", catalogue.compositions().iter().map(|control| control.name()).collect()),
        ("a slow start", catalogue.slow_starts().iter().map(|scheme| scheme.name().to_owned()).collect()),
        ("an application", of(&apps())),
        ("a profile", Profile::ALL.iter().map(|profile| profile.name().to_owned()).collect()),
        ("one of the known names", of(GatewaySpec::SCHEMES)),
        ("one of the known names", of(ActiveSpec::SCHEMES)),
        (
            "one of the known names",
            losses.map(|loss| loss["properties"]["model"]["const"].as_str().unwrap().to_owned()).collect(),
        ),
    ]
}

#[test]
fn nothing_that_is_there_is_called_missing() {
    let choices = choices();
    let all = || choices.iter().flat_map(|(_, names)| names);
    assert!(
        ["rack", "bbr3", "relay", "spoof", "codel", "gilbert-elliott"].iter().all(|n| all().any(|a| a == n))
    );
    for (what, names) in &choices {
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        for name in all() {
            let error = expected_one_of(what, name, &names);
            assert!(!error.contains("not there"), "{error}");
        }
    }
}

#[test]
fn what_is_near_a_name_of_the_field_is_there() {
    let choices = choices();
    for (name, near) in NEAR {
        assert!(choices.iter().all(|(_, names)| !names.iter().any(|there| there == name)), "{name}");
        for word in near.split('"').skip(1).step_by(2) {
            assert!(
                choices.iter().any(|(_, names)| names.iter().any(|there| there == word)),
                "{name}: {word}"
            );
        }
        let error = expected_one_of("a variant", name, &[]);
        assert!(error.ends_with(&format!("near it is {near}")), "{error}");
    }
    let found = set("", &[("flows.f", "{ from = 'a', to = 'b', variant = 'bbr' }")]).unwrap_err();
    assert!(!found.contains("yet"), "{found}");
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
    let error = ScenarioError::new(&nasty, Some(3), nasty.clone(), nasty.clone()).to_string();
    assert!(!error.chars().any(|c| c.is_control() || c == '\u{2028}' || c == '\u{202e}'), "{error}");
    assert!(error.len() < 20_000, "{}", error.len());
    assert_eq!(
        ScenarioError::new("a.toml", None, String::new(), "expected b, found c".into()).to_string(),
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
