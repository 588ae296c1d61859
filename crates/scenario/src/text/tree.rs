//! Trees of values laid over each other.

use bentpipe_units::tree::{Node, Table, Value};

/// `path` as TOML writes it.
pub(crate) fn dotted(path: &[impl AsRef<str>]) -> String {
    let mut key = String::new();
    for part in path.iter().map(AsRef::as_ref) {
        let bare = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let index = part.starts_with('[');
        if !key.is_empty() && !index {
            key.push('.');
        }
        match index || part == "*" || !part.is_empty() && part.chars().all(bare) {
            true => key.push_str(part),
            false => key.push_str(&format!("{part:?}")),
        }
    }
    key
}

/// A table that names one of these is chosen as a whole: it takes nothing from what it replaces.
const WHOLE: [&str; 2] = ["model", "scheme"];

/// A choice made above takes back the other way to make it below.
const SUPERSEDED: [(&str, &[&str]); 4] = [
    ("variant", &["recovery", "control"]),
    ("recovery", &["variant"]),
    ("control", &["variant"]),
    ("growth", &["byte_counting_limit"]),
];

/// Puts `upper` over `lower`: tables are merged key by key, everything else is replaced.
pub(crate) fn merge(lower: &mut Node, upper: Node) {
    // A table of that name is a link or a flow that is called so.
    let names = |table: &Table, key: &str| table.get(key).is_some_and(|node| node.text().is_some());
    let origin = upper.origin;
    let (below, above) = match (&mut lower.value, upper.value) {
        (Value::Table(below), Value::Table(above)) if !WHOLE.iter().any(|key| names(&above, key)) => {
            (below, above)
        }
        (_, value) => {
            *lower = Node { value, origin };
            return;
        }
    };
    if origin.at.is_some() {
        lower.origin = origin;
    }
    for (choice, others) in SUPERSEDED {
        if names(&above, choice) {
            below.retain(|key, node| !(others.contains(&key.as_str()) && node.table().is_none()));
        }
    }
    for (key, node) in above {
        match below.get_mut(&key) {
            Some(lower) => merge(lower, node),
            None => {
                below.insert(key, node);
            }
        }
    }
}
