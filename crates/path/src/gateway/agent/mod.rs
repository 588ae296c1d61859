//! Agents: gateways that keep what passes them, and may swallow it, send it again and answer it.

mod board;
mod cache;
mod desk;
mod line;
mod repair;
mod room;
mod rtt;
mod segment;
mod snoop;
mod spoof;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use bentpipe_units::Time;
use rustc_hash::FxBuildHasher;
use slab::Slab;

use super::{FlowKey, GatewayStats, Header};

pub use room::Room;
pub use segment::{Answer, Emission, Seen, Verdict};
pub use snoop::SnoopOptions;
pub use spoof::SpoofOptions;

use desk::Desk;
use room::Own;
use snoop::Snoop;
use spoof::Spoof;

/// An agent beside one direction of a link: a [`Gateway`](super::Gateway) whose contract is wider.
///
/// `forward` and `backward` see what it sees. Beyond that it names the time at which it wants to be called next, and gives then,
/// one by one, the packets that it sends. It reads no clock and draws no random number; the times passed in never go back.
#[derive(Clone, Debug)]
pub struct Agent {
    rules: Rules,
    max_flows: usize,
    index: HashMap<FlowKey, u32, FxBuildHasher>,
    slots: Slab<Slot>,
    timers: BinaryHeap<Reverse<(Time, u32)>>,
    /// Flows with packets that wait for room before the link, in the order of their turns.
    ready: VecDeque<u32>,
    /// When they are looked at again.
    ready_at: Time,
    /// Its packets that wait before the link.
    own: Own,
    desk: Desk,
    now: Time,
}

/// The scheme and its options.
#[derive(Clone, Debug)]
enum Rules {
    Snoop(SnoopOptions),
    Spoof(SpoofOptions),
}

#[derive(Clone, Debug)]
struct Slot {
    key: FlowKey,
    flow: Flow,
    /// When its event is due: its timer's time, or earlier.
    armed: Time,
    /// Whether it is among those that wait for room.
    ready: bool,
    /// Of each side: the sequence number of its SYN, and whether its FIN was seen.
    syn: [Option<u32>; 2],
    fin: [bool; 2],
}

/// What an agent knows of one flow.
#[derive(Clone, Debug)]
enum Flow {
    Snoop(Snoop),
    Spoof(Spoof),
}

impl SnoopOptions {
    /// An agent that has seen nothing.
    pub(crate) fn agent(&self) -> Agent {
        Agent::new(Rules::Snoop(*self), self.max_flows, 1.0)
    }
}

impl SpoofOptions {
    /// An agent that has seen nothing.
    pub(crate) fn agent(&self) -> Agent {
        Agent::new(Rules::Spoof(*self), self.max_flows, self.queue_share)
    }
}

impl Agent {
    fn new(rules: Rules, max_flows: u32, queue_share: f64) -> Agent {
        Agent {
            rules,
            max_flows: max_flows as usize,
            index: HashMap::default(),
            slots: Slab::new(),
            timers: BinaryHeap::new(),
            ready: VecDeque::new(),
            ready_at: Time::NEVER,
            own: Own::new(queue_share),
            desk: Desk::default(),
            now: Time::ZERO,
        }
    }

    /// A segment is about to enter the guarded link.
    pub fn forward(&mut self, now: Time, seen: &Seen, room: &Room) -> Verdict {
        self.desk.tally.segments_forward += 1;
        // Who waits is served first.
        let free = self.ready.is_empty() && self.own.has_room(now, seen.bytes, room);
        let verdict = self.meet(now, seen, seen.header.flow, 0, |flow, desk| match flow {
            Flow::Snoop(flow) => flow.forward(now, seen, desk),
            Flow::Spoof(flow) => flow.forward(now, seen, free, desk),
        });
        if let (Rules::Spoof(_), Verdict::Keep(_)) = (&self.rules, verdict) {
            self.own.enters(now, seen.bytes, room);
        }
        verdict
    }

    /// A segment that came the other way.
    pub fn backward(&mut self, now: Time, seen: &Seen) -> Verdict {
        self.desk.tally.segments_backward += 1;
        self.meet(now, seen, seen.header.flow.reversed(), 1, |flow, desk| match flow {
            Flow::Snoop(flow) => flow.backward(now, seen, desk),
            Flow::Spoof(flow) => flow.backward(now, seen, desk),
        })
    }

    fn meet(
        &mut self,
        now: Time,
        seen: &Seen,
        key: FlowKey,
        side: usize,
        with: impl FnOnce(&mut Flow, &mut Desk) -> Verdict,
    ) -> Verdict {
        self.now = now;
        let Header { syn, ack, fin, rst, payload, .. } = seen.header;
        let mut known = self.index.get(&key).copied();
        // Another SYN than the one that is known makes a flow new: ports are used again.
        let anew = |at: u32| syn && !ack && self.slots[at as usize].syn[side] != Some(seen.seq);
        if let Some(at) = known.filter(|at| rst || anew(*at)) {
            let flow = &self.slots[at as usize].flow;
            let verdict = match flow {
                Flow::Spoof(flow) if rst && side == 0 => flow.within_reach(seen),
                _ => Verdict::Pass,
            };
            self.forget(at);
            known = None;
            if rst {
                return verdict;
            }
        }
        let makes = !rst && (syn || (side == 0 && payload > 0));
        let Some(at) = known.or_else(|| makes.then(|| self.add(key)).flatten()) else { return Verdict::Pass };
        let slot = &mut self.slots[at as usize];
        slot.fin[side] |= fin;
        if syn {
            slot.syn[side] = Some(seen.seq);
        }
        let verdict = with(&mut slot.flow, &mut self.desk);
        if slot.fin == [true; 2] && slot.flow.holds_nothing() {
            self.forget(at);
        } else {
            self.arm(at);
        }
        verdict
    }

    /// When [`Agent::poll`] wants to be called; `Time::NEVER` when nothing is due.
    pub fn next_time(&self) -> Time {
        let out = if self.desk.out.is_empty() { Time::NEVER } else { self.now };
        let timer = self.timers.peek().map_or(Time::NEVER, |Reverse((at, _))| *at);
        out.min(timer).min(self.ready_at)
    }

    /// A packet that is due by `now`. To be called until it gives none, and with the room as it is each time.
    pub fn poll(&mut self, now: Time, room: &Room) -> Option<Emission> {
        self.now = now;
        if let Some(emission) = self.desk.out.pop_front() {
            return Some(emission);
        }
        while let Some(Reverse((at, number))) = self.timers.peek().copied().filter(|next| next.0.0 <= now) {
            self.timers.pop();
            let slot = self.slots.get_mut(number as usize);
            if let Some(slot) = slot.filter(|slot| slot.armed == at) {
                slot.armed = Time::NEVER;
                match &mut slot.flow {
                    Flow::Snoop(flow) => flow.on_timer(now, &mut self.desk),
                    Flow::Spoof(flow) => flow.on_timer(now, &mut self.desk),
                }
                self.arm(number);
            }
        }
        self.desk.out.pop_front().or_else(|| self.poll_ready(now, room))
    }

    /// The next packet that waits for room before the link, each flow in its turn.
    fn poll_ready(&mut self, now: Time, room: &Room) -> Option<Emission> {
        if self.ready_at > now {
            return None;
        }
        self.ready_at = Time::NEVER;
        while let Some(number) = self.ready.pop_front() {
            let slot = &mut self.slots[number as usize];
            slot.ready = false;
            let Flow::Spoof(flow) = &mut slot.flow else { continue };
            let Some(bytes) = flow.waiting() else { continue };
            if !self.own.has_room(now, bytes, room) {
                // So much time makes room for a packet.
                slot.ready = true;
                self.ready.push_front(number);
                self.ready_at = now + room.rate.time_to_send(bytes.into());
                return None;
            }
            let place = flow.send(now, &mut self.desk);
            let stamp = flow.newest_stamp();
            self.own.enters(now, bytes, room);
            if !self.ready.is_empty() {
                self.ready_at = now;
            }
            self.arm(number);
            return Some(Emission::Copy(place, stamp));
        }
        None
    }

    /// What happened up to now.
    pub fn stats(&self) -> GatewayStats {
        let ahead = self.slots.iter().map(|(_, slot)| match &slot.flow {
            Flow::Spoof(flow) => flow.ahead(),
            Flow::Snoop(_) => 0,
        });
        GatewayStats {
            flows: self.index.len() as u32,
            flows_remembered: self.index.len() as u32,
            acknowledged_ahead_bytes: self.desk.tally.acknowledged_ahead_bytes + ahead.sum::<u64>(),
            ..self.desk.tally
        }
    }

    fn add(&mut self, key: FlowKey) -> Option<u32> {
        if self.index.len() >= self.max_flows {
            return None;
        }
        let flow = match &self.rules {
            Rules::Snoop(options) => Flow::Snoop(Snoop::new(options)),
            Rules::Spoof(options) => Flow::Spoof(Spoof::new(options)),
        };
        let slot = Slot { key, flow, armed: Time::NEVER, ready: false, syn: [None; 2], fin: [false; 2] };
        let at = self.slots.insert(slot) as u32;
        self.index.insert(key, at);
        self.desk.tally.flows_max = self.desk.tally.flows_max.max(self.index.len() as u32);
        Some(at)
    }

    /// Forgets a flow. What was acknowledged in the receiver's name and not by it is lost.
    fn forget(&mut self, at: u32) {
        let slot = self.slots.remove(at as usize);
        self.index.remove(&slot.key);
        match slot.flow {
            Flow::Snoop(mut flow) => flow.clear(&mut self.desk),
            Flow::Spoof(mut flow) => flow.clear(&mut self.desk),
        }
        self.ready.retain(|number| *number != at);
    }

    /// Sees to the flow's event, and to its turn before the link.
    fn arm(&mut self, at: u32) {
        let slot = &mut self.slots[at as usize];
        let (due, sends) = match &slot.flow {
            Flow::Snoop(flow) => (flow.due(), false),
            Flow::Spoof(flow) => (flow.due(), flow.waiting().is_some()),
        };
        if due < slot.armed {
            slot.armed = due;
            self.timers.push(Reverse((due, at)));
        }
        if sends && !slot.ready {
            slot.ready = true;
            self.ready.push_back(at);
            self.ready_at = self.ready_at.min(self.now);
        }
    }
}

impl Flow {
    fn holds_nothing(&self) -> bool {
        match self {
            Flow::Snoop(flow) => flow.holds_nothing(),
            Flow::Spoof(flow) => flow.holds_nothing(),
        }
    }
}

#[cfg(test)]
mod tests;
