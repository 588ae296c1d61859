//! Links held against queueing theory.

use bentpipe_path::{Label, Link, LinkConfig, LinkStats, LossSpec, QueueSpec, Repair, Schedule, Stream};
use bentpipe_units::{Rate, Span, Time};

/// 1000 bytes at this rate are served in 1 ms.
const SERVICE_S: f64 = 1e-3;

/// Offers `packets` packets of 1000 bytes at Poisson times to a link that they load to `rho`.
fn poisson(rho: f64, queue: QueueSpec, packets: u32) -> LinkStats {
    let config = LinkConfig {
        rate: Rate::from_bps(8_000_000),
        delay: Span::from_millis(10),
        efficiency: 1.0,
        queue,
        loss: LossSpec::None,
        schedule: Schedule::default(),
        repair: Repair::None,
    };
    let mut link = Link::new(&config, Stream::derive(1, "link"));
    let mut arrivals = Stream::derive(1, "arrivals");
    let mut now = Time::ZERO;
    for id in 0..packets {
        now += Span::from_secs(-libm::log(1.0 - arrivals.uniform()) * SERVICE_S / rho);
        while link.poll(now).is_some() {}
        link.offer(now, id, 1000, Label::default);
    }
    link.stats(now)
}

fn assert_within(found: f64, expected: f64, share: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < share, "{what}: {found}, expected {expected}");
}

/// Pollaczek-Khinchine for constant service: W = ρ S / (2 (1 - ρ)); Little: L = λ W.
#[test]
fn an_endless_queue_is_m_d_1() {
    for (rho, packets) in [(0.5, 500_000), (0.8, 2_000_000)] {
        let stats = poisson(rho, QueueSpec::Unlimited, packets);
        let wait = rho * SERVICE_S / (2.0 * (1.0 - rho));
        assert_within(stats.queueing_delay_mean_s, wait, 0.02, "mean wait");
        assert_within(stats.queue_mean_packets, rho / SERVICE_S * wait, 0.02, "mean queue");
        assert_within(stats.utilization, rho, 0.01, "utilization");
        assert_eq!(stats.dropped_packets, 0);
    }
}

/// Erlang's loss formula for one server, which holds for any service time: ρ / (1 + ρ).
#[test]
fn no_queue_is_erlangs_loss_system() {
    for rho in [0.3, 1.0, 2.0] {
        let stats = poisson(rho, QueueSpec::Packets(0), 400_000);
        assert_within(stats.dropped_packets as f64 / 400_000.0, rho / (1.0 + rho), 0.01, "dropped");
        assert_within(stats.utilization, rho / (1.0 + rho), 0.01, "utilization");
        assert_eq!((stats.queue_max_packets, stats.queueing_delay_mean_s), (0, 0.0));
    }
}

/// M/D/1/2 (one in service, one waiting). With a = e^-ρ the embedded chain leaves the system empty behind a departure with
/// probability a; a cycle of one departure lasts S plus an idle time 1/λ with that probability, so the share of
/// packets served is 1 / (ρ + a).
#[test]
fn a_queue_of_one_is_m_d_1_2() {
    for rho in [0.5, 1.0, 1.5] {
        let stats = poisson(rho, QueueSpec::Packets(1), 400_000);
        let served = 1.0 / (rho + libm::exp(-rho));
        assert_within(stats.dropped_packets as f64 / 400_000.0, 1.0 - served, 0.02, "dropped");
        assert_within(stats.utilization, rho * served, 0.01, "utilization");
        assert_eq!(stats.queue_max_packets, 1);
    }
}
