//! Names that a scenario makes up, and their numbered copies.

use super::error::quoted;
use super::written::Whole;

/// Stands for a copy's number.
const NUMBER: &str = "{i}";

/// Long enough for a sentence; the longest names of a million copies must still fit in memory.
const MAX_NAME: usize = 64;

/// The most links, and the most flows, that a scenario may come to.
pub(crate) const MAX_COPIES: usize = 1_000_000;

/// How many copies there are to be.
pub(crate) type Count = Whole<1, { MAX_COPIES as u64 }>;

/// Whether `name` can be used in results, file names and overrides alike.
pub(crate) fn check(name: &str, what: &str, count: Option<Count>) -> Result<(), String> {
    let plain = name.replace(NUMBER, "0");
    if plain != name && count.is_none() {
        return Err(format!(
            "expected a count that {NUMBER} runs through, found {} without one",
            quoted(name)
        ));
    }
    let allowed = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let found = quoted(name);
    if plain.starts_with(['-', '.']) {
        return Err(format!("expected {what} that begins with a letter, a digit or \"_\", found {found}"));
    }
    if plain.is_empty() || plain.chars().count() > MAX_NAME || !plain.chars().all(allowed) {
        return Err(format!(
            "expected {what} of at most {MAX_NAME} letters, digits, \"-\", \"_\" and \".\", found {found}"
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
    name.replace(NUMBER, &i.to_string())
}

/// The name of copy number `i` itself, which must be its own: numbered at the end when not elsewhere.
pub(crate) fn copy_of_named(name: &str, count: Option<Count>, i: usize) -> String {
    match count {
        Some(_) if !numbered(name) => format!("{name}{i}"),
        _ => copy(name, i),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(n: u64) -> Option<Count> {
        serde_json::from_str(&n.to_string()).ok()
    }

    #[test]
    fn names_are_words_that_any_file_system_takes() {
        for good in ["gateway", "s{i}", "Zürich-2", "a.b_c", "{i}"] {
            assert_eq!(check(good, "a node", count(2)), Ok(()), "{good}");
        }
        for bad in ["..", "-x", ".a/b"] {
            let error = check(bad, "a node", count(2)).unwrap_err();
            assert!(error.starts_with("expected a node that begins with a letter"), "{bad:?}: {error}");
        }
        for bad in ["", "a/b", "a b", "a*", "{j}", "a\n", &"x".repeat(65)] {
            let error = check(bad, "a node", count(2)).unwrap_err();
            assert!(error.starts_with("expected a node of at most 64 letters"), "{bad:?}: {error}");
        }
        assert!(check("s{i}", "a node", None).unwrap_err().contains("without one"));
    }

    #[test]
    fn copies_are_numbered_from_zero() {
        assert_eq!(copy_of_named("access", None, 0), "access");
        assert_eq!(copy_of_named("access", count(1), 0), "access0");
        assert_eq!(copy_of_named("a{i}b", count(3), 2), "a2b");
        assert_eq!((copies(None), copies(count(3))), (1, 3));
        assert!(count(0).is_none() && count(1_000_001).is_none());
    }
}
