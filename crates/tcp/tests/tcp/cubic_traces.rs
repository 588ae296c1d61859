//! CUBIC by the ACK: what the kernel's packet scripts assert of cwnd (google/packetdrill, gtests/net/tcp/cubic), written anew as ACKs to a
//! sender of ours.

use bentpipe_tcp::control::{CubicOptions, CubicReading};
use bentpipe_tcp::slow_start::HyStartOptions;
use bentpipe_tcp::{Chosen, Config, Growth, Sender, Seq};
use bentpipe_units::Time;

use crate::carried::{on_ack, sender};
use crate::harness::config;

/// A sender of segments of 1000 bytes from an initial window of 10.
fn cubic(reading: CubicReading) -> Sender {
    let options = CubicOptions { reading, ..CubicOptions::default() };
    sender(&Config {
        control: Chosen::from(options),
        slow_start: Chosen::from(HyStartOptions { late_rounds: true, ..HyStartOptions::default() }),
        initial_window: 10,
        growth: Growth::Bytes { limit: 1000 },
        ..config("sack")
    })
}

/// A connection under way: what was sent fills cwnd.
struct Run {
    sender: Sender,
    first: Seq,
    ms: u64,
    /// Segments acknowledged.
    acked: u32,
}

impl Run {
    fn new(mut sender: Sender) -> Run {
        let first = sender.poll(Time::ZERO).map(|sent| sent.seq).expect("a window");
        while sender.poll(Time::ZERO).is_some() {}
        Run { sender, first, ms: 0, acked: 0 }
    }

    /// After so many ms an ACK of so many segments more. What cwnd is then, in whole segments as the kernel counts.
    fn ack(&mut self, after_ms: u64, segments: u32) -> u32 {
        self.ms += after_ms;
        self.acked += segments;
        let now = Time::from_nanos(self.ms * 1_000_000);
        on_ack(&mut self.sender, now, self.first + 1000 * self.acked, &[]);
        while self.sender.poll(now).is_some() {}
        (self.sender.window().cwnd / 1000.0 + 1e-6) as u32
    }

    /// Pairs of segments, acknowledged one each 100 ms, until so many are.
    fn pairs(&mut self, until: u32) -> u32 {
        let mut cwnd = 0;
        while self.acked < until {
            cwnd = self.ack(100, 2);
        }
        cwnd
    }
}

/// `cubic-bulk-166k.pkt`: two segments each 100 ms. HyStart ends slow start at 48 segments, by the risen RTT, as it did from Linux 5.16 to 6.13.
#[test]
fn a_bulk_flow_at_166_kbit_per_s_has_the_kernels_windows() {
    let mut run = Run::new(cubic(CubicReading::Linux));
    assert_eq!(run.sender.window().cwnd, 10_000.0);
    let expected =
        [(10, 20.0), (20, 30.0), (30, 40.0), (38, 48.0), (60, 49.0), (80, 50.0), (100, 52.0), (120, 58.0)];
    for (acked, kernel) in expected {
        run.pairs(acked);
        // The kernel counts whole segments, pays out at once what was acknowledged before growth became faster, and begins the curve
        // with the ACK that ended slow start, not with the next.
        let ahead = run.sender.window().cwnd / 1000.0 - kernel;
        assert!((-1.0..1.0).contains(&ahead), "{acked} acknowledged: {ahead} segments more than {kernel}");
    }
    assert_eq!(run.sender.window().ssthresh, 48_000.0);
    // From here on, an ACK later than in the kernel, the most that CUBIC allows: a segment for every two acknowledged.
    run.ack(100, 2);
    let mut before = run.sender.window().cwnd;
    while run.acked < 400 {
        run.ack(100, 2);
        let cwnd = run.sender.window().cwnd;
        assert!((cwnd - before - 1000.0).abs() < 1e-6, "{cwnd} after {before}");
        before = cwnd;
    }
}

/// The same ACKs by the RFC, whose curve is led by the smoothed RTT, 2 s and more of a queue that grows: the kernel's windows, up to 2 segments more
/// or less.
#[test]
fn by_the_rfc_the_same_flow_has_nearly_the_same_windows() {
    let mut run = Run::new(cubic(CubicReading::Rfc));
    assert_eq!(run.pairs(38), 48);
    for (acked, kernel) in [(60, 49), (80, 50), (100, 52), (120, 58)] {
        let cwnd = run.pairs(acked);
        assert!(u32::abs_diff(cwnd, kernel) <= 2, "{cwnd} for {kernel}");
    }
}

/// `cubic-rto-ss-ca-cwnd-bump.pkt`: a timeout, slow start to 0.7 of ten segments, and then a segment more for all 16 that the script has
/// acknowledged, 100 ms for a window of 8.
#[test]
fn after_a_timeout_the_kernels_cubic_adds_a_segment_once_sixteen_are_acknowledged() {
    let mut run = Run::new(cubic(CubicReading::Linux));
    run.ms = 3000;
    run.sender.on_timeout(Time::from_nanos(3_000_000_000)).expect("a connection");
    assert_eq!((run.sender.window().cwnd, run.sender.window().ssthresh), (1000.0, 7000.0));
    for cwnd in 2..=7 {
        assert_eq!(run.ack(100, 1), cwnd);
    }
    let mut cwnds = Vec::new();
    for after in [2, 98, 2, 2, 2, 2, 2, 2, 98, 2, 2, 2, 2, 2, 2, 98] {
        cwnds.push(run.ack(after, 1));
    }
    assert_eq!((cwnds[8], cwnds[15]), (7, 8), "{cwnds:?}");
}
