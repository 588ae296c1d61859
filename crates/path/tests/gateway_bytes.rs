//! Gateways on packets as they are on the wire: whatever comes, nothing but a window and its checksum changes, and only
//! downwards.

use std::net::Ipv4Addr;

use bentpipe_path::gateway::{
    Direction, EwaOptions, Gateway, GatewaySpec, LinkView, RttSource, UnknownScale, WintracOptions,
    XfwaOptions,
};
use bentpipe_tcp::wire::{Addresses, Payload, encode};
use bentpipe_tcp::{Flags, Options, Segment, Seq, Timestamps};
use bentpipe_units::{Rate, Span, Time};
use proptest::prelude::*;

const MAX_FLOWS: u32 = 5;

/// A SYN of some flow, or its answer, or a segment with data or without.
#[derive(Clone, Debug)]
struct Sent {
    flow: u8,
    way: Direction,
    segment: Segment,
    ttl: u8,
    /// Bytes overwritten before the packet is shown: place, counted from the start, and value.
    damage: Vec<(usize, u8)>,
    cut: Option<usize>,
    padding: usize,
}

fn packet(sent: &Sent) -> Vec<u8> {
    let (near, far) = (Ipv4Addr::new(10, 0, 0, sent.flow), Ipv4Addr::new(10, 1, 0, 1));
    let (source, destination) = match sent.way {
        Direction::Forward => (near, far),
        Direction::Backward => (far, near),
    };
    let addresses =
        Addresses { source, destination, source_port: 80, destination_port: 80, ttl: sent.ttl, ident: 7 };
    let mut bytes = Vec::new();
    encode(&sent.segment, &addresses, Payload::Zeros, &mut bytes).unwrap();
    for (place, value) in &sent.damage {
        let place = place % bytes.len();
        bytes[place] = *value;
    }
    bytes.truncate(sent.cut.unwrap_or(bytes.len()));
    bytes.resize(bytes.len() + sent.padding, 0xaa);
    bytes
}

fn flags() -> impl Strategy<Value = Flags> {
    prop_oneof![
        4 => Just(Flags::ACK),
        2 => Just(Flags::SYN),
        2 => Just(Flags::SYN | Flags::ACK),
        1 => Just(Flags::FIN | Flags::ACK),
        1 => any::<u8>().prop_map(|bits| Flags(bits.into())),
    ]
}

prop_compose! {
    fn segments()(
        flags in flags(),
        window in prop_oneof![any::<u16>(), Just(u16::MAX)],
        len in prop_oneof![Just(0_u32), 1_u32..1461],
        seq in any::<u32>(),
        ack in any::<u32>(),
        scale in prop::option::of(any::<u8>()),
        mss in prop::option::of(any::<u16>()),
        timestamps in prop::option::of((any::<u32>(), any::<u32>())),
    ) -> Segment {
        let timestamps = timestamps.map(|(value, echo)| Timestamps { value, echo });
        let options = Options { mss, window_scale: scale, timestamps, ..Options::default() };
        Segment { seq: Seq(seq), ack: Seq(ack), len, window, flags, options, ..Segment::default() }
    }
}

prop_compose! {
    fn sent()(
        flow in 0_u8..9,
        forward in any::<bool>(),
        segment in segments(),
        ttl in any::<u8>(),
        damage in prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec((0_usize..80, any::<u8>()), 1..4)],
        cut in prop_oneof![5 => Just(None), 1 => (0_usize..80).prop_map(Some)],
        padding in prop_oneof![5 => Just(0_usize), 1 => 0_usize..9],
    ) -> Sent {
        let way = if forward { Direction::Forward } else { Direction::Backward };
        Sent { flow, way, segment, ttl, damage, cut, padding }
    }
}

fn specs() -> impl Strategy<Value = GatewaySpec> {
    (0..5, any::<bool>(), any::<bool>()).prop_map(|(kind, redistribute, zero)| {
        let unknown_scale = if zero { UnknownScale::Zero } else { UnknownScale::Leave };
        let max_flows = MAX_FLOWS;
        let delay = Some(Span::from_millis(20));
        let xfwa = |rtt| {
            let common = XfwaOptions { redistribute, unknown_scale, max_flows, ..XfwaOptions::default() };
            GatewaySpec::Xfwa(XfwaOptions { rtt, isl_delay: delay, told: delay, ..common })
        };
        match kind {
            0 => xfwa(RttSource::Ttl),
            1 => xfwa(RttSource::Handshake),
            2 => xfwa(RttSource::Told),
            3 => GatewaySpec::Ewa(EwaOptions { unknown_scale, max_flows, ..EwaOptions::default() }),
            _ => {
                GatewaySpec::Wintrac(WintracOptions { unknown_scale, max_flows, ..WintracOptions::default() })
            }
        }
    })
}

/// Whether the TCP checksum of an IPv4 packet holds, recomputed from every byte that it covers (RFC 9293 section 3.1).
fn checksum_holds(packet: &[u8]) -> bool {
    let ip_len = usize::from(packet[0] & 0x0f) * 4;
    let total = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
    let tcp = &packet[ip_len..total];
    let words = |bytes: &[u8]| -> u64 {
        bytes
            .chunks(2)
            .map(|word| u64::from(u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)])))
            .sum()
    };
    let sum = words(&packet[12..20]) + 6 + tcp.len() as u64 + words(tcp);
    sum > 0 && sum.is_multiple_of(0xffff)
}

/// Shows the packet, and checks all that holds of any; tells whether the window was lowered.
fn show(gateway: &mut Gateway, now: Time, way: Direction, bytes: &[u8], link: &LinkView) -> bool {
    let mut packet = bytes.to_vec();
    let written = gateway.pass(now, way, &mut packet, link);
    assert!(gateway.stats().flows_remembered <= MAX_FLOWS);
    if !written {
        assert_eq!(packet, bytes);
        return false;
    }
    assert_eq!(way, Direction::Backward);
    let at = usize::from(bytes[0] & 0x0f) * 4 + 14;
    let window = |packet: &[u8]| u16::from_be_bytes([packet[at], packet[at + 1]]);
    assert!(0 < window(&packet) && window(&packet) < window(bytes));
    assert_eq!(checksum_holds(&packet), checksum_holds(bytes), "right stays right, and wrong wrong");
    assert_eq!((&packet[..at], &packet[at + 4..]), (&bytes[..at], &bytes[at + 4..]));
    true
}

fn link(bps: u64, buffer_bytes: u64, queued: f64) -> LinkView {
    LinkView { rate: Rate::from_bps(bps), buffer_bytes, queued_bytes: (buffer_bytes as f64 * queued) as u64 }
}

proptest! {
    #[test]
    fn segments_damaged_or_not_change_in_window_and_checksum_only(
        spec in specs(),
        sent in prop::collection::vec((sent(), 0_u64..100_000_000), 1..80),
        bps in prop_oneof![1_u64..100_000, 1_u64..10_000_000, 1_u64..10_000_000_000],
        buffer in prop_oneof![0_u64..1_000_000, Just(u64::MAX)],
        queued in 0.0..=1.0,
    ) {
        let mut gateway = Gateway::new(&spec).unwrap();
        let link = link(bps, buffer, queued);
        let mut now = 0;
        for (sent, later) in &sent {
            now += later;
            show(&mut gateway, Time::from_nanos(now), sent.way, &packet(sent), &link);
        }
    }

    #[test]
    fn any_bytes_may_come(
        spec in specs(),
        packets in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..80)), 1..20),
        headed in any::<bool>(),
    ) {
        let mut gateway = Gateway::new(&spec).unwrap();
        for (n, (forward, mut bytes)) in packets.into_iter().enumerate() {
            if headed && bytes.len() >= 40 {
                // Enough of a header that the rest is looked at.
                let total = (bytes.len() as u16).to_be_bytes();
                bytes[0] = 0x40 | bytes[0] & 0x0f;
                bytes[2..4].copy_from_slice(&total);
                bytes[6..8].fill(0);
                bytes[9] = 6;
            }
            let way = if forward { Direction::Forward } else { Direction::Backward };
            show(&mut gateway, Time::from_nanos(n as u64 * 1_000_000), way, &bytes, &link(1_500_000, 5000, 0.0));
        }
    }
}

fn gateway() -> Gateway {
    let told = Some(Span::from_millis(160));
    Gateway::new(&GatewaySpec::Xfwa(XfwaOptions { rtt: RttSource::Told, told, ..XfwaOptions::default() }))
        .unwrap()
}

fn plain(way: Direction, flags: Flags, len: u32) -> Sent {
    let segment = Segment {
        seq: Seq(1),
        ack: Seq(2),
        len,
        window: 65_535,
        flags,
        options: Options {
            mss: Some(1460),
            window_scale: flags.has(Flags::SYN).then_some(7),
            ..Options::default()
        },
        ..Segment::default()
    };
    Sent { flow: 1, way, segment, ttl: 64, damage: Vec::new(), cut: None, padding: 0 }
}

/// A gateway that has seen the handshake of flow 1, and data of another flow.
fn opened() -> Gateway {
    let mut gateway = gateway();
    let link = link(1_500_000, 30_000, 0.0);
    let data = Sent { flow: 2, ..plain(Direction::Forward, Flags::ACK, 1) };
    for sent in [data, plain(Direction::Forward, Flags::SYN, 0)] {
        show(&mut gateway, Time::ZERO, Direction::Forward, &packet(&sent), &link);
    }
    let answer = packet(&plain(Direction::Backward, Flags::SYN | Flags::ACK, 0));
    assert!(show(&mut gateway, Time::ZERO, Direction::Backward, &answer, &link));
    gateway
}

#[test]
fn a_whole_connection_is_read_from_its_bytes() {
    let mut gateway = opened();
    let mut bytes = packet(&plain(Direction::Backward, Flags::ACK, 100));
    assert!(gateway.pass(Time::ZERO, Direction::Backward, &mut bytes, &link(1_500_000, 30_000, 0.0)));
    let read = bentpipe_tcp::wire::decode(&bytes).expect("both checksums hold");
    assert_eq!(read.segment.window, 468, "60,000 bytes at a shift of 7");
}

// xfwa, section III: it is written in the window of ACKs, as EWA does
// xfwa, section V: signalling by the receiver's window in ACKs
#[test]
fn every_checksum_is_updated_right() {
    // `xfwa`, section III: "written in the receiver's advertised window (RWND) field carried by the TCP header of ACKs".
    let mut gateway = opened();
    let sent = plain(Direction::Backward, Flags::ACK, 2);
    let mut bytes = packet(&sent);
    let payload = bytes.len() - 2;
    let checksum = 36..38;
    for word in 0..=u16::MAX {
        // As the payload grows by one, its checksum falls by one: RFC 1624 over the two zeros of one's complement too.
        bytes[payload..].copy_from_slice(&word.to_be_bytes());
        if !checksum_holds(&bytes) {
            let old = u16::from_be_bytes([bytes[36], bytes[37]]);
            let new = if old == 0 { 0xfffe } else { old - 1 };
            bytes[checksum.clone()].copy_from_slice(&new.to_be_bytes());
        }
        assert!(checksum_holds(&bytes), "{word}");
        assert!(show(&mut gateway, Time::ZERO, Direction::Backward, &bytes, &link(1_500_000, 30_000, 0.0)));
    }
}

#[test]
fn what_is_no_whole_segment_passes_unseen() {
    let ack = packet(&plain(Direction::Backward, Flags::ACK, 100));
    let header = ack.len() - 100;
    let changed = |place: usize, value: u8| {
        let mut bytes = ack.clone();
        bytes[place] = value;
        bytes
    };
    let cases = [
        ("IPv6", changed(0, 0x65)),
        ("IP header below 20 bytes", changed(0, 0x44)),
        ("IP header beyond the packet", {
            let mut bytes = changed(0, 0x4f);
            bytes.truncate(50);
            bytes
        }),
        ("first fragment", changed(6, 0x20)),
        ("later fragment", changed(7, 0x01)),
        ("UDP", changed(9, 17)),
        ("total length beyond the packet", changed(2, 0x10)),
        ("total length within the headers", {
            let mut bytes = changed(3, 30);
            bytes[2] = 0;
            bytes
        }),
        ("TCP header below 20 bytes", changed(32, 0x40)),
        ("truncated", ack[..header - 1].to_vec()),
        ("nothing", Vec::new()),
    ];
    for (name, bytes) in cases {
        let mut gateway = opened();
        let before = gateway.stats();
        let lowered =
            show(&mut gateway, Time::ZERO, Direction::Backward, &bytes, &link(1_500_000, 30_000, 0.0));
        assert!(!lowered && gateway.stats() == before, "{name}");
    }
    let mut gateway = opened();
    assert!(show(&mut gateway, Time::ZERO, Direction::Backward, &ack, &link(1_500_000, 30_000, 0.0)));
}

/// TCP-MD5 (RFC 2385) and TCP-AO (RFC 5925) sign the window.
#[test]
fn a_flow_whose_syn_is_signed_is_left_alone() {
    let timestamps = 8;
    for (kind, lowered) in [(timestamps, true), (19, false), (29, false)] {
        let mut gateway = opened();
        let mut shown = |way, flags| {
            let mut sent = plain(way, flags, 0);
            sent.segment.options.timestamps = Some(Timestamps { value: 1, echo: 1 });
            let mut bytes = packet(&sent);
            let at = 40 + bytes[40..].windows(2).position(|two| two == [timestamps, 10]).unwrap();
            bytes[at] = kind;
            show(&mut gateway, Time::ZERO, way, &bytes, &link(1_500_000, 30_000, 0.0))
        };
        shown(Direction::Forward, Flags::SYN);
        shown(Direction::Backward, Flags::SYN | Flags::ACK);
        assert_eq!(shown(Direction::Backward, Flags::ACK), lowered, "{kind}");
    }
}

#[test]
fn a_syn_whose_options_do_not_parse_teaches_nothing() {
    for (name, options) in [
        ("length 0", [3, 0, 7, 1]),
        ("length 1", [3, 1, 7, 1]),
        ("beyond the header", [1, 3, 9, 7]),
        ("no length", [1, 1, 1, 3]),
    ] {
        let mut gateway = gateway();
        let mut syn = packet(&plain(Direction::Forward, Flags::SYN, 0));
        let end = syn.len();
        syn[end - 4..].copy_from_slice(&options);
        gateway.pass(Time::ZERO, Direction::Forward, &mut syn, &link(1_500_000, 30_000, 0.0));
        assert_eq!(gateway.stats().segments_forward, 0, "{name}");
    }
}

/// Option 2 of the receiver's SYN: below a segment of its own a sender would stall.
#[test]
fn the_least_window_is_the_segment_that_the_receiver_s_syn_names() {
    let told = Some(Span::from_millis(1));
    let options = XfwaOptions { rtt: RttSource::Told, told, ..XfwaOptions::default() };
    let mut gateway = Gateway::new(&GatewaySpec::Xfwa(options)).unwrap();
    let link = link(1_000_000, 1500, 0.0);
    let mut show = |way, flags, mss, len| {
        let options = Options { mss, ..Options::default() };
        let segment = Segment { len, window: 65_535, flags, options, ..Segment::default() };
        let sent = Sent { flow: 1, way, segment, ttl: 64, damage: vec![], cut: None, padding: 0 };
        let mut bytes = packet(&sent);
        gateway.pass(Time::ZERO, way, &mut bytes, &link).then(|| u16::from_be_bytes([bytes[34], bytes[35]]))
    };
    show(Direction::Forward, Flags::SYN, Some(1460), 0);
    show(Direction::Backward, Flags::SYN | Flags::ACK, Some(8960), 0);
    show(Direction::Forward, Flags::ACK, None, 1000);
    assert_eq!(show(Direction::Backward, Flags::ACK, None, 0), Some(8960));
}
