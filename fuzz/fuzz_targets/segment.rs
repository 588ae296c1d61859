//! Any bytes as a packet, as they come and again with both checksums made to hold: decoding never panics,
//! and what it reads is read again from what encoding makes of it.
#![no_main]

use bentpipe_tcp::wire::{EncodeError, OPTION_ROOM, Payload, decode, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    let mut packet = bytes.to_vec();
    if repair(&mut packet).is_some() {
        check(&packet);
    }
});

fn check(bytes: &[u8]) {
    let Ok(read) = decode(bytes) else { return };
    let payload = &bytes[read.payload.clone()];
    assert_eq!(payload.len(), read.segment.len as usize);

    let mut again = Vec::new();
    match encode(&read.segment, &read.addresses, Payload::Bytes(payload), &mut again) {
        // Options that came without fillers take more room in our layout, which has them.
        Err(EncodeError::Options(room)) => assert!(room > OPTION_ROOM),
        Err(EncodeError::TooLong) => assert!(bytes.len() > 65_000),
        Err(error) => panic!("{error}"),
        Ok(()) => {
            assert_eq!(again.len(), read.segment.packet_len() as usize);
            let twice = decode(&again).expect("what was encoded is a packet");
            assert_eq!((twice.addresses, twice.segment), (read.addresses, read.segment));
            assert_eq!(&again[twice.payload], payload);
        }
    }
}

/// Sets version, total length and both checksums; `None` when the headers are not there.
fn repair(packet: &mut [u8]) -> Option<()> {
    let total = u16::try_from(packet.len()).ok()?;
    packet.get_mut(2..4)?.copy_from_slice(&total.to_be_bytes());
    packet[0] = 0x40 | packet[0] & 0x0f;
    let ip_len = usize::from(packet[0] & 0x0f) * 4;
    if ip_len < 20 || packet.len() < ip_len + 20 {
        return None;
    }
    packet[10..12].fill(0);
    let ip = checksum(0, &packet[..ip_len]);
    packet[10..12].copy_from_slice(&ip.to_be_bytes());

    let at = ip_len + 16;
    packet[at..at + 2].fill(0);
    let pseudo = checksum(6 + u32::from(total) - ip_len as u32, &packet[12..20]);
    let tcp = checksum(u32::from(!pseudo), &packet[ip_len..]);
    packet[at..at + 2].copy_from_slice(&tcp.to_be_bytes());
    Some(())
}

/// The Internet checksum (RFC 1071) of at most 64 KiB behind what was summed `before`.
fn checksum(before: u32, bytes: &[u8]) -> u16 {
    let sum = bytes.chunks(2).fold(before, |sum, word| {
        sum + (u32::from(word[0]) << 8) + u32::from(word.get(1).copied().unwrap_or(0))
    });
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}
