use crate::{SackBlock, Seq};

/// A run of bytes: `start` up to, not including, `end`.
pub type Range = SackBlock;

/// Runs of bytes shorter than a segment that are held, whatever the window: a peer that sends or reports every other byte would
/// have one for every two bytes.
pub const MOST_SMALL_RUNS: usize = 1024;

/// Bytes held beyond a cumulative point, as disjoint runs in order: the sender's scoreboard (RFC 6675 section 3) and the
/// receiver's reassembly queue.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// In order; the first `gone` of them are held no more.
    runs: Vec<Range>,
    gone: usize,
    held: u32,
}

impl Runs {
    /// Whether nothing is held.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.runs.len() == self.gone
    }

    /// Bytes held.
    #[inline]
    pub fn held(&self) -> u32 {
        self.held
    }

    /// Disjoint runs held.
    #[inline]
    pub fn count(&self) -> usize {
        self.runs.len() - self.gone
    }

    #[inline]
    fn all(&self) -> &[Range] {
        &self.runs[self.gone..]
    }

    /// Whether `block` may be added to what is held of `span` bytes, which travel in segments of `smss` bytes: it touches what
    /// is held, or another run does not lift their number above [`MOST_SMALL_RUNS`] and one for each whole segment.
    ///
    /// RFC 2018 section 8 lets a receiver drop what it holds, and what a sender was not told costs it a retransmission.
    pub fn admits(&self, block: SackBlock, span: u32, smss: u32) -> bool {
        self.count() < MOST_SMALL_RUNS
            || self.count() < MOST_SMALL_RUNS + (span / smss.max(1)) as usize
            || self.all().get(self.first_reaching(block.start)).is_some_and(|run| run.start <= block.end)
    }

    /// The byte after the highest one held.
    pub fn highest(&self) -> Option<Seq> {
        self.all().last().map(|run| run.end)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.gone = 0;
        self.held = 0;
    }

    /// Index of the first run that ends at or after `seq`.
    #[inline]
    fn first_reaching(&self, seq: Seq) -> usize {
        // New information nearly always touches the last run.
        let runs = self.all();
        match runs.last() {
            Some(last) if last.end < seq => runs.len(),
            Some(last) if last.start <= seq => runs.len() - 1,
            _ => runs.partition_point(|run| run.end < seq),
        }
    }

    /// Adds a run; calls `fresh` with each part of it that was not held before.
    pub fn insert(&mut self, block: SackBlock, mut fresh: impl FnMut(Range)) {
        let mut rest = block;
        while let Some(part) = self.insert_missing(rest) {
            fresh(part);
            rest.start = part.end;
        }
    }

    /// Adds the first part of `block` that is not held and returns it; none when all of `block` is held.
    #[inline]
    pub fn insert_missing(&mut self, block: SackBlock) -> Option<Range> {
        if block.start >= block.end {
            return None;
        }
        let index = self.first_reaching(block.start);
        match self.all().get(index) {
            Some(run) if run.start <= block.start && block.end <= run.end => None,
            _ => Some(self.insert_at(self.gone + index, block)),
        }
    }

    /// Adds the first part of `block` that is not held, at the first run that ends at or after its start.
    #[inline(never)]
    fn insert_at(&mut self, index: usize, block: Range) -> Range {
        let next = self.runs.get(index + 1).map(|run| run.start);
        let part = match self.runs.get_mut(index) {
            Some(run) if run.start <= block.start => {
                let part = Range { start: run.end, end: next.map_or(block.end, |next| next.min(block.end)) };
                run.end = part.end;
                if next == Some(part.end) {
                    self.join(index);
                }
                part
            }
            Some(run) if run.start <= block.end => {
                let part = Range { start: block.start, end: run.start };
                run.start = part.start;
                part
            }
            _ => {
                self.runs.insert(index, block);
                block
            }
        };
        self.held += part.end - part.start;
        part
    }

    /// Makes one run of the one at `index` and the next, which it has come to touch.
    fn join(&mut self, index: usize) {
        let (before, behind) = (index - self.gone, self.runs.len() - index);
        self.runs[index + 1].start = self.runs[index].start;
        if before < behind {
            self.runs.copy_within(self.gone..index, self.gone + 1);
            self.forget(1);
        } else {
            self.runs.remove(index);
        }
    }

    /// The first `runs` runs are held no more.
    #[inline]
    fn forget(&mut self, runs: usize) {
        self.gone += runs;
        if self.gone > self.runs.len() / 2 {
            self.runs.drain(..self.gone);
            self.gone = 0;
        }
    }

    /// Forgets what lies below `una`; calls `gone` with each part that was held there.
    pub fn advance(&mut self, una: Seq, mut gone: impl FnMut(Range)) {
        let mut through = 0;
        for run in self.runs[self.gone..].iter_mut().take_while(|run| run.start < una) {
            let part = Range { start: run.start, end: run.end.min(una) };
            self.held -= part.end - part.start;
            gone(part);
            run.start = part.end;
            through += usize::from(run.end == part.end);
        }
        if through > 0 {
            self.forget(through);
        }
    }

    /// The first run of bytes at or after `seq` that is not held; ends at `max` at the latest.
    pub fn missing_from(&self, seq: Seq, max: Seq) -> Range {
        let mut start = seq;
        let mut index = self.all().partition_point(|run| run.end <= seq);
        if let Some(run) = self.all().get(index)
            && run.start <= start
        {
            start = run.end;
            index += 1;
        }
        let end = self.all().get(index).map_or(max, |run| run.start.min(max));
        Range { start: start.min(max), end }
    }

    /// Bytes held in `from` up to `to`.
    pub fn held_between(&self, from: Seq, to: Seq) -> u32 {
        self.all()
            .iter()
            .skip_while(|run| run.end <= from)
            .take_while(|run| run.start < to)
            .map(|run| run.end.min(to) - run.start.max(from))
            .sum()
    }

    /// The run that holds `seq`.
    pub fn holding(&self, seq: Seq) -> Option<Range> {
        // What is asked for was mostly told last, and so lies in the last run.
        let last = self.all().last().filter(|last| last.start <= seq).copied();
        let run = last.or_else(|| self.all().get(self.all().partition_point(|run| run.end <= seq)).copied());
        run.filter(|run| run.start <= seq && seq < run.end)
    }

    /// The lowest run.
    pub fn first(&self) -> Option<Range> {
        self.all().first().copied()
    }

    /// Everything missing below the returned sequence number is lost, and this many bytes are held from there on.
    ///
    /// RFC 6675 section 4, IsLost: "either DupThresh discontiguous SACKed sequences have arrived above 'SeqNum' or more
    /// than (DupThresh - 1) * SMSS bytes with sequence numbers greater than 'SeqNum' have been SACKed".
    pub fn lost_below(&self, threshold: u32, smss: u32) -> Option<(Seq, u32)> {
        let mut bytes = 0;
        for (index, run) in self.all().iter().rev().enumerate() {
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
