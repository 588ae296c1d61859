//! Names that a scenario makes up, and their numbered copies.

use bentpipe_units::bounded::Whole;
use bentpipe_units::{Fault, conflict, fault, quoted};

/// Stands for a copy's number.
const NUMBER: &str = "{i}";

/// Long enough for a sentence; the longest names of a million copies must still fit in memory.
const MAX_NAME: usize = 64;

/// The most links, and the most flows, that a scenario may come to.
pub(crate) const MAX_COPIES: usize = 1_000_000;

/// How many copies there are to be.
pub(crate) type Count = Whole<1, { MAX_COPIES as u64 }>;

/// Whether `name` can be used in results, file names and overrides alike.
pub(crate) fn check(name: &str, what: &str, count: Option<Count>) -> Result<(), Fault> {
    let plain = name.replace(NUMBER, "0");
    if plain != name && count.is_none() {
        return Err(conflict!("{} needs a count that {NUMBER} runs through", quoted(name)));
    }
    let allowed = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let found = quoted(name);
    if plain.starts_with(['-', '.']) {
        return Err(fault!("{what} that begins with a letter, a digit or \"_\"", "{found}"));
    }
    if plain.is_empty() || plain.chars().count() > MAX_NAME || !plain.chars().all(allowed) {
        return Err(fault!(
            "{what} of at most {MAX_NAME} letters, digits, \"-\", \"_\" and \".\"",
            "{found}"
        ));
    }
    Ok(())
}

/// The number of copies that `count` asks for.
pub(crate) fn copies(count: Option<Count>) -> usize {
    count.map_or(1, |count| count.get() as usize)
}

/// Whether copies of `name` differ.
pub(crate) fn numbered(name: &str) -> bool {
    name.contains(NUMBER)
}

/// `name` in copy number `i`.
pub(crate) fn copy(name: &str, i: usize) -> String {
    // A search for one character first: there are as many names as links and flows, and more.
    let Some(at) = name.find('{') else { return name.to_owned() };
    match name[at..].strip_prefix(NUMBER) {
        Some(rest) if !rest.contains('{') => [&name[..at], &i.to_string(), rest].concat(),
        _ => name.replace(NUMBER, &i.to_string()),
    }
}

/// The name of copy number `i` itself, which must be its own: numbered at the end when not elsewhere.
pub(crate) fn copy_of_named(name: &str, count: Option<Count>, i: usize) -> String {
    match count {
        Some(_) if !numbered(name) => format!("{name}{i}"),
        _ => copy(name, i),
    }
}
