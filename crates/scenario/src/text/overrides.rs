//! `--set key=value`: single values put over a document.

use bentpipe_apps::ApplicationFactory;
use bentpipe_units::registry::Kind;
use bentpipe_units::{Fault, conflict, no_such, quoted};

use super::{Document, Layer, Node, Origin, ScenarioError, Table, Value, dotted, merge, parse_value};
use crate::keys::ABOUT_TCP;

/// What stands for a file's name in an error about an override.
const NAME: &str = "--set";

/// The tables whose keys are names that a scenario makes up.
const NAMED: [&str; 4] = ["links", "flows", "handovers", "stations"];

/// Puts each override over `document`, in order.
pub(crate) fn apply(document: &mut Document, overrides: &[(String, String)]) -> Result<(), ScenarioError> {
    if overrides.is_empty() {
        return Ok(());
    }
    let layer = document.layers.len();
    document.layers.push(Layer::without_file(NAME, ""));
    for (key, text) in overrides {
        let fail = |fault: Fault| ScenarioError::new(NAME, None, key.clone(), fault);
        let path = split(key).map_err(fail)?;
        if path[0] == "extends" {
            return Err(fail(conflict!("can stand in a file only")));
        }
        let value = value(text, layer).map_err(fail)?;
        for path in expand(&document.root, &path, &value)? {
            let table = |inner: Node, key: String| Node {
                origin: inner.origin,
                value: Value::Table(Table::from([(key, inner)])),
            };
            merge(&mut document.root, path.into_iter().rev().fold(value.clone(), table));
        }
    }
    Ok(())
}

/// TOML, or else a bare text: `rate=1 Mbit/s` needs no quotes.
fn value(text: &str, layer: usize) -> Result<Node, Fault> {
    match parse_value(text, layer)? {
        // "2024-01-01" is a name here, no date.
        Some(node) if !matches!(node.value, Value::Datetime(_)) => Ok(node),
        _ if text.trim_start().starts_with(['[', '{', '"', '\'']) => {
            Err(Fault::value("a TOML value", format!("what is not: {}", quoted(text))))
        }
        _ => Ok(Node { value: Value::Text(text.to_owned()), origin: Origin { layer, at: None } }),
    }
}

/// The parts of a dotted key; a part in quotes may hold dots.
fn split(key: &str) -> Result<Vec<String>, Fault> {
    let wrong = || Fault::value("a dotted key such as links.satellite.rate", quoted(key));
    let mut path = Vec::new();
    let mut rest = key.trim();
    loop {
        let (part, after) = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => rest[1..].split_once(quote).ok_or_else(wrong)?,
            _ => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        if part.is_empty() || path.len() == 8 {
            return Err(wrong());
        }
        path.push(part.to_owned());
        match after.strip_prefix('.') {
            Some(after) => rest = after,
            None if after.is_empty() => return Ok(path),
            None => return Err(wrong()),
        }
    }
}

fn over_udp(flow: &Node) -> bool {
    let app = flow.get("app").and_then(Node::text);
    let mut all = <dyn ApplicationFactory>::ours().schemes().iter();
    all.any(|scheme| scheme.known().over_udp && Some(scheme.name()) == app)
}

/// The paths that `path` stands for: `*` is each name that is there, and over which the key is meaningful.
fn expand(root: &Node, path: &[String], value: &Node) -> Result<Vec<Vec<String>>, ScenarioError> {
    let fail = |fault: Fault| ScenarioError::new(NAME, None, dotted(path), fault);
    let mut paths = vec![Vec::new()];
    for (depth, part) in path.iter().enumerate() {
        let mut longer = Vec::new();
        for mut start in paths {
            let node = start.iter().try_fold(root, |node, key: &String| node.get(key));
            let table = node.and_then(Node::table);
            if part == "*" {
                let of_tcp =
                    start == ["flows"] && path.get(2).is_some_and(|key| ABOUT_TCP.contains(&key.as_str()));
                let named = table.into_iter().flatten().filter(|(_, flow)| !(of_tcp && over_udp(flow)));
                longer.extend(named.map(|(key, _)| [start.as_slice(), std::slice::from_ref(key)].concat()));
                continue;
            }
            let made_up = depth == 1 && NAMED.contains(&path[0].as_str());
            let added = depth + 1 == path.len() && value.table().is_some();
            if made_up && !added && !table.is_some_and(|table| table.contains_key(part)) {
                let names: Vec<_> = table.into_iter().flat_map(Table::keys).map(String::as_str).collect();
                return Err(fail(no_such(&format!("one of the {}", path[0]), part, &names)));
            }
            start.push(part.clone());
            longer.push(start);
        }
        if longer.is_empty() {
            let message = if depth == 1 && !NAMED.contains(&path[0].as_str()) {
                no_such("* behind a table of names", &path[0], &NAMED)
            } else {
                conflict!("* stands for no name: there is none in {}", dotted(&path[..depth]))
            };
            return Err(fail(message));
        }
        paths = longer;
    }
    Ok(paths)
}
