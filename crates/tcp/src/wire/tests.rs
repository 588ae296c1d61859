//! The whole of [`encode`] and [`decode`]: golden packets, and properties over arbitrary ones.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use proptest::sample::Index;

use super::checksum::Sum;
use super::*;
use crate::{Ecn, Flags, IP_HEADER, Options, SackBlock, SackBlocks, Segment, Seq, TCP_HEADER, Timestamps};

const IP: usize = IP_HEADER as usize;
const TCP: usize = TCP_HEADER as usize;

fn encoded(segment: &Segment, addresses: &Addresses, payload: Payload<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode(segment, addresses, payload, &mut out).expect("a valid segment");
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sack(blocks: &[(u32, u32)]) -> SackBlocks {
    let mut sack = SackBlocks::NONE;
    for &(start, end) in blocks {
        assert!(sack.push(SackBlock { start: Seq(start), end: Seq(end) }));
    }
    sack
}

/// The packet with both checksums made to hold, so that [`decode`] looks at the rest.
fn repaired(mut packet: Vec<u8>) -> Vec<u8> {
    packet[10..12].fill(0);
    let sum = Sum::default().bytes(&packet[..IP]).checksum();
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet[IP + 16..IP + 18].fill(0);
    let ends = [&packet[12..16], &packet[16..20]].map(|end| <[u8; 4]>::try_from(end).unwrap());
    let tcp_len = (packet.len() - IP) as u16;
    let sum = Sum::pseudo_header(ends[0].into(), ends[1].into(), 6, tcp_len).bytes(&packet[IP..]).checksum();
    packet[IP + 16..IP + 18].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// A packet without payload that carries these bytes as its options.
fn with_options(options: &[u8]) -> Vec<u8> {
    assert!(options.len().is_multiple_of(4) && options.len() <= OPTION_ROOM as usize);
    let mut packet = encoded(&Segment::default(), &addresses(), Payload::Zeros);
    packet.extend(options);
    packet[3] = packet.len() as u8;
    packet[IP + 12] = (((TCP + options.len()) / 4) << 4) as u8;
    repaired(packet)
}

fn addresses() -> Addresses {
    Addresses {
        source: Ipv4Addr::new(10, 0, 0, 1),
        destination: Ipv4Addr::new(10, 0, 0, 2),
        source_port: 40_000,
        destination_port: 80,
        ttl: 64,
        ident: 0x1c46,
    }
}

#[test]
fn golden_syn() {
    let segment = Segment {
        seq: Seq(0xffff_fff0),
        flags: Flags::SYN,
        window: 65_535,
        options: Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 1000, echo: 0 }),
            sack: SackBlocks::NONE,
        },
        ..Segment::default()
    };
    let packet = encoded(&segment, &addresses(), Payload::Zeros);
    let golden = concat!(
        "4500003c1c46400040060a740a0000010a000002",
        "9c400050fffffff000000000a002ffff93940000",
        "020405b40402080a000003e80000000001030307",
    );
    assert_eq!(hex(&packet), golden);
    assert_eq!(decode(&packet), Ok(Packet { addresses: addresses(), segment, payload: 60..60 }));
}

#[test]
fn golden_ack_with_sack_across_the_wrap() {
    let addresses = Addresses {
        source: Ipv4Addr::new(10, 0, 0, 2),
        destination: Ipv4Addr::new(10, 0, 0, 1),
        source_port: 80,
        destination_port: 40_000,
        ttl: 63,
        ident: 7,
    };
    let segment = Segment {
        seq: Seq(0x5001),
        ack: Seq(0xffff_fff1),
        flags: Flags::ACK,
        window: 8192,
        options: Options {
            timestamps: Some(Timestamps { value: 2000, echo: 1000 }),
            sack: sack(&[(5, 1465), (0xffff_f5a9, 0xffff_fb5d), (2925, 4385)]),
            ..Options::default()
        },
        ..Segment::default()
    };
    let packet = encoded(&segment, &addresses, Payload::Zeros);
    let golden = concat!(
        "45000050000740003f06279f0a0000020a000001",
        "00509c4000005001fffffff1f0102000c0f30000",
        "0101080a000007d0000003e80101051a",
        "00000005000005b9fffff5a9fffffb5d00000b6d00001121",
    );
    assert_eq!(hex(&packet), golden);
    assert_eq!(decode(&packet), Ok(Packet { addresses, segment, payload: 80..80 }));
}

#[test]
fn golden_fin_with_an_odd_payload() {
    let addresses = Addresses {
        source: Ipv4Addr::new(192, 0, 2, 1),
        destination: Ipv4Addr::new(198, 51, 100, 2),
        source_port: 49_152,
        destination_port: 443,
        ttl: 255,
        ident: 0xffff,
    };
    let segment = Segment {
        seq: Seq(0x0102_0304),
        ack: Seq(0x0506_0708),
        len: 3,
        window: 502,
        flags: Flags::FIN | Flags::ACK,
        ecn: Ecn::NotEct,
        options: Options::default(),
        ..Segment::default()
    };
    let packet = encoded(&segment, &addresses, Payload::Bytes(b"bye"));
    let golden = concat!(
        "4500002bffff4000ff068f95c0000201c6336402",
        "c00001bb0102030405060708501101f6285a0000",
        "627965",
    );
    assert_eq!(hex(&packet), golden);
    let read = decode(&packet).unwrap();
    assert_eq!(&packet[read.payload.clone()], b"bye");
    assert_eq!(read, Packet { addresses, segment, payload: 40..43 });
}

#[test]
fn option_layouts_of_linux() {
    let stamps = Some(Timestamps { value: 1, echo: 2 });
    let none = Options::default();
    let cases = [
        (none, ""),
        (Options { mss: Some(536), ..none }, "02040218"),
        (Options { sack_permitted: true, ..none }, "01010402"),
        (Options { window_scale: Some(14), ..none }, "0103030e"),
        (Options { timestamps: stamps, ..none }, "0101080a0000000100000002"),
        (Options { timestamps: stamps, sack_permitted: true, ..none }, "0402080a0000000100000002"),
        (
            Options { mss: Some(1460), sack_permitted: true, window_scale: Some(0), ..none },
            "020405b40101040201030300",
        ),
        (Options { sack: sack(&[(1, 2)]), ..none }, "0101050a0000000100000002"),
    ];
    for (options, expected) in cases {
        let packet = encoded(&Segment { options, ..Segment::default() }, &addresses(), Payload::Zeros);
        assert_eq!(hex(&packet[IP + TCP..]), expected, "{options:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused_and_writes_nothing() {
    let four = sack(&[(0, 1), (2, 3), (4, 5), (6, 7)]);
    let stamps = Some(Timestamps::default());
    let full = Segment { options: Options { sack: four, ..Options::default() }, ..Segment::default() };
    assert_eq!(encoded(&full, &addresses(), Payload::Zeros).len(), IP + TCP + 36);
    let over = Segment { options: Options { timestamps: stamps, ..full.options }, ..full };
    let long = Segment { len: 65_536 - 40, ..Segment::default() };
    let longest = Segment { len: u32::MAX, ..Segment::default() };
    let mut out = vec![1, 2, 3];
    for (segment, payload, error) in [
        (over, Payload::Zeros, EncodeError::Options(48)),
        (long, Payload::Omitted, EncodeError::TooLong),
        (longest, Payload::Omitted, EncodeError::TooLong),
        (full, Payload::Bytes(&[0]), EncodeError::Payload { segment: 0, payload: 1 }),
    ] {
        assert_eq!(encode(&segment, &addresses(), payload, &mut out), Err(error));
        assert_eq!(out, [1, 2, 3]);
    }
    let fits = Segment { len: 65_535 - 40, ..Segment::default() };
    assert_eq!(encoded(&fits, &addresses(), Payload::Zeros).len(), 65_535);
}

#[test]
fn headers_that_contradict_themselves_are_refused() {
    let good = encoded(&Segment { len: 4, ..Segment::default() }, &addresses(), Payload::Zeros);
    let altered = |at: usize, value: u8| {
        let mut packet = good.clone();
        packet[at] = value;
        decode(&repaired(packet))
    };
    assert!(decode(&good).is_ok());
    assert_eq!(decode(&[]), Err(DecodeError::CutOff { needed: 20, found: 0 }));
    assert_eq!(decode(&good[..43]), Err(DecodeError::CutOff { needed: 44, found: 43 }));
    assert_eq!(altered(0, 0x65), Err(DecodeError::Version(6)));
    assert_eq!(altered(0, 0x44), Err(DecodeError::IpHeaderLength(4)));
    assert_eq!(altered(0, 0x4f), Err(DecodeError::IpHeaderLength(15)));
    assert_eq!(altered(3, 45), Err(DecodeError::CutOff { needed: 45, found: 44 }));
    assert_eq!(altered(3, 39), Err(DecodeError::TotalLength(39)));
    assert_eq!(altered(3, 19), Err(DecodeError::TotalLength(19)));
    assert_eq!(altered(6, 0x20), Err(DecodeError::Fragment));
    assert_eq!(altered(7, 1), Err(DecodeError::Fragment));
    assert_eq!(altered(9, 17), Err(DecodeError::Protocol(17)));
    assert_eq!(altered(IP + 12, 0x40), Err(DecodeError::DataOffset(4)));
    assert_eq!(altered(IP + 12, 0x70), Err(DecodeError::DataOffset(7)));
}

#[test]
fn padding_of_a_link_and_ip_options_are_skipped() {
    let segment = Segment { len: 2, ..Segment::default() };
    let mut packet = encoded(&segment, &addresses(), Payload::Bytes(&[7, 8]));
    packet.extend([0xaa; 4]);
    assert_eq!(decode(&packet), Ok(Packet { addresses: addresses(), segment, payload: 40..42 }));

    packet.truncate(42);
    packet.splice(IP..IP, [1, 1, 1, 0]);
    packet[0] = 0x46;
    packet[3] = packet.len() as u8;
    packet[10..12].fill(0);
    let sum = Sum::default().bytes(&packet[..IP + 4]).checksum();
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    assert_eq!(decode(&packet), Ok(Packet { addresses: addresses(), segment, payload: 44..46 }));
}

#[test]
fn options_of_other_layouts_are_read() {
    let read = |bytes: &[u8]| decode(&with_options(bytes)).map(|packet| packet.segment.options);
    let none = Options::default();
    assert_eq!(read(&[1, 1, 1, 1]), Ok(none));
    // End of the list: what follows is padding, whatever it says.
    assert_eq!(read(&[0, 2, 9, 9]), Ok(none));
    // Unknown kinds, one of them twice.
    assert_eq!(read(&[253, 4, 0, 0, 253, 2, 4, 2]), Ok(Options { sack_permitted: true, ..none }));
    assert_eq!(
        read(&[3, 3, 255, 2, 4, 5, 180, 0]),
        Ok(Options { mss: Some(1460), window_scale: Some(14), ..none })
    );
}

#[test]
fn malformed_options_are_refused() {
    let read = |bytes: &[u8]| decode(&with_options(bytes)).map(|packet| packet.segment.options);
    let length = |kind, length| Err(DecodeError::OptionLength { kind, length });
    assert_eq!(read(&[253, 0, 0, 0]), length(253, 0));
    assert_eq!(read(&[8, 1, 0, 0]), length(8, 1));
    assert_eq!(read(&[2, 3, 0, 0]), length(2, 3));
    assert_eq!(read(&[3, 4, 0, 0]), length(3, 4));
    assert_eq!(read(&[4, 3, 0, 0]), length(4, 3));
    assert_eq!(read(&[8, 8, 0, 0, 0, 0, 0, 0]), length(8, 8));
    assert_eq!(read(&[5, 2, 0, 0]), length(5, 2));
    assert_eq!(read(&[5, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), length(5, 9));
    assert_eq!(read(&[1, 1, 5, 10]), Err(DecodeError::OptionCutOff { kind: 5 }));
    assert_eq!(read(&[1, 1, 1, 253]), Err(DecodeError::OptionCutOff { kind: 253 }));
    assert_eq!(read(&[4, 2, 4, 2]), Err(DecodeError::OptionTwice { kind: 4 }));
}

#[test]
fn every_error_is_one_line_that_says_what_was_found() {
    let options = DecodeError::OptionLength { kind: 5, length: 9 };
    assert_eq!(options.to_string(), "TCP option 5 cannot have a length of 9 bytes");
    let error = EncodeError::Options(48).to_string();
    assert_eq!(error, "48 bytes of TCP options, but a header has room for 40 bytes");
}

fn any_addresses() -> impl Strategy<Value = Addresses> {
    any::<(u32, u32, u16, u16, u8, u16)>().prop_map(
        |(from, to, source_port, destination_port, ttl, ident)| Addresses {
            source: from.into(),
            destination: to.into(),
            source_port,
            destination_port,
            ttl,
            ident,
        },
    )
}

/// Any sequence number, and often one near the wrap.
fn any_seq() -> impl Strategy<Value = Seq> {
    prop_oneof![any::<u32>(), (0u32..4000).prop_map(|ahead| ahead.wrapping_sub(2000))].prop_map(Seq)
}

#[test]
fn the_ecn_field_stands_in_the_last_bits_of_the_second_byte() {
    for (ecn, byte) in [(Ecn::NotEct, 0), (Ecn::Ect1, 1), (Ecn::Ect0, 2), (Ecn::Ce, 3)] {
        let segment = Segment { ecn, flags: Flags::ACK | Flags::ECE | Flags::CWR, ..Segment::default() };
        let mut packet = encoded(&segment, &addresses(), Payload::Zeros);
        assert_eq!((packet[1], packet[IP + 13]), (byte, 0xd0));
        assert_eq!(decode(&packet).unwrap().segment, segment);
        // The six bits before it are the differentiated services', and of no meaning here.
        packet[1] |= 0xb8;
        assert_eq!(decode(&repaired(packet)).unwrap().segment, segment);
    }
}

/// Options that a header has room for.
fn any_options() -> impl Strategy<Value = Options> {
    let stamps = prop::option::of(any::<(u32, u32)>());
    let blocks = prop::collection::vec((any_seq(), any_seq()), 0..=SackBlocks::MOST);
    (any::<Option<u16>>(), prop::option::of(0u8..=14), any::<bool>(), stamps, blocks).prop_map(
        |(mss, window_scale, sack_permitted, stamps, blocks)| {
            let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
            let mut options =
                Options { mss, window_scale, sack_permitted, timestamps, sack: SackBlocks::NONE };
            for (start, end) in blocks {
                let mut longer = options;
                longer.sack.push(SackBlock { start, end });
                if longer.wire_len() <= OPTION_ROOM {
                    options = longer;
                }
            }
            options
        },
    )
}

fn any_segment() -> impl Strategy<Value = (Segment, Vec<u8>)> {
    let payload = prop::collection::vec(any::<u8>(), 0..80);
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce]);
    (any_seq(), any_seq(), any::<u16>(), any::<u8>(), ecn, any_options(), payload).prop_map(
        |(seq, ack, window, flags, ecn, options, payload)| {
            let len = payload.len() as u32;
            let flags = Flags(flags.into());
            (Segment { seq, ack, len, window, flags, ecn, options, ..Segment::default() }, payload)
        },
    )
}

proptest! {
    #[test]
    fn decode_undoes_encode((segment, payload) in any_segment(), addresses in any_addresses()) {
        let packet = encoded(&segment, &addresses, Payload::Bytes(&payload));
        prop_assert_eq!(packet.len() as u32, segment.packet_len());
        let headers = packet.len() - payload.len();
        prop_assert_eq!(headers as u32, IP_HEADER + TCP_HEADER + segment.options.wire_len());
        prop_assert_eq!(&packet[headers..], &payload[..]);
        prop_assert_eq!(decode(&packet), Ok(Packet { addresses, segment, payload: headers..packet.len() }));
    }

    #[test]
    fn an_omitted_payload_is_one_of_zeros((segment, _) in any_segment(), addresses in any_addresses()) {
        let whole = encoded(&segment, &addresses, Payload::Zeros);
        let headers = encoded(&segment, &addresses, Payload::Omitted);
        prop_assert_eq!(whole.len() - headers.len(), segment.len as usize);
        prop_assert_eq!(&whole[..headers.len()], &headers[..]);
        prop_assert!(whole[headers.len()..].iter().all(|&byte| byte == 0));
        prop_assert!(decode(&whole).is_ok());
    }

    #[test]
    fn a_flipped_bit_is_found(
        (segment, payload) in any_segment(), addresses in any_addresses(), at in any::<Index>()
    ) {
        let mut packet = encoded(&segment, &addresses, Payload::Bytes(&payload));
        let bit = at.index(packet.len() * 8);
        packet[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(decode(&packet).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
    }

    #[test]
    fn a_cut_packet_is_refused((segment, payload) in any_segment(), at in any::<Index>()) {
        let packet = encoded(&segment, &addresses(), Payload::Bytes(&payload));
        prop_assert!(decode(&packet[..at.index(packet.len())]).is_err());
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        if let Ok(read) = decode(&bytes) {
            prop_assert_eq!(read.payload.len(), read.segment.len as usize);
        }
    }

    /// Behind right checksums, so that every field is reached.
    #[test]
    fn any_altered_packet_is_answered(
        (segment, payload) in any_segment(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..8),
    ) {
        let mut packet = encoded(&segment, &addresses(), Payload::Bytes(&payload));
        for (at, value) in changes {
            let at = at.index(packet.len());
            packet[at] = value;
        }
        if let Ok(read) = decode(&repaired(packet.clone())) {
            prop_assert_eq!(read.payload.len(), read.segment.len as usize);
            prop_assert!(read.payload.end <= packet.len());
        }
    }

    /// What is read of any options can be writtenif there is room, and reads the same.
    #[test]
    fn any_options_are_answered(words in prop::collection::vec(option_word(), 0..=10)) {
        let bytes = words.concat();
        if let Ok(read) = decode(&with_options(&bytes)) {
            prop_assume!(read.segment.options.wire_len() <= OPTION_ROOM);
            let again = encoded(&read.segment, &read.addresses, Payload::Zeros);
            prop_assert_eq!(decode(&again).map(|packet| packet.segment), Ok(read.segment));
        }
    }
}

/// A word of options, likely to start one that is nearly right.
fn option_word() -> impl Strategy<Value = [u8; 4]> {
    prop_oneof![
        any::<[u8; 4]>(),
        (0u8..9, 0u8..20, any::<u16>()).prop_map(|(kind, length, value)| {
            let [high, low] = value.to_be_bytes();
            [kind, length, high, low]
        }),
        (0u8..9, 0u8..20).prop_map(|(kind, length)| [1, 1, kind, length]),
    ]
}
