//! UDP datagrams (RFC 768), for captures of what shares a link with TCP.

use super::checksum::Sum;
use super::encode::{sum_ip, write_ip};
use super::{Addresses, EncodeError, PROTOCOL_UDP};
use crate::{Ecn, IP_HEADER};

/// Bytes of a UDP header.
pub const UDP_HEADER: u32 = 8;

/// Most payload bytes of a datagram: what IPv4's total length leaves.
pub const MOST_DATAGRAM: u32 = u16::MAX as u32 - IP_HEADER - UDP_HEADER;

/// Appends the headers of the IPv4 packet that carries a datagram of `len` payload bytes to `out`. The payload is left
/// out; lengths and checksum are those of zeros.
///
/// # Errors
/// When `len` is above [`MOST_DATAGRAM`]; `out` is as it was then.
pub fn encode_datagram(len: u32, addresses: &Addresses, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    if len > MOST_DATAGRAM {
        return Err(EncodeError::TooLong);
    }
    let udp_len = (UDP_HEADER + len) as u16;
    let ip_at = out.len();
    write_ip(addresses, PROTOCOL_UDP, Ecn::NotEct, IP_HEADER as u16 + udp_len, out);
    let udp_at = out.len();
    sum_ip(&mut out[ip_at..udp_at]);
    for field in [addresses.source_port, addresses.destination_port, udp_len, 0] {
        out.extend(field.to_be_bytes());
    }
    let pseudo_header = Sum::pseudo_header(addresses.source, addresses.destination, PROTOCOL_UDP, udp_len);
    // Zero would say that there is no checksum.
    let checksum = match pseudo_header.bytes(&out[udp_at..]).checksum() {
        0 => u16::MAX,
        sum => sum,
    };
    out[udp_at + 6..udp_at + 8].copy_from_slice(&checksum.to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(source_port: u16) -> Addresses {
        Addresses {
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            source_port,
            destination_port: 5001,
            ttl: 64,
            ident: 0,
        }
    }

    #[test]
    fn a_datagram_has_its_lengths_and_checksums() {
        let mut packet = vec![0xff];
        assert_eq!(encode_datagram(1000, &addresses(49_152), &mut packet), Ok(()));
        let packet = &packet[1..];
        assert_eq!(packet.len() as u32, IP_HEADER + UDP_HEADER);
        assert_eq!((packet[0], packet[9]), (0x45, 17));
        assert_eq!((&packet[2..4], &packet[24..26]), (&[4, 4][..], &[3, 240][..]));
        assert!(Sum::default().bytes(&packet[..20]).holds());
        // Added up by hand: addresses, 17, twice the length 1008, and both ports.
        let words = 0x0a00 + 1 + 0x0a00 + 2 + 17 + 2 * 1008 + 49_152 + 5001_u32;
        let sum = (words & 0xffff) + (words >> 16);
        assert_eq!(packet[26..28], (!(sum as u16)).to_be_bytes());
    }

    #[test]
    fn a_checksum_of_zero_is_written_as_ones() {
        let mut packet = Vec::new();
        // The source port that makes the sum of all words 0xffff.
        let others = 0x0a00 + 1 + 0x0a00 + 2 + 17 + 2 * 108 + 5001;
        assert_eq!(encode_datagram(100, &addresses(0xffff - others), &mut packet), Ok(()));
        assert_eq!(packet[26..28], [0xff, 0xff]);
    }

    #[test]
    fn what_ipv4_cannot_tell_is_refused() {
        let mut packet = Vec::new();
        assert_eq!(encode_datagram(MOST_DATAGRAM + 1, &addresses(1), &mut packet), Err(EncodeError::TooLong));
        assert!(packet.is_empty());
        assert_eq!(encode_datagram(MOST_DATAGRAM, &addresses(1), &mut packet), Ok(()));
        assert_eq!(packet[2..4], [0xff, 0xff]);
    }
}
