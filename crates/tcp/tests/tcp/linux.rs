//! What Linux 2.4's recovery does that RFC 6675's does not.

use bentpipe_tcp::control::AfcOptions;
use bentpipe_tcp::{Config, GrowthGate};
use bentpipe_units::Span;

use crate::harness::{CLIENT, Fate, Net, SERVER, config, control};

fn linux() -> Config {
    Config { grow_only_when_limited: GrowthGate::Full, ..config("sack-linux-2.4") }
}

fn lossy(config: Config, window: u32, lost: &[usize]) -> Net {
    Net::alike(Config { initial_window: window, ..config }).dropping(lost)
}

/// The first segment of the data, the only one that goes again, is lost so many times.
fn first_lost(config: Config, times: usize) -> Net {
    let mut seen = 0;
    Net::alike(config).through(move |p| {
        let first = p.from == CLIENT && p.segment.len > 0 && (p.data_number == 1 || p.again);
        seen += usize::from(first);
        if first && seen <= times { Fate::drop() } else { Fate::pass() }
    })
}

fn cwnds(net: &Net, ms: f64) -> Vec<f64> {
    net.data_by(CLIENT).iter().filter(|sent| sent.ms() == ms).map(|sent| sent.cwnd / 1000.0).collect()
}

#[test]
fn cwnd_goes_down_by_a_segment_at_every_second_ack() {
    let net = lossy(linux(), 20, &[1]).transfer(60_000);
    // Two by the first two duplicates, the lost one by the third, then a new one for every two of sixteen more.
    let expected = [20.0, 20.0, 19.0, 18.0, 17.0, 16.0, 15.0, 14.0, 13.0, 12.0, 11.0];
    assert_eq!(cwnds(&net, 200.0), expected, "{}", net.trace());
    let sender = net.ends[CLIENT].sender();
    assert_eq!((sender.window().ssthresh, sender.recovery_phases()), (10_000.0, 1));
    // It leaves with what the control reduced to.
    assert_eq!(cwnds(&net, 300.0).first(), Some(&10.0), "{}", net.trace());
}

#[test]
fn a_long_phase_ends_at_half_of_what_was_reduced_to() {
    // The source goes on to ssthresh/2 while the phase lasts: the first segment is lost four times.
    let config = Config { initial_window: 32, receive_window: 1 << 20, ..linux() };
    let net = first_lost(config, 4).transfer(150_000);
    let sender = net.ends[CLIENT].sender();
    assert_eq!((sender.stats().timeouts, sender.recovery_phases()), (0, 1), "{}", net.trace());
    let least = net.data_by(CLIENT).iter().map(|sent| sent.cwnd).fold(f64::INFINITY, f64::min);
    // And a segment less with each lost retransmission, which leaves that much less in flight.
    assert_eq!(sender.window().ssthresh, 16_000.0);
    assert!((5000.0..=8000.0).contains(&least), "{least}\n{}", net.trace());
}

#[test]
fn a_burst_is_three_segments_at_most_when_the_state_is_in_doubt() {
    // Two more have gone by the first two duplicates, and are in flight.
    // The first segment comes late, all ACKs of those that overtook it but two are lost, and one ACK then covers all.
    let mut net = Net::alike(Config { initial_window: 20, ..linux() });
    net.set_network(|p| match (p.from, p.number, p.data_number) {
        (CLIENT, _, 1) => Fate::late(10),
        (SERVER, 4..=20, _) => Fate::drop(),
        _ => Fate::pass(),
    });
    let net = net.transfer(60_000);
    let burst = net.data_by(CLIENT).iter().filter(|sent| sent.ms() == 210.0).count();
    assert_eq!((burst, cwnds(&net, 210.0)), (3, vec![5.0; 3]), "{}", net.trace());
    assert_eq!(net.ends[CLIENT].sender().recovery_phases(), 0);
}

#[test]
fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
    let mut config = Config { initial_window: 10, ..linux() };
    config.rto.min = Span::from_millis(200);
    // The timer, set at 100 ms for 300 ms, starts anew with each.
    let net = first_lost(config.clone(), 3).transfer(40_000);
    let again: Vec<f64> =
        net.data_by(CLIENT).iter().filter(|sent| sent.passing.again).map(|sent| sent.ms()).collect();
    assert_eq!(again, [200.0, 300.0, 400.0], "{}", net.trace());
    assert_eq!(net.ends[CLIENT].sender().stats().timeouts, 0);
    // RFC 6675 leaves it to the timer.
    let rfc = Config { recovery: crate::harness::recovery("sack"), ..config };
    assert!(first_lost(rfc, 3).transfer(40_000).ends[CLIENT].sender().stats().timeouts > 0);
}

#[test]
fn a_timeout_in_a_phase_that_reduced_does_not_reduce_again() {
    // Nothing new is left to send, so that nothing tells of the lost retransmission.
    let net = first_lost(Config { initial_window: 10, ..linux() }, 2).transfer(10_000);
    let sender = net.ends[CLIENT].sender();
    assert_eq!((sender.stats().timeouts, sender.window().ssthresh), (1, 5000.0), "{}", net.trace());
    // A timeout alone halves cwnd, which is 11 by now, not the flight of one segment.
    let net = lossy(linux(), 10, &[10]).transfer(10_000);
    let sender = net.ends[CLIENT].sender();
    assert_eq!((sender.stats().timeouts, sender.window().ssthresh), (1, 5500.0), "{}", net.trace());
}

#[test]
fn what_was_reported_is_not_sent_again_after_a_timeout() {
    // RFC 2018 forgets it: sack sends segment 10 again. Segments 9 and 11 to 12 of 12 are lost.
    for recovery in ["sack-linux-2.4", "sack"] {
        let net = lossy(config(recovery), 12, &[9, 11, 12]).transfer(12_000);
        let again = net.data_by(CLIENT).iter().filter(|sent| sent.passing.again).count();
        assert_eq!(again, 3, "{recovery}\n{}", net.trace());
    }
}

#[test]
fn afc_decides_about_the_reduction_and_the_recovery_about_its_pace() {
    let afc = || Config { control: control("afc"), ..linux() };
    let net = lossy(afc(), 20, &[1]).transfer(60_000);
    assert!(cwnds(&net, 200.0).iter().all(|cwnd| *cwnd == 20.0), "{}", net.trace());
    assert_eq!(net.ends[CLIENT].sender().window().ssthresh, f64::INFINITY);
    // The second loss, 5 segments behind, is found with the first: one reduction to the half, bit by bit.
    let net = lossy(afc(), 20, &[1, 6]).transfer(60_000);
    let down = cwnds(&net, 200.0);
    assert!(down.windows(2).all(|pair| pair[0] - pair[1] <= 1.0 && pair[0] >= pair[1]), "{down:?}");
    assert!(down.last().is_some_and(|last| (10.0..=14.0).contains(last)), "{down:?}");
    assert_eq!(net.ends[CLIENT].sender().window().ssthresh, 10_000.0, "{}", net.trace());
}

/// A window of forty segments of which the first and one so far behind it are lost, the receive window out of the way.
fn two_lost(recovery: &str, control: AfcOptions, distance: usize) -> Net {
    let config = Config { control: control.into(), receive_window: 1 << 20, ..config(recovery) };
    let mut net = lossy(config, 40, &[1, 1 + distance]);
    net.open();
    net.write(CLIENT, 400_000);
    net.run_to(399);
    net
}

/// What equation 1 leaves of forty segments, in segments.
fn equation_1(distance: usize) -> f64 {
    let square = (distance * distance) as f64;
    20.0 + if distance > 20 { square * square / (2.0 * 64_000.0) } else { 0.0 }
}

/// Where cwnd comes down to while the phase ends, and ssthresh, in segments.
fn left(net: &Net) -> (f64, f64) {
    let least = cwnds(net, 300.0).into_iter().fold(f64::INFINITY, f64::min);
    (least, net.ends[CLIENT].sender().window().ssthresh / 1000.0)
}

#[test]
fn equation_1_holds_at_the_end_of_the_phase() {
    for recovery in ["sack-linux-2.4", "rack"] {
        for distance in [1, 10, 20, 21, 25, 30, 34, 36] {
            let net = two_lost(recovery, AfcOptions::default(), distance);
            let ((cwnd, ssthresh), expected) = (left(&net), equation_1(distance));
            // But for the part of a segment that a step takes with it.
            let within = cwnd > expected - 1.0 && cwnd < expected + 1e-9;
            assert!(within, "{recovery}, Cd {distance}: {cwnd} for {expected}\n{}", net.trace());
            assert!((ssthresh - expected).abs() < 1e-9, "{recovery}, Cd {distance}: {ssthresh}");
        }
    }
}

#[test]
fn a_reduction_under_way_ends_where_the_second_loss_has_it() {
    let at_once = AfcOptions { delayed_recovery: false, ..AfcOptions::default() };
    for (recovery, least) in [("sack-linux-2.4", 20.0), ("rack", 20.0)] {
        let net = two_lost(recovery, at_once, 34);
        let (cwnd, ssthresh) = left(&net);
        assert!(
            cwnd > least && (ssthresh - equation_1(34)).abs() < 1e-9,
            "{recovery}: {cwnd}, {ssthresh}\n{}",
            net.trace()
        );
    }
}

#[test]
fn a_phase_that_afc_kept_whole_ends_with_a_burst_of_three_segments_at_most() {
    // The receive window holds new data back while the hole is open, so that nothing is in flight when it is filled.
    let burst = |name: &str| {
        let config = Config { control: control(name), receive_window: 40_000, ..linux() };
        let net = lossy(config, 40, &[1]).transfer(120_000);
        assert_eq!(net.ends[CLIENT].sender().recovery_phases(), 1);
        cwnds(&net, 300.0)
    };
    assert_eq!(burst("afc"), [3.0; 3]);
    assert!(burst("standard").len() <= 3);
    // Slow start fills the window again, which AFC did not cut.
    let net = lossy(Config { control: control("afc"), receive_window: 40_000, ..linux() }, 40, &[1]);
    assert!(net.transfer(120_000).ends[CLIENT].sender().window().ssthresh.is_infinite());
}

#[test]
fn a_loss_beyond_the_window_of_the_first_one_is_the_next_windows() {
    // The retransmission is lost too, so that the phase lasts while the loss of what was sent in it shows.
    let config = Config { control: control("afc"), receive_window: 1 << 20, ..linux() };
    let net = lossy(config.clone(), 20, &[1, 23, 26]).transfer(100_000);
    let sender = net.ends[CLIENT].sender();
    let again = net.data_by(CLIENT).iter().filter(|sent| sent.passing.again).count();
    assert_eq!((again, sender.stats().timeouts), (3, 0), "{}", net.trace());
    assert_eq!((sender.window().ssthresh, sender.recovery_phases()), (f64::INFINITY, 2), "{}", net.trace());
    // One of the window itself is not.
    let net = lossy(config, 20, &[1, 23, 15]).transfer(100_000);
    assert!(net.ends[CLIENT].sender().window().ssthresh.is_finite(), "{}", net.trace());
}

#[test]
fn the_recovery_point_is_that_of_the_first_loss_and_not_of_the_reduction() {
    // The second loss is found a round trip after the first: what was sent meanwhile is another window.
    let config = Config { control: control("afc"), receive_window: 1 << 20, ..linux() };
    // Of that too one is lost, which costs nothing, as it is the first of its own.
    let net = lossy(config, 20, &[1, 19, 26]).transfer(100_000);
    let sender = net.ends[CLIENT].sender();
    assert_eq!((sender.recovery_phases(), sender.stats().timeouts), (2, 0), "{}", net.trace());
    let expected = 10.0 + 104_976.0 / (2.0 * 8000.0);
    assert_eq!(sender.window().ssthresh, 1000.0 * expected, "{}", net.trace());
}
