//! What goes out beside data and ACKs: resets, dummy segments (TCP-Peach) and their ACKs.

use bentpipe_units::Time;

use super::*;

#[derive(Debug, Default)]
pub(super) struct ExtraSegments {
    reset: Option<Segment>,
    /// Dummy segments that came and were not acknowledged.
    unacknowledged: u32,
}

impl Endpoint {
    pub(super) fn send_reset(&mut self, reset: Segment) {
        self.extra_segments.get_or_insert_default().reset = Some(reset);
    }

    /// The connection has opened: what goes out beside its window, its sender offers.
    pub(super) fn expect_dummies(&mut self) {
        if self.sender.offers_dummies() {
            self.extra_segments.get_or_insert_default();
        }
    }

    pub(super) fn take_reset(&mut self) -> Option<Segment> {
        self.extra_segments.as_mut()?.reset.take()
    }

    /// Whether something may go out beside data and ACKs.
    #[inline(always)]
    pub(super) fn has_extra_segments(&self) -> bool {
        let Some(extra) = &self.extra_segments else { return false };
        extra.unacknowledged > 0 || self.sender.has_dummies()
    }

    /// What a connection sends that sends more than data and ACKs, or did: its data and ACKs first, which are `usual`.
    #[cold]
    #[inline(never)]
    pub(super) fn poll_extra_segment(
        &mut self,
        usual: Option<Written>,
        now: Time,
        segment: &mut Segment,
    ) -> Option<Written> {
        let dummies = self.sender.has_dummies();
        let extra = self.extra_segments.as_mut()?;
        if let Some(written) = usual {
            let last = written.last && extra.unacknowledged == 0 && !dummies;
            return Some(Written { last, ..written });
        }
        if extra.unacknowledged > 0 {
            extra.unacknowledged -= 1;
            let seq = self.sender.max().min(self.sender.una() + self.sender.peer_window());
            return Some(self.low(now, seq, 0, segment));
        }
        if !self.is_synchronised() {
            return None;
        }
        let dummy = self.sender.poll_dummy(now)?;
        Some(self.low(now, dummy.seq, dummy.len, segment))
    }

    #[inline(always)]
    pub(super) fn is_synchronised(&self) -> bool {
        !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }

    /// Writes a dummy segment or its ACK: it tells what is known, and settles nothing that is owed.
    fn low(&mut self, now: Time, seq: Seq, len: u32, segment: &mut Segment) -> Written {
        // Rounded down, so that no edge moves.
        let scale = if self.scaling { self.config.window_scale() } else { 0 };
        let window = (self.receiver.window() >> scale).min(65_535) as u16;
        segment.set_ack(self.receiver.nxt(), window);
        (segment.seq, segment.len, segment.ecn) = (seq, len, Ecn::Low);
        if self.timestamps {
            segment.options.timestamps = Some(self.timestamp_option(now));
        }
        Written { bytes: segment.packet_len(), again: len > 0, last: false }
    }

    /// A dummy segment, or the ACK of one. Neither brings data or acknowledges any.
    #[cold]
    #[inline(never)]
    pub(super) fn on_dummy(&mut self, now: Time, segment: &Segment) {
        // A copy of what the peer has sent last, in the window or a window below it.
        let window = u64::from(self.receiver.window());
        let near = u64::from(self.receiver.nxt() + self.receiver.window() - segment.end()) <= 2 * window;
        if self.state == State::SynReceived || segment.flags != Flags::ACK {
            return;
        }
        if segment.len == 0 {
            self.sender.on_dummy_acked(now);
        } else if near {
            self.extra_segments.get_or_insert_default().unacknowledged += 1;
        }
    }
}
