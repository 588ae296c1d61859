//! What a flow's way is like from when on: its propagation delay there and back, its narrowest link, and what it loses.

use bentpipe_net::{LinkId, NodeId, Router};
use bentpipe_path::{LinkConfig, LossSpec};
use bentpipe_units::{Rate, Span, Time};

use bentpipe_scenario::{Routing, Scenario};

/// Bytes of the packet whose mean loss stands for a model that counts bits or has bursts.
const PACKET: u32 = 1500;

/// What the way of a flow is like from a time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Along {
    /// From then on.
    pub at: Time,
    /// The propagation delay there and back; none while one of its links lets nothing through.
    pub round_trip: Option<Span>,
    /// What the narrowest link of the way of the data carries, in bits a second.
    pub rate_bps: u64,
    /// The share of packets of 1500 bytes that the links of that way lose, from 0 to 1, as far as it is known.
    pub loss: f64,
}

/// What the way of `flow`, an index in `scenario.flows`, is like from each time on at which it changes, up to `end`.
///
/// None where routing is dynamic, and over a constellation.
pub fn along(scenario: &Scenario, flow: usize, end: Time) -> Option<Vec<Along>> {
    if scenario.routing == Routing::Dynamic || scenario.constellation.is_some() {
        return None;
    }
    let topology = scenario.topology();
    let mut router = Router::new(&topology);
    let spec = scenario.flows.get(flow)?;
    let (from, to) = (NodeId(spec.from as u32), NodeId(spec.to as u32));
    let mut both = |via: &[usize]| {
        let there = router.route(from, to, via.iter().copied())?;
        Some([there, router.route(to, from, via.iter().rev().copied())?])
    };
    let mut changes = vec![(Time::ZERO, Change::Route(both(&spec.via)?))];
    for handover in &scenario.handovers {
        if let Some(place) = handover.flows.iter().position(|moved| *moved == flow) {
            changes.push((Time::ZERO + handover.at, Change::Route(both(&handover.via[place])?)));
        }
    }
    let setups: Vec<&LinkConfig> = topology.directions().map(|(_, direction)| &direction.link).collect();
    let mut used: Vec<usize> = Vec::new();
    for (_, change) in &changes {
        if let Change::Route(routes) = change {
            used.extend(routes.iter().flatten().map(|link| link.index()));
        }
    }
    used.sort_unstable();
    used.dedup();
    for link in used {
        let setup = setups[link];
        let delays = setup.schedule.delays(setup.delay, end).into_iter();
        changes.extend(delays.map(|(at, delay)| (at, Change::Delay(link, delay))));
        for (at, change) in setup.schedule.changes().take_while(|(at, _)| Time::ZERO + *at <= end) {
            let at = Time::ZERO + at;
            changes.extend(change.rate.map(|rate| (at, Change::Rate(link, carried(setup, rate)))));
            changes.extend(change.loss.as_ref().map(|loss| (at, Change::Loss(link, lost(setup, loss)))));
        }
    }
    changes.retain(|(at, _)| *at <= end);
    changes.sort_by_key(|(at, _)| *at);
    let mut links: Vec<Link> = setups
        .iter()
        .map(|setup| Link {
            delay: Some(setup.delay),
            rate_bps: carried(setup, setup.rate),
            loss: lost(setup, &setup.loss),
        })
        .collect();
    let mut routes = [Vec::new(), Vec::new()];
    let mut found: Vec<Along> = Vec::new();
    for (at, change) in changes {
        match change {
            Change::Route(new) => routes = new,
            Change::Delay(link, delay) => links[link].delay = delay,
            Change::Rate(link, rate_bps) => links[link].rate_bps = rate_bps,
            Change::Loss(link, loss) => links[link].loss = loss,
        }
        let there = || routes[0].iter().map(|link| &links[link.index()]);
        let mut delays = routes.iter().flatten().map(|link| links[link.index()].delay);
        let now = Along {
            at,
            round_trip: delays.try_fold(Span::ZERO, |sum, delay| Some(sum + delay?)),
            rate_bps: there().map(|link| link.rate_bps).min().unwrap_or(0),
            loss: 1.0 - there().map(|link| 1.0 - link.loss).product::<f64>(),
        };
        match found.last_mut() {
            Some(last) if last.at == at => *last = now,
            Some(last) if *last == (Along { at: last.at, ..now }) => {}
            _ => found.push(now),
        }
    }
    Some(found)
}

fn carried(setup: &LinkConfig, rate: Rate) -> u64 {
    rate.scaled(setup.efficiency).as_bps()
}

fn lost(setup: &LinkConfig, loss: &LossSpec) -> f64 {
    1.0 - setup.repair.delivered(loss.mean_loss(PACKET).unwrap_or(0.0))
}

/// A direction of a link.
struct Link {
    /// None while it lets nothing through.
    delay: Option<Span>,
    rate_bps: u64,
    loss: f64,
}

enum Change {
    /// The flow's data takes these links, and what goes back takes those.
    Route([Vec<LinkId>; 2]),
    Delay(usize, Option<Span>),
    Rate(usize, u64),
    Loss(usize, f64),
}

#[cfg(test)]
mod tests {
    use bentpipe_units::{Span, Time};

    use super::{Along, along};
    use bentpipe_scenario::parse_str;

    const TWO_LINKS: &str = "[links.up]\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\n\
        [links.up.reverse]\ndelay = \"30 ms\"\nrate = \"1 Mbit/s\"\n\
        [links.down]\nfrom = \"b\"\nto = \"c\"\nrate = \"5 Mbit/s\"\ndelay = \"20 ms\"\n\
        [links.way]\nfrom = \"a\"\nto = \"c\"\nrate = \"2 Mbit/s\"\ndelay = \"500 ms\"\n\
        [flows.f]\nfrom = \"a\"\nto = \"c\"\nvia = [\"up\", \"down\"]\nbytes = \"1 MB\"\n";

    fn found(text: &str) -> Option<Vec<Along>> {
        let scenario = parse_str("test", text, &[]).unwrap_or_else(|error| panic!("{error}"));
        along(&scenario, 0, Time::ZERO + Span::from_millis(10_000))
    }

    fn row(at_ms: u64, rtt_ms: Option<u64>, rate_bps: u64, loss: f64) -> Along {
        let at = Time::ZERO + Span::from_millis(at_ms);
        Along { at, round_trip: rtt_ms.map(Span::from_millis), rate_bps, loss }
    }

    #[test]
    fn it_has_the_delays_of_both_directions_and_the_rate_of_one() {
        assert_eq!(found(TWO_LINKS), Some(vec![row(0, Some(80), 5_000_000, 0.0)]));
    }

    #[test]
    fn it_follows_schedules_handovers_and_outages() {
        let more = "[[links.down.schedule]]\nat = \"2 s\"\ndelay = \"40 ms\"\n\
            [[links.up.schedule]]\nat = \"3 s\"\noutage = \"500 ms\"\n\
            [[links.way.schedule]]\nat = \"4 s\"\ndelay = \"400 ms\"\n\
            [[links.up.reverse.schedule]]\nat = \"4500 ms\"\nrate = \"500 kbit/s\"\n\
            [handovers.h]\nat = \"5 s\"\nflows = [\"f\"]\nvia = [\"way\"]\n\
            [[links.up.reverse.schedule]]\nat = \"6 s\"\ndelay = \"1 ms\"\n\
            [[links.way.schedule]]\nat = \"7 s\"\nrate = \"3 Mbit/s\"\nloss = { model = \"packet\", probability = 0.25 }\n";
        let expected = [
            row(0, Some(80), 5_000_000, 0.0),
            row(2000, Some(100), 5_000_000, 0.0),
            row(3000, None, 5_000_000, 0.0),
            row(3500, Some(100), 5_000_000, 0.0),
            row(5000, Some(900), 2_000_000, 0.0),
            row(7000, Some(900), 3_000_000, 0.25),
        ];
        assert_eq!(found(&format!("{TWO_LINKS}{more}")), Some(expected.to_vec()));
    }

    #[test]
    fn a_schedule_that_repeats_goes_on_to_the_end() {
        let more = "[[links.down.schedule]]\nat = \"0 s\"\ndelay = \"20 ms\"\n\
            [[links.down.schedule]]\nat = \"2 s\"\ndelay = \"40 ms\"\n\
            [[links.down.schedule]]\nat = \"4 s\"\nrepeat = true\n";
        let rows = found(&format!("{TWO_LINKS}{more}")).unwrap_or_default();
        let times: Vec<f64> = rows.iter().map(|row| row.at.as_secs()).collect();
        assert_eq!(times, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
    }

    #[test]
    fn there_is_none_where_routing_is_dynamic() {
        assert_eq!(found(&format!("routing = \"dynamic\"\n{TWO_LINKS}")), None);
    }
}
