//! Gateways: those that lower the receiver's window in passing acknowledgments, so that the senders fit the link, or tell the senders
//! themselves, and agents, which keep, swallow and send packets.

mod agent;
mod bytes;
mod flow;
mod flows;
mod scheme;
mod share;

use bentpipe_units::{Bytes, Fault, Rate, Time};

use flows::FlowTable;
use scheme::{Common, PACKET, Windows};

pub use agent::{Agent, Answer, Emission, Room, Seen, SnoopOptions, SpoofOptions, Verdict};
pub use flow::Direction;
pub use scheme::{GatewayFactory, UnknownScale, WindowRule};

/// The options of a scheme, and how it comes of them.
trait Scheme {
    /// Whether the values go together; those that do not, otherwise.
    fn validate(&self) -> Result<(), Fault> {
        Ok(())
    }

    /// What the options of those that compute windows have in common.
    fn common(&self) -> Option<Common> {
        None
    }

    /// What computes windows, and has seen nothing.
    fn windows(&self) -> Option<Box<dyn Windows>> {
        None
    }

    /// The agent, which has seen nothing.
    fn agent(&self) -> Option<Agent> {
        None
    }
}

impl Scheme for SnoopOptions {
    fn agent(&self) -> Option<Agent> {
        Some(self.agent())
    }
}

impl Scheme for SpoofOptions {
    fn agent(&self) -> Option<Agent> {
        Some(self.agent())
    }
}

bentpipe_units::spec! {
    /// What a gateway does; `scheme` chooses. Some compute what they write into passing packets, agents keep, swallow and send
    /// packets.
    pub enum GatewaySpec: dyn Scheme;
    dyn GatewayFactory "gateway.scheme", "a gateway", "{ scheme = \"xfwa\", isl_delay = \"20 ms\" }";
    /// Shares in proportion to the round-trip times (`xfwa`, equation 1).
    Xfwa(XfwaOptions) in xfwa,
    /// The same window for all, from the logarithm of the free buffer (EWA).
    Ewa(EwaOptions) in ewa,
    /// The same window for all, tracked towards a queue length (WINTRAC).
    Wintrac(WintracOptions) in wintrac,
    /// A router of XCP: changes of throughput for the senders.
    Xcp(XcpOptions) in xcp,
    /// Local retransmissions that the sender does not hear of (Snoop).
    Snoop(SnoopOptions),
    /// Local acknowledgments and retransmissions (RFC 3135 sections 3.1.2 and 3.1.3).
    Spoof(SpoofOptions),
}

impl GatewaySpec {
    /// Whether the values go together; those that do not, otherwise.
    pub fn validate(&self) -> Result<(), Fault> {
        self.options().validate()
    }

    /// The agent that it describes, which has seen nothing; none if it only computes windows.
    pub fn agent(&self) -> Option<Agent> {
        self.options().agent()
    }

    /// Length of a packet where the queue is given in packets.
    pub fn packet(&self) -> Bytes {
        self.options().common().map_or(PACKET, |common| common.packet)
    }

    /// Whether it goes by the queue of its link, which must have a limit then.
    pub fn needs_limit(&self) -> bool {
        self.options().common().is_some()
    }
}

/// One direction of a TCP connection: IPv4 addresses and ports as in the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowKey {
    /// Address of the sender.
    pub source: u32,
    /// Address of the receiver.
    pub destination: u32,
    /// Port of the sender.
    pub source_port: u16,
    /// Port of the receiver.
    pub destination_port: u16,
}

impl FlowKey {
    /// The other direction of the same connection.
    #[inline]
    pub fn reversed(self) -> FlowKey {
        FlowKey {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
        }
    }
}

/// What a gateway reads of a TCP segment that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Who sends it to whom.
    pub flow: FlowKey,
    /// Time to live as received, before this node takes one off.
    pub ttl: u8,
    /// Opens a connection.
    pub syn: bool,
    /// The acknowledgment, and with it the window, counts.
    pub ack: bool,
    /// The sender has no more data.
    pub fin: bool,
    /// Ends the connection at once.
    pub rst: bool,
    /// Bytes of data.
    pub payload: u32,
    /// Bytes of the whole packet, headers and data.
    pub packet: u32,
    /// The window field as written, not scaled.
    pub window: u16,
    /// The window scale option (RFC 7323) of a SYN.
    pub window_scale: Option<u8>,
    /// Largest segment that the sender of a SYN takes.
    pub mss: Option<u16>,
    /// A SYN says that segments are signed, their windows with them (TCP-MD5, RFC 2385; TCP-AO, RFC 5925).
    pub signed: bool,
}

/// What the congestion header of a packet asks of a router (XCP).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Round-trip time as its sender takes it, in s; above 0.
    pub rtt: f64,
    /// Time between two packets of its sender, in s.
    pub interval: f64,
    /// Change of throughput that is asked for, in bytes a second; the router lowers it to what it gives.
    pub delta: f64,
}

/// The link that a gateway guards, at the moment at which it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkView {
    /// Rate that carries packets.
    pub rate: Rate,
    /// Bytes that the queue can hold.
    pub buffer_bytes: u64,
    /// Bytes that wait.
    pub queued_bytes: u64,
}

bentpipe_units::numbers! {
    /// What a gateway saw and did.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct GatewayStats {
        /// Flows active now, or at the end of the run.
        pub flows: u32 = "", "flows";
        /// Most flows that were ever active at once.
        pub flows_max: u32 = "", "flows, most";
        /// Flows in the table now, active or not; never more than `max_flows`.
        pub flows_remembered: u32 = "", "flows remembered";
        /// Flows forgotten because the table was full.
        pub evicted: u64 = "", "evicted";
        /// Segments that entered the guarded link.
        pub segments_forward: u64 = "", "segments";
        /// Segments that came the other way.
        pub segments_backward: u64 = "", "acknowledgments";
        /// Acknowledgments whose window was lowered.
        pub windows_lowered: u64 = "", "lowered";
        /// Mean window in bytes over the acknowledgments whose window was lowered; 0 if there were none.
        pub window_mean_bytes: f64 = "B", "mean window";
        /// Most payload bytes of one flow that an agent kept at once; this and what follows is 0 for what only computes windows.
        pub cached_max_bytes: u64 = "B", "kept, most";
        /// Packets that it sent again over the guarded link.
        pub local_retransmissions: u64 = "", "resent locally";
        /// Acknowledgments of the receiver that it swallowed.
        pub acks_swallowed: u64 = "", "ACKs swallowed";
        /// Acknowledgments that it made.
        pub acks_made: u64 = "", "ACKs made";
        /// Data packets of the sender that it swallowed: it had them already, or no room for them.
        pub data_swallowed: u64 = "", "data swallowed";
        /// Most bytes of one flow that it had acknowledged and the receiver had not.
        pub acknowledged_ahead_max_bytes: u64 = "B", "ahead, most";
        /// Bytes that it has acknowledged and the receiver has not: now, or when it gave their flow up.
        pub acknowledged_ahead_bytes: u64 = "B", "ahead";
    }
}

/// A gateway beside one direction of a link.
///
/// `forward` sees what enters that direction, `backward` what comes out of the opposite direction at the same node. It
/// reads no clock and draws no random number; the times passed in never go back.
#[derive(Debug)]
pub struct Gateway {
    flows: FlowTable,
    scheme: Box<dyn Windows>,
    unknown_scale: UnknownScale,
    least: u64,
    tally: GatewayStats,
    /// Bytes of the windows written.
    written: u128,
}

impl Gateway {
    /// A gateway that has seen nothing; `spec` has passed [`GatewaySpec::validate`]. None for an agent.
    pub fn new(spec: &GatewaySpec) -> Option<Gateway> {
        let common = spec.options().common()?;
        Some(Gateway {
            flows: FlowTable::new(common.max_flows),
            scheme: spec.options().windows()?,
            unknown_scale: common.unknown_scale,
            least: common.least.get(),
            tally: GatewayStats::default(),
            written: 0,
        })
    }

    /// A segment is about to enter the guarded link.
    pub fn forward(&mut self, now: Time, header: &Header, link: &LinkView) {
        self.tally.segments_forward += 1;
        self.advance(now, link);
        // Data makes a flow, and so does a SYN; an acknowledgment alone only tells of a flow that is known.
        let makes = header.payload > 0 || header.syn;
        let Some(at) = self.flow_of(header.flow, header, makes) else { return };
        let active = header.payload > 0 || (header.syn && self.scheme.counts_syns());
        if active {
            let last = self.scheme.last_packet(now, header.packet, link);
            self.flows.activate(at, last);
            self.tally.flows_max = self.tally.flows_max.max(self.flows.active_flows());
        } else {
            self.flows.seen(at);
        }
        self.learn(at, now, Direction::Forward, header);
        let flow = self.flows.flow_mut(at);
        flow.carried(header);
        if flow.closed() {
            self.flows.remove(at);
        }
    }

    /// A packet of `bytes` bytes, TCP's or not, is about to enter the guarded link; told after [`Gateway::forward`] where it is
    /// TCP's, and only where [`Gateway::reads_demands`]. Where it carries a congestion header, `demand` is what that asks for.
    pub fn enters(&mut self, now: Time, bytes: u32, demand: Option<&mut Demand>, link: &LinkView) {
        self.advance(now, link);
        self.scheme.enters(bytes, demand);
    }

    /// Whether it goes by congestion headers, so that one that it was shown has passed a router of XCP.
    #[inline]
    pub fn reads_demands(&self) -> bool {
        self.scheme.reads_demands()
    }

    /// A segment that came the other way; answers the window field to write, never larger than the one there.
    pub fn backward(&mut self, now: Time, header: &Header, link: &LinkView) -> Option<u16> {
        self.tally.segments_backward += 1;
        self.advance(now, link);
        let at = self.flow_of(header.flow.reversed(), header, header.syn)?;
        self.flows.seen(at);
        self.learn(at, now, Direction::Backward, header);
        let window = self.lowered(at, header, link);
        if self.flows.flow(at).closed() {
            self.flows.remove(at);
        }
        window
    }

    /// What happened up to now.
    pub fn stats(&self) -> GatewayStats {
        let lowered = self.tally.windows_lowered;
        GatewayStats {
            flows: self.flows.active_flows(),
            flows_remembered: self.flows.len(),
            evicted: self.flows.evicted(),
            window_mean_bytes: if lowered == 0 { 0.0 } else { self.written as f64 / lowered as f64 },
            ..self.tally
        }
    }

    fn advance(&mut self, now: Time, link: &LinkView) {
        self.scheme.advance(now, link, &mut self.flows);
    }

    /// The flow's place, new if `makes`; none for one that nothing is known of, or whose windows are signed: to lower one would break it.
    /// A reset tells nothing: it may be forged, and a connection that has ended sends no data.
    fn flow_of(&mut self, key: FlowKey, header: &Header, makes: bool) -> Option<u32> {
        if header.rst {
            return None;
        }
        let known = self.flows.find(&key);
        if header.signed {
            if let Some(at) = known {
                self.flows.remove(at);
            }
            return None;
        }
        known.or_else(|| makes.then(|| self.flows.insert(key)))
    }

    fn learn(&mut self, at: u32, now: Time, way: Direction, header: &Header) {
        let flow = self.flows.flow_mut(at);
        if flow.learn(now, way, header) {
            let rtt = self.scheme.rtt(flow);
            self.flows.set_rtt(at, rtt);
        }
    }

    /// The field for the scheme's window, if that is lower than what the segment says.
    fn lowered(&mut self, at: u32, header: &Header, link: &LinkView) -> Option<u16> {
        if !header.ack && !header.syn {
            return None;
        }
        let flow = self.flows.flow_mut(at);
        // RFC 7323 section 2.2: the window of a SYN itself is not scaled.
        let shift = match (header.syn, flow.shift(), self.unknown_scale) {
            (true, ..) => 0,
            (false, Some(shift), _) => shift,
            (false, None, UnknownScale::Zero) => 0,
            (false, None, UnknownScale::Leave) => return None,
        };
        flow.advertised = Some(u64::from(header.window) << shift);
        let bytes = self.scheme.window(self.flows.rtt(at), link)? / self.scheme.overhead(self.flows.flow(at));
        // A millionth of a byte: shares that are whole numbers must not fall below them by rounding.
        let share = ((bytes + 1e-6) as u64) >> shift;
        // Rounded up, so that a large scale does not make a zero window of it. Below a segment of its own a sender would stall.
        let least = self.least.max(u64::from(self.flows.flow(at).mss)).div_ceil(1 << shift);
        let field = u16::try_from(share.max(least)).ok().filter(|field| *field < header.window)?;
        self.tally.windows_lowered += 1;
        self.written += u128::from(field) << shift;
        Some(field)
    }
}

#[cfg(test)]
mod tests;
