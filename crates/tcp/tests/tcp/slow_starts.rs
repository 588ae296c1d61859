//! Slow starts by name: HyStart by both of its signs; HyStart++ to its conservative phase and back, and out of it; limited slow start.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bentpipe_tcp::control::{Ack, Control, Window};
use bentpipe_tcp::slow_start::{HyStartOptions, LimitedStartOptions, SlowStart, SlowStartFactory};
use bentpipe_tcp::{Catalogue, Config, Growth, Record, Sender};
use bentpipe_units::{Span, Time};

use crate::carried::{on_ack, sender};
use crate::harness::config;
use crate::script::Script;

fn ms(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

fn starting(name: &str) -> Sender {
    let slow_start = Catalogue::default().usual(name).unwrap();
    sender(&Config { slow_start, initial_window: 16, ..config("sack") })
}

/// What a sender had at the end of each round trip: cwnd and ssthresh, in segments.
type Rounds = Vec<(f64, f64)>;

/// Carries segments over a path whose round trip, in ms, depends on when a segment is sent.
fn carry(sender: &mut Sender, rtt_ms: impl Fn(Time) -> u64, until: Time) -> Rounds {
    let (mut rounds, mut round_ends, mut acks) = (Vec::new(), Time::ZERO, VecDeque::new());
    let mut now = Time::ZERO;
    loop {
        while let Some(sent) = sender.poll(now) {
            acks.push_back((now + Span::from_millis(rtt_ms(now)), now, sent.seq + sent.len));
        }
        let Some((at, sent, ack)) = acks.pop_front().filter(|(at, ..)| *at <= until) else { return rounds };
        if sent >= round_ends && at > now {
            rounds.push((sender.window().cwnd / 1000.0, sender.window().ssthresh / 1000.0));
            round_ends = at;
        }
        now = at;
        on_ack(sender, now, ack, &[]);
    }
}

#[test]
fn hystart_plus_plus_is_slow_start_while_the_rtt_stays() {
    let rounds = carry(&mut starting("hystart++"), |_| 100, ms(650));
    assert_eq!(rounds, [16, 32, 64, 128, 256, 512].map(|cwnd| (f64::from(cwnd), f64::INFINITY)));
}

#[test]
fn a_lasting_rise_ends_slow_start_after_five_rounds_of_a_quarter() {
    // 13 ms is more than an eighth of 100.
    let mut sender = starting("hystart++");
    let rounds = carry(&mut sender, |sent| if sent < ms(200) { 100 } else { 113 }, ms(1200));
    // Eight samples of the round show the rise; what the others add counts a quarter. 64 -> 64 + 8 + 56/4.
    assert_eq!(rounds[..4], [16.0, 32.0, 64.0, 86.0].map(|cwnd| (cwnd, f64::INFINITY)));
    for (round, &(cwnd, ssthresh)) in rounds[4..].iter().enumerate() {
        let (before, _) = rounds[3 + round];
        if round < 4 {
            assert!((cwnd / before - 1.25).abs() < 0.02, "{round}: {before} to {cwnd}");
            assert_eq!(ssthresh, f64::INFINITY);
        } else {
            assert!(ssthresh <= cwnd, "{round}: {cwnd}");
        }
    }
    let (_, ssthresh) = rounds[rounds.len() - 1];
    // Five rounds of a quarter.
    assert!((ssthresh / (86.0 * 1.25 * 1.25 * 1.25 * 1.25) - 1.0).abs() < 0.02, "{ssthresh}");
    assert!(!sender.window().in_slow_start());
}

#[test]
fn a_rise_that_passes_leads_back_to_slow_start() {
    let rtt = |sent: Time| if (ms(200)..ms(300)).contains(&sent) { 113 } else { 100 };
    let rounds = carry(&mut starting("hystart++"), rtt, ms(700));
    let (cwnd, ssthresh): (Vec<_>, Vec<_>) = rounds.into_iter().unzip();
    assert_eq!(cwnd[..4], [16.0, 32.0, 64.0, 86.0]);
    // Eight samples of the next round show that the rise is over: 86 + 8/4 + 78.
    assert_eq!(cwnd[4], 166.0);
    assert_eq!(cwnd[5], 332.0);
    assert!(ssthresh.iter().all(|&at| at == f64::INFINITY), "{ssthresh:?}");
}

#[test]
fn a_rise_of_less_than_4_ms_and_one_in_few_samples_are_none() {
    let rounds = carry(&mut starting("hystart++"), |sent| if sent < ms(40) { 20 } else { 23 }, ms(140));
    assert_eq!(rounds.last().map(|&(cwnd, _)| cwnd), Some(16.0 * 32.0));
    // Windows of four segments have no eight samples.
    let slow_start = Catalogue::default().usual("hystart++").unwrap();
    let mut few = sender(&Config { slow_start, initial_window: 2, ..config("sack") });
    let rounds = carry(&mut few, |sent| if sent < ms(90) { 100 } else { 150 }, ms(260));
    assert_eq!(rounds.iter().map(|&(cwnd, _)| cwnd).collect::<Vec<_>>(), [2.0, 4.0]);
}

#[test]
fn over_a_long_round_trip_a_rise_of_16_ms_is_one() {
    // An eighth of 300 ms would be 37.
    let after = |rise: u64| {
        let mut sender = starting("hystart++");
        let rounds = carry(&mut sender, |sent| if sent < ms(600) { 300 } else { 300 + rise }, ms(1250));
        rounds.last().map(|&(cwnd, _)| cwnd)
    };
    assert_eq!((after(15), after(16)), (Some(128.0), Some(86.0)));
}

/// Slow start below an ssthresh that is not the first, as after a loss and a pause.
#[test]
fn hystart_plus_plus_is_for_the_first_slow_start_alone() {
    let mut sender = starting("hystart++");
    sender.set_control(Box::new(LaterStart));
    let rounds = carry(&mut sender, |sent| if sent < ms(200) { 100 } else { 113 }, ms(800));
    let cwnd: Vec<_> = rounds.iter().map(|&(cwnd, _)| cwnd).collect();
    assert_eq!(cwnd[..6], [16.0, 32.0, 64.0, 128.0, 256.0, 512.0]);
}

/// Slow start, whose ssthresh is another one from 150 ms on.
struct LaterStart;

impl Control for LaterStart {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        w.ssthresh = if ack.now < ms(150) { f64::INFINITY } else { 1e9 };
        let growth = w.slow_start_growth(ack.acked);
        slow_start.on_ack(w, ack, growth);
    }
}

#[test]
fn after_a_timeout_hystart_plus_plus_is_out_of_the_game() {
    let mut sender = starting("hystart++");
    carry(&mut sender, |_| 100, ms(350));
    let expires = sender.next_timeout();
    sender.on_timeout(expires).unwrap();
    // All is acknowledged; a quarter of the growth would be seen from the first round on.
    while sender.window().cwnd < 8000.0 {
        while sender.poll(expires).is_some() {}
        let max = sender.max();
        on_ack(&mut sender, expires + Span::from_millis(500), max, &[]);
    }
    assert!(sender.window().in_slow_start());
}

#[test]
fn limited_slow_start_adds_half_of_its_limit_a_round_trip() {
    let rounds = carry(&mut starting("limited"), |_| 100, ms(950));
    let cwnd: Vec<_> = rounds.iter().map(|&(cwnd, _)| cwnd).collect();
    assert_eq!(cwnd[..3], [16.0, 32.0, 64.0]);
    for pair in cwnd[3..].windows(2) {
        // RFC 3742 section 2: at most max_ssthresh / 2, here 50 segments; somewhat less as K rises in a round.
        assert!((40.0..=67.0).contains(&(pair[1] - pair[0])), "{cwnd:?}");
    }
}

#[test]
fn limited_slow_start_shares_out_what_an_ack_adds_by_a_whole_number() {
    let record = Record::default();
    // RFC 3742 section 2: K is int(cwnd / 50 segments), and 1 up to max_ssthresh itself.
    for (cwnd, share) in
        [(100_000.0, 1.0), (100_001.0, 2.0), (149_000.0, 2.0), (151_000.0, 3.0), (199_000.0, 3.0)]
    {
        let mut w = Window::new(cwnd, f64::INFINITY, 1000.0, Growth::Bytes { limit: 2 });
        LimitedStartOptions::default().make().on_ack(&mut w, &Ack::new(&record), 1000.0);
        assert_eq!(w.cwnd, cwnd + 1000.0 / share);
    }
}

/// ssthresh in segments at the end of the round trip in which slow start ended, and the number of that, from 0.
fn ended(rounds: &Rounds) -> Option<(usize, f64)> {
    let round = rounds.iter().position(|&(_, ssthresh)| ssthresh.is_finite())?;
    Some((round, rounds[round].1))
}

/// The RTT in ms over a link that takes so many µs a segment of 1000 bytes, from an empty queue at the beginning of each round.
fn serialized(sender: &mut Sender, micros: u64, until: Time) -> Rounds {
    let (mut rounds, mut round_ends, mut acks) = (Vec::new(), Time::ZERO, VecDeque::new());
    let (mut now, mut free) = (Time::ZERO, Time::ZERO);
    loop {
        while let Some(sent) = sender.poll(now) {
            free = if free > now { free } else { now } + Span::from_nanos(micros * 1000);
            acks.push_back((free + Span::from_millis(100), now, sent.seq + sent.len));
        }
        let Some((at, sent, ack)) = acks.pop_front().filter(|(at, ..)| *at <= until) else { return rounds };
        if sent >= round_ends && at > now {
            rounds.push((sender.window().cwnd / 1000.0, sender.window().ssthresh / 1000.0));
            round_ends = at;
        }
        now = at;
        on_ack(sender, now, ack, &[]);
    }
}

#[test]
fn hystart_ends_where_the_acks_come_in_a_train_of_half_an_rtt() {
    // A segment a millisecond, 100 ms away: the path holds 101 segments, and the RTT of a round's first nine segments does not rise.
    let rounds = serialized(&mut starting("hystart"), 1000, ms(1500));
    let (round, ssthresh) = ended(&rounds).unwrap();
    // Half of 101 ms and of 1 ms for bursts: the 53rd of the 64 ACKs comes 52 ms after the first.
    assert_eq!(rounds[..round].last().map(|&(cwnd, _)| cwnd), Some(64.0));
    assert_eq!(ssthresh, 64.0 + 52.0);
    assert!(ssthresh > 101.0 / 2.0 && ssthresh < 2.0 * 101.0);
    // Linux's `found`: it does not end twice, and congestion avoidance follows.
    let (last, _) = rounds[rounds.len() - 1];
    assert!(last < ssthresh + 12.0, "{last}");
}

#[test]
fn acks_further_apart_than_the_delta_are_no_train_to_hystart() {
    // 2.5 ms a segment: the RTT of the queue that each round leaves ends slow start, one round later than a train of its ACKs would.
    let of = |hystart: HyStartOptions| {
        let config = Config { slow_start: hystart.into(), initial_window: 16, ..config("sack") };
        ended(&serialized(&mut sender(&config), 2500, ms(2000)))
    };
    let usual = HyStartOptions::default();
    let wide = HyStartOptions { ack_delta: Span::from_millis(3), ..usual };
    let (trains, delays) =
        (HyStartOptions { delay: false, ..wide }, HyStartOptions { ack_train: false, ..usual });
    assert_eq!(of(usual), of(delays));
    assert_eq!(of(HyStartOptions { delay: false, ..usual }), None);
    let ((train, _), (delay, _)) = (of(trains).unwrap(), of(delays).unwrap());
    assert!(train < delay, "{train} {delay}");
    assert_eq!(of(HyStartOptions { ack_train: false, delay: false, ..usual }), None);
}

#[test]
fn hystart_ends_in_the_round_whose_ninth_sample_shows_the_rise() {
    // 13 ms is more than an eighth of 100, 12 ms is less.
    let at = |later| {
        let mut sender = starting("hystart");
        let rounds = carry(&mut sender, |sent| if sent < ms(200) { 100 } else { later }, ms(800));
        (ended(&rounds), rounds.last().unwrap().0)
    };
    assert_eq!(at(112), (None, 1024.0));
    // 64 segments, of which eight were acknowledged before the ninth.
    assert_eq!(at(113).0, Some((3, 72.0)));
    // Half of an RTT of 300 ms; the bound is 16 ms, no eighth.
    let rise = |ms_more: u64| {
        let mut sender = starting("hystart");
        ended(&carry(&mut sender, |sent| if sent < ms(600) { 300 } else { 300 + ms_more }, ms(1600)))
    };
    assert_eq!((rise(16), rise(17)), (None, Some((3, 72.0))));
}

#[test]
fn over_a_short_round_trip_hystart_takes_less_than_4_ms_for_none() {
    // An eighth of 20 ms would be 2.5.
    let ends = |rtt: u64| {
        ended(&carry(&mut starting("hystart"), |sent| if sent < ms(40) { 20 } else { rtt }, ms(140)))
            .is_some()
    };
    assert_eq!((ends(23), ends(25)), (false, true));
}

#[test]
fn hystart_waits_for_16_segments_and_begins_again_after_a_timeout() {
    let config = Config { slow_start: HyStartOptions::default().into(), initial_window: 4, ..config("sack") };
    let mut small = sender(&config);
    // 100 ms a segment longer in every round: below 16 segments nobody looks.
    let rounds = carry(&mut small, |sent| 100 + sent.as_nanos() / 1_000_000, ms(900));
    assert_eq!(rounds.iter().map(|&(cwnd, _)| cwnd).collect::<Vec<_>>(), [4.0, 8.0, 16.0]);
    let mut sender = starting("hystart");
    carry(&mut sender, |sent| if sent < ms(200) { 100 } else { 150 }, ms(500));
    assert!(!sender.window().in_slow_start());
    let expires = sender.next_timeout();
    sender.on_timeout(expires).unwrap();
    let halved = sender.window().ssthresh;
    // The smallest RTT before the timeout is forgotten: 400 ms are no rise. Growth goes on up to ssthresh.
    let mut now = expires;
    while sender.window().in_slow_start() && now < expires + Span::from_millis(8000) {
        while sender.poll(now).is_some() {}
        now += Span::from_millis(400);
        let max = sender.max();
        on_ack(&mut sender, now, max, &[]);
    }
    assert_eq!(sender.window().ssthresh, halved);
}

#[test]
fn a_paced_train_may_be_as_long_as_the_rtt() {
    let mut paced = starting("hystart");
    paced.set_control(Box::new(Paced));
    let rounds = serialized(&mut paced, 1000, ms(1000));
    let (round, ssthresh) = ended(&rounds).unwrap();
    let (unpaced, earlier) = ended(&serialized(&mut starting("hystart"), 1000, ms(1000))).unwrap();
    assert!(round > unpaced && ssthresh > 1.5 * earlier, "{round} {ssthresh}, not {unpaced} {earlier}");
}

/// Slow start with a pacing rate, which nobody keeps to.
struct Paced;

impl Control for Paced {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        w.pacing_rate = 1e12;
        let growth = w.slow_start_growth(ack.acked);
        if w.in_slow_start() && ack.opens_window() {
            slow_start.on_ack(w, ack, growth);
        }
    }
}

#[test]
fn late_rounds_begin_at_the_low_window() {
    // Two segments acknowledged each 100 ms, from a window of 10; the RTT rises with the queue. A round begins with segment 11, and its ninth
    // ACK ends slow start at 36 segments; where rounds begin at 16 segments only, that is at 48, as in the packet script of the kernels of then.
    let ends = |late_rounds| {
        let slow_start = HyStartOptions { late_rounds, ..HyStartOptions::default() };
        let growth = Growth::Bytes { limit: 1000 };
        let mut sender =
            sender(&Config { slow_start: slow_start.into(), initial_window: 10, growth, ..config("sack") });
        let first = sender.una();
        for ack in 1..40 {
            let now = ms(100 * u64::from(ack - 1));
            while sender.poll(now).is_some() {}
            on_ack(&mut sender, ms(100 * u64::from(ack)), first + 2000 * ack, &[]);
        }
        sender.window().ssthresh / 1000.0
    };
    assert_eq!((ends(false), ends(true)), (36.0, 48.0));
}

/// Counts what it hears of congestion.
struct Hears(Arc<AtomicU32>);

impl SlowStart for Hears {
    fn on_ack(&mut self, w: &mut Window, _ack: &Ack<'_>, growth: f64) {
        w.cwnd += growth;
    }

    fn listens(&self) -> bool {
        true
    }

    fn on_congestion(&mut self, _w: &mut Window) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_slow_start_that_listens_hears_of_a_loss_that_the_control_keeps_and_of_one_that_reduces() {
    let heard = |control: &str, blocks: &[(u32, u32)]| {
        let count = Arc::new(AtomicU32::new(0));
        let mut script = Script::new("sack", control, 100);
        script.sender.set_slow_start(Box::new(Hears(Arc::clone(&count))));
        script.write(20);
        script.wait(100);
        for end in 1..=blocks.len() {
            script.ack(0, &blocks[..end]);
        }
        count.load(Ordering::Relaxed)
    };
    // Segment 1 is lost; 1 and 6 are.
    assert_eq!((heard("standard", &[(2, 5)]), heard("afc", &[(2, 5)])), (1, 1));
    assert_eq!((heard("standard", &[(2, 5), (7, 10)]), heard("afc", &[(2, 5), (7, 10)])), (1, 2));
}
