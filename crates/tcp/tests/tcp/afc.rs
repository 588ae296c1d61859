//! TCP-AFC on the wire: what each pattern of losses costs, beside the standard control over the same recovery.

use bentpipe_tcp::control::{AdalrOptions, AfcOptions, ControlFactory, DelayedGrowth};
use bentpipe_tcp::{Chosen, Config};
use bentpipe_units::Span;
use proptest::prelude::*;

use crate::harness::{CLIENT, Fate, Net, config, control};

/// Small segments keep the tests quick.
const MSS: u32 = 100;

/// SACK with a window of so many segments and a control.
fn sack(name: &str, window: u32) -> Config {
    Config { control: control(name), mss: MSS, initial_window: window, ..config("sack") }
}

fn standard(window: u32) -> Config {
    sack("standard", window)
}

fn afc(window: u32) -> Config {
    sack("afc", window)
}

/// Loses the first transmission of the segments whose bit is set, counted from 0 by their sequence number.
fn losing(config: Config, mask: u64) -> Net {
    let net = Net::alike(config);
    let first = net.ends[CLIENT].sender().una();
    net.through(move |passing| {
        let lost = passing.from == CLIENT && passing.segment.len > 0 && !passing.again && {
            let number = (passing.segment.seq - first) / MSS;
            number < 64 && mask >> number & 1 == 1
        };
        if lost { Fate::drop() } else { Fate::pass() }
    })
}

/// cwnd in segments when each data segment left, and whether it had left before.
fn windows(net: &Net) -> Vec<(f64, bool)> {
    let sent = net.data_by(CLIENT).into_iter();
    sent.map(|sent| (sent.cwnd / f64::from(MSS), sent.passing.again)).collect()
}

/// ssthresh in segments after the losses in `mask` are repaired.
fn ssthresh_after(config: Config, mask: u64) -> f64 {
    let mut net = losing(config, mask);
    net.open();
    net.write(CLIENT, u64::from(200 * MSS));
    net.run_to(600);
    assert!(!net.ends[CLIENT].sender().in_recovery(), "{}", net.trace());
    assert_eq!(timeouts(&net), 0, "{}", net.trace());
    net.ends[CLIENT].sender().window().ssthresh / f64::from(MSS)
}

fn timeouts(net: &Net) -> u64 {
    net.ends[CLIENT].sender().stats().timeouts
}

/// Every subset of losses in a window of 8, and every subset in the next 8 segments: 65,536 transfers a control.
fn every_pattern_twice_in_a_row(control: &str) {
    let mut worse = Vec::new();
    for mask in 0..1 << 16 {
        // `transfer` asserts that every byte is read once, in order, and that both ends close.
        let ours = losing(sack(control, 8), mask).transfer(u64::from(30 * MSS));
        if timeouts(&ours) > 0
            && timeouts(&ours) > timeouts(&losing(standard(8), mask).transfer(u64::from(30 * MSS)))
        {
            worse.push(format!("{mask:016b}"));
        }
    }
    assert!(
        worse.is_empty(),
        "{} patterns cost a timeout that SACK avoids: {:?}",
        worse.len(),
        &worse[..worse.len().min(20)]
    );
}

#[test]
fn every_pattern_of_losses_in_two_windows_of_eight() {
    every_pattern_twice_in_a_row("afc");
}

#[test]
fn every_pattern_of_losses_around_adalr() {
    every_pattern_twice_in_a_row("adalr+afc");
}

/// Loses the client's data transmissions whose bit is set, retransmissions counted too.
fn losing_transmissions(config: Config, mask: usize) -> Net {
    Net::alike(config).through(move |passing| {
        let number = passing.data_number;
        let lost = passing.from == CLIENT && (1..=14).contains(&number) && mask >> (number - 1) & 1 == 1;
        if lost { Fate::drop() } else { Fate::pass() }
    })
}

#[test]
fn every_pattern_of_lost_transmissions_ends_with_every_byte_read_once() {
    for mask in 0..1 << 14 {
        losing_transmissions(afc(8), mask).transfer(u64::from(30 * MSS));
    }
}

// afc, section 4.1: AFC differs from TCP only after a loss
#[test]
fn without_a_loss_it_is_the_standard_segment_by_segment() {
    // `afc`, section 4.1: "remains same until the occurrence of the first loss".
    for control in ["standard", "afc"] {
        let trace = losing(sack(control, 3), 0).transfer(u64::from(100 * MSS)).trace();
        assert_eq!(trace, losing(standard(3), 0).transfer(u64::from(100 * MSS)).trace());
    }
    let pair = ["adalr", "adalr+afc"]
        .map(|control| losing(sack(control, 3), 0).transfer(u64::from(100 * MSS)).trace());
    assert_eq!(pair[0], pair[1]);
}

// afc, abstract: AFC identifies a random loss with the help of SACK
// afc, section 2: loss recovery and rate adjustment are decoupled
// afc, section 4.1: AFC decouples recovery and congestion control
#[test]
fn one_loss_is_repaired_without_a_cut_and_new_data_keeps_flowing() {
    // `afc`, section 2: "decouples loss recovery and rate adjustment conditionally when a packet loss is detected".
    let net = losing(afc(10), 0b100).transfer(u64::from(60 * MSS));
    let sent = windows(&net);
    assert_eq!(timeouts(&net), 0);
    assert_eq!(sent.iter().filter(|(_, again)| *again).count(), 1);
    // Growth is by what the first two ACKs acknowledged, and never a step back.
    assert!(sent.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{}", net.trace());
    assert!(net.ends[CLIENT].sender().window().ssthresh.is_infinite());
    let cut = windows(&losing(standard(10), 0b100).transfer(u64::from(60 * MSS)));
    assert!(cut.iter().any(|(cwnd, _)| *cwnd < 10.0));
}

#[test]
fn a_second_loss_costs_less_the_farther_it_is_from_the_first() {
    let first = 0b1;
    assert_eq!(ssthresh_after(afc(10), first), f64::INFINITY);
    assert_eq!(ssthresh_after(standard(10), first), 5.0);
    // Adjacent, then Cd = 5, 6, 7, 8: 5 + Cd⁴ / 2000.
    for (second, cwnd) in [(1, 5.0), (5, 5.0), (6, 5.648), (7, 6.2005), (8, 7.048)] {
        let found = ssthresh_after(afc(10), first | 1 << second);
        assert!((found - cwnd).abs() < 1e-9, "Cd {second}: {found} segments, expected {cwnd}");
        assert_eq!(ssthresh_after(standard(10), first | 1 << second), 5.0);
        let options = AfcOptions { rate_adjustment: false, ..AfcOptions::default() };
        assert_eq!(ssthresh_after(Config { control: options.into(), ..afc(10) }, first | 1 << second), 5.0);
    }
}

/// The same over a recovery, until then.
fn run_to(recovery: &str, control: &str, mask: u64, ms: u64) -> Net {
    let config = Config { recovery: crate::harness::recovery(recovery), ..sack(control, 20) };
    let mut net = losing(config, mask);
    net.open();
    net.write(CLIENT, u64::from(200 * MSS));
    net.run_to(ms);
    net
}

// afc, section 2: fast recovery follows when SACK_OK falls
#[test]
fn fast_recovery_is_invoked_at_once_when_the_second_loss_shows() {
    // "Immediately triggers fast recovery after detecting another loss": in the round trip of the first one, before any partial ACK.
    for recovery in ["sack", "sack-1996", "sack-linux-2.4", "rack"] {
        let net = run_to(recovery, "afc", 0b10_0001, 250);
        let sender = net.ends[CLIENT].sender();
        assert!(sender.in_recovery(), "{recovery}");
        assert_eq!(sender.window().ssthresh, f64::from(10 * MSS), "{recovery}\n{}", net.trace());
        assert_eq!(run_to(recovery, "afc", 0b1, 250).ends[CLIENT].sender().window().ssthresh, f64::INFINITY);
    }
}

// afc, section 2: Cd is the distance of the first two losses
#[test]
fn cd_is_counted_from_the_first_loss_when_its_hole_is_filled_too() {
    // `afc`, section 2: "This gap is an indication of the degree of congestion and is referred as Congestion distance".
    // Segments 1 and 19 of 20: the second shows a round trip later, when SND.UNA has come to it.
    for recovery in ["sack", "sack-linux-2.4", "newreno"] {
        let net = run_to(recovery, "afc", 1 | 1 << 18, 900);
        let expected = 10.0 + 104_976.0 / (2.0 * 8000.0);
        let found = net.ends[CLIENT].sender().window().ssthresh / f64::from(MSS);
        assert!((found - expected).abs() < 1e-9, "{recovery}: {found}\n{}", net.trace());
    }
}

// afc, section 4.2.1: in severe congestion AFC follows conventional TCP
#[test]
fn in_severe_congestion_it_is_conventional() {
    // `afc`, section 4.2.1: "is expected to follow conventional TCP while facing severe congestion".
    // Every other segment of the window.
    let mask = 0b101_0101_0101_0101_0101;
    for recovery in ["sack", "sack-1996", "sack-linux-2.4", "rack", "newreno"] {
        let [ours, conventional] = ["afc", "standard"].map(|control| {
            let net = run_to(recovery, control, mask, 3000);
            let sender = net.ends[CLIENT].sender();
            let stats = sender.stats();
            assert!(!sender.in_recovery(), "{recovery}\n{}", net.trace());
            (sender.window().ssthresh, stats.retransmitted_segments, stats.timeouts)
        });
        assert_eq!(ours, conventional, "{recovery}");
        assert_eq!(ours.0, f64::from(10 * MSS), "{recovery}");
    }
}

#[test]
fn the_loss_of_a_window_and_of_a_retransmission_take_the_timer() {
    let burst = losing(afc(10), 0x3ff).transfer(u64::from(30 * MSS));
    let conventional = losing(standard(10), 0x3ff).transfer(u64::from(30 * MSS));
    assert_eq!(burst.trace(), conventional.trace());
    assert_eq!(timeouts(&burst), 1);
    // Segment 3 and the eleventh transmission or a later one, its repair.
    let net = Net::alike(afc(10));
    let third = net.ends[CLIENT].sender().una() + 2 * MSS;
    let mut copies = 0;
    let net = net.through(move |passing| {
        let hit = passing.from == CLIENT && passing.segment.len > 0 && passing.segment.seq == third;
        copies += usize::from(hit);
        if hit && copies <= 2 { Fate::drop() } else { Fate::pass() }
    });
    let net = net.transfer(u64::from(60 * MSS));
    assert_eq!(timeouts(&net), 1, "{}", net.trace());
    // The timer's reduction is the conventional one.
    assert!(windows(&net).iter().any(|(cwnd, again)| *again && *cwnd == 1.0), "{}", net.trace());
}

#[test]
fn a_lost_retransmission_of_the_first_loss_is_no_second_loss() {
    // Segment 3 and its retransmission, the 13th transmission. RFC 6675 alone cannot see it and leaves it to the timer.
    for (recovery, timeouts_expected) in [("sack-linux-2.4", 0), ("rack", 0), ("sack", 1)] {
        let mut copies = 0;
        let net = Net::alike(Config { recovery: crate::harness::recovery(recovery), ..afc(10) });
        let third = net.ends[CLIENT].sender().una() + 2 * MSS;
        let net = net.through(move |passing| {
            let hit = passing.from == CLIENT && passing.segment.len > 0 && passing.segment.seq == third;
            copies += usize::from(hit);
            if hit && copies <= 2 { Fate::drop() } else { Fate::pass() }
        });
        let net = net.transfer(u64::from(60 * MSS));
        let untouched = net.ends[CLIENT].sender().window().ssthresh.is_infinite();
        assert_eq!(
            (timeouts(&net), untouched),
            (timeouts_expected, timeouts_expected == 0),
            "{recovery}\n{}",
            net.trace()
        );
    }
}

// afc, section 2: three duplicate ACKs or a partial ACK show a loss, repaired as ever
#[test]
fn a_partial_ack_tells_of_a_second_loss() {
    // "Lost after first three dupacks or a partial acknowledgment": NewReno hears of it in no other way.
    let newreno =
        |control: &str| Config { recovery: crate::harness::recovery("newreno"), ..sack(control, 10) };
    // 5 + Cd⁴ / 2000 beyond half a window.
    for (second, expected) in [(1, 5.0), (4, 5.0), (8, 7.048)] {
        assert_eq!(ssthresh_after(newreno("afc"), 0b1), f64::INFINITY);
        let cut = ssthresh_after(newreno("afc"), 0b1 | 1 << second);
        assert!((cut - expected).abs() < 1e-9, "Cd {second}: {cut}");
    }
}

#[test]
fn reordering_costs_a_needless_retransmission_and_no_cut() {
    let late = |config: Config| {
        let net = Net::alike(config).through(|passing| match (passing.from, passing.data_number) {
            (CLIENT, 3) => Fate::late(60),
            _ => Fate::late(passing.number as u64),
        });
        net.transfer(u64::from(60 * MSS))
    };
    let (ours, conventional) = (late(afc(10)), late(standard(10)));
    for net in [&ours, &conventional] {
        assert_eq!(net.ends[CLIENT].sender().stats().retransmitted_segments, 1);
        assert_eq!(timeouts(net), 0);
    }
    assert!(ours.ends[CLIENT].sender().window().ssthresh.is_infinite());
    assert!(conventional.ends[CLIENT].sender().window().ssthresh.is_finite());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is lost, late or doubled: `transfer` asserts every byte once and in order, the harness cwnd of one segment.
    #[test]
    fn any_network_delivers_every_byte_once(
        fates in prop::collection::vec((0u8..10, 0u64..120), 1..200),
        around_adalr in any::<bool>(),
        credited in any::<bool>(),
        window in 1u32..12,
    ) {
        let growth_while_delayed = if credited { DelayedGrowth::Credited } else { DelayedGrowth::Held };
        let options = AfcOptions { growth_while_delayed, ..AfcOptions::default() };
        let around = options.around(&AdalrOptions::default()).filter(|_| around_adalr);
        let mut config = sack("afc", window);
        config.control = around.map_or(options.into(), |around| Chosen::new("adalr+afc", around));
        // The same segment may be lost so often that the connection would be given up, or the last ACK so often that a shorter
        // memory answers the peer's FIN with a reset.
        config.max_retransmissions = 255;
        config.time_wait = Span::from_millis(20_000_000);
        let net = Net::alike(config).through(move |passing| match fates.get(passing.number) {
            Some((0 | 1, _)) => Fate::drop(),
            Some((2, ms)) => Fate::late(*ms),
            Some((3, ms)) => Fate::twice(*ms),
            _ => Fate::pass(),
        });
        net.transfer(u64::from(80 * MSS));
    }
}
