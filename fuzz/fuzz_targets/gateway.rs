//! Any bytes as a run of packets through a gateway: nothing but a window and its checksum ever changes, and only downwards.
#![no_main]

use bentpipe_path::gateway::{Direction, Gateway, GatewaySpec, LinkView, UnknownScale, XfwaOptions};
use bentpipe_units::{Rate, Span, Time};
use libfuzzer_sys::fuzz_target;

const MAX_FLOWS: u32 = 4;

// The first byte of a packet tells the way and the milliseconds since the one before, the second its length.
fuzz_target!(|bytes: &[u8]| {
    let mut gateway = Gateway::new(&GatewaySpec::Xfwa(XfwaOptions {
        isl_delay: Some(Span::from_millis(20)),
        redistribute: true,
        max_flows: MAX_FLOWS,
        unknown_scale: UnknownScale::Zero,
        ..XfwaOptions::default()
    }))
    .expect("no agent");
    let link = LinkView { rate: Rate::from_bps(100_000), buffer_bytes: 2000, queued_bytes: 0 };
    let mut rest = bytes;
    let mut now = 0;
    while let [how, len, tail @ ..] = rest {
        let (packet, tail) = tail.split_at(usize::from(*len).min(tail.len()));
        rest = tail;
        now += u64::from(how >> 1) * 1_000_000;
        let way = if how & 1 == 0 { Direction::Forward } else { Direction::Backward };
        let mut after = packet.to_vec();
        let written = gateway.pass(Time::from_nanos(now), way, &mut after, &link);
        assert!(gateway.stats().flows_remembered <= MAX_FLOWS);
        if written {
            check(packet, &after);
        } else {
            assert_eq!(after, packet);
        }
    }
});

fn check(before: &[u8], after: &[u8]) {
    let at = usize::from(before[0] & 0x0f) * 4 + 14;
    let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    assert!(0 < word(after, at) && word(after, at) < word(before, at));
    assert_eq!((&after[..at], &after[at + 4..]), (&before[..at], &before[at + 4..]));
    // The checksum covers both words: their sum stays, up to the two zeros of one's complement.
    let sum = |packet| (u32::from(word(packet, at)) + u32::from(word(packet, at + 2))) % 0xffff;
    assert_eq!(sum(before), sum(after));
}
