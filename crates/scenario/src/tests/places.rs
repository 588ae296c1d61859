//! Whatever value is wrong, the error names its key and its line, also when neighbours hold the same text.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::BASE;
use super::whole::every_file;
use crate::parse_str;

/// A value of a text: the key that an error about it names, the line of that key, and where the value stands.
struct Place {
    key: String,
    line: usize,
    span: Range<usize>,
    is_text: bool,
    neighbours: Vec<Range<usize>>,
}

fn line(text: &str, at: usize) -> usize {
    1 + text[..at].matches('\n').count()
}

fn scalar(value: &DeValue<'_>) -> bool {
    !matches!(value, DeValue::Table(_) | DeValue::Array(_))
}

fn places(text: &str, table: &DeTable<'_>, path: &str, found: &mut Vec<Place>) {
    let dot = if path.is_empty() { "" } else { "." };
    let scalars = table.iter().filter(|(_, value)| scalar(value.as_ref()));
    let spans: Vec<_> = scalars.map(|(_, value)| value.span()).collect();
    for (key, value) in table {
        let line_of_key = line(text, key.span().start);
        let key = format!("{path}{dot}{}", key.as_ref());
        place(text, (key, line_of_key), value, &spans, found);
    }
}

fn place(
    text: &str,
    (key, line_of_key): (String, usize),
    value: &toml::Spanned<DeValue<'_>>,
    spans: &[Range<usize>],
    found: &mut Vec<Place>,
) {
    match value.as_ref() {
        DeValue::Table(inner) => places(text, inner, &key, found),
        DeValue::Array(items) => {
            let spans: Vec<_> =
                items.iter().filter(|item| scalar(item.as_ref())).map(|item| item.span()).collect();
            for (i, item) in items.iter().enumerate() {
                place(text, (format!("{key}[{i}]"), line(text, item.span().start)), item, &spans, found);
            }
        }
        scalar => {
            let neighbours = spans.iter().filter(|span| **span != value.span()).cloned().collect();
            let is_text = matches!(scalar, DeValue::String(_));
            found.push(Place { key, line: line_of_key, span: value.span(), is_text, neighbours });
        }
    }
}

/// Values that are wrong where a text stands (`true`), or where no text stands: those of neighbours first.
fn wrong_values<'a>(text: &'a str, place: &Place) -> Vec<&'a str> {
    let quoted = |value: &str| value.starts_with(['"', '\'']);
    let neighbours = place.neighbours.iter().map(|span| &text[span.clone()]);
    let fixed = if place.is_text { ["7", "[]"] } else { ["\"packet\"", "[]"] };
    neighbours.filter(|value| quoted(value) != place.is_text).chain(fixed).collect()
}

/// The faults of every example of the repository, with the text of the file and its name.
fn examples() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["scenarios", "bench/scenarios", "papers"] {
        every_file(&root.join(folder), "toml", &mut files);
    }
    let mut examples: Vec<_> =
        files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect();
    let mut pages = vec![root.join("README.md"), root.join("CONTRIBUTING.md"), root.join("CHANGELOG.md")];
    every_file(&root.join("docs"), "md", &mut pages);
    for path in pages {
        let text = fs::read_to_string(&path).unwrap();
        let blocks = text.split("```toml").skip(1).filter_map(|block| block.split_once('\n'));
        examples
            .extend(blocks.map(|(_, block)| (path.clone(), block.split("```").next().unwrap().to_owned())));
    }
    examples.push((root.join("base"), BASE.to_owned()));
    examples
}

/// A scenario, or a network for other files to extend, which has no flows or no links of its own.
fn is_scenario(name: &str, text: &str) -> bool {
    match parse_str(name, text, &[]) {
        Ok(_) => true,
        Err(error) => ["flows", "links"].contains(&error.key.as_str()),
    }
}

#[test]
fn every_value_of_every_example_is_blamed_itself_when_it_is_wrong() {
    let (mut checked, mut read) = (0, 0);
    let mut faults = Vec::new();
    for (path, text) in examples() {
        let name = path.display().to_string();
        if !is_scenario(&name, &text) {
            continue;
        }
        read += 1;
        let mut found = Vec::new();
        places(&text, DeTable::parse(&text).unwrap().as_ref(), "", &mut found);
        for place in found {
            for wrong in wrong_values(&text, &place) {
                // `true` is a value of its own, and of the key beside it too.
                if place.key.ends_with("delayed_ack") && ["true", "false"].contains(&wrong) {
                    continue;
                }
                let changed = format!("{}{wrong}{}", &text[..place.span.start], &text[place.span.end..]);
                let Err(error) = parse_str(&name, &changed, &[]) else {
                    faults.push(format!("{name}: {} = {wrong} is taken", place.key));
                    continue;
                };
                checked += 1;
                if (&error.file, error.line, &error.key) != (&name, Some(place.line), &place.key) {
                    faults.push(format!("{}:{} = {wrong} gives {error}", place.key, place.line));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} of {checked}:\n{}", faults.len(), faults.join("\n"));
    assert!(read > 35 && checked > 2000, "{read} {checked}");
}
