//! What is reported by SACK blocks: what is held past a hole (RFC 2018), and what came twice (RFC 2883).

use super::Receiver;
use crate::{SackBlock, SackBlocks, Seq};

impl Receiver {
    /// What came twice is reported by the next ACK.
    ///
    /// RFC 2883 section 4: "The left edge of the D-SACK block specifies the first sequence number of the duplicate contiguous
    /// sequence, and the right edge of the D-SACK block specifies the sequence number immediately following the last sequence
    /// in the duplicate contiguous sequence."
    pub(super) fn note_duplicate(&mut self, start: Seq, end: Seq) {
        if self.reports_duplicates && start < end {
            self.duplicate = Some(SackBlock { start, end });
        }
    }

    /// A segment was taken past a hole: the run around it is reported first.
    pub(super) fn note_run(&mut self, start: Seq) {
        // RFC 2018 section 4: "The first SACK block [...] MUST specify the contiguous block of data containing the
        // segment which triggered this ACK", the rest "the most recently reported".
        let Some(run) = self.held.holding(start) else { return };
        let mut recent = [run; SackBlocks::MOST];
        let mut count = 1;
        for other in &self.recent[..usize::from(self.recent_count)] {
            // A run only ever changes by becoming a part of the one that is reported.
            let elsewhere = other.start < run.start || other.start >= run.end;
            if elsewhere && other.start >= self.nxt && count < recent.len() {
                recent[count] = *other;
                count += 1;
            }
        }
        self.recent = recent;
        self.recent_count = count as u8;
    }

    /// Whether there is something to report by SACK blocks.
    #[inline]
    pub(crate) fn has_report(&self) -> bool {
        self.has_hole() || self.duplicate.is_some()
    }

    /// The SACK blocks to send, at most `most`; what came twice is reported once.
    ///
    /// RFC 2883 section 4: a D-SACK block "is only used to report a duplicate contiguous sequence of data received by the
    /// receiver in the most recent packet", as the first block, with "the second SACK block" for the run around it where that
    /// lies beyond the cumulative ACK.
    pub fn sack_blocks(&mut self, most: usize) -> SackBlocks {
        let mut blocks = SackBlocks::NONE;
        if let Some(duplicate) = self.duplicate.take() {
            blocks.push(duplicate);
            if let Some(run) = self.held.holding(duplicate.start) {
                blocks.push(self.with_fin(run));
            }
        }
        if self.held.is_empty() {
            return blocks;
        }
        let second = blocks.as_slice().get(1).copied();
        for run in &self.recent[..usize::from(self.recent_count)] {
            let run = self.with_fin(*run);
            if run.start >= self.nxt && blocks.as_slice().len() < most && second != Some(run) {
                blocks.push(run);
            }
        }
        blocks
    }

    /// A run as it is reported: to the FIN, where that stands behind it.
    ///
    /// RFC 2018 section 3 counts in sequence numbers, of which FIN has one (RFC 9293 section 3.4); Linux reports it too.
    fn with_fin(&self, run: SackBlock) -> SackBlock {
        SackBlock { end: run.end + u32::from(self.fin == Some(run.end)), ..run }
    }
}
