//! Redistribution: the fixed point of sharing again what limited flows leave.

use proptest::prelude::*;

use super::super::share::{Claim, water_level};

fn claims(pairs: &[(f64, f64)]) -> Vec<Claim> {
    pairs.iter().map(|(demand, rtt)| Claim { demand: *demand, rtt: *rtt }).collect()
}

fn level(pairs: &[(f64, f64)], capacity: f64) -> f64 {
    water_level(&mut claims(pairs), capacity)
}

/// The rule as it is told: those below their share keep what they use, the rest is shared again, until nothing changes.
fn iterated(claims: &[Claim], capacity: f64) -> Option<f64> {
    let mut limited = vec![false; claims.len()];
    loop {
        let kept: f64 = claims.iter().zip(&limited).filter(|(_, l)| **l).map(|(c, _)| c.demand).sum();
        let rtts: f64 = claims.iter().zip(&limited).filter(|(_, l)| !**l).map(|(c, _)| c.rtt).sum();
        if rtts == 0.0 {
            return None;
        }
        let level = (capacity - kept) / rtts;
        let now: Vec<_> = claims.iter().zip(&limited).map(|(c, l)| *l || c.demand < level * c.rtt).collect();
        if now == limited {
            return Some(level);
        }
        limited = now;
    }
}

#[test]
fn without_limited_flows_it_is_equation_1() {
    let all = f64::INFINITY;
    assert_eq!(level(&[(all, 160.0), (all, 240.0), (all, 400.0)], 60_000.0), 75.0);
}

#[test]
fn what_a_limited_flow_leaves_goes_to_the_others_by_round_trip_time() {
    let all = f64::INFINITY;
    // 60,000 bytes: 10,000 stay with the first, 50,000 over 100 + 400.
    assert_eq!(level(&[(10_000.0, 200.0), (all, 100.0), (all, 400.0)], 60_000.0), 100.0);
    // The second is only limited by what the first leaves to it.
    assert_eq!(level(&[(10_000.0, 200.0), (9_000.0, 100.0), (all, 410.0)], 60_000.0), 100.0);
}

#[test]
fn where_all_are_limited_everyone_has_what_they_need_and_a_share_of_the_rest() {
    assert_eq!(level(&[(100.0, 10.0), (100.0, 20.0)], 500.0), 10.0 + 500.0_f64.min(300.0) / 30.0);
    assert_eq!(level(&[(0.0, 10.0)], 500.0), 50.0);
}

proptest! {
    #[test]
    fn the_level_is_the_fixed_point_of_the_iteration(
        pairs in prop::collection::vec((prop_oneof![3 => 0.0..1e5, 1 => Just(f64::INFINITY)], 1.0..1e3), 1..40),
        capacity in 1.0..1e6,
    ) {
        let mut claims = claims(&pairs);
        let expected = iterated(&claims, capacity);
        let level = water_level(&mut claims, capacity);
        match expected {
            Some(expected) => prop_assert!((level / expected - 1.0).abs() < 1e-9, "{level}, {expected}"),
            None => prop_assert!(claims.iter().all(|claim| claim.demand <= level * claim.rtt * (1.0 + 1e-9))),
        }
    }
}
