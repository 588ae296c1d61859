//! What holds of a control over any path: nothing is lost, cwnd keeps to its floor, and no more goes out than it asks for if it paces.

use proptest::prelude::*;

use bentpipe_units::Span;

use super::test_path::{Path, Policer, SMSS, ms};
use super::{
    Bbr1, Bbr1Options, Bbr3, Control, Hybla, HyblaOptions, HyblaReading, Illinois, IllinoisOptions, Vegas,
    VegasOptions, VegasReading, Veno, VenoOptions, VenoReading, Westwood, WestwoodOptions, WestwoodReading,
};

/// A path, and what goes over it.
#[derive(Clone, Debug)]
struct Way {
    /// Bytes a second, and in ms.
    rate: f64,
    rtt: f64,
    /// In segments.
    buffer: f64,
    /// One segment of so many is lost, one of so many late by half of the RTT; 0 for none.
    loses: u64,
    late: u64,
    /// All of these are lost: fewer than break a connection.
    gap: std::ops::Range<u64>,
    /// In ms.
    together: Option<f64>,
    policed: bool,
    writes: Option<(u64, f64)>,
    segments: u64,
}

fn ways() -> impl Strategy<Value = Way> {
    let link = (1e4..2e6, 2.0..700.0, 3.0..400.0);
    let losses = (0_u64..60, 0_u64..80, 0_u64..600, 0_u64..12);
    let application = (
        prop::option::weighted(0.3, 1.0..300.0),
        prop::bool::weighted(0.2),
        prop::option::weighted(0.3, 100_u64..30_000),
    );
    (link, losses, application, 1.0..500.0, 1_u64..1500).prop_map(
        |(link, losses, application, every, segments)| Way {
            rate: link.0,
            rtt: link.1,
            buffer: link.2,
            loses: if losses.0 < 8 { 0 } else { losses.0 },
            late: if losses.1 < 40 { 0 } else { losses.1 },
            gap: losses.2..losses.2 + losses.3,
            together: application.0,
            policed: application.1,
            writes: application.2.map(|bytes| (bytes, every)),
            segments,
        },
    )
}

/// Sends all of it; `floor` is the least that cwnd may be, in segments.
fn holds<C: Control + Copy + 'static>(
    way: &Way,
    control: C,
    floor: fn(&C) -> f64,
) -> Result<(), TestCaseError> {
    let mut path = Path::new(control, way.rate, way.rtt);
    path.has = way.segments * SMSS as u64 - 300;
    path.buffer = way.buffer * SMSS;
    let (loses, late, gap, by) = (way.loses, way.late, way.gap.clone(), ms(way.rtt / 2.0));
    path.loses = Box::new(move |number| gap.contains(&number) || (loses > 0 && number * 7 % loses == 1));
    path.late = Box::new(move |number| if late > 0 && number * 11 % late == 3 { by } else { Span::ZERO });
    path.together = way.together.map(ms);
    if way.policed {
        let (rate, burst) = (way.rate / 2.0, 20.0 * SMSS);
        path.policer = Some(Policer { rate, burst, tokens: burst, filled: path.now });
    }
    path.writes = way.writes.map(|(bytes, every)| (bytes, ms(every)));
    let mut least = f64::INFINITY;
    let through = path.runs_until(20_000.0, |path| {
        least = least.min(path.cwnd() / SMSS - floor(&path.control()));
        path.received() == path.has && path.sender.all_acknowledged()
    });
    prop_assert!(through, "{} of {} bytes after 20,000 s", path.received(), path.has);
    prop_assert_eq!(u64::from(path.sender.una() - crate::Seq(0)), path.has);
    prop_assert_eq!(path.sender.max(), path.sender.una());
    prop_assert!(least >= 0.0, "cwnd is {} segments below its floor", -least);
    for (burst, next) in path.bursts.iter().zip(&path.bursts[1..]) {
        // The first of a quantum's segments that is short lets another go.
        prop_assert!(burst.rate.is_infinite() || burst.bytes < burst.quantum + SMSS, "{:?}", burst);
        // The time of each segment is cut to whole nanoseconds.
        let least = burst.bytes / burst.rate - 1e-9 * f64::from(burst.segments + 2);
        prop_assert!(next.at.since(burst.at).as_secs() >= least, "{:?} and {:?}", burst, next);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bbr1_loses_nothing_keeps_to_its_floor_and_paces(way in ways()) {
        holds(&way, Bbr1::new(Bbr1Options::default()), Bbr1::floor)?;
    }

    #[test]
    fn bbr3_loses_nothing_keeps_to_its_floor_and_paces(way in ways()) {
        holds(&way, Bbr3::new(), Bbr3::floor)?;
    }

    #[test]
    fn the_controls_of_linux_lose_nothing_and_keep_a_segment(way in ways(), linux: bool, paced: bool) {
        const A_SEGMENT: f64 = 1.0;
        let pacing = HyblaOptions { pacing: paced, ..HyblaOptions::default() };
        holds(&way, Illinois::new(IllinoisOptions::default()), |_| A_SEGMENT)?;
        if linux {
            holds(&way, Hybla::new(HyblaOptions { reading: HyblaReading::Linux, ..pacing }), |_| A_SEGMENT)?;
            let options = WestwoodOptions { reading: WestwoodReading::Linux, ..WestwoodOptions::default() };
            holds(&way, Westwood::new(options), |_| A_SEGMENT)?;
            holds(&way, Veno::new(VenoOptions { reading: VenoReading::Linux, ..VenoOptions::default() }), |_| A_SEGMENT)?;
            let reading = if paced { VegasReading::Linux } else { VegasReading::Ns2 };
            holds(&way, Vegas::new(VegasOptions { reading, ..VegasOptions::default() }), |_| A_SEGMENT)?;
        } else {
            holds(&way, Hybla::new(pacing), |_| A_SEGMENT)?;
            holds(&way, Westwood::new(WestwoodOptions::default()), |_| A_SEGMENT)?;
            holds(&way, Veno::new(VenoOptions::default()), |_| A_SEGMENT)?;
            holds(&way, Vegas::new(VegasOptions::default()), |_| A_SEGMENT)?;
        }
    }
}

/// Ten segments of 102 bytes make one burst, and each is cut to whole nanoseconds.
#[test]
fn short_segments_of_a_burst_are_paced() {
    let way = Way {
        rate: 10_000.0,
        rtt: 357.246_286_186_070_7,
        buffer: 3.0,
        loses: 32,
        late: 0,
        gap: 227..230,
        together: None,
        policed: false,
        writes: Some((102, 1.0)),
        segments: 18,
    };
    holds(&way, Bbr1::new(Bbr1Options::default()), Bbr1::floor).unwrap();
}

/// RFC 8985 section 6.3 and Linux's `tcp_enter_loss` leave what was sent in the last round trip in flight, and the draft has "C.inflight + 1".
fn keeps_what_was_sent_lately<C: Control + Copy + 'static>(control: C) {
    let mut path = Path::new(control, 1e6, 600.0);
    path.writes = Some((200, ms(50.0)));
    path.run(3.0);
    let from = path.sent;
    path.loses = Box::new(move |number| (from..from + 200).contains(&number));
    assert!(path.runs_until(10.0, |path| path.sender.stats().timeouts > 0));
    let in_flight = path.in_flight();
    assert!((2000.0..=2600.0).contains(&in_flight), "200 bytes each 50 ms of 600: {in_flight}");
    assert_eq!(path.cwnd(), in_flight + SMSS);
}

#[test]
fn a_timeout_leaves_room_for_what_was_sent_lately() {
    keeps_what_was_sent_lately(Bbr1::new(Bbr1Options::default()));
    keeps_what_was_sent_lately(Bbr3::new());
}
