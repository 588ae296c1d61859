//! The window that is advertised: when it opens, and what of it is told when the application reads.

use bentpipe_units::Time;

use super::Receiver;
use super::edge::whole_segments;
use crate::Seq;

impl Receiver {
    /// The application reads up to `most` bytes; returns how many there were.
    pub fn read(&mut self, most: u32) -> u32 {
        let taken = self.unread.min(most);
        self.unread -= taken;
        self.standing_field = None;
        if taken > 0 && self.window() < 2 * self.mss && self.gain() >= self.worthwhile {
            // The peer may be waiting for this.
            self.ack_now = true;
        }
        if self.linux && taken > 0 && !self.ack_now {
            self.answer_read();
        }
        taken
    }

    /// The application has read: Linux acknowledges a segment that was pushed once all is read, and tells of a window twice as large
    /// (`__tcp_cleanup_rbuf`).
    #[inline(never)]
    fn answer_read(&mut self) {
        let doubled = !self.fin_reached && self.gain() >= self.window().max(1);
        if let Some(quick) = self.quick.as_mut() {
            let all_read = self.unread == 0 && self.held.is_empty();
            let goes = || (all_read && quick.goes_when_read()) || quick.is_full(self.nxt).is_some();
            self.ack_now = doubled || (self.waiting_segments > 0 && goes());
            if self.ack_now {
                quick.sent();
            }
        }
    }

    /// How far the right edge could move.
    fn gain(&self) -> u32 {
        let candidate = self.nxt + (self.capacity.saturating_sub(self.unread) >> self.scale << self.scale);
        candidate.max(self.edge) - self.edge
    }

    /// An acknowledgment goes out: returns the window field, and forgets that one was owed.
    #[inline]
    pub fn acknowledge(&mut self) -> u16 {
        self.ack_now = false;
        if let Some(field) = self.standing_field {
            return field;
        }
        self.waiting_segments = 0;
        self.deadline = Time::NEVER;
        let edge = self.nxt + self.open;
        let field = match self.unread == 0 && edge > self.edge && edge - self.edge >= self.worthwhile {
            true => {
                self.edge = edge;
                self.open_field
            }
            false => self.other_field(),
        };
        self.standing_field = Some(field);
        field
    }

    /// The window field to advertise while something was not read, or the right edge would move by little.
    #[inline(never)]
    fn other_field(&mut self) -> u16 {
        let gain = self.gain();
        if gain >= self.worthwhile {
            self.edge += gain;
        }
        let window = self.edge - self.nxt;
        let field = (window.div_ceil(1 << self.scale)).min(65_535);
        self.edge = self.edge.max(self.nxt + (field << self.scale));
        field as u16
    }

    /// The window field of the answer to a SYN, by what was agreed on with it.
    pub(crate) fn answering_window(&mut self) -> u16 {
        let window = self.syn_window();
        self.edge = self.nxt + u32::from(window);
        window
    }

    /// The window field of a SYN, which is never scaled.
    pub fn syn_window(&self) -> u16 {
        let window = match &self.tuning {
            Some(tuning) => tuning.of_syn(),
            None if self.linux && self.capacity < 65_535 => whole_segments(self.capacity, self.mss),
            None => self.capacity,
        };
        window.min(65_535) as u16
    }

    /// Whether more came up to `nxt` than waits for an ACK, and the window is no smaller than it was: else the ACK goes when the application
    /// reads (`__tcp_ack_snd_check`).
    pub(super) fn is_due(&self, nxt: Seq) -> bool {
        let Some(acknowledged) = self.quick.as_ref().and_then(|quick| quick.is_full(nxt)) else {
            return false;
        };
        let room =
            self.tuning.as_ref().map_or(self.capacity, |tuning| {
                tuning.window(tuning.memory_of(
                    self.held.held() + self.unread,
                    self.held.count() + usize::from(self.unread > 0),
                ))
            });
        let room = if self.tuning.is_some() { room } else { room.saturating_sub(self.unread) };
        room >> self.scale << self.scale >= self.edge - acknowledged
    }
}
