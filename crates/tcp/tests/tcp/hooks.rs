//! The hooks that a control may override: called when, with which numbers, and obeyed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bentpipe_tcp::control::{
    Ack, Control, Exit, Extras, Loss, PartialAck, ReceiveWindow, Response, SendView, Timeout, Window,
};
use bentpipe_tcp::recovery::Reduction;
use bentpipe_tcp::slow_start::SlowStart;
use bentpipe_tcp::{Config, Incoming, Outgoing, SackBlock, Sender, Seq};
use bentpipe_units::{Span, Time};

use crate::harness::{RECOVERIES, by_timer_alone, config};

/// Sequence number of the first byte.
const FIRST: Seq = Seq(u32::MAX - 4500);

#[derive(Clone, Debug, PartialEq)]
enum Event {
    Acked { acked: u32, flight: u32, prior_flight: u32, rwnd: u32, sampled: bool, limited: bool },
    Lost { further: bool, distance: u32, flight: u32 },
    Partial { acked: u32, flight: u32, inflated: bool },
    Left { flight: u32, cwnd: f64 },
    Expired { flight: u32, repeated: bool },
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Event>>>);

impl Log {
    fn events(&self) -> MutexGuard<'_, Vec<Event>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What happened since the last call.
    fn take(&self) -> Vec<Event> {
        std::mem::take(&mut *self.events())
    }

    /// Segments from the first hole to each.
    fn losses(&self) -> Vec<(bool, u32)> {
        let lost = |event| match event {
            Event::Lost { further, distance, .. } => Some((further, distance / 1000)),
            _ => None,
        };
        self.take().into_iter().filter_map(lost).collect()
    }
}

/// Asks for what ADaLR and AFC ask for, and writes down what it is told.
#[derive(Clone, Default)]
struct Custom {
    log: Log,
    /// Sends so many times what the receiver advertised.
    stretch: u32,
    /// Leaves the window alone on a first loss, and halves it on the next.
    delays_reduction: bool,
    slack_ms: u64,
    resend_limit: Option<u32>,
}

impl Custom {
    fn lost(&self, loss: &Loss, further: bool) {
        let Loss { distance, flight, .. } = *loss;
        self.log.events().push(Event::Lost { further, distance, flight });
    }
}

impl Control for Custom {
    fn on_ack(&mut self, _: &mut Window, ack: &Ack<'_>, _: &mut dyn SlowStart) {
        if ack.acked == 0 || ack.in_recovery {
            return;
        }
        let Ack { acked, flight, prior_flight, rwnd, cwnd_limited: limited, .. } = *ack;
        assert!(ack.rtt_sample.is_none_or(|sample| Some(sample) >= ack.rtt_min));
        let sampled = ack.rtt_sample.is_some();
        self.log.events().push(Event::Acked { acked, flight, prior_flight, rwnd, sampled, limited });
    }

    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.lost(loss, false);
        if self.delays_reduction {
            return Response::Keep;
        }
        w.ssthresh = f64::from(loss.flight) / 2.0;
        w.cwnd = w.ssthresh;
        Response::Reduced
    }

    fn on_further_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.lost(loss, true);
        if self.delays_reduction {
            w.ssthresh = w.cwnd / 2.0;
            w.cwnd = w.ssthresh;
            self.delays_reduction = false;
            return Response::Reduced;
        }
        Response::Keep
    }

    fn on_partial_ack(&mut self, _: &mut Window, ack: &PartialAck) {
        let PartialAck { acked, flight, inflated } = *ack;
        self.log.events().push(Event::Partial { acked, flight, inflated });
    }

    fn on_recovery_exit(&mut self, w: &mut Window, exit: &Exit) {
        w.cwnd = exit.cwnd;
        self.log.events().push(Event::Left { flight: exit.flight, cwnd: exit.cwnd });
    }

    fn on_timeout(&mut self, _: &mut Window, timeout: &Timeout) {
        self.log.events().push(Event::Expired { flight: timeout.flight, repeated: timeout.repeated });
    }

    fn extras(&mut self) -> Extras<'_> {
        let timeout_slack = Span::from_millis(self.slack_ms);
        let resend_limit = self.resend_limit.unwrap_or(u32::MAX);
        Extras { timeout_slack, resend_limit, receive_window: Some(self), ..Extras::default() }
    }
}

impl ReceiveWindow for Custom {
    fn on_advertised_window(&mut self, _: u32) {}

    fn receive_window(&mut self, _: &Window, view: &SendView) -> u32 {
        view.rwnd * self.stretch.max(1)
    }
}

/// A sender alone, its ACKs made by hand, in segments of 1000 bytes.
struct Bench {
    sender: Sender,
    now: Time,
    window: u32,
    log: Log,
}

impl Bench {
    /// Has `initial_window` segments under way, and more to send.
    fn new(config: &Config, control: Custom) -> Bench {
        let mut sender = Sender::new(config, FIRST);
        let log = control.log.clone();
        sender.set_control(Box::new(control));
        sender.set_peer_window(60_000);
        sender.write(500_000);
        let mut bench = Bench { sender, now: Time::ZERO, window: 60_000, log };
        bench.poll();
        bench
    }

    fn poll(&mut self) -> Vec<Outgoing> {
        std::iter::from_fn(|| self.sender.poll(self.now)).collect()
    }

    /// Segments, counted from 0, that went out again.
    fn again(sent: &[Outgoing]) -> Vec<u32> {
        sent.iter().filter(|sent| sent.again).map(|sent| (sent.seq - FIRST) / 1000).collect()
    }

    /// An ACK of `acked` segments, with blocks of segments, 10 ms on.
    fn ack(&mut self, acked: u32, blocks: &[(u32, u32)]) -> Vec<Outgoing> {
        self.now += Span::from_millis(10);
        let at = |segments: u32| FIRST + segments * 1000;
        let sack: Vec<SackBlock> =
            blocks.iter().map(|&(start, end)| SackBlock { start: at(start), end: at(end) }).collect();
        let window = Some(self.window);
        let incoming = Incoming { window, sack: &sack, ..Incoming::of(at(acked)) };
        self.sender.on_ack(self.now, &incoming);
        self.poll()
    }

    fn expire(&mut self) -> Vec<Outgoing> {
        self.now = self.sender.next_timeout();
        assert_eq!(self.sender.on_timeout(self.now), Ok(()));
        self.poll()
    }

    fn cwnd(&self) -> f64 {
        self.sender.window().cwnd / 1000.0
    }
}

fn twelve(recovery: &str) -> Config {
    Config { initial_window: 12, limited_transmit: false, ..config(recovery) }
}

#[test]
fn a_control_may_send_beyond_the_advertised_window() {
    let mut bench = Bench::new(&twelve("reno"), Custom { stretch: 2, ..Custom::default() });
    assert_eq!(bench.sender.flight(), 12_000, "cwnd limits");
    bench.window = 5000;
    bench.ack(4, &[]);
    assert_eq!(bench.sender.flight(), 10_000, "8 left of the 12, and twice the advertised 5");
    // A duplicate ACK is known by the window advertised, not by the one sent by.
    bench.ack(4, &[]);
    assert_eq!(bench.sender.stats().duplicate_acks, 1);
}

#[test]
fn an_ack_tells_what_it_did() {
    let mut bench = Bench::new(&twelve("sack"), Custom::default());
    bench.window = 50_000;
    bench.ack(3, &[]);
    let acked = |acked, flight, prior_flight, sampled, limited| Event::Acked {
        acked,
        flight,
        prior_flight,
        rwnd: 50_000,
        sampled,
        limited,
    };
    assert_eq!(bench.log.take(), [acked(3000, 9000, 12_000, true, true)]);
    // The segment timed next is the first that was sent after that.
    bench.ack(12, &[]);
    assert_eq!(bench.log.take(), [acked(9000, 3000, 12_000, false, true)]);
    bench.ack(13, &[]);
    assert_eq!(bench.log.take(), [acked(1000, 11_000, 12_000, true, true)]);
    bench.sender.close(true);
    bench.ack(15, &[]);
    bench.ack(16, &[]);
    assert_eq!(bench.log.take()[1], acked(1000, 9001, 10_001, false, true));
}

#[test]
fn sack_tells_of_the_first_hole_and_of_each_further_one_once() {
    // Segments 0, 3, 4 and 7 of twelve are missing.
    let mut bench = Bench::new(&twelve("sack"), Custom::default());
    bench.ack(0, &[(1, 2)]);
    bench.ack(0, &[(1, 3)]);
    assert!(bench.log.take().is_empty());
    bench.ack(0, &[(5, 6), (1, 3)]);
    let first = Event::Lost { further: false, distance: 0, flight: 12_000 };
    assert_eq!(bench.log.take(), [first]);
    // 3 and 4 are lost when more than two segments above them are held.
    bench.ack(0, &[(5, 7), (1, 3)]);
    assert!(bench.log.take().is_empty());
    bench.ack(0, &[(8, 9), (5, 7), (1, 3)]);
    let further = Event::Lost { further: true, distance: 3000, flight: 12_000 };
    assert_eq!(bench.log.take(), [further]);
    bench.ack(0, &[(8, 10), (5, 7), (1, 3)]);
    assert!(bench.log.take().is_empty());
    bench.ack(0, &[(8, 11), (5, 7), (1, 3)]);
    assert_eq!(bench.log.losses(), [(true, 7)]);
    bench.ack(0, &[(8, 12), (5, 7), (1, 3)]);
    let flight = bench.sender.flight() - 3000;
    bench.ack(3, &[(8, 12), (5, 7)]);
    assert_eq!(bench.log.take(), [Event::Partial { acked: 3000, flight, inflated: false }]);
    let beyond = bench.sender.max() - FIRST - 12_000;
    bench.ack(12, &[]);
    assert_eq!(bench.log.take(), [Event::Left { flight: beyond, cwnd: 6000.0 }]);
}

#[test]
fn adjacent_losses_are_a_second_hole_behind_the_first() {
    // Segments 0 and 1: distance one.
    let mut bench = Bench::new(&twelve("sack"), Custom::default());
    for end in 3..7 {
        bench.ack(0, &[(2, end)]);
    }
    assert_eq!(bench.log.losses(), [(false, 0), (true, 1)]);
}

#[test]
fn holes_beyond_the_window_of_the_first_loss_are_the_next_phases() {
    let mut bench = Bench::new(&twelve("sack"), Custom::default());
    for end in 2..=12 {
        bench.ack(0, &[(1, end)]);
    }
    assert_eq!(bench.log.losses(), [(false, 0)]);
    // Recovery has sent new segments from 12 on; 12 itself is lost as well.
    assert!(bench.sender.max() - FIRST > 16_000);
    for end in 14..=16 {
        bench.ack(0, &[(13, end), (1, 12)]);
    }
    assert!(bench.log.losses().is_empty());
    bench.ack(12, &[(13, 16)]);
    assert!(matches!(bench.log.take()[..], [Event::Left { .. }]));
    bench.ack(12, &[(13, 17)]);
    assert_eq!(bench.log.losses(), [(false, 0)]);
}

#[test]
fn newreno_tells_of_a_further_loss_by_each_partial_ack() {
    let mut bench = Bench::new(&twelve("newreno"), Custom::default());
    for _ in 0..3 {
        bench.ack(0, &[]);
    }
    let first = Event::Lost { further: false, distance: 0, flight: 12_000 };
    assert_eq!(bench.log.take(), [first]);
    assert_eq!(bench.cwnd(), 9.0, "6 + 3");
    assert_eq!(Bench::again(&bench.ack(4, &[])), [4]);
    let further = Event::Lost { further: true, distance: 4000, flight: 8000 };
    assert_eq!(bench.log.take(), [further, Event::Partial { acked: 4000, flight: 8000, inflated: true }]);
}

#[test]
fn a_control_may_repair_the_first_loss_without_a_reduction() {
    for recovery in ["reno", "newreno", "sack"] {
        let control = Custom { delays_reduction: true, ..Custom::default() };
        let mut bench = Bench::new(&twelve(recovery), control);
        let mut again = Vec::new();
        for end in 2..=12 {
            again.extend(Bench::again(&bench.ack(0, &[(1, end)])));
        }
        assert_eq!((again, bench.cwnd()), (vec![0], 12.0), "{recovery:?}");
        bench.ack(12, &[]);
        assert_eq!((bench.cwnd(), bench.sender.window().ssthresh), (12.0, f64::INFINITY), "{recovery:?}");
        assert!(matches!(bench.log.take()[1], Event::Left { cwnd: 12_000.0, .. }));
        assert!(!bench.sender.in_recovery());
    }
}

#[test]
fn and_reduce_once_for_the_second() {
    let control = Custom { delays_reduction: true, ..Custom::default() };
    let mut bench = Bench::new(&twelve("sack"), control);
    for end in 2..=5 {
        bench.ack(0, &[(1, end)]);
    }
    assert_eq!(bench.cwnd(), 12.0);
    for end in 7..=9 {
        bench.ack(0, &[(6, end), (1, 5)]);
    }
    assert_eq!((bench.log.losses(), bench.cwnd()), (vec![(false, 0), (true, 5)], 6.0));

    let control = Custom { delays_reduction: true, ..Custom::default() };
    let mut bench = Bench::new(&twelve("newreno"), control);
    for _ in 0..3 {
        bench.ack(0, &[]);
    }
    assert_eq!(bench.cwnd(), 12.0);
    bench.ack(5, &[]);
    assert_eq!((bench.log.losses(), bench.cwnd()), (vec![(false, 0), (true, 5)], 6.0));
}

// adalr, section 4.3: 200 ms are added to now after a timeout
// adalr, slides, loss recovery mechanism: 200 ms more to the timer
#[test]
fn a_timeout_is_told_with_flight_and_repetition_and_delayed_by_the_slack() {
    for recovery in by_timer_alone() {
        let control = Custom { slack_ms: 200, ..Custom::default() };
        let mut bench = Bench::new(&twelve(recovery), control);
        let first = bench.sender.next_timeout();
        assert_eq!(first, Time::ZERO + Span::from_millis(1000), "no slack before the first expiry");
        bench.expire();
        assert_eq!(bench.log.take(), [Event::Expired { flight: 12_000, repeated: false }]);
        assert_eq!(bench.sender.next_timeout(), first + Span::from_millis(2200));
        bench.expire();
        assert_eq!(bench.log.take(), [Event::Expired { flight: 12_000, repeated: true }]);
        assert_eq!(bench.sender.next_timeout(), first + Span::from_millis(2200 + 4200));
        bench.ack(1, &[]);
        let flight = bench.sender.flight();
        bench.expire();
        assert_eq!(bench.log.take()[1..], [Event::Expired { flight, repeated: false }]);
    }
}

#[test]
fn a_pass_after_a_timeout_resends_no_more_than_its_limit() {
    for recovery in by_timer_alone() {
        // The control leaves cwnd at twelve segments.
        let control = Custom { resend_limit: Some(3), ..Custom::default() };
        let mut bench = Bench::new(&twelve(recovery), control);
        assert_eq!(Bench::again(&bench.expire()), [0, 1, 2], "{recovery:?}");
        assert_eq!(Bench::again(&bench.ack(1, &[])), [3, 4, 5], "{recovery:?}");
        assert_eq!(Bench::again(&bench.expire()), [1, 2, 3], "{recovery:?}");
        let mut bench = Bench::new(&twelve(recovery), Custom::default());
        assert_eq!(Bench::again(&bench.expire()).len(), 12, "{recovery:?}");
    }
}

#[test]
fn what_is_reported_behind_a_timeout_goes_again_all_the_same_in_sack_1996() {
    // `timeout_ == FALSE` in ns-2's recv: the scoreboard stays empty until new data is acknowledged. The control leaves cwnd at twelve.
    for (recovery, next) in [("sack-1996", [3, 4, 5]), ("sack", [3, 4, 6])] {
        let control = Custom { resend_limit: Some(3), ..Custom::default() };
        let mut bench = Bench::new(&twelve(recovery), control);
        assert_eq!(Bench::again(&bench.expire()), [0, 1, 2], "{recovery}");
        assert_eq!(Bench::again(&bench.ack(0, &[(5, 6)])), next, "{recovery}");
    }
}

#[test]
fn newreno_leaves_with_no_more_than_a_segment_beyond_flight() {
    // RFC 6582 section 3.2, full acknowledgment (1): min (ssthresh, max(FlightSize, SMSS) + SMSS), against a burst.
    let mut bench = Bench::new(&twelve("newreno"), Custom::default());
    for _ in 0..3 {
        bench.ack(0, &[]);
    }
    bench.log.take();
    bench.ack(12, &[]);
    assert_eq!(bench.log.take(), [Event::Left { flight: 0, cwnd: 2000.0 }]);
    assert_eq!(bench.sender.window().ssthresh, 6000.0);
}

#[test]
fn only_the_first_partial_ack_restarts_newrenos_timer() {
    // RFC 6582 section 3.2 step 3: the impatient variant.
    let mut bench = Bench::new(&twelve("newreno"), Custom::default());
    for _ in 0..3 {
        bench.ack(0, &[]);
    }
    let before = bench.sender.next_timeout();
    bench.ack(2, &[]);
    let restarted = bench.sender.next_timeout();
    assert!(restarted > before);
    bench.ack(4, &[]);
    bench.ack(6, &[]);
    assert_eq!(bench.sender.next_timeout(), restarted);
    bench.ack(12, &[]);
    assert!(bench.sender.next_timeout() > restarted);
}

#[test]
fn limited_transmit_ends_with_the_second_duplicate() {
    // RFC 3042 section 2, with a threshold above the usual one.
    for recovery in ["tahoe", "reno", "newreno"] {
        let config = Config { duplicate_threshold: 6, limited_transmit: true, ..twelve(recovery) };
        let mut bench = Bench::new(&config, Custom::default());
        let sent: Vec<usize> = (0..5).map(|_| bench.ack(0, &[]).len()).collect();
        assert_eq!(sent, [1, 1, 0, 0, 0], "{recovery:?}");
        assert_eq!(Bench::again(&bench.ack(0, &[])), [0], "{recovery:?}");
    }
}

#[test]
fn an_ack_that_changes_the_window_is_no_duplicate() {
    // RFC 5681 section 2 (e).
    let mut bench = Bench::new(&twelve("newreno"), Custom::default());
    for window in [50_000, 40_000, 30_000, 20_000] {
        bench.window = window;
        bench.ack(0, &[]);
    }
    assert_eq!(bench.sender.stats().duplicate_acks, 0);
    bench.ack(0, &[]);
    assert_eq!(bench.sender.stats().duplicate_acks, 1);
}

#[test]
fn a_reduction_is_written_down_and_a_loss_that_is_only_repaired_is_not() {
    let at = |segments: u32| FIRST + segments * 1000;
    for recovery in RECOVERIES {
        for delays_reduction in [false, true] {
            let control = Custom { delays_reduction, ..Custom::default() };
            let mut bench = Bench::new(&twelve(recovery), control);
            for end in 2..=4 {
                bench.ack(0, &[(1, end)]);
            }
            let reduced =
                Reduction { time: bench.now, una: at(0), below: at(12), max: at(12), marked: false };
            let expected = if delays_reduction { vec![] } else { vec![reduced] };
            assert_eq!(bench.sender.take_reductions(), expected, "{recovery:?}");
            assert!(bench.sender.take_reductions().is_empty(), "taken once");
            bench.expire();
            let max = bench.sender.max();
            let expired = Reduction { time: bench.now, una: at(0), below: max, max, marked: false };
            assert_eq!(bench.sender.take_reductions(), [expired], "{recovery:?}");
        }
    }
}

#[test]
fn a_reduction_for_a_further_loss_answers_for_the_window_of_the_first() {
    let control = Custom { delays_reduction: true, ..Custom::default() };
    let mut bench = Bench::new(&twelve("newreno"), control);
    for _ in 0..3 {
        bench.ack(0, &[]);
    }
    let sent = bench.ack(4, &[]);
    assert!(sent.iter().any(|sent| sent.again));
    let [reduced] = bench.sender.take_reductions()[..] else { panic!("one reduction") };
    let below = FIRST + 12_000;
    assert_eq!((reduced.time, reduced.una, reduced.below), (bench.now, FIRST + 4000, below));
}
