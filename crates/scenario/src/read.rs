//! From a tree to what it says.

use bentpipe_units::registry::{Kind, Scheme};
use bentpipe_units::{Fault, KNOWN_NAMES, Problem};
use serde::de::DeserializeOwned;

use crate::keys::named_here;
use crate::text::Node;

/// A `T` from `node`.
pub(crate) fn read<T: DeserializeOwned>(node: &Node) -> Result<T, Fault> {
    T::deserialize(node).map_err(answered)
}

/// What the options of `scheme` in `node` come to.
pub(crate) fn options<K: Kind + ?Sized>(scheme: &Scheme<K>, node: &Node) -> Result<K::Value, Fault> {
    scheme.read(node).map_err(answered)
}

/// The fault with our name for what the field calls otherwise.
fn answered(fault: Fault) -> Fault {
    match &fault.problem {
        Problem::Name { expected, found } if expected.starts_with(KNOWN_NAMES) => {
            let found = found.clone();
            named_here(fault, &found)
        }
        _ => fault,
    }
}

/// The keys of a table that are among `some`, and the others, which are all among `rest`; `unknown` is the fault of one that is not.
pub(crate) fn divided(
    node: &Node,
    some: &[&str],
    rest: &[&str],
    unknown: impl Fn(&str) -> Fault,
) -> Result<[Node; 2], Fault> {
    let [mut of_some, mut of_rest] = [node.clone(), node.clone()];
    if let (Some(of_some), Some(of_rest)) = (of_some.table_mut(), of_rest.table_mut()) {
        of_some.retain(|key, _| some.contains(&key.as_str()));
        of_rest.retain(|key, _| !some.contains(&key.as_str()));
        if let Some(key) = of_rest.keys().find(|key| !rest.contains(&key.as_str())) {
            return Err(unknown(key).under(key));
        }
    }
    Ok([of_some, of_rest])
}
