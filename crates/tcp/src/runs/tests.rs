//! Runs held against a plain set of bytes.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::Runs;
use crate::runs::Range;
use crate::{SackBlock, Seq};

#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(u32, u32),
    Advance(u32),
    Clear,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => (0_u32..200, 1_u32..30).prop_map(|(start, len)| Step::Insert(start, start + len)),
        3 => (0_u32..200).prop_map(Step::Advance),
        1 => Just(Step::Clear),
    ];
    prop::collection::vec(step, 1..40)
}

/// The bytes as disjoint runs that do not touch.
fn runs_of(bytes: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &byte in bytes {
        match runs.last_mut() {
            Some((_, end)) if *end == byte => *end += 1,
            _ => runs.push((byte, byte + 1)),
        }
    }
    runs
}

struct Both {
    runs: Runs,
    bytes: BTreeSet<u32>,
    base: Seq,
    una: u32,
}

impl Both {
    fn relative(&self, range: Range) -> (u32, u32) {
        (range.start - self.base, range.end - self.base)
    }

    fn apply(&mut self, step: Step) {
        let base = self.base;
        let mut told = BTreeSet::new();
        let mut tell = |part: Range| {
            for byte in part.start - base..part.end - base {
                assert!(told.insert(byte), "told twice of byte {byte}");
            }
        };
        match step {
            Step::Insert(start, end) => {
                let block = SackBlock { start: base + start, end: base + end };
                self.runs.insert(block, &mut tell);
                let fresh = (start..end).filter(|byte| self.bytes.insert(*byte)).collect();
                assert_eq!(told, fresh);
            }
            Step::Advance(una) => {
                self.una = self.una.max(una);
                self.runs.advance(base + self.una, &mut tell);
                let kept = self.bytes.split_off(&self.una);
                assert_eq!(told, std::mem::replace(&mut self.bytes, kept));
            }
            Step::Clear => {
                self.runs.clear();
                self.bytes.clear();
            }
        }
    }

    fn compare(&self) {
        let Both { runs, bytes, base, .. } = self;
        assert_eq!(runs.is_empty(), bytes.is_empty());
        assert_eq!(runs.held() as usize, bytes.len());
        assert_eq!(runs.highest().map(|seq| seq - *base), bytes.last().map(|byte| byte + 1));
        let expected = runs_of(bytes);
        assert_eq!(runs.first().map(|run| self.relative(run)), expected.first().copied());
        for byte in (0..240).step_by(3) {
            let holding = expected.iter().copied().find(|(start, end)| (*start..*end).contains(&byte));
            assert_eq!(runs.holding(*base + byte).map(|run| self.relative(run)), holding);
            let max = byte + 25;
            let first = (byte..max).find(|byte| !bytes.contains(byte)).unwrap_or(max);
            let end = (first..max).find(|byte| bytes.contains(byte)).unwrap_or(max);
            assert_eq!(self.relative(runs.missing_from(*base + byte, *base + max)), (first, end));
            let between = bytes.range(byte..max).count() as u32;
            assert_eq!(runs.held_between(*base + byte, *base + max), between);
        }
        for (threshold, smss) in [(3, 10), (3, 20), (1, 10), (5, 4)] {
            let lost = |byte: u32| {
                let above = bytes.range(byte..);
                let (count, apart) =
                    (above.clone().count() as u32, runs_of(&above.copied().collect()).len() as u32);
                apart >= threshold || count > (threshold - 1) * smss
            };
            // The highest start of a run below which all is lost.
            let below = expected.iter().rev().map(|(start, _)| *start).find(|start| lost(*start));
            let held = below.map(|below| (*base + below, bytes.range(below..).count() as u32));
            assert_eq!(runs.lost_below(threshold, smss), held);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn runs_are_a_set_of_bytes(steps in steps(), base in prop_oneof![any::<u32>(), (0_u32..300).prop_map(|n| u32::MAX - n)]) {
        let mut both = Both { runs: Runs::default(), bytes: BTreeSet::new(), base: Seq(base), una: 0 };
        for step in steps {
            both.apply(step);
            both.compare();
        }
    }
}
