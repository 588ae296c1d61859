//! Relays between two connections.

use bentpipe_units::registry::Named;

use crate::prelude::*;

/// A node that sends on what another flow brings to it: two TCP connections with a bounded buffer between them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelaySpec {
    /// The flow whose data it sends on, which goes to the node that this flow comes from; {i} is the copy's number.
    pub upstream: String,
    /// Most bytes that are at the relay between the two connections, at least one segment; default "256 KiB".
    #[serde(default = "size::<262_144>", with = "Size::<1, LARGEST>")]
    pub buffer: u64,
    /// When the relay crashes, in the time of the run: it loses its buffer and forgets its connections; default never.
    #[serde(default, with = "AboveZero")]
    pub crash: Option<Span>,
    /// So long after the crash it is there again, and resets what is left of its connections; default never.
    #[serde(default)]
    pub back: Option<Span>,
    /// What its upstream flows bring.
    #[serde(skip)]
    #[schemars(skip)]
    pub carried: Carried,
}

/// What a relay carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// How many connections.
    pub connections: usize,
    /// Whether the receiving host opens them.
    pub asked: bool,
}

impl Default for Carried {
    fn default() -> Carried {
        Carried { connections: 1, asked: false }
    }
}

impl Named for RelaySpec {
    const NAME: &'static str = "relay";
    const SUMMARY: &'static str =
        "what another flow brings to a node, carried on over a TCP connection of its own";
    const ALSO: &'static [&'static str] = &["pep", "split", "split-tcp"];
}

impl App for RelaySpec {
    /// It ends with the flow whose data it is, of which the same is asked.
    fn facts(&self) -> Facts {
        Facts {
            ends: true,
            connections: self.carried.connections,
            is_asked_for: self.carried.asked,
            sets_no_delay: true,
            ..Facts::default()
        }
    }
}
