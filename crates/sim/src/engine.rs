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
use crate::packets::{Packet, Packets};
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
    /// Its earliest event in the queue.
    armed: Time,
}

pub(crate) struct Engine {
    now: Time,
    end: Time,
    queue: EventQueue,
    links: Vec<Link>,
    packets: Packets,
    routes: Routes,
    /// Two ends a flow: 2i sends, 2i + 1 receives.
    ends: Vec<End>,
    flows: Vec<Flow>,
    open_flows: usize,
    pub(crate) events: u64,
    observer: Option<Box<Observer>>,
}

/// How often progress is told and an interruption is noticed.
const EVENTS_BETWEEN_PROGRESS: u64 = 1 << 16;

impl Engine {
    pub(crate) fn new(scenario: &Scenario, seed: u64, observer: Option<Box<Observer>>) -> Engine {
        let mut links = Vec::with_capacity(2 * scenario.links.len());
        for link in &scenario.links {
            let stream = |suffix| Stream::derive(seed, &format!("link/{}{suffix}", link.name));
            links.push(Link::new(&config(&link.forward), stream("")));
            links.push(Link::new(&config(&link.reverse), stream("/reverse")));
        }
        let mut engine = Engine {
            now: Time::ZERO,
            end: scenario.duration.map_or(Time::NEVER, |duration| Time::ZERO + duration),
            queue: EventQueue::default(),
            links,
            packets: Packets::default(),
            routes: Routes::default(),
            ends: Vec::with_capacity(2 * scenario.flows.len()),
            flows: Vec::with_capacity(scenario.flows.len()),
            open_flows: scenario.flows.len(),
            events: 0,
            observer,
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
                let route = self.routes.add(&path);
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
            self.queue.push(self.flows[index].start, self.app_target(index));
        }
    }

    /// Targets: links first, then ends, then applications.
    fn app_target(&self, flow: usize) -> u32 {
        (self.links.len() + self.ends.len() + flow) as u32
    }

    /// Runs until every flow is over or the scenario's duration has passed; returns the time of the end.
    pub(crate) fn run(
        &mut self,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Time, RunError> {
        let links = self.links.len() as u32;
        while let Some((at, target)) = self.queue.peek() {
            if at > self.end || self.open_flows == 0 {
                break;
            }
            self.now = at;
            self.events += 1;
            if target < links {
                self.link_delivers(target);
            } else {
                self.queue.pop();
                self.timer(target as usize - links as usize);
            }
            if self.events.is_multiple_of(EVENTS_BETWEEN_PROGRESS) {
                self.tell(progress)?;
            }
        }
        let ran_out = self.open_flows > 0 && self.end != Time::NEVER;
        Ok(if ran_out { self.end } else { self.now })
    }

    fn tell(&self, progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<(), RunError> {
        let end = (self.end != Time::NEVER).then(|| self.end.as_secs());
        let told = Progress { simulated_s: self.now.as_secs(), end_s: end, events: self.events };
        match progress(&told) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(RunError::Interrupted { simulated_s: told.simulated_s }),
        }
    }

    /// The packet at the head of a link has arrived.
    fn link_delivers(&mut self, target: u32) {
        let link = &mut self.links[target as usize];
        let delivery = link.deliver(self.now);
        match link.next_time() {
            Time::NEVER => self.queue.pop(),
            next => self.queue.replace_first(next, target),
        }
        let Some(delivery) = delivery else { return };
        if delivery.corrupted {
            if let Some(observer) = &mut self.observer {
                observer.lost(self.now, self.packets.get_mut(delivery.id), false);
            }
            self.packets.remove(delivery.id);
            return;
        }
        let packet = self.packets.get_mut(delivery.id);
        packet.hop += 1;
        match self.routes.hops[packet.hop as usize] {
            ARRIVED => {
                let (segment, to) = (packet.segment, packet.to as usize);
                self.packets.remove(delivery.id);
                self.segment_arrives(to, &segment);
            }
            next => self.offer(next, delivery.id, delivery.bytes),
        }
    }

    fn offer(&mut self, link: u32, id: PacketId, bytes: u32) {
        let state = &mut self.links[link as usize];
        let idle = state.next_time() == Time::NEVER;
        match state.offer(self.now, id, bytes) {
            Offered::Queued => {
                if idle {
                    self.queue.push(state.next_time(), link);
                }
                if let Some(observer) = &mut self.observer {
                    observer.queue(self.now, link, state.queue_packets(self.now));
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

    fn segment_arrives(&mut self, to: usize, segment: &Segment) {
        if let Some(observer) = &mut self.observer {
            observer.arrived(self.now, to, segment);
        }
        let end = &mut self.ends[to];
        end.tcp.on_segment(self.now, segment);
        if segment.len > 0 && end.tcp.read(u32::MAX) > 0 {
            self.flows[to / 2].last_delivery = Some(self.now);
        }
        self.serve(to);
    }

    /// Sends what an end has to send, and sees to its timer.
    fn serve(&mut self, index: usize) {
        let now = self.now;
        if self.ends[index].tcp.state() == State::CloseWait && index % 2 == 1 {
            self.ends[index].tcp.close(false);
        }
        while let Some(transmit) = self.ends[index].tcp.poll_transmit(now) {
            let hop = self.ends[index].route;
            let bytes = transmit.segment.packet_len();
            if let Some(observer) = &mut self.observer {
                observer.sent(now, index, &transmit);
            }
            let id = self.packets.insert(Packet { segment: transmit.segment, hop, to: index as u32 ^ 1 });
            self.offer(self.routes.hops[hop as usize], id, bytes);
        }
        let end = &mut self.ends[index];
        let due = end.tcp.next_timeout();
        if due < end.armed {
            end.armed = due;
            self.queue.push(due, (self.links.len() + index) as u32);
        }
        if let Some(observer) = &mut self.observer {
            observer.state(now, index, &self.ends[index].tcp);
        }
        let over = matches!(self.ends[index].tcp.state(), State::Closed | State::TimeWait);
        if over && index.is_multiple_of(2) && !self.flows[index / 2].over {
            self.flows[index / 2].over = true;
            self.open_flows -= 1;
        }
    }

    fn timer(&mut self, index: usize) {
        match index.checked_sub(self.ends.len()) {
            Some(flow) => self.application(flow),
            None => {
                let end = &mut self.ends[index];
                if self.now != end.armed {
                    // An earlier event took its place.
                    return;
                }
                end.armed = Time::NEVER;
                if end.tcp.next_timeout() <= self.now {
                    end.tcp.on_timeout(self.now);
                }
                self.serve(index);
            }
        }
    }

    /// A flow's application starts, or has no more data.
    fn application(&mut self, index: usize) {
        let flow = &self.flows[index];
        let (sender, receiver) = (2 * index, 2 * index + 1);
        if self.now == flow.start {
            let (bytes, stop) = (flow.bytes, flow.stop);
            self.ends[receiver].tcp.listen();
            let tcp = &mut self.ends[sender].tcp;
            tcp.connect();
            tcp.write(bytes);
            if bytes != u64::MAX {
                tcp.close(false);
            }
            if let Some(stop) = stop {
                self.queue.push(stop, self.app_target(index));
            }
        } else {
            self.ends[sender].tcp.close(true);
        }
        self.serve(sender);
    }

    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    /// The flows, each with its sending and its receiving end.
    pub(crate) fn flows(&self) -> impl Iterator<Item = (&Flow, &Endpoint, &Endpoint)> {
        let ends = self.ends.chunks_exact(2).map(|pair| (&pair[0].tcp, &pair[1].tcp));
        self.flows.iter().zip(ends).map(|(flow, (sender, receiver))| (flow, sender, receiver))
    }

    pub(crate) fn into_observer(self) -> Option<Box<Observer>> {
        self.observer
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
