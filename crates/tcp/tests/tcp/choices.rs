//! What a control, a slow start and a recovery may choose beyond the RFCs of the standard ones: pacing, rates, an end of slow
//! start, timers of their own, and taking a reduction back.

use std::sync::{Arc, Mutex, PoisonError};

use bentpipe_tcp::control::{Ack, Control, Extras, Loss, PartialAck, Response, Standard, Window};
use bentpipe_tcp::recovery::{Context, Next, Outstanding, Recovery, RecoveryState, Resend};
use bentpipe_tcp::slow_start::SlowStart;
use bentpipe_tcp::{Config, Incoming, Outgoing, RateSample, SackBlock, Sender, Seq, Spacing};
use bentpipe_units::{Span, Time};

use crate::harness::{CLIENT, Fate, Net, SERVER, config};

const FIRST: Seq = Seq(u32::MAX - 2500);

fn twelve(recovery: &str) -> Config {
    Config { initial_window: 12, limited_transmit: false, ..config(recovery) }
}

fn sender(config: &Config) -> Sender {
    let mut sender = Sender::new(config, FIRST);
    sender.set_peer_window(60_000);
    sender.write(500_000);
    sender
}

fn poll(sender: &mut Sender, now: Time) -> Vec<Outgoing> {
    std::iter::from_fn(|| sender.poll(now)).collect()
}

fn ack(sender: &mut Sender, now: Time, segments: u32, blocks: &[(u32, u32)]) {
    let at = |segments: u32| FIRST + segments * 1000;
    let sack: Vec<SackBlock> =
        blocks.iter().map(|&(start, end)| SackBlock { start: at(start), end: at(end) }).collect();
    sender.on_ack(now, &Incoming { window: Some(60_000), sack: &sack, ..Incoming::of(at(segments)) });
}

fn ms(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

/// A segment each 10 ms, so many bytes at once.
struct Paced(f64);

impl Control for Paced {
    fn extras(&mut self) -> Extras<'_> {
        Extras { paces: true, ..Extras::default() }
    }

    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        w.pacing_rate = 100_000.0;
        w.send_quantum = self.0;
        Standard.on_ack(w, ack, slow_start);
    }
}

#[test]
fn a_paced_sender_lets_a_segment_go_when_its_time_has_come() {
    for spacing in [Spacing::Off, Spacing::Even, Spacing::Linux] {
        assert_eq!(
            paced_by(0.0, spacing),
            [100, 110, 120, 130, 140, 150],
            "the control has a rate of its own"
        );
    }
}

#[test]
fn a_paced_sender_lets_a_quantum_go_at_once_and_waits_for_all_of_it() {
    assert_eq!(paced_by(2000.0, Spacing::Off), [100, 100, 120, 120, 140, 140]);
    assert_eq!(paced_by(3000.0, Spacing::Off), [100, 100, 100, 130, 130, 130]);
}

/// When six segments go out, in milliseconds.
fn paced_by(quantum: f64, spacing: Spacing) -> Vec<u64> {
    let mut sender = sender(&Config { pacing: spacing, ..twelve("sack") });
    sender.set_control(Box::new(Paced(quantum)));
    assert_eq!(poll(&mut sender, ms(0)).len(), 12, "no rate is known yet");
    ack(&mut sender, ms(100), 6, &[]);
    let mut times = Vec::new();
    let mut now = ms(100);
    while times.len() < 6 {
        times.extend(poll(&mut sender, now).iter().map(|_| now.as_nanos() / 1_000_000));
        now = sender.next_timeout();
        assert!(sender.on_timeout(now).is_ok());
    }
    times
}

/// When five segments go out behind the first ACK, which comes after 100 ms, in microseconds from there; and cwnd in segments.
fn spread(spacing: Spacing, ssthresh: Option<u32>, rwnd: u32) -> (Vec<u64>, f64) {
    let mut sender = sender(&Config { pacing: spacing, initial_ssthresh: ssthresh, ..twelve("sack") });
    sender.set_control(Box::new(Standard));
    assert_eq!(poll(&mut sender, ms(0)).len(), 12, "no round trip is known yet");
    sender.on_ack(ms(100), &Incoming { window: Some(rwnd), ..Incoming::of(FIRST + 6000) });
    let mut times = Vec::new();
    let mut now = ms(100);
    while times.len() < 5 {
        times.extend(poll(&mut sender, now).iter().map(|_| now.since(ms(100)).as_nanos() / 1000));
        now = sender.next_timeout();
        assert!(sender.on_timeout(now).is_ok());
    }
    (times[..5].to_vec(), sender.window().cwnd / 1000.0)
}

/// The times of five segments where so many go at once, each group so many microseconds behind the one before.
fn in_groups(of: u64, apart: f64) -> Vec<u64> {
    (0..5).map(|segment| (segment / of) as f64 * apart).map(|time| time as u64).collect()
}

#[test]
fn segments_are_spread_evenly_over_a_smoothed_round_trip_whatever_the_control() {
    assert_eq!(spread(Spacing::Off, None, 60_000).0, [0; 5]);
    for ssthresh in [None, Some(2000)] {
        let (times, cwnd) = spread(Spacing::Even, ssthresh, 60_000);
        assert_eq!(times, in_groups(1, 100_000.0 / cwnd));
        let (times, _) = spread(Spacing::Even, ssthresh, 11_000);
        assert_eq!(times, in_groups(1, 100_000.0 / 11.0), "the receiver's window is the smaller one");
    }
}

#[test]
fn linux_spreads_a_window_over_half_of_a_round_trip_early_in_slow_start_and_then_over_five_sixths() {
    for (ssthresh, windows) in [(None, 2.0), (Some(24_000), 1.2), (Some(2000), 1.2)] {
        let (times, cwnd) = spread(Spacing::Linux, ssthresh, 60_000);
        assert_eq!(times, in_groups(2, 2.0 * 100_000.0 / (windows * cwnd)));
    }
}

type Noted<T> = Arc<Mutex<Vec<T>>>;

fn taken<T>(noted: &Noted<T>) -> Vec<T> {
    std::mem::take(&mut *noted.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What an ACK told: bytes acknowledged, bytes reported, whether in recovery, RTT, rate.
type Told = (u32, u32, bool, Option<u64>, Option<RateSample>);

#[derive(Clone, Default)]
struct Listening(Noted<Told>);

impl Control for Listening {
    fn extras(&mut self) -> Extras<'_> {
        Extras { reads_rates: true, ..Extras::default() }
    }

    fn on_ack(&mut self, _: &mut Window, ack: &Ack<'_>, _: &mut dyn SlowStart) {
        let rtt = ack.rtt().map(|rtt| rtt.as_nanos() / 1_000_000);
        let told = (ack.acked, ack.newly_delivered(), ack.in_recovery, rtt, ack.rate());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(told);
    }
}

#[test]
fn every_ack_tells_what_it_reports_in_recovery_or_not() {
    let mut sender = sender(&twelve("sack"));
    let control = Listening::default();
    sender.set_control(Box::new(control.clone()));
    poll(&mut sender, ms(0));
    ack(&mut sender, ms(100), 1, &[]);
    let rate = RateSample {
        bytes: 1000,
        interval: Span::from_millis(100),
        prior_delivered: 0,
        app_limited: false,
        in_flight: 1000,
        lost: 0,
    };
    assert_eq!(taken(&control.0), [(1000, 1000, false, Some(100), Some(rate))]);
    // Segment 1 is lost: what comes behind it is delivered all the same, and told once.
    for (at, end) in [(101, 3), (102, 4), (103, 5), (104, 5)] {
        ack(&mut sender, ms(at), 1, &[(2, end)]);
    }
    let told = taken(&control.0);
    let reported: Vec<_> = told.iter().map(|told| (told.0, told.1, told.2, told.3)).collect();
    assert_eq!(
        reported,
        [
            (0, 1000, false, Some(101)),
            (0, 1000, false, Some(102)),
            (0, 1000, true, Some(103)),
            (0, 0, true, None),
        ]
    );
    let resent = poll(&mut sender, ms(110));
    assert!(resent[0].again && resent[0].seq == FIRST + 1000);
    ack(&mut sender, ms(210), 5, &[]);
    // Three of the four segments were reported before, and the fourth was sent twice.
    assert_eq!(
        taken(&control.0).iter().map(|told| (told.0, told.1, told.3)).collect::<Vec<_>>(),
        [(4000, 1000, None)]
    );
}

/// Ends slow start after so many ACKs.
struct Ending(u32);

impl SlowStart for Ending {
    fn on_ack(&mut self, w: &mut Window, _: &Ack<'_>, growth: f64) {
        w.cwnd += growth;
        self.0 -= 1;
        if self.0 == 0 {
            w.ssthresh = w.cwnd;
        }
    }
}

#[test]
fn a_slow_start_of_its_own_ends_before_a_loss_under_any_control() {
    let config = Config { initial_window: 4, ..config("sack") };
    let mut sender = sender(&config);
    sender.set_slow_start(Box::new(Ending(2)));
    for segments in 0..5 {
        poll(&mut sender, ms(100 * u64::from(segments)));
        ack(&mut sender, ms(100 * u64::from(segments) + 50), segments + 1, &[]);
    }
    let w = sender.window();
    assert_eq!(w.ssthresh, 6000.0);
    assert!(6000.0 < w.cwnd && w.cwnd < 6600.0, "three ACKs of congestion avoidance: {}", w.cwnd);
}

/// Retransmits when its own timer expires, 30 ms after the first hole is seen, and takes the reduction back when told that it
/// came twice.
#[derive(Default)]
struct ByTimer {
    due: Option<Time>,
    resend: Resend,
    recovering: bool,
}

impl Recovery for ByTimer {
    fn needs_sack(&self) -> bool {
        true
    }

    fn on_duplicate_report(&mut self, cx: &mut Context<'_>, _: SackBlock) {
        cx.undo();
    }

    fn on_duplicate_ack(&mut self, cx: &mut Context<'_>) {
        self.due.get_or_insert(cx.now + Span::from_millis(30));
    }

    fn on_new_ack(&mut self, cx: &mut Context<'_>, acked: u32) -> RecoveryState {
        self.resend.acknowledged(cx.una, cx.max);
        self.recovering = false;
        if acked > 0 && self.due.is_none() {
            RecoveryState::Open
        } else {
            RecoveryState::Recovering { restart_timer: true }
        }
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        self.resend.go_back(cx.una);
    }

    fn next_timeout(&self) -> Time {
        self.due.unwrap_or(Time::NEVER)
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) {
        self.due = None;
        self.recovering = true;
        cx.lose(cx.una, cx.una, cx.max, cx.flight());
        self.resend.at_once(cx.una);
    }

    fn in_recovery(&self) -> bool {
        self.recovering
    }

    fn is_idle(&self) -> bool {
        false
    }

    fn resend(&mut self) -> &mut Resend {
        &mut self.resend
    }

    fn next(&mut self, o: &Outstanding<'_>) -> Next {
        self.resend.next(o, o.cwnd.saturating_sub(o.max - o.una))
    }

    fn phases(&self) -> u32 {
        0
    }
}

#[test]
fn a_recovery_has_a_timer_of_its_own_and_may_take_a_reduction_back() {
    let mut sender = sender(&twelve("sack"));
    sender.set_recovery(Box::<ByTimer>::default());
    poll(&mut sender, ms(0));
    ack(&mut sender, ms(100), 0, &[(1, 2)]);
    assert!(poll(&mut sender, ms(100)).is_empty());
    assert_eq!(sender.next_timeout(), ms(130));
    assert!(sender.on_timeout(ms(130)).is_ok());
    let sent = poll(&mut sender, ms(130));
    assert_eq!(sent.iter().map(|sent| (sent.seq, sent.again)).collect::<Vec<_>>(), [(FIRST, true)]);
    assert_eq!((sender.window().cwnd, sender.window().ssthresh), (6000.0, 6000.0));
    assert_eq!(sender.stats().timeouts, 0, "it is no expiry of the retransmission timer");
    // The first copy was late: the second is reported as a duplicate.
    ack(&mut sender, ms(140), 2, &[]);
    ack(&mut sender, ms(230), 2, &[(0, 1)]);
    assert_eq!((sender.window().cwnd, sender.window().ssthresh), (12_000.0, f64::INFINITY));
}

/// Notes the reports of what came twice.
#[derive(Clone, Default)]
struct Reports(Noted<SackBlock>);

impl Recovery for Reports {
    fn needs_sack(&self) -> bool {
        true
    }

    fn on_duplicate_report(&mut self, _: &mut Context<'_>, block: SackBlock) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(block);
    }

    fn on_duplicate_ack(&mut self, _: &mut Context<'_>) {}

    fn on_new_ack(&mut self, _: &mut Context<'_>, _: u32) -> RecoveryState {
        RecoveryState::Open
    }

    fn on_timeout(&mut self, _: &mut Context<'_>) {}

    fn in_recovery(&self) -> bool {
        false
    }

    fn is_idle(&self) -> bool {
        false
    }

    fn resend(&mut self) -> &mut Resend {
        unreachable!("nothing goes again here")
    }

    fn next(&mut self, _: &Outstanding<'_>) -> Next {
        Next::Nothing
    }

    fn phases(&self) -> u32 {
        0
    }
}

#[test]
fn a_first_block_below_the_ack_or_within_the_second_reports_a_duplicate() {
    let mut sender = sender(&twelve("sack"));
    poll(&mut sender, ms(0));
    let reports = Reports::default();
    sender.set_recovery(Box::new(reports.clone()));
    ack(&mut sender, ms(100), 0, &[(2, 4), (6, 8)]);
    assert!(taken(&reports.0).is_empty());
    ack(&mut sender, ms(110), 0, &[(3, 4), (2, 5)]);
    ack(&mut sender, ms(120), 5, &[(1, 2), (6, 8)]);
    ack(&mut sender, ms(130), 5, &[(6, 9), (1, 2)]);
    let block = |start, end| SackBlock { start: FIRST + start, end: FIRST + end };
    assert_eq!(taken(&reports.0), [block(3000, 4000), block(1000, 2000)]);
}

#[test]
fn a_receiver_reports_what_came_twice_where_it_is_asked_to() {
    // RFC 2883 section 4.1, examples 1 and 2: the second segment comes twice, then again beyond a hole.
    for (duplicate_sack, expected) in [(true, vec![vec![(1000, 2000)]]), (false, vec![])] {
        let config = Config { duplicate_sack, initial_window: 4, ..config("sack") };
        let mut net = Net::alike(config).through(|passing| match passing.data_number {
            2 => Fate::twice(10),
            _ => Fate::pass(),
        });
        net.open();
        net.write(CLIENT, 4000);
        net.run_to(2000);
        let blocks = |passing: &crate::harness::Passing| -> Vec<(i64, i64)> {
            let blocks = passing.segment.options.sack;
            let at = |seq| net.relative(CLIENT, seq);
            blocks.as_slice().iter().map(|block| (at(block.start), at(block.end))).collect()
        };
        let reports: Vec<_> = net.acks_by(SERVER).iter().map(|sent| blocks(&sent.passing)).collect();
        let reports: Vec<_> = reports.into_iter().filter(|blocks| !blocks.is_empty()).collect();
        assert_eq!(reports, expected);
    }
}

#[test]
fn undo_gives_back_once() {
    let mut w = Window::new(12_000.0, f64::INFINITY, 1000.0, bentpipe_tcp::Growth::PerAck);
    Standard.save(&mut w);
    let loss = Loss { now: Time::ZERO, distance: 0, flight: 12_000 };
    assert_eq!(Standard.on_loss(&mut w, &loss), Response::Reduced);
    Standard.on_partial_ack(&mut w, &PartialAck { acked: 1000, flight: 11_000, inflated: false });
    Standard.restore(&mut w);
    assert_eq!((w.cwnd, w.ssthresh), (12_000.0, f64::INFINITY));
    Standard.on_loss(&mut w, &loss);
    Standard.restore(&mut w);
    assert_eq!(w.cwnd, 6000.0, "nothing was kept since");
}
