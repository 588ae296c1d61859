use super::*;

/// 1000 bytes take 1 ms.
fn config(queue: &str) -> LinkConfig {
    LinkConfig {
        rate: Rate::from_bps(10_000_000),
        delay: Span::from_millis(250),
        efficiency: 0.8,
        queue: queue.parse().unwrap(),
        loss: LossSpec::None,
        schedule: Schedule::default(),
        repair: Repair::None,
    }
}

fn link(queue: &str) -> Link {
    Link::new(&config(queue), Stream::derive(1, "link"))
}

fn arrivals(link: &mut Link, now: Time) -> impl Iterator<Item = Leaving> {
    std::iter::from_fn(move || link.poll(now))
}

fn us(us: u64) -> Time {
    Time::from_nanos(us * 1000)
}

#[test]
fn a_packet_takes_its_sending_time_and_the_delay() {
    let mut link = link("unlimited");
    assert_eq!(link.next_time(), Time::NEVER);
    assert_eq!(link.offer(us(100), 7, 1000, Label::default), Offered::Queued);
    assert_eq!(link.next_time(), us(251_100));
    assert_eq!(link.poll(Time::from_nanos(251_099_999)), None);
    assert_eq!(link.poll(us(251_100)), Some(Leaving { id: 7, bytes: 1000, fate: Fate::Whole }));
    assert_eq!(link.poll(us(251_100)), None);
    assert_eq!(link.next_time(), Time::NEVER);
}

#[test]
fn only_waiting_packets_count_against_the_queue() {
    let mut link = link("2 packets");
    let offers: Vec<_> = (0..4).map(|id| link.offer(us(0), id, 1000, Label::default)).collect();
    assert_eq!(offers, [Offered::Queued, Offered::Queued, Offered::Queued, Offered::Dropped]);
    assert_eq!(link.queue_packets(us(999)), 2);
    // At 1 ms the first has left, the second is being sent, and there is room for one again.
    assert_eq!(link.queue_packets(us(1000)), 1);
    assert_eq!(link.offer(us(1000), 4, 1000, Label::default), Offered::Queued);
    assert_eq!(link.offer(us(1000), 5, 1000, Label::default), Offered::Dropped);
    assert_eq!(link.stats(us(1000)).dropped_packets, 2);
}

#[test]
fn a_queue_of_no_packets_lets_nothing_wait() {
    let mut link = link("0 packets");
    assert_eq!(link.offer(us(0), 0, 1000, Label::default), Offered::Queued);
    assert_eq!(link.offer(us(999), 1, 1000, Label::default), Offered::Dropped);
    assert_eq!(link.offer(us(1000), 2, 1000, Label::default), Offered::Queued);
    assert_eq!(link.stats(us(1000)).queue_max_packets, 0);
}

#[test]
fn a_queue_in_bytes_takes_what_fits() {
    let mut link = link("1500 B");
    assert_eq!(link.offer(us(0), 0, 3000, Label::default), Offered::Queued);
    assert_eq!(link.offer(us(0), 1, 1000, Label::default), Offered::Queued);
    assert_eq!(link.offer(us(0), 2, 501, Label::default), Offered::Dropped);
    assert_eq!(link.offer(us(0), 3, 500, Label::default), Offered::Queued);
    assert_eq!(link.queue_bytes(us(0)), 1500);
    assert_eq!(link.offer(us(2999), 4, 1, Label::default), Offered::Dropped);
    assert_eq!(link.queue_bytes(us(3000)), 500);
    assert_eq!(link.queue_packets(us(4000)), 0);
}

#[test]
fn statistics_are_clipped_at_the_end() {
    let mut link = link("unlimited");
    for id in 0..3 {
        link.offer(us(1000), id, 1000, Label::default);
    }
    // Sending 1 ms to 4 ms; waits of 0, 1 and 2 ms. At 2.5 ms the third packet has waited 1.5 ms.
    let stats = link.stats(us(2500));
    assert_eq!(stats.utilization, 0.6);
    assert_eq!(stats.queue_mean_packets, 1.0);
    assert_eq!(stats.queue_max_packets, 2);
    assert_eq!(stats.queueing_delay_mean_s, 1e-3);
    let stats = link.stats(us(6000));
    assert_eq!((stats.utilization, stats.queue_mean_packets), (0.5, 0.5));
    assert_eq!(self::link("unlimited").stats(Time::ZERO), LinkStats::default());
}

#[test]
fn what_was_done_before_a_measurement_is_left_out() {
    for mut link in [link("2 packets"), Link::step_by_step(&config("2 packets"), Stream::derive(1, "link"))] {
        for id in 0..4 {
            link.offer(us(1000), id, 1000, Label::default);
        }
        // Sending 1 ms to 4 ms, one dropped; at 2.5 ms one waits until 3 ms.
        link.measure_from(us(2500));
        let whole: Vec<_> = arrivals(&mut link, us(252_500)).map(|leaving| leaving.id).collect();
        assert_eq!(whole, [0]);
        let stats = link.stats(us(252_500));
        assert_eq!(stats.utilization, 1.5 / 250.0);
        assert_eq!(stats.queue_mean_packets, 0.5 / 250.0);
        assert_eq!((stats.queue_max_packets, stats.dropped_packets, stats.delivered_packets), (1, 0, 1));
        // One more, which waits for nothing and is on its way.
        link.offer(us(300_000), 9, 1000, Label::default);
        let stats = link.stats(us(302_500));
        assert_eq!((stats.utilization, stats.queue_max_packets), (2.5 / 300.0, 1));
    }
}

#[test]
fn waits_have_their_quantiles() {
    for mut link in [link("unlimited"), Link::step_by_step(&config("unlimited"), Stream::derive(1, "link"))] {
        assert_eq!(link.stats(us(0)).waits, WaitQuantiles::default());
        link.measure_waits();
        assert_eq!(link.stats(us(0)).waits, WaitQuantiles::default());
        // Waits of 0, 1, 2 … 99 ms, and as many of none.
        for id in 0..100 {
            link.offer(us(0), id, 1000, Label::default);
        }
        for id in 0..100 {
            let now = us(1_000_000 + 1000 * u64::from(id));
            arrivals(&mut link, now).for_each(drop);
            link.offer(now, id, 1000, Label::default);
        }
        let waits = link.stats(us(2_000_000)).waits;
        let found = [waits.queueing_delay_p50_s, waits.queueing_delay_p95_s, waits.queueing_delay_p99_s];
        for (found, expected) in found.into_iter().zip([0.0, 0.089, 0.097]) {
            assert!((found.unwrap() - expected).abs() <= 1e-3 * expected, "{found:?} {expected}");
        }
        link.measure_from(us(2_000_000));
        assert_eq!(link.stats(us(2_000_000)).waits, WaitQuantiles::default());
        link.offer(us(2_000_000), 1, 1000, Label::default);
        assert_eq!(link.stats(us(2_000_000)).waits.queueing_delay_p99_s, Some(0.0));
    }
}

#[test]
fn a_delivery_late_by_the_caller_keeps_the_count_of_waiting() {
    let mut link = link("unlimited");
    for id in 0..3 {
        link.offer(us(0), id, 1000, Label::default);
    }
    let ids: Vec<_> = arrivals(&mut link, us(400_000)).map(|d| d.id).collect();
    assert_eq!(ids, [0, 1, 2]);
    assert_eq!((link.queue_packets(us(400_000)), link.queue_bytes(us(400_000))), (0, 0));
}

#[test]
fn damaged_packets_use_the_link_and_are_counted_apart() {
    let loss = LossSpec::Drop { packets: vec![2], at_least: Default::default() };
    let mut link = Link::new(&LinkConfig { loss, ..config("unlimited") }, Stream::derive(1, "link"));
    for id in 0..3 {
        link.offer(us(0), id, 1000, Label::default);
    }
    let corrupted: Vec<_> = arrivals(&mut link, us(400_000)).map(|d| d.fate == Fate::Damaged).collect();
    assert_eq!(corrupted, [false, true, false]);
    let stats = link.stats(us(400_000));
    assert_eq!((stats.delivered_packets, stats.delivered_bytes, stats.corrupted_packets), (2, 2000, 1));
    assert_eq!(stats.utilization, 3.0 / 400.0);
}

#[test]
fn packets_without_length_pass_in_no_time() {
    let mut link = link("0 packets");
    assert_eq!(link.offer(us(5), 0, 0, Label::default), Offered::Queued);
    assert_eq!(link.offer(us(5), 1, 0, Label::default), Offered::Queued);
    assert_eq!(link.next_time(), us(250_005));
}

/// In closed form it is sent so much later; step by step it waits at the far end.
#[test]
fn nothing_overtakes_where_the_delay_becomes_shorter() {
    let steps = Link::step_by_step(&config("unlimited"), Stream::derive(1, "link"));
    for (mut link, second) in [(link("unlimited"), us(252_000)), (steps, us(251_000))] {
        link.offer(us(0), 1, 1000, Label::default);
        link.set_delay(us(2000), Span::from_millis(100));
        link.offer(us(2000), 2, 1000, Label::default);
        let mut came = Vec::new();
        for now in (0..300).map(|ms| us(1000 * ms)) {
            came.extend(arrivals(&mut link, now).map(|leaving| (leaving.id, now)));
        }
        assert_eq!(came, [(1, us(251_000)), (2, second)]);
        assert!((link.stats(us(1_000_000)).utilization - 0.002).abs() < 1e-9);
        // The new delay holds from then on.
        link.offer(us(1_000_000), 3, 1000, Label::default);
        assert!(link.poll(us(1_100_999)).is_none());
        assert_eq!(link.poll(us(1_101_000)).map(|leaving| leaving.id), Some(3));
    }
}

/// 40 bytes take 0.32 ns at 1 Tbit/s and 3.2 at 100 Gbit/s.
#[test]
fn a_fast_link_sends_what_its_rate_says() {
    for (gbps, many, bytes, ends) in [
        (1000, 1000, 40, 320),
        (300, 1000, 40, 1066),
        (100, 1000, 40, 3200),
        (100, 1000, 1500, 120_000),
        (7, 90, 1501, 154_388),
    ] {
        let config = LinkConfig {
            rate: Rate::from_bps(gbps * 1_000_000_000),
            delay: Span::ZERO,
            efficiency: 1.0,
            ..config("unlimited")
        };
        let closed = Link::new(&config, Stream::derive(1, "link"));
        for mut link in [closed, Link::step_by_step(&config, Stream::derive(1, "link"))] {
            for id in 0..many {
                link.offer(Time::ZERO, id, bytes, Label::default);
            }
            let half = Time::from_nanos(ends / 2);
            assert_eq!(link.stats(half).utilization, 1.0, "{gbps} Gbit/s");
            let mut last = Time::ZERO;
            while link.next_time() != Time::NEVER {
                last = link.next_time();
                arrivals(&mut link, last).for_each(drop);
            }
            assert_eq!(last.as_nanos(), ends, "{gbps} Gbit/s");
            assert_eq!(link.stats(last).utilization, 1.0);
        }
    }
}

fn change(at: u64) -> Change {
    Change { at: Span::from_millis(at), ..Change::default() }
}

/// 8 Mbit/s of 10 get through; from 100 ms on 2 of 2.5, and from 200 to 400 ms it stands still.
fn changing(waiting: InOutage) -> Link {
    let slower = Change { rate: Some(Rate::from_bps(2_500_000)), ..change(100) };
    let outage = Some(Span::from_millis(200));
    let still = Change { outage, waiting: Some(waiting), ..change(200) };
    let schedule = Schedule::from(vec![slower, still]);
    Link::new(&LinkConfig { schedule, ..config("unlimited") }, Stream::derive(1, "link"))
}

#[test]
fn a_new_rate_has_the_efficiency_of_the_link_in_it() {
    let mut link = changing(InOutage::Hold);
    assert_eq!(link.offer(us(110_000), 1, 1000, Label::default), Offered::Queued);
    assert_eq!(arrivals(&mut link, us(363_999)).count(), 0);
    assert_eq!(arrivals(&mut link, us(364_000)).count(), 1);
    assert_eq!(link.rate().as_bps(), 2_000_000);
}

/// A link that has sent all that it could is busy for the time in which it did not stand still.
#[test]
fn a_standstill_and_the_mean_rate_stand_in_the_numbers() {
    let mut link = changing(InOutage::Hold);
    for id in 0..1000 {
        link.offer(us(0), id, 1000, Label::default);
    }
    let stats = link.stats(us(500_000));
    let supply = stats.supply.unwrap();
    // 0.8 Mbit in 100 ms, 0.2 in 100 ms, nothing in 200, 0.2 in 100.
    assert!((supply.rate_mean_bps - 1.2e6 / 0.5).abs() < 1e-3 && (supply.standstill - 0.4).abs() < 1e-12);
    assert!((stats.utilization - 0.6).abs() < 1e-12);
    link.measure_from(us(500_000));
    let supply = link.stats(us(600_000)).supply.unwrap();
    assert_eq!((supply.rate_mean_bps, supply.standstill), (2e6, 0.0));
    // It goes on sending, though all of it is lost.
    let supply = changing(InOutage::Lose).stats(us(500_000)).supply.unwrap();
    assert_eq!((supply.rate_mean_bps, supply.standstill), (1.6e6 / 0.5, 0.0));
    assert_eq!(self::link("unlimited").stats(us(500_000)).supply, None);
}

#[test]
fn from_outside_a_link_carries_the_mean_of_a_tenth_of_a_second_with_its_standstills() {
    let mut link = changing(InOutage::Hold);
    let mut seen = |ms: u64| link.carries(us(1000 * ms)).as_bps();
    assert_eq!([seen(0), seen(99), seen(100), seen(199)], [8_000_000; 4]);
    assert_eq!([seen(200), seen(250), seen(300), seen(450)], [2_000_000, 2_000_000, 1, 666_666]);
    // Without a standstill the rate of now.
    let mut link = changing(InOutage::Lose);
    assert_eq!([99, 100].map(|ms| link.carries(us(1000 * ms)).as_bps()), [8_000_000, 2_000_000]);
}
