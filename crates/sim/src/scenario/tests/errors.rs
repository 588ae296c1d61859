//! The parts of an error's one line.

use crate::scenario::error::{ScenarioError, closest, listed, quoted};

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
