//! The route table: the steps of every route, one after the other.

use std::collections::HashMap;

use bentpipe_path::gateway::Direction;

use crate::{LinkId, RouteId, TTL};

/// A step of a route, packed: its kind in the three highest bits, its number below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hop(u32);

/// What a packet meets next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A link, which has an event for its arrival at the far end.
    Link(LinkId),
    /// The end of the route: the host.
    Arrived,
    /// A link that passes it on at once; see [`Routes::mark_passing`].
    Passing(LinkId),
    /// A link that passes it on at once where it arrives by a time; see [`ahead`](crate::ahead).
    Ahead(LinkId),
    /// What lies between two links, by its number.
    Stop(u32),
}

impl Hop {
    const NUMBER: u32 = (1 << 29) - 1;
    const PASSING: u32 = 1 << 29;
    const AHEAD: u32 = 2 << 29;
    const ARRIVED: u32 = 3 << 29;
    const STOP: u32 = 4 << 29;

    fn new(step: Step) -> Hop {
        Hop(match step {
            Step::Link(link) => link.bits(),
            Step::Passing(link) => Hop::PASSING | link.bits(),
            Step::Ahead(link) => Hop::AHEAD | link.bits(),
            Step::Arrived => Hop::ARRIVED,
            Step::Stop(stop) => Hop::STOP | stop,
        })
    }

    // The kinds in the order of their bits, so that each test is one comparison.
    #[inline(always)]
    fn step(self) -> Step {
        match self.0 {
            link if link < Hop::PASSING => Step::Link(LinkId::from_bits(link)),
            link if link < Hop::AHEAD => Step::Passing(LinkId::from_bits(link & Hop::NUMBER)),
            link if link < Hop::ARRIVED => Step::Ahead(LinkId::from_bits(link & Hop::NUMBER)),
            arrived if arrived < Hop::STOP => Step::Arrived,
            stop => Step::Stop(stop & Hop::NUMBER),
        }
    }

    /// The link of a step that is one.
    fn link(self) -> Option<LinkId> {
        match self.step() {
            Step::Link(link) | Step::Passing(link) | Step::Ahead(link) => Some(link),
            Step::Arrived | Step::Stop(_) => None,
        }
    }
}

/// What a packet meets between two links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A gateway.
    Gateway { gateway: u32, way: Direction, ttl: u8 },
    /// A gateway that is an agent.
    Agent { agent: u32, way: Direction, ttl: u8 },
    /// It came out of a link that its flow has left.
    Left { turn: u32 },
    /// It came out of a link that its flow has kept, and goes on from this hop of the new route.
    Turn { hop: u32 },
}

/// Who guards a direction of a link, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Guarded {
    ByGateway(u32),
    ByAgent(u32),
}

/// The routes of all flows, one after the other, each ended by [`Step::Arrived`].
#[derive(Debug, Default)]
pub(crate) struct Routes {
    hops: Vec<Hop>,
    stops: Vec<Stop>,
    /// Numbers of the gateways' stops, which many routes share.
    known: HashMap<(Guarded, bool, u8), u32>,
    /// The gateway of each guarded direction of a link.
    gateways: HashMap<LinkId, Guarded>,
}

impl Routes {
    /// No routes yet; `guarded` are the directions of links that gateways guard, in the order of the gateways, and `tended` those of
    /// the agents.
    pub(crate) fn new(guarded: impl Iterator<Item = LinkId>, tended: impl Iterator<Item = LinkId>) -> Routes {
        let guarded = guarded.zip((0..).map(Guarded::ByGateway));
        let gateways = guarded.chain(tended.zip((0..).map(Guarded::ByAgent))).collect();
        Routes { gateways, ..Routes::default() }
    }

    #[inline(always)]
    pub(crate) fn step(&self, hop: u32) -> Step {
        self.hops[hop as usize].step()
    }

    /// The link of a hop over which packets go ahead.
    #[inline(always)]
    pub(crate) fn ahead(&self, hop: u32) -> Option<LinkId> {
        let number = self.hops[hop as usize].0.wrapping_sub(Hop::AHEAD);
        (number <= Hop::NUMBER).then_some(LinkId::from_bits(number))
    }

    /// The link of a hop that is one.
    pub(crate) fn link(&self, hop: u32) -> Option<LinkId> {
        self.hops[hop as usize].link()
    }

    /// How many hops there are.
    pub(crate) fn len(&self) -> usize {
        self.hops.len()
    }

    /// The link of a hop goes ahead from now on, or no longer.
    pub(crate) fn set_ahead(&mut self, hop: u32, ahead: bool) {
        let hop = &mut self.hops[hop as usize];
        match (hop.step(), ahead) {
            (Step::Link(link), true) => *hop = Hop::new(Step::Ahead(link)),
            (Step::Ahead(link), false) => *hop = Hop::new(Step::Link(link)),
            _ => {}
        }
    }

    /// Whether gateways or agents stand at links.
    pub(crate) fn is_guarded(&self) -> bool {
        !self.gateways.is_empty()
    }

    pub(crate) fn stop(&self, number: u32) -> Stop {
        self.stops[number as usize]
    }

    /// Marks the links that pass their packets on at once: those whose packets all go on to links that nobody else feeds,
    /// neither another link nor a host. What such a packet meets next is known when it is sent. Before a stop every
    /// packet comes at its time; the links of the routes `held` may lose their packets to a turn.
    pub(crate) fn mark_passing(&mut self, closed: &[bool], held: &[RouteId]) {
        // For each link, the only link before it, or none for a host. A link that several links feed is shared, and so is one
        // that a host feeds.
        let mut feeder: Vec<Option<Option<LinkId>>> = vec![None; closed.len()];
        let mut shared = vec![false; closed.len()];
        let mut previous = None;
        for hop in &self.hops {
            match hop.step() {
                Step::Link(link) | Step::Passing(link) | Step::Ahead(link) => {
                    let only = *feeder[link.index()].get_or_insert(previous);
                    shared[link.index()] |= only != previous || previous.is_none();
                    previous = Some(link);
                }
                Step::Arrived => previous = None,
                Step::Stop(_) => {}
            }
        }
        let mut passes = closed.to_vec();
        for pair in self.hops.windows(2) {
            if let Some(link) = pair[0].link()
                && pair[1].link().is_none_or(|next| shared[next.index()] || !closed[next.index()])
            {
                passes[link.index()] = false;
            }
        }
        for start in held {
            self.links(*start).for_each(|(_, link)| passes[link.index()] = false);
        }
        for hop in &mut self.hops {
            if let Some(link) = hop.link().filter(|link| passes[link.index()]) {
                *hop = Hop::new(Step::Passing(link));
            }
        }
    }

    /// Makes every arrival an event; returns whether any was not.
    pub(crate) fn pass_nothing(&mut self) -> bool {
        let mut any = false;
        for hop in &mut self.hops {
            if let Step::Passing(link) = hop.step() {
                *hop = Hop::new(Step::Link(link));
                any = true;
            }
        }
        any
    }

    pub(crate) fn passes(&self, link: LinkId) -> bool {
        self.hops.contains(&Hop::new(Step::Passing(link)))
    }

    /// Adds a route; gateways stand on it unless they can read nothing of its packets.
    pub(crate) fn add(&mut self, way: &[LinkId], readable: bool) -> RouteId {
        let start = self.hops.len() as u32;
        let mut before = None;
        for (place, link) in way.iter().enumerate() {
            if readable {
                self.add_gateways(before, Some(*link), place);
            }
            self.hops.push(Hop::new(Step::Link(*link)));
            before = Some(*link);
        }
        if readable {
            self.add_gateways(before, None, way.len());
        }
        self.hops.push(Hop::new(Step::Arrived));
        RouteId(start)
    }

    /// Adds the next gateway, which guards `link`.
    pub(crate) fn guard(&mut self, link: LinkId) {
        self.gateways.insert(link, Guarded::ByGateway(self.gateways.len() as u32));
    }

    /// Adds a route on which every packet is lost.
    pub(crate) fn add_dead_end(&mut self, turn: u32) -> RouteId {
        let start = self.hops.len() as u32;
        let left = self.add_stop(Stop::Left { turn });
        self.hops.extend([Hop::new(Step::Stop(left)), Hop::new(Step::Arrived)]);
        RouteId(start)
    }

    /// The gateways at the node between two links of a route, `place` links behind the host that sends.
    fn add_gateways(&mut self, before: Option<LinkId>, behind: Option<LinkId>, place: usize) {
        if self.gateways.is_empty() {
            return;
        }
        // The routers before this node: neither the host nor the node itself.
        let ttl = TTL.saturating_sub(place.saturating_sub(1).min(usize::from(TTL) - 1) as u8);
        if let Some(gateway) = before.and_then(|link| self.gateways.get(&link.opposite()).copied()) {
            self.add_gateway(gateway, Direction::Backward, ttl);
        }
        if let Some(gateway) = behind.and_then(|link| self.gateways.get(&link).copied()) {
            self.add_gateway(gateway, Direction::Forward, ttl);
        }
    }

    fn add_gateway(&mut self, guarded: Guarded, way: Direction, ttl: u8) {
        let key = (guarded, way == Direction::Forward, ttl);
        let stop = match self.known.get(&key) {
            Some(stop) => *stop,
            None => {
                let stop = self.add_stop(match guarded {
                    Guarded::ByGateway(gateway) => Stop::Gateway { gateway, way, ttl },
                    Guarded::ByAgent(agent) => Stop::Agent { agent, way, ttl },
                });
                *self.known.entry(key).or_insert(stop)
            }
        };
        self.hops.push(Hop::new(Step::Stop(stop)));
    }

    fn add_stop(&mut self, stop: Stop) -> u32 {
        self.stops.push(stop);
        (self.stops.len() - 1) as u32
    }

    /// Turns the route `old` into `new` for the packets that are on it: behind each link that both have, on to the new one;
    /// behind each other link, out of the network.
    pub(crate) fn turn(&mut self, old: RouteId, new: RouteId, turn: u32) {
        let left = self.add_stop(Stop::Left { turn });
        let new: Vec<(u32, LinkId)> = self.links(new).collect();
        let old: Vec<(u32, LinkId)> = self.links(old).collect();
        for (hop, link) in old {
            let same = new.iter().find(|(_, other)| *other == link);
            let stop = match same {
                Some((hop, _)) => self.add_stop(Stop::Turn { hop: hop + 1 }),
                None => left,
            };
            self.hops[hop as usize + 1] = Hop::new(Step::Stop(stop));
        }
    }

    /// The places of a route's links, and the links.
    pub(crate) fn links(&self, start: RouteId) -> impl Iterator<Item = (u32, LinkId)> {
        let route = (start.0..).zip(&self.hops[start.0 as usize..]);
        let route = route.take_while(|(_, hop)| hop.step() != Step::Arrived);
        route.filter_map(|(place, hop)| Some((place, hop.link()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_comes_out_of_its_bits() {
        for number in [0, 1, 12_345, Hop::NUMBER] {
            let link = LinkId::from_bits(number);
            let links = [Step::Link(link), Step::Passing(link), Step::Ahead(link)];
            for step in links.into_iter().chain([Step::Arrived, Step::Stop(number)]) {
                assert_eq!(Hop::new(step).step(), step);
                let routes = Routes { hops: vec![Hop::new(step)], ..Routes::default() };
                assert_eq!(routes.ahead(0), (step == Step::Ahead(link)).then_some(link));
            }
        }
    }
}
