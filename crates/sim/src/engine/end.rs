//! One end of a connection in the event loop.

use bentpipe_net::RouteId;
use bentpipe_tcp::{Endpoint, State};
use bentpipe_units::Time;

use crate::apps::Deliveries;
use crate::ids::FlowId;

/// One end of a connection, as the event loop sees it.
pub(crate) struct End {
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
}

impl End {
    /// Whether it is closed, or only waits for old segments to die out.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        matches!(self.tcp.state(), State::Closed | State::TimeWait)
    }
}
