//! Whether what was taken for lost was, after all: by D-SACK (RFC 3708) and by timestamps (Eifel, RFC 3522).

use bentpipe_units::Time;

use super::super::{Context, Range};
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
    /// When the first of them were sent again, a probe of the tail left out.
    first_resent: Option<Time>,
    /// Bytes delivered before the reduction.
    delivered: u64,
}

impl Undo {
    /// The window is reduced. What was sent again before and is under way yet counts, the `probe` of the tail too: its ACKs say nothing of
    /// what is sent again from now on.
    pub(super) fn new(cx: &Context<'_>, probe: Option<Range>) -> Undo {
        let mut undo =
            Undo { una: cx.una, unexplained: None, first_resent: None, delivered: cx.record().delivered() };
        let entries = cx.record().entries(cx.una);
        for (range, sent) in entries.filter(|(_, sent)| sent.resent() && !sent.sacked() && !sent.lost()) {
            undo.unexplained = Some(undo.unexplained.unwrap_or(0) + (range.end - range.start));
            if probe.is_none_or(|probe| range.start < probe.start) {
                undo.first_resent = Some(undo.first_resent.map_or(sent.at, |first| first.min(sent.at)));
            }
        }
        undo
    }

    pub(super) fn resent(&mut self, now: Time, bytes: u32) {
        self.unexplained = Some(self.unexplained.unwrap_or(0) + bytes);
        self.first_resent.get_or_insert(now);
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

    /// Whether the ACK of new data at hand answers to what was sent before anything was sent again.
    ///
    /// RFC 3522 section 3.2 step 5: "If the value of the Timestamp Echo Reply field of the acceptable ACK's Timestamps option
    /// is smaller than the value of RetransmitTS".
    pub(super) fn echoes_original(&self, cx: &Context<'_>) -> bool {
        self.first_resent.is_some_and(|first| cx.echoes_before(first))
    }
}
