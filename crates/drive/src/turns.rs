//! When flows take other routes: at a scenario's handovers and, where routing is dynamic, at each change of the delays.

use std::collections::BTreeMap;

use bentpipe_net::{LinkId, Topology};
use bentpipe_units::{Span, Time};

use bentpipe_scenario::{HandoverSpec, InFlight, Routing, Scenario};

/// A time at which flows take other routes.
#[derive(Clone, Debug)]
pub struct Turn<'a> {
    /// What is sent from then on takes the new route.
    pub at: Time,
    /// The place of the scenario's handover; what a schedule brings about is numbered behind them.
    pub number: usize,
    /// The scenario's handover, if it is one.
    pub handover: Option<&'a HandoverSpec>,
    /// The directions of links that have another delay from then on, or carry nothing.
    pub delays: Vec<(LinkId, Option<Span>)>,
}

impl Turn<'_> {
    /// Whether what is on the links that are left is lost.
    pub fn loses(&self) -> bool {
        self.handover.is_some_and(|handover| handover.in_flight == InFlight::Lose)
    }
}

/// All turns of a scenario, in the order of their times.
pub fn turns<'a>(scenario: &'a Scenario, topology: &Topology) -> Vec<Turn<'a>> {
    let mut changes: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let end = scenario.duration.map_or(Time::NEVER, |duration| Time::ZERO + duration);
    for (id, direction) in topology.directions().filter(|_| scenario.routing == Routing::Dynamic) {
        for (at, delay) in direction.link.schedule.delays(direction.link.delay, end) {
            changes.entry(at).or_default().push((id, delay));
        }
    }
    let handovers = scenario.handovers.iter().map(|spec| (Time::ZERO + spec.at, Some(spec), Vec::new()));
    let changes = changes.into_iter().map(|(at, delays)| (at, None, delays));
    let mut turns: Vec<_> = handovers
        .chain(changes)
        .zip(0..)
        .map(|((at, handover, delays), number)| Turn { at, number, handover, delays })
        .collect();
    turns.sort_by_key(|turn| turn.at);
    turns
}
