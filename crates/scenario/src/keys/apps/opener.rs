//! Which host opens the connection of a transfer.

use bentpipe_units::Fault;
use schemars::JsonSchema;
use serde::Deserialize;

use super::fitting;
use crate::text::Node;

/// Which host opens the connection of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Opener {
    /// The one that the data comes from, as soon as there are any.
    #[default]
    Sender,
    /// The one that the data goes to, with a request.
    Receiver,
}

impl Opener {
    /// The size of the request, if there is one.
    pub fn asks(self, request: u64) -> Option<u64> {
        (self == Opener::Receiver).then_some(request)
    }

    /// Whether there is the size of a request that nobody sends.
    pub(super) fn check(self, written: &Node) -> Result<(), Fault> {
        fitting(written, &[("request", self == Opener::Sender, "needs opened_by = \"receiver\"")])
    }
}
