//! What the simulator's packets carry: lengths and headers, no bytes.

use bentpipe_net::{Carried, Meeting};
use bentpipe_path::Label;
use bentpipe_path::gateway::{Direction, FlowKey, Header};
use bentpipe_tcp::{Ecn, Flags, Segment};
use bentpipe_units::Time;

use crate::ids::{EndId, FlowId, Side};

/// A packet under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) content: Content,
    /// The end that it goes to.
    pub(crate) to: EndId,
    /// Whether its data was sent before.
    pub(crate) again: bool,
    /// When its host sent it.
    pub(crate) sent: Time,
}

/// What is in a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    /// A TCP segment.
    Segment(Segment),
    /// A UDP datagram.
    Datagram(Datagram),
}

/// A UDP datagram: of its payload only the length counts, and for those who watch its place among the bytes sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram {
    pub(crate) flow: FlowId,
    /// Payload bytes sent before.
    pub(crate) offset: u64,
    /// Payload bytes.
    pub(crate) len: u32,
}

impl Default for Packet {
    fn default() -> Packet {
        let to = crate::ids::ConnectionId(0).end(Side::Back);
        Packet { content: Content::Segment(Segment::default()), to, again: false, sent: Time::ZERO }
    }
}

impl Packet {
    /// The segment to be written, in place of whatever was in the packet.
    #[inline]
    pub(crate) fn segment_mut(&mut self) -> &mut Segment {
        if let Content::Datagram(_) = self.content {
            self.content = Content::Segment(Segment::default());
        }
        match &mut self.content {
            Content::Segment(segment) => segment,
            Content::Datagram(_) => unreachable!("made a segment"),
        }
    }
}

/// What the packets of a run share.
pub(crate) struct Names {
    /// For each end, what it writes into its packets; empty when there is no gateway.
    pub(crate) keys: Vec<FlowKey>,
    /// For each end, the class of its flow; empty where all have the lowest.
    pub(crate) classes: Vec<u8>,
}

impl Carried for Packet {
    type Names = Names;

    fn label(&self, names: &Names) -> Label {
        let end = self.to.index();
        let ecn = match &self.content {
            Content::Segment(segment) => segment.ecn,
            Content::Datagram(_) => Ecn::NotEct,
        };
        Label {
            ecn_capable: ecn.capable(),
            low: ecn == Ecn::Low,
            flow: end as u32,
            class: names.classes.get(end).copied().unwrap_or_default(),
        }
    }

    fn mark(&mut self) {
        if let Content::Segment(segment) = &mut self.content {
            segment.ecn = Ecn::Ce;
        }
    }

    fn show(&mut self, names: &Names, ttl: u8, way: Direction, meeting: Meeting<'_>) {
        let Content::Segment(segment) = &mut self.content else { return };
        let Meeting { gateway, now, link } = meeting;
        let header = Header {
            flow: names.keys[self.to.peer().index()],
            ttl,
            syn: segment.flags.has(Flags::SYN),
            ack: segment.flags.has(Flags::ACK),
            fin: segment.flags.has(Flags::FIN),
            rst: segment.flags.has(Flags::RST),
            payload: segment.len,
            window: segment.window,
            window_scale: segment.options.window_scale,
        };
        match way {
            Direction::Forward => gateway.forward(now, &header, &link),
            Direction::Backward => {
                if let Some(window) = gateway.backward(now, &header, &link) {
                    debug_assert!(window <= segment.window, "a gateway raised a window");
                    segment.window = window;
                }
            }
        }
    }
}
