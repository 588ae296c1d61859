//! What the application has handed over, and the send buffer that holds it.

use crate::{Config, Host, Nagle, Seq};

/// Whether the application has closed, and the sequence number of FIN once it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fin {
    Open,
    Queued,
    Sent(Seq),
}

/// What the application has handed over.
#[derive(Clone, Debug)]
pub(super) struct Application {
    /// Bytes that were never sent; `u64::MAX` has no end.
    pub(super) unsent: u64,
    pub(super) fin: Fin,
    pub(super) nagle: Nagle,
    /// The byte after the last segment that was less than a full one.
    pub(super) small_end: Seq,
    /// How much the send buffer holds, and the bytes from SND.UNA on that the application has put into it; all where it has no bound.
    buffer: u32,
    pub(super) buffered: u32,
    /// SND.UNA as `buffered` has it, and with how much left the application goes on.
    buffered_from: Seq,
    refilled_at: u32,
}

impl Application {
    pub(super) fn new(config: &Config, first: Seq) -> Application {
        let buffer = if config.host == Host::Linux { u32::MAX } else { config.send_room() };
        Application {
            unsent: 0,
            fin: Fin::Open,
            nagle: config.nagle,
            small_end: first,
            buffer,
            buffered: buffer,
            buffered_from: first,
            // The most that it holds when a third of it is free: what is free is at least half of what is held.
            refilled_at: ((u64::from(buffer) * 2 + 1) / 3) as u32,
        }
    }

    /// Whether the send buffer has a bound.
    #[inline(always)]
    pub(super) fn is_bounded(&self) -> bool {
        self.buffer != u32::MAX
    }

    /// All before `una` is acknowledged: the application goes on once a third of the send buffer is free (`sk_stream_is_writeable`, sock.h).
    /// What is reported by SACK leaves it so many bytes `more` room ([`Config::room_by_sack`]).
    #[inline(always)]
    pub(super) fn refill(&mut self, una: Seq, more: u32) {
        let acked = una - std::mem::replace(&mut self.buffered_from, una);
        self.buffered = self.buffered.saturating_sub(acked);
        if self.buffered <= self.refilled_at + more {
            self.buffered = self.buffer + more;
        }
    }
}
