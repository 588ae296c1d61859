//! The event loop: virtual time, links and timers.
//!
//! A link delivers in order and so has one pending event, for the packet at its head; a connection has one pending event
//! for the earlier of its ends' timers, moved only when it fires early. The queue therefore holds links and timers, never
//! packets.

use std::ops::ControlFlow;

use bentpipe_path::{Link, LinkConfig, Offered, PacketId, Stream};
use bentpipe_tcp::{Endpoint, Segment, Seq, State};
use bentpipe_units::{Span, Time};

use crate::events::EventQueue;
use crate::observe::Observer;
use crate::packets::Packets;
use crate::routes::{ARRIVED, Router, Routes};
use crate::scenario::{AppSpec, DirectionSpec, Scenario};
use crate::{Progress, RunError};

/// One flow's connection: two ends, the application, what is measured of it.
pub(crate) struct Flow {
    /// How many bytes the application sends in all; `u64::MAX` while it has no end.
    pub(crate) bytes: u64,
    pub(crate) start: Time,
    stop: Option<Time>,
    pub(crate) last_delivery: Option<Time>,
    over: bool,
}

/// One end of a flow's connection, as the event loop sees it.
struct End {
    tcp: Endpoint,
    /// Where its route starts in the route table.
    route: u32,
    /// When its event is due: its timer's time, or earlier.
    armed: Time,
}

/// Everything between the hosts, and the event queue.
struct Network {
    now: Time,
    queue: EventQueue,
    links: Vec<Link>,
    packets: Packets,
    routes: Routes,
    observer: Option<Box<Observer>>,
}

pub(crate) struct Engine {
    end: Time,
    network: Network,
    /// Two ends a flow: 2i sends, 2i + 1 receives.
    ends: Vec<End>,
    flows: Vec<Flow>,
    open_flows: usize,
    pub(crate) events: u64,
}

/// How often progress is told and an interruption is noticed.
const EVENTS_BETWEEN_PROGRESS: u64 = 1 << 16;

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
            if let Some(observer) = &mut self.observer {
                observer.lost(self.now, packet, false);
            }
            self.packets.remove(delivery.id);
            return None;
        }
        packet.hop += 1;
        match self.routes.hops[packet.hop as usize] {
            ARRIVED => Some(delivery.id),
            next => {
                self.offer(next, delivery.id, delivery.bytes);
                None
            }
        }
    }

    #[inline]
    fn offer(&mut self, number: u32, id: PacketId, bytes: u32) {
        let link = &mut self.links[number as usize];
        let idle = link.next_time() == Time::NEVER;
        match link.offer(self.now, id, bytes) {
            Offered::Queued => {
                if idle {
                    self.queue.push(link.next_time(), number);
                }
                if let Some(observer) = &mut self.observer {
                    observer.queue(self.now, number, link.queue_packets(self.now));
                }
            }
            Offered::Dropped => {
                if let Some(observer) = &mut self.observer {
                    observer.lost(self.now, self.packets.get_mut(id), true);
                }
                self.packets.remove(id);
            }
        }
    }

    #[inline]
    fn send(&mut self, from: usize, route: u32, segment: &Segment, again: bool) {
        if let Some(observer) = &mut self.observer {
            observer.sent(self.now, from, segment, again);
        }
        let id = self.packets.insert(segment, route, from as u32 ^ 1);
        self.offer(self.routes.hops[route as usize], id, segment.packet_len());
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
        let (packets, routes) = (Packets::default(), Routes::default());
        let mut engine = Engine {
            end: scenario.duration.map_or(Time::NEVER, |duration| Time::ZERO + duration),
            network: Network { now: Time::ZERO, queue, links, packets, routes, observer },
            ends: Vec::with_capacity(2 * scenario.flows.len()),
            flows: Vec::with_capacity(scenario.flows.len()),
            open_flows: scenario.flows.len(),
            events: 0,
        };
        engine.add_flows(scenario, seed);
        engine
    }

    fn add_flows(&mut self, scenario: &Scenario, seed: u64) {
        let mut router = Router::new(scenario);
        for spec in &scenario.flows {
            let mut iss = Stream::derive(seed, &format!("flow/{}/iss", spec.name));
            let both_ways = [(spec.from, spec.to, &spec.sender), (spec.to, spec.from, &spec.receiver)];
            for (from, to, tcp) in both_ways {
                let path = router.path(from, to).unwrap_or_default();
                let route = self.network.routes.add(&path);
                let tcp = Endpoint::new(tcp.clone(), Seq(iss.next_u32()));
                self.ends.push(End { tcp, route, armed: Time::NEVER });
            }
            let AppSpec::Ftp { bytes, duration } = spec.app;
            let start = Time::ZERO + spec.start;
            self.flows.push(Flow {
                bytes: bytes.unwrap_or(u64::MAX),
                start,
                stop: duration.map(|duration| start + duration),
                last_delivery: None,
                over: false,
            });
        }
        for index in 0..self.flows.len() {
            self.network.queue.push(self.flows[index].start, self.app_target(index));
        }
    }

    /// Targets of events: links first, then ends, then applications.
    fn app_target(&self, flow: usize) -> u32 {
        (self.network.links.len() + 2 * self.flows.len() + flow) as u32
    }

    /// Runs until every flow is over or the scenario's duration has passed; returns the time of the end.
    pub(crate) fn run(
        &mut self,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Time, RunError> {
        let links = self.network.links.len() as u32;
        while self.open_flows > 0 {
            let Some((at, target)) = self.network.queue.first().filter(|(at, _)| *at <= self.end) else {
                return Ok(if self.end == Time::NEVER { self.network.now } else { self.end });
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

    fn tell(&self, progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<(), RunError> {
        let end = (self.end != Time::NEVER).then(|| self.end.as_secs());
        let simulated_s = self.network.now.as_secs();
        match progress(&Progress { simulated_s, end_s: end, events: self.events }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(RunError::Interrupted { simulated_s }),
        }
    }

    fn packet_arrives(&mut self, id: PacketId) {
        let network = &mut self.network;
        let packet = network.packets.get_mut(id);
        let (to, segment) = (packet.to as usize, &packet.segment);
        if let Some(observer) = &mut network.observer {
            observer.arrived(network.now, to, segment);
        }
        let tcp = &mut self.ends[to].tcp;
        tcp.on_segment(network.now, segment);
        if segment.len > 0 && tcp.read(u32::MAX) > 0 {
            self.flows[to / 2].last_delivery = Some(network.now);
        }
        network.packets.remove(id);
        self.serve(to);
    }

    /// Sends what an end has to send, and sees to its timer.
    fn serve(&mut self, index: usize) {
        let network = &mut self.network;
        let now = network.now;
        let End { tcp, route, armed } = &mut self.ends[index];
        let sends = index.is_multiple_of(2);
        if !sends && tcp.state() == State::CloseWait {
            tcp.close(false);
        }
        let mut segment = Segment::default();
        while let Some(again) = tcp.poll_segment(now, &mut segment) {
            network.send(index, *route, &segment, again);
        }
        let due = tcp.next_timeout();
        if due < *armed {
            *armed = due;
            network.queue.push(due, (network.links.len() + index) as u32);
        }
        if let Some(observer) = &mut network.observer {
            observer.state(now, index, tcp);
        }
        if sends && matches!(tcp.state(), State::Closed | State::TimeWait) {
            let flow = &mut self.flows[index / 2];
            self.open_flows -= usize::from(!flow.over);
            flow.over = true;
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

    /// A flow's application starts, or has no more data.
    fn application(&mut self, target: u32, index: usize) {
        let flow = &self.flows[index];
        let (sender, receiver) = (2 * index, 2 * index + 1);
        if self.network.now == flow.start {
            if let Some(stop) = flow.stop {
                self.network.queue.push(stop, target);
            }
            self.ends[receiver].tcp.listen();
            let tcp = &mut self.ends[sender].tcp;
            tcp.connect();
            tcp.write(flow.bytes);
            if flow.bytes != u64::MAX {
                tcp.close(false);
            }
        } else {
            self.ends[sender].tcp.close(true);
        }
        self.serve(sender);
    }

    pub(crate) fn links(&self) -> &[Link] {
        &self.network.links
    }

    /// The flows, each with its sending and its receiving end.
    pub(crate) fn flows(&self) -> impl Iterator<Item = (&Flow, &Endpoint, &Endpoint)> {
        let ends = self.ends.chunks_exact(2).map(|pair| (&pair[0].tcp, &pair[1].tcp));
        self.flows.iter().zip(ends).map(|(flow, (sender, receiver))| (flow, sender, receiver))
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

impl Flow {
    /// From the flow's start to its last byte, or to the end of the run when bytes are missing.
    pub(crate) fn active(&self, end: Time, complete: bool) -> Span {
        match (complete, self.last_delivery) {
            (true, Some(last)) => last.since(self.start),
            _ => end.since(self.start),
        }
    }
}
