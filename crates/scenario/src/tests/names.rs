//! Names, their copies, and patterns of them.

use crate::build::routes::matches;
use crate::keys::names::{Count, check, copies, copy_of_named};

#[test]
fn a_star_stands_for_any_letters() {
    let all = ["f0", "f1", "web12", "web2"];
    let of = |pattern| all.into_iter().filter(|name| matches(pattern, name)).collect::<Vec<_>>();
    assert_eq!(of("f*"), ["f0", "f1"]);
    assert_eq!(of("*2"), ["web12", "web2"]);
    assert_eq!(of("w*b*2"), ["web12", "web2"]);
    assert_eq!(of("f1"), ["f1"]);
    assert_eq!(of("f"), [""; 0]);
    assert_eq!(of("*"), all);
    assert_eq!(of("web2*2"), [""; 0]);
}

fn count(n: u64) -> Option<Count> {
    serde_json::from_str(&n.to_string()).ok()
}

#[test]
fn names_are_words_that_any_file_system_takes() {
    for good in ["gateway", "s{i}", "Zürich-2", "a.b_c", "{i}"] {
        assert_eq!(check(good, "a node", count(2)), Ok(()), "{good}");
    }
    for bad in ["..", "-x", ".a/b"] {
        let error = check(bad, "a node", count(2)).unwrap_err().to_string();
        assert!(error.starts_with("expected a node that begins with a letter"), "{bad:?}: {error}");
    }
    for bad in ["", "a/b", "a b", "a*", "{j}", "a\n", &"x".repeat(65)] {
        let error = check(bad, "a node", count(2)).unwrap_err().to_string();
        assert!(error.starts_with("expected a node of at most 64 letters"), "{bad:?}: {error}");
    }
    assert!(check("s{i}", "a node", None).unwrap_err().to_string().contains("needs a count"));
}

#[test]
fn copies_are_numbered_from_zero() {
    assert_eq!(copy_of_named("access", None, 0), "access");
    assert_eq!(copy_of_named("access", count(1), 0), "access0");
    assert_eq!(copy_of_named("a{i}b", count(3), 2), "a2b");
    assert_eq!((copies(None), copies(count(3))), (1, 3));
    assert!(count(0).is_none() && count(1_000_001).is_none());
}
