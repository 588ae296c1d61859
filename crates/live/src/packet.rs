//! An IP packet on its way through the network.

use bentpipe_net::{Carried, Meeting, TTL};
use bentpipe_path::Label;
use bentpipe_path::gateway::Direction as Way;

use crate::Direction;

/// An IPv4 packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packet {
    pub(crate) bytes: Vec<u8>,
    pub(crate) direction: Direction,
}

/// What all packets of a run share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    /// What a priority queue serves them by.
    pub(crate) class: u8,
}

/// The ECN field in the second byte of an IPv4 header (RFC 3168 section 5).
const ECN: u8 = 0b11;
/// And in the second byte of one of IPv6.
const ECN_OF_IPV6: u8 = 0x30;
const IPV6_HEADER: usize = 40;
const HOP_LIMIT: usize = 7;
const TRAFFIC_CLASS: usize = 1;
const TIME_TO_LIVE: usize = 8;
const CHECKSUM: usize = 10;

/// Writes a byte of the header, and mends its checksum (RFC 1624, equation 3).
fn write(bytes: &mut [u8], at: usize, value: u8) {
    let word = |bytes: &[u8], at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let before = word(bytes, at & !1);
    bytes[at] = value;
    let sum = u32::from(!word(bytes, CHECKSUM)) + u32::from(!before) + u32::from(word(bytes, at & !1));
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    bytes[CHECKSUM..CHECKSUM + 2].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

/// Bytes before what a frame of Ethernet carries, without a tag.
pub(crate) const ETHERNET: usize = 14;
const TAG: usize = 4;

/// Where the header of IPv4 or IPv6 begins in a frame of Ethernet, behind up to two VLAN tags (IEEE 802.1Q, 802.1ad).
pub(crate) fn ip_in_ethernet(frame: &[u8]) -> Option<usize> {
    for at in [ETHERNET, ETHERNET + TAG, ETHERNET + 2 * TAG] {
        match (frame.get(at - 2..at)?, *frame.get(at)? >> 4) {
            ([0x08, 0x00], 4) | ([0x86, 0xdd], 6) => return Some(at),
            ([0x81, 0x00] | [0x88, 0xa8], _) => {}
            _ => return None,
        }
    }
    None
}

fn is_ipv6(bytes: &[u8]) -> bool {
    bytes.len() >= IPV6_HEADER && bytes[0] >> 4 == 6
}

/// What a queue may know of an IP packet that a priority queue serves by `class`.
pub(crate) fn label(bytes: &[u8], class: u8) -> Label {
    // Addresses and ports, where the header has no options.
    let (ecn_capable, names) = if is_ipv6(bytes) {
        (bytes[TRAFFIC_CLASS] & ECN_OF_IPV6 != 0, bytes.get(8..44))
    } else {
        (bytes.len() >= 20 && bytes[TRAFFIC_CLASS] & ECN != 0, bytes.get(12..24))
    };
    let names = names.unwrap_or_default();
    let flow = names.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    let low = bytes.get(TRAFFIC_CLASS) == Some(&(bentpipe_tcp::Ecn::Low as u8));
    Label { ecn_capable, flow, class, low }
}

/// Writes Congestion Experienced into an IP packet.
pub(crate) fn mark(bytes: &mut [u8]) {
    if is_ipv6(bytes) {
        bytes[TRAFFIC_CLASS] |= ECN_OF_IPV6;
        return;
    }
    write(bytes, TRAFFIC_CLASS, bytes[TRAFFIC_CLASS] | ECN);
}

/// Shows an IP packet to a gateway, as [`Carried::show`] says.
pub(crate) fn show(bytes: &mut [u8], ttl: u8, way: Way, meeting: Meeting<'_>) {
    if is_ipv6(bytes) {
        bytes[HOP_LIMIT] = bytes[HOP_LIMIT].min(ttl);
        return;
    }
    // Of the routers before this one, each has taken one off.
    if bytes.get(TIME_TO_LIVE).is_some_and(|written| ttl < TTL.min(*written)) {
        write(bytes, TIME_TO_LIVE, ttl);
    }
    meeting.gateway.pass(meeting.now, way, bytes, &meeting.link);
}

impl Carried for Packet {
    type Names = Shared;

    fn label(&self, shared: &Shared) -> Label {
        label(&self.bytes, shared.class)
    }

    fn mark(&mut self) {
        mark(&mut self.bytes);
    }

    fn show(&mut self, _: &Shared, ttl: u8, way: Way, meeting: Meeting<'_>) {
        show(&mut self.bytes, ttl, way, meeting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_leaves_the_header_checksum_right() {
        let sum = |bytes: &[u8]| {
            let words = bytes[..20].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
            let sum: u32 = words.sum();
            (sum & 0xffff) + (sum >> 16)
        };
        for (ecn, ident) in [(1, 7_u8), (2, 0), (2, 255), (3, 9)] {
            let mut bytes = vec![0x45, ecn, 0, 40, ident, 3, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
            let checksum = !(sum(&bytes) as u16);
            bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
            let mut packet = Packet { bytes, direction: Direction::Send };
            assert!(packet.label(&Shared { class: 0 }).ecn_capable && sum(&packet.bytes) == 0xffff);
            packet.mark();
            assert_eq!((packet.bytes[1], sum(&packet.bytes)), (3, 0xffff));
            write(&mut packet.bytes, TIME_TO_LIVE, 62);
            assert_eq!((packet.bytes[8], sum(&packet.bytes)), (62, 0xffff));
        }
    }
}
