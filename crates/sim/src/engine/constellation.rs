//! Flows over satellites that move: which routes their packets take.
//!
//! A pair of stations has one path, which all flows between them take both ways.

use std::collections::HashMap;
use std::sync::Arc;

use bentpipe_net::RouteId;
use bentpipe_units::{Span, Time};

use super::{Engine, pairs_mut};
use crate::flow::App;
use crate::ids::{Call, FlowId, HandoverId};
use bentpipe_drive::FlowPathResult;
use bentpipe_drive::{SatellitePaths, TURNS};
use bentpipe_scenario::{ConstellationSpec, Scenario};
use bentpipe_sky::Sky;

/// The number of the event of a step; behind it come those of the pairs whose outage ends.
const STEP: HandoverId = HandoverId(0);

pub(super) struct Paths {
    satellites: SatellitePaths,
    /// For each pair its flows, each with whether its data goes from the first station to the second.
    flows: Vec<Vec<(FlowId, bool)>>,
}

impl Engine {
    /// Adds the stations' pairs and the paths that they begin with.
    pub(super) fn add_constellation(
        &mut self,
        scenario: &Scenario,
        spec: &Arc<ConstellationSpec>,
        sky: Box<dyn Sky>,
        seed: u64,
    ) {
        let mut pairs: Vec<[usize; 2]> = Vec::new();
        let mut flows: Vec<Vec<(FlowId, bool)>> = Vec::new();
        let mut known = HashMap::new();
        for (flow, number) in scenario.flows.iter().zip(0..) {
            let stations = [flow.from.min(flow.to), flow.from.max(flow.to)];
            let pair = *known.entry(stations).or_insert_with(|| {
                pairs.push(stations);
                flows.push(Vec::new());
                pairs.len() - 1
            });
            flows[pair].push((FlowId(number), flow.from == stations[0]));
        }
        let mut satellites = SatellitePaths::under(sky, scenario, spec, seed, &mut self.net);
        for stations in pairs {
            satellites.add_pair(&mut self.net, stations);
        }
        self.follow_paths(Box::new(Paths { satellites, flows }), true);
    }

    /// A step is due, or the outage of a pair ends.
    pub(super) fn constellation(&mut self, number: HandoverId) {
        let Some(mut paths) = self.paths.take() else { return };
        // The event comes just before its time, so that what is sent at that very time meets what it brings.
        let at = self.net.now() + EVENT_BEFORE;
        match number.index().checked_sub(1) {
            None => paths.satellites.step(&mut self.net, at),
            Some(pair) => paths.satellites.release(pair, at),
        }
        self.follow_paths(paths, number == STEP);
        self.go_ahead();
    }

    /// Until a path changes next, packets go ahead over links that only one link feeds.
    pub(super) fn go_ahead(&mut self) {
        let Some(paths) = &self.paths else { return };
        let until = before(paths.satellites.next_time()).min(self.last);
        self.net.go_ahead(&paths.satellites.routes(), until);
    }

    /// What flows send from now on takes the routes that their pairs have now.
    fn follow_paths(&mut self, mut paths: Box<Paths>, stepped: bool) {
        while let Some((pair, routes)) = paths.satellites.pop_changed() {
            let held_until = paths.satellites.held_until(pair);
            if held_until < Time::NEVER {
                let ends = Call::Handover(HandoverId(1 + pair as u32));
                self.net.probe.timers.push(before(held_until), ends.into());
            }
            self.send_over(&paths.flows[pair], routes);
        }
        if stepped {
            self.net.probe.timers.push(before(paths.satellites.next_step()), Call::Handover(STEP).into());
        }
        self.paths = Some(paths);
    }

    /// What the flows of a pair send from now on takes these routes.
    fn send_over(&mut self, flows: &[(FlowId, bool)], routes: [RouteId; 2]) {
        for (flow, forward) in flows {
            let routes = if *forward { routes } else { [routes[1], routes[0]] };
            let flow = &mut self.flows[flow.index()];
            if let App::Udp(udp) = &mut flow.app {
                udp.route = routes[0];
            }
            for ends in pairs_mut(&mut self.ends, flow) {
                for (end, route) in ends.iter_mut().zip(routes) {
                    end.route = route;
                }
            }
        }
    }

    /// Paths are measured from now on.
    pub(crate) fn measure_paths_from(&mut self, now: Time) {
        if let Some(paths) = &mut self.paths {
            paths.satellites.measure_from(now);
        }
    }

    /// The names of the links that satellites have had by now.
    pub(super) fn sky_link_names(&self) -> &[String] {
        self.paths.as_ref().map_or(&[], |paths| paths.satellites.link_names())
    }

    /// What the path of each flow was like until `end`, in the scenario's order; empty without satellites.
    pub(crate) fn path_results(&self, scenario: &Scenario, end: Time) -> Vec<FlowPathResult> {
        let Some(paths) = &self.paths else { return Vec::new() };
        let strayed = &self.net.probe.strayed;
        let mut found = Vec::new();
        for (pair, flows) in paths.flows.iter().enumerate() {
            for (id, _) in flows {
                let flow = &self.flows[id.index()];
                let lines = match &flow.app {
                    App::Udp(udp) => udp.end.connection().index()..udp.end.connection().index() + 1,
                    _ => flow.connections.clone(),
                };
                let lost = strayed[lines].iter().fold([0; TURNS], |[a, b], [c, d]| [a + c, b + d]);
                let name = scenario.flows[id.index()].name.clone();
                found.push((*id, paths.satellites.result(pair, name, lost, end)));
            }
        }
        found.sort_unstable_by_key(|(id, _)| *id);
        found.into_iter().map(|(_, path)| path).collect()
    }
}

/// How long before its time an event comes.
const EVENT_BEFORE: Span = Span::from_nanos(1);

fn before(at: Time) -> Time {
    Time::ZERO + at.since(Time::ZERO).saturating_sub(EVENT_BEFORE)
}

#[cfg(test)]
mod tests;
