//! The event loop: virtual time, links and timers.
//!
//! A link delivers in order and so has one pending event, for the packet at its head; a connection has one pending event
//! for the earlier of its ends' timers, moved only when it fires early. The queue therefore holds links and timers, never
//! packets.

mod datagrams;
mod gateways;
mod handovers;
mod hosts;

use std::ops::ControlFlow;

use bentpipe_path::gateway::Gateway;
use bentpipe_path::{Link, LinkConfig, Offered, PacketId, Passed, Stream};
use bentpipe_tcp::{Endpoint, Segment, Seq};
use bentpipe_units::Time;

use crate::apps::{App, Flow};
use crate::causes::{Causes, LossCauses};
use crate::events::EventQueue;
use crate::observe::Observer;
use crate::packets::Packets;
use crate::routes::{Hop, Router, Routes};
use crate::scenario::{DirectionSpec, Scenario};
use crate::{Progress, RunError};
use gateways::Gateways;
use handovers::Handovers;
pub(crate) use hosts::End;

/// Everything between the hosts, and the event queue.
struct Network {
    now: Time,
    /// When the run ends at the latest.
    end: Time,
    queue: EventQueue,
    /// Ends of connections; a packet to a later one is a datagram.
    ends: u32,
    /// Target of the event that a datagram of the first UDP flow is lost; the others' follow.
    losses: u32,
    links: Vec<Link>,
    packets: Packets,
    /// The segment on its way from an end to its first link.
    outgoing: Segment,
    routes: Routes,
    gateways: Gateways,
    handovers: Handovers,
    observer: Option<Box<Observer>>,
    causes: Causes,
}

pub(crate) struct Engine {
    network: Network,
    /// Two ends a connection: 2i at the host that the flow's data comes from, 2i + 1 at the other.
    ends: Vec<End>,
    flows: Vec<Flow>,
    /// Which of the flows are over UDP.
    udp_flows: Vec<u32>,
    /// Flows that the run waits for.
    open_flows: usize,
    pub(crate) events: u64,
    /// Number of the event from which on losses and reductions may be joined again.
    next_join: u64,
}

/// How often progress is told and an interruption is noticed.
const EVENTS_BETWEEN_PROGRESS: u64 = 1 << 16;

/// A join of losses and reductions looks at every connection: it is made once in so many events a connection.
const EVENTS_A_CONNECTION: u64 = 16;

impl Network {
    /// The packet at the head of a link has arrived; returns it when it has reached its host.
    #[inline]
    fn link_delivers(&mut self, number: u32) -> Option<PacketId> {
        let link = &mut self.links[number as usize];
        let delivery = link.deliver(self.now);
        match link.next_time() {
            Time::NEVER => self.queue.pop(),
            next => self.queue.replace_first(next, number),
        }
        let delivery = delivery?;
        let packet = self.packets.get_mut(delivery.id);
        if delivery.corrupted {
            self.lose(self.now, delivery.id, false);
            return None;
        }
        let hop = packet.hop + 1;
        if self.routes.hops[hop as usize] == Hop::ARRIVED {
            return Some(delivery.id);
        }
        self.offer(hop, delivery.id, delivery.bytes)
    }

    /// Hands a packet to the link of a hop, and on from there while the links pass it; returns it when a stop was all that
    /// lay before its host.
    #[inline(never)]
    fn offer(&mut self, mut hop: u32, id: PacketId, bytes: u32) -> Option<PacketId> {
        let mut at = self.now;
        let mut step = self.routes.hops[hop as usize];
        while step.passes() {
            if let Some(stop) = step.stop() {
                hop = self.stop(stop, hop, id)?;
                step = self.routes.hops[hop as usize];
                if step == Hop::ARRIVED {
                    return Some(id);
                }
                continue;
            }
            let link = &mut self.links[step.link() as usize];
            let passed = link.pass_marking(at, bytes, || self.packets.may_be_marked(id));
            if let Some(observer) = &mut self.observer
                && passed != Passed::Dropped
            {
                observer.taken(self.now, at, step.link(), link);
            }
            at = match passed {
                Passed::Arrives(time) => time,
                other => self.changed(at, id, other)?,
            };
            if at > self.end {
                // Nothing happens to it within the run.
                self.packets.remove(id);
                return None;
            }
            hop += 1;
            step = self.routes.hops[hop as usize];
        }
        let number = step.link();
        let link = &mut self.links[number as usize];
        let idle = link.next_time() == Time::NEVER;
        match link.offer_marking(at, id, bytes, || self.packets.may_be_marked(id)) {
            Offered::Queued => {}
            Offered::Marked => self.packets.mark(id),
            Offered::Dropped => return self.lose(at, id, true),
        }
        self.packets.get_mut(id).hop = hop;
        if idle {
            self.queue.push(link.next_time(), number);
        }
        if let Some(observer) = &mut self.observer {
            observer.taken(self.now, at, number, link);
        }
        None
    }

    /// A link that passes did not leave a packet as it was; returns when it arrives, unless it is lost.
    #[cold]
    #[inline(never)]
    fn changed(&mut self, at: Time, id: PacketId, passed: Passed) -> Option<Time> {
        match passed {
            Passed::Arrives(time) => return Some(time),
            Passed::Marked(time) => {
                self.packets.mark(id);
                return Some(time);
            }
            Passed::Corrupted(time) => self.lose(time, id, false),
            Passed::Dropped => self.lose(at, id, true),
        };
        None
    }

    /// A full queue dropped a packet, or a link damaged it, or its flow has left the link. Nothing is left of it.
    #[cold]
    fn lose(&mut self, at: Time, id: PacketId, by_queue: bool) -> Option<PacketId> {
        if let Some(observer) = &mut self.observer {
            observer.lost(self.now, at, self.packets.get_mut(id), by_queue);
        }
        let packet = self.packets.get_mut(id);
        let to = packet.to;
        self.causes.note(at, packet, by_queue);
        self.expect_loss(at, to);
        self.packets.remove(id);
        None
    }
}

impl Engine {
    pub(crate) fn new(scenario: &Scenario, seed: u64, observer: Option<Box<Observer>>) -> Engine {
        let mut links = Vec::with_capacity(2 * scenario.links.len());
        for link in &scenario.links {
            let stream = |suffix| Stream::derive(seed, &format!("link/{}{suffix}", link.name));
            links.push(Link::new(&config(&link.forward), stream("")));
            links.push(Link::new(&config(&link.reverse), stream("/reverse")));
        }
        let queue = EventQueue::default();
        let gateways = Gateways::new(scenario);
        let routes = Routes::new(gateways.guarded());
        let end = scenario.duration.map_or(Time::NEVER, |duration| Time::ZERO + duration);
        let udp_flows: Vec<u32> = scenario.udp_flows().map(|(flow, _)| flow as u32).collect();
        // A stream without an end lasts as long as what has one.
        let waited_for = scenario.flows.iter().filter(|flow| !flow.app.over_udp() || flow.app.ends()).count();
        let ends = 2 * scenario.connections();
        let mut engine = Engine {
            network: Network {
                now: Time::ZERO,
                end,
                queue,
                ends: ends as u32,
                losses: (links.len() + ends + scenario.flows.len()) as u32,
                links,
                packets: Packets::default(),
                outgoing: Segment::default(),
                routes,
                gateways,
                handovers: Handovers::default(),
                observer,
                causes: Causes::new(scenario.connections()),
            },
            ends: Vec::with_capacity(ends),
            flows: Vec::with_capacity(scenario.flows.len()),
            udp_flows,
            open_flows: if waited_for > 0 { waited_for } else { scenario.flows.len() },
            events: 0,
            next_join: 0,
        };
        engine.add_flows(scenario, seed);
        engine
    }

    fn add_flows(&mut self, scenario: &Scenario, seed: u64) {
        let mut router = Router::new(scenario);
        for spec in &scenario.flows {
            let mut iss = Stream::derive(seed, &format!("flow/{}/iss", spec.name));
            let mut flow = Flow::new(spec, seed, self.ends.len());
            if let App::Udp(udp) = &mut flow.app {
                let path = router.way(spec.from, spec.to, spec.via.iter().copied()).unwrap_or_default();
                udp.route = self.network.routes.add(&path);
                self.flows.push(flow);
                continue;
            }
            let ways = self.network.both_ways(&mut router, spec, &spec.via);
            for _ in 0..spec.app.connections() {
                for (route, tcp) in ways.into_iter().zip([&spec.sender, &spec.receiver]) {
                    self.ends.push(End {
                        tcp: Endpoint::new(tcp.clone(), Seq(iss.next_u32())),
                        last_delivery: None,
                        route,
                        flow: self.flows.len() as u32,
                        answers: matches!(flow.app, App::Http(_)),
                        armed: Time::NEVER,
                    });
                }
            }
            self.flows.push(flow);
        }
        let held = self.add_handovers(scenario, &mut router);
        self.network.routes.mark_passing(self.network.links.len(), &held);
        for index in 0..self.flows.len() {
            self.network.queue.push(self.flows[index].start, self.app_target(index));
        }
    }

    /// Targets of events: links first, then ends, then applications, then the losses of UDP flows, then handovers.
    fn app_target(&self, flow: usize) -> u32 {
        (self.network.links.len() + self.ends.len() + flow) as u32
    }

    /// Runs until every flow is over or the scenario's duration has passed; returns the time of the end.
    pub(crate) fn run(
        &mut self,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Time, RunError> {
        let links = self.network.links.len() as u32;
        while self.open_flows > 0 {
            let Some((at, target)) = self.network.queue.first().filter(|(at, _)| *at <= self.network.end)
            else {
                return Ok(if self.network.end == Time::NEVER { self.network.now } else { self.network.end });
            };
            self.network.now = at;
            self.events += 1;
            if target < links {
                if let Some(id) = self.network.link_delivers(target) {
                    self.packet_arrives(id);
                }
            } else {
                self.network.queue.pop();
                self.timer(target, (target - links) as usize);
            }
            if self.events.is_multiple_of(EVENTS_BETWEEN_PROGRESS) {
                self.tell(progress)?;
            }
        }
        Ok(self.network.now)
    }

    /// Finds out which of the losses until `now` cost a reduction of the window.
    pub(crate) fn join_causes(&mut self, now: Time) {
        self.network.causes.join(now, |connection| {
            // What the receiving host reduces is in the other direction.
            self.ends[2 * connection + 1].tcp.take_reductions();
            let tcp = &mut self.ends[2 * connection].tcp;
            (tcp.sender().una(), tcp.take_reductions())
        });
    }

    #[cold]
    fn tell(&mut self, progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<(), RunError> {
        if self.events >= self.next_join {
            self.join_causes(self.network.now);
            self.next_join = self.events + EVENTS_A_CONNECTION * self.ends.len() as u64 / 2;
        }
        let end = (self.network.end != Time::NEVER).then(|| self.network.end.as_secs());
        let simulated_s = self.network.now.as_secs();
        match progress(&Progress { simulated_s, end_s: end, events: self.events }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(RunError::Interrupted { simulated_s }),
        }
    }

    fn timer(&mut self, target: u32, index: usize) {
        match index.checked_sub(self.ends.len()) {
            Some(flow) => self.application(target, flow),
            None => {
                let end = &mut self.ends[index];
                if end.armed != self.network.now {
                    // An earlier event took its place.
                    return;
                }
                end.armed = Time::NEVER;
                if end.tcp.next_timeout() <= self.network.now {
                    end.tcp.on_timeout(self.network.now);
                }
                self.serve(index);
            }
        }
    }

    /// A flow's application starts, goes on, or stops.
    #[cold]
    fn application(&mut self, target: u32, index: usize) {
        if let Some(number) = index.checked_sub(self.flows.len()) {
            return match number.checked_sub(self.udp_flows.len()) {
                None => self.datagram_lost(number),
                Some(handover) => self.hand_over(handover),
            };
        }
        let flow = &mut self.flows[index];
        if let App::Udp(_) = flow.app {
            let number = self.udp_flows.partition_point(|flow| (*flow as usize) < index);
            return self.send_datagrams(target, number);
        }
        if self.network.now == flow.start && flow.stop != Time::NEVER {
            self.network.queue.push(flow.stop, target);
        }
        flow.on_time(self.network.now, &mut self.ends[flow.ends.clone()]);
        let next = flow.next_time(self.network.now);
        if next != Time::NEVER {
            self.network.queue.push(next, target);
        }
        self.serve_flow(index);
    }

    pub(crate) fn links_mut(&mut self) -> &mut [Link] {
        &mut self.network.links
    }

    /// The flows, each with the ends of its connections.
    pub(crate) fn flows(&self) -> impl Iterator<Item = (&Flow, &[End])> {
        self.flows.iter().map(|flow| (flow, &self.ends[flow.ends.clone()]))
    }

    /// What the losses of a flow's connections cost.
    pub(crate) fn loss_causes(&self, flow: &Flow) -> LossCauses {
        self.network.causes.sum(flow.ends.start / 2..flow.ends.end / 2)
    }

    /// The gateways, each with the direction of a link that it guards, in the order of those.
    pub(crate) fn gateways(&self) -> impl Iterator<Item = (usize, &Gateway)> {
        self.network.gateways.all()
    }

    /// Packets that each handover lost, in the scenario's order.
    pub(crate) fn handover_losses(&self) -> impl Iterator<Item = u64> {
        self.network.handovers.losses()
    }

    pub(crate) fn into_observer(self) -> Option<Box<Observer>> {
        self.network.observer
    }
}

fn config(direction: &DirectionSpec) -> LinkConfig {
    LinkConfig {
        rate: direction.rate,
        delay: direction.delay,
        efficiency: direction.efficiency,
        queue: direction.queue,
        loss: direction.loss.clone(),
    }
}

#[cfg(test)]
mod tests;
