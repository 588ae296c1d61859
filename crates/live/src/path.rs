//! The path between the two hosts: the network with real packets in it, and behind it what changes their order.

use std::collections::VecDeque;

use bentpipe_drive::{GatewayResult, HandoverResult, LinkResult, network_rows};
use bentpipe_net::{LeftRoutes, Lost, Network, Probe, RouteId, Router};
use bentpipe_path::{Disorder, Stream};
use bentpipe_units::Time;

use crate::packet::{Packet, Shared};
use crate::path_setup::PathSetup;
use crate::{Direction, Settings};

bentpipe_units::numbers! {
    /// What became of the packets of one direction between the hosts.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PathStats {
        /// Packets that a queue had no room for, or dropped early.
        pub dropped: u64 = "packet", "dropped";
        /// Packets lost under way.
        pub lost: u64 = "packet", "lost";
        /// Packets held up.
        pub reordered: u64 = "packet", "reordered";
        /// Packets that came twice.
        pub duplicated: u64 = "packet", "duplicated";
    }
}

/// Counts what is lost, for each direction and each handover.
#[derive(Default)]
struct Losses {
    directions: [PathStats; 2],
    left: Vec<u64>,
}

impl Probe<Packet> for Losses {
    fn lost(&mut self, _: Time, _: Time, packet: &Packet, why: Lost) {
        let stats = &mut self.directions[packet.direction as usize];
        match why {
            Lost::Dropped(_) => stats.dropped += 1,
            Lost::Damaged(_) => stats.lost += 1,
            Lost::Left(handover) => {
                stats.lost += 1;
                self.left[handover as usize] += 1;
            }
        }
    }
}

/// A handover to come.
struct Turn {
    number: usize,
    at: Time,
    routes: [RouteId; 2],
    loses: bool,
}

/// The path between the two hosts; [`Direction::Send`] is away from our end.
pub(crate) struct Path {
    setup: PathSetup,
    net: Network<Packet, Losses>,
    /// By direction.
    routes: [RouteId; 2],
    turns: VecDeque<Turn>,
    left: [LeftRoutes; 2],
    behind: [Disorder<Vec<u8>>; 2],
}

impl Path {
    /// An empty path.
    pub(crate) fn new(setup: PathSetup, settings: &Settings) -> Path {
        let mut router = Router::new(&setup.topology);
        let losses = Losses { left: vec![0; setup.handovers.len()], ..Losses::default() };
        let shared = Shared { class: setup.class };
        let mut net = Network::new(&setup.topology, settings.seed, Time::NEVER, shared, losses);
        let mut routes = |via: &[usize]| {
            let links = setup.routes(&mut router, via);
            by_direction(settings.direction, links).map(|links| net.add_route(&links))
        };
        let first = routes(&setup.via);
        let turns = setup.handovers.iter().enumerate().map(|(number, handover)| Turn {
            number,
            at: handover.at,
            routes: routes(&handover.via),
            loses: handover.loses,
        });
        let turns: VecDeque<Turn> = turns.collect();
        let mut held: Vec<RouteId> = Vec::new();
        if turns.iter().any(|turn| turn.loses) {
            held.extend(first.iter().chain(turns.iter().flat_map(|turn| &turn.routes)));
        }
        net.mark_passing(&held);
        let disorder = |spec, name| Disorder::new(spec, Stream::derive(settings.seed, name));
        let forward = disorder(settings.disorder.forward, "forward.disorder");
        let backward = disorder(settings.disorder.backward, "backward.disorder");
        let behind = by_direction(settings.direction, [forward, backward]);
        Path { setup, net, routes: first, turns, left: Default::default(), behind }
    }

    /// Takes a packet.
    pub(crate) fn offer(&mut self, now: Time, direction: Direction, bytes: Vec<u8>) {
        self.carry(now);
        self.net.advance(self.network_time(now));
        let length = bytes.len() as u32;
        *self.net.outgoing() = Packet { bytes, direction };
        self.net.inject(self.routes[direction as usize], length);
    }

    /// Carries all packets as far as they come by `now`, each at its own time, however late it is looked after.
    fn carry(&mut self, now: Time) {
        let now = self.network_time(now);
        loop {
            let due = self.net.next_time();
            if self.turns.front().is_some_and(|turn| turn.at <= due.min(now)) {
                self.turn();
                continue;
            }
            if due > now {
                return;
            }
            if let Some(arrived) = self.net.poll(due) {
                let Packet { bytes, direction } = self.net.take(arrived);
                self.behind[direction as usize].offer(due, bytes);
            }
        }
    }

    /// What is sent from now on takes another way.
    fn turn(&mut self) {
        let Some(turn) = self.turns.pop_front() else { return };
        let lost = turn.loses.then_some(turn.number as u32);
        for ((left, old), new) in self.left.iter_mut().zip(self.routes).zip(turn.routes) {
            left.leave(&mut self.net, old, new, lost);
        }
        self.routes = turn.routes;
    }

    /// The next packet of a direction that has arrived by `now`; to be called until there is none.
    pub(crate) fn deliver(&mut self, now: Time, direction: Direction) -> Option<Vec<u8>> {
        self.carry(now);
        self.behind[direction as usize].deliver(self.network_time(now))
    }

    /// When [`Path::deliver`] wants to be called next.
    pub(crate) fn next_time(&self) -> Time {
        let behind = self.behind.iter().map(Disorder::next_time);
        match behind.fold(self.net.next_time(), Time::min) {
            Time::NEVER => Time::NEVER,
            time => Time::ZERO + time.since(self.setup.start),
        }
    }

    /// What the network's clock shows.
    fn network_time(&self, now: Time) -> Time {
        self.setup.start + now.since(Time::ZERO)
    }

    pub(crate) fn stats(&self, direction: Direction) -> PathStats {
        let behind = &self.behind[direction as usize];
        PathStats {
            reordered: behind.reordered(),
            duplicated: behind.duplicated(),
            ..self.net.probe.directions[direction as usize]
        }
    }

    /// The propagation delay from the data's host to the other, at first.
    pub(crate) fn delay_s(&self) -> f64 {
        self.setup.delay().as_secs()
    }

    /// What each direction of a link did until something last happened on the network, and each gateway.
    pub(crate) fn network_rows(&mut self) -> (Vec<LinkResult>, Vec<GatewayResult>) {
        let (end, topology) = (self.net.now(), &self.setup.topology);
        let names: Vec<_> = topology.links.iter().map(|link| link.name.clone()).collect();
        let guards = topology.directions().map(|(_, direction)| direction.gateway.as_ref());
        network_rows(&mut self.net, &names, guards, None, end)
    }

    /// What each handover cost, those to come included.
    pub(crate) fn handovers(&self) -> Vec<HandoverResult> {
        let handovers = self.setup.handovers.iter().zip(&self.net.probe.left);
        let results = handovers.map(|(handover, lost)| HandoverResult {
            name: handover.name.clone(),
            at_s: handover.at.as_secs(),
            flows: 1,
            lost_packets: *lost,
        });
        results.collect()
    }
}

/// What is of the data's way and of the way back, by direction.
fn by_direction<T>(data: Direction, [there, back]: [T; 2]) -> [T; 2] {
    match data {
        Direction::Send => [there, back],
        Direction::Receive => [back, there],
    }
}

#[cfg(test)]
mod tests {
    use bentpipe_scenario::parse_str;
    use bentpipe_units::Span;

    use super::*;
    use crate::ScenarioFlow;

    const SCENARIO: &str = r#"
[links.near]
from = "a"
to = "b"
rate = "1 Gbit/s"
delay = "10 ms"
schedule = [{ at = "5 s", delay = "100 ms" }]
[links.far]
from = "a"
to = "b"
rate = "1 Gbit/s"
delay = "300 ms"
[flows.file]
from = "a"
to = "b"
start = "5 s"
bytes = "1 MB"
via = ["near"]
[handovers.one]
at = "6 s"
flows = ["file"]
via = ["far"]
"#;

    /// When a packet arrives that is sent at `sent_ms`, in milliseconds; none if it does not.
    fn arrives(path: &mut Path, sent_ms: u64) -> Option<f64> {
        let sent = Time::ZERO + Span::from_millis(sent_ms);
        path.offer(sent, Direction::Send, vec![0; 125]);
        while path.next_time() != Time::NEVER {
            let at = path.next_time();
            if path.deliver(at, Direction::Send).is_some() {
                return Some((at.as_secs() * 1e6).round() / 1e3);
            }
        }
        None
    }

    #[test]
    fn a_run_begins_at_the_start_of_its_flow_and_takes_its_handovers() {
        let settings = r#"{"recovery": "sack", "control": "standard", "bytes": "1 MB"}"#;
        let settings = Settings::from_json(settings).unwrap();
        let path = |in_flight: &str| {
            let text = SCENARIO.to_owned() + in_flight;
            let scenario = parse_str("test", &text, &[]).unwrap();
            Path::new(ScenarioFlow::choose(&scenario, None).unwrap().path_setup(), &settings)
        };
        // A packet of 125 bytes is sent within a microsecond.
        let mut kind = path("");
        assert_eq!(arrives(&mut kind, 0), Some(100.001));
        assert_eq!(arrives(&mut kind, 950), Some(1050.001));
        assert_eq!(arrives(&mut kind, 1100), Some(1400.001));
        assert_eq!((kind.handovers()[0].at_s, kind.handovers()[0].lost_packets), (6.0, 0));

        let mut unkind = path("in_flight = \"lose\"");
        assert_eq!(arrives(&mut unkind, 0), Some(100.001));
        assert_eq!(arrives(&mut unkind, 950), None);
        assert_eq!(arrives(&mut unkind, 1100), Some(1400.001));
        assert_eq!((unkind.handovers()[0].lost_packets, unkind.stats(Direction::Send).lost), (1, 1));
        let delivered: Vec<_> = unkind
            .network_rows()
            .0
            .into_iter()
            .map(|link| (link.name, link.stats.delivered_packets))
            .collect();
        // What comes out of a link that its flow has left was delivered by that link.
        assert_eq!(delivered[0], ("near".to_owned(), 2));
        assert_eq!(delivered[2], ("far".to_owned(), 1));
    }
}
