//! Schemes of today's practice in their smallest form, each by the hooks that are meant for it: PRR and RACK, delivery rates,
//! HyStart++, Hybla, Vegas and CUBIC.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bentpipe_tcp::control::{Ack, Control, ControlFactory, Extras, Loss, Response, Resume, Window};
use bentpipe_tcp::recovery::{Context, Next, Outstanding, Recovery, RecoveryState, Resend};
use bentpipe_tcp::slow_start::SlowStart;
use bentpipe_tcp::{Chosen, Config, Incoming, SackBlock, Sender, Seq};
use bentpipe_units::{Span, Time};

use crate::harness::{CLIENT, Net, RECOVERIES, config, control};

pub(crate) const FIRST: Seq = Seq(u32::MAX - 2500);

type Noted<T> = Arc<Mutex<Vec<T>>>;

fn note<T>(noted: &Noted<T>, what: T) {
    noted.lock().unwrap_or_else(PoisonError::into_inner).push(what);
}

fn taken<T>(noted: &Noted<T>) -> Vec<T> {
    std::mem::take(&mut *noted.lock().unwrap_or_else(PoisonError::into_inner))
}

fn ms(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

/// A sender of segments of 1000 bytes without end, which the receiver's window never limits.
pub(crate) fn sender(config: &Config) -> Sender {
    let mut sender = Sender::new(config, FIRST);
    sender.set_peer_window(1 << 24);
    sender.write(u64::MAX);
    sender
}

pub(crate) fn on_ack(sender: &mut Sender, now: Time, ack: Seq, sack: &[SackBlock]) {
    sender.on_ack(now, &Incoming { window: Some(1 << 24), sack, ..Incoming::of(ack) });
}

/// A round trip of `rtt_ms` through a link that takes `service_ms` for a segment and drops none, each acknowledged.
fn carry(sender: &mut Sender, rtt_ms: u64, service_ms: u64, until: Time) {
    let (mut now, mut free, mut acks) = (Time::ZERO, Time::ZERO, VecDeque::new());
    loop {
        while let Some(sent) = sender.poll(now) {
            free = if free > now { free } else { now } + Span::from_millis(service_ms);
            acks.push_back((free + Span::from_millis(rtt_ms - service_ms), sent.seq + sent.len));
        }
        let Some((at, ack)) = acks.pop_front().filter(|(at, _)| *at <= until) else { return };
        now = at;
        on_ack(sender, now, ack, &[]);
    }
}

/// Finds the first loss by send times, as RACK (RFC 8985) does, and pays for what goes out by what is delivered, as PRR (RFC
/// 6937) does, without its bounds.
#[derive(Default)]
struct ByAgeAndShare {
    resend: Resend,
    phase: Option<Phase>,
}

struct Phase {
    recover: Seq,
    flight: u32,
    ssthresh: f64,
    delivered: u32,
    /// Bytes sent again.
    resent: u32,
}

impl Recovery for ByAgeAndShare {
    fn needs_sack(&self) -> bool {
        true
    }

    fn on_duplicate_ack(&mut self, cx: &mut Context<'_>) {
        let record = cx.record();
        let delivered = record.newly_delivered();
        let Some(phase) = &mut self.phase else {
            let newest = record.newest().map_or(Time::ZERO, |newest| newest.at);
            let older = |at: Time| at + Span::from_millis(4) < newest;
            if record.entries(cx.una).any(|(_, sent)| !sent.sacked() && older(sent.at)) {
                let (recover, flight) = (cx.max, cx.flight());
                cx.lose(cx.una, cx.una, recover, flight);
                self.resend.at_once(cx.una);
                let ssthresh = cx.window().ssthresh;
                self.phase = Some(Phase { recover, flight, ssthresh, delivered, resent: 1000 });
            }
            return;
        };
        phase.delivered += delivered;
    }

    fn on_new_ack(&mut self, cx: &mut Context<'_>, _: u32) -> RecoveryState {
        self.resend.acknowledged(cx.una, cx.max);
        match self.phase.take() {
            Some(_) => RecoveryState::Recovering { restart_timer: true },
            None => RecoveryState::Open,
        }
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        self.resend.go_back(cx.una);
    }

    fn in_recovery(&self) -> bool {
        self.phase.is_some()
    }

    fn is_idle(&self) -> bool {
        self.phase.is_none() && self.resend.is_empty()
    }

    fn resend(&mut self) -> &mut Resend {
        &mut self.resend
    }

    fn next(&mut self, o: &Outstanding<'_>) -> Next {
        let Some(phase) = &self.phase else {
            return self.resend.next(o, o.cwnd.saturating_sub(o.max - o.una));
        };
        // RFC 6937 section 3: "sndcnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out".
        let quota = (f64::from(phase.delivered) * phase.ssthresh / f64::from(phase.flight)).ceil() as u32;
        Next::NewData { room: quota.saturating_sub(phase.resent + (o.max - phase.recover)) }
    }

    fn phases(&self) -> u32 {
        0
    }
}

#[test]
fn a_recovery_that_pays_by_each_ack_sends_no_more_than_its_quota() {
    let mut sender = sender(&Config { initial_window: 12, ..config("sack") });
    sender.set_recovery(Box::<ByAgeAndShare>::default());
    // The first segment goes 5 ms before the others, and is lost.
    assert!(sender.poll(ms(0)).is_some());
    assert_eq!(std::iter::from_fn(|| sender.poll(ms(5))).count(), 11);
    let mut sent = Vec::new();
    for segments in 1..12 {
        let now = ms(105 + u64::from(segments));
        on_ack(
            &mut sender,
            now,
            FIRST,
            &[SackBlock { start: FIRST + 1000, end: FIRST + 1000 * (1 + segments) }],
        );
        let out: Vec<_> = std::iter::from_fn(|| sender.poll(now)).map(|out| (out.again, out.len)).collect();
        sent.push(out);
    }
    // The hole by the first report, before there are three; then one segment for two that are delivered.
    assert_eq!(sent[0], [(true, 1000)]);
    assert!(sent[1..].iter().flatten().all(|out| *out == (false, 1000)), "{sent:?}");
    let counts: Vec<_> = sent.iter().map(Vec::len).collect();
    assert_eq!(counts, [1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
    assert_eq!((sender.window().cwnd, sender.max() - FIRST), (6000.0, 16_000));
}

/// Notes the mark of each delivery rate, and is the standard control.
#[derive(Clone, Debug, Default)]
struct Rates(Noted<bool>);

impl ControlFactory for Rates {
    fn make(&self) -> Box<dyn Control> {
        Box::new(self.clone())
    }
}

impl Control for Rates {
    fn extras(&mut self) -> Extras<'_> {
        Extras { reads_rates: true, ..Extras::default() }
    }

    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        if let Some(rate) = ack.rate() {
            note(&self.0, rate.app_limited);
        }
        bentpipe_tcp::control::Standard.on_ack(w, ack, slow_start);
    }
}

#[test]
fn a_rate_is_marked_after_a_pause_of_the_application_and_not_while_the_window_is_full() {
    let rates = Rates::default();
    let control: Chosen<dyn ControlFactory> = Chosen::new("rates", Arc::new(rates.clone()));
    let mut net = Net::alike(Config { control, initial_window: 4, ..config("sack") });
    net.open();
    net.write(CLIENT, 20_000);
    net.run_to(3000);
    assert_eq!(taken(&rates.0), [false; 20], "the window is full until the last segment");
    // All is acknowledged: what goes out before the next report says nothing of the network.
    net.write(CLIENT, 20_000);
    net.run_to(6000);
    let told = taken(&rates.0);
    assert_eq!((&told[..4], &told[4..]), (&[true; 4][..], &[false; 16][..]));
    // Three bits of work, the next while the last is under way.
    for bit in 0..3 {
        net.write(CLIENT, 1000);
        net.run_to(6010 + 10 * bit);
    }
    net.run_to(9000);
    assert_eq!(taken(&rates.0), [true; 3]);
}

#[test]
fn what_the_peer_has_reported_is_not_in_flight_where_the_application_has_no_more() {
    let rates = Rates::default();
    let sent = |sender: &mut Sender, at| std::iter::from_fn(|| sender.poll(at)).count();
    let mut sender = {
        let rates: Chosen<dyn ControlFactory> = Chosen::new("rates", Arc::new(rates.clone()));
        let config = Config { control: rates, initial_window: 40, ..config("rack") };
        let mut sender = Sender::new(&config, FIRST);
        sender.open(&config, bentpipe_tcp::Agreed::all(&config));
        sender.set_peer_window(1 << 20);
        sender.sample_handshake(Time::ZERO, Span::from_millis(100));
        sender
    };
    sender.write(10_000);
    assert_eq!(sent(&mut sender, ms(0)), 10);
    // The first is lost, and nothing is left to send but it.
    let block = SackBlock { start: FIRST + 1000, end: FIRST + 10_000 };
    on_ack(&mut sender, ms(100), FIRST, &[block]);
    assert_eq!(sent(&mut sender, ms(100)), 1);
    // 9 are delivered and 1 is in flight: the pause is over once more than 10 are, and the application stops no more.
    sender.write(u64::MAX);
    on_ack(&mut sender, ms(200), FIRST + 10_000, &[]);
    assert!(sent(&mut sender, ms(200)) > 1);
    on_ack(&mut sender, ms(300), FIRST + 12_000, &[]);
    let next = sender.max();
    assert!(sent(&mut sender, ms(300)) > 0);
    on_ack(&mut sender, ms(400), next, &[]);
    taken(&rates.0);
    on_ack(&mut sender, ms(400), next + 1000, &[]);
    assert_eq!(taken(&rates.0), [false]);
}

/// Holds itself back at each duplicate ACK, as BBR does in `ProbeRTT`.
#[derive(Clone, Debug, Default)]
struct HoldsBack(Rates);

impl ControlFactory for HoldsBack {
    fn make(&self) -> Box<dyn Control> {
        Box::new(self.clone())
    }
}

impl Control for HoldsBack {
    fn extras(&mut self) -> Extras<'_> {
        Extras { paces: true, reads_rates: true, ..Extras::default() }
    }

    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        self.0.on_ack(w, ack, slow_start);
        w.held_back = ack.acked == 0;
    }
}

#[test]
fn what_the_peer_has_reported_is_not_in_flight_where_the_control_holds_back() {
    let control = HoldsBack::default();
    let rates = control.0.0.clone();
    let control: Chosen<dyn ControlFactory> = Chosen::new("holds-back", Arc::new(control));
    let config = Config { control, initial_window: 10, ..config("rack") };
    let mut sender = sender(&config);
    sender.open(&config, bentpipe_tcp::Agreed::all(&config));
    sender.sample_handshake(Time::ZERO, Span::from_millis(100));
    let send = |sender: &mut Sender, at| std::iter::from_fn(|| sender.poll(at)).count();
    assert_eq!(send(&mut sender, ms(0)), 10);
    let block = SackBlock { start: FIRST + 1000, end: FIRST + 10_000 };
    on_ack(&mut sender, ms(100), FIRST, &[block]);
    assert!(send(&mut sender, ms(100)) > 0);
    // 9 were delivered: once the lost one is too, nothing is under way of what was sent before.
    on_ack(&mut sender, ms(200), FIRST + 10_000, &[]);
    let next = sender.max();
    assert!(send(&mut sender, ms(200)) > 0);
    taken(&rates);
    on_ack(&mut sender, ms(300), next + 1000, &[]);
    assert_eq!(taken(&rates), [false]);
}

/// Notes how long each pause was.
#[derive(Clone, Debug, Default)]
struct Pauses {
    noted: Noted<Span>,
    paces: bool,
}

impl ControlFactory for Pauses {
    fn make(&self) -> Box<dyn Control> {
        Box::new(self.clone())
    }
}

impl Control for Pauses {
    fn extras(&mut self) -> Extras<'_> {
        Extras { paces: self.paces, ..Extras::default() }
    }

    fn on_resume(&mut self, _: &mut Window, resume: &Resume) {
        note(&self.noted, resume.idle);
    }
}

#[test]
fn a_control_is_told_of_each_pause_with_all_acknowledged_shorter_than_an_rto_too() {
    for (recovery, paces) in RECOVERIES.into_iter().flat_map(|name| [(name, false), (name, true)]) {
        let pauses = Pauses { paces, ..Pauses::default() };
        let control: Chosen<dyn ControlFactory> = Chosen::new("pauses", Arc::new(pauses.clone()));
        let mut net = Net::established(Config { control, ..config(recovery) });
        let began = (net.now.as_secs() * 1e3) as u64;
        // The second while the first is under way, the third after it.
        for after in [0, 30, 150] {
            net.run_to(began + after);
            net.write(CLIENT, 1000);
        }
        net.run();
        assert_eq!(taken(&pauses.noted), [Span::from_millis(120)], "{recovery}, paced: {paces}");
    }
}

/// HyStart++ (RFC 9406) without its conservative phase: slow start ends when the smallest RTT of a round is an eighth above
/// that of the round before.
#[derive(Clone, Default)]
struct ByRounds {
    /// When the round began, bytes delivered then, and its smallest RTT.
    round: (Time, u64, Option<Span>),
    last: Option<Span>,
    /// Bytes delivered in each round, and its smallest RTT.
    rounds: Noted<(u64, Option<Span>)>,
}

impl SlowStart for ByRounds {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, growth: f64) {
        let (began, before, smallest) = self.round;
        if ack.newest_sent_at().is_some_and(|at| at >= began) {
            note(&self.rounds, (ack.delivered() - u64::from(ack.acked) - before, smallest));
            self.last = smallest;
            self.round = (ack.now, ack.delivered() - u64::from(ack.acked), None);
        }
        self.round.2 = match (self.round.2, ack.rtt()) {
            (Some(smallest), Some(rtt)) => Some(smallest.min(rtt)),
            (smallest, rtt) => smallest.or(rtt),
        };
        w.cwnd += growth;
        if let (Some(last), Some(now)) = (self.last, self.round.2)
            && now >= last + last / 8
        {
            w.ssthresh = w.cwnd;
        }
    }
}

#[test]
fn a_slow_start_that_counts_rounds_ends_by_their_smallest_rtt_under_two_controls() {
    // 600 ms and 10 ms a segment: sixty segments fill the path.
    let cwnd = |name: &str, start: Option<ByRounds>| {
        let config = Config { control: control(name), initial_window: 4, ..config("sack") };
        let mut sender = sender(&config);
        if let Some(start) = start {
            sender.set_slow_start(Box::new(start));
        }
        carry(&mut sender, 600, 10, ms(8000));
        (sender.window().cwnd / 1000.0, sender.window().ssthresh / 1000.0)
    };
    for name in ["standard", "adalr"] {
        let start = ByRounds::default();
        let (at_end, ssthresh) = cwnd(name, Some(start.clone()));
        assert!((60.0..450.0).contains(&ssthresh), "{name}: {ssthresh}");
        assert!(ssthresh <= at_end, "{name}: {at_end}");
        let (without, never) = cwnd(name, None);
        assert!(at_end + 100.0 < without && never == f64::INFINITY, "{name}: {at_end} and {without}");
        let rounds = taken(&start.rounds);
        // The first entry is what came before the first round.
        let smallest: Vec<_> = rounds[1..4].iter().map(|(_, rtt)| *rtt).collect();
        assert_eq!(smallest, [Some(Span::from_millis(600)); 3], "{name}");
        if name == "standard" {
            let delivered: Vec<_> = rounds[1..5].iter().map(|(bytes, _)| *bytes / 1000).collect();
            assert_eq!(delivered, [4, 8, 16, 32], "{name}");
        }
    }
}

/// Hybla's slow start (C. Caini and R. Firrincieli, 2004): as many bytes a second as at 25 ms.
struct ByRtt;

impl Control for ByRtt {
    fn slow_start_growth(&mut self, w: &Window, ack: &Ack<'_>) -> f64 {
        // One sample a round trip: the smallest stands for those between.
        let rtt = ack.rtt_sample.or(ack.rtt_min).unwrap_or(Span::from_millis(25));
        // RFC 5681 adds a segment; rho round trips of 25 ms add 2^rho - 1.
        f64::from((1_u32 << (rtt.as_nanos() / 25_000_000)) - 1) * w.smss
    }
}

/// Vegas (L. Brakmo and others, 1994): two to four segments in the queue, looked at once a sample.
struct ByDelay;

impl Control for ByDelay {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, _: &mut dyn SlowStart) {
        if let (Some(rtt), Some(base)) = (ack.rtt_sample, ack.rtt_min) {
            let queued = w.cwnd / w.smss * (1.0 - base.as_secs() / rtt.as_secs());
            w.cwnd += w.smss * f64::from(i8::from(queued < 2.0) - i8::from(queued > 4.0));
        }
    }
}

#[test]
fn a_control_grows_by_rtt_samples_and_their_minimum() {
    let cwnd = |control: Box<dyn Control>, (rtt_ms, service_ms), until| {
        let mut sender = sender(&Config { initial_window: 4, ..config("sack") });
        sender.set_control(control);
        carry(&mut sender, rtt_ms, service_ms, until);
        sender.window().cwnd / 1000.0
    };
    // At 100 ms each of the four ACKs adds 2^4 - 1 segments: as many as four round trips of 25 ms.
    assert_eq!(cwnd(Box::new(ByRtt), (25, 0), ms(100)), 64.0);
    assert_eq!(cwnd(Box::new(ByRtt), (100, 0), ms(100)), 64.0);
    // Ten segments fill the path.
    let settled = cwnd(Box::new(ByDelay), (100, 10), ms(10_000));
    assert!((12.0..=15.0).contains(&settled), "{settled}");
}

/// RFC 9438 equation 2 for 100 segments, in seconds: the cube root of 50 / 0.4.
const K: f64 = 5.0;

/// CUBIC's curve (RFC 9438 equation 1) with C = 0.4 and beta = 0.5, and nothing else of it.
#[derive(Default)]
struct ByTime {
    /// When the last loss was found, and cwnd then, in segments.
    lost: Option<(Time, f64)>,
}

impl Control for ByTime {
    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.lost = Some((loss.now, w.cwnd / w.smss));
        w.cwnd /= 2.0;
        w.ssthresh = w.cwnd;
        Response::Reduced
    }

    fn congestion_avoidance(&mut self, w: &mut Window, ack: &Ack<'_>) {
        if let Some((at, most)) = self.lost {
            let from_k = ack.now.since(at).as_secs() - K;
            w.cwnd = w.smss * (0.4 * from_k * from_k * from_k + most);
        }
    }
}

#[test]
fn a_control_grows_by_the_time_since_its_last_loss() {
    let mut sender = sender(&Config { initial_window: 100, limited_transmit: false, ..config("sack") });
    sender.set_control(Box::<ByTime>::default());
    while sender.poll(ms(0)).is_some() {}
    for segments in 2..5 {
        on_ack(
            &mut sender,
            ms(100),
            FIRST,
            &[SackBlock { start: FIRST + 1000, end: FIRST + 1000 * segments }],
        );
    }
    assert_eq!((sender.window().cwnd, sender.window().ssthresh), (50_000.0, 50_000.0));
    for (after, cwnd) in [(1000, 74.4), (3000, 96.8), (5000, 100.0), (7000, 103.2), (10_000, 150.0)] {
        while sender.poll(ms(100 + after)).is_some() {}
        let ack = sender.max();
        on_ack(&mut sender, ms(100 + after), ack, &[]);
        if after > 1000 {
            assert!(
                (sender.window().cwnd / 1000.0 - cwnd).abs() < 1e-6,
                "{after} ms: {}",
                sender.window().cwnd
            );
        } else {
            assert_eq!(sender.window().cwnd, 50_000.0, "the ACK that ends recovery");
        }
    }
}
