//! Segments as the bytes of IPv4 packets (RFC 791, RFC 9293 section 3.1), for captures and for real peers.
//!
//! [`encode`] writes a segment the way Linux lays it out; [`decode`] reads a packet from anyone and trusts
//! nothing in it. What a [`Segment`](crate::Segment) has no field for is written as zero and ignored when
//! read: the type of service beside ECN and the low priority of dummy segments, the urgent pointer, the reserved
//! bits, IPv4 options and unknown TCP options.

mod checksum;
mod decode;
mod encode;
mod options;
#[cfg(test)]
mod tests;
mod udp;

use std::net::Ipv4Addr;

pub use checksum::Sum;
pub use decode::{DecodeError, Packet, decode};
pub use encode::{EncodeError, Payload, encode};
pub use udp::{MOST_DATAGRAM, UDP_HEADER, encode_datagram};

/// Bytes that the options of a TCP header have room for: a data offset of 15 words less the fixed header.
pub const OPTION_ROOM: u32 = 40;

/// Bytes of the longest headers that [`encode`] writes: IPv4 without options, TCP with all of them.
pub const MAX_HEADERS: u32 = crate::IP_HEADER + crate::TCP_HEADER + OPTION_ROOM;

/// IPv4's number for TCP.
const PROTOCOL_TCP: u8 = 6;

/// IPv4's number for UDP.
const PROTOCOL_UDP: u8 = 17;

/// What the headers of a packet say beside the segment: who sends it to whom, over TCP or UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// IPv4 address of the sender.
    pub source: Ipv4Addr,
    /// IPv4 address of the receiver.
    pub destination: Ipv4Addr,
    /// Port of the sender.
    pub source_port: u16,
    /// Port of the receiver.
    pub destination_port: u16,
    /// Time to live, in hops.
    pub ttl: u8,
    /// IPv4 identification; of no effect, because [`encode`] forbids fragmentation (RFC 6864 section 4.1).
    pub ident: u16,
}
