use super::super::offload::Packets;
use super::super::offload::tests::long_segment;
use super::*;

/// The packets of a long segment with the flags of TCP that are given; those of the fixture are FIN PSH ACK CWR.
fn packets(ipv6: bool, before: usize, payload: usize, flags: u8) -> Vec<Vec<u8>> {
    let (offload, mut long) = long_segment(ipv6, before, payload, 1000);
    long[before + if ipv6 { 40 } else { 20 } + 13] = flags;
    let packets = Packets::of(offload, &long, before).unwrap();
    let write = |number| {
        let mut packet = Vec::new();
        packets.write(&long, number, &mut packet);
        packet
    };
    (0..packets.count()).map(write).collect()
}

/// What a kernel makes of what a bundle gives.
fn read(bytes: &[u8], ip: usize) -> Vec<Vec<u8>> {
    let (header, packet) = bytes.split_first_chunk().unwrap();
    let packets = Packets::of(Offload::read(header), packet, ip).unwrap();
    let write = |number| {
        let mut written = Vec::new();
        packets.write(packet, number, &mut written);
        written
    };
    (0..packets.count()).map(write).collect()
}

#[test]
fn what_goes_in_comes_out() {
    for (ipv6, before) in [(false, 0), (true, 0), (false, 14), (true, 18)] {
        let sent = packets(ipv6, before, 4700, ACK | PUSH);
        let mut bundle = Bundle::default();
        bundle.begin(&sent[0], Some(before));
        for packet in &sent[1..] {
            assert!(bundle.add(packet, before));
        }
        assert_eq!(bundle.count(), 5);
        // The last one was short and pushed: nothing follows it.
        assert!(!bundle.add(&sent[1], before));
        assert_eq!(read(bundle.take(), before), sent);
        assert_eq!(bundle.count(), 0);
    }
}

#[test]
fn what_does_not_follow_is_not_added() {
    let sent = packets(false, 0, 3000, ACK);
    let changed = |at: usize, value: u8| {
        let mut packet = sent[1].clone();
        packet[at] = value;
        packet
    };
    let others = [
        ("a hole", sent[2].clone()),
        ("the same again", sent[0].clone()),
        ("a mark of congestion", changed(1, 3)),
        ("another source", changed(15, 9)),
        ("a fragment", changed(6, 0x20)),
        ("another time to live", changed(8, 63)),
        ("another port", changed(21, 0x77)),
        ("another acknowledgement", changed(31, 8)),
        ("FIN", changed(33, ACK | 1)),
        ("SYN", changed(33, ACK | 2)),
        ("RST", changed(33, ACK | 4)),
        ("ECE", changed(33, ACK | 0x40)),
        ("another window", changed(35, 1)),
        ("other options", changed(51, 3)),
        ("a length that is not its own", changed(3, 7)),
        ("no payload", sent[1][..52].to_vec()),
        ("nothing", Vec::new()),
    ];
    for (what, packet) in others {
        let mut bundle = Bundle::default();
        bundle.begin(&sent[0], Some(0));
        assert!(!bundle.add(&packet, 0), "{what}");
        assert_eq!(read(bundle.take(), 0), [sent[0].clone()], "{what}");
    }
    let mut bundle = Bundle::default();
    bundle.begin(&sent[0], Some(0));
    assert!(bundle.add(&sent[1], 0));
}

#[test]
fn a_longer_packet_does_not_follow_a_shorter_one_and_a_long_segment_has_its_bound() {
    let sent = packets(false, 0, 80_000, ACK);
    let mut bundle = Bundle::default();
    let mut count = 0;
    bundle.begin(&sent[0], Some(0));
    while bundle.add(&sent[bundle.count()], 0) {
        count = bundle.count();
    }
    assert_eq!(count, (MOST - 52) / 1000);
    assert_eq!(read(bundle.take(), 0), sent[..count]);

    let (short, next) = (packets(false, 0, 500, ACK).remove(0), packets(false, 0, 1500, ACK));
    bundle.begin(&short, Some(0));
    let mut longer = next[0].clone();
    longer[24..28].copy_from_slice(&0xffff_ff00_u32.wrapping_add(500).to_be_bytes());
    assert!(!bundle.add(&longer, 0));
}

#[test]
fn what_is_no_segment_goes_alone() {
    let mut bundle = Bundle::default();
    bundle.begin(&[1, 2, 3], None);
    assert!(!bundle.add(&packets(false, 0, 10, ACK)[0], 0));
    assert_eq!(bundle.take(), [&[0; HEADER][..], &[1, 2, 3]].concat());
}
