//! What each recovery does about losses.

use bentpipe_tcp::Config;
use bentpipe_tcp::recovery::RenoOptions;

use crate::harness::{CLIENT, Fate, Net, RECOVERIES, Sent, by_timer_alone, config};

/// A window of `window` segments of which those with these numbers are lost.
fn lossy(config: Config, window: u32, lost: &[usize]) -> Net {
    Net::alike(Config { initial_window: window, ..config }).dropping(lost)
}

/// Every way to lose segments of a window of eight that is followed by enough for recovery to send beside what it repairs.
fn patterns() -> impl Iterator<Item = Vec<usize>> {
    (0..256_u32).map(|bits| (1..=8).filter(|n| bits >> (n - 1) & 1 == 1).collect())
}

#[test]
fn no_pattern_of_losses_stops_a_transfer() {
    for recovery in RECOVERIES {
        for limited_transmit in [false, true] {
            for lost in patterns() {
                let config = Config { limited_transmit, ..config(recovery) };
                let net = lossy(config.clone(), 8, &lost).transfer(40_000);
                let stats = net.ends[CLIENT].sender().stats();
                // With three segments behind the last hole, duplicate ACKs tell of all.
                let told = lost.last().is_none_or(|last| *last <= 5);
                // Reno leaves fast recovery with the first hole repaired.
                if told && (recovery != "reno" || lost.len() < 2) {
                    assert_eq!(stats.timeouts, 0, "{recovery:?} {lost:?}\n{}", net.trace());
                }
                if stats.timeouts == 0
                    && matches!(recovery, "sack" | "newreno" | "newreno-1999" | "sack-1996")
                {
                    let again = stats.retransmitted_segments as usize;
                    assert_eq!(again, lost.len(), "{recovery:?} {lost:?}\n{}", net.trace());
                }
                // The same, and whatever is sent again is lost once more.
                let twice = lost.clone();
                let mut times = std::collections::HashMap::new();
                let net = Net::alike(Config { initial_window: 8, ..config }).through(move |p| {
                    let index = p.segment.seq.0.wrapping_sub(1001) / 1000 + 1;
                    let times = times.entry(index).or_insert(0);
                    *times += u32::from(p.from == CLIENT && p.segment.len > 0);
                    let lose = p.from == CLIENT && *times <= 2 && twice.contains(&(index as usize));
                    if lose { Fate::drop() } else { Fate::pass() }
                });
                net.transfer(20_000);
            }
        }
    }
}

/// Times in milliseconds and segments (from 1) of what was sent again.
fn again(net: &Net) -> Vec<(f64, i64)> {
    let data = net.data_by(CLIENT);
    let again = data.iter().filter(|sent| sent.passing.again);
    again.map(|sent| (sent.ms(), net.relative(CLIENT, sent.passing.segment.seq) / 1000 + 1)).collect()
}

fn cwnd_at(net: &Net, ms: f64) -> Vec<f64> {
    net.data_by(CLIENT).iter().filter(|sent| sent.ms() == ms).map(|sent| sent.cwnd / 1000.0).collect()
}

// adalr, section 2: three duplicate ACKs show a loss
// sack, section 2, parts: Tahoe has slow start, congestion avoidance and fast retransmit
// sack, section 3, parts: Reno adds fast recovery in place of slow start
// sack, section 3, inflation: further duplicate ACKs inflate the window and clock out new packets
#[test]
fn a_first_loss_is_repaired_by_the_third_duplicate() {
    // `sack`, section 2: "concludes that the segment indicated by the ACKs has been lost, and immediately retransmits the lost segment";
    // section 3: "inflates its cwnd by the number of additional duplicate ACKs".
    for recovery in RECOVERIES {
        let config = Config { limited_transmit: false, ..config(recovery) };
        let net = lossy(config, 10, &[1]).transfer(30_000);
        let first = again(&net)[0];
        assert_eq!(first, (200.0, 1), "{recovery:?}");
        let sender = net.ends[CLIENT].sender();
        assert_eq!(
            (sender.recovery_phases(), sender.stats().timeouts),
            (1, 0),
            "{recovery:?}\n{}",
            net.trace()
        );
        // RFC 5681 equation 4: half of the ten in flight. Inflation by three (Reno, NewReno) and by one for each further
        // duplicate: 5 + 3 + 6 = 14, room for four new segments beyond the ten.
        let (sent, last) = match recovery {
            "tahoe" => (1, 1.0),
            "reno" | "newreno" | "newreno-1999" => (5, 14.0),
            // 6 in flight leave a cwnd of 7 to the resent one; then a segment less, and one new, for every two of six more.
            "sack-linux-2.4" => (4, 4.0),
            // pipe = 10 - 1 lost - 3 held + 1 sent again = 7, and one less with each of six more: 5 - 1 = 4 new.
            _ => (5, 5.0),
        };
        let cwnd = cwnd_at(&net, 200.0);
        assert_eq!((cwnd.len(), cwnd.last()), (sent, Some(&last)), "{recovery:?}\n{}", net.trace());
        assert_eq!(sender.window().ssthresh, 5000.0);
    }
}

#[test]
fn limited_transmit_sends_new_data_on_the_first_two_duplicates() {
    for recovery in RECOVERIES {
        for (limited_transmit, expected) in [(false, &[1, 2, 3, 4][..]), (true, &[1, 2, 3, 4, 5, 6])] {
            let net = lossy(Config { limited_transmit, ..config(recovery) }, 4, &[1]).transfer(10_000);
            let data = net.data_by(CLIENT);
            let retransmission = data.iter().position(|sent| sent.passing.again).unwrap_or(data.len());
            let before: Vec<i64> = data[..retransmission]
                .iter()
                .map(|sent| net.relative(CLIENT, sent.passing.segment.seq) / 1000 + 1)
                .collect();
            assert_eq!(before, expected, "{recovery:?}\n{}", net.trace());
            // RFC 5681 section 3.2 step 2: what limited transmit sent "MUST NOT be included" in FlightSize.
            assert_eq!(net.ends[CLIENT].sender().window().ssthresh, 2000.0, "{recovery:?}");
        }
    }
}

#[test]
fn limited_transmit_turns_a_timeout_into_a_fast_retransmit() {
    // Three in flight, the first lost: two duplicates, and the two segments that they let out bring the third.
    for recovery in by_timer_alone() {
        let timeouts = |limited_transmit| {
            let net = lossy(Config { limited_transmit, ..config(recovery) }, 3, &[1]).transfer(10_000);
            net.ends[CLIENT].sender().stats().timeouts
        };
        assert_eq!((timeouts(false), timeouts(true)), (1, 0), "{recovery:?}");
    }
}

#[test]
fn newreno_repairs_a_hole_a_round_trip() {
    // RFC 6582 section 3.2 step 3 (partial acknowledgments).
    let net = lossy(config("newreno"), 12, &[1, 4, 8]).transfer(40_000);
    assert_eq!(again(&net), [(200.0, 1), (300.0, 4), (400.0, 8)], "{}", net.trace());
    assert_eq!(net.ends[CLIENT].sender().recovery_phases(), 1);
}

// sack, section 10, paragraph 1, options: SACK options tell the sender what has been received
#[test]
fn sack_repairs_all_holes_in_a_round_trip() {
    // `sack`, section 10: "using SACK options sent from the receiver to inform the sender of data that has been received".
    let net = lossy(config("sack"), 12, &[1, 4, 8]).transfer(40_000);
    assert_eq!(again(&net), [(200.0, 1), (200.0, 4), (200.0, 8)], "{}", net.trace());
    let sender = net.ends[CLIENT].sender();
    assert_eq!((sender.recovery_phases(), sender.window().ssthresh), (1, 6000.0));
}

#[test]
fn reno_reduces_once_for_each_loss_of_a_window() {
    let config = Config { recover_guard: false, ..config("reno") };
    let net = lossy(config, 20, &[1, 8]).transfer(60_000);
    let sender = net.ends[CLIENT].sender();
    assert_eq!((sender.recovery_phases(), sender.stats().timeouts), (2, 0), "{}", net.trace());
    assert_eq!(again(&net), [(200.0, 1), (300.0, 8)], "{}", net.trace());
}

#[test]
fn reno_of_2000_repairs_each_loss_of_a_window_and_keeps_the_guard_behind_a_timeout() {
    let reno = |each_loss| Config {
        recovery: RenoOptions { each_loss, ..RenoOptions::default() }.into(),
        limited_transmit: false,
        ..config("reno")
    };
    // As without the guard, where nothing times out.
    let net = lossy(reno(true), 20, &[1, 8]).transfer(60_000);
    let sender = net.ends[CLIENT].sender();
    assert_eq!((sender.recovery_phases(), sender.stats().timeouts), (2, 0), "{}", net.trace());
    assert_eq!(again(&net), [(200.0, 1), (300.0, 8)], "{}", net.trace());
    let guarded = lossy(reno(false), 20, &[1, 8]).transfer(60_000);
    assert_eq!(guarded.ends[CLIENT].sender().recovery_phases(), 1, "{}", guarded.trace());
    // Nine of ten are lost: no duplicate ACK of what was sent before the timeout begins another recovery.
    let mut net = lossy(reno(true), 10, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    net.open();
    net.write(CLIENT, 10_000);
    net.run_to(1130);
    let tenth = net.data_by(CLIENT)[9].passing.segment;
    for _ in 0..4 {
        net.arrive(1, &tenth);
    }
    net.run_to(1500);
    let sender = net.ends[CLIENT].sender();
    assert_eq!((sender.stats().timeouts, sender.recovery_phases()), (1, 0), "{}", net.trace());
}

#[test]
fn the_guard_keeps_tahoe_from_taking_its_own_repeats_for_losses() {
    // Going back sends again what the receiver has, and that draws duplicate ACKs (RFC 6582 section 3, Hoe 1996).
    let phases = |recover_guard| {
        let config = Config { recover_guard, limited_transmit: false, ..config("tahoe") };
        let net = lossy(config, 16, &[1, 2, 3, 4, 5]).transfer(60_000);
        net.ends[CLIENT].sender().recovery_phases()
    };
    assert_eq!((phases(true), phases(false)), (1, 5));
}

#[test]
fn no_recovery_starts_for_data_sent_before_a_timeout() {
    // RFC 6582 section 4.1 and RFC 6675 section 5.1. Nine of ten are lost; after the timeout, what goes again draws
    // duplicate ACKs by a copy of the tenth that comes late, three times.
    for recovery in ["newreno", "sack"] {
        let mut net = lossy(config(recovery), 10, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        net.open();
        net.write(CLIENT, 10_000);
        net.run_to(1130);
        let tenth = net.data_by(CLIENT)[9].passing.segment;
        assert_eq!(net.ends[CLIENT].sender().stats().timeouts, 1);
        for _ in 0..4 {
            net.arrive(1, &tenth);
        }
        net.run_to(1500);
        assert_eq!(net.ends[CLIENT].sender().recovery_phases(), 0, "{recovery:?}\n{}", net.trace());
    }
}

#[test]
fn sack_takes_no_acks_without_news_for_losses() {
    // RFC 6675 section 2. A segment that comes four times draws three ACKs that repeat the last one.
    let copies = |p: &crate::harness::Passing| match p.data_number {
        2 => Fate::copies(vec![Default::default(); 5]),
        _ => Fate::pass(),
    };
    for (recovery, phases) in [("newreno", 1), ("sack", 0)] {
        let config = Config { initial_window: 10, ..config(recovery) };
        let net = Net::alike(config).through(copies).transfer(10_000);
        assert_eq!(net.ends[CLIENT].sender().recovery_phases(), phases, "{recovery:?}\n{}", net.trace());
    }
}

#[test]
fn sack_enters_recovery_when_an_ack_of_new_data_shows_the_loss() {
    // The ACKs that the segments behind the hole drew are lost, but for the last, which also moves the ACK point.
    let net = Net::alike(Config { initial_window: 8, ..config("sack") }).through(|p| {
        let data = p.from == CLIENT && p.data_number == 4;
        let acks = p.from != CLIENT && (2..8).contains(&p.number);
        if data || acks { Fate::drop() } else { Fate::pass() }
    });
    let net = net.transfer(20_000);
    assert_eq!(again(&net).first(), Some(&(200.0, 4)), "{}", net.trace());
    assert_eq!(net.ends[CLIENT].sender().stats().timeouts, 0);
}

#[test]
fn the_rescue_retransmission_finds_a_lost_tail() {
    // RFC 6675 section 4, NextSeg (4): the end of the data is lost together with segment 1.
    let net = lossy(config("sack"), 10, &[1, 10]).transfer(10_000);
    let stats = net.ends[CLIENT].sender().stats();
    assert_eq!(stats.timeouts, 0, "{}", net.trace());
    assert_eq!(again(&net).last().map(|again| again.1), Some(10));
}

#[test]
fn reordering_by_less_than_the_threshold_is_no_loss() {
    for recovery in RECOVERIES {
        // Segment 3 falls behind 4 and 5: two duplicate ACKs.
        let late =
            |p: &crate::harness::Passing| if p.data_number == 3 { Fate::late(1) } else { Fate::pass() };
        let mut net = Net::alike(Config { initial_window: 5, limited_transmit: false, ..config(recovery) });
        net.set_network(late);
        let net = net.transfer(5000);
        let sender = net.ends[CLIENT].sender();
        let seen = (sender.stats().duplicate_acks, sender.recovery_phases(), again(&net).len());
        assert_eq!(seen, (2, 0, 0), "{recovery:?}\n{}", net.trace());
        assert!(net.data_by(CLIENT).iter().all(|sent: &Sent| sent.cwnd == 5000.0));
    }
}
