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

/// Line 26: what another router has taken off a packet beyond this one's share comes off what is to be taken.
#[test]
fn what_a_packet_is_short_counts_as_taken() {
    let mut router = router(XcpOptions::default());
    for _ in 0..50 {
        asks(&mut router, 0, 50.0, 1e9, 0);
    }
    // The link is full: 10,000 bytes a second change hands, and alike packets would get what they lose.
    assert_eq!(asks(&mut router, 500, 50.0, -10_000.0, 0), -10_000.0);
    // All of it is taken by now, and a fiftieth is given.
    near(asks(&mut router, 501, 50.0, 1e9, 0), 200.0);
}

/// Lines 30 and 31.
#[test]
fn of_an_empty_pool_nothing_is_given() {
    let mut router = router(XcpOptions::default());
    round(&mut router, 0, 10, 0);
    let given: f64 = round(&mut router, 500, 10, 0).iter().sum();
    near(given, 32_000.0);
    near(round(&mut router, 990, 50, 0)[0], 0.0);
}

/// Line 36: Tq = max(ALLOWED_QUEUE, (Avg_rtt − inst_queue / capacity) / 2).
#[test]
fn the_least_queue_is_looked_for_in_half_a_round_trip_less_the_queue() {
    let mut router = router(XcpOptions::default());
    asks(&mut router, 0, 10.0, 1e9, 10_000);
    asks(&mut router, 500, 10.0, 1e9, 10_000);
    // From 790 to 990 ms: (500 − 100) / 2 ms. The queue is empty just before its end.
    for (ms, queued) in [(790, 10_000), (989, 0), (990, 10_000), (993, 10_000), (996, 10_000)] {
        asks(&mut router, ms, 10.0, 1e9, queued);
    }
    // Nothing stands: 0.4 (100,000 − 12,000), of which one of six packets gets its share.
    near(asks(&mut router, 1000, 10.0, 1e9, 10_000), 35_200.0 / 6.0);
}

#[test]
fn an_interval_without_a_header_keeps_the_mean_round_trip_time() {
    let mut router = gateway(GatewaySpec::Xcp(XcpOptions::default()));
    let ask = |router: &mut Gateway, ms: u64| {
        let mut demand = Demand { rtt: 0.3, interval: 0.01, delta: 1e9 };
        router.enters(at(ms), 100, Some(&mut demand), &link(0));
        demand.delta
    };
    ask(&mut router, 0);
    ask(&mut router, 20);
    // Intervals end at 20, 320, 620 and 920 ms, and in the one from 320 on no header comes.
    for ms in [320, 400, 620] {
        router.enters(at(ms), 100, None, &link(0));
    }
    assert_eq!([ask(&mut router, 630), ask(&mut router, 700), ask(&mut router, 919)], [0.0; 3]);
    assert!(ask(&mut router, 920) > 0.0);
}

#[test]
fn a_packet_that_takes_exactly_what_is_given_is_not_limited() {
    let mut router = router(XcpOptions { limited: Limited::Scale, ..XcpOptions::default() });
    // Nothing is given in the first interval, and nothing is asked for.
    for n in 0..10 {
        assert_eq!(asks(&mut router, 50 * n, 10.0, 0.0, 0), 0.0);
    }
    near(asks(&mut router, 500, 10.0, 1e9, 0), 0.4 * 80_000.0 / 10.0);
}
