//! Reductions of the window as the sender writes them down.

use bentpipe_units::Time;

use crate::Seq;

/// A reduction of the window in answer to a loss, to a mark, or to the timer's expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// When it happened.
    pub time: Time,
    /// Oldest byte not acknowledged then (SND.UNA).
    pub una: Seq,
    /// The window of data that it answers for ends before this byte: the recovery point of a loss, or SND.MAX at a mark or a timeout.
    pub below: Seq,
    /// The byte after the newest one ever sent (SND.MAX).
    pub max: Seq,
    /// Whether it answers to a mark.
    pub marked: bool,
}

/// The reductions of a sender; of most there are none.
#[derive(Debug, Default)]
pub struct Reductions(Option<Box<Known>>);

/// Those that nobody has taken yet, and what the next one depends on.
#[derive(Debug, Default)]
struct Known {
    untaken: Vec<Reduction>,
    last: Option<Reduction>,
    /// The receiver was not told of the last one.
    to_announce: bool,
}

impl Reductions {
    /// Of those that nobody takes, the older half is forgotten when there are this many.
    pub const MOST_UNTAKEN: usize = 1 << 14;

    /// Writes a reduction down.
    pub fn push(&mut self, reduction: Reduction) {
        let known = self.0.get_or_insert_default();
        if known.untaken.len() == Reductions::MOST_UNTAKEN {
            known.untaken.drain(..Reductions::MOST_UNTAKEN / 2);
        }
        known.untaken.push(reduction);
        known.last = Some(reduction);
        known.to_announce = true;
    }

    /// Those since this was called last, in the order in which they happened.
    pub fn take(&mut self) -> Vec<Reduction> {
        self.0.as_mut().map(|known| std::mem::take(&mut known.untaken)).unwrap_or_default()
    }

    /// Whether the receiver is to be told of a reduction; once for all so far.
    ///
    /// RFC 3168 section 6.1.2: "When an ECN-Capable TCP sender reduces its congestion window for any reason [...], the TCP
    /// sender sets the CWR flag in the TCP header of the first new data packet sent after the window reduction."
    pub fn announce(&mut self) -> bool {
        self.0.as_mut().is_some_and(|known| std::mem::take(&mut known.to_announce))
    }

    /// Whether the last reduction answers for what an ACK up to `una` tells.
    pub fn cover_ack(&self, una: Seq) -> bool {
        self.last().is_some_and(|last| una <= last.max)
    }

    /// Forgets the last reduction once data that was sent after it is acknowledged: sequence numbers come again.
    pub fn acknowledged(&mut self, una: Seq) {
        if let Some(known) = &mut self.0
            && known.last.is_some_and(|last| una > last.max)
        {
            known.last = None;
        }
    }

    /// Whether a reduction in answer to a mark was for the window of data with a hole at `hole`.
    ///
    /// RFC 3168 section 6.1.2: the "congestion window should be reduced only once in response to a series of dropped and/or
    /// CE packets from a single window of data".
    pub(super) fn marked_window_with(&self, hole: Seq) -> bool {
        self.last().is_some_and(|last| last.marked && hole < last.max)
    }

    fn last(&self) -> Option<&Reduction> {
        self.0.as_ref()?.last.as_ref()
    }
}
