//! Packets of one connection that have come to their host at the same time, given to its kernel as one long segment.

use std::ops::Range;

use super::offload::{HEADER, Offload, is_ipv6, pseudo_header, write_length};

/// A long segment is no longer.
const MOST: usize = 65_000;
const TCP: u8 = 6;
const ACK: u8 = 0x10;
const PUSH: u8 = 0x08;

/// A plain TCP segment with payload, by where its parts are.
#[derive(Clone, Copy, Debug)]
struct Segment {
    ip: usize,
    transport: usize,
    payload: usize,
    sequence: u32,
}

/// Reads the packet whose IP header begins at `ip`; none if it is anything but a plain TCP segment with payload and a PSH at
/// most, without options of IP.
fn segment(packet: &[u8], ip: usize) -> Option<Segment> {
    let version = packet.get(ip)? >> 4;
    let length = packet.len() - ip;
    let word =
        |at: usize| packet.get(at..at + 2).map(|word| usize::from(u16::from_be_bytes([word[0], word[1]])));
    let transport = if version == 6 {
        (word(ip + 4)? + 40 == length && *packet.get(ip + 6)? == TCP).then_some(ip + 40)?
    } else {
        let whole = word(ip + 6)? & 0x3fff == 0;
        let plain = packet[ip] == 0x45 && *packet.get(ip + 9)? == TCP;
        (whole && plain && word(ip + 2)? == length).then_some(ip + 20)?
    };
    let payload = transport + 4 * usize::from(packet.get(transport + 12)? >> 4);
    let flags = *packet.get(transport + 13)?;
    if payload < transport + 20 || payload >= packet.len() || flags & !PUSH != ACK {
        return None;
    }
    let sequence = packet.get(transport + 4..transport + 8)?.try_into().ok()?;
    Some(Segment { ip, transport, payload, sequence: u32::from_be_bytes(sequence) })
}

/// Whether the headers of two packets are the same but for what differs from packet to packet: lengths, identification,
/// checksums, sequence numbers, PSH.
fn same_headers(one: &[u8], other: &[u8], of: Segment) -> bool {
    let Segment { ip, transport: tcp, payload, .. } = of;
    let flags = tcp + 13;
    let same = |range: Range<usize>| one[range.clone()] == other[range];
    let network = if is_ipv6(one, ip) {
        same(ip..ip + 4) && same(ip + 6..tcp)
    } else {
        same(ip..ip + 2) && same(ip + 6..ip + 10) && same(ip + 12..tcp)
    };
    network
        && same(0..ip)
        && same(tcp..tcp + 4)
        && same(tcp + 8..flags)
        && (one[flags] ^ other[flags]) & !PUSH == 0
        && same(tcp + 14..tcp + 16)
        && same(tcp + 18..payload)
}

/// What is to be written to a device next.
#[derive(Debug, Default)]
pub(super) struct Bundle {
    /// A place for the header, and the packet, or the long segment.
    bytes: Vec<u8>,
    /// Of the first packet, where others may follow it.
    first: Option<Segment>,
    /// Bytes of payload of each packet but the last.
    size: usize,
    count: usize,
}

impl Bundle {
    /// How many packets it is.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Begins with a packet whose IP header begins at `ip`; where that is none, nothing may follow it.
    pub(super) fn begin(&mut self, packet: &[u8], ip: Option<usize>) {
        debug_assert_eq!(self.count, 0);
        self.bytes.clear();
        self.bytes.extend_from_slice(&[0; HEADER]);
        self.bytes.extend_from_slice(packet);
        self.first = ip.and_then(|ip| segment(packet, ip));
        self.size = self.first.map_or(0, |first| packet.len() - first.payload);
        self.count = 1;
    }

    /// Adds a packet, if it goes on where the last one ended; whether it did.
    pub(super) fn add(&mut self, packet: &[u8], ip: usize) -> bool {
        let (Some(first), Some(next)) = (self.first, segment(packet, ip)) else { return false };
        let first_packet = &self.bytes[HEADER..];
        let length = packet.len() - next.payload;
        let carried = first_packet.len() - first.payload;
        let fits = (first.ip, first.transport, first.payload) == (next.ip, next.transport, next.payload)
            && next.sequence == first.sequence.wrapping_add(carried as u32)
            && length <= self.size
            && first_packet.len() + length <= MOST
            && same_headers(first_packet, packet, first);
        if !fits {
            return false;
        }
        let flags = HEADER + first.transport + 13;
        self.bytes[flags] |= packet[next.transport + 13] & PUSH;
        self.bytes.extend_from_slice(&packet[next.payload..]);
        self.count += 1;
        if length < self.size || packet[next.transport + 13] & PUSH != 0 {
            // The last of its segment: who reads is to hear of it now.
            self.first = None;
            self.seal(first);
        }
        true
    }

    /// Writes lengths and header for what has been added.
    fn seal(&mut self, first: Segment) {
        let (header, packet) = self.bytes.split_at_mut(HEADER);
        write_length(packet, first.ip);
        let sum = pseudo_header(packet, first.ip, TCP, packet.len() - first.transport).folded();
        let field = first.transport + 16;
        packet[field..field + 2].copy_from_slice(&sum.to_be_bytes());
        let ipv6 = is_ipv6(packet, first.ip);
        header.copy_from_slice(&Offload::of_segment(ipv6, first.payload, first.transport, self.size).write());
    }

    /// What a device takes, header first; it is empty from then on.
    pub(super) fn take(&mut self) -> &[u8] {
        if let Some(first) = self.first.take()
            && self.count > 1
        {
            self.seal(first);
        }
        self.count = 0;
        &self.bytes
    }
}

#[cfg(test)]
#[path = "bundle_tests.rs"]
mod tests;
