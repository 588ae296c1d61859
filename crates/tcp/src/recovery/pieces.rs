//! Ranges of bytes that come and go anywhere.

use crate::Seq;
use crate::runs::Range;

/// Disjoint ranges in the order of their bytes, with their sum.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    pieces: Vec<Range>,
    bytes: u32,
}

impl Pieces {
    /// Bytes in all of them.
    pub(super) fn bytes(&self) -> u32 {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// All of them, in the order of their bytes.
    pub(super) fn iter(&self) -> impl Iterator<Item = Range> {
        self.pieces.iter().copied()
    }

    /// The lowest.
    pub(super) fn first(&self) -> Option<Range> {
        self.pieces.first().copied()
    }

    pub(super) fn clear(&mut self) {
        self.pieces.clear();
        self.bytes = 0;
    }

    /// Adds a range; what of it is here already counts once.
    pub(super) fn add(&mut self, range: Range) {
        if range.start >= range.end {
            return;
        }
        self.remove(range);
        let index = self.pieces.partition_point(|piece| piece.end <= range.start);
        self.bytes += range.end - range.start;
        let first = index - usize::from(index > 0 && self.pieces[index - 1].end == range.start);
        let last = index + usize::from(self.pieces.get(index).is_some_and(|next| next.start == range.end));
        let start = self.pieces[first..index].first().map_or(range.start, |piece| piece.start);
        let end = self.pieces[index..last].first().map_or(range.end, |piece| piece.end);
        self.pieces.splice(first..last, [Range { start, end }]);
    }

    /// Takes a range out, as far as it is here.
    pub(super) fn remove(&mut self, range: Range) {
        let first = self.pieces.partition_point(|piece| piece.end <= range.start);
        let last = self.pieces.partition_point(|piece| piece.start < range.end);
        if first >= last || range.start >= range.end {
            return;
        }
        let cut = &self.pieces[first..last];
        let below = Range { start: cut[0].start, end: range.start };
        let above = Range { start: range.end, end: cut[cut.len() - 1].end };
        let rest = [below, above].into_iter().filter(|rest| rest.start < rest.end);
        let gone: u32 = cut.iter().map(|piece| piece.end - piece.start).sum();
        let stays: u32 = rest.clone().map(|rest| rest.end - rest.start).sum();
        self.pieces.splice(first..last, rest);
        self.bytes -= gone - stays;
    }

    /// Takes out what lies below `una`.
    pub(super) fn advance(&mut self, una: Seq) {
        if let Some(first) = self.first()
            && first.start < una
        {
            self.remove(Range { start: first.start, end: una });
        }
    }

    /// The part of `range` that is not here and lies lowest, from `from` on.
    pub(super) fn missing_from(&self, from: Seq, end: Seq) -> Range {
        let index = self.pieces.partition_point(|piece| piece.end <= from);
        match self.pieces.get(index) {
            Some(piece) if piece.start <= from => {
                let start = piece.end.min(end);
                let next = self.pieces.get(index + 1).map_or(end, |next| next.start.min(end));
                Range { start, end: next }
            }
            Some(piece) => Range { start: from.min(end), end: piece.start.min(end) },
            None => Range { start: from.min(end), end },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Held against a set of octets.
        #[test]
        fn pieces_are_a_set_of_octets(
            steps in prop::collection::vec((any::<bool>(), 0_u32..60, 0_u32..20), 1..40),
            origin in any::<u32>(),
        ) {
            let (mut pieces, mut model) = (Pieces::default(), BTreeSet::new());
            let at = |octet: u32| Seq(origin.wrapping_add(octet));
            for (add, start, len) in steps {
                let range = Range { start: at(start), end: at(start + len) };
                for octet in start..start + len {
                    if add { model.insert(octet) } else { model.remove(&octet) };
                }
                if add { pieces.add(range) } else { pieces.remove(range) }
                prop_assert_eq!(pieces.bytes(), model.len() as u32);
                prop_assert_eq!(pieces.first().map(|first| first.start), model.first().map(|first| at(*first)));
                let missing = pieces.missing_from(at(start), at(80));
                let first = (start..80).find(|octet| !model.contains(octet)).unwrap_or(80);
                let end = (first..80).find(|octet| model.contains(octet)).unwrap_or(80);
                prop_assert_eq!((missing.start, missing.end), (at(first), at(end)));
            }
        }
    }
}
