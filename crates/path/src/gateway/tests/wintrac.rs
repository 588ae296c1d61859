//! WINTRAC: the window moves by a share of the queue's distance from its target.

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
