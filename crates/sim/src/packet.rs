//! What the simulator's packets carry: lengths and headers, no bytes.

use bentpipe_net::{Carried, Meeting};
use bentpipe_path::Label;
use bentpipe_path::gateway::{Answer, Demand, Direction, FlowKey, Gateway, Header, LinkView, Seen};
use bentpipe_tcp::{
    CongestionHeader, Ecn, Flags, IP_HEADER, Options, SackBlock, SackBlocks, Segment, Seq, Timestamps, wire,
};
use bentpipe_units::Time;

use crate::ids::{EndId, FlowId, Side};

/// Bytes of the headers of a datagram.
pub(crate) const HEADERS: u32 = IP_HEADER + wire::UDP_HEADER;

/// A packet under way. One without SACK blocks and congestion header has all that counts in its first 64 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Packet {
    /// When its host sent it.
    pub(crate) sent: Time,
    /// The end that it goes to.
    pub(crate) to: EndId,
    /// Whether its data was sent before.
    pub(crate) again: bool,
    pub(crate) content: Content,
}

/// What is in a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    /// A TCP segment.
    Segment(Segment),
    /// A UDP datagram.
    Datagram(Datagram),
    /// A TCP segment between hosts of a kernel.
    Foreign(Segment),
}

impl Content {
    /// The segment, whoever's it is.
    #[inline(always)]
    pub(crate) fn segment(&self) -> Option<&Segment> {
        match self {
            Content::Segment(segment) | Content::Foreign(segment) => Some(segment),
            Content::Datagram(_) => None,
        }
    }

    #[inline(always)]
    fn segment_mut(&mut self) -> Option<&mut Segment> {
        match self {
            Content::Segment(segment) | Content::Foreign(segment) => Some(segment),
            Content::Datagram(_) => None,
        }
    }
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
        if !matches!(self.content, Content::Segment(_)) {
            self.content = Content::Segment(Segment::default());
        }
        match &mut self.content {
            Content::Segment(segment) => segment,
            _ => unreachable!("made a segment"),
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
            Content::Segment(segment) | Content::Foreign(segment) => segment.ecn,
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
        if let Some(segment) = self.content.segment_mut() {
            segment.ecn = Ecn::Ce;
        }
    }

    fn show(&mut self, names: &Names, ttl: u8, way: Direction, meeting: Meeting<'_>) {
        let Meeting { gateway, now, link } = meeting;
        let segment = match &mut self.content {
            Content::Segment(segment) | Content::Foreign(segment) => segment,
            Content::Datagram(datagram) => {
                if way == Direction::Forward && gateway.reads_demands() {
                    gateway.enters(now, datagram.len + HEADERS, None, &link);
                }
                return;
            }
        };
        let header = header(segment, names.keys[self.to.peer().index()], ttl);
        match way {
            Direction::Forward => {
                gateway.forward(now, &header, &link);
                if gateway.reads_demands() {
                    ask(gateway, now, segment, &link);
                }
            }
            Direction::Backward => {
                if let Some(window) = gateway.backward(now, &header, &link) {
                    debug_assert!(window <= segment.window, "a gateway raised a window");
                    segment.window = window;
                }
            }
        }
    }

    fn seen(&self, names: &Names, ttl: u8) -> Option<Seen> {
        let segment = self.content.segment()?;
        // A dummy segment brings no data, and its ACK acknowledges none.
        if segment.ecn == Ecn::Low {
            return None;
        }
        Some(Seen {
            header: header(segment, names.keys[self.to.peer().index()], ttl),
            seq: segment.seq.0,
            ack: segment.ack.0,
            sack: sack(segment),
            ece: segment.flags.has(Flags::ECE),
            sack_permitted: segment.options.sack_permitted,
            stamp: segment.options.timestamps.map(|stamps| stamps.value),
            echo: segment.options.timestamps.map(|stamps| stamps.echo),
            bytes: segment.packet_len(),
        })
    }

    fn lower(&mut self, window: u16) {
        if let Some(segment) = self.content.segment_mut() {
            debug_assert!(window <= segment.window, "an agent raised a window");
            segment.window = window;
        }
    }

    fn renumber(&mut self, seq: u32) {
        if let Some(segment) = self.content.segment_mut() {
            segment.seq = Seq(seq);
        }
    }

    fn stamp(&mut self, value: u32) {
        if let Some(Segment { options: Options { timestamps: Some(stamps), .. }, .. }) =
            self.content.segment_mut()
        {
            stamps.value = value;
        }
    }

    fn answer(&mut self, answer: &Answer) -> u32 {
        let mut sack = SackBlocks::NONE;
        for (start, end) in answer.sack.iter().filter(|(start, end)| start != end) {
            sack.push(SackBlock { start: Seq(*start), end: Seq(*end) });
        }
        let timestamps = answer.stamps.map(|(value, echo)| Timestamps { value, echo });
        let segment = Segment {
            seq: Seq(answer.seq),
            ack: Seq(answer.ack),
            len: 0,
            window: answer.window,
            flags: if answer.ece { Flags::ACK | Flags::ECE } else { Flags::ACK },
            ecn: Ecn::NotEct,
            options: Options { timestamps, sack, ..Options::default() },
            congestion: CongestionHeader::default(),
        };
        self.content = match self.content {
            Content::Foreign(_) => Content::Foreign(segment),
            _ => Content::Segment(segment),
        };
        segment.packet_len()
    }
}

/// What a gateway reads of a segment whose sender writes this key.
#[inline(always)]
fn header(segment: &Segment, flow: FlowKey, ttl: u8) -> Header {
    Header {
        flow,
        ttl,
        syn: segment.flags.has(Flags::SYN),
        ack: segment.flags.has(Flags::ACK),
        fin: segment.flags.has(Flags::FIN),
        rst: segment.flags.has(Flags::RST),
        payload: segment.len,
        packet: segment.packet_len(),
        window: segment.window,
        window_scale: segment.options.window_scale,
        mss: segment.options.mss,
        signed: false,
    }
}

/// The blocks of a segment, as agents read them.
fn sack(segment: &Segment) -> [(u32, u32); 4] {
    let mut blocks = [(0, 0); 4];
    for (to, block) in blocks.iter_mut().zip(segment.options.sack.as_slice()) {
        *to = (block.start.0, block.end.0);
    }
    blocks
}

/// Shows a router what a segment that enters its link asks for, and writes what it gives.
fn ask(gateway: &mut Gateway, now: Time, segment: &mut Segment, link: &LinkView) {
    let bytes = segment.packet_len();
    let carries = segment.congestion().is_some();
    let header = &mut segment.congestion;
    if carries {
        header.routers = header.routers.saturating_add(1);
    }
    if !carries || header.rtt == 0.0 {
        return gateway.enters(now, bytes, None, link);
    }
    let mut demand = Demand {
        rtt: f64::from(header.rtt),
        interval: f64::from(header.interval),
        delta: f64::from(header.delta),
    };
    gateway.enters(now, bytes, Some(&mut demand), link);
    header.delta = demand.delta as f32;
}
