use std::collections::VecDeque;

use crate::recovery::Range;
use crate::{SackBlock, Seq};

/// Runs of bytes shorter than a segment that are held, whatever the window: a peer that sends or reports every other byte would
/// have one for every two bytes.
pub const MOST_SMALL_RUNS: usize = 1024;

/// Bytes held beyond a cumulative point, as disjoint runs in order: the sender's scoreboard (RFC 6675 section 3) and the
/// receiver's reassembly queue.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    runs: VecDeque<Range>,
    held: u32,
}

impl Runs {
    /// Whether nothing is held.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Bytes held.
    #[inline]
    pub fn held(&self) -> u32 {
        self.held
    }

    /// Disjoint runs held.
    #[inline]
    pub fn count(&self) -> usize {
        self.runs.len()
    }

    /// Whether `block` may be added to what is held of `span` bytes, which travel in segments of `smss` bytes: it touches what
    /// is held, or another run does not lift their number above [`MOST_SMALL_RUNS`] and one for each whole segment.
    ///
    /// RFC 2018 section 8 lets a receiver drop what it holds, and what a sender was not told costs it a retransmission.
    pub fn admits(&self, block: SackBlock, span: u32, smss: u32) -> bool {
        self.runs.len() < MOST_SMALL_RUNS
            || self.runs.len() < MOST_SMALL_RUNS + (span / smss.max(1)) as usize
            || self.runs.get(self.first_reaching(block.start)).is_some_and(|run| run.start <= block.end)
    }

    /// The byte after the highest one held.
    pub fn highest(&self) -> Option<Seq> {
        self.runs.back().map(|run| run.end)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.held = 0;
    }

    /// Index of the first run that ends at or after `seq`.
    fn first_reaching(&self, seq: Seq) -> usize {
        // New information nearly always touches the last run.
        match self.runs.back() {
            Some(last) if last.end < seq => self.runs.len(),
            Some(last) if last.start <= seq => self.runs.len() - 1,
            _ => self.runs.partition_point(|run| run.end < seq),
        }
    }

    /// Whether all of `block` is held.
    #[inline]
    pub fn holds(&self, block: SackBlock) -> bool {
        let run = self.runs.get(self.first_reaching(block.start));
        run.is_some_and(|run| run.start <= block.start && block.end <= run.end)
    }

    /// Adds a run; calls `fresh` with each part of it that was not held before.
    pub fn insert(&mut self, block: SackBlock, mut fresh: impl FnMut(Range)) {
        let first = self.first_reaching(block.start);
        if self.runs.get(first).is_some_and(|run| run.start <= block.start && block.end <= run.end) {
            return;
        }
        let mut merged = block;
        let mut from = block.start;
        let mut last = first;
        while let Some(run) = self.runs.get(last).copied().filter(|run| run.start <= block.end) {
            if from < run.start {
                self.held += run.start - from;
                fresh(Range { start: from, end: run.start });
            }
            from = from.max(run.end);
            merged = Range { start: merged.start.min(run.start), end: merged.end.max(run.end) };
            last += 1;
        }
        if from < block.end {
            self.held += block.end - from;
            fresh(Range { start: from, end: block.end });
        }
        if last == first {
            self.runs.insert(first, merged);
        } else {
            self.runs[first] = merged;
            if last > first + 1 {
                self.runs.drain(first + 1..last);
            }
        }
    }

    /// Forgets what lies below `una`; calls `gone` with each part that was held there.
    pub fn advance(&mut self, una: Seq, mut gone: impl FnMut(Range)) {
        while let Some(run) = self.runs.front_mut() {
            if run.start >= una {
                break;
            }
            let end = run.end.min(una);
            let part = Range { start: run.start, end };
            self.held -= part.end - part.start;
            gone(part);
            if run.end <= una {
                self.runs.pop_front();
            } else {
                run.start = una;
            }
        }
    }

    /// The first run of bytes at or after `seq` that is not held; ends at `max` at the latest.
    pub fn missing_from(&self, seq: Seq, max: Seq) -> Range {
        let mut start = seq;
        let mut index = self.runs.partition_point(|run| run.end <= seq);
        if let Some(run) = self.runs.get(index)
            && run.start <= start
        {
            start = run.end;
            index += 1;
        }
        let end = self.runs.get(index).map_or(max, |run| run.start.min(max));
        Range { start: start.min(max), end }
    }

    /// Bytes held in `from` up to `to`.
    pub fn held_between(&self, from: Seq, to: Seq) -> u32 {
        self.runs
            .iter()
            .skip_while(|run| run.end <= from)
            .take_while(|run| run.start < to)
            .map(|run| run.end.min(to) - run.start.max(from))
            .sum()
    }

    /// The run that holds `seq`.
    pub fn holding(&self, seq: Seq) -> Option<Range> {
        // What is asked for was mostly told last, and so lies in the last run.
        let last = self.runs.back().filter(|last| last.start <= seq).copied();
        let run = last.or_else(|| self.runs.get(self.runs.partition_point(|run| run.end <= seq)).copied());
        run.filter(|run| run.start <= seq && seq < run.end)
    }

    /// The lowest run.
    pub fn first(&self) -> Option<Range> {
        self.runs.front().copied()
    }

    /// Everything missing below the returned sequence number is lost, and this many bytes are held from there on.
    ///
    /// RFC 6675 section 4, IsLost: "either DupThresh discontiguous SACKed sequences have arrived above 'SeqNum' or more
    /// than (DupThresh - 1) * SMSS bytes with sequence numbers greater than 'SeqNum' have been SACKed".
    pub fn lost_below(&self, threshold: u32, smss: u32) -> Option<(Seq, u32)> {
        let mut bytes = 0;
        for (index, run) in self.runs.iter().rev().enumerate() {
            bytes += run.end - run.start;
            if index as u32 + 1 >= threshold || bytes > (threshold - 1) * smss {
                return Some((run.start, bytes));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
