//! From a segment to bytes.

use std::fmt;

use super::checksum::Sum;
use super::{Addresses, MAX_HEADERS, OPTION_ROOM, PROTOCOL_TCP, options};
use crate::{Ecn, IP_HEADER, Segment, TCP_HEADER};

/// The flag that forbids fragmentation, as Linux sets it on TCP by default.
const DONT_FRAGMENT: u16 = 0x4000;

/// The bytes behind the headers.
#[derive(Clone, Copy, Debug)]
pub enum Payload<'a> {
    /// These, as many as [`Segment::len`].
    Bytes(&'a [u8]),
    /// Zeros, as many as [`Segment::len`].
    Zeros,
    /// None are written; lengths and checksum are those of [`Payload::Zeros`].
    Omitted,
}

/// Why a segment does not fit in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// The options take this many bytes, more than [`OPTION_ROOM`].
    Options(u32),
    /// The packet would be longer than the 65535 bytes that IPv4 can tell.
    TooLong,
    /// The payload has not as many bytes as [`Segment::len`].
    Payload {
        /// [`Segment::len`].
        segment: u32,
        /// Bytes of the payload.
        payload: usize,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeError::Options(bytes) => {
                write!(f, "{bytes} bytes of TCP options, but a header has room for {OPTION_ROOM} bytes")
            }
            EncodeError::TooLong => f.write_str("the packet is longer than the 65535 bytes of IPv4"),
            EncodeError::Payload { segment, payload } => {
                write!(f, "a payload of {payload} bytes for a segment of {segment} bytes")
            }
        }
    }
}

impl std::error::Error for EncodeError {}

/// Appends the IPv4 packet that carries `segment` to `out`: [`Segment::packet_len`] bytes, less the payload
/// when it is omitted. A congestion header is left out: a capture would hide the segment behind it, and no kernel knows it.
///
/// # Errors
/// When the segment does not fit in a packet; `out` is as it was then.
pub fn encode(
    segment: &Segment,
    addresses: &Addresses,
    payload: Payload<'_>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let option_bytes = segment.options.wire_len();
    if option_bytes > OPTION_ROOM {
        return Err(EncodeError::Options(option_bytes));
    }
    if let Payload::Bytes(bytes) = payload
        && bytes.len() != segment.len as usize
    {
        return Err(EncodeError::Payload { segment: segment.len, payload: bytes.len() });
    }
    let tcp_header = TCP_HEADER + option_bytes;
    let total = segment.len.checked_add(IP_HEADER + tcp_header).and_then(|bytes| u16::try_from(bytes).ok());
    let total = total.ok_or(EncodeError::TooLong)?;

    out.reserve(MAX_HEADERS as usize);
    let ip_at = out.len();
    write_ip(addresses, PROTOCOL_TCP, segment.ecn, total, out);
    let tcp_at = out.len();
    write_tcp(segment, addresses, (tcp_header / 4) as u8, out);
    match payload {
        Payload::Bytes(bytes) => out.extend_from_slice(bytes),
        Payload::Zeros => out.resize(out.len() + segment.len as usize, 0),
        Payload::Omitted => {}
    }

    sum_ip(&mut out[ip_at..tcp_at]);
    let tcp_len = total - IP_HEADER as u16;
    let pseudo_header = Sum::pseudo_header(addresses.source, addresses.destination, PROTOCOL_TCP, tcp_len);
    let tcp_sum = pseudo_header.bytes(&out[tcp_at..]);
    out[tcp_at + 16..tcp_at + 18].copy_from_slice(&tcp_sum.checksum().to_be_bytes());
    Ok(())
}

/// An IPv4 header, its checksum zero.
pub(super) fn write_ip(addresses: &Addresses, protocol: u8, ecn: Ecn, total: u16, out: &mut Vec<u8>) {
    out.extend([0x40 | (IP_HEADER / 4) as u8, ecn as u8]);
    out.extend(total.to_be_bytes());
    out.extend(addresses.ident.to_be_bytes());
    out.extend(DONT_FRAGMENT.to_be_bytes());
    out.extend([addresses.ttl, protocol, 0, 0]);
    out.extend(addresses.source.octets());
    out.extend(addresses.destination.octets());
}

/// Writes the checksum of an IPv4 header.
pub(super) fn sum_ip(header: &mut [u8]) {
    let sum = Sum::default().bytes(header);
    header[10..12].copy_from_slice(&sum.checksum().to_be_bytes());
}

/// A TCP header of `words` words, its checksum and urgent pointer zero.
fn write_tcp(segment: &Segment, addresses: &Addresses, words: u8, out: &mut Vec<u8>) {
    out.extend(addresses.source_port.to_be_bytes());
    out.extend(addresses.destination_port.to_be_bytes());
    out.extend(segment.seq.0.to_be_bytes());
    out.extend(segment.ack.0.to_be_bytes());
    out.extend([words << 4, segment.flags.0 as u8]);
    out.extend(segment.window.to_be_bytes());
    out.extend([0; 4]);
    options::write(&segment.options, out);
}
