//! The path between the two hosts: the network with real packets in it, and behind it what changes their order.

use bentpipe_net::{
    Carried, DirectionSetup, LinkSetup, Lost, Meeting, Network, NodeId, Probe, RouteId, Router, Topology,
};
use bentpipe_path::gateway::Direction as Way;
use bentpipe_path::{Disorder, Label, Stream};
use bentpipe_units::Time;
use serde::Serialize;

use crate::{Direction, Settings};

/// What a direction of the path did with its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PathStats {
    /// Packets that a queue had no room for.
    pub dropped: u64,
    /// Packets lost under way.
    pub lost: u64,
    /// Packets held up.
    pub reordered: u64,
    /// Packets that came twice.
    pub duplicated: u64,
}

/// An IPv4 packet on its way.
#[derive(Clone, Debug, Default)]
struct Packet {
    bytes: Vec<u8>,
    direction: Direction,
}

/// The ECN field in the second byte of an IPv4 header (RFC 3168 section 5).
const ECN: u8 = 0b11;

impl Carried for Packet {
    type Names = ();

    fn label(&self, (): &()) -> Label {
        let ecn_capable = self.bytes.len() >= 20 && self.bytes[1] & ECN != 0;
        // Addresses and ports, where the header has no options.
        let names = self.bytes.get(12..24).unwrap_or_default();
        let flow = names.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
        Label { ecn_capable, flow, class: 0 }
    }

    fn mark(&mut self) {
        let word = |bytes: &[u8], at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let before = word(&self.bytes, 0);
        self.bytes[1] |= ECN;
        // RFC 1624, equation 3.
        let sum = u32::from(!word(&self.bytes, 10)) + u32::from(!before) + u32::from(word(&self.bytes, 0));
        let folded = (sum & 0xffff) + (sum >> 16);
        let folded = (folded & 0xffff) + (folded >> 16);
        self.bytes[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    }

    fn show(&mut self, (): &(), _: u8, way: Way, meeting: Meeting<'_>) {
        meeting.gateway.pass(meeting.now, way, &mut self.bytes, &meeting.link);
    }
}

/// Counts what is lost, for each direction.
#[derive(Default)]
struct Losses([PathStats; 2]);

impl Probe<Packet> for Losses {
    fn lost(&mut self, _: Time, _: Time, packet: &Packet, why: Lost) {
        let stats = &mut self.0[packet.direction as usize];
        match why {
            Lost::Dropped(_) => stats.dropped += 1,
            Lost::Damaged(_) | Lost::Left(_) => stats.lost += 1,
        }
    }
}

/// The path between the two hosts; [`Direction::Send`] is away from our end.
pub(crate) struct Path {
    net: Network<Packet, Losses>,
    routes: [RouteId; 2],
    behind: [Disorder<Vec<u8>>; 2],
}

impl Path {
    /// An empty path.
    pub(crate) fn new(settings: &Settings) -> Path {
        let (own, kernel) = (NodeId(0), NodeId(1));
        // The way of the data is the forward one.
        let (from, to) = match settings.direction {
            Direction::Send => (own, kernel),
            Direction::Receive => (kernel, own),
        };
        let setup = |way: &crate::Way| DirectionSetup { link: way.link(), gateway: None };
        let link = LinkSetup {
            name: "path".to_owned(),
            from,
            to,
            forward: setup(&settings.forward),
            reverse: setup(&settings.backward),
        };
        let topology = Topology { nodes: 2, links: vec![link] };
        let mut router = Router::new(&topology);
        let mut net = Network::new(&topology, settings.seed, Time::NEVER, (), Losses::default());
        let mut route =
            |from, to| net.add_route(&router.way(from, to, std::iter::empty()).unwrap_or_default());
        let routes = [route(own, kernel), route(kernel, own)];
        net.mark_passing(&[]);
        let disorder =
            |way: &crate::Way, name| Disorder::new(way.disorder, Stream::derive(settings.seed, name));
        let forward = disorder(&settings.forward, "forward.disorder");
        let backward = disorder(&settings.backward, "backward.disorder");
        let behind = match settings.direction {
            Direction::Send => [forward, backward],
            Direction::Receive => [backward, forward],
        };
        Path { net, routes, behind }
    }

    /// Takes a packet.
    pub(crate) fn offer(&mut self, now: Time, direction: Direction, bytes: Vec<u8>) {
        self.carry(now);
        self.net.advance(now);
        let length = bytes.len() as u32;
        *self.net.outgoing() = Packet { bytes, direction };
        self.net.inject(self.routes[direction as usize], length);
    }

    /// Carries all packets as far as they come by `now`.
    fn carry(&mut self, now: Time) {
        while self.net.next_time() <= now {
            if let Some(arrived) = self.net.poll(now) {
                let Packet { bytes, direction } = self.net.take(arrived);
                self.behind[direction as usize].offer(now, bytes);
            }
        }
    }

    /// The next packet of a direction that has arrived by `now`; to be called until there is none.
    pub(crate) fn deliver(&mut self, now: Time, direction: Direction) -> Option<Vec<u8>> {
        self.carry(now);
        self.behind[direction as usize].deliver(now)
    }

    /// When [`Path::deliver`] wants to be called next.
    pub(crate) fn next_time(&self) -> Time {
        let behind = self.behind.iter().map(Disorder::next_time);
        behind.fold(self.net.next_time(), Time::min)
    }

    pub(crate) fn stats(&self, direction: Direction) -> PathStats {
        let behind = &self.behind[direction as usize];
        PathStats {
            reordered: behind.reordered(),
            duplicated: behind.duplicated(),
            ..self.net.probe.0[direction as usize]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_leaves_the_header_checksum_right() {
        let sum = |bytes: &[u8]| {
            let words = bytes[..20].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
            let sum: u32 = words.sum();
            (sum & 0xffff) + (sum >> 16)
        };
        for (ecn, ident) in [(1, 7_u8), (2, 0), (2, 255), (3, 9)] {
            let mut bytes = vec![0x45, ecn, 0, 40, ident, 3, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
            let checksum = !(sum(&bytes) as u16);
            bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
            let mut packet = Packet { bytes, direction: Direction::Send };
            assert!(packet.label(&()).ecn_capable && sum(&packet.bytes) == 0xffff);
            packet.mark();
            assert_eq!((packet.bytes[1], sum(&packet.bytes)), (3, 0xffff));
        }
    }
}
