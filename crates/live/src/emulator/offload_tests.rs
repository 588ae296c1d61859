use bentpipe_tcp::wire::Sum;

use super::*;

/// A TCP segment of `payload` bytes over IPv4 or IPv6, as a kernel gives it that leaves checksum and cutting to us.
pub(in crate::emulator) fn long_segment(
    ipv6: bool,
    before: usize,
    payload: usize,
    size: usize,
) -> (Offload, Vec<u8>) {
    let mut packet = vec![0xee; before];
    let transport = if ipv6 {
        packet.extend([0x60, 0, 0, 0, 0, 0, 6, 64]);
        packet.extend(0..32);
        before + 40
    } else {
        packet.extend([0x45, 0, 0, 0, 0xff, 0xfe, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        before + 20
    };
    // Ports, sequence number just before it wraps, acknowledgement, 32 bytes of header, FIN PSH ACK CWR, window.
    packet.extend([0x13, 0x89, 0, 80, 0xff, 0xff, 0xff, 0, 0, 0, 0, 7, 0x80, 0x99, 1, 0, 0, 0, 0, 0]);
    packet.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
    packet.extend((0..payload).map(|at| (at % 251) as u8));
    write_length(&mut packet, before);
    let offload = Offload::of_segment(ipv6, transport + 32, transport, size);
    let sum = pseudo_header(&packet, before, 6, packet.len() - transport).folded();
    put(&mut packet, transport + 16, usize::from(sum));
    (offload, packet)
}

fn sequence(packet: &[u8], transport: usize) -> u32 {
    u32::from_be_bytes(packet[transport + 4..transport + 8].try_into().unwrap())
}

#[test]
fn a_long_segment_is_cut_into_packets_that_a_wire_would_see() {
    for (ipv6, before) in [(false, 0), (true, 0), (false, 14), (true, 18)] {
        let (offload, long) = long_segment(ipv6, before, 3500, 1448);
        let packets = Packets::of(offload, &long, before).unwrap();
        assert_eq!((packets.count(), packets.is_trusted()), (3, true));
        let transport = before + if ipv6 { 40 } else { 20 };
        let (mut packet, mut payload, mut flags) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..3 {
            packets.write(&long, number, &mut packet);
            assert_eq!(sequence(&packet, transport), 0xffff_ff00_u32.wrapping_add(payload.len() as u32));
            let length = packet.len() - transport;
            let sum = pseudo_header(&packet, before, 6, length).bytes(&packet[transport..]);
            assert_eq!(sum.folded(), 0xffff, "the checksum of TCP");
            if ipv6 {
                assert_eq!(word(&packet, before + 4), length);
            } else {
                assert_eq!(word(&packet, before + 2), packet.len() - before);
                assert_eq!(word(&packet, before + 4), (0xfffe + number) & 0xffff);
                assert_eq!(Sum::default().bytes(&packet[before..transport]).folded(), 0xffff);
            }
            flags.push(packet[transport + 13]);
            payload.extend_from_slice(&packet[transport + 32..]);
        }
        assert_eq!(payload, long[transport + 32..]);
        // Of FIN, PSH and CWR, the last segment has the first two, and the first the last.
        assert_eq!(flags, [0x90, 0x10, 0x19]);
    }
}

#[test]
fn datagrams_are_cut_with_their_own_lengths() {
    let mut long = vec![0x45, 0, 0, 0, 0, 9, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    long.extend([0, 7, 0, 9, 0, 0, 0, 0]);
    long.extend([5; 250]);
    write_length(&mut long, 0);
    let offload = Offload { flags: NEEDS_CHECKSUM, kind: UDP, headers: 28, size: 100, checksum: (20, 6) };
    let packets = Packets::of(offload, &long, 0).unwrap();
    let mut lengths = Vec::new();
    let mut packet = Vec::new();
    for number in 0..packets.count() {
        packets.write(&long, number, &mut packet);
        assert_eq!(word(&packet, 24), packet.len() - 20);
        let sum = pseudo_header(&packet, 0, 17, packet.len() - 20).bytes(&packet[20..]);
        assert_eq!(sum.folded(), 0xffff);
        lengths.push(packet.len());
    }
    assert_eq!(lengths, [128, 128, 78]);
}

#[test]
fn a_packet_with_half_a_checksum_is_given_the_whole() {
    let (_, mut packet) = long_segment(false, 0, 77, 1000);
    let offload = Offload { flags: NEEDS_CHECKSUM, checksum: (20, 16), ..Offload::default() };
    let packets = Packets::of(offload, &packet, 0).unwrap();
    let mut written = Vec::new();
    packets.write(&packet, 0, &mut written);
    let sum = pseudo_header(&written, 0, 6, written.len() - 20).bytes(&written[20..]);
    assert_eq!((packets.count(), sum.folded()), (1, 0xffff));
    // Without the flag nothing is touched, and nobody vouches for it.
    packet[36] ^= 1;
    let untouched = Packets::of(Offload::default(), &packet, 0).unwrap();
    untouched.write(&packet, 0, &mut written);
    assert_eq!((written, untouched.is_trusted()), (packet, false));
}

#[test]
fn a_header_goes_in_and_out_unchanged() {
    let (offload, _) = long_segment(true, 14, 10, 4);
    assert_eq!(Offload::read(&offload.write()), offload);
}

proptest::proptest! {
    #[test]
    fn headers_and_packets_that_contradict_each_other_are_refused(
        header: [u8; HEADER],
        packet in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
        ip in 0_usize..30,
    ) {
        let offload = Offload::read(&header);
        if let Some(packets) = Packets::of(offload, &packet, ip) {
            let mut written = Vec::new();
            for number in 0..packets.count() {
                packets.write(&packet, number, &mut written);
                proptest::prop_assert!(written.len() <= packet.len());
            }
        }
    }
}
