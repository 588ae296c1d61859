//! Captures of a simulation as pcapng files (draft-ietf-opsawg-pcapng), for Wireshark and its kin.
//!
//! One interface for each host that sends data, as if tcpdump ran there: a run records on it what the host sends, when it
//! is sent, and what reaches it, when it arrives.
//!
//! Only headers are captured; the original length of a packet counts its payload too. The simulator moves
//! lengths and no bytes, so a checksum of TCP or UDP is that of a payload of zeros, which a reader cannot verify from
//! the headers alone. Times are nanoseconds since the start of the simulation, shown as since 1970 where a
//! reader wants a date.

use std::fmt;
use std::io;

use bentpipe_tcp::Segment;
use bentpipe_tcp::wire::{self, Addresses, MAX_HEADERS, Payload};

use crate::rows::Ended;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// The length of a section that is not stated.
const UNKNOWN_LENGTH: u64 = u64::MAX;
/// LINKTYPE_RAW: a packet starts with its IP header.
const LINK_TYPE_RAW: u16 = 101;
/// LINKTYPE_ETHERNET: a packet starts with an Ethernet header.
const LINK_TYPE_ETHERNET: u16 = 1;

const OPTION_END: u16 = 0;
const OPTION_COMMENT: u16 = 1;
const OPTION_APPLICATION: u16 = 4;
const OPTION_INTERFACE_NAME: u16 = 2;
const OPTION_TIME_RESOLUTION: u16 = 9;
/// Bytes written between two questions for room.
const BETWEEN_LOOKS: u64 = 64 << 10;
/// Timestamps count 10^-9 s.
const NANOSECONDS: u8 = 9;

/// What takes the bytes of a capture. A driver gives it: a file, or memory where there are no files.
pub trait Output: io::Write + fmt::Debug {
    /// Whether more may be written; asked every 64 KiB.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn has_room(&mut self) -> io::Result<bool>;

    /// All is written. Dropped without this call, what was written is of no use.
    ///
    /// # Errors
    /// When what was written cannot be kept.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// A capture being written.
#[derive(Debug)]
pub struct Capture {
    output: Box<dyn Output>,
    interfaces: u32,
    link_type: u16,
    block: Block,
    headers: Vec<u8>,
    /// Bytes kept of each packet.
    snap: u32,
    limit: u64,
    bytes: u64,
    packets: u64,
    /// Bytes written at which the output is asked for room.
    next_check: u64,
    ended: Option<Ended>,
}

impl Capture {
    /// Starts a capture that goes to `output`.
    ///
    /// # Errors
    /// When `output` takes nothing.
    pub fn start(output: Box<dyn Output>) -> io::Result<Capture> {
        let mut capture = Capture {
            output,
            interfaces: 0,
            link_type: LINK_TYPE_RAW,
            block: Block::default(),
            headers: Vec::with_capacity(MAX_HEADERS as usize),
            snap: MAX_HEADERS,
            limit: u64::MAX,
            bytes: 0,
            packets: 0,
            next_check: BETWEEN_LOOKS,
            ended: None,
        };
        capture.block.start(SECTION_HEADER);
        capture.block.u32(BYTE_ORDER_MAGIC);
        capture.block.u16(1);
        capture.block.u16(0);
        capture.block.u64(UNKNOWN_LENGTH);
        let application = concat!("bentpipe ", env!("CARGO_PKG_VERSION"));
        capture.block.option(OPTION_APPLICATION, application.as_bytes())?;
        capture.block.option(OPTION_END, &[])?;
        capture.write_block()?;
        Ok(capture)
    }

    /// Makes the recording end before the file has more than `limit` bytes, and keeps `snap` bytes of each packet; said
    /// before the first interface is added.
    #[must_use]
    pub fn bounded(mut self, limit: Option<u64>, snap: Option<u32>) -> Capture {
        self.limit = limit.unwrap_or(self.limit);
        self.snap = snap.unwrap_or(self.snap).min(self.snap);
        self
    }

    /// Says that what is recorded are frames of Ethernet; said before the first interface is added.
    #[must_use]
    pub fn of_ethernet(mut self) -> Capture {
        self.link_type = LINK_TYPE_ETHERNET;
        self
    }

    /// Packets recorded.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Size of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Why no more packets are recorded: the file would be larger than was asked for, or the disk is nearly full.
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// Adds a capture point, such as a host, and returns its number: 0 for the first.
    ///
    /// # Errors
    /// When `name` has more than 65535 bytes, or the file cannot be written.
    pub fn add_interface(&mut self, name: &str) -> io::Result<u32> {
        self.block.start(INTERFACE_DESCRIPTION);
        self.block.u16(self.link_type);
        self.block.u16(0);
        self.block.u32(self.snap);
        self.block.option(OPTION_INTERFACE_NAME, name.as_bytes())?;
        self.block.option(OPTION_TIME_RESOLUTION, &[NANOSECONDS])?;
        self.block.option(OPTION_END, &[])?;
        self.write_block()?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Records a packet, unless the recording has ended, on `interface` at `time_ns`, in nanoseconds since the start. `comment` is shown with
    /// the packet; it tells, for one, that the packet was dropped and where.
    ///
    /// # Errors
    /// When `interface` was not added, the segment does not fit in an IPv4 packet, `comment` has more than
    /// 65535 bytes, or the file cannot be written.
    pub fn record(
        &mut self,
        interface: u32,
        time_ns: u64,
        addresses: &Addresses,
        segment: &Segment,
        comment: Option<&str>,
    ) -> io::Result<()> {
        self.headers.clear();
        wire::encode(segment, addresses, Payload::Omitted, &mut self.headers)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        self.record_headers(interface, time_ns, segment.packet_len(), comment)
    }

    /// Records a UDP datagram of `len` payload bytes on `interface` at `time_ns`, in nanoseconds since the start.
    ///
    /// # Errors
    /// When `interface` was not added, the datagram does not fit in an IPv4 packet, or the file cannot be written.
    pub fn record_datagram(
        &mut self,
        interface: u32,
        time_ns: u64,
        addresses: &Addresses,
        len: u32,
    ) -> io::Result<()> {
        self.headers.clear();
        wire::encode_datagram(len, addresses, &mut self.headers)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let packet_len = self.headers.len() as u32 + len;
        self.record_headers(interface, time_ns, packet_len, None)
    }

    /// Records the headers of `packet`, an IPv4 packet with a TCP segment as it goes over a real wire.
    ///
    /// # Errors
    /// When `interface` was not added, `packet` is no such packet, or the file cannot be written.
    pub fn record_packet(&mut self, interface: u32, time_ns: u64, packet: &[u8]) -> io::Result<()> {
        let decoded =
            wire::decode(packet).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        self.headers.clear();
        self.headers.extend_from_slice(&packet[..decoded.payload.start]);
        self.record_headers(interface, time_ns, packet.len() as u32, None)
    }

    /// Keeps packets whole, for [`Capture::record_whole`]; said before the first interface is added.
    pub fn whole(mut self) -> Capture {
        self.snap = u32::from(u16::MAX);
        self
    }

    /// Records the whole of `packet`, an IPv4 packet of any protocol.
    ///
    /// # Errors
    /// When `interface` was not added, or the file cannot be written.
    pub fn record_whole(&mut self, interface: u32, time_ns: u64, packet: &[u8]) -> io::Result<()> {
        self.headers.clear();
        self.headers.extend_from_slice(packet);
        self.record_headers(interface, time_ns, packet.len() as u32, None)
    }

    /// Writes the headers of a packet of `packet_len` bytes.
    fn record_headers(
        &mut self,
        interface: u32,
        time_ns: u64,
        packet_len: u32,
        comment: Option<&str>,
    ) -> io::Result<()> {
        if interface >= self.interfaces {
            let found = format!("no interface {interface} in a capture of {}", self.interfaces);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, found));
        }
        self.block.start(ENHANCED_PACKET);
        self.block.u32(interface);
        self.block.u32((time_ns >> 32) as u32);
        self.block.u32(time_ns as u32);
        self.headers.truncate(self.snap as usize);
        self.block.u32(self.headers.len() as u32);
        self.block.u32(packet_len);
        self.block.padded(&self.headers);
        if let Some(comment) = comment {
            self.block.option(OPTION_COMMENT, comment.as_bytes())?;
            self.block.option(OPTION_END, &[])?;
        }
        // With the length at its end.
        if self.bytes + self.block.bytes.len() as u64 + 4 > self.limit {
            self.ended = Some(Ended::Limit);
        }
        if self.ended.is_some() {
            return Ok(());
        }
        self.write_block()?;
        self.packets += 1;
        if self.bytes >= self.next_check {
            self.next_check = self.bytes + BETWEEN_LOOKS;
            if !self.output.has_room()? {
                self.ended = Some(Ended::Disk);
            }
        }
        Ok(())
    }

    /// Completes the capture.
    ///
    /// # Errors
    /// When its output cannot keep it.
    pub fn finish(self) -> io::Result<()> {
        self.output.finish()
    }

    fn write_block(&mut self) -> io::Result<()> {
        self.block.end();
        self.bytes += self.block.bytes.len() as u64;
        self.output.write_all(&self.block.bytes)
    }
}

/// A block of the file as it grows. Little-endian on every machine, so that equal runs give equal files.
#[derive(Debug, Default)]
struct Block {
    bytes: Vec<u8>,
}

impl Block {
    fn start(&mut self, kind: u32) {
        self.bytes.clear();
        self.u32(kind);
        self.u32(0);
    }

    /// Writes the length of the block, at both its ends.
    fn end(&mut self) {
        let length = self.bytes.len() as u32 + 4;
        self.u32(length);
        self.bytes[4..8].copy_from_slice(&length.to_le_bytes());
    }

    fn u16(&mut self, value: u16) {
        self.bytes.extend(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    /// Appends `bytes` and what fills the last word.
    fn padded(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) -> io::Result<()> {
        let length = u16::try_from(value.len()).map_err(|_| {
            let found = format!("a text of {} bytes, but a capture takes 65535 bytes", value.len());
            io::Error::new(io::ErrorKind::InvalidInput, found)
        })?;
        self.u16(code);
        self.u16(length);
        self.padded(value);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
