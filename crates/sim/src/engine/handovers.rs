//! Handovers in the event loop: flows whose new packets take another route from a time on, because the scenario says so or
//! because delays have changed.

use std::collections::HashMap;
use std::mem;

use bentpipe_net::{LeftRoutes, LinkId, Network, NodeId, RouteId, Router, Topology};
use bentpipe_units::{Span, Time};

use super::{Engine, pairs, pairs_mut};
use crate::flow::App;
use crate::ids::{Call, FlowId, HandoverId};
use crate::packet::Packet;
use crate::watch::Watch;
use bentpipe_drive::turns;
use bentpipe_scenario::{FlowSpec, Scenario};

#[derive(Default)]
pub(super) struct Handovers {
    all: Vec<Handover>,
    /// The routes that a flow has left and on which packets may be under way.
    left: HashMap<FlowId, [LeftRoutes; 2]>,
}

/// A change of routes.
#[derive(Default)]
struct Handover {
    /// The flows, each with its new routes: of the data, and back.
    moves: Vec<(FlowId, [RouteId; 2])>,
    /// Whether packets on the links that are left are lost.
    loses: bool,
}

/// The links of a flow's route: of its data, and back.
type Links = [Vec<LinkId>; 2];

/// The links of a flow's route over `via`, if there is one.
fn find_links(router: &mut Router, spec: &FlowSpec, via: &[usize]) -> Option<Links> {
    let (from, to) = (NodeId(spec.from as u32), NodeId(spec.to as u32));
    let there = router.route(from, to, via.iter().copied())?;
    Some([there, router.route(to, from, via.iter().rev().copied())?])
}

/// Adds a flow's routes over the links `via`: of the data, and back.
pub(super) fn both_routes(
    net: &mut Network<Packet, Watch>,
    router: &mut Router,
    spec: &FlowSpec,
    via: &[usize],
) -> [RouteId; 2] {
    // Without links between hosts, flows go over satellites, and get their routes there.
    find_links(router, spec, via)
        .map_or_else(Default::default, |both| both.map(|links| add_route(net, spec, &links)))
}

/// Adds a route of a flow, of whose packets gateways may be able to read nothing.
pub(super) fn add_route(net: &mut Network<Packet, Watch>, spec: &FlowSpec, way: &[LinkId]) -> RouteId {
    if spec.ipsec { net.add_unreadable_route(way) } else { net.add_route(way) }
}

impl Engine {
    /// Adds the routes after each handover and, where routing is dynamic, after each change of the delays; returns the routes
    /// of flows that may lose packets to a handover.
    pub(super) fn add_handovers(
        &mut self,
        scenario: &Scenario,
        topology: &Topology,
        router: &mut Router,
    ) -> Vec<RouteId> {
        let mut routes: HashMap<usize, Vec<RouteId>> = HashMap::new();
        let mut losing = Vec::new();
        let turns = turns(scenario, topology);
        let mut vias: Vec<&[usize]> = scenario.flows.iter().map(|spec| &*spec.via).collect();
        let is_dynamic = turns.iter().any(|turn| turn.handover.is_none());
        let watched = if is_dynamic { &*scenario.flows } else { &[] };
        let mut current: Vec<_> = watched.iter().map(|spec| find_links(router, spec, &spec.via)).collect();
        self.handovers.all.resize_with(turns.len(), Handover::default);
        for turn in turns {
            let mut new_links = Vec::new();
            self.handovers.all[turn.number].loses = turn.loses();
            if let Some(spec) = turn.handover {
                for (flow, via) in spec.flows.iter().zip(&spec.via) {
                    vias[*flow] = via;
                    new_links
                        .push((*flow, find_links(router, &scenario.flows[*flow], via).unwrap_or_default()));
                }
                if turn.loses() {
                    losing.extend(&spec.flows);
                }
            } else {
                for (link, delay) in &turn.delays {
                    router.set_delay(*link, *delay);
                }
                // Where nothing leads there any more, the route stays as it is.
                let found = scenario.flows.iter().zip(&vias).map(|(spec, via)| find_links(router, spec, via));
                let found =
                    found.enumerate().filter(|(flow, links)| links.is_some() && *links != current[*flow]);
                new_links.extend(found.filter_map(|(flow, links)| Some((flow, links?))));
            }
            for (flow, links) in new_links {
                let new = [0, 1].map(|direction: usize| {
                    add_route(&mut self.net, &scenario.flows[flow], &links[direction])
                });
                if let Some(current) = current.get_mut(flow) {
                    *current = Some(links);
                }
                let id = FlowId(flow as u32);
                routes.entry(flow).or_insert_with(|| self.routes(id)).extend(new);
                self.handovers.all[turn.number].moves.push((id, new));
            }
            // What is sent at that very time takes the new route.
            let before = Time::ZERO + turn.at.since(Time::ZERO).saturating_sub(Span::from_nanos(1));
            let number = HandoverId(turn.number as u32);
            self.net.probe.timers.push(before, Call::Handover(number).into());
        }
        losing.sort_unstable();
        losing.dedup();
        losing.iter().flat_map(|flow| routes.remove(flow).unwrap_or_default()).collect()
    }

    /// The time of a handover has come.
    pub(super) fn hand_over(&mut self, number: HandoverId) {
        let handover = &mut self.handovers.all[number.index()];
        let (moves, lost) = (mem::take(&mut handover.moves), handover.loses.then_some(number.0));
        for (flow, new) in moves {
            let old = self.routes(flow);
            let left = self.handovers.left.entry(flow).or_default();
            for ((left, old), new) in left.iter_mut().zip(old).zip(new) {
                left.leave(&mut self.net, old, new, lost);
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
