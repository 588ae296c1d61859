//! The stacks of then: what `newreno-1999` and `sack-1996` do otherwise than their RFCs of today.

use std::sync::Arc;

use bentpipe_tcp::recovery::{NewReno1999Options, RenoOptions, Sack1996Options, TahoeOptions};
use bentpipe_tcp::{Chosen, Config, Growth, Incoming, Outgoing, SackBlock, Sender, Seq};
use bentpipe_units::{Span, Time};

use crate::harness::{CLIENT, Fate, Net, config};

const FIRST: Seq = Seq(7000);

/// A sender with segments of 1000 bytes under way, an ACK each 10 ms.
struct Bench {
    sender: Sender,
    now: Time,
    window: u32,
}

impl Bench {
    fn new(config: &Config) -> Bench {
        Bench::of(config, 500)
    }

    /// With so many segments to send, and FIN behind them.
    fn of(config: &Config, segments: u64) -> Bench {
        Bench::within(config, segments, 60_000)
    }

    /// The same to a receiver with a window of so many bytes.
    fn within(config: &Config, segments: u64, window: u32) -> Bench {
        let mut sender = Sender::new(config, FIRST);
        sender.set_peer_window(window);
        sender.write(segments * 1000);
        sender.close(false);
        let mut bench = Bench { sender, now: Time::ZERO, window };
        bench.poll();
        bench
    }

    fn poll(&mut self) -> Vec<Outgoing> {
        std::iter::from_fn(|| self.sender.poll(self.now)).collect()
    }

    /// An ACK of so many segments with blocks of segments: the segments that it lets out, from 0.
    fn ack(&mut self, acked: u32, blocks: &[(u32, u32)]) -> Vec<u32> {
        self.now += Span::from_millis(10);
        let at = |segments: u32| FIRST + segments * 1000;
        let sack: Vec<SackBlock> =
            blocks.iter().map(|&(start, end)| SackBlock { start: at(start), end: at(end) }).collect();
        let incoming = Incoming { window: Some(self.window), sack: &sack, ..Incoming::of(at(acked)) };
        self.sender.on_ack(self.now, &incoming);
        self.poll().iter().map(|sent| (sent.seq - FIRST) / 1000).collect()
    }

    fn windows(&self) -> (f64, f64) {
        let w = self.sender.window();
        (w.cwnd / 1000.0, w.ssthresh / 1000.0)
    }

    /// Three duplicate ACKs of what is outstanding, segment 0 missing.
    fn third_duplicate(&mut self) -> Vec<u32> {
        (2..=4).flat_map(|end| self.ack(0, &[(1, end)])).collect()
    }
}

fn then(recovery: &str, window: u32) -> Config {
    let growth = Growth::PerAck;
    Config { initial_window: window, limited_transmit: false, growth, ..config(recovery) }
}

fn newreno(options: NewReno1999Options, window: u32) -> Config {
    Config { recovery: options.into(), ..then("newreno-1999", window) }
}

#[test]
fn a_window_of_whole_segments_is_halved_to_whole_segments() {
    for recovery in ["newreno-1999", "sack-1996"] {
        for (window, half) in [(12, 6.0), (15, 7.0), (5, 2.0)] {
            let mut bench = Bench::new(&then(recovery, window));
            assert_eq!(bench.third_duplicate(), [0], "{recovery}");
            assert_eq!(bench.windows().1, half, "{recovery} {window}");
            bench.ack(2, &[]);
            // In recovery cwnd is what the first loss made of it, not what is outstanding.
            bench.now = bench.sender.next_timeout();
            assert_eq!(bench.sender.on_timeout(bench.now), Ok(()));
            assert_eq!(bench.windows(), (1.0, (half / 2.0_f64).floor().max(2.0)), "{recovery} {window}");
        }
    }
}

#[test]
fn the_window_that_the_receiver_advertises_bounds_what_is_halved() {
    // RFC 2001 section 2 step 4: "the minimum of cwnd and the receiver's advertised window".
    for recovery in ["newreno-1999", "sack-1996"] {
        let mut bench = Bench::new(&then(recovery, 80));
        assert_eq!(bench.sender.flight(), 60_000);
        bench.third_duplicate();
        assert_eq!(bench.windows().1, 30.0, "{recovery}");
    }
}

#[test]
fn a_fast_retransmit_restarts_the_timer() {
    for (recovery, restarts) in
        [("newreno", false), ("sack", false), ("newreno-1999", true), ("sack-1996", true)]
    {
        let mut bench = Bench::new(&then(recovery, 12));
        let before = bench.sender.next_timeout();
        bench.third_duplicate();
        assert_eq!(bench.sender.next_timeout() > before, restarts, "{recovery}");
    }
}

#[test]
fn every_partial_ack_restarts_the_timer_unless_impatient() {
    for impatient in [false, true] {
        let mut bench = Bench::new(&newreno(NewReno1999Options { impatient, ..Default::default() }, 12));
        bench.third_duplicate();
        bench.ack(2, &[]);
        let first = bench.sender.next_timeout();
        bench.ack(4, &[]);
        assert_eq!(bench.sender.next_timeout() > first, !impatient);
    }
}

// sack, section 4, partial ACK: a partial ACK does not end fast recovery
#[test]
fn a_partial_ack_ends_the_inflation_or_takes_off_what_it_acknowledges() {
    // `sack`, section 4: "partial ACKs do not take TCP out of Fast Recovery as in Reno".
    for (partial_deflation, left) in [(false, 6.0), (true, 6.0 + 11.0 - 4.0 + 1.0)] {
        let mut bench =
            Bench::new(&newreno(NewReno1999Options { partial_deflation, ..Default::default() }, 12));
        bench.third_duplicate();
        for end in 5..13 {
            bench.ack(0, &[(1, end)]);
        }
        assert_eq!(bench.windows(), (6.0 + 11.0, 6.0));
        bench.ack(4, &[]);
        assert_eq!(bench.windows().0, left);
        // What is left of the inflation goes with the phase, whose last ACK opens the window as any other.
        bench.ack(bench_end(&bench), &[]);
        assert_eq!(bench.windows(), (6.0 + 1.0 / 6.0, 6.0));
    }
}

/// Segments sent so far.
fn bench_end(bench: &Bench) -> u32 {
    (bench.sender.max() - FIRST) / 1000
}

#[test]
fn a_partial_ack_of_more_than_the_inflation_takes_the_rest_off_cwnd() {
    let options = NewReno1999Options { partial_deflation: true, ..Default::default() };
    let mut bench = Bench::new(&newreno(options, 12));
    bench.third_duplicate();
    assert_eq!(bench.windows().0, 6.0 + 3.0);
    bench.ack(5, &[]);
    assert_eq!(bench.windows().0, 6.0 + 3.0 - 5.0 + 1.0);
    bench.ack(12, &[]);
    // Four of it were cwnd's own, one stands for the segment sent again.
    assert_eq!(bench.windows().0, 4.0 + 1.0);
}

#[test]
fn an_ack_in_fast_recovery_lets_out_two_new_segments_at_most() {
    let mut bench = Bench::new(&newreno(NewReno1999Options::default(), 12));
    bench.third_duplicate();
    for end in 5..9 {
        bench.ack(0, &[(1, end)]);
    }
    // Thirteen are sent and two outstanding, cwnd is 6 without the inflation: room for four, and for the hole in any case.
    assert_eq!(bench.ack(11, &[]), [11, 13, 14]);
}

#[test]
fn pipe_leaves_the_first_retransmission_out_and_a_partial_ack_takes_two() {
    // Segments 0 and 1 of twelve are lost: pipe = 12 - 3 = 9, less one an ACK; cwnd is 6.
    for segments in [500, 12] {
        // FIN, which goes with the last segment, is none of its own.
        let mut bench = Bench::of(&then("sack-1996", 12), segments);
        let again: Vec<Vec<u32>> = (3..=9).map(|end| bench.ack(0, &[(2, end)])).collect();
        assert_eq!(again, [vec![], vec![], vec![0], vec![], vec![], vec![], vec![1]], "{segments}");
    }
    let mut bench = Bench::new(&then("sack-1996", 12));
    assert_eq!((3..=5).flat_map(|end| bench.ack(0, &[(2, end)])).collect::<Vec<_>>(), [0]);
    let sent: Vec<Vec<u32>> = (6..=12).map(|end| bench.ack(0, &[(2, end)])).collect();
    // 8, 7, 6, 5: the fourth lets one out, the hole; then each another.
    assert_eq!(sent, [vec![], vec![], vec![], vec![1], vec![12], vec![13], vec![14]]);
    assert_eq!(bench.ack(1, &[(2, 12)]), [15, 16], "a partial ACK lets two out");
    assert_eq!(bench.windows(), (6.0, 6.0));
    bench.ack(12, &[]);
    assert!(!bench.sender.in_recovery());
    assert_eq!(bench.windows(), (6.0, 6.0), "the ACK that ends the phase opens nothing");
}

#[test]
fn the_ack_that_begins_recovery_lets_out_the_retransmission_alone() {
    // pipe is 4 - 3 = 1 and cwnd 2: what has room goes with the next ACK.
    let mut bench = Bench::new(&then("sack-1996", 4));
    assert_eq!(bench.third_duplicate(), [0]);
    assert_eq!(bench.ack(0, &[(1, 4)]), [4, 5]);
}

// sack, section 5, sender: from these the sender knows what is missing
#[test]
fn a_hole_below_one_reported_segment_goes_again() {
    // `sack`, section 5: "uses the SACK information to retransmit lost segments before sending new segments".
    // IsLost of RFC 6675 waits for three segments above the hole, and new data goes out meanwhile.
    for (recovery, next) in [("sack", 13), ("sack-1996", 8)] {
        let mut bench = Bench::new(&then(recovery, 12));
        bench.third_duplicate();
        for end in 5..=8 {
            bench.ack(0, &[(1, end)]);
        }
        assert_eq!(bench.ack(0, &[(9, 10), (1, 8)]), [next], "{recovery}");
    }
}

#[test]
fn half_a_window_is_repaired_at_the_pace_of_slow_start() {
    // Fall and Floyd (1996) section 5. Eight of sixteen are lost, so that pipe stays at cwnd or above it until the partial ACK.
    let lost = [1, 2, 3, 4, 5, 6, 7, 8];
    let rounds = |recovery: &str| {
        let net = Net::alike(then(recovery, 16)).dropping(&lost).transfer(60_000);
        assert_eq!(net.ends[CLIENT].sender().stats().timeouts, 0, "{recovery}\n{}", net.trace());
        let again = net.data_by(CLIENT);
        let mut at: Vec<f64> = again.iter().filter(|sent| sent.passing.again).map(|sent| sent.ms()).collect();
        let all = at.len();
        at.dedup();
        (all, at.iter().map(|ms| (ms / 100.0) as u32).collect::<Vec<_>>())
    };
    assert_eq!(rounds("sack-1996"), (8, vec![2, 3, 4, 5]), "1, 2, 4 and the rest");
    assert_eq!(rounds("sack"), (8, vec![2]));
}

#[test]
fn there_is_no_rescue() {
    // The end of the data is lost together with segment 1: RFC 6675 rule 4 finds it, the timer does here.
    for (recovery, timeouts) in [("sack", 0), ("sack-1996", 1)] {
        let net = Net::alike(then(recovery, 10)).dropping(&[1, 10]).transfer(10_000);
        assert_eq!(net.ends[CLIENT].sender().stats().timeouts, timeouts, "{recovery}\n{}", net.trace());
    }
}

#[test]
fn after_a_timeout_what_is_held_goes_again() {
    // Segments 1 and 2 are lost, and both once more.
    for (recovery, expected) in [("sack", vec![1, 2]), ("sack-1996", vec![1, 2, 3])] {
        let config = Config { receive_window: 12_000, ..then(recovery, 12) };
        let net = Net::alike(config).dropping(&[1, 2, 13, 14]);
        let net = net.transfer(12_000);
        let mut again: Vec<i64> = net
            .data_by(CLIENT)
            .iter()
            .filter(|sent| sent.passing.again && sent.ms() > 1000.0)
            .map(|sent| net.relative(CLIENT, sent.passing.segment.seq) / 1000 + 1)
            .collect();
        again.sort_unstable();
        assert_eq!(again, expected, "{recovery}\n{}", net.trace());
    }
}

#[test]
fn an_ack_without_news_counts_in_recovery_alone() {
    // A segment that comes five times draws ACKs that repeat the last one.
    let copies = |p: &crate::harness::Passing| match p.data_number {
        2 => Fate::copies(vec![Default::default(); 5]),
        _ => Fate::pass(),
    };
    let net = Net::alike(then("sack-1996", 10)).through(copies).transfer(10_000);
    assert_eq!(net.ends[CLIENT].sender().recovery_phases(), 0, "{}", net.trace());
    let mut bench = Bench::new(&then("sack-1996", 12));
    bench.third_duplicate();
    // pipe is 9, and each ACK takes one off, whatever it reports: 5 after the fourth.
    let sent: Vec<Vec<u32>> = (0..4).map(|_| bench.ack(0, &[(1, 4)])).collect();
    assert_eq!(sent, [vec![], vec![], vec![], vec![12]]);
}

#[test]
fn without_sack_of_the_peer_it_is_the_newreno_of_then() {
    let trace = |recovery: &str, sack| {
        let config = Config { sack, ..then(recovery, 12) };
        Net::alike(config).dropping(&[2, 3, 7]).transfer(40_000).trace()
    };
    assert_eq!(trace("sack-1996", false), trace("newreno-1999", false));
    assert_ne!(trace("sack-1996", true), trace("newreno-1999", false));
    let chosen: Chosen<dyn bentpipe_tcp::recovery::RecoveryFactory> =
        Chosen::new("own", Arc::new(Sack1996Options::default()));
    assert!(chosen.factory().offers_sack());
}

fn reno_of_ns2() -> Config {
    Config { recovery: RenoOptions { each_loss: true, as_in_ns2: true }.into(), ..then("reno", 15) }
}

fn tahoe_of_ns2() -> Config {
    Config { recovery: TahoeOptions { as_in_ns2: true }.into(), ..then("tahoe", 15) }
}

#[test]
fn tahoe_and_reno_of_ns2_halve_the_window_in_whole_segments_and_restart_the_timer() {
    for (config, half, restarts) in [
        (tahoe_of_ns2(), 7.0, true),
        (reno_of_ns2(), 7.0, true),
        (then("tahoe", 15), 7.5, false),
        (then("reno", 15), 7.5, false),
    ] {
        let mut bench = Bench::new(&config);
        let before = bench.sender.next_timeout();
        assert_eq!(bench.third_duplicate(), [0]);
        assert_eq!((bench.windows().1, bench.sender.next_timeout() > before), (half, restarts), "{config:?}");
        // A timeout takes what is left, without the inflation.
        for end in 5..=9 {
            bench.ack(0, &[(1, end)]);
        }
        bench.now = bench.sender.next_timeout();
        assert_eq!(bench.sender.on_timeout(bench.now), Ok(()));
        if restarts {
            assert_eq!(bench.windows(), (1.0, if config.recovery.name() == "tahoe" { 2.0 } else { 3.0 }));
        }
    }
}

#[test]
fn the_ack_that_ends_renos_recovery_opens_cwnd_in_ns2_alone() {
    for (config, left) in [(reno_of_ns2(), 7.0 + 1.0 / 7.0), (then("reno", 15), 7.5)] {
        let mut bench = Bench::new(&config);
        bench.third_duplicate();
        bench.ack(0, &[]);
        assert!(bench.windows().0 > 10.0);
        bench.ack(15, &[]);
        assert!((bench.windows().0 - left).abs() < 1e-9, "{:?}", bench.windows());
    }
}

#[test]
fn duplicates_that_the_guard_refuses_inflate_until_new_data_is_acknowledged() {
    // ns-2 until July 2003: `dupwnd_ = NUMDUPACKS` whether or not dupack_action did anything.
    for config in [newreno(NewReno1999Options::default(), 15), reno_of_ns2()] {
        let mut bench = Bench::new(&config);
        bench.now = bench.sender.next_timeout();
        assert_eq!(bench.sender.on_timeout(bench.now), Ok(()));
        assert_eq!(bench.poll().len(), 1);
        // Slow start from one; then three duplicates below `recover`.
        assert_eq!(bench.ack(4, &[]), [4, 5]);
        assert_eq!(bench.windows().0, 2.0);
        let phases = bench.sender.recovery_phases();
        let out: Vec<Vec<u32>> = (0..4).map(|_| bench.ack(4, &[])).collect();
        // Window 2 + 3, then + 1: what had gone before the timeout goes again, two an ACK in NewReno.
        let expected = match config.recovery.name() {
            "reno" => [vec![], vec![], vec![6, 7, 8], vec![9]],
            _ => [vec![], vec![], vec![6, 7], vec![8, 9]],
        };
        assert_eq!(out, expected, "{}", config.recovery.name());
        assert_eq!((bench.windows().0, bench.sender.recovery_phases()), (6.0, phases));
        bench.ack(6, &[]);
        assert_eq!(bench.windows().0, 3.0, "the inflation is over, slow start goes on");
        // The timer does not halve it either.
        for _ in 0..3 {
            bench.ack(6, &[]);
        }
        assert_eq!(bench.windows().0, 6.0);
        bench.now = bench.sender.next_timeout();
        assert_eq!(bench.sender.on_timeout(bench.now), Ok(()));
        assert_eq!(bench.windows(), (1.0, 2.0));
    }
}

fn early_sack(window: u32) -> Config {
    Config { recovery: Sack1996Options { until_august_2000: true }.into(), ..then("sack-1996", window) }
}

#[test]
fn until_august_2000_pipe_begins_with_cwnd_and_not_with_what_is_outstanding() {
    // The receiver's window holds 10 of cwnd's 20 segments back: pipe is 17 in place of 7, cwnd becomes 5.
    let recovery = |config: &Config| {
        let mut bench = Bench::within(config, 500, 10_000);
        bench.third_duplicate();
        let sent: Vec<usize> = (6..=10).map(|end| bench.ack(0, &[(5, end), (1, 4)]).len()).collect();
        sent
    };
    let held = Bench::new(&early_sack(20)).windows().0;
    assert_eq!(held, 20.0);
    assert_eq!(recovery(&early_sack(20)), [0; 5]);
    assert_eq!(recovery(&then("sack-1996", 20)), [0, 0, 1, 0, 0]);
}

#[test]
fn until_july_2000_every_duplicate_counts_whatever_it_reports() {
    for (config, phases) in [(early_sack(12), 1), (then("sack-1996", 12), 0)] {
        let mut bench = Bench::new(&config);
        for _ in 0..3 {
            bench.ack(0, &[(1, 2)]);
        }
        assert_eq!(bench.sender.recovery_phases(), phases);
    }
}

#[test]
fn behind_a_timeout_no_duplicate_begins_a_phase_below_recover() {
    for recovery in ["newreno-1999", "sack-1996"] {
        let mut bench = Bench::new(&then(recovery, 12));
        bench.now = bench.sender.next_timeout();
        assert_eq!(bench.sender.on_timeout(bench.now), Ok(()));
        bench.poll();
        bench.ack(4, &[]);
        for end in 6..=9 {
            bench.ack(4, &[(5, end)]);
        }
        assert_eq!(bench.sender.recovery_phases(), 0, "{recovery}");
        // Beyond it they do.
        assert_eq!(bench_end(&bench), 12);
        bench.ack(12, &[]);
        bench.ack(13, &[]);
        for end in 15..=17 {
            bench.ack(13, &[(14, end)]);
        }
        assert_eq!(bench.sender.recovery_phases(), 1, "{recovery}");
    }
}

#[test]
fn a_timeout_halves_cwnd_without_what_duplicates_have_added() {
    let mut bench = Bench::new(&then("newreno-1999", 24));
    for end in 2..=20 {
        bench.ack(0, &[(1, end)]);
    }
    assert_eq!(bench.windows(), (12.0 + 19.0, 12.0));
    bench.now = bench.sender.next_timeout();
    assert_eq!(bench.sender.on_timeout(bench.now), Ok(()));
    assert_eq!(bench.windows(), (1.0, 6.0));
}

#[test]
fn every_partial_ack_restarts_the_timer_of_sack_1996_and_the_last_ack_forgets_recover() {
    let mut bench = Bench::new(&then("sack-1996", 12));
    bench.third_duplicate();
    let mut before = bench.sender.next_timeout();
    for acked in [2, 4] {
        bench.ack(acked, &[(acked + 1, 12)]);
        assert!(bench.sender.in_recovery() && bench.sender.next_timeout() > before);
        before = bench.sender.next_timeout();
    }
    // ns-2 sets `recover_ = 0`: what is lost next may begin at the very byte at which the phase ended.
    bench.ack(12, &[]);
    for end in 14..=16 {
        bench.ack(12, &[(13, end)]);
    }
    assert_eq!(bench.sender.recovery_phases(), 2);
}

#[test]
fn an_ack_of_new_data_is_no_duplicate_whatever_it_reports() {
    for config in [then("sack-1996", 12), early_sack(12)] {
        let mut bench = Bench::new(&config);
        for end in 3..=5 {
            bench.ack(1, &[(2, end)]);
        }
        assert_eq!(bench.sender.recovery_phases(), 0);
        bench.ack(1, &[(2, 6)]);
        assert_eq!(bench.sender.recovery_phases(), 1);
    }
    // Segments 0 and 5 of twelve are lost: pipe is 9, 8, 7, and 5 after a partial ACK, which takes two off and no third.
    let mut bench = Bench::new(&then("sack-1996", 12));
    bench.third_duplicate();
    assert!(bench.ack(0, &[(1, 5)]).is_empty());
    assert!(bench.ack(0, &[(6, 7), (1, 5)]).is_empty());
    assert_eq!(bench.ack(5, &[(6, 8)]), [5]);
}

#[test]
fn what_goes_again_after_a_timeout_stays_within_the_receive_window() {
    for recovery in ["tahoe", "reno", "newreno", "newreno-1999", "sack", "sack-1996"] {
        let mut bench = Bench::new(&then(recovery, 12));
        bench.now = bench.sender.next_timeout();
        assert_eq!(bench.sender.on_timeout(bench.now), Ok(()));
        bench.poll();
        for acked in 1..=4 {
            bench.ack(acked, &[]);
        }
        // cwnd is five segments, the peer has room for two.
        bench.window = 2000;
        assert!(bench.ack(6, &[]).is_empty(), "{recovery}");
        assert!(bench.windows().0 > 4.0);
        bench.window = 4000;
        assert!(bench.ack(7, &[]).into_iter().all(|segment| segment < 11), "{recovery}");
    }
}

#[test]
fn reno_leaves_with_ssthresh() {
    // RFC 2581 section 3.2 step 5: "set cwnd to ssthresh (the value set in step 1). This is termed "deflating" the window."
    let mut bench = Bench::new(&then("reno", 12));
    bench.third_duplicate();
    for end in 5..=12 {
        bench.ack(0, &[(1, end)]);
    }
    assert_eq!(bench.windows(), (6.0 + 11.0, 6.0));
    bench.ack(12, &[]);
    assert_eq!(bench.windows(), (6.0, 6.0));
}

// sack, section 4, partial ACK: a partial ACK says that the packet behind it is lost, and it is resent
// sack, section 4, end: fast recovery lasts until all that was outstanding is acknowledged
#[test]
fn newreno_1999_stays_in_recovery_until_all_that_was_outstanding_is_acknowledged() {
    // `sack`, section 4: "remains in Fast Recovery until all of the data outstanding when Fast Recovery was initiated has been acknowledged".
    let mut bench = Bench::new(&newreno(NewReno1999Options::default(), 12));
    bench.third_duplicate();
    for acked in [3, 7, 11] {
        // The segment behind a partial ACK is taken for lost, and goes again.
        assert_eq!(bench.ack(acked, &[]).first(), Some(&acked));
        assert!(bench.sender.in_recovery());
    }
    bench.ack(12, &[]);
    assert!(!bench.sender.in_recovery());
}
