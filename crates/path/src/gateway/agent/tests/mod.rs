//! Agents by themselves: a driver that keeps copies as the network does, without links.

mod snoop;
mod spoof;

use std::collections::HashMap;

use bentpipe_units::Rate;

use super::*;

const MOST: (u32, u64) = (1000, u64::MAX);
const LINK: Room = Room { rate: Rate::from_bps(8_000_000), waiting: (0, 0), most: MOST, calm: MOST };
const FLOW: FlowKey = FlowKey { source: 1, destination: 2, source_port: 50_000, destination_port: 80 };
/// Sequence numbers of the two SYNs: those of the data wrap.
const ISS: u32 = u32::MAX - 1500;
const PEER: u32 = 7000;

/// What came out of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Out {
    /// Data goes onto the link: its first byte, counted from 0, and its length.
    Data(u32, u32),
    /// An acknowledgment goes to the sender: up to this byte, with this window field.
    Ack(u32, u16),
}
use Out::{Ack, Data};

/// An agent, its copies, and the time in milliseconds.
struct Driver {
    agent: Agent,
    link: Room,
    copies: HashMap<u32, Seen>,
    now: Time,
}

fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

fn segment(flow: FlowKey, seq: u32, payload: u32) -> Seen {
    let header = Header {
        flow,
        ttl: 60,
        syn: false,
        ack: true,
        fin: false,
        rst: false,
        payload,
        packet: 40 + payload,
        window: 50_000,
        window_scale: None,
        mss: None,
        signed: false,
    };
    Seen {
        header,
        seq,
        ack: 0,
        sack: [(0, 0); 4],
        ece: false,
        sack_permitted: false,
        stamp: None,
        echo: None,
        bytes: 40 + payload,
    }
}

/// So many bytes from byte `from` on.
fn data(from: u32, payload: u32) -> Seen {
    Seen { ack: PEER + 1, ..segment(FLOW, ISS.wrapping_add(1).wrapping_add(from), payload) }
}

/// The receiver has got all before byte `upto`.
fn ack(upto: u32) -> Seen {
    Seen { ack: ISS.wrapping_add(1).wrapping_add(upto), ..segment(FLOW.reversed(), PEER + 1, 0) }
}

impl Driver {
    /// An agent that has seen both SYNs, at 0 and 100 ms.
    fn open(spec: &crate::gateway::GatewaySpec) -> Driver {
        Driver::offers(spec, false, None)
    }

    /// The same, with these options in both SYNs.
    fn offers(spec: &crate::gateway::GatewaySpec, sack_permitted: bool, stamp: Option<u32>) -> Driver {
        Driver::greeted(spec, sack_permitted, stamp, 50_000)
    }

    /// The same, with this window in the receiver's.
    fn greeted(
        spec: &crate::gateway::GatewaySpec,
        sack_permitted: bool,
        stamp: Option<u32>,
        window: u16,
    ) -> Driver {
        let mut driver = Driver::new(spec);
        let mut syn = Seen { sack_permitted, stamp, ..segment(FLOW, ISS, 0) };
        (syn.header.syn, syn.header.ack) = (true, false);
        assert_eq!(driver.agent.forward(at(0), &syn, &LINK), Verdict::Pass);
        let answer = Seen { ack: ISS.wrapping_add(1), ..segment(FLOW.reversed(), PEER, 0) };
        let mut answer = Seen { sack_permitted, stamp, ..answer };
        (answer.header.syn, answer.header.window) = (true, window);
        let verdict = driver.agent.backward(at(100), &answer);
        driver.obey(verdict, &answer);
        driver.now = at(100);
        driver
    }

    fn new(spec: &crate::gateway::GatewaySpec) -> Driver {
        assert_eq!(spec.validate(), Ok(()));
        Driver { agent: spec.agent().unwrap(), link: LINK, copies: HashMap::new(), now: at(0) }
    }

    fn obey(&mut self, verdict: Verdict, seen: &Seen) -> bool {
        if let Verdict::Keep(place) | Verdict::KeepLowered(place, _) | Verdict::Hold(place) = verdict {
            self.copies.insert(place, *seen);
        }
        !matches!(verdict, Verdict::Hold(_) | Verdict::Swallow)
    }

    /// Data comes from the sender; what comes out at that time.
    fn data(&mut self, ms: u64, seen: &Seen) -> Vec<Out> {
        let mut out = self.until(ms);
        let verdict = self.agent.forward(at(ms), seen, &self.link);
        if self.obey(verdict, seen) {
            out.push(place(seen));
        }
        out.extend(self.until(ms));
        out
    }

    /// An acknowledgment comes from the receiver; what comes out at that time.
    fn ack(&mut self, ms: u64, seen: &Seen) -> Vec<Out> {
        let mut out = self.until(ms);
        let verdict = self.agent.backward(at(ms), seen);
        let window = if let Verdict::Lower(window) = verdict { window } else { seen.header.window };
        if self.obey(verdict, seen) {
            out.push(Ack(seen.ack.wrapping_sub(ISS.wrapping_add(1)), window));
        }
        out.extend(self.until(ms));
        out
    }

    /// What the agent sends until a time.
    fn until(&mut self, ms: u64) -> Vec<Out> {
        let mut out = Vec::new();
        while self.agent.next_time() <= at(ms) {
            self.now = self.now.max(self.agent.next_time());
            out.extend(match self.agent.poll(self.now, &self.link) {
                Some(Emission::Copy(copy, _)) => Some(place(&self.copies[&copy])),
                Some(Emission::Answer(copy, answer)) => {
                    assert_eq!(self.copies[&copy].header.flow, FLOW.reversed());
                    assert_eq!(answer.seq, PEER + 1);
                    Some(Ack(answer.ack.wrapping_sub(ISS.wrapping_add(1)), answer.window))
                }
                None => None,
            });
        }
        self.now = at(ms);
        out
    }
}

/// The same acknowledgment, with blocks from byte to byte.
fn sacked(upto: u32, blocks: &[(u32, u32)]) -> Seen {
    let seq = |from: u32| ISS.wrapping_add(1).wrapping_add(from);
    let mut seen = ack(upto);
    for (to, (start, end)) in seen.sack.iter_mut().zip(blocks) {
        *to = (seq(*start), seq(*end));
    }
    seen
}

fn place(seen: &Seen) -> Out {
    Data(seen.seq.wrapping_sub(ISS.wrapping_add(1)), seen.header.payload)
}
