//! A network with a payload and a probe of its own: every packet is told of, and passing links change nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use bentpipe_net::{
    Carried, DirectionSetup, LinkId, LinkSetup, Lost, Meeting, Network, NodeId, Probe, RouteId, Router,
    Topology,
};
use bentpipe_path::gateway::Direction;
use bentpipe_path::{Label, LinkConfig, LossSpec, QueueSpec, Repair, Schedule};
use bentpipe_units::{Rate, Span, Time};
use proptest::prelude::*;

/// A packet of which only its number is known.
#[derive(Clone, Debug, Default)]
struct Numbered(u64);

impl Carried for Numbered {
    type Names = ();

    fn label(&self, (): &()) -> Label {
        Label::default()
    }

    fn mark(&mut self) {}

    fn show(&mut self, (): &(), _: u8, _: Direction, _: Meeting<'_>) {}
}

#[derive(Debug, Default, PartialEq)]
struct Heard {
    sent: BTreeSet<(Time, u64)>,
    arrived: BTreeSet<(Time, u64)>,
    /// With the time at which it is lost, whenever that was told.
    lost: BTreeSet<(Time, u64, String)>,
    taken: BTreeSet<(Time, LinkId)>,
}

impl Probe<Numbered> for Heard {
    fn follows(&self) -> bool {
        true
    }

    fn sent(&mut self, now: Time, packet: &Numbered) {
        self.sent.insert((now, packet.0));
    }

    fn arrived(&mut self, now: Time, packet: &Numbered) {
        self.arrived.insert((now, packet.0));
    }

    fn taken(&mut self, now: Time, at: Time, link: LinkId, state: &mut bentpipe_path::Link) {
        assert!(now <= at && state.last_begins() >= Some(at));
        self.taken.insert((at, link));
    }

    fn lost(&mut self, now: Time, at: Time, packet: &Numbered, why: Lost) {
        assert!(now <= at);
        self.lost.insert((at, packet.0, format!("{why:?}")));
    }
}

/// a – b – c – d, and e – c beside it.
fn topology() -> Topology {
    let link = |name: &str, [from, to]: [u32; 2], rate, queue, loss: LossSpec| {
        let link = LinkConfig {
            rate: Rate::from_bps(rate),
            delay: Span::from_millis(3),
            efficiency: 1.0,
            queue,
            loss: loss.clone(),
            schedule: Schedule::default(),
            repair: Repair::None,
        };
        let direction = Arc::new(DirectionSetup { link, gateway: None });
        let (from, to) = (NodeId(from), NodeId(to));
        LinkSetup { name: name.to_owned(), from, to, forward: direction.clone(), reverse: direction }
    };
    let packets = |number| serde_json::from_str::<QueueSpec>(&format!("\"{number} packets\"")).unwrap();
    let lossy = || LossSpec::Packet { probability: 0.05 };
    let links = vec![
        link("ab", [0, 1], 10_000_000, QueueSpec::Unlimited, LossSpec::None),
        link("bc", [1, 2], 5_000_000, packets(4), lossy()),
        link("cd", [2, 3], 3_000_000, packets(3), lossy()),
        link("ec", [4, 2], 10_000_000, packets(3), LossSpec::None),
    ];
    Topology { nodes: 5, links }
}

/// Sends a packet of each length after each gap, and runs until nothing is under way.
fn play(sends: &[(u64, u32, bool)], beside: bool, passing: bool) -> Heard {
    let topology = topology();
    let mut router = Router::new(&topology);
    let mut net: Network<Numbered, Heard> = Network::new(&topology, 7, Time::NEVER, (), Heard::default());
    let mut route = |net: &mut Network<Numbered, Heard>, from, to| -> RouteId {
        let way = router.route(NodeId(from), NodeId(to), std::iter::empty()).unwrap();
        net.add_route(&way)
    };
    let mut routes = vec![route(&mut net, 0, 3)];
    if beside {
        routes.push(route(&mut net, 4, 3));
    }
    net.mark_passing(&[]);
    // Without another feeder of cd, a – b and b – c pass to links that nobody else feeds.
    assert!(net.passes(LinkId::forward(0)));
    assert_eq!(net.passes(LinkId::forward(1)), !beside);
    assert!(!net.passes(LinkId::forward(2)));
    if !passing {
        assert!(net.pass_nothing());
    }
    let mut now = Time::ZERO;
    let mut taken = BTreeSet::new();
    let run = |net: &mut Network<Numbered, Heard>, until: Time, taken: &mut BTreeSet<(Time, u64)>| {
        while net.next_time() <= until && net.next_time() != Time::NEVER {
            let at = net.next_time();
            if let Some(arrived) = net.poll(at) {
                taken.insert((at, net.take(arrived).0));
            }
        }
    };
    for (number, (gap, bytes, other)) in sends.iter().enumerate() {
        now += Span::from_nanos(1000 * *gap);
        run(&mut net, now, &mut taken);
        net.advance(now);
        net.outgoing().0 = number as u64;
        net.inject(routes[usize::from(*other && beside)], *bytes);
    }
    run(&mut net, Time::NEVER, &mut taken);
    assert_eq!(taken, net.probe.arrived, "what is polled is what is told");
    net.probe
}

const EPOCH: Span = Span::from_millis(20);
const LINKS: usize = 8;

/// Between the changes of a network: the ways that packets are sent on, and a link's delay from then on in ms.
type Epoch = (Vec<Vec<usize>>, (usize, u64));

/// Sends a packet of each length after each gap over ways that change, and runs until nothing is under way; returns also how many events
/// there were, and what each link had done at each change.
fn play_epochs(sends: &[(u64, u32, usize)], epochs: &[Epoch], ahead: bool) -> (Heard, usize, String) {
    let kinds = [0, 2].map(|number| topology().links[number].clone());
    let links = (0..LINKS).map(|number| {
        let mut link =
            LinkSetup { name: format!("l{number}"), ..kinds[usize::from(number % 3 == 2)].clone() };
        if number % 3 == 1 {
            // A packet takes a part of a nanosecond beside whole ones.
            Arc::make_mut(&mut link.forward).link.rate = Rate::from_bps(7_000_000_000);
        }
        link
    });
    let topology = Topology { nodes: 2, links: links.collect() };
    let mut net: Network<Numbered, Heard> = Network::new(&topology, 7, Time::NEVER, (), Heard::default());
    net.mark_passing(&[]);
    if !ahead {
        net.pass_nothing();
    }
    let (mut events, mut stats) = (0, String::new());
    let mut sends = sends.iter().zip(0..);
    let mut send = sends.next();
    let mut at = Time::ZERO;
    for number in 0_u32.. {
        let (ways, (changed, delay)) = &epochs[number as usize % epochs.len()];
        let begin = Time::ZERO + EPOCH * u64::from(number);
        let end = begin + EPOCH;
        net.set_delay(LinkId::forward(*changed), Span::from_millis(*delay));
        let ways = ways.iter().map(|way| way.iter().map(|link| LinkId::forward(*link)).collect::<Vec<_>>());
        let routes: Vec<RouteId> = ways.map(|way| net.add_route(&way)).collect();
        net.go_ahead(&routes, end);
        loop {
            let next = send.map(|((gap, ..), _)| at + Span::from_nanos(1000 * gap));
            let now = net.next_time().min(next.unwrap_or(Time::NEVER));
            if now > end {
                break;
            }
            if net.next_time() == now {
                events += 1;
                if let Some(arrived) = net.poll(now) {
                    net.discard(arrived);
                }
                continue;
            }
            net.advance(now);
            if let Some(((_, bytes, way), number)) = send {
                net.outgoing().0 = number;
                net.inject(routes[way % routes.len()], *bytes);
            }
            (at, send) = (now, sends.next());
        }
        net.advance(end);
        net.settle();
        let links = net.links_mut();
        stats += &links.iter_mut().map(|link| format!("{:?}\n", link.stats(end))).collect::<String>();
        if send.is_none() && links.iter().all(|link| link.in_flight_packets() == 0) {
            return (net.probe, events, stats);
        }
    }
    unreachable!()
}

/// Ways over some of the links, each over a link once, and a delay.
fn epoch() -> impl Strategy<Value = Epoch> {
    let way = (Just((0..LINKS).collect::<Vec<_>>()).prop_shuffle(), 1..=LINKS);
    let way = way.prop_map(|(links, many)| links[..many].to_vec());
    (prop::collection::vec(way, 1..4), (0..LINKS, 1_u64..15))
}

fn gap() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 0_u64..3000]
}

#[test]
fn packets_go_ahead_over_links_that_one_feeds() {
    let sends = [(500, 1000, 0); 100];
    let epochs = [(vec![(0..LINKS).collect()], (0, 3))];
    let [ahead, each] = [true, false].map(|ahead| play_epochs(&sends, &epochs, ahead));
    assert_eq!((&ahead.0, &ahead.2), (&each.0, &each.2));
    assert!(ahead.1 * 5 < each.1, "{} and {} events", ahead.1, each.1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn going_ahead_changes_nothing(
        sends in prop::collection::vec((gap(), prop::sample::select(vec![40, 52, 1500]), 0_usize..4), 1..150),
        epochs in prop::collection::vec(epoch(), 1..6),
    ) {
        let [ahead, each] = [true, false].map(|ahead| play_epochs(&sends, &epochs, ahead));
        prop_assert_eq!(ahead.0, each.0);
        prop_assert_eq!(ahead.2, each.2);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_arrives_or_is_told_lost_and_passing_links_change_nothing(
        sends in prop::collection::vec((0_u64..3000, 40_u32..1500, any::<bool>()), 1..200),
        beside in any::<bool>(),
    ) {
        let heard = play(&sends, beside, true);
        let numbers = heard.arrived.iter().map(|(_, number)| *number);
        let ends: Vec<u64> = numbers.chain(heard.lost.iter().map(|(_, number, _)| *number)).collect();
        prop_assert_eq!(ends.len(), sends.len());
        prop_assert_eq!(ends.into_iter().collect::<BTreeSet<_>>().len(), sends.len());
        prop_assert_eq!(heard.sent.len(), sends.len());
        prop_assert_eq!(heard, play(&sends, beside, false));
    }
}
