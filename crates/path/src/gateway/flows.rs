//! The flows that a gateway remembers: bounded, every operation O(1), and with the sums that the schemes need.

use std::collections::HashMap;

use bentpipe_units::{Span, Time};
use rustc_hash::FxBuildHasher;
use slab::Slab;

use super::FlowKey;
use super::flow::Flow;

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Slot {
    key: FlowKey,
    flow: Flow,
    /// Nanoseconds, as counted in the sums.
    rtt: Option<u64>,
    last: Time,
    active: bool,
    older: u32,
    newer: u32,
}

/// A list through the slots, from the least to the most recently seen.
#[derive(Clone, Copy, Debug)]
struct List {
    oldest: u32,
    newest: u32,
}

const EMPTY: List = List { oldest: NONE, newest: NONE };

/// Flows by key, in two lists: those with recent data in order of their last data, and the rest in order of being seen.
#[derive(Clone, Debug)]
pub(super) struct FlowTable {
    index: HashMap<FlowKey, u32, FxBuildHasher>,
    slots: Slab<Slot>,
    active: List,
    idle: List,
    max: usize,
    active_flows: u32,
    known: u32,
    rtt_sum: u128,
    /// Of the sums; kept, because every packet asks for it and few change them.
    mean_rtt: Option<f64>,
    evicted: u64,
    /// Operations on the lists, and flows visited: what a packet costs.
    #[cfg(test)]
    pub(super) steps: u64,
}

impl FlowTable {
    pub(super) fn new(max: u32) -> FlowTable {
        FlowTable {
            index: HashMap::default(),
            slots: Slab::new(),
            active: EMPTY,
            idle: EMPTY,
            max: max as usize,
            active_flows: 0,
            known: 0,
            rtt_sum: 0,
            mean_rtt: None,
            evicted: 0,
            #[cfg(test)]
            steps: 0,
        }
    }

    /// Flows remembered.
    pub(super) fn len(&self) -> u32 {
        self.index.len() as u32
    }

    /// Flows with recent data.
    pub(super) fn active_flows(&self) -> u32 {
        self.active_flows
    }

    /// Flows forgotten for want of room.
    pub(super) fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Mean round-trip time in nanoseconds of the active flows whose time is known.
    pub(super) fn mean_rtt(&self) -> Option<f64> {
        self.mean_rtt
    }

    fn sums_changed(&mut self) {
        self.mean_rtt = (self.known > 0).then(|| self.rtt_sum as f64 / f64::from(self.known));
    }

    pub(super) fn find(&self, key: &FlowKey) -> Option<u32> {
        self.index.get(key).copied()
    }

    pub(super) fn flow(&self, at: u32) -> &Flow {
        &self.slots[at as usize].flow
    }

    pub(super) fn flow_mut(&mut self, at: u32) -> &mut Flow {
        &mut self.slots[at as usize].flow
    }

    /// Round-trip time in nanoseconds that the flow counts with.
    pub(super) fn rtt(&self, at: u32) -> Option<u64> {
        self.slots[at as usize].rtt
    }

    /// Room for a flow that is not there, idle for now; the flow longest without data makes way, those without recent
    /// data first.
    pub(super) fn insert(&mut self, key: FlowKey) -> u32 {
        if self.index.len() >= self.max {
            let oldest = if self.idle.oldest == NONE { self.active.oldest } else { self.idle.oldest };
            self.remove(oldest);
            self.evicted += 1;
        }
        let slot = Slot {
            key,
            flow: Flow::default(),
            rtt: None,
            last: Time::ZERO,
            active: false,
            older: NONE,
            newer: NONE,
        };
        let at = self.slots.insert(slot) as u32;
        self.index.insert(key, at);
        self.link(at);
        at
    }

    pub(super) fn remove(&mut self, at: u32) {
        self.count(at, false);
        self.unlink(at);
        self.index.remove(&self.slots.remove(at as usize).key);
    }

    /// The flow sent data, at `last`; packets leave a queue in the order in which they came.
    pub(super) fn activate(&mut self, at: u32, last: Time) {
        let last = match self.slots.get(self.active.newest as usize) {
            Some(newest) => last.max(newest.last),
            None => last,
        };
        self.unlink(at);
        if !self.slots[at as usize].active {
            self.slots[at as usize].active = true;
            self.flow_mut(at).begin_interval(true);
            self.count(at, true);
        }
        self.slots[at as usize].last = last;
        self.link(at);
    }

    /// The flow was seen, without data: if it is idle, it is the last to go.
    pub(super) fn seen(&mut self, at: u32) {
        if !self.slots[at as usize].active {
            self.unlink(at);
            self.link(at);
        }
    }

    /// Every flow without data for `delta` or longer is idle from now on.
    #[inline]
    pub(super) fn expire(&mut self, now: Time, delta: Span) {
        while let Some(oldest) = self.slots.get(self.active.oldest as usize)
            && now.since(oldest.last) >= delta
        {
            self.expire_oldest();
        }
    }

    #[inline(never)]
    fn expire_oldest(&mut self) {
        let at = self.active.oldest;
        self.count(at, false);
        self.unlink(at);
        self.slots[at as usize].active = false;
        self.link(at);
    }

    pub(super) fn set_rtt(&mut self, at: u32, rtt: Option<u64>) {
        let slot = &mut self.slots[at as usize];
        if slot.rtt == rtt {
            return;
        }
        let old = std::mem::replace(&mut slot.rtt, rtt);
        if slot.active {
            self.known -= u32::from(old.is_some());
            self.rtt_sum -= u128::from(old.unwrap_or(0));
            self.known += u32::from(rtt.is_some());
            self.rtt_sum += u128::from(rtt.unwrap_or(0));
            self.sums_changed();
        }
    }

    /// Calls `visit` with each active flow and its round-trip time, the one longest without data first.
    pub(super) fn each_active(&mut self, mut visit: impl FnMut(&mut Flow, Option<u64>)) {
        let mut at = self.active.oldest;
        while let Some(slot) = self.slots.get_mut(at as usize) {
            visit(&mut slot.flow, slot.rtt);
            at = slot.newer;
            self.step();
        }
    }

    /// Takes an active flow into the sums, or out of them.
    fn count(&mut self, at: u32, enters: bool) {
        let slot = &self.slots[at as usize];
        if !slot.active {
            return;
        }
        let (known, rtt) = (u32::from(slot.rtt.is_some()), u128::from(slot.rtt.unwrap_or(0)));
        if enters {
            self.active_flows += 1;
            self.known += known;
            self.rtt_sum += rtt;
        } else {
            self.active_flows -= 1;
            self.known -= known;
            self.rtt_sum -= rtt;
        }
        self.sums_changed();
    }

    fn list(&mut self, active: bool) -> &mut List {
        if active { &mut self.active } else { &mut self.idle }
    }

    /// Puts the slot at the new end of the list that it belongs to.
    fn link(&mut self, at: u32) {
        let active = self.slots[at as usize].active;
        let list = self.list(active);
        let older = std::mem::replace(&mut list.newest, at);
        if older == NONE {
            list.oldest = at;
        } else {
            self.slots[older as usize].newer = at;
        }
        let slot = &mut self.slots[at as usize];
        slot.older = older;
        slot.newer = NONE;
        self.step();
    }

    fn unlink(&mut self, at: u32) {
        let Slot { active, older, newer, .. } = self.slots[at as usize];
        match older {
            NONE => self.list(active).oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
        match newer {
            NONE => self.list(active).newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        self.step();
    }

    #[cfg(test)]
    fn step(&mut self) {
        self.steps += 1;
    }

    #[cfg(not(test))]
    fn step(&mut self) {}
}
