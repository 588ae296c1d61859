//! TCP-ADaLR on the wire: what reaches the timer and the line, what a strict receiver makes of it, and what stays standard.

use bentpipe_tcp::control::{AdalrOptions, AvoidanceReading, DeflationReading, RecoveryReading, RwndReading};
use bentpipe_tcp::{Config, DelayedAck, Growth, GrowthGate, Profile};
use bentpipe_units::Span;
use proptest::prelude::*;

use crate::harness::{CLIENT, Fate, Net, Reader, SERVER, config, control, recovery};

const RECOVERIES: [&str; 2] = ["sack", "newreno"];
const READINGS: [RwndReading; 4] =
    [RwndReading::PerSegment, RwndReading::FromAdvertised, RwndReading::PerAck, RwndReading::Accumulating];

/// Segments of 1000 bytes with control `adalr`, at a host that opens cwnd however much of it is used, as OPNET's does.
pub(crate) fn adalr(recovery: &str) -> Config {
    Config { control: control("adalr"), grow_only_when_limited: GrowthGate::Off, ..config(recovery) }
}

/// Both ends alike, a round trip of 500 ms.
pub(crate) fn satellite(config: Config) -> Net {
    Net::new([config.clone(), config], [1000, 5_000_000], 250)
}

fn with(options: AdalrOptions, config: Config) -> Config {
    Config { control: options.into(), ..config }
}

/// When the client sent its first segment again, in milliseconds.
fn expiries(config: Config, lost: usize) -> Vec<f64> {
    let numbers: Vec<usize> = (1..=lost).collect();
    let net = satellite(config).dropping(&numbers).transfer(1000);
    net.data_by(CLIENT).iter().filter(|sent| sent.passing.again).map(|sent| sent.ms()).collect()
}

#[test]
fn the_timer_waits_200_ms_longer_after_a_timeout() {
    // Sent at 500 ms; the handshake's sample makes the RTO 500 + 4 · 250 = 1500 ms.
    for recovery in RECOVERIES {
        let on = adalr(recovery);
        let off = with(AdalrOptions { loss_recovery: false, ..AdalrOptions::default() }, on.clone());
        // The first expiry knows of no timeout; then now + 0.2 s + 3 s, now + 0.2 s + 6 s.
        assert_eq!(expiries(on.clone(), 3), [2000.0, 5200.0, 11_400.0], "{recovery:?}");
        assert_eq!(expiries(off.clone(), 3), [2000.0, 5000.0, 11_000.0], "{recovery:?}");
        // A clock that ticks each half second rounds up.
        let coarse = |mut config: Config| {
            config.rto.granularity = Span::from_millis(500);
            expiries(config, 2)
        };
        assert_eq!(coarse(off), coarse(Config { control: control("standard"), ..on.clone() }));
        let [first, second] = coarse(on)[..] else { panic!("two expiries") };
        assert_eq!((first % 500.0, second % 500.0), (0.0, 0.0), "{recovery:?}");
    }
}

/// The most segments sent again at one instant; every segment arrives alone, so that an instant is an ACK.
fn most_at_once(config: Config) -> usize {
    // The holes that remain after segment 8 are the whole rest; what lies between is held.
    let net = satellite(Config { initial_window: 30, duplicate_threshold: 100, ..config }).through(|p| {
        let lost = p.from == CLIENT && ((1..9).contains(&p.data_number) || (14..31).contains(&p.data_number));
        if lost { Fate::drop() } else { Fate::late(p.number as u64) }
    });
    most_resent_at_once(&net.transfer(30_000))
}

fn most_resent_at_once(net: &Net) -> usize {
    let mut at_once = std::collections::BTreeMap::new();
    for sent in net.data_by(CLIENT).iter().filter(|sent| sent.passing.again) {
        *at_once.entry(sent.at).or_insert(0) += 1;
    }
    at_once.into_values().max().unwrap_or(0)
}

// adalr, slides, loss recovery mechanism: three segments of the retransmission buffer at most
#[test]
fn a_pass_resends_three_segments() {
    let off = AdalrOptions { loss_recovery: false, ..AdalrOptions::default() };
    let newreno = adalr("newreno");
    assert_eq!(most_at_once(newreno.clone()), 3);
    // The ACK that jumps over what was held opens room for more.
    assert!(most_at_once(with(off, newreno.clone())) > 3);
    assert!(most_at_once(Config { control: control("standard"), ..newreno }) > 3);
}

#[test]
fn a_pass_of_a_recovery_resends_three_segments() {
    // Thirty of forty segments are lost: once they are known, the pipe holds ten, and half of the window is free at one ACK.
    let most = |config: Config| {
        let config = Config { initial_window: 40, receive_window: 1 << 20, ..config };
        let net = satellite(config).through(|p| {
            let lost = p.from == CLIENT && (1..31).contains(&p.data_number);
            if lost { Fate::drop() } else { Fate::late(p.number as u64) }
        });
        most_resent_at_once(&net.transfer(40_000))
    };
    let off = AdalrOptions { loss_recovery: false, ..AdalrOptions::default() };
    assert_eq!(most(adalr("sack")), 3);
    assert!(most(with(off, adalr("sack"))) > 3);
}

#[test]
fn in_order_nothing_that_is_sent_beyond_the_window_is_dropped() {
    for recovery in RECOVERIES {
        for rwnd_reading in READINGS {
            let options = AdalrOptions { rwnd_reading, ..AdalrOptions::default() };
            let small = Config { receive_window: 8000, ..adalr(recovery) };
            let net = satellite(with(options, small.clone())).transfer(80_000);
            let standard =
                satellite(Config { control: control("standard"), ..small.clone() }).transfer(80_000);
            assert!(net.beyond(CLIENT) > 0, "{recovery:?} {rwnd_reading:?}\n{}", net.trace());
            assert!(net.now < standard.now, "{recovery:?} {rwnd_reading:?}");
            let dropped = net.ends[SERVER].receiver().stats().beyond_window_bytes;
            assert_eq!((dropped, net.ends[CLIENT].sender().stats().retransmitted_segments), (0, 0));
            let options = AdalrOptions { rwnd_increase: false, ..options };
            assert_eq!(satellite(with(options, small)).transfer(80_000).beyond(CLIENT), 0);
        }
    }
}

#[test]
fn past_a_hole_the_receiver_drops_what_lies_beyond_its_window() {
    for recovery in RECOVERIES {
        let small = Config { receive_window: 8000, ..adalr(recovery) };
        let net = satellite(small).dropping(&[12]).transfer(80_000);
        assert!(net.ends[SERVER].receiver().stats().beyond_window_bytes > 0, "{recovery:?}\n{}", net.trace());
    }
}

#[test]
fn a_closed_window_is_not_sent_into() {
    for recovery in RECOVERIES {
        for rwnd_reading in READINGS {
            let options = AdalrOptions { rwnd_reading, ..AdalrOptions::default() };
            let small = Config { receive_window: 4000, initial_window: 4, ..adalr(recovery) };
            let mut net = satellite(with(options, small));
            net.readers[SERVER] = Reader::Never;
            net.open();
            net.write(CLIENT, 4000);
            net.run_to(2000);
            assert_eq!(net.ends[CLIENT].sender().peer_window(), 0);
            let sent = net.data_by(CLIENT).len();
            net.write(CLIENT, 50_000);
            net.run_to(20_000);
            let after = net.data_by(CLIENT).split_off(sent);
            assert!(!after.is_empty() && after.iter().all(|sent| sent.passing.segment.len == 1));
            net.readers[SERVER] = Reader::AtOnce;
            net.serve(SERVER);
            net.close(CLIENT);
            net.run();
            assert_eq!(
                (net.read[SERVER], net.errors()),
                (54_000, [None, None]),
                "{recovery:?} {rwnd_reading:?}"
            );
        }
    }
}

/// A transfer over a line that drops some of the first segments of either end.
#[derive(Clone, Debug)]
struct Case {
    config: Config,
    options: AdalrOptions,
    lost: [Vec<usize>; 2],
    reader: Reader,
    bytes: u64,
    delay_ms: u64,
}

impl Case {
    /// With TCP-ADaLR and the case's options of it.
    fn ours(&self) -> Net {
        self.transfer(&with(self.options, self.config.clone()))
    }

    /// With the control of RFC 5681.
    fn standard(&self) -> Net {
        self.transfer(&self.config)
    }

    fn transfer(&self, config: &Config) -> Net {
        let lost = self.lost.clone();
        let mut net = Net::new([config.clone(), config.clone()], [1000, 5_000_000], self.delay_ms)
            .through(move |p| if lost[p.from].contains(&p.number) { Fate::drop() } else { Fate::pass() });
        net.readers[SERVER] = self.reader;
        net.transfer(self.bytes)
    }
}

prop_compose! {
    fn options()(
        switches in any::<[bool; 8]>(),
        reading in 0_usize..4,
        gain in 0.0_f64..1.0,
        linear_after_recovery in 0.0_f64..3.0,
    ) -> AdalrOptions {
        AdalrOptions {
            scaling: switches[0],
            cwnd_increase: switches[1],
            rwnd_increase: switches[2],
            loss_recovery: switches[3],
            rwnd_reading: READINGS[reading],
            avoidance_reading: if switches[4] { AvoidanceReading::Paper } else { AvoidanceReading::Slides },
            recovery_reading: if switches[5] { RecoveryReading::PerSegment } else { RecoveryReading::PerAck },
            rwnd_below_breakpoint: switches[6],
            linear_after_recovery,
            deflation_reading: if switches[7] { DeflationReading::Inflated } else { DeflationReading::Every },
            rtt_dev_gain: gain,
        }
    }
}

prop_compose! {
    fn configs()(
        name in prop::sample::select(&RECOVERIES[..]),
        profile in prop::sample::select(&Profile::ALL[..]),
        receive_window in prop_oneof![Just(65_535_u32), 3000_u32..20_000],
        mss in prop_oneof![Just(1000_u32), 300_u32..1460],
        initial_window in 1_u32..11,
        initial_ssthresh in prop_oneof![Just(None), (2000_u32..65_535).prop_map(Some)],
        on in any::<[bool; 3]>(),
    ) -> Config {
        let mut config = profile.config(recovery(name), control("standard"));
        config.receive_window = receive_window;
        config.mss = mss;
        config.initial_window = initial_window;
        config.initial_ssthresh = initial_ssthresh;
        config.limited_transmit = on[0];
        config.growth = if on[1] { Growth::PerAck } else { Growth::Bytes { limit: 1 } };
        let timeout = Span::from_millis(20);
        config.delayed_ack = DelayedAck::fixed(if on[2] { 1 } else { 2 }, timeout);
        config.max_retransmissions = 200;
        config.time_wait = Span::from_millis(20_000_000);
        config
    }
}

fn lost() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        1 => Just(Vec::new()),
        3 => prop::collection::vec(3_usize..80, 1..6),
        1 => prop::collection::vec(3_usize..80, 6..40),
    ]
}

fn reader() -> impl Strategy<Value = Reader> {
    prop_oneof![
        2 => Just(Reader::AtOnce),
        1 => (200_u32..5000, 1_u64..400).prop_map(|(bytes, every_ms)| Reader::Slow { bytes, every_ms }),
    ]
}

prop_compose! {
    fn cases(delays: std::ops::Range<u64>)(
        config in configs(),
        options in options(),
        data in lost(),
        acks in prop_oneof![1 => Just(Vec::new()), 1 => lost()],
        reader in reader(),
        bytes in 1_u64..80_000,
        delay_ms in delays,
    ) -> Case {
        Case { config, options, lost: [data, acks], reader, bytes, delay_ms }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    // xfwa, section II: without them the window grows up to what the receiver advertises
    // xfwa, section V: the sender goes by the smaller of congestion window and receiver's window
    #[test]
    fn without_the_rwnd_increase_nothing_goes_beyond_the_advertised_window(mut case in cases(1..400)) {
        case.options.rwnd_increase = false;
        let net = case.ours();
        prop_assert_eq!(net.beyond(CLIENT), 0);
    }

    #[test]
    fn with_it_a_strict_receiver_still_delivers_every_byte_once(mut case in cases(125..400)) {
        // `transfer` and the harness hold what is delivered against what arrived inside the window.
        case.options.rwnd_increase = true;
        case.ours();
    }

    #[test]
    fn below_the_breakpoint_every_segment_is_that_of_standard(mut case in cases(1..110)) {
        // A sample is at most two delays and a delayed ACK: below 250 ms. A lost ACK would make one longer.
        case.lost[SERVER].clear();
        case.options.scaling = true;
        case.options.rwnd_below_breakpoint = false;
        case.options.loss_recovery = false;
        let ours = case.ours().trace();
        prop_assert_eq!(ours, case.standard().trace());
    }

    #[test]
    fn with_every_mechanism_off_so_it_is_over_any_round_trip(mut case in cases(1..400)) {
        case.options.cwnd_increase = false;
        case.options.rwnd_increase = false;
        case.options.loss_recovery = false;
        let ours = case.ours().trace();
        prop_assert_eq!(ours, case.standard().trace());
    }
}

#[test]
fn data_beyond_a_shut_window_does_not_end_the_connection() {
    // RFC 1122 section 4.2.2.16: a sender must not time out because data beyond the right edge is not acknowledged.
    for recovery in RECOVERIES {
        let mut net = satellite(Config { max_retransmissions: 4, ..adalr(recovery) });
        net.readers[SERVER] = Reader::Never;
        net.open();
        net.write(CLIENT, 200_000);
        net.run_to(3_600_000);
        assert_eq!(net.errors(), [None, None], "{recovery:?}");
        net.readers[SERVER] = Reader::AtOnce;
        net.serve(SERVER);
        net.run();
        assert_eq!(net.read[SERVER], 200_000, "{recovery:?}");
    }
}
