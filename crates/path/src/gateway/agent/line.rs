//! Places in a connection's data: sequence numbers that do not wrap.

/// Far from zero, so that what lies before the first byte has a place too.
const FIRST: u64 = 1 << 40;

/// Sequence numbers of one direction of a connection as 64-bit places, told by the newest of them that is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    seq: u32,
    place: u64,
}

impl Line {
    /// The first byte is at `seq`.
    pub(super) fn from(seq: u32) -> Line {
        Line { seq, place: FIRST }
    }

    /// The place of the first byte.
    pub(super) const FIRST: u64 = FIRST;

    /// The place of `seq`, which lies less than 2^31 from the newest one that is known.
    pub(super) fn place(&self, seq: u32) -> u64 {
        self.place.wrapping_add_signed(i64::from(seq.wrapping_sub(self.seq).cast_signed()))
    }

    /// The sequence number at `place`.
    pub(super) fn seq(&self, place: u64) -> u32 {
        self.seq.wrapping_add(place.wrapping_sub(self.place) as u32)
    }

    /// `place` is known from now on.
    pub(super) fn move_to(&mut self, place: u64) {
        *self = Line { seq: self.seq(place), place };
    }
}

/// The later of two numbers that wrap.
pub(super) fn later(one: u32, other: u32) -> u32 {
    if one.wrapping_sub(other).cast_signed() >= 0 { one } else { other }
}
