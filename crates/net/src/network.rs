//! The network: the way of a packet from one host to another.

use bentpipe_path::gateway::{Direction, GatewayStats};
use bentpipe_path::{Fate, Label, Leaving, Link, Offered, PacketId, Passed, Stream};
use bentpipe_units::{Span, Time};

use crate::agents::{Agents, Met};
use crate::ahead::Ahead;
use crate::gateways::Gateways;
use crate::routes::{Routes, Step, Stop};
use crate::store::Store;
use crate::{Calendar, Carried, LinkId, LinkSetup, Lost, Probe, RouteId, Topology};

/// Everything between the hosts.
///
/// A link delivers in order and so has one pending event, for the packet at its head: the calendar holds links, never
/// packets, and behind them agents. Packets stay where they are and are known by index.
pub struct Network<P: Carried, O> {
    /// Hears what happens.
    pub probe: O,
    now: Time,
    calendar: Calendar<LinkId>,
    links: Vec<Link>,
    packets: Store<P>,
    routes: Routes,
    gateways: Gateways<P::Names>,
    agents: Agents<P>,
    ahead: Ahead,
    /// The time after which nothing counts.
    horizon: Time,
}

/// A packet that has come to the end of its route.
#[derive(Debug)]
#[must_use]
pub struct Arrived(PacketId);

impl<P: Carried, O: Probe<P>> Network<P, O> {
    /// A network without routes. Random streams are derived from `seed` and the names of the links; what happens after
    /// `horizon` does not count; `names` is what the packets share.
    pub fn new(topology: &Topology, seed: u64, horizon: Time, names: P::Names, probe: O) -> Network<P, O> {
        let mut links = Vec::with_capacity(2 * topology.links.len());
        links.extend(topology.links.iter().flat_map(|link| both(link, seed)));
        let gateways = Gateways::new(topology, names);
        let agents = Agents::new(topology);
        Network {
            probe,
            now: Time::ZERO,
            calendar: Calendar::default(),
            links,
            packets: Store::default(),
            routes: Routes::new(gateways.guarded(), agents.guarded()),
            gateways,
            agents,
            ahead: Ahead::default(),
            horizon,
        }
    }

    /// Adds a link, with random streams as in [`Network::new`]; returns its number. None of its directions passes packets on.
    pub fn add_link(&mut self, link: &LinkSetup, seed: u64) -> usize {
        let number = self.links.len() / 2;
        self.links.extend(both(link, seed));
        let directions = [LinkId::forward(number), LinkId::reverse(number)];
        for (id, direction) in directions.into_iter().zip([&link.forward, &link.reverse]) {
            if self.gateways.add(id, direction) {
                self.routes.guard(id);
            }
        }
        number
    }

    /// Adds a route that leads nowhere: what takes it is lost at once, [`Lost::Left`] with `turn`.
    pub fn add_dead_end(&mut self, turn: u32) -> RouteId {
        self.routes.add_dead_end(turn)
    }

    /// From now on a direction of a link has another delay; see [`Link::set_delay`].
    pub fn set_delay(&mut self, link: LinkId, delay: Span) {
        self.links[link.index()].set_delay(self.now, delay);
    }

    /// Adds a route over these links, of which there is at least one.
    pub fn add_route(&mut self, way: &[LinkId]) -> RouteId {
        assert!(!way.is_empty(), "a route has a link");
        self.routes.add(way, true)
    }

    /// Adds a route over these links, of which there is at least one, for packets that no gateway can read.
    pub fn add_unreadable_route(&mut self, way: &[LinkId]) -> RouteId {
        assert!(!way.is_empty(), "a route has a link");
        self.routes.add(way, false)
    }

    /// To be called when every route is known and before the first packet: finds the links that pass their packets on at
    /// once, without an event. Those of the routes `held` never do: a turn may take packets from them.
    pub fn mark_passing(&mut self, held: &[RouteId]) {
        let closed: Vec<bool> = self.links.iter().map(Link::is_closed).collect();
        self.routes.mark_passing(&closed, held);
    }

    /// Makes every arrival an event, which changes no number; returns whether any was not.
    pub fn pass_nothing(&mut self) -> bool {
        self.ahead.off = true;
        self.routes.pass_nothing()
    }

    /// Until `until` packets are sent on `routes` alone, and no route or delay changes: over links that only one link feeds they go
    /// ahead without events. Everything due by now has been done before the call, the next call comes by `until`, and a link is asked only
    /// behind [`Network::settle`].
    pub fn go_ahead(&mut self, routes: &[RouteId], until: Time) {
        self.settle();
        let before = std::mem::take(&mut self.ahead.links);
        self.ahead.mark(&mut self.routes, &self.links, routes, self.packets.hops());
        self.ahead.until = until;
        let links = std::mem::take(&mut self.ahead.links);
        let mut under_way = Vec::new();
        for number in &links {
            let link = &mut self.links[number.index()];
            under_way.extend(link.under_way().take_while(|(arrives, ..)| *arrives <= until));
            link.begin_ahead();
            for (arrives, id, bytes) in under_way.drain(..) {
                if let Some(at) = self.leave_ahead(*number, arrives, id, bytes) {
                    let hop = self.packets.hop(id) + 1;
                    let arrived = self.offer_later(at, hop, id, bytes);
                    debug_assert!(arrived.is_none(), "behind a link that goes ahead is another");
                }
            }
        }
        for number in before {
            let link = &self.links[number.index()];
            if link.next_time() != Time::NEVER {
                self.calendar.push(link.next_time(), number);
            }
        }
        self.ahead.links = links;
    }

    /// Links are as if nothing had gone ahead, up to the time that [`Network::go_ahead`] was told last. Then it must be called again
    /// before anything else.
    pub fn settle(&mut self) {
        for number in &self.ahead.links {
            self.links[number.index()].settle(self.ahead.until);
        }
    }

    /// Whether a link passes its packets on at once, without an event for their arrival.
    pub fn passes(&self, link: LinkId) -> bool {
        self.routes.passes(link)
    }

    /// Turns the route `old` into `new` for the packets that are on it: behind each link that both have, on to the new one;
    /// behind each other link, out of the network, [`Lost::Left`] with `turn`.
    pub fn turn(&mut self, old: RouteId, new: RouteId, turn: u32) {
        self.routes.turn(old, new, turn);
    }

    /// The time of the newest [`Network::advance`] or [`Network::poll`].
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Moves the time to `now`, which never goes back.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        self.now = now;
    }

    /// When [`Network::poll`] wants to be called next; `Time::NEVER` when nothing is under way.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.calendar.next_time()
    }

    /// The packet that [`Network::inject`] sends next: the driver writes it in its place.
    #[inline]
    pub fn outgoing(&mut self) -> &mut P {
        self.packets.outgoing()
    }

    /// Sends the [outgoing](Network::outgoing) packet, of `bytes` bytes, now.
    #[inline]
    pub fn inject(&mut self, route: RouteId, bytes: u32) {
        let id = self.packets.dispatch();
        if self.probe.follows() {
            self.probe.sent(self.now, self.packets.get(id));
        }
        let arrived = self.offer(route.0, id, bytes);
        debug_assert!(arrived.is_none(), "a route without a link");
    }

    /// Handles the earliest event that is due by `now`; returns the packet that has come to the end of its route by it, if
    /// one has. To be called until [`Network::next_time`] is later.
    #[inline(always)]
    pub fn poll(&mut self, now: Time) -> Option<Arrived> {
        self.now = now;
        if self.calendar.next_time() > now {
            return None;
        }
        self.link_delivers(self.calendar.target())
    }

    /// A packet that has arrived.
    #[inline]
    pub fn packet(&self, arrived: &Arrived) -> &P {
        self.packets.get(arrived.0)
    }

    /// Forgets a packet that has arrived.
    #[inline]
    pub fn discard(&mut self, arrived: Arrived) {
        self.packets.remove(arrived.0);
    }

    /// Gives a packet that has arrived to the driver.
    pub fn take(&mut self, arrived: Arrived) -> P {
        let packet = std::mem::take(self.packets.get_mut(arrived.0));
        self.packets.remove(arrived.0);
        packet
    }

    /// The directions of links, for what they measured.
    pub fn links_mut(&mut self) -> &mut [Link] {
        &mut self.links
    }

    /// What each gateway did, with the direction of a link that it guards, in the order of those.
    pub fn gateways(&self) -> impl Iterator<Item = (LinkId, GatewayStats)> {
        let gateways = self.gateways.all().map(|(link, gateway)| (link, gateway.stats()));
        let agents = self.agents.all().map(|(link, agent)| (link, agent.stats()));
        let mut all: Vec<_> = gateways.chain(agents).collect();
        all.sort_unstable_by_key(|(link, _)| *link);
        all.into_iter()
    }

    /// The event of a link; returns the packet that has reached its host.
    #[inline]
    fn link_delivers(&mut self, number: LinkId) -> Option<Arrived> {
        let Some(link) = self.links.get_mut(number.index()) else { return self.agent_acts(number) };
        let due = link.next_time() <= self.now;
        let Some(Leaving { id, bytes, fate }) = link.poll(self.now) else {
            return self.link_goes_on(number, due);
        };
        match link.next_time() {
            Time::NEVER => self.calendar.pop(),
            next => self.calendar.replace_first(next, number),
        }
        if fate != Fate::Whole {
            self.changed_by_link(number, id, fate)?;
        }
        let hop = self.packets.hop(id) + 1;
        if self.routes.step(hop) == Step::Arrived {
            return Some(self.arrived(id));
        }
        self.offer_at(hop, id, bytes)
    }

    /// No packet has left a link at its event. Either its server has begun with the next packet, or an earlier event was added
    /// after this one and has done its work.
    #[cold]
    #[inline(never)]
    fn link_goes_on(&mut self, number: LinkId, due: bool) -> Option<Arrived> {
        let link = &mut self.links[number.index()];
        match link.next_time() {
            next if due && next != Time::NEVER => self.calendar.replace_first(next, number),
            _ => self.calendar.pop(),
        }
        self.probe.served(self.now, number, link);
        None
    }

    /// A packet has left a link, perhaps marked, damaged or dropped; returns whether it goes on.
    #[cold]
    #[inline(never)]
    fn changed_by_link(&mut self, number: LinkId, id: PacketId, fate: Fate) -> Option<()> {
        self.probe.served(self.now, number, &mut self.links[number.index()]);
        let why = match fate {
            Fate::Whole => return Some(()),
            Fate::Marked => {
                let packet = mark(&mut self.packets, id);
                self.probe.marked(self.now, self.now, number, packet);
                return Some(());
            }
            Fate::Damaged => Lost::Damaged(number),
            Fate::Dropped => Lost::Dropped(number),
        };
        let _ = self.lose(self.now, id, why);
        None
    }

    /// [`Network::offer_at`] for those who are not the loop, where a packet's way from link to link needs no call.
    #[inline(never)]
    fn offer(&mut self, hop: u32, id: PacketId, bytes: u32) -> Option<Arrived> {
        self.offer_at(hop, id, bytes)
    }

    /// Hands a packet to the link of a hop, and on from there while the links pass it; returns it when no link lay between a
    /// stop and its host.
    #[inline(always)]
    fn offer_at(&mut self, hop: u32, id: PacketId, bytes: u32) -> Option<Arrived> {
        self.offer_from(self.now, hop, id, bytes)
    }

    /// [`Network::offer_at`] for a packet that comes to its hop at a time that may be later.
    #[inline(always)]
    fn offer_from(&mut self, mut at: Time, mut hop: u32, id: PacketId, bytes: u32) -> Option<Arrived> {
        let number = loop {
            match self.routes.step(hop) {
                Step::Link(number) => break number,
                Step::Passing(number) => {
                    at = self.pass(at, number, id, bytes)?;
                    if at > self.horizon {
                        // It would arrive after the end of the run.
                        self.packets.remove(id);
                        return None;
                    }
                    hop += 1;
                }
                Step::Ahead(_) => return self.offer_ahead(at, hop, id, bytes),
                Step::Stop(stop) => hop = self.stop(stop, hop, id)?,
                Step::Arrived => return Some(self.arrived(id)),
            }
        };
        let link = &mut self.links[number.index()];
        let before = link.next_time();
        match link.offer(at, id, bytes, || label(&self.packets, id, self.gateways.names())) {
            Offered::Queued => {}
            Offered::Marked => {
                let packet = mark(&mut self.packets, id);
                self.probe.marked(self.now, at, number, packet);
            }
            Offered::Dropped => return self.lose(at, id, Lost::Dropped(number)),
        }
        self.packets.set_hop(id, hop);
        if link.next_time() < before {
            self.calendar.push(link.next_time(), number);
        }
        self.probe.taken(self.now, at, number, link);
        None
    }

    /// Hands a packet to a link over which it goes ahead, and on from there.
    #[inline(never)]
    fn offer_ahead(&mut self, mut at: Time, mut hop: u32, id: PacketId, bytes: u32) -> Option<Arrived> {
        while let Some(number) = self.routes.ahead(hop) {
            let link = &mut self.links[number.index()];
            if let Some(arrives) = link.cross(at, bytes, self.ahead.until) {
                self.probe.taken(self.now, at, number, link);
                (at, hop) = (arrives, hop + 1);
                continue;
            }
            let (offered, arrives) =
                link.offer_ahead(at, id, bytes, || label(&self.packets, id, self.gateways.names()));
            if offered != Offered::Queued {
                self.not_just_queued(at, number, id, offered)?;
            }
            self.probe.taken(self.now, at, number, &mut self.links[number.index()]);
            if arrives > self.ahead.until {
                self.packets.set_hop(id, hop);
                return None;
            }
            at = self.leave_ahead(number, arrives, id, bytes)?;
            hop += 1;
        }
        self.offer_later(at, hop, id, bytes)
    }

    /// A link over which packets go ahead has marked or dropped one; returns whether it goes on.
    #[cold]
    #[inline(never)]
    fn not_just_queued(&mut self, at: Time, number: LinkId, id: PacketId, offered: Offered) -> Option<()> {
        if offered == Offered::Dropped {
            let _ = self.lose(at, id, Lost::Dropped(number));
            return None;
        }
        let packet = mark(&mut self.packets, id);
        self.probe.marked(self.now, at, number, packet);
        Some(())
    }

    #[inline(never)]
    fn offer_later(&mut self, at: Time, hop: u32, id: PacketId, bytes: u32) -> Option<Arrived> {
        self.offer_from(at, hop, id, bytes)
    }

    /// A packet leaves a link over which it goes ahead; returns when, unless it is lost.
    #[inline(always)]
    fn leave_ahead(&mut self, number: LinkId, at: Time, id: PacketId, bytes: u32) -> Option<Time> {
        if self.links[number.index()].leave(bytes) {
            let _ = self.lose(at, id, Lost::Damaged(number));
            return None;
        }
        Some(at)
    }

    #[inline(always)]
    fn arrived(&mut self, id: PacketId) -> Arrived {
        if self.probe.follows() {
            self.probe.arrived(self.now, self.packets.get(id));
        }
        Arrived(id)
    }

    /// Hands a packet to a link that passes it on; returns when it arrives, unless it is lost.
    #[inline(always)]
    fn pass(&mut self, at: Time, number: LinkId, id: PacketId, bytes: u32) -> Option<Time> {
        let link = &mut self.links[number.index()];
        let passed = link.pass(at, bytes, || label(&self.packets, id, self.gateways.names()));
        if passed != Passed::Dropped {
            self.probe.taken(self.now, at, number, link);
        }
        match passed {
            Passed::Arrives(time) => Some(time),
            other => self.changed(at, number, id, other),
        }
    }

    /// A link that passes has marked, damaged or dropped a packet; returns when it arrives, unless it is lost.
    #[cold]
    #[inline(never)]
    fn changed(&mut self, at: Time, number: LinkId, id: PacketId, passed: Passed) -> Option<Time> {
        let _ = match passed {
            Passed::Arrives(time) => return Some(time),
            Passed::Marked(time) => {
                let packet = mark(&mut self.packets, id);
                self.probe.marked(self.now, at, number, packet);
                return Some(time);
            }
            Passed::Corrupted(time) => self.lose(time, id, Lost::Damaged(number)),
            Passed::Dropped => self.lose(at, id, Lost::Dropped(number)),
        };
        None
    }

    /// A packet has come to a stop at `hop`; returns where it goes on, unless it is lost.
    #[cold]
    #[inline(never)]
    fn stop(&mut self, stop: u32, hop: u32, id: PacketId) -> Option<u32> {
        match self.routes.stop(stop) {
            Stop::Gateway { gateway, way, ttl } => {
                let packet = self.packets.get_mut(id);
                self.gateways.show(gateway, way, ttl, packet, &mut self.links, self.now);
                Some(hop + 1)
            }
            Stop::Agent { agent, way, ttl } => self.meet(agent, way, ttl, id, hop + 1),
            Stop::Turn { hop } => Some(hop),
            Stop::Left { turn } => {
                let _ = self.lose(self.now, id, Lost::Left(turn));
                None
            }
        }
    }

    /// A packet meets an agent, behind which it goes on at `hop` unless it is swallowed.
    #[cold]
    #[inline(never)]
    fn meet(&mut self, agent: u32, way: Direction, ttl: u8, id: PacketId, hop: u32) -> Option<u32> {
        let Some(seen) = self.packets.get(id).seen(self.gateways.names(), ttl) else { return Some(hop) };
        let packet = (id, &seen, hop);
        let met = self.agents.show(agent, way, packet, &mut self.packets, &mut self.links, self.now);
        self.arm(agent);
        matches!(met, Met::GoesOn).then_some(hop)
    }

    /// The event of an agent, which may send a packet; returns it when no link lies between the agent and the packet's host.
    #[cold]
    #[inline(never)]
    fn agent_acts(&mut self, number: LinkId) -> Option<Arrived> {
        self.calendar.pop();
        let agent = (number.index() - self.links.len()) as u32;
        let sent = self.agents.poll(agent, &mut self.links, self.now);
        self.arm(agent);
        let (packet, bytes, hop) = sent?;
        let id = self.packets.insert(packet);
        self.offer(hop, id, bytes)
    }

    /// Sees to the event of an agent.
    fn arm(&mut self, agent: u32) {
        if let Some(at) = self.agents.arm(agent) {
            self.calendar.push(at, LinkId::at(self.links.len() + agent as usize));
        }
    }

    /// A packet is lost at `at`. Nothing is left of it.
    #[cold]
    fn lose(&mut self, at: Time, id: PacketId, why: Lost) -> Option<Arrived> {
        self.probe.lost(self.now, at, self.packets.get(id), why);
        self.packets.remove(id);
        None
    }
}

/// Both directions of a link.
fn both(link: &LinkSetup, seed: u64) -> [Link; 2] {
    let stream = |suffix| Stream::derive(seed, &["link/", &link.name, suffix].concat());
    [Link::new(&link.forward.link, stream("")), Link::new(&link.reverse.link, stream("/reverse"))]
}

#[cold]
#[inline(never)]
fn label<P: Carried>(packets: &Store<P>, id: PacketId, names: &P::Names) -> Label {
    packets.get(id).label(names)
}

#[cold]
#[inline(never)]
fn mark<P: Carried>(packets: &mut Store<P>, id: PacketId) -> &P {
    let packet = packets.get_mut(id);
    packet.mark();
    packet
}
