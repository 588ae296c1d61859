//! Random transfers of an endpoint of profile `linux`, written as scripts: what another TCP does differently under the same ACKs shows
//! when it plays them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::fmt::Write as _;

use bentpipe_tcp::control::{CubicOptions, CubicReading};
use bentpipe_tcp::slow_start::HyStartOptions;
use bentpipe_tcp::{Catalogue, Flags, Options, Profile, SackBlock, Segment, Seq};

use crate::host::Host;

const MSS: u32 = 1000;
/// The application writes so long after the handshake, in microseconds.
const PAUSE: i64 = 20_000;
/// A script is no longer than this.
const LONGEST: i64 = 2_500_000;

/// splitmix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % u64::from(bound)) as u32
    }

    fn from<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }
}

/// What the path does: segments by their number, ACKs by theirs.
#[derive(Default, Debug)]
struct Path {
    rtt: i64,
    spacing: i64,
    lost: BTreeSet<u32>,
    lost_again: BTreeSet<u32>,
    acks_lost: BTreeSet<u32>,
    late: BTreeMap<u32, i64>,
}

impl Path {
    fn random(random: &mut Random, segments: u32) -> Path {
        let mut path = Path {
            rtt: random.from(&[40_000, 60_000, 100_000]),
            spacing: random.from(&[0, 1000, 3000]),
            ..Path::default()
        };
        let one = |random: &mut Random| 1 + random.below(segments - 1);
        match random.below(8) {
            0 => path.lost = [one(random)].into(),
            1 => path.lost = [one(random), one(random)].into(),
            2 => {
                let first = random.below(segments);
                path.lost = (first..segments.min(first + 2 + random.below(4))).collect();
            }
            3 => path.lost = (segments - 1 - random.below(3)..segments).collect(),
            4 => {
                path.lost = [one(random)].into();
                path.lost_again.clone_from(&path.lost);
            }
            5 => {
                path.lost = [one(random)].into();
                path.acks_lost = (0..8).map(|_| random.below(30)).collect();
            }
            6 => path.late = [(one(random), random.from(&[5000, 15_000, 30_000]))].into(),
            _ => {}
        }
        path
    }
}

/// The peer: it acknowledges each segment at once and reports by SACK and D-SACK.
#[derive(Default)]
struct Peer {
    nxt: u32,
    /// Apart from each other, in order.
    held: Vec<(u32, u32)>,
    /// A byte of each run, those reported last first.
    recent: Vec<u32>,
}

impl Peer {
    fn take(&mut self, seq: u32, len: u32) -> (u32, Vec<(u32, u32)>) {
        let end = seq + len;
        let twice = end <= self.nxt || self.held.iter().any(|run| run.0 <= seq && end <= run.1);
        if !twice {
            type Runs = Vec<(u32, u32)>;
            let (before, after): (Runs, Runs) = self.held.iter().partition(|run| run.1 < seq);
            let (joined, apart): (Runs, Runs) = after.iter().partition(|run| run.0 <= end);
            let run = joined.iter().fold((seq, end), |run, other| (run.0.min(other.0), run.1.max(other.1)));
            self.held = before;
            if run.0 <= self.nxt {
                self.nxt = run.1;
            } else {
                self.held.push(run);
                self.recent.insert(0, seq);
            }
            self.held.extend(apart);
            // What was next reaches what was held.
            while let Some(run) = self.held.first().copied().filter(|run| run.0 <= self.nxt) {
                self.nxt = self.nxt.max(run.1);
                self.held.remove(0);
            }
        }
        let mut blocks = Vec::new();
        for at in &self.recent {
            blocks.extend(self.held.iter().find(|run| run.0 <= *at && *at < run.1 && !blocks.contains(*run)));
        }
        self.recent = blocks.iter().map(|run| run.0).collect();
        if twice {
            blocks.insert(0, (seq, end));
        }
        blocks.truncate(4);
        (self.nxt, blocks)
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Arrives {
    Data(u32, u32),
    Ack(u32, Vec<(u32, u32)>),
}

/// The transfer of this seed. `late_rounds` is HyStart's option of this name, for kernels from 5.16 to 6.13.
pub(crate) fn script(seed: u64, late_rounds: bool) -> String {
    let mut random = Random(seed);
    let segments = random.from(&[8, 12, 20, 30, 40]);
    let path = Path::random(&mut random, segments);
    let recovery = Catalogue::default().usual("rack").expect("a recovery");
    let cubic = CubicOptions { reading: CubicReading::Linux, ..CubicOptions::default() };
    let mut config = Profile::Linux.config(recovery, cubic);
    config.slow_start = HyStartOptions { late_rounds, ..HyStartOptions::default() }.into();
    config.timestamps = false;

    let mut host = Host::new(config, 0);
    host.tcp.listen();
    let syn_options =
        Options { mss: Some(MSS as u16), window_scale: Some(7), sack_permitted: true, ..Options::default() };
    host.arrive(&Segment { flags: Flags::SYN, window: 65_535, options: syn_options, ..Segment::default() });
    host.sent.clear();
    host.run(path.rtt);
    let ack = Segment { seq: Seq(1), ack: Seq(1), flags: Flags::ACK, window: 10_000, ..Segment::default() };
    host.arrive(&ack);
    let start = path.rtt + PAUSE;
    host.run(start);
    host.tcp.write(u64::from(segments * MSS));
    host.poll();

    let mut text = format!(
        "// seed {seed}: {segments} segments, {path:?}\n--tolerance_usecs=8000\n\
         0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 setsockopt(3, SOL_TCP, TCP_CONGESTION, \"cubic\", 5) = 0\n\
         +0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
         0 < S 0:0(0) win 65535 <mss {MSS},sackOK,nop,nop,nop,wscale 7>\n0 > S. 0:0(0) ack 1 <...>\n\
         {rtt:.6} < . 1:1(0) ack 1 win 10000\n{rtt:.6} accept(3, ..., ...) = 4\n\
         {start:.6} write(4, ..., {bytes}) = {bytes}\n",
        rtt = path.rtt as f64 / 1e6,
        start = start as f64 / 1e6,
        bytes = segments * MSS,
    );
    let (mut under_way, mut order, mut free) = (BinaryHeap::new(), 0, 0);
    let mut times_sent = vec![0; segments as usize];
    let (mut peer, mut acks) = (Peer { nxt: 1, ..Peer::default() }, 0);
    loop {
        for (at, sent) in std::mem::take(&mut host.sent) {
            let (seq, len) = (sent.seq.0, sent.len);
            let flags = if sent.flags.has(Flags::PSH) { "P." } else { "." };
            let at_s = at as f64 / 1e6;
            writeln!(text, "{at_s:.6} > {flags} {seq}:{}({len}) ack 1", seq + len).expect("a string");
            let number = (seq - 1) / MSS;
            times_sent[number as usize] += 1;
            let nth = times_sent[number as usize];
            let departs = free.max(at);
            free = departs + path.spacing;
            let lost =
                (nth == 1 && path.lost.contains(&number)) || (nth == 2 && path.lost_again.contains(&number));
            if !lost {
                let late = path.late.get(&number).filter(|_| nth == 1).copied().unwrap_or(0);
                under_way.push(Reverse((departs + path.rtt / 2 + late, order, Arrives::Data(seq, len))));
                order += 1;
            }
        }
        let timer = host.next().unwrap_or(i64::MAX);
        let arrival = under_way.peek().map_or(i64::MAX, |Reverse((at, _, _))| *at);
        if timer.min(arrival) > start + LONGEST
            || (host.tcp.sender().all_acknowledged() && under_way.is_empty())
        {
            return text;
        }
        if timer < arrival {
            host.run(timer);
            continue;
        }
        host.now = arrival;
        let Some(Reverse((at, _, arrives))) = under_way.pop() else { return text };
        match arrives {
            Arrives::Data(seq, len) => {
                let (ack, blocks) = peer.take(seq, len);
                acks += 1;
                if !path.acks_lost.contains(&acks) {
                    under_way.push(Reverse((at + path.rtt / 2, order, Arrives::Ack(ack, blocks))));
                    order += 1;
                }
            }
            Arrives::Ack(number, blocks) => {
                let mut segment = Segment { ack: Seq(number), ..ack };
                let mut option = String::new();
                for (from, to) in blocks {
                    segment.options.sack.push(SackBlock { start: Seq(from), end: Seq(to) });
                    write!(option, " {from}:{to}").expect("a string");
                }
                let option = if option.is_empty() { option } else { format!(" <sack{option},nop,nop>") };
                writeln!(text, "{:.6} < . 1:1(0) ack {number} win 10000{option}", at as f64 / 1e6)
                    .expect("a string");
                host.arrive(&segment);
            }
        }
    }
}
