//! Ids of connections, their ends, flows and handovers.

pub(crate) use bentpipe_apps::Side;

/// A connection; behind all connections, a flow over UDP counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ConnectionId(pub(crate) u32);

impl ConnectionId {
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// One of its ends.
    #[inline]
    pub(crate) fn end(self, side: Side) -> EndId {
        EndId(2 * self.0 + side as u32)
    }
}

/// An end of a connection: ends are in the order of their connections, [`Side::Data`] before [`Side::Back`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EndId(u32);

impl EndId {
    #[inline]
    pub(crate) fn connection(self) -> ConnectionId {
        ConnectionId(self.0 / 2)
    }

    #[inline]
    pub(crate) fn side(self) -> Side {
        if self.0.is_multiple_of(2) { Side::Data } else { Side::Back }
    }

    /// The connection's other end.
    #[inline]
    pub(crate) fn peer(self) -> EndId {
        EndId(self.0 ^ 1)
    }

    /// Its place among all ends.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A flow, by its place in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FlowId(pub(crate) u32);

impl FlowId {
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A handover, by its place in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct HandoverId(pub(crate) u32);

impl HandoverId {
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whom an event calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// An end of a connection, for its timer.
    Timer(EndId),
    /// A flow's application: it starts, goes on, or stops.
    Application(FlowId),
    /// A flow over UDP: a datagram of it is lost.
    Loss(FlowId),
    /// A handover.
    Handover(HandoverId),
}

/// A [`Call`] in 32 bits: its kind in the two highest, its number below them. Calls at one time come in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target(u32);

impl Target {
    const NUMBER: u32 = (1 << 30) - 1;

    #[inline]
    pub(crate) fn call(self) -> Call {
        let number = self.0 & Target::NUMBER;
        match self.0 >> 30 {
            0 => Call::Timer(EndId(number)),
            1 => Call::Application(FlowId(number)),
            2 => Call::Loss(FlowId(number)),
            _ => Call::Handover(HandoverId(number)),
        }
    }
}

impl From<Call> for Target {
    #[inline]
    fn from(call: Call) -> Target {
        let (kind, number) = match call {
            Call::Timer(end) => (0, end.0),
            Call::Application(flow) => (1, flow.0),
            Call::Loss(flow) => (2, flow.0),
            Call::Handover(handover) => (3, handover.0),
        };
        Target(kind << 30 | number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_a_connection_and_a_side() {
        for number in [0, 1, 77] {
            let connection = ConnectionId(number);
            let ends = [connection.end(Side::Data), connection.end(Side::Back)];
            assert_eq!(ends.map(EndId::connection), [connection; 2]);
            assert_eq!(ends.map(EndId::side), [Side::Data, Side::Back]);
            assert_eq!(ends.map(EndId::peer), [ends[1], ends[0]]);
            assert_eq!(ends[0].index() + 1, ends[1].index());
        }
    }

    #[test]
    fn calls_come_out_of_their_bits_in_their_order() {
        let mut last = None;
        for kind in 0..4 {
            for number in [0, 1, 99, Target::NUMBER] {
                let call = match kind {
                    0 => Call::Timer(EndId(number)),
                    1 => Call::Application(FlowId(number)),
                    2 => Call::Loss(FlowId(number)),
                    _ => Call::Handover(HandoverId(number)),
                };
                let target = Target::from(call);
                assert_eq!(target.call(), call);
                assert!(last < Some(target), "{call:?}");
                last = Some(target);
            }
        }
    }
}
