//! The Internet checksum (RFC 1071).

use std::net::Ipv4Addr;

/// A one's complement sum of 16-bit words, not folded yet. 64 bits never overflow on a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// Adds `bytes`; an odd last byte counts as the high half of a word, so only the last call may have one.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Sum {
        // Two words at a time are folded into one in the end, as carries are.
        let mut pairs = bytes.chunks_exact(4);
        let mut sum = self.0;
        for pair in &mut pairs {
            sum += u64::from(u32::from_be_bytes([pair[0], pair[1], pair[2], pair[3]]));
        }
        let mut rest = [0; 4];
        rest[..pairs.remainder().len()].copy_from_slice(pairs.remainder());
        Sum(sum + u64::from(u32::from_be_bytes(rest)))
    }

    /// Adds a number of up to 16 bits, or one of 32 bits as two words.
    #[must_use]
    pub fn number(self, number: u32) -> Sum {
        Sum(self.0 + u64::from(number))
    }

    /// The pseudo-header of a TCP segment or UDP datagram of `len` bytes, header included (RFC 9293 section 3.1, RFC 768).
    pub(super) fn pseudo_header(source: Ipv4Addr, destination: Ipv4Addr, protocol: u8, len: u16) -> Sum {
        let sum = Sum::default().bytes(&source.octets()).bytes(&destination.octets());
        sum.number(u32::from(protocol)).number(u32::from(len))
    }

    /// The sum in 16 bits.
    #[must_use]
    pub fn folded(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    /// The checksum to write, when its own field was summed as zero.
    #[must_use]
    pub fn checksum(self) -> u16 {
        !self.folded()
    }

    /// Whether a sum that includes the checksum holds.
    pub(super) fn holds(self) -> bool {
        self.folded() == 0xffff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071_section_3() {
        let sum = Sum::default().bytes(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.folded(), 0xddf2);
        assert_eq!(sum.checksum(), 0x220d);
    }

    #[test]
    fn an_odd_last_byte_is_padded_with_zero() {
        assert_eq!(Sum::default().bytes(&[0x12, 0x34, 0x56]).checksum(), !(0x1234 + 0x5600));
    }
}
