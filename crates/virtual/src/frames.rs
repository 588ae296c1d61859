//! From packets of the simulator to the kernel's frames, and back.

use std::net::Ipv4Addr;

use bentpipe_sim::kernel::Place;
use bentpipe_tcp::Segment;
use bentpipe_tcp::wire::{self, Addresses, Payload};

use crate::device::NET_HEADER;

/// Bytes before what a frame of Ethernet carries.
pub(crate) const ETHERNET: usize = 14;
const IPV4: [u8; 2] = [8, 0];
/// The port of both ends of connection 0.
const FIRST_PORT: u16 = 1024;

/// How many connections the ports of two hosts tell apart.
pub(crate) const MOST_CONNECTIONS: u32 = (u16::MAX - FIRST_PORT) as u32 + 1;

/// The header of a frame to the device with this number, with room for the device's own before it.
pub(crate) fn begin(frame: &mut Vec<u8>, device: u8, carries: [u8; 2]) {
    frame.clear();
    frame.extend([0; NET_HEADER]);
    // One buffer.
    frame[10] = 1;
    frame.extend([2, 0, 0, 0, 0, device + 1, 2, 0, 0, 0, 0, 0xff]);
    frame.extend(carries);
}

/// Writes the frame that brings a segment to a host.
pub(crate) fn write(frame: &mut Vec<u8>, to: Place, segment: &Segment) -> Result<(), wire::EncodeError> {
    begin(frame, to.host, IPV4);
    let port = FIRST_PORT + to.connection as u16;
    let address = |host: u8| Ipv4Addr::new(10, 0, 0, 1 + host);
    let addresses = Addresses {
        source: address(1 - to.host),
        destination: address(to.host),
        source_port: port,
        destination_port: port,
        ttl: 64,
        ident: 0,
    };
    wire::encode(segment, &addresses, Payload::Zeros, frame)
}

/// The segment in a frame that a host has sent, with its connection; none in one of another protocol.
pub(crate) fn read(frame: &[u8]) -> Option<(u32, Segment)> {
    let packet = frame.get(ETHERNET..).filter(|_| frame[12..14] == IPV4)?;
    let decoded = wire::decode(packet).ok()?;
    let connection = decoded.addresses.source_port.checked_sub(FIRST_PORT)?;
    Some((connection.into(), decoded.segment))
}
