//! The table of flows: bounded, in order, at the same cost whatever is in it.

use super::super::flows::FlowTable;
use super::*;

fn active(table: &mut FlowTable) -> Vec<u64> {
    let mut rtts = Vec::new();
    table.each_active(|_, rtt| rtts.push(rtt.unwrap_or(0)));
    rtts
}

fn add(table: &mut FlowTable, n: u32, now: Time) -> u32 {
    let at = table.find(&key(n)).unwrap_or_else(|| table.insert(key(n)));
    table.activate(at, now);
    table.set_rtt(at, Some(u64::from(n)));
    at
}

// xfwa, section III: a table of flows, their round trips and their last transmission
#[test]
fn flows_stand_in_the_order_of_their_last_data() {
    // `xfwa`, section III: "a table of active flows ID, an estimate of their RTTs, and their last packet transmission time".
    let mut table = FlowTable::new(10);
    for (n, ms) in [(1, 0), (2, 1), (3, 2), (1, 3)] {
        add(&mut table, n, at(ms));
    }
    assert_eq!(active(&mut table), [2, 3, 1]);
    table.expire(at(11), Span::from_millis(10));
    assert_eq!(active(&mut table), [3, 1]);
    assert_eq!((table.active_flows(), table.mean_rtt(), table.len()), (2, Some(2.0), 3));
    add(&mut table, 2, at(12));
    assert_eq!(active(&mut table), [3, 1, 2]);
    table.remove(table.find(&key(1)).unwrap());
    assert_eq!(active(&mut table), [3, 2]);
    assert_eq!((table.mean_rtt(), table.len(), table.find(&key(1))), (Some(2.5), 2, None));
}

#[test]
fn a_flow_is_active_for_less_than_delta() {
    let mut table = FlowTable::new(10);
    add(&mut table, 1, at(0));
    table.expire(Time::from_nanos(9_999_999), Span::from_millis(10));
    assert_eq!(table.active_flows(), 1);
    table.expire(at(10), Span::from_millis(10));
    assert_eq!(table.active_flows(), 0);
}

#[test]
fn the_oldest_makes_way_and_idle_flows_first() {
    let mut table = FlowTable::new(3);
    add(&mut table, 1, at(0));
    table.insert(key(2));
    add(&mut table, 3, at(1));
    add(&mut table, 4, at(2));
    assert_eq!(table.find(&key(2)), None, "idle");
    add(&mut table, 5, at(3));
    assert_eq!(table.find(&key(1)), None, "longest without data");
    assert_eq!(active(&mut table), [3, 4, 5]);
    assert_eq!((table.evicted(), table.len(), table.mean_rtt()), (2, 3, Some(4.0)));
}

#[test]
fn round_trip_times_may_change_and_become_unknown() {
    let mut table = FlowTable::new(3);
    let one = add(&mut table, 1, at(0));
    let two = add(&mut table, 2, at(0));
    table.set_rtt(one, Some(10));
    assert_eq!(table.mean_rtt(), Some(6.0));
    table.set_rtt(two, None);
    assert_eq!(table.mean_rtt(), Some(10.0));
    table.set_rtt(one, None);
    assert_eq!((table.mean_rtt(), table.active_flows()), (None, 2));
}

/// List operations for one round of a data segment and an acknowledgment of each of `flows` flows.
fn steps_a_flow(flows: u32) -> f64 {
    let mut gateway =
        gateway(GatewaySpec::Xfwa(XfwaOptions { max_flows: 2 * flows, redistribute: true, ..by_ttl() }));
    let round = |gateway: &mut Gateway, start: u64| {
        for n in 0..flows {
            // A tenth of the flows is new or comes back in every round.
            let now = Time::from_nanos(start + u64::from(n) * 40_000_000 / u64::from(flows));
            let id = if n % 10 == 0 { n + start as u32 % 7 } else { n };
            gateway.forward(now, &data(id), &T1);
            gateway.backward(now, &ack(id, 65_535), &T1);
        }
    };
    round(&mut gateway, 0);
    let before = gateway.flows.steps;
    for n in 1..=5 {
        round(&mut gateway, n * 60_000_000);
    }
    (gateway.flows.steps - before) as f64 / f64::from(flows) / 5.0
}

#[test]
fn a_packet_costs_the_same_with_10_and_with_100_000_flows() {
    let (few, many) = (steps_a_flow(10), steps_a_flow(100_000));
    assert!(many <= 3.0 && (few - many).abs() < 0.1, "{few} with 10 flows, {many} with 100,000");
}

#[test]
fn a_flood_of_flows_stays_within_the_bound() {
    let mut gateway = gateway(GatewaySpec::Xfwa(XfwaOptions { max_flows: 100, ..told(100) }));
    for n in 0..10_000 {
        gateway.forward(at(1), &byte(n), &T1);
        assert!(gateway.flows.len() <= 100);
    }
    let stats = gateway.stats();
    assert_eq!((stats.flows, stats.flows_max, stats.evicted), (100, 100, 9_900));
}
