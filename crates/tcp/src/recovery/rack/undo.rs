//! Whether what was taken for lost was, after all: by D-SACK (RFC 3708) and by timestamps (Eifel, RFC 3522).

use super::super::Context;
use crate::{SackBlock, Seq};

/// Bytes delivered since a reduction after which nothing is taken back: sequence numbers come again.
const FORGOTTEN: u64 = 1 << 30;

/// The last reduction, as far as it can be taken back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// The oldest byte outstanding at the reduction.
    una: Seq,
    /// Bytes sent again since that the peer did not report to have twice; none before the first.
    unexplained: Option<u32>,
    /// Bytes delivered before the reduction.
    delivered: u64,
}

impl Undo {
    /// The window is reduced. What was sent again before and is under way yet counts, the probe of the tail too.
    pub(super) fn new(cx: &Context<'_>) -> Undo {
        let mut undo = Undo { una: cx.una, unexplained: None, delivered: cx.record().delivered() };
        let entries = cx.record().entries(cx.una);
        for (range, _) in entries.filter(|(_, sent)| sent.resent() && !sent.sacked() && !sent.lost()) {
            undo.resent(range.end - range.start);
        }
        undo
    }

    pub(super) fn resent(&mut self, bytes: u32) {
        self.unexplained = Some(self.unexplained.unwrap_or(0) + bytes);
    }

    /// The peer has `block` twice.
    pub(super) fn came_twice(&mut self, cx: &Context<'_>, block: SackBlock) {
        if block.start >= self.una && block.start <= cx.max {
            self.unexplained = self.unexplained.map(|bytes| bytes.saturating_sub(block.end - block.start));
        }
    }

    /// Whether all that was sent again has come twice.
    ///
    /// RFC 3708 section 3 (C): each retransmission is acknowledged by a D-SACK.
    pub(super) fn all_came_twice(&self, cx: &Context<'_>) -> bool {
        self.unexplained == Some(0) && cx.record().delivered() - self.delivered < FORGOTTEN
    }
}
