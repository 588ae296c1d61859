//! The round trips that an ACK tells.

use bentpipe_units::{Span, Time};

use super::Sender;
use super::send_path::SendPath;
use crate::Seq;

impl Sender {
    #[inline(always)]
    pub(super) fn take_rtt_sample(
        &mut self,
        now: Time,
        by_timestamp: Option<Span>,
        prior_flight: u32,
    ) -> Option<Span> {
        match by_timestamp.is_some() || self.record.has_timed() {
            true => self.take_rtt_sample_at_hand(now, by_timestamp, prior_flight),
            false => None,
        }
    }

    #[inline(never)]
    fn take_rtt_sample_at_hand(
        &mut self,
        now: Time,
        by_timestamp: Option<Span>,
        prior_flight: u32,
    ) -> Option<Span> {
        let timed = self.record.take_timed();
        let (sample, expected) = match by_timestamp {
            Some(rtt) => (rtt, prior_flight.div_ceil(2 * self.smss)),
            None => match timed {
                Some(sent) => (now.since(sent), 1),
                // Karn: without a sample a backed-off RTO stays (RFC 6298 section 5, last note).
                None => return None,
            },
        };
        self.rtt.sample(now, sample, expected);
        self.round_trips.add(sample, self.una);
        self.control.on_rtt_sample(now, sample);
        Some(sample)
    }

    /// What Linux takes of an ACK (`tcp_ack_update_rtt`): SRTT the round trip of the first segment, the control that of the last; by
    /// the timestamp only where data was acknowledged that had been sent again.
    #[inline(always)]
    pub(super) fn take_rtt_samples(
        &mut self,
        now: Time,
        plain: bool,
        echoed: impl Fn() -> Option<Span>,
    ) -> Option<Span> {
        let (first, last) = match self.record.round_trips(now) {
            Some(both) => both,
            None => echoed().map(|rtt| (rtt, rtt))?,
        };
        match plain {
            true => self.sample_both(now, first, last),
            false => self.sample_both_apart(now, first, last),
        }
        Some(last)
    }

    #[inline(never)]
    fn sample_both_apart(&mut self, now: Time, first: Span, last: Span) {
        self.sample_both(now, first, last);
    }

    #[inline(always)]
    fn sample_both(&mut self, now: Time, first: Span, last: Span) {
        self.rtt.sample_linux(now, first, last, self.una, self.max);
        self.round_trips.add(first, self.una);
        self.control.on_rtt_sample(now, last);
    }

    /// Whether an ACK without SACK blocks gives a sample for which its timestamp need not be looked at.
    #[inline]
    pub(super) fn times_itself(&self, ack: Seq) -> bool {
        self.rtt.is_linux() && self.send_path != SendPath::ByRecovery && self.record.tells_round_trips(ack)
    }

    /// The time of the handshake gives the first sample.
    pub fn sample_handshake(&mut self, now: Time, rtt: Span) {
        match self.rtt.is_linux() {
            true => self.rtt.sample_linux(now, rtt, rtt, self.una, self.max),
            false if self.rtt.times_handshake() => self.rtt.sample(now, rtt, 1),
            false => {}
        }
        self.round_trips.add(rtt, self.una);
        self.control.on_rtt_sample(now, rtt);
        self.control.on_handshake(&mut self.window, now, rtt);
        if self.start_listens {
            self.slow_start.on_handshake(&mut self.window, now, rtt);
        }
        self.settle();
    }
}
