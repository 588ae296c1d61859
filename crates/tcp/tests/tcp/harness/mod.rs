//! Two endpoints joined by a delay line, in virtual time.
//!
//! Every segment that goes out or comes in is held against what must be true whatever the network does (see `check`), so
//! each test that runs a transfer is also a test of those.

mod check;
mod trace;

use std::collections::BTreeMap;

use bentpipe_tcp::control::{Composition, ControlFactory};
use bentpipe_tcp::recovery::RecoveryFactory;
use bentpipe_tcp::{Catalogue, Chosen, Config, Ecn, Endpoint, Flags, Profile, Segment, Seq, State, Transmit};
use bentpipe_units::{Span, Time};

use check::Check;

/// The end that opens the connection.
pub(crate) const CLIENT: usize = 0;
/// The end that listens.
pub(crate) const SERVER: usize = 1;

/// Every recovery, and every control, alone or around another.
pub(crate) const RECOVERIES: [&str; 8] =
    ["tahoe", "reno", "newreno", "sack", "newreno-1999", "sack-1996", "sack-linux-2.4", "rack"];
pub(crate) const CONTROLS: [&str; 18] = [
    "standard",
    "adalr",
    "afc",
    "adalr+afc",
    "cubic",
    "bbr1",
    "bbr3",
    "hybla",
    "westwood",
    "veno",
    "vegas",
    "illinois",
    "highspeed",
    "xcp",
    "jersey",
    "star",
    "new-vegas",
    "peach",
];

/// The recoveries that leave to the retransmission timer what no ACK tells of; `rack` sends a probe first.
pub(crate) fn by_timer_alone() -> impl Iterator<Item = &'static str> {
    RECOVERIES.into_iter().filter(|recovery| *recovery != "rack")
}

pub(crate) fn recovery(name: &str) -> Chosen<dyn RecoveryFactory> {
    Catalogue::default().usual(name).expect("a recovery")
}

pub(crate) fn control(name: &str) -> Chosen<dyn ControlFactory> {
    Composition::find(&Catalogue::default(), name).and_then(|found| found.usual()).expect("a control")
}

/// The plain RFC profile with round numbers: segments of 1000 bytes, each acknowledged at once.
pub(crate) fn config(name: &str) -> Config {
    let mut config = Profile::Rfc.config(recovery(name), control("standard"));
    config.mss = 1000;
    config.delayed_ack.segments = 1;
    config.time_wait = Span::from_millis(1000);
    config
}

/// A segment about to enter the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    pub(crate) from: usize,
    /// Counts the segments of this end from 1.
    pub(crate) number: usize,
    /// Counts the segments of this end that carry payload, from 1; 0 for others.
    pub(crate) data_number: usize,
    pub(crate) segment: Segment,
    pub(crate) again: bool,
}

/// What the network does with a segment: a copy arrives after the path's delay and each of these, marked or not.
#[derive(Clone, PartialEq)]
pub(crate) struct Fate {
    pub(crate) late: Vec<Span>,
    marked: bool,
}

impl Fate {
    pub(crate) fn pass() -> Fate {
        Fate::copies(vec![Span::ZERO])
    }
    pub(crate) fn drop() -> Fate {
        Fate::copies(Vec::new())
    }
    pub(crate) fn late(ms: u64) -> Fate {
        Fate::copies(vec![Span::from_millis(ms)])
    }
    pub(crate) fn twice(ms: u64) -> Fate {
        Fate::copies(vec![Span::ZERO, Span::from_millis(ms)])
    }
    pub(crate) fn copies(late: Vec<Span>) -> Fate {
        Fate { late, marked: false }
    }
    pub(crate) fn marked(self) -> Fate {
        Fate { marked: true, ..self }
    }
}

impl std::fmt::Debug for Fate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let copies: Vec<f64> = self.late.iter().map(|late| late.as_secs() * 1e3).collect();
        write!(f, "copies late by {copies:?} ms")
    }
}

/// How the application at an end reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reader {
    AtOnce,
    Never,
    /// So many bytes, each so many milliseconds.
    Slow {
        bytes: u32,
        every_ms: u64,
    },
}

/// A segment that was sent, and the sender's state just after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Time,
    pub(crate) passing: Passing,
    pub(crate) copies: usize,
    pub(crate) cwnd: f64,
}

type Network = Box<dyn FnMut(&Passing) -> Fate>;

/// Whether a segment has payload, and is no dummy.
fn carries_data(segment: &Segment) -> bool {
    segment.len > 0 && segment.ecn != Ecn::Low
}

pub(crate) struct Net {
    pub(crate) now: Time,
    pub(crate) ends: [Endpoint; 2],
    pub(crate) sent: Vec<Sent>,
    pub(crate) readers: [Reader; 2],
    /// Whether an end closes as soon as its peer has closed.
    pub(crate) closes_after_peer: [bool; 2],
    /// Bytes that each application has read.
    pub(crate) read: [u64; 2],
    iss: [Seq; 2],
    delay: Span,
    network: Network,
    wire: BTreeMap<(Time, u64), (usize, Segment)>,
    entered: u64,
    numbers: [(usize, usize); 2],
    next_read: [Time; 2],
    checks: [Check; 2],
}

/// No test needs more steps; a deadlock does.
const MOST_STEPS: usize = 400_000;

impl Net {
    /// Two ends `delay_ms` apart, each way.
    pub(crate) fn new(configs: [Config; 2], iss: [u32; 2], delay_ms: u64) -> Net {
        let timestamps = configs.iter().all(|config| config.timestamps);
        let sack = configs.iter().all(|config| config.sack);
        let iss = iss.map(Seq);
        let checks = [0, 1].map(|end| Check::new(iss[1 - end], timestamps, sack, &configs[end]));
        let [client, server] = configs;
        Net {
            now: Time::ZERO,
            ends: [Endpoint::new(client, iss[0]), Endpoint::new(server, iss[1])],
            sent: Vec::new(),
            readers: [Reader::AtOnce; 2],
            closes_after_peer: [true; 2],
            read: [0; 2],
            iss,
            delay: Span::from_millis(delay_ms),
            network: Box::new(|_| Fate::pass()),
            wire: BTreeMap::new(),
            entered: 0,
            numbers: [(0, 0); 2],
            next_read: [Time::NEVER; 2],
            checks,
        }
    }

    /// Both ends alike, 50 ms apart.
    pub(crate) fn alike(config: Config) -> Net {
        Net::new([config.clone(), config], [1000, 5_000_000], 50)
    }

    /// A connection with nothing under way; neither end closes because the other does.
    pub(crate) fn established(config: Config) -> Net {
        let mut net = Net::alike(config);
        net.closes_after_peer = [false; 2];
        net.open();
        net.run();
        assert_eq!(net.states(), [State::Established; 2]);
        net
    }

    /// What the client would send next, empty.
    pub(crate) fn next_from_client(&self) -> Segment {
        Segment {
            seq: self.ends[SERVER].receiver().nxt(),
            ack: self.ends[CLIENT].receiver().nxt(),
            window: 65_535,
            flags: Flags::ACK,
            ..Segment::default()
        }
    }

    /// Lets `network` decide what becomes of each segment.
    pub(crate) fn through(mut self, network: impl FnMut(&Passing) -> Fate + 'static) -> Net {
        self.network = Box::new(network);
        self
    }

    /// Drops the client's data segments of these numbers, each counted from 1 as it is sent.
    pub(crate) fn dropping(self, numbers: &[usize]) -> Net {
        let numbers = numbers.to_vec();
        self.through(move |passing| match passing.from == CLIENT && numbers.contains(&passing.data_number) {
            true => Fate::drop(),
            false => Fate::pass(),
        })
    }

    pub(crate) fn set_network(&mut self, network: impl FnMut(&Passing) -> Fate + 'static) {
        self.network = Box::new(network);
    }

    /// The server listens, the client connects.
    pub(crate) fn open(&mut self) {
        self.ends[SERVER].listen();
        self.ends[CLIENT].connect();
        self.serve(CLIENT);
    }

    pub(crate) fn write(&mut self, end: usize, bytes: u64) {
        self.ends[end].write(bytes);
        self.serve(end);
    }

    pub(crate) fn close(&mut self, end: usize) {
        self.ends[end].close(false);
        self.serve(end);
    }

    /// Opens, sends `bytes` from the client, closes and runs until both ends are closed.
    pub(crate) fn transfer(mut self, bytes: u64) -> Net {
        self.open();
        self.ends[CLIENT].write(bytes);
        self.close(CLIENT);
        self.run();
        assert_eq!(self.errors(), [None, None], "{}", self.trace());
        assert_eq!(self.read[SERVER], bytes, "{}", self.trace());
        self
    }

    /// Runs until nothing is left to happen.
    pub(crate) fn run(&mut self) {
        self.run_until(Time::NEVER);
    }

    /// Runs to `ms` milliseconds.
    pub(crate) fn run_to(&mut self, ms: u64) {
        self.run_until(Time::ZERO + Span::from_millis(ms));
    }

    fn run_until(&mut self, end: Time) {
        for _ in 0..MOST_STEPS {
            let arrival = self.wire.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
            let timers = [self.ends[0].next_timeout(), self.ends[1].next_timeout()];
            let next = arrival.min(timers[0]).min(timers[1]).min(self.next_read[0]).min(self.next_read[1]);
            if next == Time::NEVER || next > end {
                self.now = if end == Time::NEVER { self.now } else { end };
                return;
            }
            assert!(next >= self.now, "a timer lies in the past\n{}", self.trace());
            self.now = next;
            if arrival == next {
                let Some((_, (to, segment))) = self.wire.pop_first() else { return };
                self.arrive(to, &segment);
                continue;
            }
            for end in [CLIENT, SERVER] {
                if timers[end] == next {
                    self.ends[end].on_timeout(self.now);
                }
                self.serve(end);
            }
        }
        panic!("no end in sight after {:.1} s\n{}", self.now.as_secs(), self.trace());
    }

    /// Hands `segment` to an end as if it had just arrived.
    pub(crate) fn arrive(&mut self, to: usize, segment: &Segment) {
        let mut check = std::mem::take(&mut self.checks[to]);
        check.before_arrival(&self.ends[to], segment);
        self.ends[to].on_segment(self.now, segment);
        check.after_arrival(&self.ends[to], || self.trace());
        self.checks[to] = check;
        self.serve(to);
    }

    /// What the application and the network do after anything happened to `end`.
    pub(crate) fn serve(&mut self, end: usize) {
        self.application_reads(end);
        if self.ends[end].state() == State::CloseWait && self.closes_after_peer[end] {
            self.ends[end].close(false);
        }
        let (mut segment, mut was_last) = (Segment::default(), false);
        while let Some(written) = self.ends[end].poll_segment(self.now, &mut segment) {
            assert!(!was_last, "{segment:?} comes after the one that was said to be the last");
            assert_eq!(written.bytes, segment.packet_len());
            was_last = written.last;
            let (number, data_number) = &mut self.numbers[end];
            *number += 1;
            let data = carries_data(&segment);
            *data_number += usize::from(data);
            let data_number = if data { *data_number } else { 0 };
            let passing = Passing { from: end, number: *number, data_number, segment, again: written.again };
            let fate = (self.network)(&passing);
            let ecn = if fate.marked && segment.ecn != Ecn::Low { Ecn::Ce } else { segment.ecn };
            let arriving = Segment { ecn, ..segment };
            for late in &fate.late {
                self.wire.insert((self.now + self.delay + *late, self.entered), (1 - end, arriving));
                self.entered += 1;
            }
            let cwnd = self.ends[end].sender().window().cwnd;
            self.sent.push(Sent { at: self.now, passing, copies: fate.late.len(), cwnd });
            let mut check = std::mem::take(&mut self.checks[end]);
            check.sent(&self.ends[end], &Transmit { segment, again: written.again }, || self.trace());
            self.checks[end] = check;
            assert!(self.sent.len() < MOST_STEPS, "segments without end\n{}", self.trace());
        }
    }

    fn application_reads(&mut self, end: usize) {
        match self.readers[end] {
            Reader::AtOnce => self.read[end] += u64::from(self.ends[end].read(u32::MAX)),
            Reader::Never => self.next_read[end] = Time::NEVER,
            Reader::Slow { bytes, every_ms } => {
                if self.now >= self.next_read[end] {
                    self.read[end] += u64::from(self.ends[end].read(bytes));
                    self.next_read[end] = Time::NEVER;
                }
                if self.next_read[end] == Time::NEVER && self.ends[end].receiver().unread() > 0 {
                    self.next_read[end] = self.now + Span::from_millis(every_ms);
                }
            }
        }
    }

    pub(crate) fn states(&self) -> [State; 2] {
        [self.ends[0].state(), self.ends[1].state()]
    }

    pub(crate) fn errors(&self) -> [Option<bentpipe_tcp::ConnectionError>; 2] {
        [self.ends[0].error(), self.ends[1].error()]
    }

    pub(crate) fn sent_by(&self, end: usize) -> impl Iterator<Item = &Sent> {
        self.sent.iter().filter(move |sent| sent.passing.from == end)
    }

    /// The payload segments of an end.
    pub(crate) fn data_by(&self, end: usize) -> Vec<Sent> {
        self.sent_by(end).filter(|sent| carries_data(&sent.passing.segment)).copied().collect()
    }

    /// The pure ACKs of an end, SYN not counted.
    pub(crate) fn acks_by(&self, end: usize) -> Vec<Sent> {
        let syn = bentpipe_tcp::Flags::SYN;
        self.sent_by(end)
            .filter(|sent| sent.passing.segment.sequence_len() == 0 && !sent.passing.segment.flags.has(syn))
            .copied()
            .collect()
    }

    /// The most bytes that an end sent beyond the edge that its peer had given.
    pub(crate) fn beyond(&self, end: usize) -> u32 {
        self.checks[end].beyond
    }

    /// Sequence number of an end counted from its first byte of data.
    pub(crate) fn relative(&self, end: usize, seq: Seq) -> i64 {
        i64::from(seq.diff(self.iss[end] + 1))
    }
}

impl Sent {
    pub(crate) fn ms(&self) -> f64 {
        (self.at.as_secs() * 1e6).round() / 1e3
    }
}
