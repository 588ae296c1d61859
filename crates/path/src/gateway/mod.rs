//! Gateways that lower the receiver's window in passing acknowledgments, so that the senders fit the link.

mod spec;

use bentpipe_units::{Rate, Time};
use serde::Serialize;

pub use spec::{EwaOptions, GatewaySpec, RttSource, UnknownScale, WintracOptions, XfwaOptions};

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
    /// The window field as written, not scaled.
    pub window: u16,
    /// The window scale option (RFC 7323) of a SYN.
    pub window_scale: Option<u8>,
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

/// What a gateway saw and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct GatewayStats {
    /// Flows active now.
    pub flows: u32,
    /// Most flows that were ever active at once.
    pub flows_max: u32,
    /// Flows forgotten because the table was full.
    pub evicted: u64,
    /// Segments that entered the guarded link.
    pub segments_forward: u64,
    /// Segments that came the other way.
    pub segments_backward: u64,
    /// Acknowledgments whose window was lowered.
    pub windows_lowered: u64,
    /// Mean window in bytes over the acknowledgments whose window was lowered; 0 if there were none.
    pub window_mean_bytes: f64,
}

/// A gateway beside one direction of a link.
///
/// `forward` sees what enters that direction, `backward` what comes out of the opposite direction at the same node. It
/// reads no clock and draws no random number; the times passed in never go back.
#[derive(Clone, Debug)]
pub struct Gateway {
    stats: GatewayStats,
}

impl Gateway {
    /// A gateway that has seen nothing; `spec` has passed [`GatewaySpec::validate`].
    pub fn new(spec: &GatewaySpec) -> Gateway {
        let _ = spec;
        Gateway { stats: GatewayStats::default() }
    }

    /// A segment is about to enter the guarded link.
    pub fn forward(&mut self, now: Time, header: &Header, link: &LinkView) {
        let _ = (now, header, link);
        self.stats.segments_forward += 1;
    }

    /// A segment that came the other way; answers the window field to write, never larger than the one there.
    pub fn backward(&mut self, now: Time, header: &Header, link: &LinkView) -> Option<u16> {
        let _ = (now, header, link);
        self.stats.segments_backward += 1;
        None
    }

    /// What happened up to now.
    pub fn stats(&self) -> GatewayStats {
        self.stats
    }
}
