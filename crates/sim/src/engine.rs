//! The event loop: virtual time, and who is called when it has come.
//!
//! The network between the hosts has its own events; the timers of hosts, applications and handovers are beside it. A
//! connection's end has one pending event, for the earliest of its timers, moved only when it fires early;
//! beside it, one that paces has that of its retransmission timer.

mod constellation;
mod datagrams;
mod end;
mod handovers;
mod hosts;
mod kernels;
mod relays;
mod remote;
mod shared;

use std::ops::ControlFlow;

use bentpipe_net::{Calendar, Network, NodeId, Router, Topology};
use bentpipe_path::{Link, Stream};
use bentpipe_tcp::{Endpoint, Seq};
use bentpipe_units::Time;

use crate::causes::{Causes, LossCauses};
use crate::deliveries::Deliveries;
use crate::flow::{App, Flow};
use crate::ids::{Call, ConnectionId, FlowId, Side};
use crate::observe::Observer;
use crate::packet::{Names, Packet};
use crate::progress::{Progress, RunError};
use crate::watch::Watch;
use bentpipe_drive::TURNS;
use bentpipe_drive::addresses;
use bentpipe_drive::{GatewayResult, LinkResult, network_rows};
use bentpipe_scenario::Scenario;
use bentpipe_sky::Sky;
use constellation::Paths;
pub(crate) use end::End;
use handovers::{Handovers, add_route, both_routes};
use kernels::Kernels;
use shared::SharedPaths;

pub(crate) struct Engine {
    net: Network<Packet, Watch>,
    /// Two a connection, in the order of their ids.
    ends: Vec<End>,
    flows: Vec<Flow>,
    handovers: Handovers,
    /// Of flows over satellites.
    paths: Option<Box<Paths>>,
    kernels: Kernels,
    /// When the run ends at the latest.
    end: Time,
    /// Until when it runs on for now.
    last: Time,
    /// Flows that the run waits for.
    open_flows: usize,
    pub(crate) events: u64,
    /// The number of events after which it is asked whether flows are open, and whether progress is to be told.
    pause_at: u64,
    /// Number of the event from which on losses and reductions may be joined again.
    next_join: u64,
}

/// How often progress is told and an interruption is noticed.
const EVENTS_BETWEEN_PROGRESS: u64 = 1 << 16;

/// A join of losses and reductions looks at every connection: it is made once in so many events a connection.
const EVENTS_A_CONNECTION: u64 = 16;

/// The ends of a flow's connections: the one that the flow's data comes from, and the other.
fn pairs<'a>(ends: &'a [End], flow: &Flow) -> &'a [[End; 2]] {
    &ends.as_chunks().0[flow.connections.clone()]
}

fn pairs_mut<'a>(ends: &'a mut [End], flow: &Flow) -> &'a mut [[End; 2]] {
    &mut ends.as_chunks_mut().0[flow.connections.clone()]
}

impl Engine {
    pub(crate) fn new(scenario: &Scenario, seed: u64, observer: Option<Box<Observer>>) -> Engine {
        let sky = scenario.constellation.as_ref().map(|spec| spec.sky.start());
        Engine::under(sky, scenario, seed, observer)
    }

    /// Whatever the scenario says of satellites, these are in `sky`.
    fn under(
        sky: Option<Box<dyn Sky>>,
        scenario: &Scenario,
        seed: u64,
        observer: Option<Box<Observer>>,
    ) -> Engine {
        let topology = scenario.topology();
        let aboard = scenario.constellation.as_ref().is_some_and(|spec| spec.laser.gateway.is_some());
        let guarded = aboard || topology.directions().any(|(_, direction)| direction.gateway.is_some());
        let keys = if guarded { addresses::keys(scenario).collect() } else { Vec::new() };
        let names = Names { keys, classes: classes(scenario) };
        let end = scenario.duration.map_or(Time::NEVER, |duration| Time::ZERO + duration);
        // A stream without an end lasts as long as what has one.
        let waited_for =
            scenario.flows.iter().filter(|flow| !flow.app.over_udp() || flow.app.facts().ends).count();
        // Over satellites a run lasts its whole duration, so that its links are the same whatever the flows do.
        let sky_waits = usize::from(sky.is_some());
        let watch = Watch {
            timers: Calendar::default(),
            observer,
            causes: Causes::new(scenario.connections()),
            left: vec![0; scenario.handovers.len()],
            strayed: sky
                .as_ref()
                .map_or_else(Vec::new, |_| vec![[0; TURNS]; addresses::lines(scenario).count()]),
        };
        let mut engine = Engine {
            net: Network::new(&topology, seed, end, names, watch),
            ends: Vec::with_capacity(2 * scenario.connections()),
            flows: Vec::with_capacity(scenario.flows.len()),
            handovers: Handovers::default(),
            paths: None,
            kernels: Kernels::default(),
            end,
            last: end,
            open_flows: if waited_for > 0 { waited_for } else { scenario.flows.len() } + sky_waits,
            events: 0,
            pause_at: EVENTS_BETWEEN_PROGRESS,
            next_join: 0,
        };
        engine.add_flows(scenario, &topology, seed);
        if let (Some(sky), Some(spec)) = (sky, &scenario.constellation) {
            engine.add_constellation(scenario, spec, sky, seed);
        }
        engine
    }

    fn add_flows(&mut self, scenario: &Scenario, topology: &Topology, seed: u64) {
        let router = &mut Router::new(topology);
        let mut connections = 0;
        // Behind all connections.
        let mut streams = (scenario.connections() as u32..).map(ConnectionId);
        let mut shared = SharedPaths::default();
        for (id, spec) in (0..).map(FlowId).zip(&scenario.flows) {
            let mut iss = Stream::derive(seed, &["flow/", &spec.name, "/iss"].concat());
            let mut flow = Flow::new(scenario, id.index(), seed, connections);
            connections = flow.connections.end;
            let size = scenario.size_of(id.index());
            if let App::Udp(udp) = &mut flow.app {
                let (from, to) = (NodeId(spec.from as u32), NodeId(spec.to as u32));
                if let Some(way) = router.route(from, to, spec.via.iter().copied()) {
                    udp.route = add_route(&mut self.net, spec, &way);
                }
                udp.end = streams.next().unwrap_or(ConnectionId(0)).end(Side::Data);
            } else {
                let routes = both_routes(&mut self.net, router, spec, &spec.via);
                for _ in flow.connections.clone() {
                    let directions = [(spec.from, spec.to), (spec.to, spec.from)];
                    let sides = [(Side::Data, &spec.sender), (Side::Back, &spec.receiver)];
                    for ((route, (side, config)), way) in routes.into_iter().zip(sides).zip(directions) {
                        let mut tcp = Endpoint::new(config.clone(), Seq(iss.next_u32()));
                        shared.join(&mut tcp, config, way);
                        self.ends.push(End {
                            tcp,
                            got: Deliveries::of(size),
                            route,
                            flow: id,
                            attended: flow.is_attended(side),
                            armed: Time::NEVER,
                            armed_next: Time::NEVER,
                            remote: None,
                        });
                    }
                }
            }
            self.flows.push(flow);
        }
        self.join_relays();
        let held = self.add_handovers(scenario, topology, router);
        self.net.mark_passing(&held);
        for (id, flow) in (0..).map(FlowId).zip(&self.flows) {
            self.net.probe.timers.push(flow.start, Call::Application(id).into());
        }
    }

    /// Runs until every flow is over or the scenario's duration has passed; returns the time of the end.
    pub(crate) fn run(
        &mut self,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Time, RunError> {
        // The last time at which something happens.
        let last = if self.end == Time::NEVER { Time::from_nanos(u64::MAX - 1) } else { self.end };
        let over = self.run_until(last, progress)?;
        Ok(over.unwrap_or(if self.end == Time::NEVER { self.net.now() } else { self.end }))
    }

    /// Runs until every flow is over, and returns when that was, or else until all that happens by `last` has happened.
    pub(crate) fn run_until(
        &mut self,
        last: Time,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Option<Time>, RunError> {
        self.last = last;
        self.go_ahead();
        while self.open_flows > 0 {
            if !self.run_on(last) {
                self.net.settle();
                return Ok(None);
            }
            if self.events.is_multiple_of(EVENTS_BETWEEN_PROGRESS) {
                self.tell(progress)?;
            }
            self.pause_at = (self.events / EVENTS_BETWEEN_PROGRESS + 1) * EVENTS_BETWEEN_PROGRESS;
        }
        self.kernel_error()?;
        Ok(Some(self.net.now()))
    }

    /// Runs until [`Engine::pause_at`]; returns whether anything happens by `last` after that.
    #[inline(always)]
    fn run_on(&mut self, last: Time) -> bool {
        while self.events != self.pause_at {
            let (arrival, call) = (self.net.next_time(), self.net.probe.timers.next_time());
            if arrival.min(call) > last {
                return false;
            }
            self.events += 1;
            if arrival <= call {
                if let Some(arrived) = self.net.poll(arrival) {
                    self.packet_arrives(arrived);
                }
            } else {
                self.call();
            }
        }
        true
    }

    /// A flow is over.
    pub(crate) fn close_flow(&mut self) {
        self.open_flows -= 1;
        self.pause_at = self.events;
    }

    /// The earliest call is due.
    fn call(&mut self) {
        let timers = &mut self.net.probe.timers;
        let (at, target) = (timers.next_time(), timers.target());
        timers.pop();
        self.net.advance(at);
        match target.call() {
            Call::Timer(end) => self.timer(end),
            Call::Application(flow) => self.application(flow),
            Call::Loss(flow) => self.datagram_lost(flow),
            Call::Handover(number) if self.paths.is_some() => self.constellation(number),
            Call::Handover(handover) => self.hand_over(handover),
        }
    }

    /// Finds out which of the losses until `now` cost a reduction of the window.
    pub(crate) fn join_causes(&mut self, now: Time) {
        let pairs = self.ends.as_chunks_mut().0;
        self.net.probe.causes.join(now, |connection| {
            let [data, back]: &mut [End; 2] = &mut pairs[connection];
            // What the receiving host reduces is in the other direction.
            back.tcp.take_reductions();
            match &data.remote {
                Some(remote) => (remote.sent.una, Vec::new()),
                None => (data.tcp.sender().una(), data.tcp.take_reductions()),
            }
        });
    }

    #[cold]
    fn tell(&mut self, progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<(), RunError> {
        if self.events >= self.next_join {
            self.join_causes(self.net.now());
            self.next_join = self.events + EVENTS_A_CONNECTION * self.ends.len() as u64 / 2;
        }
        let end = (self.end != Time::NEVER).then(|| self.end.as_secs());
        let simulated_s = self.net.now().as_secs();
        match progress(&Progress { simulated_s, end_s: end, events: self.events }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(RunError::Interrupted { simulated_s }),
        }
    }

    /// A flow's application starts, goes on, or stops.
    #[cold]
    fn application(&mut self, id: FlowId) {
        let now = self.net.now();
        let flow = &mut self.flows[id.index()];
        if let App::Udp(_) = flow.app {
            return self.datagrams_due(id);
        }
        let target = Call::Application(id).into();
        if now == flow.start && flow.stop != Time::NEVER {
            self.net.probe.timers.push(flow.stop, target);
        }
        self.at_both_ends(id, |flow, pairs| flow.on_time(now, pairs));
        let flow = &mut self.flows[id.index()];
        let crashed = matches!(&flow.app, App::Relay(relay) if relay.crashed(now));
        let next = flow.next_time(now);
        if next != Time::NEVER {
            self.net.probe.timers.push(next, target);
        }
        let connections = flow.called();
        if !flow.over && flow.is_idle() {
            flow.over = true;
            self.close_flow();
        }
        if crashed {
            return self.crash_relay(id);
        }
        self.serve_all(connections);
        self.serve_user(id);
    }

    pub(crate) fn links_mut(&mut self) -> &mut [Link] {
        self.net.links_mut()
    }

    /// A flow, with the ends of its connections.
    pub(crate) fn flow(&self, number: usize) -> (&Flow, &[[End; 2]]) {
        let flow = &self.flows[number];
        (flow, pairs(&self.ends, flow))
    }

    /// The flows, each with the ends of its connections.
    pub(crate) fn flows(&self) -> impl Iterator<Item = (&Flow, &[[End; 2]])> {
        self.flows.iter().map(|flow| (flow, pairs(&self.ends, flow)))
    }

    /// The run is over, and nobody asks any more for the ends of the flow of this number, nor of those behind it: results take their
    /// place in memory.
    pub(crate) fn forget_ends(&mut self, number: usize) {
        self.ends.truncate(2 * self.flows[number].connections.start);
        if self.ends.len() < self.ends.capacity() / 8 * 7 {
            self.ends.shrink_to_fit();
        }
    }

    /// What the losses of a flow's connections cost.
    pub(crate) fn loss_causes(&self, flow: &Flow) -> LossCauses {
        self.net.probe.causes.sum(flow.connections.clone())
    }

    /// The rows of the links and of the gateways.
    pub(crate) fn network_rows(
        &mut self,
        scenario: &Scenario,
        end: Time,
    ) -> (Vec<LinkResult>, Vec<GatewayResult>) {
        let own = scenario.links.iter().map(|link| &link.name);
        let names: Vec<_> = own.chain(self.sky_link_names()).cloned().collect();
        let guards = scenario.links.iter().flat_map(|link| [&link.forward.gateway, &link.reverse.gateway]);
        let aboard = scenario.constellation.as_ref().and_then(|spec| spec.laser.gateway.as_ref());
        network_rows(&mut self.net, &names, guards.map(Option::as_ref), aboard, end)
    }

    /// Packets that each handover lost, in the scenario's order.
    pub(crate) fn handover_losses(&self) -> impl Iterator<Item = u64> {
        self.net.probe.left.iter().copied()
    }

    /// What limits the flows is measured from now on.
    pub(crate) fn measure_limits_from(&mut self, now: Time) {
        if let Some(observer) = &mut self.net.probe.observer {
            observer.measure_limits_from(now);
        }
    }

    pub(crate) fn into_observer(self) -> Option<Box<Observer>> {
        self.net.probe.observer
    }
}

/// The class of each end's flow, those of connections first; nothing where all have the lowest.
fn classes(scenario: &Scenario) -> Vec<u8> {
    if scenario.flows.iter().all(|flow| flow.class == 0) {
        return Vec::new();
    }
    let connections = scenario.flows.iter().map(|flow| (flow, flow.app.connections()));
    let streams = scenario.udp_flows().map(|(_, flow)| (flow, 1));
    connections.chain(streams).flat_map(|(flow, many)| std::iter::repeat_n(flow.class, 2 * many)).collect()
}

#[cfg(test)]
mod tests;
