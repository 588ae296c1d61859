//! Redistribution: what flows that are limited elsewhere cannot use goes to the others.

/// A flow as the redistribution sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Claim {
    /// Window in bytes that the flow can use; infinite if that is not known.
    pub(super) demand: f64,
    /// Round-trip time in nanoseconds, above 0.
    pub(super) rtt: f64,
}

impl Claim {
    /// The level from which on the demand is met.
    fn level(&self) -> f64 {
        self.demand / self.rtt
    }
}

/// The level λ, in bytes of window a nanosecond of round-trip time, at which Σ min(demand, λ RTT) = `capacity` bytes.
///
/// This is the fixed point of "those below their share keep what they use, the rest is shared again by RTT, until nothing
/// changes", found in O(N) by halving around medians. Where all demands fit, what is left is shared by RTT above the
/// highest level that anyone needs. The order of `claims` changes.
pub(super) fn water_level(claims: &mut [Claim], capacity: f64) -> f64 {
    let everyone: f64 = claims.iter().map(|claim| claim.rtt).sum();
    let highest = claims.iter().map(Claim::level).fold(0.0, f64::max);
    let mut capacity = capacity;
    // Round-trip times of the flows that are known to take λ RTT.
    let mut sharing = 0.0;
    let mut open = claims;
    while !open.is_empty() {
        let middle = open.len() / 2;
        open.select_nth_unstable_by(middle, |a, b| a.level().total_cmp(&b.level()));
        let level = open[middle].level();
        let met: f64 = open[..=middle].iter().map(|claim| claim.demand).sum();
        let above: f64 = open[middle + 1..].iter().map(|claim| claim.rtt).sum::<f64>() + sharing;
        let needed = if above > 0.0 { met + level * above } else { met };
        if needed <= capacity {
            capacity -= met;
            open = &mut open[middle + 1..];
        } else {
            sharing = above + open[middle].rtt;
            open = &mut open[..middle];
        }
    }
    if sharing > 0.0 { capacity / sharing } else { highest + capacity / everyone }
}
