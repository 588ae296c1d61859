//! Handovers in the event loop: flows whose new packets take another way from a time on.

use std::collections::HashMap;
use std::mem;

use bentpipe_net::{Network, NodeId, RouteId, Router};
use bentpipe_units::{Span, Time};

use super::{Engine, pairs, pairs_mut};
use crate::apps::App;
use crate::ids::{Call, FlowId, HandoverId};
use crate::packet::Packet;
use crate::scenario::{FlowSpec, InFlight, Scenario};
use crate::watch::Watch;

#[derive(Default)]
pub(super) struct Handovers {
    all: Vec<Handover>,
    /// The routes that a flow has left and on which packets may be under way.
    left: HashMap<FlowId, Vec<Vec<RouteId>>>,
}

/// A change of routes.
struct Handover {
    /// The flows, each with its new routes: of the data, and back.
    moves: Vec<(FlowId, [RouteId; 2])>,
    in_flight: InFlight,
}

/// Adds a flow's routes over the links `via`: of the data, and back.
pub(super) fn both_ways(
    net: &mut Network<Packet, Watch>,
    router: &mut Router,
    spec: &FlowSpec,
    via: &[usize],
) -> [RouteId; 2] {
    let (from, to) = (NodeId(spec.from as u32), NodeId(spec.to as u32));
    let there = router.way(from, to, via.iter().copied()).unwrap_or_default();
    let back = router.way(to, from, via.iter().rev().copied()).unwrap_or_default();
    [net.add_route(&there), net.add_route(&back)]
}

impl Engine {
    /// Adds the routes after each handover; returns the routes of flows that may lose packets to one.
    pub(super) fn add_handovers(&mut self, scenario: &Scenario, router: &mut Router) -> Vec<RouteId> {
        let mut routes: HashMap<usize, Vec<RouteId>> = HashMap::new();
        let mut losing = Vec::new();
        for (number, spec) in scenario.handovers.iter().enumerate() {
            let mut moves = Vec::with_capacity(spec.flows.len());
            for (flow, via) in spec.flows.iter().zip(&spec.via) {
                let new = both_ways(&mut self.net, router, &scenario.flows[*flow], via);
                let id = FlowId(*flow as u32);
                routes.entry(*flow).or_insert_with(|| self.routes(id)).extend(new);
                moves.push((id, new));
            }
            if spec.in_flight == InFlight::Lose {
                losing.extend(&spec.flows);
            }
            self.handovers.all.push(Handover { moves, in_flight: spec.in_flight });
            // What is sent at that very time takes the new way.
            let before = Time::ZERO + (spec.at - Span::from_nanos(1));
            self.net.probe.timers.push(before, Call::Handover(HandoverId(number as u32)).into());
        }
        losing.sort_unstable();
        losing.dedup();
        losing.iter().flat_map(|flow| routes.remove(flow).unwrap_or_default()).collect()
    }

    /// The time of a handover has come.
    pub(super) fn hand_over(&mut self, number: HandoverId) {
        let handover = &mut self.handovers.all[number.index()];
        let (moves, lose) = (mem::take(&mut handover.moves), handover.in_flight == InFlight::Lose);
        for (flow, new) in moves {
            let old = self.routes(flow);
            let left = self.handovers.left.entry(flow).or_default();
            left.push(old);
            if lose {
                for (old, new) in left.drain(..).flat_map(|old| old.into_iter().zip(new)) {
                    self.net.turn(old, new, number.0);
                }
            }
            let flow = &mut self.flows[flow.index()];
            if let App::Udp(udp) = &mut flow.app {
                udp.route = new[0];
            }
            for pair in pairs_mut(&mut self.ends, flow) {
                for (end, route) in pair.iter_mut().zip(new) {
                    end.route = route;
                }
            }
        }
    }

    /// A flow's routes: of its data, and over TCP back.
    fn routes(&self, flow: FlowId) -> Vec<RouteId> {
        let flow = &self.flows[flow.index()];
        match &flow.app {
            App::Udp(udp) => vec![udp.route],
            _ => pairs(&self.ends, flow).iter().take(1).flatten().map(|end| end.route).collect(),
        }
    }
}
