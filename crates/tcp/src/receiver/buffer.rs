//! What the receive buffer hears of what comes, and the window that follows it.

use bentpipe_units::{Span, Time};

use super::Receiver;
use crate::SackBlock;

impl Receiver {
    /// The connection is open.
    pub(crate) fn begin(&mut self, now: Time) {
        if let Some(tuning) = &mut self.tuning {
            tuning.begin(now);
        }
    }

    /// Whether the receive buffer grows.
    #[inline]
    pub(crate) fn is_tuned(&self) -> bool {
        self.tuning.is_some()
    }

    /// A segment of `len` bytes echoes the timestamp of an ACK that went out `rtt` before.
    pub(crate) fn on_echo(&mut self, echo: u32, rtt: Span, len: u32) {
        if let Some(tuning) = &mut self.tuning {
            tuning.on_echo(echo, rtt, len, self.unread);
        }
    }

    /// How far what is held past a hole reaches beyond what is in order.
    fn past_hole(&self) -> u32 {
        self.held.highest().map_or(0, |highest| highest - self.nxt)
    }

    /// Before a segment is taken: what the application has read since the last one may let the buffer grow.
    #[inline(never)]
    pub(super) fn measure(&mut self, now: Time) {
        let past_hole = self.past_hole();
        if let Some(tuning) = &mut self.tuning {
            let read = self.delivered - u64::from(self.unread);
            tuning.on_arrival(now, self.nxt, read, self.unread, past_hole);
        }
    }

    /// A segment was taken, of which `first` bytes were next in order, with which so many became readable: the window follows the buffer.
    /// Whether it was opened further.
    #[inline(never)]
    pub(super) fn tune(&mut self, block: SackBlock, first: u32, readable: u32) -> bool {
        let len = block.end - block.start;
        let lone = len > 0 && self.held.holding(block.start) == Some(block);
        let (held, past_hole, in_order) = (self.held.held(), self.past_hole(), first > 0);
        let (runs, mss) = (self.held.count(), self.mss);
        let Some(tuning) = &mut self.tuning else { return false };
        let taken = tuning.memory_of(held, runs);
        tuning.first = first;
        if past_hole > 0 {
            tuning.on_hole(past_hole);
        }
        // What is in order, or joins what is held, takes its own room before the window opens; what begins a run takes it later
        // (`tcp_data_queue`, `tcp_data_queue_ofo`).
        let before = match (in_order, lone) {
            (true, _) => taken + tuning.memory_of(len.max(mss), 1),
            (false, true) => tuning.memory_of(held - len, runs - 1),
            (false, false) => taken,
        };
        let opens = (in_order || past_hole > 0) && tuning.open_further(len, before);
        self.capacity = tuning.window(taken);
        // The ACK for what fills a hole goes before any of it is read.
        let open = if readable > first {
            tuning.window(taken + tuning.memory_of(readable, 1))
        } else {
            self.capacity
        };
        // Rounded up to what the field can say, as __tcp_select_window does.
        self.open_field = (open.div_ceil(1 << self.scale)).min(65_535) as u16;
        self.open = u32::from(self.open_field) << self.scale;
        opens
    }
}
