//! What the versions of BBR share: a maximum over rounds, numbers in few instructions, and a draw that needs no generator.

use bentpipe_units::{Span, Time};

/// The largest of the values of the last rounds, which are counted by whoever keeps it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundMax<const SLOTS: usize> {
    rounds: [f64; SLOTS],
    newest: u64,
    /// The value of that round, and where it is.
    now: f64,
    slot: usize,
    max: f64,
}

impl<const SLOTS: usize> Default for RoundMax<SLOTS> {
    fn default() -> Self {
        RoundMax { rounds: [0.0; SLOTS], newest: 0, now: 0.0, slot: 0, max: 0.0 }
    }
}

impl<const SLOTS: usize> RoundMax<SLOTS> {
    /// The largest value; 0 before there is any.
    #[inline]
    pub(super) fn get(&self) -> f64 {
        self.max
    }

    /// `round` has a value. What is older than the last `keep` rounds, this one among them, counts no longer; a round without a
    /// value lets nothing go.
    #[inline(always)]
    pub(super) fn add(&mut self, round: u64, keep: u64, value: f64) {
        if round != self.newest {
            self.begin(round, keep);
        }
        if value > self.now {
            self.now = value;
            self.rounds[self.slot] = value;
            self.max = self.max.at_least(value);
        }
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self, round: u64, keep: u64) {
        let keep = keep.min(SLOTS as u64);
        for back in 0..SLOTS as u64 {
            let known = back >= round.saturating_sub(self.newest);
            if back >= keep || !known {
                self.rounds[((round + SLOTS as u64 - back) % SLOTS as u64) as usize] = 0.0;
            }
        }
        self.newest = round;
        self.slot = (round % SLOTS as u64) as usize;
        self.now = self.rounds[self.slot];
        self.max = self.rounds.iter().copied().fold(0.0, f64::max);
    }
}

/// The larger and the smaller of two numbers that both are numbers: one instruction, where [`f64::max`] and [`f64::min`] look for what
/// is none.
pub(super) trait Bounded {
    fn at_least(self, least: f64) -> f64;
    fn at_most(self, most: f64) -> f64;
}

impl Bounded for f64 {
    #[inline(always)]
    fn at_least(self, least: f64) -> f64 {
        if self > least { self } else { least }
    }

    #[inline(always)]
    fn at_most(self, most: f64) -> f64 {
        if self < most { self } else { most }
    }
}

/// A count as a number: below 2^63, as bytes and nanoseconds of a connection are, one instruction, where a [`u64`] takes six.
#[inline(always)]
pub(super) fn number(count: u64) -> f64 {
    count as i64 as f64
}

/// [`Span::as_secs`] of a time that passes within a connection.
#[inline(always)]
pub(super) fn seconds(span: Span) -> f64 {
    number(span.as_nanos()) / 1e9
}

/// [`f64::ceil`] of what is not negative, without the call that it is on the oldest of x86-64.
#[inline]
pub(super) fn ceil(x: f64) -> f64 {
    if x >= f64::from(u32::MAX) {
        return x.ceil();
    }
    let below = f64::from(x as u32);
    if below < x { below + 1.0 } else { below }
}

/// [`f64::floor`] of what is not negative, in the same way.
#[inline]
pub(super) fn floor(x: f64) -> f64 {
    if x < f64::from(u32::MAX) { f64::from(x as u32) } else { x.floor() }
}

/// A number below `below`, drawn by the time: it is the same in every run, and another for each flow.
pub(super) fn draw(now: Time, below: u64) -> u64 {
    // SplitMix64's finalizer.
    let mut mixed = now.as_nanos().wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) % below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_is_kept_for_its_rounds_and_as_long_as_none_follows() {
        let mut max = RoundMax::<4>::default();
        let values =
            [(0, 5.0, 5.0), (0, 3.0, 5.0), (1, 2.0, 5.0), (2, 4.0, 5.0), (3, 1.0, 4.0), (9, 0.5, 0.5)];
        for (round, value, expected) in values {
            max.add(round, 3, value);
            assert_eq!(max.get(), expected, "round {round}");
        }
        max.add(10, 1, 0.25);
        assert_eq!(max.get(), 0.25, "one round is kept, this one");
    }

    #[test]
    fn whole_numbers_are_those_of_the_library() {
        let some =
            [0.0, 0.25, 0.999, 1.0, 1.5, 44.0, 44.000_001, 1e9 + 0.5, 4_294_967_294.5, 4_294_967_295.0];
        for x in some.into_iter().chain([4_294_967_295.5, 1e15 + 0.5, 1e300, f64::INFINITY]) {
            assert_eq!((ceil(x), floor(x)), (x.ceil(), x.floor()), "{x}");
        }
    }

    #[test]
    fn draws_cover_what_they_may() {
        let mut seen = [0; 7];
        (0..700).for_each(|ms| seen[draw(Time::from_nanos(ms * 1_000_000), 7) as usize] += 1);
        assert!(seen.iter().all(|count| (60..140).contains(count)), "{seen:?}");
    }
}
