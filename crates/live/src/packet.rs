//! An IPv4 packet on its way through the network.

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

/// What a queue may know of an IPv4 packet that a priority queue serves by `class`.
pub(crate) fn label(bytes: &[u8], class: u8) -> Label {
    let ecn_capable = bytes.len() >= 20 && bytes[TRAFFIC_CLASS] & ECN != 0;
    // Addresses and ports, where the header has no options.
    let names = bytes.get(12..24).unwrap_or_default();
    let flow = names.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    Label { ecn_capable, flow, class }
}

/// Writes Congestion Experienced into an IPv4 packet.
pub(crate) fn mark(bytes: &mut [u8]) {
    write(bytes, TRAFFIC_CLASS, bytes[TRAFFIC_CLASS] | ECN);
}

/// Shows an IPv4 packet to a gateway, as [`Carried::show`] says.
pub(crate) fn show(bytes: &mut [u8], ttl: u8, way: Way, meeting: Meeting<'_>) {
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
