//! What the links on a flow's route carry at best, as they change and as handovers move the flow.

use std::collections::HashSet;

use bentpipe_net::{LinkId, NodeId, Router};
use bentpipe_path::{Change, LinkConfig, LossSpec};
use bentpipe_tcp::Config;

use bentpipe_units::Rate;

use bentpipe_scenario::{FlowSpec, Routing, Scenario};

/// What the routes of some flows carry at best.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// The narrowest directions of links, each once, in the order of flows and time.
    pub links: Vec<String>,
    /// Payload, in bits a second, averaged over the time that was asked for.
    pub payload_bps: f64,
}

/// IPv4 and TCP without options, in bytes (RFC 791, RFC 9293).
const HEADERS: f64 = 40.0;

/// The timestamps option with its padding, in bytes (RFC 7323 appendix A).
const TIMESTAMPS: f64 = 12.0;

/// What the routes of `flows`, indices in `scenario.flows`, carry of their data between two times in seconds, at best: of each link on a route the
/// mean rate less what is lost on it and behind it, of these the least, of that the share of a full packet that is payload, and all of them
/// together, a link that is the narrowest of several flows counted once.
///
/// None of a flow over UDP, which asks for a rate of its own, where routing is dynamic, over a constellation, and between times that are the same.
pub fn carried(scenario: &Scenario, flows: &[usize], from_s: f64, to_s: f64) -> Option<Carried> {
    let udp = flows.iter().any(|flow| scenario.flows[*flow].app.over_udp());
    let moves = scenario.routing == Routing::Dynamic || scenario.constellation.is_some();
    if udp || moves || from_s >= to_s {
        return None;
    }
    let mut found = Carried { links: Vec::new(), payload_bps: 0.0 };
    // What was counted: a link, from a time on.
    let mut counted = HashSet::new();
    let mut cuts = vec![from_s, to_s];
    cuts.extend(scenario.handovers.iter().map(|handover| handover.at.as_secs().clamp(from_s, to_s)));
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    for flow in flows {
        let spec = &scenario.flows[*flow];
        let packet = f64::from(spec.sender.mss) + HEADERS;
        let share = payload(&spec.sender, &spec.receiver) / packet;
        let routes = routes(scenario, *flow, spec)?;
        for (place, cut) in cuts.windows(2).enumerate() {
            let (_, route) = routes.iter().rfind(|(since_s, _)| *since_s <= cut[0])?;
            let (link, bits) = narrowest(scenario, route, cut[0], cut[1], packet as u32)?;
            if counted.insert((place, link)) {
                found.payload_bps += bits * share / (to_s - from_s);
                let name = name(scenario, link);
                if !found.links.contains(&name) {
                    found.links.push(name);
                }
            }
        }
    }
    Some(found)
}

fn payload(sender: &Config, receiver: &Config) -> f64 {
    let options = if sender.timestamps && receiver.timestamps { TIMESTAMPS } else { 0.0 };
    f64::from(sender.mss) - options
}

/// The routes of a flow, each with the time from which on it takes it, in seconds.
pub(crate) fn routes(scenario: &Scenario, flow: usize, spec: &FlowSpec) -> Option<Vec<(f64, Vec<LinkId>)>> {
    let mut router = Router::new(&scenario.topology());
    let (from, to) = (NodeId(spec.from as u32), NodeId(spec.to as u32));
    let mut routes = vec![(0.0, router.route(from, to, spec.via.iter().copied())?)];
    for handover in &scenario.handovers {
        if let Some(place) = handover.flows.iter().position(|moved| *moved == flow) {
            let route = router.route(from, to, handover.via[place].iter().copied())?;
            routes.push((handover.at.as_secs(), route));
        }
    }
    routes.sort_by(|(one_s, _), (other_s, _)| one_s.total_cmp(other_s));
    Some(routes)
}

/// The link of `route` that brings the fewest bits to its end between two times, and how many.
fn narrowest(
    scenario: &Scenario,
    route: &[LinkId],
    begin_s: f64,
    end_s: f64,
    bytes: u32,
) -> Option<(LinkId, f64)> {
    let topology = scenario.topology();
    let setups: Vec<&LinkConfig> = topology.directions().map(|(_, direction)| &direction.link).collect();
    let mut behind = 1.0;
    let mut found: Option<(LinkId, f64)> = None;
    for link in route.iter().rev() {
        let setup = setups[link.index()];
        let bits = through(setup, begin_s, end_s, bytes) * behind;
        if found.is_none_or(|(_, least)| bits < least) {
            found = Some((*link, bits));
        }
        behind *= setup.repair.delivered(setup.loss.mean_loss(bytes).unwrap_or(0.0));
    }
    found
}

fn name(scenario: &Scenario, link: LinkId) -> String {
    let name = &scenario.links[link.index() / 2].name;
    if link.index().is_multiple_of(2) { name.clone() } else { format!("{name}/reverse") }
}

/// The bits that come out of a link whole between two times, in seconds, when it sends all the while.
fn through(link: &LinkConfig, begin_s: f64, end_s: f64, bytes: u32) -> f64 {
    let speed = |rate: Rate, share: f64| rate.scaled(link.efficiency).as_bps() as f64 * share;
    let carried = |loss: &LossSpec| link.repair.carried(loss.mean_loss(bytes).unwrap_or(0.0));
    let share = |change: &Change| change.loss.as_ref().map(carried);
    let (mut rate, mut whole) = (link.rate, carried(&link.loss));
    let (mut bits, mut at_s) = (0.0, begin_s);
    let mut up_again_s = 0.0_f64;
    let mut until = |next_s: f64, rate, whole, up_again_s: f64| {
        let next_s = next_s.clamp(at_s, end_s);
        bits += speed(rate, whole) * (next_s - up_again_s.clamp(at_s, next_s));
        at_s = next_s;
    };
    for (at, change) in link.schedule.changes().take_while(|(at, _)| at.as_secs() < end_s) {
        until(at.as_secs(), rate, whole, up_again_s);
        rate = change.rate.unwrap_or(rate);
        whole = share(change).unwrap_or(whole);
        if let Some(outage) = change.outage {
            up_again_s = (at + outage).as_secs();
        }
    }
    until(end_s, rate, whole, up_again_s);
    bits
}

#[cfg(test)]
mod tests {
    use super::{Carried, carried};
    use bentpipe_scenario::{Scenario, parse_str};

    const TWO_LINKS: &str = "[links.up]\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\n\
        loss = { model = \"packet\", probability = 0.5 }\n\
        [links.down]\nfrom = \"b\"\nto = \"c\"\nrate = \"5 Mbit/s\"\ndelay = \"10 ms\"\n\
        [links.way]\nfrom = \"a\"\nto = \"c\"\nrate = \"1 Mbit/s\"\ndelay = \"500 ms\"\n\
        [tcp]\nmss = \"960 B\"\n[flows.f]\nfrom = \"a\"\nto = \"c\"\nbytes = \"1 MB\"\n";

    fn scenario(more: &str) -> Scenario {
        parse_str("test", &format!("{TWO_LINKS}{more}"), &[]).unwrap_or_else(|error| panic!("{error}"))
    }

    fn of(more: &str, from_s: f64, to_s: f64) -> Option<Carried> {
        carried(&scenario(more), &[0], from_s, to_s)
    }

    fn is(found: Option<Carried>, links: &[&str], bps: f64) {
        let found = found.unwrap_or_else(|| panic!("nothing"));
        assert_eq!(found.links, links);
        assert!((found.payload_bps / bps - 1.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn what_a_link_repairs_costs_time_of_its_own_and_none_of_the_links_before_it() {
        // Half of the frames of `up` are lost, and sent again; or two of three, or parity and the packet, are.
        let with = |repair: &str| {
            of(&format!("[links.down.reverse]\n[links.up.reverse]\n[links.up.{repair}"), 0.0, 10.0)
        };
        is(with("arq]\nattempts = 3\n"), &["up"], 8e6 * 0.5 * 0.96);
        let parity = with("fec]\nmodel = \"packets\"\ndata = 1\nparity = 2\n");
        is(parity, &["up"], 8e6 / 3.0 * 0.875 * 0.96);
        // Behind a link that loses an eighth for good, `down` is the narrow one where it brings less than seven eighths.
        let behind =
            "[links.down.loss]\nmodel = \"packet\"\nprobability = 0.5\n[links.down.arq]\nattempts = 3\n";
        is(of(behind, 0.0, 10.0), &["down"], 5e6 * 0.5 * 0.96);
    }

    #[test]
    fn half_of_the_faster_link_is_less_than_the_slower_one() {
        is(of("", 0.0, 10.0), &["up"], 8e6 * 0.5 * 0.96);
    }

    #[test]
    fn a_link_that_changes_counts_with_its_mean_and_not_in_its_outage() {
        // 2 s at 5, 1 s of nothing, 2 s at 5, 5 s at 1 Mbit/s.
        let schedule = "[[links.down.schedule]]\nat = \"2 s\"\noutage = \"1 s\"\n\
            [[links.down.schedule]]\nat = \"5 s\"\nrate = \"1 Mbit/s\"\n";
        is(of(schedule, 0.0, 10.0), &["down"], 2.5e6 * 0.96);
        is(of(schedule, 2.5, 3.5), &["down"], 2.5e6 * 0.96);
    }

    #[test]
    fn a_link_whose_changes_repeat_counts_each_round() {
        // Of each 2 s, half at 1 and half at 3 Mbit/s; at the end half a second at 1.
        let schedule = "[[links.down.schedule]]\nat = \"0 s\"\nrate = \"1 Mbit/s\"\n\
            [[links.down.schedule]]\nat = \"1 s\"\nrate = \"3 Mbit/s\"\n\
            [[links.down.schedule]]\nat = \"2 s\"\nrepeat = true\n";
        is(of(schedule, 0.0, 10.0), &["down"], 2e6 * 0.96);
        is(of(schedule, 7.0, 8.5), &["down"], 3.5e6 / 1.5 * 0.96);
    }

    #[test]
    fn after_a_handover_the_new_way_counts() {
        let handover = "[handovers.h]\nat = \"4 s\"\nflows = [\"f\"]\nvia = [\"way\"]\n";
        is(of(handover, 0.0, 10.0), &["up", "way"], (0.4 * 4e6 + 0.6 * 1e6) * 0.96);
        is(of(handover, 5.0, 6.0), &["way"], 1e6 * 0.96);
    }

    #[test]
    fn a_link_that_is_the_narrowest_of_two_flows_counts_once() {
        let other = "[flows.g]\nfrom = \"a\"\nto = \"c\"\nbytes = \"1 MB\"\n";
        let handover = "[handovers.h]\nat = \"4 s\"\nflows = [\"g\"]\nvia = [\"way\"]\n";
        let scenario = scenario(&format!("{other}{handover}"));
        is(carried(&scenario, &[0, 1], 0.0, 4.0), &["up"], 4e6 * 0.96);
        is(carried(&scenario, &[0, 1], 0.0, 10.0), &["up", "way"], (4e6 + 0.6 * 1e6) * 0.96);
    }

    #[test]
    fn timestamps_take_their_place_in_each_packet() {
        let text = TWO_LINKS.replace("mss = \"960 B\"", "mss = \"960 B\"\ntimestamps = true");
        let scenario = parse_str("test", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
        is(carried(&scenario, &[0], 0.0, 1.0), &["up"], 4e6 * 0.948);
    }

    #[test]
    fn there_is_none_of_udp_of_dynamic_ways_and_of_no_time() {
        assert_eq!(of("", 1.0, 1.0), None);
        let text = format!("routing = \"dynamic\"\n{TWO_LINKS}");
        let scenario = parse_str("test", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(carried(&scenario, &[0], 0.0, 1.0), None);
    }
}
