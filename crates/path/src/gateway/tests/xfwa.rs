//! XFWA: equation 1 and what it rests on.

use super::*;

/// `n` flows by TTL, of which the i-th passes 2i+1 satellites in all: H_b + H_f = 2i hops before this node.
fn groups(gateway: &mut Gateway, now: Time, flows: u32, groups: u32) {
    for n in 0..flows {
        let hops = 2 * (n % groups + 1);
        gateway.forward(now, &Header { ttl: 64 - (hops / 2) as u8, ..syn(n, None) }, &T1);
        let back = Header { ttl: 255 - (hops - hops / 2) as u8, ..syn_ack(n, None) };
        gateway.backward(now, &back, &T1);
        gateway.forward(now, &Header { ttl: 64 - (hops / 2) as u8, ..byte(n) }, &T1);
    }
}

/// Windows in bytes after a new snapshot.
fn windows(gateway: &mut Gateway, now: Time, link: &LinkView, flows: u32, groups: u32) -> Vec<u16> {
    (0..flows)
        .map(|n| {
            let hops = 2 * (n % groups + 1);
            let header = Header { ttl: 255 - (hops - hops / 2) as u8, ..ack(n, 65_535) };
            gateway.backward(now, &header, link).unwrap()
        })
        .collect()
}

// xfwa, section III: the first term shares the bandwidth in proportion to round trips
// xfwa, equation 1: N, Q_size and Bw: flows, queue size, rate of the link
// xfwa, section IV-B: XFWA takes the round trip of each flow into account
#[test]
fn rates_are_equal_and_the_windows_add_up_to_pipe_and_buffer() {
    // `xfwa`, section III: "the first term of equation (1) reallocates bandwidth between individual flows in proportion with their RTTs".
    let mut gateway = gateway(GatewaySpec::Xfwa(by_ttl()));
    groups(&mut gateway, at(0), 16, 4);
    let link = LinkView { rate: Rate::from_bps(10_000_000), buffer_bytes: 350_000, queued_bytes: 9000 };
    // The first snapshot was taken at the first SYN, when one flow was known, of 120 ms (H_b unseen).
    let windows = windows(&mut gateway, at(270), &link, 16, 4);
    // RTT 160, 240, 320, 400 ms; RTT_avg 280 ms; Bw RTT_avg = 350,000 bytes.
    let rtts = [0.16, 0.24, 0.32, 0.4];
    let fair = 1.25e6 / 16.0 + 350_000.0 / (16.0 * 0.28);
    for (n, window) in windows.iter().enumerate() {
        let rate = f64::from(*window) / rtts[n % 4];
        assert!(rate <= fair && rate > fair - 1.0 / rtts[n % 4], "{n}: {rate}, {fair}");
    }
    let sum: u64 = windows.iter().map(|window| u64::from(*window)).sum();
    assert!((700_000 - 16..=700_000).contains(&sum), "{sum}: twice the product of rate and delay");
}

// xfwa, section III: hops by TTL, of ACKs and of data
#[test]
fn hops_are_counted_from_64_128_and_255() {
    // `xfwa`, section III: "the number of hops traversed by both ACK and data packets using the Time to Live (TTL) field".
    for (ttl, ttl_back, hops) in [(64, 64, 0), (63, 62, 3), (128, 126, 2), (255, 250, 5), (100, 1, 28 + 63)] {
        let mut gateway = gateway(GatewaySpec::Xfwa(by_ttl()));
        gateway.forward(at(0), &Header { ttl, ..syn(1, None) }, &T1);
        gateway.backward(at(0), &Header { ttl: ttl_back, ..syn_ack(1, None) }, &T1);
        let place = gateway.flows.find(&key(1)).unwrap();
        assert_eq!(gateway.flows.rtt(place), Some((hops + 2) * 40_000_000), "{ttl} {ttl_back}");
    }
}

// xfwa, section III: H_b and H_f, the hops before entering the router
#[test]
fn until_the_other_direction_is_seen_its_hops_count_nothing() {
    // `xfwa`, section III: "the number of hops traversed by an ACK and a data packet before entering the router".
    let mut gateway = gateway(GatewaySpec::Xfwa(by_ttl()));
    gateway.forward(at(0), &Header { ttl: 62, ..syn(1, None) }, &T1);
    let place = gateway.flows.find(&key(1)).unwrap();
    assert_eq!(gateway.flows.rtt(place), Some(160_000_000));
    gateway.backward(at(80), &Header { ttl: 63, ..syn_ack(1, None) }, &T1);
    gateway.forward(at(80), &Header { ttl: 62, ..byte(1) }, &T1);
    assert_eq!((gateway.flows.rtt(place), gateway.flows.mean_rtt()), (Some(200_000_000), Some(2e8)));
}

// xfwa, section III: the feedback is computed every RTT_avg
#[test]
fn snapshots_are_taken_every_mean_round_trip_time() {
    // `xfwa`, section III: "The window feedback is computed every RTT_avg time".
    let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
    open(&mut gateway, at(0), 1, [None; 2]);
    open(&mut gateway, at(0), 2, [None; 2]);
    let mut window = |ms| {
        for n in [1, 2] {
            gateway.forward(at(ms), &data(n), &T1);
        }
        gateway.backward(at(ms), &ack(1, 65_535), &T1)
    };
    // 30,000 bytes of pipe and as many of buffer, for the one flow that was known at the first snapshot.
    assert_eq!((window(1), window(159)), (Some(60_000), Some(60_000)));
    assert_eq!((window(160), window(319)), (Some(30_000), Some(30_000)));
}

#[test]
fn flows_that_fall_silent_give_their_share_away() {
    let mut gateway = gateway(GatewaySpec::Xfwa(told(100)));
    let link = LinkView { rate: Rate::from_bps(1_600_000), buffer_bytes: 0, queued_bytes: 0 };
    for ms in 0..1000 {
        for n in 0..(if ms < 500 { 4 } else { 2 }) {
            gateway.forward(at(ms), &data(n), &link);
        }
        let expected = if ms >= 700 { 2 } else { 4 };
        if (101..500).contains(&ms) || ms >= 700 {
            assert_eq!(
                gateway.backward(at(ms), &syn_ack(0, None), &link),
                Some(20_000 / expected),
                "{ms} ms"
            );
        }
    }
    assert_eq!((gateway.stats().flows, gateway.stats().flows_max), (2, 4));
}

#[test]
fn while_nobody_is_active_the_last_snapshot_holds() {
    let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
    open(&mut gateway, at(0), 1, [None; 2]);
    gateway.backward(at(1), &ack(1, 65_535), &T1);
    assert_eq!(gateway.backward(at(10_000), &ack(1, 65_535), &T1), Some(60_000));
    assert_eq!(gateway.stats().flows, 0);
}

#[test]
fn a_wrong_estimate_scales_the_pipe_but_not_the_buffer() {
    for (rtt_factor, window) in [(0.5, 45_000), (1.0, 60_000), (1.1, 63_000)] {
        let mut gateway = gateway(GatewaySpec::Xfwa(XfwaOptions { rtt_factor, ..told(160) }));
        open(&mut gateway, at(0), 1, [None; 2]);
        assert_eq!(gateway.backward(at(1), &ack(1, 65_535), &T1), Some(window));
    }
}

// xfwa, section III: a flow is in progress for less than delta
#[test]
fn a_flow_is_in_progress_until_delta_after_its_last_packet_has_left_the_queue() {
    // `xfwa`, section III: "in progress if the time elapsed since its last packet transmission time is inferior than a predetermined threshold".
    // 28,500 bytes wait, and the packet itself has 1500: at 1.5 Mbit/s it is sent 160 ms after its arrival.
    let busy = LinkView { queued_bytes: 28_500, ..T1 };
    let data = Header { packet: 1500, ..data(1) };
    for (last_packet, ms, active) in [
        (LastPacket::Transmitted, 319, 1),
        (LastPacket::Transmitted, 320, 0),
        (LastPacket::Arrived, 159, 1),
        (LastPacket::Arrived, 160, 0),
    ] {
        let mut gateway = gateway(GatewaySpec::Xfwa(XfwaOptions { last_packet, ..told(160) }));
        gateway.forward(at(0), &data, &busy);
        gateway.backward(at(ms), &ack(2, 0), &busy);
        assert_eq!(gateway.stats().flows, active, "{last_packet:?}, {ms} ms");
    }
}

#[test]
fn delta_is_the_mean_round_trip_time_of_the_flows_in_progress() {
    let mut gateway =
        gateway(GatewaySpec::Xfwa(XfwaOptions { last_packet: LastPacket::Arrived, ..by_ttl() }));
    // Round-trip times of 160 and 400 ms: delta is 280 ms.
    for (n, ttl) in [(1, 63), (2, 60)] {
        gateway.forward(at(0), &Header { ttl, ..syn(n, None) }, &T1);
        gateway.backward(at(0), &Header { ttl, ..syn_ack(n, None) }, &T1);
        gateway.forward(at(0), &Header { ttl, ..byte(n) }, &T1);
    }
    gateway.backward(at(279), &Header { ttl: 63, ..ack(1, 65_535) }, &T1);
    assert_eq!(gateway.stats().flows, 2);
    gateway.backward(at(280), &Header { ttl: 63, ..ack(1, 65_535) }, &T1);
    assert_eq!(gateway.stats().flows, 0);
}

#[test]
fn a_window_has_room_for_the_data_in_its_share_of_whole_packets() {
    for (share_of, window) in [(ShareOf::Packets, 57_600), (ShareOf::Data, 60_000)] {
        let mut gateway = gateway(GatewaySpec::Xfwa(XfwaOptions { share_of, ..told(160) }));
        open(&mut gateway, at(0), 1, [None; 2]);
        gateway.forward(at(1), &Header { payload: 960, packet: 1000, ..data(1) }, &T1);
        gateway.forward(at(1), &Header { payload: 1, packet: 41, ..data(1) }, &T1);
        assert_eq!(gateway.backward(at(2), &ack(1, 65_535), &T1), Some(window), "{share_of:?}");
    }
}

#[test]
fn delta_factor_keeps_flows_active_for_longer() {
    for (delta_factor, active) in [(1.0, 0), (3.0, 1)] {
        let mut gateway = gateway(GatewaySpec::Xfwa(XfwaOptions { delta_factor, ..told(160) }));
        gateway.forward(at(0), &data(1), &T1);
        gateway.backward(at(400), &ack(2, 0), &T1);
        assert_eq!(gateway.stats().flows, active);
    }
}

/// The round-trip time that a handshake gives, in ms.
fn measured(segments: &[(u64, bool, Header)]) -> Option<u64> {
    let mut gateway =
        gateway(GatewaySpec::Xfwa(XfwaOptions { rtt: RttSource::Handshake, ..XfwaOptions::default() }));
    for (ms, forward, header) in segments {
        if *forward {
            gateway.forward(at(*ms), header, &T1);
        } else {
            gateway.backward(at(*ms), header, &T1);
        }
    }
    let place = gateway.flows.find(&key(1)).unwrap();
    gateway.flows.rtt(place).map(|nanos| nanos / 1_000_000)
}

#[test]
fn a_handshake_gives_the_round_trip_time_whoever_opens() {
    let completes = Header { payload: 0, ..data(1) };
    let near = [(5, true, syn(1, None)), (125, false, syn_ack(1, None)), (165, true, completes)];
    assert_eq!(measured(&near), Some(160));
    assert_eq!(measured(&near[..2]), None);
    let far = [
        (5, false, Header { ack: false, ..syn_ack(1, None) }),
        (45, true, Header { ack: true, ..syn(1, None) }),
        (205, false, ack(1, 65_535)),
    ];
    assert_eq!(measured(&far), Some(200));
}

#[test]
fn a_handshake_with_repetitions_gives_none() {
    let completes = Header { payload: 0, ..data(1) };
    let syns = [
        (5, true, syn(1, None)),
        (1005, true, syn(1, None)),
        (1025, false, syn_ack(1, None)),
        (1165, true, completes),
    ];
    assert_eq!(measured(&syns), None);
    let answers = [
        (5, true, syn(1, None)),
        (125, false, syn_ack(1, None)),
        (325, false, syn_ack(1, None)),
        (365, true, completes),
    ];
    assert_eq!(measured(&answers), None);
    let again = [
        (365, true, Header { fin: true, ..completes }),
        (400, true, syn(1, None)),
        (520, false, syn_ack(1, None)),
        (560, true, completes),
    ];
    assert_eq!(measured(&[&answers[..], &again].concat()), Some(160), "the next connection");
}

#[test]
fn flows_without_a_round_trip_time_count_with_the_mean() {
    let options =
        XfwaOptions { rtt: RttSource::Handshake, unknown_scale: UnknownScale::Zero, ..Default::default() };
    let mut gateway = gateway(GatewaySpec::Xfwa(options));
    gateway.forward(at(0), &syn(1, None), &T1);
    gateway.backward(at(120), &syn_ack(1, None), &T1);
    gateway.forward(at(159), &data(2), &T1);
    assert_eq!(gateway.backward(at(159), &ack(2, 65_535), &T1), None, "no round-trip time is known");
    gateway.forward(at(160), &data(1), &T1);
    assert_eq!(gateway.backward(at(160), &ack(1, 65_535), &T1), Some(30_000));
    assert_eq!(gateway.backward(at(160), &ack(2, 65_535), &T1), Some(30_000));
}

#[test]
fn redistribution_gives_what_a_small_receiver_cannot_use_to_the_others() {
    for (redistribute, others) in [(false, 15_000), (true, 18_000)] {
        let mut gateway = gateway(GatewaySpec::Xfwa(XfwaOptions { redistribute, ..told(160) }));
        (0..4).for_each(|n| open(&mut gateway, at(0), n, [None; 2]));
        for ms in 1..1000 {
            for n in 0..4 {
                gateway.forward(at(ms), &data(n), &T1);
                let own = if n == 0 { 6000 } else { 65_535 };
                let window = gateway.backward(at(ms), &ack(n, own), &T1);
                match (n, ms) {
                    (0, _) => assert_eq!(window, None, "{ms} ms"),
                    (_, 500..) => assert_eq!(window, Some(others), "{n}, {ms} ms"),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn redistribution_gives_what_a_slow_sender_leaves_to_the_others_and_lets_it_grow() {
    let mut gateway = gateway(GatewaySpec::Xfwa(XfwaOptions { redistribute: true, ..told(160) }));
    (0..4).for_each(|n| open(&mut gateway, at(0), n, [None; 2]));
    let mut last = [None; 4];
    for ms in 1..=2000 {
        for n in 0..4 {
            // 1.5 Mbit/s: 187.5 bytes a millisecond, of which the first flow uses 3.75 (a 50th) and the others a third each.
            let payload = if n == 0 { 375 } else { 6125 };
            if ms % 100 == n {
                gateway.forward(at(ms), &Header { payload, packet: payload, ..data(n as u32) }, &T1);
            }
            last[n as usize] = gateway.backward(at(ms), &ack(n as u32, 65_535), &T1).or(last[n as usize]);
        }
    }
    let [slow, others @ ..] = last.map(Option::unwrap);
    assert!(others.iter().all(|window| *window > 16_500 && *window <= 20_000), "{others:?}");
    assert!(slow > 15_000, "{slow}: the slow one is not tied to what it uses");
}

/// Section III: "every RTT_avg". With times of 160 and 400 ms that is 280 ms, neither the one nor the other.
#[test]
fn snapshots_are_as_far_apart_as_the_mean_of_different_round_trip_times() {
    let mut gateway = gateway(GatewaySpec::Xfwa(by_ttl()));
    let send = |gateway: &mut Gateway, ms| {
        for (n, ttl) in [(1, 63), (2, 60)] {
            gateway.forward(at(ms), &Header { ttl, ..data(n) }, &T1);
        }
    };
    for (n, ttl) in [(1, 63), (2, 60)] {
        gateway.forward(at(0), &Header { ttl, ..syn(n, None) }, &T1);
        gateway.backward(at(0), &Header { ttl, ..syn_ack(n, None) }, &T1);
        gateway.forward(at(0), &Header { ttl, ..byte(n) }, &T1);
    }
    // The first snapshot knows one flow, of 160 ms; the second, then, is of both.
    send(&mut gateway, 160);
    let mut window = |ms, flows: u32| {
        for n in 0..flows {
            gateway.forward(at(ms), &Header { ttl: 63, ..data(10 + n) }, &T1);
        }
        send(&mut gateway, ms);
        gateway.backward(at(ms), &Header { ttl: 63, ..ack(1, 65_535) }, &T1)
    };
    // 160 of 560 ms of 1.5 Mbit/s x 280 ms + 30,000.
    let both = Some((82_500.0_f64 * 160.0 / 560.0) as u16);
    assert_eq!([window(170, 0), window(439, 2)], [both; 2]);
    // Two more of (hops seen one way) 120 ms: 160 of 800.
    let mean = 200.0;
    let four = Some(((1.5e6 / 8e3 * mean + 30_000.0) * 160.0 / 800.0) as u16);
    assert_eq!(window(440, 2), four);
    // RTT_avg is 200 ms now.
    assert_eq!([window(639, 0), window(640, 2)], [four; 2]);
}

/// Section III: delta is RTT_avg; nothing longer, nothing shorter.
#[test]
fn delta_is_one_mean_round_trip_time_and_not_more() {
    for (ms, active) in [(159, 1), (160, 0), (200, 0), (240, 0), (319, 0)] {
        let mut gateway =
            gateway(GatewaySpec::Xfwa(XfwaOptions { last_packet: LastPacket::Arrived, ..told(160) }));
        gateway.forward(at(0), &data(1), &T1);
        gateway.backward(at(ms), &ack(2, 0), &T1);
        assert_eq!(gateway.stats().flows, active, "{ms} ms");
    }
    for (factor, last) in [(1.5, 240), (2.0, 320)] {
        for (ms, active) in [(last - 1, 1), (last, 0)] {
            let options = XfwaOptions { delta_factor: factor, last_packet: LastPacket::Arrived, ..told(160) };
            let mut gateway = gateway(GatewaySpec::Xfwa(options));
            gateway.forward(at(0), &data(1), &T1);
            gateway.backward(at(ms), &ack(2, 0), &T1);
            assert_eq!(gateway.stats().flows, active, "{factor} {ms} ms");
        }
    }
}

/// Sections III and V: feedback is written in the window of ACKs; a segment whose ACK flag is not set has none.
#[test]
fn segments_without_ack_keep_their_window() {
    let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
    open(&mut gateway, at(0), 1, [None; 2]);
    (2..40).for_each(|n| open(&mut gateway, at(0), n, [None; 2]));
    (1..40).for_each(|n| gateway.forward(at(160), &data(n), &T1));
    assert_eq!(gateway.backward(at(161), &Header { ack: false, ..ack(1, 65_535) }, &T1), None);
    assert!(gateway.backward(at(161), &ack(1, 65_535), &T1).is_some());
}

/// Where a table is full, the flow without recent data that was seen longest ago makes way; an acknowledgment either way is a sight of it.
#[test]
fn idle_flows_stand_in_the_order_in_which_they_were_seen() {
    for forward in [true, false] {
        let mut gateway = gateway(GatewaySpec::Xfwa(XfwaOptions { max_flows: 3, ..told(10) }));
        for n in 1..=3 {
            gateway.forward(at(u64::from(n)), &data(n), &T1);
        }
        // All have expired, in the order of their data; the first is seen again.
        gateway.backward(at(500), &ack(9, 0), &T1);
        assert_eq!(gateway.stats().flows, 0);
        match forward {
            true => gateway.forward(at(501), &Header { payload: 0, ..data(1) }, &T1),
            false => drop(gateway.backward(at(501), &ack(1, 0), &T1)),
        }
        gateway.forward(at(502), &data(4), &T1);
        let known: Vec<bool> = (1..=4).map(|n| gateway.flows.find(&key(n)).is_some()).collect();
        assert_eq!(known, [true, false, true, true]);
    }
}

/// The constants of the redistribution: a flow claims twice what its rate needs by equation 1, in which an equal share of the link is
/// worth (pipe + buffer) / pipe times its bandwidth-delay product; one that was not there for the whole interval claims all.
#[test]
fn a_slow_flow_claims_twice_the_window_of_its_rate_and_a_fresh_one_all() {
    let mut gateway = gateway(GatewaySpec::Xfwa(XfwaOptions { redistribute: true, ..told(160) }));
    (0..3).for_each(|n| open(&mut gateway, at(0), n, [None; 2]));
    let send = |gateway: &mut Gateway, ms, n, payload| {
        gateway.forward(at(ms), &Header { payload, packet: payload, ..data(n) }, &T1);
    };
    for ms in (10..800).step_by(10) {
        // Of 30,000 bytes in 160 ms the first sends 1600, the others 14,240 each.
        [100, 890, 890].iter().zip(0..).for_each(|(payload, n)| send(&mut gateway, ms, n, *payload));
    }
    // Pipe and buffer are twice the pipe: 1600 x 2 x 2 of 60,000 for the first, half of the rest for each of the others.
    assert_eq!(gateway.backward(at(799), &ack(1, 65_535), &T1), Some((60_000 - 6400) / 2));
    open(&mut gateway, at(799), 3, [None; 2]);
    send(&mut gateway, 799, 3, 100);
    send(&mut gateway, 800, 0, 100);
    assert_eq!(gateway.backward(at(801), &ack(1, 65_535), &T1), Some((60_000 - 6400) / 3));
}

#[test]
fn a_flood_of_syns_takes_nobodys_window() {
    let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
    open(&mut gateway, at(0), 1, [None, None]);
    gateway.forward(at(0), &data(1), &T1);
    for n in 100..1100 {
        gateway.forward(at(100), &syn(n, None), &T1);
    }
    gateway.forward(at(170), &data(1), &T1);
    // Pipe and buffer, 30,000 bytes each.
    assert_eq!(gateway.backward(at(170), &ack(1, 65_535), &T1), Some(60_000));
    assert_eq!((gateway.stats().flows, gateway.stats().flows_remembered), (1, 1001));
}
