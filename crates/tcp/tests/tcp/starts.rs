//! Starts over a bottleneck, ACK by ACK, held against the files under `docs/generated/traces`: HyStart++, SEARCH and Careful Resume.
//!
//! `UPDATE_EXPECT=1 cargo test -p bentpipe-tcp --test tcp starts` writes them anew; what changed is then for a reader to judge.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write;

use bentpipe_tcp::slow_start::{CarefulResumeOptions, HyStartPlusPlusOptions, ResumedGrowth, SearchOptions};
use bentpipe_tcp::{Config, SackBlock, Sender, Seq};
use bentpipe_units::{Span, Time};
use expect_test::expect_file;

use crate::carried::{FIRST, on_ack, sender};
use crate::harness::config;

/// One way to a receiver that acknowledges every segment of 1000 bytes at once, and back.
struct Path {
    /// The round trip of what is sent at a time, in ms, without queue.
    rtt: fn(Time) -> u64,
    /// The bottleneck, in µs a segment, and segments that wait before it at most.
    service: u64,
    buffer: usize,
    until: u64,
}

impl Default for Path {
    fn default() -> Path {
        Path { rtt: |_| 100, service: 0, buffer: usize::MAX, until: 1000 }
    }
}

/// One or more ACKs at a time, and what the sender has after the last of them.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    at: Time,
    acks: usize,
    /// Segments acknowledged in order, and the run reported beyond, if any.
    ack: u32,
    sack: Option<(u32, u32)>,
    /// Of the newest segment reported, when that was sent once.
    rtt: Option<Span>,
    sent: u32,
    cwnd: f64,
    ssthresh: f64,
    phase: &'static str,
}

impl Row {
    fn line(&self) -> String {
        let ms = |nanos: u64| format!("{:.1}", nanos as f64 / 1e6);
        let sack = self.sack.map_or("-".to_owned(), |(from, to)| format!("{from}..{to}"));
        let rtt = self.rtt.map_or("-".to_owned(), |rtt| ms(rtt.as_nanos()));
        format!(
            "{:>8} {:>5} {:>5} {:>10} {:>7} {:>5} {:>8.2} {:>8.2}  {}\n",
            ms(self.at.as_nanos()),
            self.acks,
            self.ack,
            sack,
            rtt,
            self.sent,
            self.cwnd,
            self.ssthresh,
            self.phase
        )
    }
}

/// Segments with their numbers from 0: sent, arrived, acknowledged.
struct Carried {
    sender: Sender,
    first: Seq,
    sent_at: Vec<(Time, bool)>,
    held: BTreeSet<u32>,
    acked: u32,
}

impl Carried {
    /// The ACK that an arriving segment brings about: in order, and the run that the segment is in beyond.
    fn arrive(&mut self, number: u32) -> (u32, Option<(u32, u32)>) {
        self.held.insert(number);
        while self.held.remove(&self.acked) {
            self.acked += 1;
        }
        if number < self.acked {
            return (self.acked, None);
        }
        let (mut from, mut to) = (number, number + 1);
        while from > 0 && self.held.contains(&(from - 1)) {
            from -= 1;
        }
        while self.held.contains(&to) {
            to += 1;
        }
        (self.acked, Some((from, to)))
    }

    fn row(&self, at: Time, number: u32, (ack, sack): (u32, Option<(u32, u32)>)) -> Row {
        let window = self.sender.window();
        let usual = if window.in_slow_start() { "slow start" } else { "avoidance" };
        let (sent_at, again) = self.sent_at[number as usize];
        Row {
            at,
            acks: 1,
            ack,
            sack,
            rtt: (!again).then(|| at.since(sent_at)),
            sent: (self.sender.max() - self.first) / 1000,
            cwnd: window.cwnd / 1000.0,
            ssthresh: window.ssthresh / 1000.0,
            phase: self.sender.phase().unwrap_or(usual),
        }
    }
}

/// Carries what `config` sends over `path`.
fn carry(config: &Config, path: &Path) -> Vec<Row> {
    let sender = sender(config);
    let first = sender.una();
    let mut carried = Carried { sender, first, sent_at: Vec::new(), held: BTreeSet::new(), acked: 0 };
    let (mut rows, mut wire): (Vec<Row>, VecDeque<(Time, u32)>) = (Vec::new(), VecDeque::new());
    let (mut now, mut waiting) = (Time::ZERO, VecDeque::new());
    loop {
        while let Some(out) = carried.sender.poll(now) {
            let number = (out.seq - first) / 1000;
            carried.sent_at.resize(carried.sent_at.len().max(number as usize + 1), (now, out.again));
            carried.sent_at[number as usize] = (now, out.again);
            waiting.retain(|&leaves| leaves > now);
            if waiting.len() > path.buffer {
                continue;
            }
            let service = Span::from_nanos(path.service * 1000);
            let leaves = waiting.back().copied().unwrap_or(now) + service;
            waiting.push_back(leaves);
            wire.push_back((leaves + Span::from_millis((path.rtt)(now)), number));
        }
        let timer = carried.sender.next_timeout();
        let arrives = wire.front().map_or(Time::NEVER, |&(at, _)| at);
        now = timer.min(arrives);
        if now > Time::ZERO + Span::from_millis(path.until) {
            return rows;
        }
        if timer < arrives {
            carried.sender.on_timeout(now).unwrap();
            continue;
        }
        let Some((_, number)) = wire.pop_front() else { return rows };
        let (ack, sack) = carried.arrive(number);
        let at = |number: u32| first + number * 1000;
        let blocks = sack.map(|(from, to)| SackBlock { start: at(from), end: at(to) });
        on_ack(&mut carried.sender, now, at(ack), blocks.as_slice());
        let row = carried.row(now, number, (ack, sack));
        match rows.last_mut() {
            Some(last)
                if (last.at, last.rtt, last.phase, last.sack) == (row.at, row.rtt, row.phase, None)
                    && row.sack.is_none() =>
            {
                *last = Row { acks: last.acks + 1, ..row };
            }
            _ => rows.push(row),
        }
    }
}

/// Holds `rows` against the file `name` under `docs/generated/traces`, whose description is `about`.
fn compare(name: &str, about: &str, rows: &[Row]) {
    let mut trace = String::new();
    for line in about.lines() {
        writeln!(trace, "# {}", line.trim()).unwrap();
    }
    trace += "# time_ms  acks   ack       sack  rtt_ms  sent     cwnd ssthresh  phase\n";
    rows.iter().for_each(|row| trace += &row.line());
    expect_file![format!("../../../../docs/generated/traces/{name}.txt")].assert_eq(&trace);
}

/// The phases in their order, each with the row that it begins with.
fn phases(rows: &[Row]) -> Vec<(&'static str, &Row)> {
    let mut all: Vec<(&str, &Row)> = Vec::new();
    for row in rows {
        if all.last().is_none_or(|(phase, _)| *phase != row.phase) {
            all.push((row.phase, row));
        }
    }
    all
}

fn names(rows: &[Row]) -> Vec<&'static str> {
    phases(rows).into_iter().map(|(name, _)| name).collect()
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

#[test]
fn hystart_plus_plus_goes_to_its_conservative_phase_and_back() {
    let config = Config { slow_start: HyStartPlusPlusOptions.into(), initial_window: 16, ..config("sack") };
    let rtt = |sent| if (ms(200)..ms(300)).contains(&sent) { 113 } else { 100 };
    let rows = carry(&config, &Path { rtt, until: 650, ..Path::default() });
    assert_eq!(names(&rows), ["slow start", "conservative", "slow start"]);
    compare(
        "hystart++-back",
        "HyStart++ (RFC 9406): the RTT of one round is 13 ms longer, and slow start goes on after it.
         Initial window 16 segments of 1000 bytes, each acknowledged; L = 1.
         RTT 100 ms; 113 ms for what is sent from 200 ms to below 300 ms.",
        &rows,
    );
}

#[test]
fn hystart_plus_plus_goes_from_its_conservative_phase_to_avoidance() {
    let config = Config { slow_start: HyStartPlusPlusOptions.into(), initial_window: 16, ..config("sack") };
    let rtt = |sent| if sent < ms(200) { 100 } else { 113 };
    let rows = carry(&config, &Path { rtt, until: 1200, ..Path::default() });
    assert_eq!(names(&rows), ["slow start", "conservative", "avoidance"]);
    compare(
        "hystart++-avoidance",
        "HyStart++ (RFC 9406): the RTT stays 13 ms longer, and five rounds of a quarter of the growth end slow start.
         Initial window 16 segments of 1000 bytes, each acknowledged; L = 1.
         RTT 100 ms; 113 ms for what is sent from 200 ms on.",
        &rows,
    );
}

/// 11 segments fill the path.
fn narrow() -> Path {
    Path { service: 10_000, until: 2500, ..Path::default() }
}

#[test]
fn search_ends_slow_start_once_deliveries_stay_behind_and_drains() {
    let config = Config { slow_start: SearchOptions::default().into(), initial_window: 2, ..config("sack") };
    let rows = carry(&config, &narrow());
    assert_eq!(names(&rows), ["slow start", "drain", "avoidance"]);
    let (_, drain) = phases(&rows)[1];
    // Three rounds double; from the fourth on the link delivers 10 segments in 100 ms. The window shows it when it is full of that.
    assert!((ms(600)..ms(1000)).contains(&drain.at), "{drain:?}");
    let (_, end) = phases(&rows)[2];
    // Three bins of 38.5 ms hold somewhat more than the first RTT of 110 ms, in which the link carries 11 segments.
    assert!((11.0..=12.0).contains(&end.ssthresh) && end.cwnd >= end.ssthresh, "{end:?}");
    compare(
        "search",
        "SEARCH (draft-chung-ccwg-search-09): the link is full from the fourth round trip on; the drain is as docs/explanation/tcp.md says.
         Initial window 2 segments of 1000 bytes, each acknowledged; L = 1.
         A link that takes 10 ms a segment, with a queue without end, and 100 ms.",
        &rows,
    );
}

#[test]
fn search_does_not_end_while_the_link_keeps_up_nor_by_a_rise_of_the_rtt() {
    let of = |search: SearchOptions, path: &Path| {
        let config = Config { slow_start: search.into(), initial_window: 2, ..config("sack") };
        names(&carry(&config, path))
    };
    let wide = Path { until: 900, ..Path::default() };
    assert_eq!(of(SearchOptions::default(), &wide), ["slow start"]);
    // HyStart++ takes this for a sign.
    let longer = Path { rtt: |sent| if sent < ms(300) { 100 } else { 125 }, until: 900, ..Path::default() };
    assert_eq!(of(SearchOptions::default(), &longer), ["slow start"]);
    let never = SearchOptions { threshold: 1.0, ..SearchOptions::default() };
    assert_eq!(of(never, &narrow()), ["slow start"]);
    let stays = SearchOptions { drain: false, ..SearchOptions::default() };
    assert_eq!(of(stays, &narrow()), ["slow start", "avoidance"]);
}

/// A connection that knows so many segments of 1000 bytes and an RTT of so many ms from before.
fn resumed(segments: u32, rtt_ms: u64) -> Config {
    let saved = CarefulResumeOptions {
        saved_cwnd: segments * 1000,
        saved_rtt: Span::from_millis(rtt_ms),
        ..CarefulResumeOptions::default()
    };
    Config { slow_start: saved.into(), initial_window: 10, ..config("sack") }
}

#[test]
fn careful_resume_jumps_paced_and_validates() {
    let rows = carry(&resumed(100, 100), &Path { service: 1000, until: 330, ..Path::default() });
    assert_eq!(names(&rows), ["reconnaissance", "unvalidated", "validating", "normal"]);
    let found = phases(&rows);
    // The tenth segment of the initial window is acknowledged after 110 ms; the jump is half of what was saved.
    assert_eq!((found[1].1.at, found[1].1.cwnd), (ms(110), 50.0));
    // Paced over a round trip of 110 ms: what the earlier ACKs let go is outstanding, and the rest goes at 2.2 ms a segment.
    let later: Vec<_> = rows.iter().filter(|row| row.phase == "unvalidated").collect();
    assert!(later.iter().all(|row| row.cwnd == 50.0), "{later:?}");
    let (first, last) = (later[0], later[later.len() - 1]);
    assert!(last.sent - first.sent <= 1 + (last.at.since(first.at).as_secs() / 0.0022) as u32);
    assert_eq!(rows.last().map(|row| row.phase), Some("normal"));
    assert!(rows.iter().all(|row| row.ssthresh == f64::INFINITY));
    compare(
        "careful-resume",
        "Careful Resume (RFC 9959): the jump fits the path, and every unvalidated packet is acknowledged.
         Initial window 10 segments of 1000 bytes, each acknowledged; L = 1. Saved: 100,000 bytes, 100 ms.
         A link that takes 1 ms a segment, with a queue without end, and 100 ms.",
        &rows,
    );
}

#[test]
fn careful_resume_retreats_from_a_jump_that_overflows_the_queue() {
    // The path holds 25 segments, and its queue 16; what was saved was five times as much.
    let path = Path { service: 4000, buffer: 16, until: 900, ..Path::default() };
    let rows = carry(&resumed(120, 100), &path);
    compare(
        "careful-resume-retreat",
        "Careful Resume (RFC 9959): the path has become five times as narrow, and unvalidated packets are lost.
         Initial window 10 segments of 1000 bytes, each acknowledged; L = 1; recovery by SACK (RFC 6675).
         Saved: 120,000 bytes, 100 ms.
         A link that takes 4 ms a segment, with a queue of 16 segments, and 100 ms.",
        &rows,
    );
    let found = phases(&rows);
    assert_eq!(names(&rows)[..4], ["reconnaissance", "unvalidated", "validating", "safe retreat"]);
    let (_, retreat) = found[3];
    // PipeSize is the 18 segments outstanding at the jump and the 37 reported since, two of them beyond the hole; half of it, and no growth.
    assert_eq!((found[1].1.sent, found[1].1.ack, retreat.ack, retreat.cwnd), (28, 10, 45, 27.5));
    let during = rows.iter().filter(|row| row.phase == "safe retreat");
    assert!(during.clone().all(|row| row.cwnd <= retreat.cwnd));
    assert_eq!(found[4].0, "normal");
    let (_, after) = found[4];
    assert!(after.ssthresh > retreat.ssthresh && after.ssthresh < 100.0, "{after:?}");
}

#[test]
fn careful_resume_does_not_jump_on_another_path() {
    // Half of the saved RTT at most, or ten times as much: another path.
    for (saved, jumps) in [(250, false), (202, false), (180, true), (11, true), (9, false)] {
        let rows = carry(&resumed(100, saved), &Path { until: 150, ..Path::default() });
        assert_eq!(names(&rows).contains(&"unvalidated"), jumps, "{saved} ms");
        if !jumps {
            assert_eq!(rows.last().map(|row| row.cwnd), Some(20.0));
        }
    }
    // Nothing saved, or less than slow start has found by then.
    for segments in [0, 30] {
        let rows = carry(&resumed(segments, 100), &Path { until: 250, ..Path::default() });
        assert!(!names(&rows).contains(&"unvalidated"), "{segments}");
        assert_eq!(rows.last().map(|row| row.cwnd), Some(40.0));
    }
    let rows = carry(&resumed(100, 300), &Path { until: 250, ..Path::default() });
    compare(
        "careful-resume-other-path",
        "Careful Resume (RFC 9959): the RTT is less than half of the saved one, and nothing is resumed.
         Initial window 10 segments of 1000 bytes, each acknowledged; L = 1. Saved: 100,000 bytes, 300 ms.
         RTT 100 ms.",
        &rows,
    );
}

#[test]
fn careful_resume_jumps_no_further_than_it_is_told_to() {
    let saved = CarefulResumeOptions {
        saved_cwnd: 100_000,
        saved_rtt: Span::from_millis(100),
        max_jump: 30_000,
        ..CarefulResumeOptions::default()
    };
    let config = Config { slow_start: saved.into(), ..resumed(100, 100) };
    let rows = carry(&config, &Path { service: 1000, until: 330, ..Path::default() });
    assert_eq!((phases(&rows)[1].0, phases(&rows)[1].1.cwnd), ("unvalidated", 30.0));
}

#[test]
fn careful_resume_waits_until_cwnd_limits_and_keeps_what_was_used_of_the_jump() {
    let config = Config { grow_only_when_limited: bentpipe_tcp::GrowthGate::Full, ..resumed(100, 100) };
    let mut sender = Sender::new(&config, Seq(1));
    sender.set_peer_window(1 << 24);
    let poll = |sender: &mut Sender, at: u64| while sender.poll(ms(at)).is_some() {};
    // Three segments do not fill a window of ten.
    sender.write(3000);
    poll(&mut sender, 0);
    on_ack(&mut sender, ms(100), Seq(3001), &[]);
    assert_eq!(sender.phase(), Some("reconnaissance"));
    sender.write(20_000);
    poll(&mut sender, 100);
    on_ack(&mut sender, ms(200), Seq(13_001), &[]);
    assert_eq!((sender.phase(), sender.window().cwnd), (Some("unvalidated"), 50_000.0));
    // Ten more are all that there is: RFC 9959 section 3.3, less is in flight than is known to have been.
    for at in 200..300 {
        poll(&mut sender, at);
    }
    on_ack(&mut sender, ms(310), Seq(19_001), &[]);
    assert_eq!((sender.phase(), sender.window().cwnd), (Some("normal"), 6000.0));
}

#[test]
fn careful_resume_stops_at_a_loss_of_the_initial_data_and_at_a_timeout() {
    // A queue of four segments: the initial window loses some.
    let path = Path { service: 4000, buffer: 4, until: 400, ..Path::default() };
    let rows = carry(&resumed(100, 100), &path);
    assert_eq!(names(&rows)[..2], ["reconnaissance", "normal"]);
    let mut sender = sender(&resumed(100, 100));
    while sender.poll(ms(0)).is_some() {}
    let expires = sender.next_timeout();
    sender.on_timeout(expires).unwrap();
    assert_eq!(sender.phase(), Some("normal"));
}

#[test]
fn careful_resume_paces_nothing_behind_a_timeout() {
    let mut sender = sender(&resumed(100, 100));
    while sender.poll(ms(0)).is_some() {}
    on_ack(&mut sender, ms(100), FIRST + 10_000, &[]);
    assert_eq!(sender.phase(), Some("unvalidated"));
    assert!(sender.window().pacing_rate.is_finite() && sender.poll(ms(100)).is_some());
    while sender.next_timeout() < ms(1000) {
        let now = sender.next_timeout();
        sender.on_timeout(now).unwrap();
        while sender.poll(now).is_some() {}
    }
    let expires = sender.next_timeout();
    sender.on_timeout(expires).unwrap();
    assert_eq!((sender.phase(), sender.stats().timeouts), (Some("normal"), 1));
    assert_eq!(sender.window().pacing_rate, f64::INFINITY);
    // What goes again does so at once: one segment, and two when it is acknowledged.
    assert!(sender.poll(expires).is_some_and(|sent| sent.again));
    let answered = expires + Span::from_millis(100);
    on_ack(&mut sender, answered, FIRST + 11_000, &[]);
    assert_eq!(std::iter::from_fn(|| sender.poll(answered)).count(), 2);
}

#[test]
fn another_slow_start_may_grow_the_window_after_the_jump() {
    // A link of 50 segments, with a queue without end: HyStart ends slow start by the train of ACKs, RFC 5681's goes on.
    let ends = |growth| {
        let saved = CarefulResumeOptions {
            saved_cwnd: 50_000,
            saved_rtt: Span::from_millis(100),
            growth,
            ..CarefulResumeOptions::default()
        };
        let config = Config { slow_start: saved.into(), initial_window: 10, ..config("sack") };
        let rows = carry(&config, &Path { service: 2000, until: 800, ..Path::default() });
        assert_eq!(names(&rows)[..3], ["reconnaissance", "unvalidated", "validating"]);
        rows.last().unwrap().ssthresh
    };
    assert_eq!(ends(ResumedGrowth::Standard), f64::INFINITY);
    let found = ends(ResumedGrowth::HyStart);
    assert!((25.0..=100.0).contains(&found), "{found}");
}
