//! WINTRAC: the window moves by a share of the queue's distance from its target.

use bentpipe_units::Bytes;

use super::*;

fn link(queued: u64) -> LinkView {
    LinkView { buffer_bytes: 40_000, queued_bytes: queued, ..T1 }
}

fn wintrac(flows: u32) -> Gateway {
    let mut gateway = gateway(GatewaySpec::Wintrac(WintracOptions::default()));
    for n in 1..=flows {
        gateway.forward(Time::ZERO, &syn(n, None), &link(20_000));
    }
    gateway
}

#[test]
fn the_window_falls_and_rises_with_the_queue_and_stays_within_its_bounds() {
    let mut wintrac = wintrac(1);
    assert_eq!(wintrac.backward(at(1), &ack(1, 65_535), &link(40_000)), None, "it starts at the top");
    for (ms, queued, window) in [
        (50, 40_000, Some(63_535)),
        (60, 0, Some(63_535)), // within the interval
        (100, 30_000, Some(62_535)),
        (150, 20_000, Some(62_535)),
        (200, 0, Some(64_535)),
        (250, 0, None), // 65,535 again
    ] {
        assert_eq!(wintrac.backward(at(ms), &ack(1, 65_535), &link(queued)), window, "{ms} ms");
    }
    for n in 0..100 {
        wintrac.backward(at(300 + 50 * n), &ack(1, 65_535), &link(40_000));
    }
    assert_eq!(wintrac.backward(at(6000), &ack(1, 65_535), &link(40_000)), Some(1460));
}

#[test]
fn active_flows_divide_the_step() {
    let mut wintrac = wintrac(4);
    assert_eq!(wintrac.backward(at(50), &ack(2, 65_535), &link(40_000)), Some(65_035));
    assert_eq!(wintrac.stats().flows, 4);
    wintrac.forward(at(400), &data(1), &link(20_000));
    assert_eq!(wintrac.backward(at(600), &ack(2, 65_535), &link(40_000)), Some(63_035));
    assert_eq!(wintrac.stats().flows, 1);
}

/// Over an empty queue W rises, but not far beyond the window that a flow uses: here 4 segments every 500 ms, with a round trip of 400 ms.
/// The target of the queue, 5000 bytes, is less.
#[test]
fn the_window_does_not_wind_up_while_no_flow_is_held_by_it() {
    let link = LinkView { buffer_bytes: 10_000, queued_bytes: 0, ..T1 };
    let options = WintracOptions { most: Bytes::new(1 << 20), ..WintracOptions::default() };
    let mut wintrac = gateway(GatewaySpec::Wintrac(options));
    wintrac.forward(at(0), &syn(1, Some(0)), &link);
    wintrac.backward(at(400), &syn_ack(1, Some(0)), &link);
    wintrac.forward(at(400), &Header { payload: 0, ..data(1) }, &link);
    let mut told = None;
    for round in 1..=20 {
        let ms = 500 * round;
        (0..4).for_each(|_| wintrac.forward(at(ms), &data(1), &link));
        told = wintrac.backward(at(ms + 400), &ack(1, 65_535), &link);
    }
    // Twice four segments of 1460 bytes, of which 400 of 500 ms are a round trip.
    assert_eq!(told, Some(9344));
    // Three times as many are sent: the window follows.
    for round in 21..=23 {
        (0..12).for_each(|_| wintrac.forward(at(500 * round), &data(1), &link));
        told = wintrac.backward(at(500 * round + 400), &ack(1, 65_535), &link);
    }
    assert!(told.is_some_and(|told| told > 9344 && told <= 28_032), "{told:?}");
}

/// A flow that sends little, or after a silence, has the window that fits into the queue with its like: what is in use does not hold it down.
#[test]
fn windows_that_fit_the_queue_together_are_not_held_down_by_what_is_in_use() {
    let mut wintrac = gateway(GatewaySpec::Wintrac(WintracOptions::default()));
    wintrac.forward(at(0), &syn(1, Some(0)), &link(0));
    wintrac.backward(at(400), &syn_ack(1, Some(0)), &link(0));
    for round in 1..=20 {
        wintrac.forward(at(30_000 * round), &data(1), &link(0));
    }
    assert_eq!(wintrac.backward(at(600_400), &ack(1, 65_535), &link(0)), Some(20_000));
    wintrac.forward(at(600_500), &syn(2, Some(0)), &link(0));
    wintrac.forward(at(600_500), &data(1), &link(0));
    assert_eq!(wintrac.backward(at(600_600), &ack(1, 65_535), &link(0)), Some(10_000));
}

/// A silence of many intervals moves the window once.
#[test]
fn a_silence_counts_as_one_interval() {
    let mut wintrac = wintrac(1);
    wintrac.backward(at(50), &ack(1, 65_535), &link(40_000));
    assert_eq!(wintrac.backward(at(5000), &ack(1, 65_535), &link(40_000)), Some(61_535));
    assert_eq!(wintrac.backward(at(5001), &ack(1, 65_535), &link(40_000)), Some(61_535));
}
