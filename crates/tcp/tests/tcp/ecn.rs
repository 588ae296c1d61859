//! Explicit congestion notification (RFC 3168): what both ends agree on, which packets may be marked, the echo of a mark and
//! what it costs.

use std::collections::BTreeSet;

use bentpipe_tcp::control::{Composition, ControlFactory, CubicOptions, StandardOptions};
use bentpipe_tcp::{Catalogue, Chosen, Config, Ecn, Flags, Profile, Segment, Seq, State};
use proptest::prelude::*;

use crate::harness::{
    CLIENT, CONTROLS, Fate, Net, RECOVERIES, Reader, SERVER, Sent, config, control, recovery,
};

fn ecn(recovery: &str) -> Config {
    Config { ecn: true, initial_window: 10, initial_ssthresh: Some(10_000), ..config(recovery) }
}

/// Marks the client's data segments of these numbers, and drops the others given, each counted from 1 as it is sent.
fn marking(net: Net, marked: &[usize], lost: &[usize]) -> Net {
    let (marked, lost) = (marked.to_vec(), lost.to_vec());
    net.through(move |passing| match passing.data_number {
        _ if passing.from != CLIENT => Fate::pass(),
        number if lost.contains(&number) => Fate::drop(),
        number if marked.contains(&number) => Fate::pass().marked(),
        _ => Fate::pass(),
    })
}

fn has(sent: &Sent, flags: Flags) -> bool {
    sent.passing.segment.flags.has(flags)
}

/// Numbers, from 1, of the client's data segments with CWR.
fn announced(net: &Net) -> Vec<usize> {
    let data = net.data_by(CLIENT);
    data.iter().filter(|sent| has(sent, Flags::CWR)).map(|sent| sent.passing.data_number).collect()
}

/// What the ACKs with ECE acknowledge, in segments of 1000 bytes.
fn echoed(net: &Net) -> Vec<i64> {
    let acks = net.acks_by(SERVER);
    acks.iter()
        .filter(|sent| has(sent, Flags::ECE))
        .map(|sent| net.relative(CLIENT, sent.passing.segment.ack) / 1000)
        .collect()
}

fn cuts(net: &Net) -> u64 {
    net.ends[CLIENT].sender().stats().mark_reductions
}

#[test]
fn ends_mark_only_when_both_offer() {
    for (client, server) in [(false, false), (false, true), (true, false), (true, true)] {
        let [client_config, server_config] = [client, server].map(|on| Config { ecn: on, ..config("sack") });
        let mut net = Net::new([client_config, server_config], [7, 9], 10);
        net.open();
        net.write(SERVER, 5000);
        net.write(CLIENT, 20_000);
        net.close(CLIENT);
        net.run();
        let syn = |end| {
            let segment = net.sent_by(end).next().unwrap().passing.segment;
            assert_eq!(segment.ecn, Ecn::NotEct);
            segment.flags
        };
        let (offer, answer) = (Flags::SYN | Flags::ECE | Flags::CWR, Flags::SYN | Flags::ACK | Flags::ECE);
        assert_eq!(syn(CLIENT), if client { offer } else { Flags::SYN });
        assert_eq!(syn(SERVER), if client && server { answer } else { Flags::SYN | Flags::ACK });
        for sent in &net.sent {
            let segment = &sent.passing.segment;
            let capable = client && server && segment.len > 0;
            assert_eq!(segment.ecn, if capable { Ecn::Ect0 } else { Ecn::NotEct }, "{}", net.trace());
        }
        assert_eq!(net.read, [5000, 20_000]);
    }
}

#[test]
fn flags_sent_back_as_they_came_offer_nothing() {
    // A host that does not know the two bits may answer a SYN with both.
    let mut net = Net::alike(ecn("sack"));
    net.open();
    let syn = net.sent[0].passing.segment;
    net.arrive(
        CLIENT,
        &Segment {
            seq: Seq(5_000_000),
            ack: syn.seq + 1,
            window: 60_000,
            flags: Flags::SYN | Flags::ACK | Flags::ECE | Flags::CWR,
            ..Segment::default()
        },
    );
    assert_eq!(net.ends[CLIENT].state(), State::Established);
    net.write(CLIENT, 1000);
    assert_eq!(net.data_by(CLIENT)[0].passing.segment.ecn, Ecn::NotEct);
}

#[test]
fn a_lost_syn_is_offered_again() {
    let net = Net::alike(ecn("sack")).through(|passing| match (passing.from, passing.number) {
        (CLIENT, 1) => Fate::drop(),
        _ => Fate::pass(),
    });
    let net = net.transfer(5000);
    assert!(net.data_by(CLIENT).iter().all(|sent| sent.passing.segment.ecn == Ecn::Ect0), "{}", net.trace());
}

#[test]
fn a_mark_is_echoed_until_the_sender_says_that_it_has_reduced() {
    for recovery in RECOVERIES {
        let net = marking(Net::alike(ecn(recovery)), &[3], &[]).transfer(60_000);
        // The first two ACKs let segments 11 and 12 out, the third tells of the mark; the next segment waits for half a window.
        assert_eq!(cuts(&net), 1, "{recovery:?}\n{}", net.trace());
        let [first] = announced(&net)[..] else { panic!("one CWR\n{}", net.trace()) };
        assert_eq!(first, 13, "{recovery:?}\n{}", net.trace());
        assert_eq!(echoed(&net), (3..13).collect::<Vec<i64>>(), "{recovery:?}\n{}", net.trace());
        let sender = net.ends[CLIENT].sender();
        let stats = sender.stats();
        assert_eq!((stats.retransmitted_segments, stats.timeouts, sender.recovery_phases()), (0, 0, 0));
        // Ten were out before the ACK that told it.
        assert_eq!(sender.window().ssthresh, 5000.0, "{recovery:?}");
        let after = net.data_by(CLIENT).iter().find(|sent| has(sent, Flags::CWR)).map(|sent| sent.cwnd);
        // Over `rack` bit by bit.
        let most = if recovery == "rack" { 11_000.0 } else { 6000.0 };
        assert!(after.is_some_and(|cwnd| (5000.0..most).contains(&cwnd)), "{recovery:?} {after:?}");
    }
}

#[test]
fn a_mark_on_a_window_of_one_segment_has_the_next_wait_for_the_timer() {
    // RFC 3168 section 6.1.2: "the sending TCP MUST reset the retransmit timer on receiving the ECN-Echo packet when the congestion
    // window is one. The sending TCP will then be able to send a new packet only when the retransmit timer expires."
    let sent = |recovery: &str| {
        let config = Config { initial_window: 1, ..ecn(recovery) };
        let net = marking(Net::alike(config), &[1], &[]).transfer(3000);
        let stats = net.ends[CLIENT].sender().stats();
        assert_eq!((stats.timeouts, stats.retransmitted_segments, stats.mark_reductions), (0, 0, 1));
        assert_eq!(announced(&net), [2], "{}", net.trace());
        net.data_by(CLIENT).iter().map(Sent::ms).collect::<Vec<_>>()
    };
    // The least RTO is a second.
    for recovery in RECOVERIES {
        assert_eq!(sent(recovery), [100.0, 1200.0, 1300.0], "{recovery}");
    }
    let linux = Config { initial_window: 1, ..Profile::Linux.config(recovery("rack"), control("standard")) };
    let net = marking(Net::alike(Config { ecn: true, mss: 1000, ..linux }), &[1], &[]).transfer(3000);
    let data = net.data_by(CLIENT);
    assert!(data[1].ms() - data[0].ms() < 250.0, "{}", net.trace());
}

#[test]
fn rack_goes_down_bit_by_bit_in_answer_to_a_mark() {
    // As after a loss (`tcp_enter_cwr`): two segments are in flight of the seven that may be, and as many go as arrive, and one more.
    let config = Config { control: control("cubic"), initial_window: 10, ..ecn("rack") };
    let mut net = marking(Net::alike(config), &[1], &[]);
    net.open();
    net.write(CLIENT, 3000);
    net.run_to(205);
    let window = |net: &Net| net.ends[CLIENT].sender().window().cwnd;
    assert_eq!(window(&net), 4000.0, "{}", net.trace());
    assert_eq!(net.ends[CLIENT].sender().window().ssthresh, 7000.0);
    // Beyond the window that was marked it is where it goes.
    net.write(CLIENT, 1000);
    net.run_to(400);
    assert!((7000.0..8100.0).contains(&window(&net)), "{}", window(&net));
}

#[test]
fn marks_of_one_window_cost_one_reduction_and_of_two_two() {
    let marks = |marked: &[usize]| cuts(&marking(Net::alike(ecn("sack")), marked, &[]).transfer(90_000));
    assert_eq!(marks(&[3, 4, 7, 10]), 1);
    // Segment 13 carries CWR: what is sent from it on belongs to the next window.
    assert_eq!(marks(&[3, 12]), 1);
    assert_eq!(marks(&[3, 13]), 2);
    assert_eq!(marks(&[3, 20, 40]), 3);
    assert_eq!(marks(&(1..=8).collect::<Vec<_>>()), 1);
}

#[test]
fn a_loss_in_a_marked_window_costs_no_second_reduction_and_a_mark_in_a_lossy_one_neither() {
    for recovery in RECOVERIES {
        let reduced = |marked: &[usize], lost: &[usize]| {
            let mut net = marking(Net::alike(ecn(recovery)), marked, lost).transfer(60_000);
            assert_eq!(net.ends[CLIENT].sender().stats().timeouts, 0, "{recovery:?}\n{}", net.trace());
            net.ends[CLIENT].take_reductions().iter().map(|cut| cut.marked).collect::<Vec<_>>()
        };
        assert_eq!(reduced(&[2], &[5]), [true], "{recovery:?}");
        assert_eq!(reduced(&[8], &[2]), [false], "{recovery:?}");
        assert_eq!(reduced(&[], &[2]), [false], "{recovery:?}");
    }
}

#[test]
fn a_lost_cwr_is_said_again_after_the_reduction_that_its_loss_costs() {
    for recovery in RECOVERIES {
        let net = marking(Net::alike(ecn(recovery)), &[3], &[13]).transfer(60_000);
        let cwr = announced(&net);
        assert!(cwr.len() == 2 && cwr[0] == 13, "{recovery:?} {cwr:?}\n{}", net.trace());
        // The echo went on until the second.
        let acks = net.acks_by(SERVER);
        let first = acks.iter().position(|sent| has(sent, Flags::ECE)).unwrap();
        let last = acks.iter().rposition(|sent| has(sent, Flags::ECE)).unwrap();
        assert!(acks[first..=last].iter().all(|sent| has(sent, Flags::ECE)), "{recovery:?}\n{}", net.trace());
        assert!(last + 1 < acks.len() && cuts(&net) == 1, "{recovery:?}\n{}", net.trace());
    }
}

#[test]
fn what_is_sent_again_and_what_probes_a_closed_window_may_not_be_marked() {
    let net = marking(Net::alike(ecn("sack")), &[], &[4, 5, 9]).transfer(60_000);
    let again: Vec<_> = net.data_by(CLIENT).into_iter().filter(|sent| sent.passing.again).collect();
    assert_eq!(again.len(), 3);
    assert!(again.iter().all(|sent| sent.passing.segment.ecn == Ecn::NotEct && !has(sent, Flags::CWR)));

    let mut net = Net::alike(Config { receive_window: 4000, ..ecn("sack") });
    net.readers[SERVER] = Reader::Never;
    net.open();
    net.write(CLIENT, 20_000);
    net.run_to(20_000);
    assert!(net.ends[CLIENT].sender().stats().window_probes > 1);
    for sent in net.data_by(CLIENT) {
        let segment = sent.passing.segment;
        assert_eq!(segment.ecn, if segment.len == 1 { Ecn::NotEct } else { Ecn::Ect0 }, "{}", net.trace());
    }
}

#[test]
fn an_ack_with_an_echo_opens_nothing_and_a_small_window_is_not_opened_by_one() {
    let net = marking(Net::alike(Config { initial_ssthresh: None, ..ecn("newreno") }), &[1], &[]);
    let net = net.transfer(60_000);
    let cwnds: Vec<f64> = net.data_by(CLIENT).iter().map(|sent| sent.cwnd).collect();
    assert!(cwnds[..10].iter().all(|cwnd| *cwnd == 10_000.0) && cwnds[10] == 5000.0, "{}", net.trace());
    // One segment in flight: ssthresh falls to two segments, cwnd stays at one.
    let config = Config { initial_window: 1, ..ecn("newreno") };
    let net = marking(Net::alike(config), &[1], &[]).transfer(5000);
    assert_eq!(net.data_by(CLIENT)[1].cwnd, 1000.0, "{}", net.trace());
}

#[test]
fn controls_that_wrap_another_leave_the_mark_to_it() {
    // A BBR keeps no ssthresh that a mark could set; two go by a bandwidth, one judges the round trip before, one starts from a segment.
    let goes_its_way =
        |name: &str| name.starts_with("bbr") || ["jersey", "star", "new-vegas", "peach"].contains(&name);
    for name in CONTROLS.into_iter().filter(|name| !goes_its_way(name)) {
        let config = Config { control: control(name), ..ecn("sack") };
        let net = marking(Net::alike(config), &[3], &[]).transfer(60_000);
        let left = match name {
            "cubic" => 7000.0,
            // 100 ms are ρ = 4: each of the two ACKs before has added 15 segments.
            "hybla" => 20_000.0,
            // Eleven segments of 980 bytes were under way: a congestion header takes the rest.
            "xcp" => 5390.0,
            // The half of cwnd, not of what is under way.
            "illinois" => 5500.0,
            _ => 5000.0,
        };
        assert_eq!((cuts(&net), net.ends[CLIENT].sender().window().ssthresh), (1, left), "{name}");
    }
}

/// RFC 8511: 0.8 of the flight for Reno and 0.85 for CUBIC, in congestion avoidance alone.
#[test]
fn alternative_backoff_leaves_more_of_the_flight_once_slow_start_is_over() {
    let after = |control: Chosen<dyn ControlFactory>, ssthresh: Option<u32>, lost: &[usize]| {
        let config = Config { control, initial_ssthresh: ssthresh, ..ecn("sack") };
        let marked: &[usize] = if lost.is_empty() { &[3] } else { &[] };
        marking(Net::alike(config), marked, lost).transfer(60_000).ends[CLIENT].sender().window().ssthresh
    };
    let abe = || Chosen::from(StandardOptions { beta_mark: 0.8 });
    let cubic = || Chosen::from(CubicOptions { beta_mark: 0.85, ..CubicOptions::default() });
    // Ten are in flight; in slow start two more.
    assert_eq!((after(abe(), Some(10_000), &[]), after(cubic(), Some(10_000), &[])), (8000.0, 8500.0));
    assert_eq!(after(abe(), None, &[]), after(control("standard"), None, &[]));
    assert_eq!(after(cubic(), None, &[]), after(control("cubic"), None, &[]));
    // A loss takes what it took.
    assert_eq!(after(abe(), Some(10_000), &[3]), after(control("standard"), Some(10_000), &[3]));
}

#[test]
fn alternative_backoff_leaves_two_segments_of_ssthresh_and_opens_no_smaller_window() {
    let abe = Chosen::from(StandardOptions { beta_mark: 0.8 });
    let config = Config { control: abe, initial_window: 1, initial_ssthresh: Some(1000), ..ecn("sack") };
    let net = marking(Net::alike(config), &[1], &[]).transfer(5000);
    assert_eq!(cuts(&net), 1);
    assert_eq!(net.data_by(CLIENT)[1].cwnd, 1000.0, "{}", net.trace());
    assert_eq!(net.ends[CLIENT].sender().window().ssthresh, 2000.0, "{}", net.trace());
}

/// BBR's first version has no answer to marks, in Linux either.
const DEAF: &str = "bbr1";

/// Every control of the catalogue, alone or around another, under marks alone: each window with a mark is answered once and said so (CWR),
/// nothing is sent again, and cwnd never goes below a segment.
#[test]
fn every_control_answers_marks_and_says_so() {
    for composition in Composition::all(&Catalogue::default()) {
        let name = composition.name();
        // Every second segment for a while: more marks than any window survives unharmed.
        let marked: Vec<usize> = (1..60).step_by(2).collect();
        let config = Config { control: control(&name), ..ecn("sack") };
        let net = marking(Net::alike(config), &marked, &[]).transfer(120_000);
        let stats = net.ends[CLIENT].sender().stats();
        assert_eq!((stats.retransmitted_segments, stats.timeouts), (0, 0), "{name}\n{}", net.trace());
        // After a sudden start the marks are in two windows.
        let least = if name == "peach" { 2 } else { 3 };
        assert!(cuts(&net) >= least, "{name}: {} reductions\n{}", cuts(&net), net.trace());
        assert_eq!(announced(&net).len() as u64, cuts(&net), "{name}\n{}", net.trace());
        let least = net.data_by(CLIENT).iter().map(|sent| sent.cwnd).fold(f64::INFINITY, f64::min);
        let most = if name == DEAF { f64::INFINITY } else { 10_000.0 };
        assert!((1000.0..most).contains(&least), "{name}: cwnd of {least}\n{}", net.trace());
        assert!(!echoed(&net).is_empty() && net.read[SERVER] == 120_000, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is marked, lost, late or doubled: `transfer` asserts every byte once.
    #[test]
    fn every_byte_arrives_once_whatever_is_marked(
        marks in prop::collection::btree_set(1_usize..90, 0..40),
        fates in prop::collection::vec((0_u8..30, 0_u64..120), 1..120),
        recovery in prop::sample::select(&RECOVERIES[..]),
        name in prop::sample::select(&CONTROLS[..]),
        window in 1_u32..12,
        delayed in 1_u32..3,
        offers in any::<[bool; 2]>(),
    ) {
        let mut config = Config { control: control(name), initial_window: window, ..ecn(recovery) };
        config.delayed_ack.segments = delayed;
        config.time_wait = bentpipe_units::Span::from_millis(20_000_000);
        let configs = offers.map(|on| Config { ecn: on, ..config.clone() });
        let both = offers == [true; 2];
        let mut capable = BTreeSet::new();
        let net = Net::new(configs, [1000, u32::MAX - 30_000], 50).through(move |passing| {
            let fate = match fates.get(passing.number) {
                Some((0 | 1, _)) => Fate::drop(),
                Some((2, ms)) => Fate::late(*ms),
                Some((3, ms)) => Fate::twice(*ms),
                _ => Fate::pass(),
            };
            let segment = &passing.segment;
            let may_be = segment.ecn.capable();
            assert!(!may_be || (both && segment.len > 0 && !passing.again && capable.insert(segment.seq.0)));
            if may_be && marks.contains(&passing.number) { fate.marked() } else { fate }
        });
        let mut net = net.transfer(60_000);
        let cuts: Vec<_> = net.ends[CLIENT].take_reductions();
        // A mark reduces only when data that was sent after the last reduction has been acknowledged.
        for pair in cuts.windows(2).filter(|pair| pair[1].marked) {
            prop_assert!(pair[1].una > pair[0].max, "{:?}\n{}", pair, net.trace());
        }
    }
}
