//! Sequence numbers: 32 bits that wrap (RFC 9293 section 3.4).

use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Sub};

/// A sequence number. Comparisons are circular: `a < b` when `b` lies less than 2^31 ahead of `a`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seq(pub u32);

impl Seq {
    /// How far `self` lies ahead of `other`; negative when behind.
    #[inline]
    pub const fn diff(self, other: Seq) -> i32 {
        self.0.wrapping_sub(other.0) as i32
    }

    /// The later of the two.
    #[inline]
    pub fn max(self, other: Seq) -> Seq {
        if self.diff(other) >= 0 { self } else { other }
    }

    /// The earlier of the two.
    #[inline]
    pub fn min(self, other: Seq) -> Seq {
        if self.diff(other) <= 0 { self } else { other }
    }
}

impl PartialOrd for Seq {
    #[inline]
    fn partial_cmp(&self, other: &Seq) -> Option<Ordering> {
        Some(self.diff(*other).cmp(&0))
    }
}

impl Add<u32> for Seq {
    type Output = Seq;
    #[inline]
    fn add(self, bytes: u32) -> Seq {
        Seq(self.0.wrapping_add(bytes))
    }
}

impl AddAssign<u32> for Seq {
    #[inline]
    fn add_assign(&mut self, bytes: u32) {
        *self = *self + bytes;
    }
}

impl Sub<u32> for Seq {
    type Output = Seq;
    #[inline]
    fn sub(self, bytes: u32) -> Seq {
        Seq(self.0.wrapping_sub(bytes))
    }
}

impl Sub for Seq {
    type Output = u32;
    /// The bytes from `earlier` up to `self`.
    #[inline]
    fn sub(self, earlier: Seq) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_holds_across_the_wrap() {
        let before = Seq(u32::MAX - 10);
        let after = before + 20;
        assert!(before < after);
        assert_eq!(after - before, 20);
        assert_eq!(before.max(after), after);
        assert_eq!(before.min(after), before);
        assert_eq!(after.0, 9);
    }
}
