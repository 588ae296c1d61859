//! EWA: the window is alpha log2(free buffer), and alpha follows the queue.

use bentpipe_units::Bytes;

use super::*;

fn link(packets: u64, queued: u64) -> LinkView {
    LinkView { buffer_bytes: packets * 1000, queued_bytes: queued * 1000, ..T1 }
}

fn ewa(options: EwaOptions) -> Gateway {
    let options = EwaOptions {
        packet: Bytes::new(1000),
        segment: Bytes::new(1000),
        least: Bytes::new(1000),
        ..options
    };
    let mut gateway = gateway(GatewaySpec::Ewa(options));
    gateway.forward(Time::ZERO, &syn(1, None), &link(64, 64));
    gateway
}

/// Alpha stays 1 when it can neither rise nor fall.
fn still() -> EwaOptions {
    EwaOptions { alpha_max: 1.0, decrease: 1.0, ..EwaOptions::default() }
}

// xfwa, section II: EWA and WINTRAC make the window a function of the free buffer [15] [16] [17]
#[test]
fn the_window_is_the_logarithm_of_the_free_buffer() {
    // `xfwa`, section II: "the window size of TCP connections as a function of the free buffer value".
    let mut ewa = ewa(still());
    for (queued, window) in
        [(0, 6000), (32, 5000), (48, 4000), (60, 2000), (62, 1000), (63, 1000), (64, 1000)]
    {
        assert_eq!(ewa.backward(at(1), &ack(1, 65_535), &link(64, queued)), Some(window), "{queued}");
    }
}

#[test]
fn alpha_rises_below_the_threshold_and_falls_above_it() {
    let options = EwaOptions { increase: 1.0, decrease: 0.5, alpha_max: 4.0, ..EwaOptions::default() };
    let mut ewa = ewa(options);
    // The SYN met a full queue: alpha fell to 1/2 and holds for 10 ms.
    assert_eq!(ewa.backward(at(9), &ack(1, 65_535), &link(64, 0)), Some(3000));
    for (ms, queued, window) in [
        (10, 0, 9000),    // 1.5 x 6
        (20, 31, 12_610), // 2.5 x log2 33
        (30, 32, 6_250),  // 1.25 x 5: the threshold itself is above
        (40, 0, 13_500),
        (1000, 0, 19_500), // one step for the silence
        (1010, 0, 24_000), // the bound
        (1020, 0, 24_000),
    ] {
        assert_eq!(ewa.backward(at(ms), &ack(1, 65_535), &link(64, queued)), Some(window), "{ms} ms");
    }
}

// xfwa, section II: they are fair only in the largest window that can be had
#[test]
fn every_flow_has_the_same_window_whatever_its_round_trip_time() {
    // `xfwa`, section II: "achieve fairness only in the distribution of the maximum achievable window size".
    let mut ewa = ewa(still());
    ewa.forward(at(2), &Header { ttl: 50, ..syn(2, None) }, &link(64, 0));
    let windows = [1, 2].map(|n| ewa.backward(at(3), &ack(n, 65_535), &link(64, 32)));
    assert_eq!(windows, [Some(5000), Some(5000)]);
    assert_eq!(ewa.stats().flows, 2);
}

#[test]
fn an_unlimited_buffer_needs_no_window() {
    let mut ewa = ewa(EwaOptions { alpha_max: 64.0, ..EwaOptions::default() });
    let endless = LinkView { buffer_bytes: u64::MAX, ..T1 };
    for ms in (10..20_000).step_by(10) {
        ewa.forward(at(ms), &data(1), &endless);
    }
    assert_eq!(ewa.backward(at(20_000), &ack(1, 65_535), &endless), None);
}

/// Who sent nothing for half a second is not counted.
#[test]
fn flows_without_data_expire() {
    let mut ewa = ewa(still());
    ewa.forward(at(100), &data(2), &link(64, 0));
    assert_eq!(ewa.stats().flows, 2);
    ewa.backward(at(550), &ack(2, 65_535), &link(64, 0));
    assert_eq!(ewa.stats().flows, 1);
    ewa.backward(at(700), &ack(2, 65_535), &link(64, 0));
    assert_eq!(ewa.stats().flows, 0);
}
