//! From bytes to a segment.

use std::fmt;
use std::net::Ipv4Addr;
use std::ops::Range;

use super::checksum::Sum;
use super::{Addresses, PROTOCOL_TCP, options};
use crate::{Ecn, Flags, IP_HEADER, Segment, Seq, TCP_HEADER};

/// More-fragments flag and fragment offset.
const FRAGMENT: u16 = 0x3fff;

/// What [`decode`] finds in a packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Who sent it to whom.
    pub addresses: Addresses,
    /// The segment that it carries.
    pub segment: Segment,
    /// Where in the packet the payload lies; [`Segment::len`] bytes.
    pub payload: Range<usize>,
}

/// Why bytes are not a packet with a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Fewer bytes than the headers or the IPv4 total length need.
    CutOff {
        /// Bytes that are needed.
        needed: usize,
        /// Bytes that there are.
        found: usize,
    },
    /// Not IPv4, but this version.
    Version(u8),
    /// An IPv4 header length of this many words: fewer than 5, or more than the packet.
    IpHeaderLength(u8),
    /// An IPv4 total length of this many bytes: fewer than the headers.
    TotalLength(u16),
    /// The IPv4 header checksum does not hold.
    IpChecksum,
    /// A fragment of a packet.
    Fragment,
    /// Not TCP, but this protocol.
    Protocol(u8),
    /// A TCP data offset of this many words: fewer than 5, or more than the segment.
    DataOffset(u8),
    /// The TCP checksum does not hold.
    TcpChecksum,
    /// An option that runs past the end of the header.
    OptionCutOff {
        /// Kind of the option.
        kind: u8,
    },
    /// An option with a length that its kind cannot have.
    OptionLength {
        /// Kind of the option.
        kind: u8,
        /// Length that it gives, in bytes.
        length: u8,
    },
    /// An option that may come once comes twice.
    OptionTwice {
        /// Kind of the option.
        kind: u8,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::CutOff { needed, found } => {
                write!(f, "the packet is cut off: {found} bytes where {needed} bytes are needed")
            }
            DecodeError::Version(version) => write!(f, "IP version {version}, expected 4"),
            DecodeError::IpHeaderLength(words) => {
                write!(f, "an IPv4 header length of {words} words, expected 5 or more and within the packet")
            }
            DecodeError::TotalLength(bytes) => {
                write!(f, "an IPv4 total length of {bytes} bytes, fewer than the headers")
            }
            DecodeError::IpChecksum => f.write_str("the IPv4 header checksum does not hold"),
            DecodeError::Fragment => f.write_str("a fragment, expected a whole packet"),
            DecodeError::Protocol(protocol) => write!(f, "IP protocol {protocol}, expected 6 (TCP)"),
            DecodeError::DataOffset(words) => {
                write!(f, "a TCP data offset of {words} words, expected 5 or more and within the segment")
            }
            DecodeError::TcpChecksum => f.write_str("the TCP checksum does not hold"),
            DecodeError::OptionCutOff { kind } => {
                write!(f, "TCP option {kind} runs past the end of the header")
            }
            DecodeError::OptionLength { kind, length } => {
                write!(f, "TCP option {kind} cannot have a length of {length} bytes")
            }
            DecodeError::OptionTwice { kind } => write!(f, "TCP option {kind} comes twice"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// Reads the IPv4 packet at the start of `bytes`. Bytes beyond its total length are a link's padding and are
/// ignored. A window shift above 14 is read as 14 (RFC 7323 section 2.3).
///
/// # Errors
/// When `bytes` does not start with a whole, unfragmented IPv4 packet that carries a well-formed TCP segment
/// with both checksums right.
pub fn decode(bytes: &[u8]) -> Result<Packet, DecodeError> {
    let ip: &[u8; IP_HEADER as usize] = bytes.first_chunk().ok_or_else(|| cut_off(bytes, IP_HEADER))?;
    let (version, words) = (ip[0] >> 4, ip[0] & 0x0f);
    if version != 4 {
        return Err(DecodeError::Version(version));
    }
    let ip_len = usize::from(words) * 4;
    if ip_len < IP_HEADER as usize || ip_len > bytes.len() {
        return Err(DecodeError::IpHeaderLength(words));
    }
    if !Sum::default().bytes(&bytes[..ip_len]).holds() {
        return Err(DecodeError::IpChecksum);
    }
    let total = word(ip, 2);
    let whole = bytes.get(..usize::from(total)).ok_or_else(|| cut_off(bytes, u32::from(total)))?;
    if word(ip, 6) & FRAGMENT != 0 {
        return Err(DecodeError::Fragment);
    }
    if ip[9] != PROTOCOL_TCP {
        return Err(DecodeError::Protocol(ip[9]));
    }
    let source = Ipv4Addr::new(ip[12], ip[13], ip[14], ip[15]);
    let destination = Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]);

    let tcp = whole.get(ip_len..).unwrap_or_default();
    let fixed: &[u8; TCP_HEADER as usize] = tcp.first_chunk().ok_or(DecodeError::TotalLength(total))?;
    if !Sum::pseudo_header(source, destination, PROTOCOL_TCP, tcp.len() as u16).bytes(tcp).holds() {
        return Err(DecodeError::TcpChecksum);
    }
    let words = fixed[12] >> 4;
    let tcp_header = usize::from(words) * 4;
    if tcp_header < TCP_HEADER as usize || tcp_header > tcp.len() {
        return Err(DecodeError::DataOffset(words));
    }
    let segment = Segment {
        seq: Seq(double_word(fixed, 4)),
        ack: Seq(double_word(fixed, 8)),
        len: (tcp.len() - tcp_header) as u32,
        window: word(fixed, 14),
        flags: Flags(fixed[13].into()),
        ecn: match ip[1] {
            low if low == Ecn::Low as u8 => Ecn::Low,
            other => [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(other & 0x03)],
        },
        options: options::read(&tcp[TCP_HEADER as usize..tcp_header])?,
        ..Segment::default()
    };
    let addresses = Addresses {
        source,
        destination,
        source_port: word(fixed, 0),
        destination_port: word(fixed, 2),
        ttl: ip[8],
        ident: word(ip, 4),
    };
    Ok(Packet { addresses, segment, payload: ip_len + tcp_header..whole.len() })
}

fn cut_off(bytes: &[u8], needed: u32) -> DecodeError {
    DecodeError::CutOff { needed: needed as usize, found: bytes.len() }
}

fn word(header: &[u8; 20], at: usize) -> u16 {
    u16::from_be_bytes([header[at], header[at + 1]])
}

fn double_word(header: &[u8; 20], at: usize) -> u32 {
    u32::from(word(header, at)) << 16 | u32::from(word(header, at + 2))
}
