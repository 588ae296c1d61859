//! What a kernel leaves to the device under it: checksums, and the cutting of long segments into packets.
//!
//! The header before each packet is `struct virtio_net_hdr` (Virtual I/O Device 1.2, section 5.1.6) in the machine's byte order.

use bentpipe_tcp::wire::Sum;

/// Bytes of the header before each packet.
pub(super) const HEADER: usize = 10;

/// The checksum is to be written by who sends the packet on; its field has the sum of the pseudo-header.
const NEEDS_CHECKSUM: u8 = 1;
/// Somebody has looked at the checksum.
const VALID: u8 = 2;
/// How the payload is to be cut.
const TCP_IPV4: u8 = 1;
const TCP_IPV6: u8 = 4;
const UDP: u8 = 5;
/// Beside these: congestion window reduced is of the first segment alone.
const WITH_ECN: u8 = 0x80;

const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;
const UDP_HEADER: usize = 8;
const TCP_HEADER: usize = 20;
/// Of TCP's header, in it.
const SEQUENCE: usize = 4;
const FLAGS: usize = 13;
const FIN_AND_PUSH: u8 = 0x09;
const REDUCED: u8 = 0x80;

/// What is left to do on a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offload {
    flags: u8,
    kind: u8,
    headers: u16,
    /// Bytes of payload in a packet.
    size: u16,
    /// Where the sum begins, and where it is written from there.
    checksum: (u16, u16),
}

impl Offload {
    /// As the kernel gives it.
    pub(super) fn read(bytes: &[u8; HEADER]) -> Offload {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Offload {
            flags: bytes[0],
            kind: bytes[1],
            headers: word(2),
            size: word(4),
            checksum: (word(6), word(8)),
        }
    }

    /// As the kernel takes it.
    pub(super) fn write(self) -> [u8; HEADER] {
        let [a, b] = self.headers.to_ne_bytes();
        let [c, d] = self.size.to_ne_bytes();
        let [e, f] = self.checksum.0.to_ne_bytes();
        let [g, h] = self.checksum.1.to_ne_bytes();
        [self.flags, self.kind, a, b, c, d, e, f, g, h]
    }

    /// Of a TCP segment with `headers` bytes of headers, the last of them from `transport` on, that is to be cut into packets
    /// of `size` bytes of payload.
    pub(super) fn of_segment(ipv6: bool, headers: usize, transport: usize, size: usize) -> Offload {
        Offload {
            flags: NEEDS_CHECKSUM,
            kind: if ipv6 { TCP_IPV6 } else { TCP_IPV4 },
            headers: headers as u16,
            size: size as u16,
            checksum: (transport as u16, 16),
        }
    }

    /// Whether the packet's checksum needs no second look: the kernel that sent it vouches for it.
    pub(super) fn is_trusted(self) -> bool {
        self.flags & (NEEDS_CHECKSUM | VALID) != 0
    }
}

/// Where the headers of a long segment are, and into how many packets it is cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    transport: usize,
    headers: usize,
    size: usize,
    protocol: u8,
}

/// A packet that a kernel has given, as the packets that a wire would see.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packets {
    offload: Offload,
    /// Where the IP header begins.
    ip: usize,
    cut: Option<Cut>,
    count: usize,
}

fn word(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]))
}

fn put(bytes: &mut [u8], at: usize, value: usize) {
    bytes[at..at + 2].copy_from_slice(&(value as u16).to_be_bytes());
}

/// Whether an IP header of version 6 begins at `ip`.
pub(super) fn is_ipv6(packet: &[u8], ip: usize) -> bool {
    packet[ip] >> 4 == 6
}

/// The sum of the pseudo-header of `protocol`, with `length` bytes from its header on (RFC 9293 section 3.1, RFC 8200
/// section 8.1).
pub(super) fn pseudo_header(packet: &[u8], ip: usize, protocol: u8, length: usize) -> Sum {
    let addresses = if is_ipv6(packet, ip) { ip + 8..ip + IPV6_HEADER } else { ip + 12..ip + IPV4_HEADER };
    Sum::default().bytes(&packet[addresses]).number(u32::from(protocol)).number(length as u32)
}

/// Writes the length of the IP packet from `ip` to the end of `packet`, and the checksum of its header.
pub(super) fn write_length(packet: &mut [u8], ip: usize) {
    let length = packet.len() - ip;
    if is_ipv6(packet, ip) {
        put(packet, ip + 4, length - IPV6_HEADER);
        return;
    }
    put(packet, ip + 2, length);
    put(packet, ip + 10, 0);
    let header = ip..ip + 4 * usize::from(packet[ip] & 0x0f);
    let checksum = Sum::default().bytes(&packet[header]).checksum();
    put(packet, ip + 10, usize::from(checksum));
}

impl Packets {
    /// Those of `packet`, whose IP header begins at `ip`; none where the two contradict each other.
    pub(super) fn of(offload: Offload, packet: &[u8], ip: usize) -> Option<Packets> {
        let (begins, field) = (usize::from(offload.checksum.0), usize::from(offload.checksum.1));
        let whole = Packets { offload, ip, cut: None, count: 1 };
        if offload.flags & NEEDS_CHECKSUM == 0 {
            return (offload.kind == 0).then_some(whole);
        }
        if begins + field + 2 > packet.len() {
            return None;
        }
        if offload.kind == 0 {
            return Some(whole);
        }
        let least = if packet.get(ip)? >> 4 == 6 { IPV6_HEADER } else { IPV4_HEADER };
        let (protocol, headers) = match offload.kind & !WITH_ECN {
            TCP_IPV4 | TCP_IPV6 => {
                let words = usize::from(packet.get(begins + 12)? >> 4);
                (6, begins + (4 * words).max(TCP_HEADER))
            }
            UDP => (17, begins + UDP_HEADER),
            _ => return None,
        };
        let size = usize::from(offload.size);
        let ihl = if least == IPV4_HEADER { 4 * usize::from(packet[ip] & 0x0f) } else { IPV6_HEADER };
        if ihl < least || begins < ip + ihl || headers >= packet.len() || size == 0 {
            return None;
        }
        let cut = Cut { transport: begins, headers, size, protocol };
        Some(Packets { cut: Some(cut), count: (packet.len() - headers).div_ceil(size), ..whole })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Whether the kernel that sent them vouches for their checksums.
    pub(super) fn is_trusted(&self) -> bool {
        self.offload.is_trusted()
    }

    /// Writes that of the number `number`, with its checksums, in place of what is in `into`.
    pub(super) fn write(&self, packet: &[u8], number: usize, into: &mut Vec<u8>) {
        into.clear();
        let Some(cut) = self.cut else {
            into.extend_from_slice(packet);
            if self.offload.flags & NEEDS_CHECKSUM != 0 {
                // The field has the sum of the pseudo-header.
                let begins = usize::from(self.offload.checksum.0);
                let checksum = Sum::default().bytes(&into[begins..]).checksum();
                put(into, begins + usize::from(self.offload.checksum.1), usize::from(checksum));
            }
            return;
        };
        let from = cut.headers + number * cut.size;
        let to = packet.len().min(from + cut.size);
        into.extend_from_slice(&packet[..cut.headers]);
        into.extend_from_slice(&packet[from..to]);
        if !is_ipv6(into, self.ip) {
            let identification = word(into, self.ip + 4) + number;
            put(into, self.ip + 4, identification);
        }
        write_length(into, self.ip);
        let transport = cut.transport;
        let length = into.len() - transport;
        let field = if cut.protocol == 6 {
            let at = transport + SEQUENCE;
            let sequence = u32::from_be_bytes([into[at], into[at + 1], into[at + 2], into[at + 3]]);
            let sequence = sequence.wrapping_add((number * cut.size) as u32);
            into[at..at + 4].copy_from_slice(&sequence.to_be_bytes());
            if to < packet.len() {
                into[transport + FLAGS] &= !FIN_AND_PUSH;
            }
            if number > 0 {
                into[transport + FLAGS] &= !REDUCED;
            }
            transport + 16
        } else {
            put(into, transport + 4, length);
            transport + 6
        };
        put(into, field, 0);
        let sum = pseudo_header(into, self.ip, cut.protocol, length).bytes(&into[transport..]);
        let checksum = match sum.checksum() {
            // Of UDP, 0 says that there is none (RFC 768).
            0 if cut.protocol == 17 => 0xffff,
            checksum => checksum,
        };
        put(into, field, usize::from(checksum));
    }
}

#[cfg(test)]
#[path = "offload_tests.rs"]
pub(super) mod tests;
