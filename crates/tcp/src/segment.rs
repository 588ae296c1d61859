//! A segment without its payload bytes: header fields, options, and how many bytes it carries.

use std::ops::{BitOr, BitOrAssign};

use crate::Seq;

/// The control bits of a header (RFC 9293 section 3.1, RFC 3168), as they stand in its 14th byte, and one that tells of a header
/// before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgment field counts.
    pub const ACK: Flags = Flags(0x10);
    /// The urgent pointer counts.
    pub const URG: Flags = Flags(0x20);
    /// ECN echo.
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced.
    pub const CWR: Flags = Flags(0x80);
    /// A congestion header stands between the IP header and this one; no bit of the wire's.
    pub const CONGESTION: Flags = Flags(0x100);

    /// Whether any bit of `other` is set.
    #[inline]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Flags;
    #[inline]
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    #[inline]
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}

/// The second byte of an IPv4 header as far as it is used: its ECN field (RFC 3168 section 5), or a low priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct = 0,
    /// ECN-capable, ECT(1).
    Ect1 = 1,
    /// ECN-capable, ECT(0).
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
    /// Not ECN-capable, and the first to go: a dummy segment or its ACK (TCP-Peach). The DSCP is one for local use (RFC 2474 section 6,
    /// pool 2).
    Low = 0x0c,
}

impl Ecn {
    /// Whether a queue may set [`Ecn::Ce`] instead of dropping the packet.
    #[inline]
    pub fn capable(self) -> bool {
        self as u8 & 0x03 != 0
    }
}

/// RFC 7323 timestamps: the sender's clock and the echo of the peer's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval.
    pub value: u32,
    /// TSecr.
    pub echo: u32,
}

/// A run of bytes held beyond the cumulative ACK: `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First byte held.
    pub start: Seq,
    /// The byte after the last one held.
    pub end: Seq,
}

/// Up to four SACK blocks, in the order of the option.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct SackBlocks {
    count: u8,
    blocks: [SackBlock; SackBlocks::MOST],
}

impl SackBlocks {
    /// What 40 bytes of options have room for.
    pub const MOST: usize = 4;

    /// No block.
    pub const NONE: SackBlocks =
        SackBlocks { count: 0, blocks: [SackBlock { start: Seq(0), end: Seq(0) }; SackBlocks::MOST] };

    /// Appends `block`; false when there is no room.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let Some(slot) = self.blocks.get_mut(self.count as usize) else { return false };
        *slot = block;
        self.count += 1;
        true
    }

    /// The blocks, first to last.
    #[inline]
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..self.count as usize]
    }

    /// Takes all blocks out.
    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Whether there is no block.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl PartialEq for SackBlocks {
    fn eq(&self, other: &SackBlocks) -> bool {
        self.as_slice() == other.as_slice()
    }
}

/// The options of a header.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Options {
    /// Maximum segment size (RFC 9293 section 3.7.1); only on a SYN.
    pub mss: Option<u16>,
    /// Window scale shift (RFC 7323 section 2); only on a SYN.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018 section 2); only on a SYN.
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323 section 3).
    pub timestamps: Option<Timestamps>,
    /// Selective acknowledgments (RFC 2018 section 3).
    pub sack: SackBlocks,
}

impl Options {
    /// Bytes of the header that the options take, padded to a multiple of four.
    #[inline]
    pub fn wire_len(&self) -> u32 {
        let mut bytes = 0;
        if self.mss.is_some() {
            bytes += 4;
        }
        if self.window_scale.is_some() {
            bytes += 4;
        }
        if self.sack_permitted {
            bytes += if self.timestamps.is_some() { 0 } else { 4 };
        }
        if self.timestamps.is_some() {
            bytes += 12;
        }
        if !self.sack.is_empty() {
            bytes += 4 + 8 * self.sack.as_slice().len() as u32;
        }
        bytes
    }
}

/// The congestion header of XCP (draft-falk-xcp-spec-03 section 3.2), between the IP and the TCP header.
///
/// The draft has its numbers in fixed point with as many bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CongestionHeader {
    /// Round-trip time as the sender takes it, in s; 0 where it is not known or no data is controlled, and routers ask for nothing.
    pub rtt: f32,
    /// Time between two packets of the sender, in s: X.
    pub interval: f32,
    /// Change of throughput that is asked for or allotted with this packet, in bytes a second: `Delta_Throughput`.
    pub delta: f32,
    /// The changes that were allotted to the peer and arrived here, in bytes a second: `Reverse_Feedback`.
    pub reverse: f32,
    /// Routers of XCP that the packet has passed.
    pub routers: u8,
    /// Those that the peer's last packet with data had passed.
    pub reverse_routers: u8,
    /// Bytes that it takes on the wire.
    pub bytes: u8,
}

/// A TCP segment without its payload bytes. Its fields are in this order in memory, those that few segments have last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Segment {
    /// Sequence number of the first payload byte, or of SYN.
    pub seq: Seq,
    /// Next byte expected from the peer, when ACK is set.
    pub ack: Seq,
    /// Payload bytes.
    pub len: u32,
    /// The window field, unscaled as on the wire.
    pub window: u16,
    /// Control bits.
    pub flags: Flags,
    /// The ECN field of the packet that carries the segment, or its low priority.
    pub ecn: Ecn,
    /// Options.
    pub options: Options,
    /// The congestion header, which counts where [`Flags::CONGESTION`] is set.
    pub congestion: CongestionHeader,
}

/// Bytes of an IPv4 header without options.
pub const IP_HEADER: u32 = 20;
/// Bytes of a TCP header without options.
pub const TCP_HEADER: u32 = 20;

impl Segment {
    /// Makes this a pure ACK without options. The room of the SACK blocks and of the congestion header is left as it is: most
    /// segments have none.
    #[inline]
    pub(crate) fn set_ack(&mut self, ack: Seq, window: u16) {
        self.ack = ack;
        self.len = 0;
        self.window = window;
        self.flags = Flags::ACK;
        self.ecn = Ecn::NotEct;
        self.options.mss = None;
        self.options.window_scale = None;
        self.options.sack_permitted = false;
        self.options.timestamps = None;
        self.options.sack.clear();
    }

    /// Sequence space that the segment takes: payload, SYN and FIN.
    #[inline]
    pub fn sequence_len(&self) -> u32 {
        self.len + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }

    /// The sequence number after the last one that the segment takes.
    #[inline]
    pub fn end(&self) -> Seq {
        self.seq + self.sequence_len()
    }

    /// Bytes of the IPv4 packet that carries the segment.
    #[inline]
    pub fn packet_len(&self) -> u32 {
        self.bare_len() + self.congestion().map_or(0, |header| u32::from(header.bytes))
    }

    /// [`Segment::packet_len`] without a congestion header.
    #[inline]
    pub(crate) fn bare_len(&self) -> u32 {
        IP_HEADER + TCP_HEADER + self.options.wire_len() + self.len
    }

    /// The congestion header, if there is one.
    #[inline]
    pub fn congestion(&self) -> Option<&CongestionHeader> {
        self.flags.has(Flags::CONGESTION).then_some(&self.congestion)
    }
}
