//! Any bytes as what happens to an endpoint: segments of any content in every state, as values and as packets, time, and what
//! the application does. It never panics, holds a bounded amount, delivers nothing that was not sent, and what it sends is a
//! packet and obeys its own numbers.
#![no_main]

use std::net::Ipv4Addr;
use std::sync::LazyLock;

use bentpipe_tcp::control::Composition;
use bentpipe_tcp::recovery::RecoveryFactory;
use bentpipe_tcp::wire::{Addresses, Payload, decode, encode};
use bentpipe_tcp::{
    Catalogue, Config, Ecn, Endpoint, Flags, MOST_SMALL_RUNS, Options, Profile, SackBlock,
    Segment, Seq, State, Timestamps,
};
use bentpipe_units::registry::Kind;
use bentpipe_units::{Span, Time};
use libfuzzer_sys::fuzz_target;

const ISS: Seq = Seq(u32::MAX - 2000);
const PEER: Seq = Seq(u32::MAX - 500);
const WINDOW: u32 = 20_000;

fuzz_target!(|bytes: &[u8]| {
    let mut source = Source(bytes);
    let config = config(&mut source);
    let mut run = Run {
        end: Endpoint::new(config.clone(), ISS),
        config,
        now: Time::ZERO,
        arrived: 0,
        read: 0,
        written: 0,
    };
    run.begin(source.byte());
    while !source.0.is_empty() {
        run.step(&mut source);
    }
});

/// Bytes one after the other; zeros behind the last.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }
    fn word(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }
    fn long(&mut self) -> u32 {
        u32::from(self.word()) << 16 | u32::from(self.word())
    }
    /// A sequence number: near `base`, at an edge, or anywhere.
    fn seq(&mut self, base: Seq) -> Seq {
        match self.byte() % 8 {
            0..3 => base,
            3..6 => base + i32::from(self.word() as i16) as u32,
            6 => base + WINDOW + i32::from(self.byte() as i8) as u32,
            _ => Seq(self.long()),
        }
    }
}

static OURS: LazyLock<Catalogue> = LazyLock::new(Catalogue::default);

fn config(source: &mut Source) -> Config {
    let (kinds, on) = (source.byte(), source.byte());
    let ours = &*OURS;
    let recovery = <dyn RecoveryFactory>::ours().names()[usize::from(kinds & 3)];
    let control = Composition::all(ours)[usize::from(kinds >> 2 & 3)];
    let profile = Profile::ALL[usize::from(kinds >> 4) % Profile::ALL.len()];
    Config {
        mss: 100 + u32::from(source.byte()) * 5,
        receive_window: WINDOW,
        timestamps: on & 1 != 0,
        ecn: on & 2 != 0,
        sack: on & 4 != 0 || recovery == "sack",
        window_scaling: on & 8 != 0,
        ..profile.config(ours.usual::<dyn RecoveryFactory>(recovery).unwrap(), control.usual().unwrap())
    }
}

struct Run {
    end: Endpoint,
    config: Config,
    now: Time,
    arrived: u64,
    read: u64,
    written: u64,
}

impl Run {
    fn begin(&mut self, how: u8) {
        match how % 6 {
            0 => {}
            1 => self.end.listen(),
            2 => self.end.connect(),
            passive => {
                let timestamps = Some(Timestamps { value: 1, echo: 0 });
                let options = Options {
                    mss: Some(1000),
                    window_scale: Some(3),
                    sack_permitted: true,
                    timestamps,
                    ..Options::default()
                };
                let syn = Segment { seq: PEER, ack: ISS + 1, window: 9000, options, ..Segment::default() };
                if passive == 3 {
                    self.end.listen();
                    self.arrive(&Segment { flags: Flags::SYN, ..syn });
                    let options = Options { timestamps, ..Options::default() };
                    self.arrive(&Segment { seq: PEER + 1, flags: Flags::ACK, options, ..syn });
                } else {
                    self.end.connect();
                    self.poll();
                    self.arrive(&Segment { flags: Flags::SYN | Flags::ACK, ..syn });
                }
                assert_eq!(self.end.state(), State::Established);
            }
        }
        self.poll();
    }

    fn step(&mut self, source: &mut Source) {
        match source.byte() % 16 {
            0 => self.pass(self.now + Span::from_millis(u64::from(source.word()))),
            1 => self.pass(self.now + Span::from_millis(u64::from(source.long()))),
            2 if self.end.next_timeout() != Time::NEVER => self.pass(self.end.next_timeout()),
            3 => {
                let bytes = u64::from(source.word());
                self.written += bytes;
                self.end.write(bytes);
            }
            4 => self.read += u64::from(self.end.read(u32::from(source.word()))),
            5 => {
                let how = source.byte();
                if how < 64 {
                    self.end.close(how < 16);
                }
            }
            6 => self.packet(source),
            _ => {
                let segment = self.segment(source);
                self.through_the_wire(&segment);
            }
        }
        self.poll();
        self.hold();
    }

    fn segment(&self, source: &mut Source) -> Segment {
        let flags = match source.byte() {
            byte @ 0..24 => Flags(byte.into()),
            byte @ 24..48 => Flags((byte << 3).into()),
            48..64 => Flags::ACK | Flags::FIN,
            64..96 => Flags::SYN,
            96..128 => Flags::SYN | Flags::ACK,
            _ => Flags::ACK,
        };
        let (una, max) = (self.end.sender().una(), self.end.sender().max());
        let mut segment = Segment {
            seq: source.seq(self.end.receiver().nxt()),
            flags,
            len: [0, 0, 1, 100, 1000, WINDOW, 60_000][usize::from(source.byte()) % 7],
            window: [0, 1, 500, 9000, u16::MAX][usize::from(source.byte()) % 5],
            ..Segment::default()
        };
        let options = source.byte();
        segment.ack = source.seq(if options & 1 == 0 { una } else { max });
        segment.ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(options >> 1 & 3)];
        if options & 8 != 0 || flags == Flags::ACK && self.config.timestamps {
            let clock = (self.now.as_nanos() / 1_000_000) as u32;
            segment.options.timestamps =
                Some(Timestamps { value: source.seq(Seq(clock)).0, echo: source.seq(Seq(clock)).0 });
        }
        if flags.has(Flags::SYN) {
            segment.options.mss = (options & 16 != 0).then(|| source.word());
            segment.options.window_scale = (options & 32 != 0).then(|| source.byte() % 15);
            segment.options.sack_permitted = options & 64 != 0;
        } else {
            for _ in 0..options >> 4 & 3 {
                let start = source.seq(una);
                segment.options.sack.push(SackBlock { start, end: start + u32::from(source.word()) });
            }
        }
        segment
    }

    /// Bytes of the source as a packet, most of which no decoder takes.
    fn packet(&mut self, source: &mut Source) {
        let (packet, rest) = source.0.split_at(source.0.len().min(60));
        source.0 = rest;
        if let Ok(read) = decode(packet) {
            self.arrive(&read.segment);
        }
    }

    fn through_the_wire(&mut self, segment: &Segment) {
        let mut bytes = Vec::new();
        match encode(segment, &ADDRESSES, Payload::Zeros, &mut bytes) {
            Ok(()) => self.arrive(&decode(&bytes).expect("a packet").segment),
            Err(_) => self.arrive(segment),
        }
    }

    fn arrive(&mut self, segment: &Segment) {
        self.arrived += u64::from(segment.len);
        let (state, receiver) = (self.end.state(), self.end.receiver());
        let (nxt, window, delivered) = (receiver.nxt(), receiver.window(), receiver.delivered());
        self.end.on_segment(self.now, segment);
        let gained = self.end.receiver().delivered().saturating_sub(delivered);
        if gained > 0 {
            use State::{Established, FinWait1, FinWait2, SynReceived};
            assert!(matches!(state, SynReceived | Established | FinWait1 | FinWait2));
            assert!(segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::SYN | Flags::RST));
            assert!(segment.seq <= nxt && segment.end() > nxt && gained <= u64::from(window));
        }
        self.poll();
    }

    fn pass(&mut self, until: Time) {
        for _ in 0..300 {
            if self.end.next_timeout() > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(self.end.next_timeout());
            self.end.on_timeout(self.now);
            assert!(self.end.next_timeout() > self.now);
            self.poll();
        }
    }

    fn poll(&mut self) {
        for _ in 0..5000 {
            let Some(transmit) = self.end.poll_transmit(self.now) else { return };
            self.check_sent(&transmit.segment);
        }
        panic!("segments without end in {:?}", self.end.state());
    }

    fn check_sent(&self, segment: &Segment) {
        let mut bytes = Vec::new();
        encode(segment, &ADDRESSES, Payload::Zeros, &mut bytes).expect("what goes out fits a packet");
        assert_eq!(decode(&bytes).expect("what goes out is a packet").segment, *segment);
        if segment.flags.has(Flags::RST | Flags::SYN) {
            return;
        }
        let (sender, receiver) = (self.end.sender(), self.end.receiver());
        assert!(segment.len <= self.config.mss && segment.flags.has(Flags::ACK));
        assert!(segment.ack == receiver.nxt() && segment.end() <= sender.max());
        let edge = segment.ack + receiver.window();
        for block in segment.options.sack.as_slice() {
            assert!(segment.ack < block.start && block.start < block.end && block.end <= edge);
        }
    }

    fn hold(&self) {
        let (sender, receiver) = (self.end.sender(), self.end.receiver());
        let smss = sender.window().smss;
        assert!(sender.una() <= sender.max());
        assert!(u64::from(sender.flight()) <= self.written + 1);
        assert!(sender.window().cwnd.is_finite() && sender.window().cwnd >= smss);
        assert!(sender.scoreboard_runs() <= MOST_SMALL_RUNS + (f64::from(sender.flight()) / smss) as usize);
        assert!(receiver.held_runs() <= MOST_SMALL_RUNS + WINDOW as usize / 40);
        assert!(receiver.unread() <= WINDOW + 8);
        assert_eq!(receiver.delivered(), self.read + u64::from(receiver.unread()));
        assert!(receiver.delivered() <= self.arrived);
    }
}

const ADDRESSES: Addresses = Addresses {
    source: Ipv4Addr::new(192, 0, 2, 1),
    destination: Ipv4Addr::new(192, 0, 2, 2),
    source_port: 40_000,
    destination_port: 80,
    ttl: 64,
    ident: 0,
};
