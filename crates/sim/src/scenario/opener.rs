//! Which host opens the connection of a transfer.

use super::tree::Node;
use super::written::Names;

/// Which host opens the connection of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Opener {
    /// The one that the data comes from, as soon as there are any.
    #[default]
    Sender,
    /// The one that the data goes to, with a request.
    Receiver,
}

impl Names for Opener {
    const WHAT: &'static str = "a host";
    fn all() -> Vec<(&'static str, Self)> {
        vec![("sender", Opener::Sender), ("receiver", Opener::Receiver)]
    }
}

impl Opener {
    /// The size of the request, if there is one.
    pub(crate) fn asks(self, request: u64) -> Option<u64> {
        (self == Opener::Receiver).then_some(request)
    }

    /// What is told of the size of a request that nobody sends.
    pub(super) fn needless_request(self, options: &Node) -> Option<(&'static str, String)> {
        options.get("request").filter(|_| self == Opener::Sender)?;
        let message = "expected opened_by = \"receiver\" beside this key, found \"sender\"";
        Some(("request", message.to_owned()))
    }
}

/// Of a request, in bytes.
pub(super) fn usual_request() -> u64 {
    350
}
