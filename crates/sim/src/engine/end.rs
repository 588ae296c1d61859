//! One end of a connection, as the event loop and the applications see it: whoever's TCP is behind it.

use bentpipe_apps::Socket;
use bentpipe_net::RouteId;
use bentpipe_tcp::{Endpoint, State};
use bentpipe_units::Time;

use super::remote::Remote;
use crate::deliveries::Deliveries;
use crate::ids::FlowId;

/// One end of a connection.
pub(crate) struct End {
    /// Our TCP; of no meaning where a kernel's is in its place.
    pub(crate) tcp: Endpoint,
    /// What its application read.
    pub(crate) got: Deliveries,
    /// The way that its packets take.
    pub(super) route: RouteId,
    /// The flow that it belongs to.
    pub(super) flow: FlowId,
    /// Whether its application does more with what arrives than read it.
    pub(super) attended: bool,
    /// When its event is due: its timer's time, or earlier.
    pub(super) armed: Time,
    /// When another one is due whose place that took: the retransmission timer's, while pacing waits.
    pub(super) armed_next: Time,
    /// The socket of a kernel that is in the place of our TCP.
    pub(crate) remote: Option<Box<Remote>>,
}

impl End {
    /// Whether it is closed, or only waits for old segments to die out.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state(), State::Closed | State::TimeWait)
    }

    /// Whether its connection ended early.
    pub(crate) fn is_broken(&self) -> bool {
        match &self.remote {
            Some(remote) => remote.error.is_some(),
            None => self.tcp.error().is_some(),
        }
    }

    /// Why its connection ended early.
    pub(crate) fn error(&self) -> Option<String> {
        match &self.remote {
            Some(remote) => remote.error.clone(),
            None => self.tcp.error().map(|error| error.to_string()),
        }
    }
}

impl Socket for End {
    fn listen(&mut self) {
        match &mut self.remote {
            Some(remote) => remote.open(false),
            None => self.tcp.listen(),
        }
    }

    fn connect(&mut self) {
        match &mut self.remote {
            Some(remote) => remote.open(true),
            None => self.tcp.connect(),
        }
    }

    fn write(&mut self, bytes: u64) {
        match &mut self.remote {
            Some(remote) => remote.write(bytes),
            None => self.tcp.write(bytes),
        }
    }

    fn close(&mut self, discard: bool) {
        match &mut self.remote {
            Some(remote) => remote.close(discard),
            None => self.tcp.close(discard),
        }
    }

    #[inline]
    fn state(&self) -> State {
        match &self.remote {
            Some(remote) => remote.state,
            None => self.tcp.state(),
        }
    }

    fn delivered(&self) -> u64 {
        match &self.remote {
            Some(remote) => remote.received.delivered(),
            None => self.tcp.receiver().delivered(),
        }
    }

    fn finished(&self) -> bool {
        match &self.remote {
            Some(remote) => remote.ended,
            None => self.tcp.receiver().finished(),
        }
    }
}
