//! Which host opens the connection of a transfer.

use bentpipe_tcp::State;
use bentpipe_units::Fault;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Socket, Written, fitting};

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
    pub(super) fn check(self, written: &Written<'_>) -> Result<(), Fault> {
        fitting(written, &[("request", self == Opener::Sender, "needs opened_by = \"receiver\"")])
    }
}

/// The host that sends data hands over all of it: `u64::MAX` bytes have no end.
pub(crate) fn offer(data: &mut impl Socket, bytes: u64) {
    data.write(bytes);
    if bytes != u64::MAX {
        data.close(false);
    }
}

/// The receiving host opens the connection, and sends a request of so many bytes.
pub(crate) fn ask<S: Socket>([data, back]: &mut [S; 2], request: u64) {
    data.listen();
    back.connect();
    back.write(request);
}

/// The host that sends data has read more of the request: with the whole of it, it answers.
pub(crate) fn answer(data: &mut impl Socket, request: u64, bytes: u64) {
    if data.delivered() == request && data.state() == State::Established {
        offer(data, bytes);
    }
}
