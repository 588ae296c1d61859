//! Arbitrary segments in every state, mixed with time and with what the application does.
//!
//! The peer is made up of numbers; the endpoint is held to what must be true of it whatever they are. The fuzz target
//! `endpoint` does the same with libFuzzer's bytes.

use std::net::Ipv4Addr;
use std::ops::Range;

use bentpipe_tcp::wire::{self, Addresses, Payload};
use bentpipe_tcp::{
    CongestionHeader, Ecn, Flags, MOST_SMALL_RUNS, Options, Profile, ReceiveBuffer, SackBlock, SackBlocks,
    Segment, Seq, State, Timestamps,
};
use bentpipe_units::{Span, Time};
use proptest::prelude::*;

use super::*;
use crate::harness::{CONTROLS, RECOVERIES, control, recovery};

const OUR_ISS: Seq = Seq(u32::MAX - 2000);
const WINDOW: u32 = 20_000;

/// What happens to the endpoint.
#[derive(Clone, Debug)]
enum Event {
    /// A segment with its numbers counted from what the endpoint expects.
    Near {
        seq: i32,
        ack: i32,
        segment: Segment,
        blocks: Vec<(i32, u32)>,
        broken: Option<(usize, u8)>,
    },
    Time(u64),
    /// To the endpoint's own next timer.
    Timer,
    Write(u64),
    Read(u32),
    Close {
        discard: bool,
    },
}

/// How the connection begins.
#[derive(Clone, Copy, Debug)]
enum Start {
    Nothing,
    Listen,
    Connect,
    /// Open, by either end.
    Open {
        passive: bool,
    },
}

fn offset(window: i32) -> impl Strategy<Value = i32> {
    prop_oneof![
        8 => Just(0),
        6 => -3000..3000,
        3 => prop::sample::select(vec![-1, 1, window - 1, window, window + 1, i32::MAX, i32::MIN, -window]),
        1 => any::<i32>(),
    ]
}

fn flags() -> impl Strategy<Value = Flags> {
    let usual = [
        Flags::ACK,
        Flags::ACK | Flags::PSH,
        Flags::ACK | Flags::FIN,
        Flags::SYN,
        Flags::SYN | Flags::ACK,
        Flags::ACK | Flags::URG,
        Flags::ACK | Flags::ECE | Flags::CWR,
    ];
    prop_oneof![
        20 => prop::sample::select(usual.to_vec()),
        20 => Just(Flags::ACK),
        1 => Just(Flags::RST),
        2 => (0..0x200_u16).prop_map(Flags),
    ]
}

fn options() -> impl Strategy<Value = Options> {
    let stamps = (any::<u32>(), prop_oneof![0_u32..10_000, any::<u32>()]);
    let stamps = prop_oneof![
        3 => Just(None),
        3 => (0_u32..10_000, 0_u32..10_000).prop_map(Some),
        1 => stamps.prop_map(Some)
    ];
    let shift = prop::option::of(0_u8..=14);
    (prop::option::of(any::<u16>()), shift, any::<bool>(), stamps).prop_map(
        |(mss, window_scale, sack_permitted, stamps)| Options {
            mss,
            window_scale,
            sack_permitted,
            timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
            sack: SackBlocks::NONE,
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let len = prop_oneof![3 => Just(0_u32), 3 => 1_u32..1500, 1 => 0_u32..=60_000];
    let field = prop_oneof![2 => Just(0_u16), 2 => 1_u16..3000, 3 => any::<u16>()];
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]);
    let segment = (len, field, flags(), ecn, options()).prop_map(|(len, window, flags, ecn, options)| {
        Segment { len, window, flags, ecn, options, ..Segment::default() }
    });
    let blocks = prop::collection::vec((offset(WINDOW as i32), 0_u32..4000), 0..4);
    let broken = prop::option::weighted(0.05, (0_usize..80, 1_u8..));
    let near = (offset(WINDOW as i32), offset(3000), segment, blocks, broken);
    prop_oneof![
        30 => near.prop_map(|(seq, ack, segment, blocks, broken)| Event::Near { seq, ack, segment, blocks, broken }),
        4 => (0_u64..3000).prop_map(Event::Time),
        1 => any::<u32>().prop_map(|ms| Event::Time(u64::from(ms))),
        4 => Just(Event::Timer),
        4 => (1_u64..30_000).prop_map(Event::Write),
        4 => (0_u32..30_000).prop_map(Event::Read),
        1 => any::<bool>().prop_map(|discard| Event::Close { discard }),
    ]
}

fn configs() -> impl Strategy<Value = Config> {
    let kinds = (
        prop::sample::select(RECOVERIES.to_vec()),
        prop::sample::select(CONTROLS.to_vec()),
        prop::sample::select(Profile::ALL.to_vec()),
    );
    (kinds, any::<[bool; 3]>(), 100_u32..1460).prop_map(|((recovering, controlled, profile), on, mss)| {
        let base = profile.config(recovery(recovering), control(controlled));
        Config {
            mss,
            receive_window: WINDOW,
            // As large as a field without a shift can say: what it says is not rounded.
            receive_buffer: base.receive_buffer.map(|_| ReceiveBuffer {
                initial: 16_384,
                max: 65_535,
                ..ReceiveBuffer::LINUX
            }),
            timestamps: on[0],
            ecn: on[1],
            sack: on[2] || recovering == "sack",
            ..base
        }
    })
}

fn starts() -> impl Strategy<Value = Start> {
    prop_oneof![
        1 => Just(Start::Nothing),
        2 => Just(Start::Listen),
        2 => Just(Start::Connect),
        6 => any::<bool>().prop_map(|passive| Start::Open { passive }),
    ]
}

/// An endpoint, and what its peer has really sent.
struct Attacked {
    end: Endpoint,
    now: Time,
    config: Config,
    /// Edge of the highest byte of data that ever arrived, and how much arrived in all.
    arrived: u64,
    with_syn: bool,
    read: u64,
    written: u64,
    emitted: u64,
    acknowledged: Option<Seq>,
}

impl Attacked {
    fn new(config: Config, start: Start) -> Attacked {
        let end = Endpoint::new(config.clone(), OUR_ISS);
        let (now, acknowledged) = (Time::ZERO, None);
        let mut attacked = Attacked {
            end,
            now,
            config,
            arrived: 0,
            with_syn: false,
            read: 0,
            written: 0,
            emitted: 0,
            acknowledged,
        };
        attacked.begin(start);
        attacked
    }

    fn begin(&mut self, start: Start) {
        let Start::Open { passive } = start else {
            match start {
                Start::Listen => self.end.listen(),
                Start::Connect => self.end.connect(),
                _ => {}
            }
            return self.poll();
        };
        let options = Options {
            mss: Some(1000),
            window_scale: Some(3),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 1, echo: 0 }),
            sack: SackBlocks::NONE,
        };
        let flags = if passive { Flags::SYN } else { Flags::SYN | Flags::ACK };
        let syn = Segment { seq: Seq(u32::MAX - 500), window: 9000, flags, options, ..Segment::default() };
        if passive {
            self.end.listen();
        } else {
            self.end.connect();
            self.poll();
        }
        self.arrive(Segment { ack: OUR_ISS + 1, ..syn });
        if passive {
            let options = Options { timestamps: options.timestamps, ..Options::default() };
            let (seq, ack) = (syn.seq + 1, OUR_ISS + 1);
            self.arrive(Segment { seq, ack, flags: Flags::ACK, options, ..syn });
        }
        assert_eq!(self.end.state(), State::Established);
    }

    fn happen(&mut self, event: &Event) {
        match event {
            Event::Near { seq, ack, segment, blocks, broken } => {
                let mut segment = *segment;
                segment.seq = self.end.receiver().nxt() + *seq as u32;
                segment.ack = self.end.sender().una() + *ack as u32;
                for (start, len) in blocks {
                    let start = self.end.sender().una() + *start as u32;
                    segment.options.sack.push(SackBlock { start, end: start + *len });
                }
                self.on_wire(&segment, *broken);
            }
            Event::Time(ms) => self.pass(self.now + Span::from_millis(*ms)),
            Event::Timer if self.end.next_timeout() != Time::NEVER => self.pass(self.end.next_timeout()),
            Event::Timer => {}
            Event::Write(bytes) => {
                self.written += bytes;
                self.end.write(*bytes);
            }
            Event::Read(most) => self.read += u64::from(self.end.read(*most)),
            Event::Close { discard } => self.end.close(*discard),
        }
        self.poll();
        self.hold();
    }

    /// Hands a segment over as it is when no packet can carry it, else by way of its bytes; `broken` changes one of them.
    fn on_wire(&mut self, segment: &Segment, broken: Option<(usize, u8)>) {
        let mut bytes = Vec::new();
        if wire::encode(segment, &ADDRESSES, Payload::Zeros, &mut bytes).is_err() {
            return self.arrive(*segment);
        }
        if let Some((at, change)) = broken {
            let at = at % bytes.len();
            bytes[at] ^= change;
            assert!(wire::decode(&bytes).is_err(), "one byte changed and no checksum tells");
            return;
        }
        let packet = wire::decode(&bytes).expect("what was encoded is a packet");
        // A congestion header is not written.
        let flags = Flags(segment.flags.0 & !Flags::CONGESTION.0);
        assert_eq!(packet.segment, Segment { flags, congestion: CongestionHeader::default(), ..*segment });
        self.arrive(packet.segment);
    }

    fn arrive(&mut self, segment: Segment) {
        self.arrived += u64::from(segment.len);
        let before = (self.end.state(), self.end.receiver().nxt(), self.end.receiver().window());
        let delivered = self.end.receiver().delivered();
        self.end.on_segment(self.now, &segment);
        let gained = self.end.receiver().delivered().saturating_sub(delivered);
        let (state, nxt, window) = before;
        // What came with a SYN is delivered once the connection is open.
        self.with_syn |= state == State::SynSent && segment.flags.has(Flags::SYN) && segment.len > 0;
        let opens = self.with_syn && matches!(state, State::SynSent | State::SynReceived);
        if gained > 0 && !opens {
            let takes =
                [State::SynReceived, State::Established, State::FinWait1, State::FinWait2].contains(&state);
            assert!(takes, "{gained} bytes delivered in {state:?}");
            assert!(segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::SYN | Flags::RST));
            assert!(segment.seq <= nxt && segment.end() > nxt, "{segment:?} where {nxt:?} is next");
            assert!(gained <= u64::from(window), "{gained} bytes into a window of {window}");
        }
        self.poll();
    }

    fn pass(&mut self, until: Time) {
        for _ in 0..300 {
            let next = self.end.next_timeout();
            if next > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(next);
            self.end.on_timeout(self.now);
            assert!(self.end.next_timeout() > self.now, "a timer that is due at once, for ever");
            self.poll();
        }
        self.now = self.now.max(until.min(self.end.next_timeout()));
    }

    fn poll(&mut self) {
        for _ in 0..5000 {
            let Some(transmit) = self.end.poll_transmit(self.now) else { return };
            self.emitted += 1;
            self.check_sent(&transmit.segment);
        }
        panic!("segments without end in {:?}", self.end.state());
    }

    fn check_sent(&mut self, segment: &Segment) {
        let mut bytes = Vec::new();
        wire::encode(segment, &ADDRESSES, Payload::Zeros, &mut bytes).expect("what goes out fits a packet");
        let packet = wire::decode(&bytes).expect("what goes out is a packet");
        // A congestion header stands before TCP's, and not on the wire of a kernel.
        let flags = Flags(segment.flags.0 & !Flags::CONGESTION.0);
        assert_eq!(packet.segment, Segment { flags, congestion: CongestionHeader::default(), ..*segment });
        if segment.flags.has(Flags::RST) {
            return;
        }
        assert!(segment.len <= self.config.mss);
        // Linux's probe of a closed window lies below it, and is empty.
        let syn = segment.flags.has(Flags::SYN);
        assert!(
            if syn { segment.seq == OUR_ISS } else { segment.seq != OUR_ISS || segment.sequence_len() == 0 },
            "{segment:?}"
        );
        if segment.flags.has(Flags::SYN) {
            self.acknowledged = None;
            return;
        }
        let (sender, receiver) = (self.end.sender(), self.end.receiver());
        assert!(segment.flags.has(Flags::ACK), "{segment:?}");
        assert_eq!(segment.ack, receiver.nxt());
        assert!(self.acknowledged.is_none_or(|before| before <= segment.ack), "the ACK moved left");
        self.acknowledged = Some(segment.ack);
        assert!(segment.end() <= sender.max(), "{segment:?} ends beyond what was ever sent");
        let edge = segment.ack + receiver.window();
        for (index, block) in segment.options.sack.as_slice().iter().enumerate() {
            // What came twice may lie anywhere below (RFC 2883), half the sequence space away too.
            let twice = index == 0 && self.config.duplicate_sack;
            let ahead = segment.ack < block.start && block.end <= edge;
            let sound = block.start < block.end && (ahead || twice);
            assert!(sound, "{block:?} with an ACK of {:?} and an edge of {edge:?}", segment.ack);
        }
    }

    fn hold(&self) {
        let (sender, receiver) = (self.end.sender(), self.end.receiver());
        let smss = sender.window().smss;
        assert!(sender.una() <= sender.max());
        assert!(u64::from(sender.flight()) <= self.written + 1);
        assert!(sender.window().cwnd.is_finite() && sender.window().cwnd >= smss, "{:?}", sender.window());
        let scoreboard = MOST_SMALL_RUNS + (f64::from(sender.flight()) / smss) as usize;
        assert!(sender.scoreboard_runs() <= scoreboard);
        assert!(receiver.held_runs() <= MOST_SMALL_RUNS + WINDOW as usize / 40);
        assert!(receiver.unread() <= WINDOW + 8, "{} bytes in a buffer of {WINDOW}", receiver.unread());
        assert_eq!(receiver.delivered(), self.read + u64::from(receiver.unread()));
        assert!(receiver.delivered() <= self.arrived);
        if self.end.state() == State::Closed {
            assert_eq!(self.end.next_timeout(), Time::NEVER);
        }
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

const EVENTS: Range<usize> = 1..120;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_arrives_breaks_an_endpoint(
        config in configs(), start in starts(), events in prop::collection::vec(event(), EVENTS)
    ) {
        let mut attacked = Attacked::new(config, start);
        for event in &events {
            attacked.happen(event);
        }
    }
}
