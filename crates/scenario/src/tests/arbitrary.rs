use std::collections::HashSet;

use proptest::prelude::*;

use super::BASE;
use crate::{FileKind, ScenarioError, parse_str, parse_with};
use bentpipe_tcp::Catalogue;

/// Whatever the text, a scenario that can run or one line that says why not.
fn check(text: &str, overrides: &[(String, String)]) -> Result<(), TestCaseError> {
    match parse_with(
        "s.toml",
        text,
        overrides,
        &|_, _| Err("expected no file, found one".into()),
        &Catalogue::default(),
    ) {
        Err(error) => check_error(&error),
        Ok(scenario) => {
            let nodes = scenario.nodes.len();
            let names: HashSet<_> = scenario.links.iter().map(|link| &link.name).collect();
            prop_assert_eq!(names.len(), scenario.links.len());
            let names: HashSet<_> = scenario.flows.iter().map(|flow| &flow.name).collect();
            prop_assert_eq!(names.len(), scenario.flows.len());
            for link in &scenario.links {
                prop_assert!(link.from.0.max(link.to.0) < nodes as u32 && link.from != link.to);
                for direction in [&link.forward, &link.reverse] {
                    prop_assert!(direction.link.rate.as_bps() > 0 && direction.link.efficiency > 0.0);
                }
            }
            prop_assert!(!scenario.flows.is_empty());
            for flow in &scenario.flows {
                prop_assert!(flow.from < nodes && flow.to < nodes && flow.from != flow.to);
                prop_assert!(scenario.duration.is_none_or(|end| flow.start + flow.start_spread < end));
                for tcp in [&flow.sender, &flow.receiver] {
                    prop_assert!(tcp.receive_window >= tcp.mss && tcp.initial_window >= 1);
                    prop_assert!(tcp.rto.min <= tcp.rto.max && tcp.delayed_ack.segments >= 1);
                }
            }
            let text = scenario.toml(scenario.seed);
            let again = parse_str("elsewhere", &text, &[]);
            let again = again.map_err(|error| TestCaseError::fail(format!("{error} in\n{text}")))?;
            prop_assert_eq!(format!("{again:?}"), format!("{scenario:?}"));
            Ok(())
        }
    }
}

fn check_error(error: &ScenarioError) -> Result<(), TestCaseError> {
    let line = error.to_string();
    prop_assert!(line.len() > "s.toml: ".len() && line.len() < 6000, "{}", line);
    prop_assert!(!line.chars().any(|c| c.is_control() || c == '\u{2028}'), "{:?}", line);
    prop_assert!(!error.message().is_empty(), "{}", line);
    Ok(())
}

#[derive(Clone, Debug)]
enum Edit {
    Byte(usize, u8),
    Truncate(usize),
    DeleteLine(usize),
    RepeatLine(usize),
    Splice(usize, usize, usize),
    Value(usize, &'static str),
}

const VALUES: [&str; 17] = [
    "0",
    "-1",
    "1e999",
    "nan",
    "inf",
    "9223372036854775807",
    "\"\"",
    "\"0 B\"",
    "\"1 s\"",
    "\"{i}\"",
    "true",
    "[]",
    "{}",
    "[[1]]",
    "{ model = \"drop\", packets = [] }",
    "2024-01-01",
    "\"\\u2028\"",
];

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Edit::Byte(at, byte)),
        any::<usize>().prop_map(Edit::Truncate),
        any::<usize>().prop_map(Edit::DeleteLine),
        any::<usize>().prop_map(Edit::RepeatLine),
        any::<(usize, usize, usize)>().prop_map(|(from, length, to)| Edit::Splice(from, length, to)),
        (any::<usize>(), prop::sample::select(&VALUES[..]))
            .prop_map(|(line, value)| Edit::Value(line, value)),
    ]
}

fn apply(text: Vec<u8>, edit: &Edit) -> Vec<u8> {
    let length = text.len().max(1);
    let lines: Vec<_> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let count = lines.len().max(1);
    let mut edited = text.clone();
    match *edit {
        Edit::Byte(at, byte) => edited.iter_mut().skip(at % length).take(1).for_each(|old| *old = byte),
        Edit::Truncate(at) => edited.truncate(at % length),
        Edit::DeleteLine(at) => {
            edited = lines
                .iter()
                .enumerate()
                .filter(|(i, _)| *i != at % count)
                .flat_map(|(_, l)| l.to_vec())
                .collect();
        }
        Edit::RepeatLine(at) => {
            let repeated = |i: usize| if i == at % count { 2 } else { 1 };
            edited = lines.iter().enumerate().flat_map(|(i, line)| line.repeat(repeated(i))).collect();
        }
        Edit::Splice(from, n, to) => {
            let from = from % length;
            let piece: Vec<_> = text.iter().skip(from).take(n % 200).copied().collect();
            let to = to % length;
            edited.splice(to.min(text.len())..to.min(text.len()), piece);
        }
        Edit::Value(at, value) => {
            edited = lines
                .iter()
                .enumerate()
                .flat_map(|(i, line)| match line.iter().position(|byte| *byte == b'=') {
                    Some(equals) if i == at % count => [&line[..=equals], value.as_bytes(), b"\n"].concat(),
                    _ => line.to_vec(),
                })
                .collect();
        }
    }
    edited
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_bytes_are_a_scenario_or_one_line(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(text) = FileKind::SCENARIO.decode(bytes) {
            check(&text, &[])?;
        }
    }

    #[test]
    fn arbitrary_text_is_a_scenario_or_one_line(text in "\\PC{0,200}|[ -~\n\t]{0,200}|[\\[\\]{}=.\"'a\n, 1]{0,200}") {
        check(&text, &[])?;
    }

    #[test]
    fn edited_scenarios_are_scenarios_or_one_line(edits in prop::collection::vec(edit(), 1..6)) {
        let bytes = edits.iter().fold(BASE.as_bytes().to_vec(), apply);
        if let Ok(text) = FileKind::SCENARIO.decode(bytes) {
            check(&text, &[])?;
        }
    }

    #[test]
    fn arbitrary_overrides_are_taken_or_told_in_one_line(
        key in "(links|flows|tcp|title|x)([.](satellite|upload|[*]|rate|tcp|\\PC{0,5})){0,4}|\\PC{0,30}",
        value in prop_oneof![prop::sample::select(&VALUES[..]).prop_map(str::to_owned), Just("1 s".into()), any::<String>()],
    ) {
        check(BASE, &[(key, value)])?;
    }
}
