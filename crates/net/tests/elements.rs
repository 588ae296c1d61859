//! Gateways, handovers and routing in a network whose packets are numbers.

use std::sync::Arc;

use bentpipe_net::{
    Carried, DirectionSetup, LinkId, LinkSetup, Lost, Meeting, Network, NodeId, Probe, Router, Topology,
};
use bentpipe_path::gateway::{Direction, GatewaySpec};
use bentpipe_path::{Label, LinkConfig, LossSpec, QueueSpec, Repair, Schedule};
use bentpipe_units::{Rate, Span, Time};

/// A packet, and what gateways saw of it.
#[derive(Clone, Debug, Default)]
struct Seen {
    number: u64,
    shown: Vec<(Direction, u8)>,
}

impl Carried for Seen {
    type Names = ();

    fn label(&self, (): &()) -> Label {
        Label::default()
    }

    fn mark(&mut self) {}

    fn show(&mut self, (): &(), ttl: u8, way: Direction, meeting: Meeting<'_>) {
        assert_eq!(meeting.link.rate, Rate::from_bps(8_000_000));
        self.shown.push((way, ttl));
    }
}

/// The packets that were lost, and why.
#[derive(Debug, Default)]
struct Losses(Vec<(u64, Lost)>);

impl Probe<Seen> for Losses {
    fn lost(&mut self, _: Time, _: Time, packet: &Seen, why: Lost) {
        self.0.push((packet.number, why));
    }
}

const NEAR: usize = 0;
const NORTH: usize = 1;
const SOUTH: usize = 2;
const FAR: usize = 3;
const A: NodeId = NodeId(0);
const X: NodeId = NodeId(1);
const Y: NodeId = NodeId(2);
const B: NodeId = NodeId(3);

/// a – x = y – b: x and y are joined by a northern and a southern link. 1000 bytes take 1 ms.
fn topology() -> Topology {
    let link = |name: &str, from, to, ms| {
        let link = LinkConfig {
            rate: Rate::from_bps(8_000_000),
            delay: Span::from_millis(ms),
            efficiency: 1.0,
            queue: QueueSpec::Unlimited,
            loss: LossSpec::None,
            schedule: Schedule::default(),
            repair: Repair::None,
        };
        let direction = Arc::new(DirectionSetup { link, gateway: None });
        LinkSetup { name: name.to_owned(), from, to, forward: direction.clone(), reverse: direction }
    };
    let links =
        vec![link("near", A, X, 10), link("north", X, Y, 20), link("south", X, Y, 10), link("far", Y, B, 10)];
    Topology { nodes: 4, links }
}

fn network(topology: &Topology) -> Network<Seen, Losses> {
    Network::new(topology, 1, Time::NEVER, (), Losses::default())
}

/// Runs until `end`; returns the packets that arrive, with the time in milliseconds.
fn run(net: &mut Network<Seen, Losses>, end: Time) -> Vec<(u64, Seen)> {
    let mut out = Vec::new();
    while net.next_time() <= end && net.next_time() != Time::NEVER {
        let now = net.next_time();
        if let Some(arrived) = net.poll(now) {
            out.push((now.as_nanos() / 1_000_000, net.take(arrived)));
        }
    }
    out
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

#[test]
fn a_turn_loses_what_comes_out_of_a_link_that_was_left_and_leads_the_rest_on() {
    let topology = topology();
    let mut router = Router::new(&topology);
    let mut net = network(&topology);
    let old = router.route(A, B, [].into_iter()).unwrap();
    assert_eq!(old, [NEAR, SOUTH, FAR].map(LinkId::forward));
    let new = router.route(A, B, [NORTH].into_iter()).unwrap();
    let [old, new] = [old, new].map(|way| net.add_route(&way));
    net.mark_passing(&[old]);
    let mut arrived = Vec::new();
    for number in 0..40 {
        arrived.extend(run(&mut net, ms(number)));
        net.advance(ms(number));
        // At 26 ms packet 15 is on the first link still, 4 to 14 have come to the southern one, 0 to 3 to the last.
        if number == 26 {
            net.turn(old, new, 7);
        }
        net.outgoing().number = number;
        net.inject(if number < 26 { old } else { new }, 1000);
    }
    arrived.extend(run(&mut net, Time::NEVER));
    let arrived: Vec<_> = arrived.into_iter().map(|(at, packet)| (packet.number, at)).collect();
    let ways = |number| (number, number + if number < 5 { 33 } else { 43 });
    let expected: Vec<_> = (0..40).filter(|number| !(5..=15).contains(number)).map(ways).collect();
    assert_eq!(arrived, expected);
    assert_eq!(net.probe.0, (5..=15).map(|number| (number, Lost::Left(7))).collect::<Vec<_>>());
}

#[test]
fn ways_follow_the_delays_and_take_a_link_that_is_down_only_where_they_must() {
    let mut router = Router::new(&topology());
    let south = LinkId::forward(SOUTH);
    let there = |router: &mut Router, via: &[usize]| router.route(A, B, via.iter().copied()).unwrap();
    let [over_north, over_south] = [NORTH, SOUTH].map(|middle| [NEAR, middle, FAR].map(LinkId::forward));
    assert_eq!(there(&mut router, &[]), over_south);
    router.set_delay(south, Some(Span::from_millis(21)));
    assert_eq!(there(&mut router, &[]), over_north);
    // The opposite direction is as it was.
    let back = router.route(B, A, [].into_iter()).unwrap();
    assert_eq!(back, [FAR, SOUTH, NEAR].map(LinkId::reverse));
    for link in [SOUTH, NEAR].into_iter().flat_map(|link| [LinkId::forward(link), LinkId::reverse(link)]) {
        router.set_delay(link, None);
    }
    // The southern link is asked for, and the first is the host's only one.
    assert_eq!(there(&mut router, &[SOUTH]), over_south);
    assert_eq!(there(&mut router, &[]), over_north);
    router.set_delay(south, Some(Span::from_millis(19)));
    assert_eq!(there(&mut router, &[]), over_south);
}

#[test]
fn a_gateway_is_shown_what_enters_its_link_and_what_comes_out_of_the_opposite() {
    let mut topology = topology();
    let gateway: GatewaySpec = serde_json::from_str(r#"{"scheme":"ewa"}"#).unwrap();
    Arc::make_mut(&mut topology.links[SOUTH].forward).gateway = Some(gateway);
    let mut router = Router::new(&topology);
    let mut net = network(&topology);
    let ways = [(A, B, SOUTH), (B, A, SOUTH), (A, B, NORTH)];
    let routes = ways.map(|(from, to, via)| {
        let way = router.route(from, to, [via].into_iter()).unwrap();
        net.add_route(&way)
    });
    net.mark_passing(&[]);
    for (number, route) in (0..).zip(routes) {
        net.outgoing().number = number;
        net.inject(route, 1000);
    }
    let mut arrived: Vec<_> = run(&mut net, Time::NEVER).into_iter().map(|(_, packet)| packet).collect();
    arrived.sort_unstable_by_key(|packet| packet.number);
    let shown: Vec<_> = arrived.into_iter().map(|packet| packet.shown).collect();
    // y, a router, is before x on the way back.
    assert_eq!(shown, [vec![(Direction::Forward, 64)], vec![(Direction::Backward, 63)], vec![]]);
    assert!(net.probe.0.is_empty());
}
