//! What is said of a name or a key that is not known.

use crate::{Fault, Problem, quoted};

/// A list for people: all of a short one, the beginning of a long one.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let mut list = names.by_ref().take(40).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 if list.is_empty() => list.push_str("none"),
        0 => {}
        more => list.push_str(&format!(" and {more} more")),
    }
    list
}

/// The one of `names` that `text` is probably meant to be.
pub fn closest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = text.chars().count();
    let allowed = (length / 3).clamp(1, 4);
    names
        .into_iter()
        .take(10_000)
        .filter(|name| name.chars().count().abs_diff(length) <= allowed)
        .map(|name| (strsim::osa_distance(&text.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The fault of a `text` that is not among `names`; `what` is their kind.
pub fn no_such(what: &str, text: &str, names: &[&str]) -> Fault {
    let close = closest(text, names.iter().copied());
    let expected = match close {
        Some(_) if names.len() > 12 => what.to_owned(),
        _ => format!("{what} ({})", listed(names.iter().copied())),
    };
    let fault: Fault = Problem::Name { expected, found: text.to_owned() }.into();
    match close {
        Some(close) => fault.or(format!("did you mean {close:?}?")),
        None => fault,
    }
}

/// The fault of a key that is not among `known`.
pub fn no_such_key(key: &str, known: &[&str]) -> Fault {
    match known {
        [] => Fault::conflict(format!("{} cannot stand here", quoted(key))),
        known => no_such("one of the known keys", key, known),
    }
}
