//! What an ACK reports by SACK blocks.

use bentpipe_units::Time;

use super::{Incoming, Sender};
use crate::SackBlock;

impl Sender {
    /// Takes SACK blocks; whether they tell something new.
    pub(super) fn take_sack(&mut self, now: Time, incoming: &Incoming<'_>) -> bool {
        if !self.recovery.needs_sack() {
            return false;
        }
        if let Some(twice) = duplicate_report(incoming).filter(|twice| self.believes(now, *twice)) {
            self.with_recovery(now, |recovery, cx| recovery.on_duplicate_report(cx, twice));
        }
        let (una, outstanding) = (incoming.ack, self.max - incoming.ack);
        let mut news = false;
        let fin = self.fin_seq().filter(|_| !self.recovery.counts_segments());
        for block in incoming.sack {
            // A block below the cumulative ACK is a duplicate report (RFC 2883); one beyond SND.MAX is a lie.
            // Counted from the ACK: half the sequence space away a block can lie behind it and before SND.MAX at once.
            let (start, end) = (block.start - una, block.end - una);
            if start >= end || end > outstanding {
                continue;
            }
            // Of what counts bytes FIN is none.
            let mut block = SackBlock { end: fin.map_or(block.end, |fin| fin.min(block.end)), ..*block };
            if self.rtt.is_linux() && (start % self.smss != 0 || end % self.smss != 0) {
                block = self.record.whole_segments(block, self.una);
            }
            if !self.record.board().admits(block, outstanding, self.smss) {
                continue;
            }
            let recovery = &mut self.recovery;
            self.record.sack(now, block, self.una, |part| {
                news = true;
                recovery.on_sacked(part);
            });
        }
        news
    }

    /// Whether data came twice because it was sent again. Linux takes no other for it, and counts it as delivered once more
    /// (`tcp_dsack_seen`).
    fn believes(&mut self, now: Time, twice: SackBlock) -> bool {
        if !self.rtt.is_linux() {
            return true;
        }
        let bytes = twice.end - twice.start;
        let segments = bytes.div_ceil(self.smss);
        if bytes > self.peer.largest {
            return false;
        }
        self.came_twice += u64::from(segments);
        let believed = self.came_twice <= self.stats.retransmitted_segments;
        if believed {
            self.record.deliver_again(now, segments * self.smss);
        }
        believed
    }
}

/// The block that reports data which came twice.
///
/// RFC 2883 section 4: the first block is one when it lies below the cumulative ACK, or within the second block.
fn duplicate_report(incoming: &Incoming<'_>) -> Option<SackBlock> {
    let first = *incoming.sack.first()?;
    let below = first.start < first.end && first.end <= incoming.ack;
    let within = |second: &SackBlock| second.start <= first.start && first.end <= second.end;
    (below || incoming.sack.get(1).is_some_and(within)).then_some(first)
}
