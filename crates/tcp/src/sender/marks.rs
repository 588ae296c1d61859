//! Explicit notification at the sender: marks (RFC 3168 section 6.1.2), and what routers allot (XCP).

use bentpipe_units::{Span, Time};

use super::Sender;
use crate::CongestionHeader;
use crate::control::{Feedback, Mark, Supply};
use crate::recovery::Reduction;

impl Sender {
    /// The ACK that was just taken tells that a packet was marked on its way; `flight` bytes were outstanding before it.
    pub(crate) fn on_mark_echo(&mut self, now: Time, flight: u32) {
        if self.window.segments() == 1 && !self.rtt.is_linux() {
            self.wait_for_timer(now);
        }
        // RFC 3168 section 6.1.2: "TCP should not react to congestion indications more than once every window of data".
        if self.reductions.cover_ack(self.una) {
            return;
        }
        self.stats.mark_reductions += 1;
        // Who reads rates halves nothing, and has to know what was in flight.
        let flight_to_halve = match self.record.stamps.is_some() {
            true => flight,
            false => self.with_recovery(now, |recovery, cx| recovery.flight_at_mark(cx, flight)),
        };
        let mark = Mark { now, flight: flight_to_halve };
        let before = self.window.cwnd;
        self.control.on_congestion_mark(&mut self.window, &mark);
        self.window.reduced();
        if self.start_listens {
            self.slow_start.on_congestion(&mut self.window);
        }
        let (una, max) = (self.una, self.max);
        self.reductions.push(Reduction { time: now, una, below: max, max, marked: true });
        if self.window.cwnd < before {
            let moved = self.flight() < flight;
            self.with_recovery(now, |recovery, cx| recovery.on_reduced_by_mark(cx, before, moved));
            self.settle();
        }
    }

    /// RFC 3168 section 6.1.2: "the sending TCP MUST reset the retransmit timer on receiving the ECN-Echo packet when the congestion
    /// window is one. The sending TCP will then be able to send a new packet only when the retransmit timer expires." Linux goes on.
    #[cold]
    fn wait_for_timer(&mut self, now: Time) {
        self.timers.after_mark = self.una == self.max;
        self.settle();
        self.arm(now, Span::ZERO);
    }

    /// Whether a segment of new data is to tell the receiver that the window was reduced (CWR); asked before each.
    pub(crate) fn announce_reduction(&mut self) -> bool {
        self.reductions.acknowledged(self.una);
        self.reductions.announce()
    }

    /// Bytes of the congestion header that the control asks for; 0 for none.
    pub(crate) fn header_bytes(&mut self) -> u8 {
        self.control.extras().routers.map_or(0, |control| control.header_bytes())
    }

    /// A congestion header brought back what routers allotted, in bytes a second.
    pub(crate) fn on_feedback(&mut self, change: f64, routers: u8) {
        let feedback = Feedback { change, routers, in_recovery: self.recovery.in_recovery() };
        if let Some(control) = self.control.extras().routers {
            control.on_feedback(&mut self.window, &feedback);
        }
    }

    /// What the congestion header of a segment of data asks of the routers.
    pub(crate) fn asks_of_routers(&mut self) -> CongestionHeader {
        let supply = Supply { rwnd: self.peer.rwnd, unsent: self.app.unsent };
        match self.control.extras().routers {
            Some(control) => control.asks_of_routers(&self.window, &supply),
            None => CongestionHeader::default(),
        }
    }
}
