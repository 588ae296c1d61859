//! XFWA in the kernel and the simulator's gateway with the same packets, byte by byte (`BPF_PROG_RUN`); needs root.

#![cfg(target_os = "linux")]

use std::path::PathBuf;

use bentpipe_bpf::{GatewaySettings, KernelGateway, RttFrom, Way};
use bentpipe_path::gateway::{
    Direction, Gateway, GatewaySpec, LastPacket, LinkView, RttSource, ShareOf, XfwaOptions,
};
use bentpipe_units::{Rate, Span, Time};

const ETHERNET: usize = 14;
const RATE: u64 = 250_000;
const BUFFER: u64 = 60_000;
const ISL_MS: u64 = 20;

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// The kernel's gateway, or why it cannot be had here.
fn kernel() -> Option<KernelGateway> {
    kernel_with(1)
}

fn object() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../python/bentpipe/bpf/xfwa.bpf.o")
}

fn kernel_with(delta_factor: u32) -> Option<KernelGateway> {
    let object = object();
    if !object.exists() {
        eprintln!("left out: needs clang-19 at build time (make bpf)");
        return None;
    }
    let settings = GatewaySettings {
        rate: RATE,
        buffer: BUFFER,
        rtt: RttFrom::Hops(ISL_MS * 1_000_000),
        least: XfwaOptions::default().least.get() as u32,
        delta_factor,
        link_header: ETHERNET as u32,
    };
    match KernelGateway::load(&object, &settings) {
        Ok(gateway) => Some(gateway),
        Err(error) => {
            eprintln!("left out: {error}");
            None
        }
    }
}

fn simulated() -> (Gateway, LinkView) {
    let options = XfwaOptions {
        last_packet: LastPacket::Arrived,
        share_of: ShareOf::Data,
        rtt: RttSource::Ttl,
        isl_delay: Some(Span::from_millis(ISL_MS)),
        ..XfwaOptions::default()
    };
    let link = LinkView { rate: Rate::from_bps(RATE * 8), buffer_bytes: BUFFER, queued_bytes: 0 };
    (Gateway::new(&GatewaySpec::Xfwa(options)).unwrap(), link)
}

fn checksum(parts: &[&[u8]]) -> u16 {
    let bytes: Vec<u8> = parts.concat();
    let sum: u32 =
        bytes.chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(*two.get(1).unwrap_or(&0))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

/// A segment of flow `n`, as it is on the wire.
struct Segment<'a> {
    n: u8,
    forward: bool,
    flags: u8,
    window: u16,
    ttl: u8,
    options: &'a [u8],
    payload: usize,
}

impl Segment<'_> {
    fn tcp(&self) -> Vec<u8> {
        let ports = if self.forward { [5000_u16, 80] } else { [80, 5000] };
        let mut tcp: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
        tcp.extend([0, 0, 0, 1, 0, 0, 0, 2]);
        tcp.push((((20 + self.options.len()) / 4) << 4) as u8);
        tcp.push(self.flags);
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0, 0, 0, 0]);
        tcp.extend(self.options);
        tcp.extend(std::iter::repeat_n(0x5a, self.payload));
        tcp
    }

    fn ipv4(&self) -> Vec<u8> {
        let mut tcp = self.tcp();
        let (near, far) = ([10, 0, 0, self.n], [11, 0, 0, 1]);
        let (source, destination) = if self.forward { (near, far) } else { (far, near) };
        let pseudo = [&source[..], &destination[..], &[0, 6], &(tcp.len() as u16).to_be_bytes()[..]].concat();
        let sum = checksum(&[&pseudo, &tcp]);
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());
        let total = (20 + tcp.len()) as u16;
        let mut ip = vec![0x45, 0];
        ip.extend(total.to_be_bytes());
        ip.extend([0, 0, 0, 0, self.ttl, 6, 0, 0]);
        ip.extend(source);
        ip.extend(destination);
        let sum = checksum(&[&ip]);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        [ip, tcp].concat()
    }

    fn ipv6(&self) -> Vec<u8> {
        let mut tcp = self.tcp();
        let address =
            |last: u8| [[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0].as_slice(), &[0, 0, 0, 0, 0, 0, 0, last]].concat();
        let (near, far) = (address(self.n), address(200));
        let (source, destination) = if self.forward { (near, far) } else { (far, near) };
        let pseudo = [&source[..], &destination, &(tcp.len() as u32).to_be_bytes(), &[0, 0, 0, 6]].concat();
        let sum = checksum(&[&pseudo, &tcp]);
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());
        let mut ip = vec![0x60, 0, 0, 0];
        ip.extend((tcp.len() as u16).to_be_bytes());
        ip.extend([6, self.ttl]);
        ip.extend(&source);
        ip.extend(&destination);
        assert_eq!(checksum(&[&pseudo, &tcp]), 0);
        [ip, tcp].concat()
    }
}

fn on_ethernet(packet: &[u8]) -> Vec<u8> {
    let kind: [u8; 2] = if packet[0] >> 4 == 6 { [0x86, 0xdd] } else { [8, 0] };
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2], &kind[..], packet].concat()
}

/// Both gateways with the same packets, and how many of them were changed.
struct Pair {
    kernel: KernelGateway,
    ours: Gateway,
    link: LinkView,
    now_ms: u64,
    changed: u32,
}

impl Pair {
    fn pass(&mut self, packet: &[u8], forward: bool) {
        let (way, direction) =
            if forward { (Way::Forward, Direction::Forward) } else { (Way::Backward, Direction::Backward) };
        let mut expected = packet.to_vec();
        let now = Time::from_nanos(self.now_ms * 1_000_000);
        self.changed += u32::from(self.ours.pass(now, direction, &mut expected, &self.link));
        let (found, _) = self.kernel.pass(way, &on_ethernet(packet), 1).unwrap();
        assert_eq!(&found[ETHERNET..], expected, "{packet:?}");
    }
}

const FLOWS: u8 = 6;

/// What a SYN of each flow, and its answer, say of window scaling.
fn scales(n: u8) -> [&'static [u8]; 2] {
    match n % 3 {
        0 => [&[3, 3, 7, 0], &[1, 3, 3, 4]],
        1 => [&[2, 4, 5, 0xb4], &[2, 4, 5, 0xb4]],
        _ => [&[2, 4, 5, 0xb4, 1, 3, 3, 14], &[3, 3, 9, 1]],
    }
}

fn both() -> Option<Pair> {
    let (ours, link) = simulated();
    let mut pair = Pair { kernel: kernel()?, ours, link, now_ms: 1000, changed: 0 };
    for n in 1..=FLOWS {
        let [offered, answered] = scales(n);
        let of = |forward, flags, options, payload| Segment {
            n,
            forward,
            flags,
            window: 65_535,
            ttl: if forward { 64 - n } else { 128 - 2 * n },
            options,
            payload,
        };
        pair.pass(&of(true, SYN, offered, 0).ipv4(), true);
        pair.pass(&of(false, SYN | ACK, answered, 0).ipv4(), false);
        pair.pass(&of(true, ACK, &[], 1000).ipv4(), true);
    }
    // The simulator's snapshots need time to pass while all send; the kernel's first one counts whoever has sent.
    let changed = pair.changed;
    for _ in 0..20 {
        pair.now_ms += 30;
        for n in 1..=FLOWS {
            let data =
                Segment { n, forward: true, flags: ACK, window: 1, ttl: 64 - n, options: &[], payload: 999 };
            pair.pass(&data.ipv4(), true);
        }
    }
    assert_eq!(pair.changed, changed);
    pair.kernel.take_snapshot().unwrap();
    Some(pair)
}

#[test]
fn every_byte_is_that_of_the_simulators_gateway() {
    let Some(mut pair) = both() else { return };
    let before = pair.changed;
    for window in (0..=65_535_u16).step_by(331).chain([1, 2, 65_535]) {
        for n in 1..=FLOWS {
            let ack =
                Segment { n, forward: false, flags: ACK, window, ttl: 128 - 2 * n, options: &[], payload: 0 };
            pair.pass(&ack.ipv4(), false);
        }
    }
    assert!(pair.changed - before > 300, "{}", pair.changed - before);
    let counts = pair.kernel.counts().unwrap();
    assert_eq!(counts.flows, u32::from(FLOWS));
    assert_eq!(pair.kernel.flows_remembered().unwrap(), u32::from(FLOWS));
    assert_eq!(counts.windows_lowered, u64::from(pair.changed));
}

#[test]
fn what_is_no_whole_segment_passes_untouched() {
    let Some(mut pair) = both() else { return };
    let whole =
        Segment { n: 1, forward: false, flags: ACK, window: 60_000, ttl: 120, options: &[], payload: 0 };
    let ack = whole.ipv4();
    let change = |at: usize, value: u8| {
        let mut packet = ack.clone();
        packet[at] = value;
        packet
    };
    let before = pair.changed;
    // Another protocol, fragments, lengths that contradict each other.
    for broken in
        [change(9, 17), change(6, 0x20), change(7, 1), change(3, 30), change(32, 0x40), change(32, 0xf0)]
    {
        pair.pass(&broken, false);
    }
    // A SYN whose options do not parse.
    let syn = Segment { flags: SYN | ACK, options: &[3, 0, 0, 0], ..whole };
    pair.pass(&syn.ipv4(), false);
    assert_eq!(pair.changed, before);
    let padded = [ack.clone(), vec![0; 6]].concat();
    pair.pass(&padded, false);
    assert_eq!(pair.changed, before + 1);
}

#[test]
fn a_flow_that_is_closed_is_forgotten() {
    let Some(mut pair) = both() else { return };
    let of =
        |n, forward, flags| Segment { n, forward, flags, window: 60_000, ttl: 60, options: &[], payload: 0 };
    pair.pass(&of(2, true, FIN | ACK).ipv4(), true);
    pair.pass(&of(2, false, FIN | ACK).ipv4(), false);
    let before = pair.changed;
    pair.pass(&of(2, false, ACK).ipv4(), false);
    assert_eq!(pair.changed, before);
    assert_eq!(pair.kernel.flows_remembered().unwrap(), u32::from(FLOWS) - 1);
}

/// The kernel's gateway, in which flow 1 has window scales of 7 and 4 and has sent data, and the way to pass it a segment.
fn one_flow() -> Option<KernelGateway> {
    let kernel = kernel()?;
    pass(&kernel, true, SYN, &[3, 3, 7, 0], 0);
    pass(&kernel, false, SYN | ACK, &[3, 3, 4, 0], 0);
    pass(&kernel, true, ACK, &[], 1000);
    kernel.take_snapshot().unwrap();
    Some(kernel)
}

/// Passes a segment of flow 1; its window, which was 65,000, behind the gateway.
fn pass(kernel: &KernelGateway, forward: bool, flags: u8, options: &[u8], payload: usize) -> u16 {
    let segment = Segment { n: 1, forward, flags, window: 65_000, ttl: 64, options, payload };
    let way = if forward { Way::Forward } else { Way::Backward };
    let (packet, _) = kernel.pass(way, &on_ethernet(&segment.ipv4()), 1).unwrap();
    u16::from_be_bytes([packet[ETHERNET + 34], packet[ETHERNET + 35]])
}

/// A reset and a SYN that anybody may have written take nobody out of the gateway's hands; a handshake does.
#[test]
fn a_forged_reset_or_syn_frees_no_flow() {
    let Some(kernel) = one_flow() else { return };
    let window = pass(&kernel, false, ACK, &[], 0);
    assert!(window < 65_000);
    for (forward, flags) in [(true, RST), (false, RST | ACK), (true, SYN), (false, SYN), (false, SYN | ACK)] {
        pass(&kernel, forward, flags, &[], 0);
        assert_eq!(pass(&kernel, false, ACK, &[], 0), window, "{forward} {flags}");
    }
    // The ports are used again, without scaling: the same window is 16 times as large a field, which is more than the segment's.
    pass(&kernel, true, SYN, &[], 0);
    pass(&kernel, false, SYN | ACK, &[], 0);
    assert_ne!(pass(&kernel, false, ACK, &[], 0), window);
}

/// TCP-MD5 (RFC 2385) and TCP-AO (RFC 5925) sign the window.
#[test]
fn a_signed_flow_is_left_alone() {
    for kind in [19, 29] {
        let Some(kernel) = one_flow() else { return };
        let length = if kind == 19 { 18 } else { 16 };
        let mut signature = vec![kind, length];
        signature.resize(20, 1);
        let with = |scale: &[u8]| [&signature, scale].concat();
        pass(&kernel, true, SYN, &with(&[3, 3, 7, 0]), 0);
        pass(&kernel, false, SYN | ACK, &with(&[3, 3, 4, 0]), 0);
        pass(&kernel, true, ACK, &[], 1000);
        kernel.take_snapshot().unwrap();
        assert_eq!(pass(&kernel, false, ACK, &[], 0), 65_000, "{kind}");
    }
}

/// Who has sent no data does not take of the others' windows.
#[test]
fn a_flood_of_syns_does_not_lower_the_windows_of_others() {
    let Some(kernel) = one_flow() else { return };
    let window = pass(&kernel, false, ACK, &[], 0);
    for n in 2..200 {
        let syn = Segment { n, forward: true, flags: SYN, window: 1000, ttl: 64, options: &[], payload: 0 };
        kernel.pass(Way::Forward, &on_ethernet(&syn.ipv4()), 1).unwrap();
    }
    pass(&kernel, true, ACK, &[], 1000);
    kernel.take_snapshot().unwrap();
    assert_eq!(kernel.counts().unwrap().flows, 1);
    assert_eq!(pass(&kernel, false, ACK, &[], 0), window);
}

/// Each snapshot ends an epoch: with a factor of 1 only the last one counts, with 3 three do.
#[test]
fn delta_counts_epochs_and_a_flow_counts_once() {
    for delta_factor in [1, 3] {
        let Some(kernel) = kernel_with(delta_factor) else { return };
        pass(&kernel, true, SYN, &[3, 3, 7, 0], 0);
        pass(&kernel, false, SYN | ACK, &[3, 3, 4, 0], 0);
        let flows = |data: bool| {
            (0..3).filter(|_| data).for_each(|_| {
                pass(&kernel, true, ACK, &[], 1000);
            });
            kernel.take_snapshot().unwrap();
            kernel.counts().unwrap().flows
        };
        let counted: Vec<u32> = [true, true, false, false, false, true].map(flows).to_vec();
        let expected = if delta_factor == 1 { [1, 1, 0, 0, 0, 1] } else { [1, 1, 1, 1, 0, 1] };
        assert_eq!(counted, expected, "{delta_factor}");
        // Who has closed does not count.
        pass(&kernel, true, ACK, &[], 1000);
        pass(&kernel, true, FIN | ACK, &[], 0);
        pass(&kernel, false, FIN | ACK, &[], 0);
        assert_eq!(flows(false), 0);
    }
}

/// The timer runs every mean round trip: it adds up sums, however many flows the table has, and walks through none.
#[test]
fn a_snapshot_walks_through_no_table() {
    let Ok(object) = std::fs::read(object()) else { return };
    // BPF_CALL by the number of a helper (include/uapi/linux/bpf.h).
    let calls = |helper: u8| object.chunks(8).any(|insn| insn == [0x85, 0, 0, 0, helper, 0, 0, 0]);
    let (map_lookup_elem, for_each_map_elem, timer_start) = (1, 164, 171);
    assert!(calls(map_lookup_elem) && calls(timer_start));
    assert!(!calls(for_each_map_elem));
}

#[test]
fn ipv6_is_treated_as_ipv4_is() {
    let Some(kernel) = kernel() else { return };
    let of = |n, forward, flags, window, options, payload| Segment {
        n,
        forward,
        flags,
        window,
        ttl: 64,
        options,
        payload,
    };
    let pass = |packet: Vec<u8>, forward: bool| {
        let way = if forward { Way::Forward } else { Way::Backward };
        kernel.pass(way, &on_ethernet(&packet), 1).unwrap().0
    };
    for (n, six) in [(1, false), (2, true)] {
        let wire = |segment: Segment<'_>| if six { segment.ipv6() } else { segment.ipv4() };
        pass(wire(of(n, true, SYN, 65_535, &[3, 3, 7, 0], 0)), true);
        pass(wire(of(n, false, SYN | ACK, 65_535, &[3, 3, 4, 0], 0)), false);
        pass(wire(of(n, true, ACK, 500, &[], 1000)), true);
    }
    kernel.take_snapshot().unwrap();
    let four = pass(of(1, false, ACK, 65_000, &[], 0).ipv4(), false);
    let six = pass(of(2, false, ACK, 65_000, &[], 0).ipv6(), false);
    let window = |packet: &[u8], ip: usize| {
        u16::from_be_bytes([packet[ETHERNET + ip + 14], packet[ETHERNET + ip + 15]])
    };
    assert!(window(&four, 20) < 65_000);
    assert_eq!(window(&four, 20), window(&six, 40));
    let tcp = &six[ETHERNET + 40..];
    let pseudo =
        [&six[ETHERNET + 8..ETHERNET + 40], &(tcp.len() as u32).to_be_bytes(), &[0, 0, 0, 6]].concat();
    assert_eq!(checksum(&[&pseudo, tcp]), 0);
}

#[test]
fn a_flood_of_syns_is_bounded_and_windows_stay_valid() {
    let Some(kernel) = kernel() else { return };
    for n in 0..70_000_u32 {
        let mut syn =
            Segment { n: 1, forward: true, flags: SYN, window: 1000, ttl: 64, options: &[], payload: 0 }
                .ipv4();
        syn[12..16].copy_from_slice(&n.to_be_bytes());
        kernel.pass(Way::Forward, &on_ethernet(&syn), 1).unwrap();
    }
    kernel.take_snapshot().unwrap();
    let counts = kernel.counts().unwrap();
    assert!(kernel.flows_remembered().unwrap() <= 65_536);
    assert_eq!(counts.segments_forward, 70_000);
}
