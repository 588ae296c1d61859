//! Handovers in the event loop: flows whose new packets take another way from a time on.

use std::collections::HashMap;
use std::mem;

use bentpipe_units::{Span, Time};

use super::{Engine, Network};
use crate::apps::App;
use crate::routes::Router;
use crate::scenario::{FlowSpec, InFlight, Scenario};

#[derive(Default)]
pub(super) struct Handovers {
    all: Vec<Handover>,
    /// The ways that a flow has left and on which packets may be under way.
    left: HashMap<u32, Vec<Vec<u32>>>,
}

/// A change of ways, and what it cost.
struct Handover {
    /// The flows, each with where its new ways start: of the data, and back.
    moves: Vec<(u32, [u32; 2])>,
    in_flight: InFlight,
    lost_packets: u64,
}

impl Handovers {
    /// A packet was on a link that its flow left.
    pub(super) fn count_loss(&mut self, handover: u32) {
        self.all[handover as usize].lost_packets += 1;
    }

    /// Packets that each handover lost, in the scenario's order.
    pub(super) fn losses(&self) -> impl Iterator<Item = u64> {
        self.all.iter().map(|handover| handover.lost_packets)
    }
}

impl Network {
    /// Adds a flow's ways over the links `via`; returns where they start: of the data, and back.
    pub(super) fn both_ways(&mut self, router: &mut Router, spec: &FlowSpec, via: &[usize]) -> [u32; 2] {
        let there = router.way(spec.from, spec.to, via.iter().copied()).unwrap_or_default();
        let back = router.way(spec.to, spec.from, via.iter().rev().copied()).unwrap_or_default();
        [self.routes.add(&there), self.routes.add(&back)]
    }
}

impl Engine {
    /// Adds the ways after each handover; returns where the ways of flows start that may lose packets to one.
    pub(super) fn add_handovers(&mut self, scenario: &Scenario, router: &mut Router) -> Vec<u32> {
        let mut ways: HashMap<usize, Vec<u32>> = HashMap::new();
        let mut losing = Vec::new();
        for (number, spec) in scenario.handovers.iter().enumerate() {
            let mut moves = Vec::with_capacity(spec.flows.len());
            for (flow, via) in spec.flows.iter().zip(&spec.via) {
                let new = self.network.both_ways(router, &scenario.flows[*flow], via);
                ways.entry(*flow).or_insert_with(|| self.ways(*flow)).extend(new);
                moves.push((*flow as u32, new));
            }
            if spec.in_flight == InFlight::Lose {
                losing.extend(&spec.flows);
            }
            self.network.handovers.all.push(Handover { moves, in_flight: spec.in_flight, lost_packets: 0 });
            // What is sent at that very time takes the new way.
            let before = Time::ZERO + (spec.at - Span::from_nanos(1));
            let target = self.app_target(self.flows.len()) + (self.udp_flows.len() + number) as u32;
            self.network.queue.push(before, target);
        }
        losing.sort_unstable();
        losing.dedup();
        losing.iter().flat_map(|flow| ways.remove(flow).unwrap_or_default()).collect()
    }

    /// The time of handover `number` has come.
    pub(super) fn hand_over(&mut self, number: usize) {
        let handover = &mut self.network.handovers.all[number];
        let (moves, lose) = (mem::take(&mut handover.moves), handover.in_flight == InFlight::Lose);
        for (flow, new) in moves {
            let old = self.ways(flow as usize);
            let left = self.network.handovers.left.entry(flow).or_default();
            left.push(old);
            if lose {
                for (old, new) in left.drain(..).flat_map(|old| old.into_iter().zip(new)) {
                    self.network.routes.turn(old, new, number as u32);
                }
            }
            let flow = &mut self.flows[flow as usize];
            if let App::Udp(udp) = &mut flow.app {
                udp.route = new[0];
            }
            for (end, way) in self.ends[flow.ends.clone()].iter_mut().zip(new.into_iter().cycle()) {
                end.route = way;
            }
        }
    }

    /// Where a flow's ways start: of its data, and over TCP back.
    fn ways(&self, flow: usize) -> Vec<u32> {
        let flow = &self.flows[flow];
        match &flow.app {
            App::Udp(udp) => vec![udp.route],
            _ => self.ends[flow.ends.clone()].iter().take(2).map(|end| end.route).collect(),
        }
    }
}
