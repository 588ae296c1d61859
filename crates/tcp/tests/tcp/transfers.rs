//! Whatever the network does, every byte arrives once and in order, and the connection closes.

use std::collections::BTreeMap;

use bentpipe_tcp::{Config, Growth, GrowthGate, IdleRestart, ReceiveBuffer, State};
use bentpipe_units::Span;
use proptest::prelude::*;

use crate::harness::{CLIENT, Fate, Net, RECOVERIES, Reader, SERVER, config};

/// What becomes of some of the first segments of a direction, counted from 1; all others pass.
type Troubles = BTreeMap<usize, Fate>;

fn troubles() -> impl Strategy<Value = Troubles> {
    let fate = || {
        prop_oneof![
            3 => Just(Fate::drop()),
            1 => (1_u64..400).prop_map(Fate::late),
            1 => (0_u64..300).prop_map(Fate::twice),
        ]
    };
    prop_oneof![Just(3), Just(12), Just(50)]
        .prop_flat_map(move |most| prop::collection::btree_map(1_usize..90, fate(), 0..most))
}

fn buffers() -> impl Strategy<Value = ReceiveBuffer> {
    (4000_u32..200_000, 0_u32..4_000_000).prop_map(|(initial, more)| ReceiveBuffer {
        initial,
        max: initial + more,
        ..ReceiveBuffer::LINUX
    })
}

fn configs() -> impl Strategy<Value = Config> {
    let switches = any::<[bool; 9]>();
    let recovery = prop::sample::select(&RECOVERIES[..]);
    let windows = prop_oneof![Just(65_535_u32), 700_u32..9000, 65_536_u32..400_000];
    let mss = prop_oneof![Just(1000_u32), Just(1460), 100_u32..1500];
    (
        recovery,
        windows,
        mss,
        1_u32..11,
        switches,
        1_u32..4,
        prop_oneof![Just(None), (1000_u32..60_000).prop_map(Some)],
        prop_oneof![2 => Just(None), 1 => buffers().prop_map(Some)],
    )
        .prop_map(|(recovery, window, mss, initial, on, limit, ssthresh, buffer)| {
            let mut config = config(recovery);
            config.receive_window = window;
            config.receive_buffer = buffer;
            config.mss = mss;
            config.initial_window = initial;
            config.initial_ssthresh = ssthresh;
            config.window_scaling = on[0];
            config.timestamps = on[1];
            config.limited_transmit = on[2];
            config.recover_guard = on[3];
            config.restart_after_idle = match (on[4], on[6]) {
                (false, _) => IdleRestart::Off,
                (true, false) => IdleRestart::Rfc5681,
                (true, true) => IdleRestart::Linux,
            };
            config.grow_only_when_limited = match (on[5], on[7]) {
                (false, false) => GrowthGate::Off,
                (false, true) => GrowthGate::Full,
                (true, false) => GrowthGate::Rfc7661,
                (true, true) => GrowthGate::Linux,
            };
            config.growth = match (on[6], on[8]) {
                (true, _) => Growth::PerAck,
                (false, false) => Growth::Bytes { limit },
                (false, true) => Growth::Delivered,
            };
            config.delayed_ack.segments = if on[7] { 2 } else { 1 };
            config.duplicate_sack = on[8];
            config.burst = if on[0] == on[3] { 8 } else { 1 };
            // Even where nearly everything is lost for a while, nobody gives up.
            config.max_retransmissions = 200;
            config.time_wait = Span::from_millis(20_000_000);
            config
        })
}

fn readers() -> impl Strategy<Value = Reader> {
    prop_oneof![
        3 => Just(Reader::AtOnce),
        1 => (100_u32..5000, 1_u64..500).prop_map(|(bytes, every_ms)| Reader::Slow { bytes, every_ms }),
    ]
}

/// Sequence numbers that wrap during the transfer, and others.
fn iss() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), (0_u32..60_000).prop_map(|before| u32::MAX - before)]
}

fn sizes() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 1_u64..3000, 3000_u64..80_000]
}

#[derive(Clone, Debug)]
struct Case {
    configs: [Config; 2],
    iss: [u32; 2],
    troubles: [Troubles; 2],
    readers: [Reader; 2],
    sizes: [u64; 2],
    delay_ms: u64,
    closes_first: usize,
}

prop_compose! {
    fn cases()(
        configs in [configs(), configs()],
        iss in [iss(), iss()],
        troubles in [troubles(), troubles()],
        readers in [readers(), readers()],
        sizes in (sizes(), prop_oneof![2 => Just(0), 1 => sizes()]),
        delay_ms in 1_u64..300,
        closes_first in 0_usize..2,
    ) -> Case {
        Case { configs, iss, troubles, readers, sizes: [sizes.0, sizes.1], delay_ms, closes_first }
    }
}

fn transfer(case: Case) -> Net {
    let troubles = case.troubles.clone();
    let mut net = Net::new(case.configs, case.iss, case.delay_ms).through(move |passing| {
        troubles[passing.from].get(&passing.number).cloned().unwrap_or_else(Fate::pass)
    });
    net.readers = case.readers;
    net.open();
    for end in [CLIENT, SERVER] {
        net.write(end, case.sizes[end]);
    }
    // The server may still be listening, and a listening end that closes is gone.
    while net.ends[case.closes_first].state() == State::Listen {
        net.run_to((net.now.as_secs() * 1000.0) as u64 + 100);
    }
    net.close(case.closes_first);
    net.run();
    net
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_in_order_and_both_ends_close(case in cases()) {
        let sizes = case.sizes;
        let net = transfer(case);
        prop_assert_eq!(net.errors(), [None, None], "{}", net.trace());
        prop_assert_eq!(net.states(), [State::Closed, State::Closed], "{}", net.trace());
        prop_assert_eq!([net.read[SERVER], net.read[CLIENT]], sizes, "{}", net.trace());
        for end in [CLIENT, SERVER] {
            prop_assert!(net.ends[end].sender().all_acknowledged(), "{}", net.trace());
        }
        // 100 segments lost one after the other, at 60 s each, could have taken this long.
        let last = net.sent.last().map_or(0.0, |sent| sent.at.as_secs());
        prop_assert!(last < 6_000.0, "{last} s\n{}", net.trace());
    }

    #[test]
    fn a_lossless_line_needs_no_retransmission(mut case in cases()) {
        case.troubles = Default::default();
        // A window update may cross a probe, and a round trip beyond the first RTO looks like a loss.
        case.readers = [Reader::AtOnce; 2];
        for config in &mut case.configs {
            config.receive_window = config.receive_window.max(4 * config.mss);
            if let Some(buffer) = &mut config.receive_buffer {
                buffer.initial = buffer.initial.max(16 * config.mss);
                buffer.max = buffer.max.max(buffer.initial);
            }
            config.rto.initial = Span::from_millis(3000);
        }
        let net = transfer(case);
        for end in [CLIENT, SERVER] {
            let stats = net.ends[end].sender().stats();
            prop_assert_eq!((stats.retransmitted_segments, stats.timeouts, stats.window_probes), (0, 0, 0), "{}", net.trace());
        }
    }
}
