//! What a gateway makes of connections: scaling, openings, endings, and windows that it leaves alone.

use super::*;

/// One active flow of 160 ms on T1: a window of 60,000 bytes.
const SHARE: u16 = 60_000;

fn lowered(scales: [Option<u8>; 2], window: u16) -> Option<u16> {
    let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
    open(&mut gateway, at(0), 1, scales);
    gateway.backward(at(1), &ack(1, window), &T1)
}

#[test]
fn windows_are_scaled_only_if_both_sides_agreed() {
    assert_eq!(lowered([None, None], 65_535), Some(SHARE));
    assert_eq!(lowered([Some(7), None], 65_535), Some(SHARE));
    assert_eq!(
        lowered([None, Some(7)], 65_535),
        Some(SHARE),
        "no SYN/ACK may do that, and it does not count"
    );
    assert_eq!(lowered([Some(3), Some(7)], 65_535), Some(468), "59,904 of 60,000: rounded down");
    assert_eq!(lowered([Some(3), Some(0)], 65_535), Some(SHARE));
    assert_eq!(lowered([Some(3), Some(200)], 65_535), Some(3), "a shift above 14 counts as 14");
}

#[test]
fn a_window_is_only_ever_lowered() {
    assert_eq!(lowered([None, None], 60_001), Some(60_000));
    assert_eq!(lowered([None, None], 60_000), None);
    assert_eq!(lowered([None, None], 1), None);
    assert_eq!(lowered([None, None], 0), None, "a closed window stays closed");
}

#[test]
fn no_window_falls_below_the_least() {
    for (shift, field) in [(None, 1460), (Some(0), 1460), (Some(7), 12), (Some(14), 1)] {
        let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
        for n in 1..=1000 {
            open(&mut gateway, at(0), n, [shift; 2]);
        }
        // A snapshot that counts all.
        gateway.forward(at(159), &data(1), &T1);
        (1..=1000).for_each(|n| gateway.forward(at(159), &data(n), &T1));
        assert_eq!(gateway.backward(at(160), &ack(1, 65_535), &T1), Some(field), "{shift:?}");
    }
}

#[test]
fn the_window_of_a_syn_is_not_scaled() {
    let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
    gateway.forward(at(0), &data(9), &T1);
    gateway.forward(at(0), &syn(1, Some(7)), &T1);
    assert_eq!(gateway.backward(at(1), &syn_ack(1, Some(7)), &T1), Some(SHARE));
    assert_eq!(gateway.backward(at(1), &ack(1, 65_535), &T1), Some(468));
}

#[test]
fn flows_first_seen_midway_are_left_alone_or_taken_for_unscaled() {
    for (unknown_scale, window) in [(UnknownScale::Leave, None), (UnknownScale::Zero, Some(SHARE))] {
        let mut gateway = gateway(GatewaySpec::Xfwa(XfwaOptions { unknown_scale, ..told(160) }));
        gateway.forward(at(0), &data(1), &T1);
        assert_eq!(gateway.backward(at(1), &ack(1, 65_535), &T1), window);
        assert_eq!(gateway.stats().flows, 1, "it counts either way");
    }
}

#[test]
fn half_a_handshake_is_enough_if_that_side_does_not_scale() {
    for (scale, window) in [(None, Some(SHARE)), (Some(2), None)] {
        let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
        gateway.forward(at(0), &syn(1, scale), &T1);
        gateway.forward(at(0), &byte(1), &T1);
        assert_eq!(gateway.backward(at(1), &ack(1, 65_535), &T1), window);
    }
}

#[test]
fn acknowledgments_of_unknown_flows_make_no_flow() {
    let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
    assert_eq!(gateway.backward(at(0), &ack(1, 65_535), &T1), None);
    gateway.forward(at(0), &Header { payload: 0, ..data(1) }, &T1);
    assert_eq!(gateway.flows.len(), 0);
}

/// Anybody may have written it. Who has ended sends no data, and counts no longer by that.
#[test]
fn a_reset_either_way_changes_nothing() {
    for forward in [true, false] {
        let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
        open(&mut gateway, at(0), 1, [None; 2]);
        let reset = Header { rst: true, ..if forward { data(1) } else { ack(1, 65_535) } };
        if forward {
            gateway.forward(at(1), &reset, &T1);
        } else {
            assert_eq!(gateway.backward(at(1), &reset, &T1), None);
        }
        assert_eq!((gateway.flows.len(), gateway.flows.active_flows()), (1, 1));
        assert_eq!(gateway.backward(at(2), &ack(1, 65_535), &T1), Some(SHARE));
        gateway.backward(at(200), &ack(2, 65_535), &T1);
        assert_eq!(gateway.flows.active_flows(), 0);
    }
}

/// A window below the sender's own segment would stall it (RFC 9293 3.8.6.2.1).
#[test]
fn no_window_falls_below_the_segment_that_the_receiver_s_syn_names() {
    for (sender, receiver, least) in [
        (None, None, 1460),
        (Some(1000), Some(536), 1460),
        (Some(536), Some(8960), 8960),
        (Some(8960), None, 1460),
    ] {
        let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
        (0..60).for_each(|n| open(&mut gateway, at(0), n, [None; 2]));
        gateway.forward(at(160), &Header { mss: sender, ..syn(99, None) }, &T1);
        gateway.backward(at(160), &Header { mss: receiver, ..syn_ack(99, None) }, &T1);
        (0..60).for_each(|n| gateway.forward(at(161), &data(n), &T1));
        (0..60).for_each(|n| gateway.forward(at(321), &data(n), &T1));
        assert_eq!(gateway.backward(at(322), &ack(99, 65_535), &T1), Some(least), "{sender:?} {receiver:?}");
        // With a scale the least is rounded up.
        open(&mut gateway, at(323), 98, [Some(7); 2]);
        gateway.backward(at(323), &Header { mss: receiver, ..syn_ack(97, None) }, &T1);
        assert_eq!(gateway.backward(at(324), &ack(98, 65_535), &T1), Some(12));
    }
}

/// Also where the receiver opens the connection, so that the sender's SYN comes second.
#[test]
fn the_segment_of_the_sender_s_syn_bounds_nothing() {
    let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
    (0..60).for_each(|n| open(&mut gateway, at(0), n, [None; 2]));
    gateway.backward(at(1), &Header { ack: false, mss: Some(536), ..syn_ack(99, None) }, &T1);
    gateway.forward(at(1), &Header { ack: true, mss: Some(8960), ..syn(99, None) }, &T1);
    (0..60).for_each(|n| gateway.forward(at(161), &data(n), &T1));
    (0..60).for_each(|n| gateway.forward(at(321), &data(n), &T1));
    assert_eq!(gateway.backward(at(322), &ack(99, 65_535), &T1), Some(1460));
}

#[test]
fn a_flow_ends_when_both_sides_have_closed() {
    let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
    open(&mut gateway, at(0), 1, [None; 2]);
    gateway.forward(at(1), &Header { fin: true, ..data(1) }, &T1);
    assert_eq!(gateway.flows.len(), 1);
    assert_eq!(gateway.backward(at(2), &Header { fin: true, ..ack(1, 65_535) }, &T1), Some(SHARE));
    assert_eq!(gateway.flows.len(), 0);
    gateway.forward(at(3), &Header { payload: 0, ..data(1) }, &T1);
    assert_eq!(gateway.flows.len(), 0, "the last acknowledgment makes no flow");
}

#[test]
fn reused_ports_start_afresh() {
    let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
    open(&mut gateway, at(0), 1, [Some(7); 2]);
    assert_eq!(gateway.backward(at(1), &ack(1, 65_535), &T1), Some(468));
    open(&mut gateway, at(100), 1, [None; 2]);
    assert_eq!(gateway.backward(at(101), &ack(1, 65_535), &T1), Some(SHARE));
    assert_eq!(gateway.flows.len(), 1);
}

#[test]
fn data_against_the_guarded_direction_is_no_flow_of_this_link() {
    let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
    open(&mut gateway, at(0), 1, [None; 2]);
    for ms in 1..500 {
        gateway.backward(at(ms), &Header { payload: 1460, ..ack(1, 65_535) }, &T1);
        gateway.forward(at(ms), &Header { payload: 0, ..data(1) }, &T1);
    }
    assert_eq!(gateway.stats().flows, 0);
    assert_eq!(gateway.flows.len(), 1, "it is remembered, for its scale");
}

#[test]
fn both_directions_of_a_connection_may_carry_data() {
    let mut there = gateway(GatewaySpec::Xfwa(told(160)));
    let mut back = gateway(GatewaySpec::Xfwa(told(160)));
    let link = LinkView { buffer_bytes: 0, ..T1 };
    let reversed = |header: Header| Header { flow: header.flow.reversed(), ..header };
    for (gateway, turn) in [(&mut there, false), (&mut back, true)] {
        let turned = |header| if turn { reversed(header) } else { header };
        gateway.forward(at(0), &turned(syn(1, None)), &link);
        gateway.backward(at(0), &turned(syn_ack(1, None)), &link);
        gateway.forward(at(1), &turned(data(1)), &link);
        let both = Header { payload: 1460, ..ack(1, 65_535) };
        assert_eq!(gateway.backward(at(1), &turned(both), &link), Some(30_000));
    }
}

#[test]
fn a_later_gateway_only_lowers_further() {
    let narrow = LinkView { rate: Rate::from_bps(500_000), buffer_bytes: 5000, ..T1 };
    for (links, window) in [([T1, narrow], 15_000), ([narrow, T1], 15_000), ([T1, T1], SHARE)] {
        let mut header = ack(1, 65_535);
        for link in links {
            let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
            gateway.forward(at(0), &syn(1, None), &link);
            gateway.backward(at(0), &syn_ack(1, None), &link);
            gateway.forward(at(0), &byte(1), &link);
            header.window = gateway.backward(at(1), &header, &link).unwrap_or(header.window);
        }
        assert_eq!(header.window, window);
    }
}

#[test]
fn statistics_tell_what_was_done() {
    let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
    open(&mut gateway, at(0), 1, [None; 2]);
    gateway.backward(at(1), &ack(1, 1000), &T1);
    gateway.backward(at(1), &ack(1, 65_535), &T1);
    let expected = GatewayStats {
        flows: 1,
        flows_max: 1,
        flows_remembered: 1,
        evicted: 0,
        segments_forward: 2,
        segments_backward: 3,
        windows_lowered: 1,
        window_mean_bytes: 60_000.0,
        ..GatewayStats::default()
    };
    assert_eq!(gateway.stats(), expected);
}

/// Who knows the ports can write a SYN: only its answer makes the connection another.
#[test]
fn a_syn_that_nobody_answers_changes_nothing() {
    let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
    open(&mut gateway, at(0), 1, [Some(3), Some(7)]);
    gateway.forward(at(0), &Header { payload: 0, ..data(1) }, &T1);
    assert_eq!(gateway.backward(at(1), &ack(1, 65_535), &T1), Some(468));
    for forged in [syn(1, None), syn(1, Some(2))] {
        gateway.forward(at(2), &forged, &T1);
        assert_eq!(gateway.backward(at(3), &ack(1, 65_535), &T1), Some(468));
    }
    gateway.backward(at(4), &syn_ack(1, Some(6)), &T1);
    assert_eq!(gateway.backward(at(5), &ack(1, 65_535), &T1), Some(937));
}

/// A signature covers the window: who signs is left alone, whatever the gateway knew of the flow.
#[test]
fn signed_flows_are_left_alone() {
    let mut gateway = gateway(GatewaySpec::Xfwa(told(160)));
    open(&mut gateway, at(0), 1, [Some(3), Some(7)]);
    gateway.forward(at(0), &data(1), &T1);
    assert_eq!(gateway.backward(at(1), &ack(1, 65_535), &T1), Some(468));
    gateway.forward(at(2), &Header { signed: true, ..syn(1, Some(3)) }, &T1);
    assert_eq!(gateway.backward(at(3), &Header { signed: true, ..syn_ack(1, Some(7)) }, &T1), None);
    gateway.forward(at(4), &data(1), &T1);
    assert_eq!(gateway.backward(at(5), &ack(1, 65_535), &T1), None);
}
