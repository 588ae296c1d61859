//! The router of XCP: what the draft's pseudo-code gives and takes, step by step.

use super::*;

/// 100,000 bytes a second.
fn link(queued_bytes: u64) -> LinkView {
    LinkView { rate: Rate::from_bps(800_000), buffer_bytes: 1 << 20, queued_bytes }
}

/// A router whose first control interval is as long as the round trips here.
fn router(options: XcpOptions) -> Gateway {
    let least_interval = Span::from_millis(500);
    gateway(GatewaySpec::Xcp(XcpOptions { least_interval, ..options }))
}

/// What a packet of 1000 bytes gets of the router, with an RTT of 500 ms, that comes with so many others in a round trip.
fn asks(router: &mut Gateway, ms: u64, packets: f64, delta: f64, queued: u64) -> f64 {
    let mut demand = Demand { rtt: 0.5, interval: 0.5 / packets, delta };
    router.enters(at(ms), 1000, Some(&mut demand), &link(queued));
    demand.delta
}

/// Packets of a round trip from `from` on, all that one connection sends; what each gets.
fn round(router: &mut Gateway, from: u64, packets: u64, queued: u64) -> Vec<f64> {
    let each = 500 / packets;
    (0..packets).map(|n| asks(router, from + n * each, packets as f64, 1e9, queued)).collect()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found} instead of {expected}");
}

#[test]
fn a_router_gives_alpha_of_the_spare_rate_over_one_interval() {
    let mut router = router(XcpOptions::default());
    // Nothing is known in the first interval.
    assert_eq!(round(&mut router, 0, 10, 0), [0.0; 10]);
    // 20,000 of 100,000 bytes a second came: 0.4 times 80,000 is given, a tenth with each of ten packets.
    for given in round(&mut router, 500, 10, 0) {
        near(given, 3200.0);
    }
    // There is no more than that.
    near(asks(&mut router, 980, 10.0, 1e9, 0), 0.0);
}

#[test]
fn what_is_over_the_rate_and_what_stands_in_the_queue_is_taken_by_the_byte() {
    let mut router = router(XcpOptions::default());
    for _ in 0..60 {
        asks(&mut router, 0, 60.0, 1e9, 10_000);
    }
    // 0.4 (100,000 − 120,000) − 0.226 × 10,000 / 0.5, over 60,000 bytes.
    near(asks(&mut router, 500, 60.0, 1e9, 10_000), -12_520.0 / 60.0);
    let mut large = Demand { rtt: 0.5, interval: 0.1, delta: 1e9 };
    router.enters(at(510), 3000, Some(&mut large), &link(10_000));
    near(large.delta, -3.0 * 12_520.0 / 60.0);
}

#[test]
fn a_queue_that_drains_in_between_does_not_stand() {
    let mut router = router(XcpOptions::default());
    round(&mut router, 0, 10, 0);
    for n in 0..60 {
        asks(&mut router, 500 + n * 8, 60.0, 1e9, if n % 20 == 19 { 0 } else { 10_000 });
    }
    // The least is looked for in half of a round trip, less what the queue takes to drain: in 200 ms.
    near(asks(&mut router, 1000, 60.0, 1e9, 10_000), -0.4 * 20_000.0 / 60.0);
}

#[test]
fn a_tenth_of_a_full_link_changes_hands_from_the_fast_to_the_slow() {
    let mut router = router(XcpOptions::default());
    let interval = |router: &mut Gateway, ms| {
        let fast: f64 = (0..40).map(|_| asks(router, ms, 40.0, 1e9, 0)).sum();
        let slow: f64 = (0..10).map(|_| asks(router, ms, 10.0, 1e9, 0)).sum();
        (fast, slow)
    };
    assert_eq!(interval(&mut router, 0), (0.0, 0.0));
    // 10,000 bytes a second: half of it for each, taken by four fifths and one.
    let (fast, slow) = interval(&mut router, 500);
    near(fast, 5000.0 - 8000.0);
    near(slow, 5000.0 - 2000.0);
}

#[test]
fn what_another_router_gives_stays_where_it_is_less_and_comes_off_the_pools() {
    let mut router = router(XcpOptions::default());
    round(&mut router, 0, 10, 0);
    // 3200 would be given; the packet keeps 200, and 3000 are left beside the other nine's.
    assert_eq!(asks(&mut router, 500, 10.0, 200.0, 0), 200.0);
    let given: f64 = (1..20).map(|n| asks(&mut router, 500 + n * 25, 10.0, 1e9, 0)).sum();
    near(given, 32_000.0 - 200.0);
}

#[test]
fn an_interval_is_the_mean_round_trip_time_between_its_bounds() {
    for (rtts, ends) in [([0.2, 0.4], 300), ([0.2, 9.0], 600), ([0.002, 0.002], 10)] {
        let mut router = gateway(GatewaySpec::Xcp(XcpOptions::default()));
        let ask = |router: &mut Gateway, ms: u64| {
            let mut last = 0.0;
            for rtt in rtts {
                let mut demand = Demand { rtt, interval: 0.01, delta: 1e9 };
                router.enters(at(ms), 100, Some(&mut demand), &link(0));
                last = demand.delta;
            }
            last
        };
        ask(&mut router, 0);
        // The first interval, of 10 ms, ends here; the next is as long as the round trips were on the mean.
        let given = ask(&mut router, 20);
        assert!(given > 0.0);
        // Both have had all that there was.
        assert_eq!(ask(&mut router, 20 + ends - 1), 0.0, "{rtts:?}");
        assert!(ask(&mut router, 20 + ends) > 0.0, "{rtts:?}");
    }
}

#[test]
fn p_xcp_gives_to_those_that_take_it_what_the_limited_leave() {
    for (limited, factor) in [(Limited::Ignore, 1.0), (Limited::Scale, 2.0)] {
        let mut router = router(XcpOptions { limited, ..XcpOptions::default() });
        let mut given = 0.0;
        for interval in 0..3 {
            given = (0..10)
                .map(|n| {
                    let ms = 500 * interval + 50 * n;
                    assert_eq!(asks(&mut router, ms, 10.0, 0.0, 0), 0.0);
                    asks(&mut router, ms, 10.0, 1e9, 0)
                })
                .sum();
        }
        // Two connections with ten packets each, of which one takes nothing: of 0.4 times 60,000 it leaves half.
        near(given, factor * 12_000.0);
    }
}

#[test]
fn where_nearly_all_are_limited_the_scale_has_a_bound() {
    let options = XcpOptions { limited: Limited::Scale, limited_most: 0.75, ..XcpOptions::default() };
    let mut router = router(options);
    let mut given = 0.0;
    for interval in 0..3 {
        for connection in 0..10 {
            given = asks(&mut router, 500 * interval, 1.0, if connection < 9 { 0.0 } else { 1e9 }, 0);
        }
    }
    // 0.4 (100,000 − 20,000), four times as much, one of ten.
    near(given, 12_800.0);
}

#[test]
fn packets_without_a_header_count_as_traffic_and_windows_stay() {
    let mut router = router(XcpOptions::default());
    assert!(router.reads_demands());
    round(&mut router, 0, 10, 0);
    for _ in 0..20 {
        router.enters(at(499), 1000, None, &link(0));
    }
    // 60,000 bytes a second came.
    near(asks(&mut router, 500, 10.0, 1e9, 0), 0.4 * 40_000.0 / 10.0);
    open(&mut router, at(600), 1, [Some(7), Some(7)]);
    assert_eq!(router.backward(at(601), &ack(1, 65_535), &link(0)), None);
    assert_eq!((router.stats().flows, router.stats().windows_lowered), (1, 0));
}
